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
    private let given: [String]
    private let environment: [String: String]

    /// A setting that is not on the command line.
    private struct Setting {
        let name: String
        let arguments: [String]
        let place: String
    }

    init(_ given: [String], environment: [String: String]) {
        (self.given, self.environment) = (given, environment)
    }

    /// Returns the arguments of the command line with those of the other sources.
    ///
    /// - Throws: `ValidationError` when the file cannot be read, a setting is not an option, or its value has the wrong form.
    func arguments() throws -> SourcedArguments {
        var arguments = SourcedArguments(list: given)
        var names = Set(
            given.filter { $0.hasPrefix("-") }.map { String($0.drop { $0 == "-" }.prefix { $0 != "=" }) })
        if names.contains("help") || names.contains("h") { return arguments }
        if let index = given.firstIndex(of: ""), index > 0 {
            throw ValidationError("The value of \(given[index - 1]) is empty: leave the option out.")
        }
        for source in [try environmentSettings(), try fileSettings()] {
            let hidden = names.union(names.flatMap { SettingName.replaced[$0] ?? [] })
            for setting in source where !hidden.contains(setting.name) {
                names.insert(setting.name)
                arguments.list += setting.arguments
                arguments.places[setting.name] = setting.place
            }
        }
        return arguments
    }

    // MARK: Environment

    private func environmentSettings() throws -> [Setting] {
        let known = (SettingName.all + ["config"]).map(SettingName.variable)
        let environment = environment.filter { !Self.isOfKubernetes($0.key, $0.value) }
        let variables = environment.keys.filter { $0.hasPrefix(SettingName.prefix) }.sorted()
        if let unknown = variables.first(where: { !known.contains($0) }) {
            throw ValidationError(
                "The environment variable \(unknown) is no setting. "
                    + SettingName.suggestion(for: unknown, among: known))
        }
        return try SettingName.all.compactMap { name in
            let variable = SettingName.variable(name)
            let place = "the environment variable \(variable)"
            return try environment[variable].map { text in
                Setting(name: name, arguments: try Self.arguments(name, text: text, in: place), place: place)
            }
        }
    }

    /// Whether Kubernetes has set the variable, as it does for a service with the name `tableserver`.
    private static func isOfKubernetes(_ variable: String, _ value: String) -> Bool {
        ["SERVICE_", "PORT_"].contains { variable.hasPrefix(SettingName.prefix + $0) }
            || variable == SettingName.variable("port") && value.hasPrefix("tcp://")
    }

    private static func arguments(_ name: String, text: String, in place: String) throws -> [String] {
        if SettingName.flags.contains(name) {
            guard let isOn = ["true": true, "1": true, "false": false, "0": false][text] else {
                throw mustBe("true or false", name, place)
            }
            return isOn ? ["--" + name] : []
        }
        guard SettingName.lists.contains(name) else { return [try argument(name, text, in: place)] }
        let parts = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let values = parts.filter { !$0.isEmpty }
        return try (values.isEmpty ? [""] : values).map { try argument(name, $0, in: place) }
    }

    // MARK: File

    private func fileSettings() throws -> [Setting] {
        guard let path = try filePath() else { return [] }
        let value: ItemValue
        do { value = try ItemValue(json: try contents(ofFile: path)) } catch let error as JSONError {
            throw ValidationError("The file '\(path)' is not JSON: \(error)")
        }
        guard case .object(let members) = value else {
            throw ValidationError("The file '\(path)' must contain a JSON object with the settings.")
        }
        if let unknown = members.keys.sorted().first(where: { !SettingName.all.contains($0) }) {
            throw ValidationError(
                "The setting '\(unknown)' in the file '\(path)' is no option. "
                    + SettingName.suggestion(for: unknown, among: SettingName.all))
        }
        let place = "the file '\(path)'"
        return try SettingName.all.compactMap { name in
            try members[name].map { value in
                Setting(name: name, arguments: try Self.arguments(name, value, in: place), place: place)
            }
        }
    }

    private func filePath() throws -> String? {
        var paths: [String] = []
        for (index, argument) in given.enumerated() {
            if argument == "--config", index + 1 < given.count { paths.append(given[index + 1]) }
            if argument.hasPrefix("--config=") { paths.append(String(argument.dropFirst("--config=".count))) }
        }
        guard paths.count <= 1 else {
            throw ValidationError("--config is given twice: write all settings into one file.")
        }
        let variable = SettingName.variable("config")
        guard paths.isEmpty, environment[variable] == "" else { return paths.first ?? environment[variable] }
        throw Self.isEmpty("config", "the environment variable \(variable)")
    }

    private static func arguments(_ name: String, _ value: ItemValue, in place: String) throws -> [String] {
        switch value {
        case .bool(let isOn) where SettingName.flags.contains(name): return isOn ? ["--" + name] : []
        case _ where SettingName.flags.contains(name): throw mustBe("true or false", name, place)
        case .array(let values) where SettingName.lists.contains(name):
            return try values.map { value in
                guard case .text(let text) = value else { throw mustBe("an array of strings", name, place) }
                return try argument(name, text, in: place)
            }
        case _ where SettingName.lists.contains(name): throw mustBe("an array of strings", name, place)
        case .text(let text): return [try argument(name, text, in: place)]
        case .int(let number): return [try argument(name, String(number), in: place)]
        default: throw mustBe("a string or an integer", name, place)
        }
    }

    // MARK: Values

    /// Returns an option with its value in one argument, because the value can begin with `-`.
    private static func argument(_ name: String, _ value: String, in place: String) throws -> String {
        if value.isEmpty { throw isEmpty(name, place) }
        // The system reads a path only up to it.
        if value.utf8.contains(0) { throw mustBe("text without a NUL character", name, place) }
        return "--\(name)=\(value)"
    }

    private static func isEmpty(_ name: String, _ place: String) -> ValidationError {
        ValidationError("The setting '\(name)' in \(place) is empty: remove it, or give it a value.")
    }

    private static func mustBe(_ form: String, _ name: String, _ place: String) -> ValidationError {
        ValidationError("The setting '\(name)' in \(place) must be \(form).")
    }
}

/// The arguments of the command line and of other sources.
struct SourcedArguments {
    var list: [String]
    /// Where each option is set that is not on the command line.
    var places: [String: String] = [:]

    /// Adds to an error of arguments where the options are set that it names.
    func locating(_ error: any Error) -> any Error {
        guard TableServerCommand.exitCode(for: error) == .validationFailure else { return error }
        let message = TableServerCommand.message(for: error)
        let named = Set(message.matches(of: /--([a-z-]+)/).map { String($0.output.1) })
        let lines = places.filter { named.contains($0.key) }.map { "--\($0.key) is set in \($0.value)." }
        guard !lines.isEmpty else { return error }
        return ValidationError(([message] + lines.sorted()).joined(separator: "\n"))
    }
}
