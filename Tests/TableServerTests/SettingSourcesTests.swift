// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import TableServer
import TestSupport
import Testing

@testable import table_server

/// Settings of the command line, the environment and a file.
@Suite
struct SettingSourcesTests {
    /// Returns the arguments of all sources after those that are given.
    private func added(
        _ given: [String] = [], environment: [String: String] = [:], file: String? = nil
    ) throws -> [String] {
        try withTemporaryDirectory { directory in
            var given = given
            if let file {
                let path = directory.appending(path: "settings.json")
                try Data(file.utf8).write(to: path)
                given += ["--config", path.path]
            }
            let arguments = try SettingSources(given, environment: environment).arguments()
            return Array(arguments.list.dropFirst(given.count))
        }
    }

    /// Returns the message of the error.
    private func problem(
        _ given: [String] = [], environment: [String: String] = [:], file: String? = nil
    ) throws -> String {
        let error = #expect(throws: ValidationError.self) {
            try added(given, environment: environment, file: file)
        }
        return try #require(error).message
    }

    @Test func `an unknown name is refused, with the name that it probably means`() throws {
        let variable = try problem(environment: ["TABLESERVER_TABLES": "A"])
        #expect(variable.contains("TABLESERVER_TABLES is no setting. Did you mean TABLESERVER_TABLE?"))
        try #expect(problem(environment: ["TABLESERVER_KEYSET": "A"]).contains("TABLESERVER_KEY_SET?"))
        try #expect(problem(environment: ["TABLESERVER_X": ""]).contains("TABLESERVER_CONFIG."))
        try #expect(problem(file: #"{"tables": ["A"]}"#).contains("Did you mean table?"))
        try #expect(problem(file: #"{"password": "A"}"#).contains("The settings are host, port,"))
        try #expect(added(environment: ["TABLE_SERVER": "A"]).isEmpty)
    }

    @Test func `the variables that Kubernetes sets for a service are no settings`() throws {
        let variables = [
            "TABLESERVER_SERVICE_HOST": "10.0.0.1", "TABLESERVER_SERVICE_PORT": "80",
            "TABLESERVER_PORT": "tcp://10.0.0.1:80", "TABLESERVER_PORT_80_TCP_PROTO": "tcp",
        ]
        try #expect(added(environment: variables).isEmpty)
        try #expect(added(environment: ["TABLESERVER_PORT": "80"]) == ["--port=80"])
    }

    @Test func `a value that begins with a hyphen stays a value`() throws {
        try #expect(added(environment: ["TABLESERVER_PORT": "-1"]) == ["--port=-1"])
        try #expect(added(file: #"{"port": -5, "host": "-"}"#) == ["--host=-", "--port=-5"])
        try #expect(added(file: #"{"table": ["-a"]}"#) == ["--table=-a"])
    }

    @Test func `two files are refused`() throws {
        let given = ["--config", "a", "--config=b"]
        try #expect(problem(given).contains("--config is given twice"))
    }

    @Test func `a place for the rows hides the other place in later sources`() throws {
        let (data, database) = (#"{"data": "a"}"#, #"{"database": "a"}"#)
        try #expect(added(["--database", "b"], file: data).isEmpty)
        try #expect(added(["--data=b"], file: database).isEmpty)
        try #expect(added(["--data", "b"], environment: ["TABLESERVER_DATABASE": "a"]).isEmpty)
        let environment = ["TABLESERVER_DATABASE": "b"]
        try #expect(added(environment: environment, file: data) == ["--database=b"])
        let both = try added(file: #"{"data": "a", "database": "a"}"#)
        #expect(both == ["--data=a", "--database=a"])
    }

    @Test func `a place for the rows hides what is only for the other place`() throws {
        let file = #"{"database": "a", "max-connections": 5}"#
        try #expect(added(["--data", "b"], file: file).isEmpty)
        try #expect(added(environment: ["TABLESERVER_DATA": "b"], file: file) == ["--data=b"])
        let environment = ["TABLESERVER_DATABASE": "a", "TABLESERVER_MAX_CONNECTIONS": "5"]
        try #expect(added(["--data=b"], environment: environment).isEmpty)
        // Another database keeps it, and a source that contradicts itself is refused later.
        try #expect(added(["--database", "b"], file: file) == ["--max-connections=5"])
        let contradiction = #"{"data": "a", "max-connections": 5}"#
        try #expect(added(file: contradiction) == ["--data=a", "--max-connections=5"])
    }

    @Test(arguments: [("true", true), ("1", true), ("false", false), ("0", false)])
    func `a flag of the environment is true or false, or 1 or 0`(_ text: String, _ isOn: Bool) throws {
        let arguments = try added(environment: ["TABLESERVER_PAGE": text], file: #"{"page": true}"#)
        #expect(arguments == (isOn ? ["--page"] : []))
    }

    @Test func `a flag has no other value`() throws {
        for text in ["yes", "", "TRUE"] {
            try #expect(problem(environment: ["TABLESERVER_PAGE": text]).contains("true or false"))
        }
    }

    @Test func `spaces around the commas between tables are left out`() throws {
        let tables = try added(environment: ["TABLESERVER_TABLE": " A , B:hard,C,"])
        #expect(tables == ["--table=A", "--table=B:hard", "--table=C"])
    }

    @Test func `an empty value is refused`() throws {
        for name in ["DATA", "PORT", "TABLE", "CONFIG"] {
            let message = try problem(environment: ["TABLESERVER_\(name)": ""])
            #expect(message.contains("TABLESERVER_\(name) is empty"))
        }
        try #expect(problem(environment: ["TABLESERVER_TABLE": " , "]).contains("is empty"))
        try #expect(problem(file: #"{"database": ""}"#).contains("'database' in the file"))
        try #expect(problem(file: #"{"table": [""]}"#).contains("is empty"))
        try #expect(problem(["--issuer", ""]).contains("--issuer is empty"))
    }

    @Test func `text with a NUL character is refused`() throws {
        try #expect(problem(file: #"{"data": "a\u0000b"}"#).contains("NUL"))
    }

    @Test func `an error names the source of each option in its message`() throws {
        let places = ["port": "the file 'a'", "page": "the file 'a'", "data": "the file 'b'"]
        let arguments = SourcedArguments(list: [], places: places)
        let error = ValidationError("--port and --database are wrong.")
        let located = try #require(arguments.locating(error) as? ValidationError)
        #expect(located.message == "--port and --database are wrong.\n--port is set in the file 'a'.")
        #expect(arguments.locating(CleanExit.message("--port")) is CleanExit)
    }

    @Test func `properties of a table can be combined`() throws {
        let table = try TableServer.Table(argument: "T:hard:per-user")
        #expect(
            table
                == TableServer.Table(
                    "T", softDelete: false, permissions: .init(.authenticated), isPerUser: true))
        #expect(try TableServer.Table(argument: "T:admin:per-user").permissions == .init(.admin))
        #expect(try TableServer.Table(argument: "T") == TableServer.Table("T"))
    }

    @Test func `a table can have columns`() throws {
        let table = try TableServer.Table(argument: "T:columns=text+Complete:hard")
        #expect(table == TableServer.Table("T", softDelete: false, columns: ["text", "Complete"]))
        let tables = try added(environment: ["TABLESERVER_TABLE": "A:columns=a+b,B"])
        #expect(tables == ["--table=A:columns=a+b", "--table=B"])
    }

    @Test(
        arguments: [
            ("T:read=anonymous:authenticated", [.anonymous, .authenticated, .authenticated, .authenticated]),
            ("T:delete=admin", [.anonymous, .anonymous, .anonymous, .admin]),
            (
                "T:read=anonymous:insert=authenticated:update=admin:delete=admin",
                [.anonymous, .authenticated, .admin, .admin]
            ),
            ("T:per-user:update=admin", [.authenticated, .authenticated, .admin, .authenticated]),
        ] as [(String, [TableServer.Permission])])
    func `each operation of a table can have its permission`(
        _ text: String, _ operations: [TableServer.Permission]
    ) throws {
        let permissions = try TableServer.Table(argument: text).permissions
        #expect([permissions.read, permissions.insert, permissions.update, permissions.delete] == operations)
    }

    @Test(arguments: [
        "T:hard:soft", "T:soft:soft", "T:admin:anonymous", "T:per-user:per-user", "T:peruser", "T:",
        "T:read", "T:read=", "T:read=x", "T:write=admin", "T:read=admin:read=admin", "T:soft=admin",
        "T:columns", "T:columns=a:columns=b",
    ])
    func `properties of a table that are unknown or exclude each other are refused`(_ text: String) {
        #expect(throws: ValidationError.self) { try TableServer.Table(argument: text) }
    }
}
