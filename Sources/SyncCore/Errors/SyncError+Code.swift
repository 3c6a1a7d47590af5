// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncError {
    /// What went wrong. Codes from -1100 to -1401 are those of the Azure Mobile Services iOS client, so that its
    /// documentation still applies; the -2000s are new here.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The number, negative as in the original.
        public let rawValue: Int

        /// Makes a code from its number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        private init(_ name: SyncErrorName) { rawValue = name.rawValue }
    }
}

extension SyncError.Code: CustomStringConvertible {
    /// The name and the number, such as `pushAbortedNetwork (-1172)`; the number alone for a code of an app.
    public var description: String {
        name.map { "\($0) (\(rawValue))" } ?? "\(rawValue)"
    }

    /// The name of the code; `nil` for one that this framework does not have.
    var name: String? { SyncErrorName(rawValue: rawValue).map { "\($0)" } }
}

extension SyncError.Code {
    // MARK: Requests and items

    /// An item was expected and there was none.
    public static let expectedItem = Self(.expectedItem)
    /// The item has a value that cannot be stored or sent.
    public static let invalidItem = Self(.invalidItem)
    /// The id breaks the rules for ids.
    public static let invalidItemID = Self(.invalidItemID)
    /// The table has no name.
    public static let missingTableName = Self(.missingTableName)
    /// A user's query parameter begins with `$` or is one that the client sets itself.
    public static let invalidUserParameter = Self(.invalidUserParameter)
    /// The request cannot be expressed: a bad URL, or a header that cannot be sent.
    public static let invalidRequest = Self(.invalidRequest)

    // MARK: Sync

    /// The operation is not allowed in the state the item is in.
    public static let invalidOperation = Self(.invalidOperation)
    /// The local store failed; the cause is its own error.
    public static let storeFailure = Self(.storeFailure)
    /// A bug in this framework.
    public static let internalError = Self(.internalError)
    /// The query ID is not 1 to 255 characters without control characters.
    public static let invalidQueryID = Self(.invalidQueryID)
    /// A resolution came too late: the operation has changed meanwhile.
    public static let operationChanged = Self(.operationChanged)
    /// There is no such pending operation.
    public static let operationNotFound = Self(.operationNotFound)
    /// The sync context is closed.
    public static let contextInvalid = Self(.contextInvalid)
    /// The push ended with operations that failed; see ``PushFailure``.
    public static let pushCompletedWithErrors = Self(.pushCompletedWithErrors)
    /// The push ended because the local store failed.
    public static let pushAbortedStore = Self(.pushAbortedStore)
    /// The push ended because the server cannot be reached.
    public static let pushAbortedNetwork = Self(.pushAbortedNetwork)
    /// The push ended because the server asks to sign in.
    public static let pushAbortedAuthentication = Self(.pushAbortedAuthentication)
    /// The push was cancelled by the delegate.
    public static let pushAbortedCancelled = Self(.pushAbortedCancelled)
    /// A purge was refused because operations of the table are pending.
    public static let purgeRefused = Self(.purgeRefused)
    /// The pull ended before it was complete; pages already stored stay.
    public static let pullAborted = Self(.pullAborted)

    // MARK: Answers

    /// The answer holds no item where one is due.
    public static let expectedItemInResponse = Self(.expectedItemInResponse)
    /// The answer holds no list of items where one is due.
    public static let expectedItemsInResponse = Self(.expectedItemsInResponse)
    /// The answer holds no total count where one is due.
    public static let expectedTotalCount = Self(.expectedTotalCount)
    /// The answer has no body, or one that cannot be read.
    public static let unreadableResponse = Self(.unreadableResponse)
    /// The server refused and gave no reason.
    public static let serverErrorWithoutMessage = Self(.serverErrorWithoutMessage)
    /// The server refused and said why.
    public static let serverError = Self(.serverError)
    /// The server's version did not match the one passed.
    public static let preconditionFailed = Self(.preconditionFailed)

