// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLibPQ
import SyncCore
import TableServer

/// How to connect to a server: a connection string of libpq, which can contain a password.
struct PostgreSQLParameters: Sendable {
    private let connection: String
    /// `nil` for no limits.
    let limits: PostgreSQLTimeLimits?

    /// - Throws: ``/TableServer/TableServerError`` when libpq cannot parse the connection string.
    init(
        _ connection: String, limits: PostgreSQLTimeLimits? = PostgreSQLTimeLimits()
    ) throws(TableServerError) {
        self.connection = connection
        self.limits = limits
        var problem: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(connection, &problem)
        // The message of libpq can contain the password.
        PQfreemem(problem)
        defer { PQconninfoFree(options) }
        guard let options else {
            throw TableServerError(
                .configuration,
                "The connection string of the database is invalid: use postgresql://user@host/database, or "
                    + "keywords such as host=… dbname=… user=….")
        }
        var option = options
        while let keyword = option.pointee.keyword {
            let value = option.pointee.val.map { String(cString: $0) } ?? ""
            if Self.hasPartOfPassword(of: connection, String(cString: keyword), value) {
                throw TableServerError(
                    .configuration,
                    "The connection string of the database is invalid: a password in a URL contains @ as %40 and / "
                        + "as %2F.")
            }
            option += 1
        }
    }

    /// Whether libpq has taken a part of a URL's password for another option, with which its errors would show it.
    private static func hasPartOfPassword(of url: String, _ keyword: String, _ value: String) -> Bool {
        guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else { return false }
        switch keyword {
        // An escaped @ belongs to the value.
        case "host", "dbname": return value.contains("@") && url.contains(value)
        case "port": return !value.utf8.allSatisfy { $0 == UInt8(ascii: ",") || $0.isASCIIDigit }
        default: return false
        }
    }

    /// The parameters for libpq. The later of two values applies, so the user's are after the defaults.
    ///
    /// The limits let a call return when the server's machine or the network has failed. Of several hosts, the one that
    /// writes is used.
    var keywordsAndValues: [(keyword: String, value: String)] {
        [
            ("connect_timeout", "5"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "20000"),
            ("target_session_attrs", "read-write"), ("fallback_application_name", "table-server"),
            ("dbname", connection),
            ("client_encoding", "UTF8"),
        ]
    }
}

/// A dump does not reveal the password.
extension PostgreSQLParameters: CustomStringConvertible, CustomReflectable {
    var description: String { "a PostgreSQL database" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
