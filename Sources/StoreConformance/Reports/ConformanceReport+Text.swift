// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
import SyncCore

extension ConformanceReport {
    /// The report as JSON, for programs.
    public var json: Data {
        let rules = results.map { result -> ItemValue in
            var object: [String: ItemValue] = [
                "id": .text(result.rule.id), "sentence": .text(result.rule.sentence),
                "level": .text(result.rule.level.rawValue), "status": .text(result.status.rawValue),
                "assertions": .int(Int64(result.assertions)), "seconds": .double(result.seconds),
            ]
            object["reason"] = result.reason.map(ItemValue.text)
            object["failure"] = result.failure.map { .text($0.description) }
            return .object(object)
        }
        let levels = StoreLevel.allCases.map { ($0.rawValue, ItemValue.text(standing($0).rawValue)) }
        let counts = Result.Status.allCases.map { ($0.rawValue, ItemValue.int(Int64(count($0)))) }
        let report: ItemValue = [
            "suite": .text("swift-sync-context StoreConformance"), "version": .text(Self.suiteVersion),
            "store": .text(store), "seed": .text("\(seed)"),
            "scripts": .int(Int64(effort.modelScripts)), "scriptLength": .int(Int64(effort.modelLength)),
            "kills": .int(Int64(effort.kills)), "assertions": .int(Int64(assertions)),
            "capabilities": .object(capabilityTexts.reduce(into: [:]) { $0[$1.name] = .text($1.value) }),
            "levels": .object(Dictionary(uniqueKeysWithValues: levels)),
            "counts": .object(Dictionary(uniqueKeysWithValues: counts)), "rules": .array(rules),
        ]
        return report.json
    }

    /// The report as JUnit XML, for continuous integration.
    public var junit: String {
        let cases = results.map { result in
            let head =
                "  <testcase classname=\"\(store.escapedForXML)\" name=\"\(result.rule.id.escapedForXML)\" "
                + "time=\"\(String(format: "%.3f", result.seconds))\""
            if let failure = result.failure {
                return "\(head)><failure message=\"\(failure.subject.escapedForXML)\">"
                    + "\(failure.description.escapedForXML)</failure></testcase>"
            }
            if let reason = result.reason {
                return "\(head)><skipped message=\"\(reason.escapedForXML)\"/></testcase>"
            }
            return "\(head)/>"
        }
        let skipped = results.count { $0.reason != nil }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuite name="StoreConformance \(Self.suiteVersion): \(store.escapedForXML)" tests="\(results.count)" \
            failures="\(failures.count)" skipped="\(skipped)">
            \(cases.joined(separator: "\n"))
            </testsuite>

            """
    }

    /// The report as Markdown.
    public var markdown: String {
        var lines = [
            "# \(store): store conformance", "",
            "Suite \(Self.suiteVersion), \(parameters). \(results.count) clauses, \(assertions) assertions.",
            "",
            "| level | |", "|---|---|",
        ]
        lines += StoreLevel.allCases.map { "| \($0.rawValue) | \(standing($0).rawValue) |" }
        lines += ["", "| capability | declared |", "|---|---|"]
        lines += capabilityTexts.map { "| \($0.name) | \($0.value) |" }
        lines += ["", "| family | " + Result.Status.allCases.map(\.rawValue).joined(separator: " | ") + " |"]
        lines.append("|---|" + Result.Status.allCases.map { _ in "---|" }.joined())
        for family in families {
            let counts = Result.Status.allCases.map { status in
                "\(family.results.count { $0.status == status })"
            }
            lines.append("| \(family.name) | \(counts.joined(separator: " | ")) |")
        }
        for failure in failures {
            lines += ["", "## Broken: \(failure.ruleID)", "", "```", failure.description, "```"]
        }
        lines += ["", "## Not checked", ""]
        lines += results.compactMap { result in
            result.reason.map { "- `\(result.rule.id)` (\(result.status.rawValue)): \($0)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The results, grouped by the first part of the rules' ids.
    var families: [(name: String, results: [Result])] {
        var names: [String] = []
        for result in results where !names.contains(result.rule.family) { names.append(result.rule.family) }
        return names.map { name in (name, results.filter { $0.rule.family == name }) }
    }

    var capabilityTexts: [(name: String, value: String)] {
        [
            ("isDurable", "\(capabilities.isDurable)"),
            ("hasConcurrentReaders", "\(capabilities.hasConcurrentReaders)"),
            ("isMultiProcess", "\(capabilities.isMultiProcess)"),
            ("usesIndexes", "\(capabilities.usesIndexes)"),
            ("maxIDLength", capabilities.maxIDLength == .max ? "unlimited" : "\(capabilities.maxIDLength)"),
        ]
    }
}

extension String {
    /// The string escaped for XML text and quoted attributes; characters that XML cannot represent become `\u{…}`.
    var escapedForXML: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n", "\t": escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || (0xFFFE...0xFFFF).contains(scalar.value):
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
