// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncError {
    /// What went wrong. Codes from -1101 to -1401 are those of the Azure Mobile Services iOS client, so that its
    /// documentation still applies; those below -2000 exist in this framework only.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The number, negative as in the original client.
        public let rawValue: Int

        /// Makes a code from its number.
        public init(rawValue: Int) { self.rawValue = rawValue }

        private init(_ name: SyncErrorName) { rawValue = name.rawValue }
    }
}

extension SyncError.Code: CustomStringConvertible {
    /// The name and the number, such as `pushAbortedNetwork (-1172)`; the number alone for a code that the app defines.
    public var description: String {
        name.map { "\($0) (\(rawValue))" } ?? "\(rawValue)"
    }

    /// The code in parentheses, to append to a message.
    var suffix: String { " (\(name.map { "\($0), " } ?? "")code \(rawValue))" }

    /// The name of the code; `nil` for a code that the app defines.
    package var name: String? { SyncErrorName(rawValue: rawValue).map { "\($0)" } }
}

extension SyncError.Code {
    // MARK: Requests and items

    /// The call requires an item, and there is none.
    public static let expectedItem = Self(.expectedItem)
    /// The item has a field that cannot be stored or sent.
    public static let invalidItem = Self(.invalidItem)
    /// The id breaks the rules for ids.
    public static let invalidItemID = Self(.invalidItemID)
    /// The name of a query parameter begins with `$`, or the client itself sets the parameter.
    public static let invalidUserParameter = Self(.invalidUserParameter)

    // MARK: Sync

    /// The call is not allowed in the current state.
    public static let invalidOperation = Self(.invalidOperation)
    /// The local store failed; the cause is its own error.
    public static let storeFailure = Self(.storeFailure)
    /// A bug in this framework.
    public static let internalError = Self(.internalError)
    /// The query ID is not 1 to 255 characters without control characters.
    public static let invalidQueryID = Self(.invalidQueryID)
    /// The operation changed after the error that was to be resolved.
    public static let operationChanged = Self(.operationChanged)
    /// The operation is not pending.
    public static let operationNotFound = Self(.operationNotFound)
    /// The sync context is closed.
    public static let contextInvalid = Self(.contextInvalid)
    /// The push reached the end of the queue, and operations failed; see ``PushFailure``.
    public static let pushCompletedWithErrors = Self(.pushCompletedWithErrors)
    /// The push ended early because the local store failed.
    public static let pushAbortedStore = Self(.pushAbortedStore)
    /// The push ended early because no complete response arrived.
    public static let pushAbortedNetwork = Self(.pushAbortedNetwork)
    /// The push ended early because the server requires the user to sign in.
    public static let pushAbortedAuthentication = Self(.pushAbortedAuthentication)
    /// The delegate cancelled the push.
    public static let pushAbortedCancelled = Self(.pushAbortedCancelled)
    /// A purge was refused because operations of the table are pending.
    public static let purgeRefused = Self(.purgeRefused)
    /// The pull ended before it was complete; pages already stored stay.
    public static let pullAborted = Self(.pullAborted)

    // MARK: Responses

    /// The response has no item.
    public static let expectedItemInResponse = Self(.expectedItemInResponse)
    /// The response has no list of items.
    public static let expectedItemsInResponse = Self(.expectedItemsInResponse)
    /// The response has no total count.
    public static let expectedTotalCount = Self(.expectedTotalCount)
    /// The body of the response is missing or cannot be read.
    public static let unreadableResponse = Self(.unreadableResponse)
    /// The server refused the request without a reason.
    public static let serverErrorWithoutMessage = Self(.serverErrorWithoutMessage)
    /// The server refused the request; the message contains its reason.
    public static let serverError = Self(.serverError)
    /// The server's row has another version than the request expects.
    public static let preconditionFailed = Self(.preconditionFailed)

    // MARK: Queries

    /// The filter cannot be evaluated: it names an unknown column or compares values of different types.
    public static let filterNotSupported = Self(.filterNotSupported)
    /// A parameter is out of range.
    public static let invalidParameter = Self(.invalidParameter)

    // MARK: Codes that the original client does not have

    /// The local table already has an item with the id of the insert.
    public static let itemAlreadyExists = Self(.itemAlreadyExists)
    /// The local table has no item with the id of the update or delete.
    public static let itemNotFound = Self(.itemNotFound)
    /// The store was not opened with that table.
    public static let unknownTable = Self(.unknownTable)
    /// The definition of a table or column is not valid.
    public static let invalidTableDefinition = Self(.invalidTableDefinition)
    /// The server has no such table.
    public static let tableNotOnServer = Self(.tableNotOnServer)
    /// No complete response arrived: the server may or may not have applied the request. The cause is a ``NetworkFailure``.
    public static let networkUnavailable = Self(.networkUnavailable)
    /// The server requires the user to sign in.
    public static let authenticationRequired = Self(.authenticationRequired)
    /// The server already has a row with the id of the insert.
    public static let itemAlreadyOnServer = Self(.itemAlreadyOnServer)
    /// The server does not have the row.
    public static let itemNotOnServer = Self(.itemNotOnServer)
    /// The push ended early because the service is not available: see ``serviceUnavailable``. Push again
    /// later.
    public static let pushAbortedService = Self(.pushAbortedService)
    /// The service is not available: it is busy or stopped, or a gateway or captive portal responded in its place.
    public static let serviceUnavailable = Self(.serviceUnavailable)
    /// The operation waits until another one is completed: an earlier operation of the same item, the insert of a
    /// parent, or the delete of a child.
    public static let operationHeld = Self(.operationHeld)
    /// The reconcile would remove more than half of the items, and the caller did not allow that.
    public static let reconcileRefused = Self(.reconcileRefused)
    /// The store holds the rows of another user.
    public static let storeOfAnotherUser = Self(.storeOfAnotherUser)
    /// The configuration of the client prevents every request: its URL, plain HTTP, or a header of all requests. Nothing
    /// was sent.
    public static let invalidConfiguration = Self(.invalidConfiguration)
    /// The request cannot be expressed: a bad URL, or a header that cannot be sent.
    public static let invalidRequest = Self(.invalidRequest)
    /// The table has no name.
    public static let missingTableName = Self(.missingTableName)
}

/// The names and numbers of all codes.
private enum SyncErrorName: Int {
    case expectedItem = -1101
    case invalidItem = -1103
    case invalidItemID = -1105
    case invalidUserParameter = -1106
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
    case missingTableName = -2013
    case invalidConfiguration = -2020
    case invalidRequest = -2021
    case serviceUnavailable = -2030
    case operationHeld = -2031
}
