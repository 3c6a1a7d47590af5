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

        private init(_ rawValue: Int) { self.rawValue = rawValue }
    }
}

extension SyncError.Code {
    // MARK: Requests and items

    /// An item was expected and there was none.
    public static let expectedItem = Self(-1101)
    /// The item has a value that cannot be stored or sent.
    public static let invalidItem = Self(-1102)
    /// An id was expected and there was none.
    public static let missingItemID = Self(-1103)
    /// The id breaks the rules for ids.
    public static let invalidItemID = Self(-1104)
    /// The table has no name.
    public static let missingTableName = Self(-1105)
    /// A user's query parameter begins with `$` or is one that the client sets itself.
    public static let invalidUserParameter = Self(-1106)
    /// An insert of a row that already has an id was refused by the server's rules.
    public static let unexpectedItemID = Self(-1107)
    /// The request cannot be expressed: a bad URL, or a header that cannot be sent.
    public static let invalidRequest = Self(-1108)

    // MARK: Sync

    /// The operation is not allowed in the state the item is in.
    public static let invalidOperation = Self(-1150)
    /// The local store failed; the cause is its own error.
    public static let storeFailure = Self(-1153)
    /// A bug in this framework.
    public static let internalError = Self(-1154)
    /// The query ID is not 1 to 255 characters without control characters.
    public static let invalidQueryID = Self(-1155)
    /// A resolution came too late: the operation has changed meanwhile.
    public static let operationChanged = Self(-1156)
    /// There is no such pending operation.
    public static let operationNotFound = Self(-1157)
    /// The sync context is closed.
    public static let contextInvalid = Self(-1160)
    /// The push ended with operations that failed; see ``PushFailure``.
    public static let pushCompletedWithErrors = Self(-1170)
    /// The push ended because the local store failed.
    public static let pushAbortedStore = Self(-1171)
    /// The push ended because the server cannot be reached.
    public static let pushAbortedNetwork = Self(-1172)
    /// The push ended because the server asks to sign in.
    public static let pushAbortedAuthentication = Self(-1173)
    /// The push was cancelled by the delegate.
    public static let pushAbortedCancelled = Self(-1174)
    /// A purge was refused because operations of the table are pending.
    public static let purgeRefused = Self(-1180)
    /// The pull ended before it was complete; pages already stored stay.
    public static let pullAborted = Self(-1190)

    // MARK: Answers

    /// The answer holds no item where one is due.
    public static let expectedItemInResponse = Self(-1201)
    /// The answer holds no list of items where one is due.
    public static let expectedItemsInResponse = Self(-1202)
    /// The answer holds no total count where one is due.
    public static let expectedTotalCount = Self(-1203)
    /// The answer has no body, or one that cannot be read.
    public static let unreadableResponse = Self(-1204)
    /// The server refused and gave no reason.
    public static let serverErrorWithoutMessage = Self(-1301)
    /// The server refused and said why.
    public static let serverError = Self(-1302)
    /// The server's version did not match the one passed.
    public static let preconditionFailed = Self(-1303)

    // MARK: Queries

    /// The filter cannot be evaluated: it names an unknown column or compares values of different types.
    public static let filterNotSupported = Self(-1400)
    /// A parameter is out of range.
    public static let invalidParameter = Self(-1401)

    // MARK: New here

    /// An insert of an id that exists locally.
    public static let itemAlreadyExists = Self(-2001)
    /// An update or delete of an item that is not there.
    public static let itemNotFound = Self(-2002)
    /// The store was not opened with that table.
    public static let unknownTable = Self(-2003)
    /// A table or column is declared wrongly.
    public static let invalidTableDefinition = Self(-2004)
    /// The server has no such table.
    public static let tableNotOnServer = Self(-2005)
    /// The server cannot be reached.
    public static let networkUnavailable = Self(-2006)
    /// The server asks to sign in.
    public static let authenticationRequired = Self(-2007)
    /// The insert was refused because the server has a row of that id.
    public static let itemAlreadyOnServer = Self(-2008)
    /// The row is not on the server.
    public static let itemNotOnServer = Self(-2009)
    /// A reconcile would have removed more than half of a query's items, and was not told to.
    public static let reconcileRefused = Self(-2020)
    /// The store holds the rows of another user.
    public static let storeOfAnotherUser = Self(-2021)
}