    // MARK: Queries

    /// The filter cannot be evaluated: it names an unknown column or compares values of different types.
    public static let filterNotSupported = Self(.filterNotSupported)
    /// A parameter is out of range.
    public static let invalidParameter = Self(.invalidParameter)

    // MARK: New here

    /// An insert of an id that exists locally.
    public static let itemAlreadyExists = Self(.itemAlreadyExists)
    /// An update or delete of an item that is not there.
    public static let itemNotFound = Self(.itemNotFound)
    /// The store was not opened with that table.
    public static let unknownTable = Self(.unknownTable)
    /// A table or column is declared wrongly.
    public static let invalidTableDefinition = Self(.invalidTableDefinition)
    /// The server has no such table.
    public static let tableNotOnServer = Self(.tableNotOnServer)
    /// The server cannot be reached.
    public static let networkUnavailable = Self(.networkUnavailable)
    /// The server asks to sign in.
    public static let authenticationRequired = Self(.authenticationRequired)
    /// The insert was refused because the server has a row of that id.
    public static let itemAlreadyOnServer = Self(.itemAlreadyOnServer)
    /// The row is not on the server.
    public static let itemNotOnServer = Self(.itemNotOnServer)
    /// The push ended because the service is not answering: it is busy, stopped, or behind a gateway or portal that
    /// answers in its place. Nothing is counted against the operations; push again later.
    public static let pushAbortedService = Self(.pushAbortedService)
    /// The service is not answering: it is busy, stopped, or behind a gateway or portal that answers in its place.
    public static let serviceUnavailable = Self(.serviceUnavailable)
    /// The operation waits for another one that the server must have first: an earlier operation of the same item, the
    /// insert of a parent, or the delete of a child.
    public static let operationHeld = Self(.operationHeld)
    /// A reconcile would have removed more than half of a query's items, and was not told to.
    public static let reconcileRefused = Self(.reconcileRefused)
    /// The store holds the rows of another user.
    public static let storeOfAnotherUser = Self(.storeOfAnotherUser)
    /// The client cannot send any request as it is configured: its URL, the rule about plain HTTP, or a header that
    /// every request has. Nothing was sent.
    public static let invalidConfiguration = Self(.invalidConfiguration)
}

/// The names and numbers of all codes.
private enum SyncErrorName: Int {
    case expectedItem = -1101
    case invalidItem = -1102
    case invalidItemID = -1104
    case missingTableName = -1105
    case invalidUserParameter = -1106
    case invalidRequest = -1108
    case invalidOperation = -1150
    case storeFailure = -1153
    case internalError = -1154
    case invalidQueryID = -1155
    case operationChanged = -1156
    case operationNotFound = -1157
    case contextInvalid = -1160
    case pushCompletedWithErrors = -1170
    case pushAbortedStore = -1171
    case pushAbortedNetwork = -1172
    case pushAbortedAuthentication = -1173
    case pushAbortedCancelled = -1174
    case purgeRefused = -1180
    case pullAborted = -1190
    case expectedItemInResponse = -1201
    case expectedItemsInResponse = -1202
    case expectedTotalCount = -1203
    case unreadableResponse = -1204
    case serverErrorWithoutMessage = -1301
    case serverError = -1302
    case preconditionFailed = -1303
    case filterNotSupported = -1400
    case invalidParameter = -1401
    case itemAlreadyExists = -2001
    case itemNotFound = -2002
    case unknownTable = -2003
    case invalidTableDefinition = -2004
    case tableNotOnServer = -2005
    case networkUnavailable = -2006
    case authenticationRequired = -2007
    case itemAlreadyOnServer = -2008
    case itemNotOnServer = -2009
    case pushAbortedService = -2010
    case reconcileRefused = -2011
    case storeOfAnotherUser = -2012
    case invalidConfiguration = -2020
    case serviceUnavailable = -2030
    case operationHeld = -2031
}
