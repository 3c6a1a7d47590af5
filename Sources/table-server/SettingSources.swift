// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore

/// Adds the settings of the environment and of a file to the arguments of the command line, so that each setting has one
/// name, and is checked in one place, wherever it is made.
///
/// The command line comes before the environment, and the environment before the file.
struct SettingSources {
    /// The options with a value.
    static let options = [
        "host", "port", "table", "data", "database", "max-connections", "page-size", "max-top",
        "max-requests", "log-level", "secret-file",
        "key-set", "issuer", "audience",
    ]
    /// The options without a value.
    static let flags = ["page", "metrics"]
    /// The options that can be repeated.
    private static let lists: Set = ["table"]

    private let given: [String]
    private let environment: [String: String]

    init(_ given: [String], environment: [String: String]) {
        (self.given, self.environment) = (given, environment)
    }

    /// Returns the arguments of the command line with those of the other sources.
    ///
    /// - Throws: `ValidationError` when the file cannot be read, or a setting is not an option.
    func arguments() throws -> [String] {
        let names = Set(
            given.filter { $0.hasPrefix("-") }.map { $0.drop { $0 == "-" }.prefix { $0 != "=" } })
        if names.contains("help") || names.contains("h") { return given }
        let file = try fileSettings()
        var arguments = given
        for name in Self.options + Self.flags where !names.contains(name[...]) {
            let variable = Self.variable(name)
            if let text = environment[variable] {
                arguments += try Self.arguments(name, text: text, in: "the environment variable \(variable)")
            } else if let value = file?.settings[name] {
                arguments += try Self.arguments(name, value, in: "the file '\(file?.path ?? "")'")
            }
        }
        return arguments
    }

    /// The environment variable of an option.
    static func variable(_ name: String) -> String {
        "TABLESERVER_" + name.uppercased().replacing("-", with: "_")
    }

    // MARK: File

    private func fileSettings() throws -> (path: String, settings: [String: ItemValue])? {
        guard let path = filePath else { return nil }
        let value: ItemValue
        do { value = try ItemValue(json: try Data(contentsOf: URL(filePath: path))) } catch let error
            as JSONError
        {
            throw ValidationError("The file '\(path)' is not JSON: \(error)")
        } catch {
            throw ValidationError("The file '\(path)' cannot be read: \(error.localizedDescription)")
        }
        guard case .object(let settings) = value else {
            throw ValidationError("The file '\(path)' must contain a JSON object with the settings.")
        }
        let known = Self.options + Self.flags
        if let name = settings.keys.sorted().first(where: { !known.contains($0) }) {
            throw ValidationError(
                "The file '\(path)' has the setting '\(name)', which is no option: use the names of the options."
            )
        }
        return (path, settings)
    }

    private var filePath: String? {
        for (index, argument) in given.enumerated() {
            if argument == "--config", index + 1 < given.count { return given[index + 1] }
            if argument.hasPrefix("--config=") { return String(argument.dropFirst("--config=".count)) }
        }
        return environment[Self.variable("config")]
    }

    // MARK: Values

    private static func arguments(_ name: String, text: String, in place: String) throws -> [String] {
        if flags.contains(name) {
            guard let isOn = Bool(text) else { throw mustBe("true or false", name, place) }
            return isOn ? ["--" + name] : []
        }
        let values = lists.contains(name) ? text.split(separator: ",").map(String.init) : [text]
        return values.flatMap { ["--" + name, $0] }
    }

    private static func arguments(_ name: String, _ value: ItemValue, in place: String) throws -> [String] {
        switch value {
        case .bool(let isOn) where flags.contains(name): return isOn ? ["--" + name] : []
        case _ where flags.contains(name): throw mustBe("true or false", name, place)
        case .array(let values) where lists.contains(name):
            return try values.flatMap { value in
                guard case .text(let text) = value else { throw mustBe("an array of strings", name, place) }
                return ["--" + name, text]
            }
        case _ where lists.contains(name): throw mustBe("an array of strings", name, place)
        case .text(let text): return ["--" + name, text]
        case .int(let number): return ["--" + name, String(number)]
        default: throw mustBe("a string or an integer", name, place)
        }
    }

    private static func mustBe(_ form: String, _ name: String, _ place: String) -> ValidationError {
        ValidationError("The setting '\(name)' in \(place) must be \(form).")
    }
}
