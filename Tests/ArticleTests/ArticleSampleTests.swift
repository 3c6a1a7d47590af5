// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Every Swift sample of the README and of the articles is part of a source file that CI compiles.
struct ArticleSampleTests {
    /// A document, and the source files that its samples are in.
    struct Document: Sendable, CustomTestStringConvertible {
        let path: String
        let sources: [String]

        var testDescription: String { path }
    }

    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The documents that are not an article of SyncCore or SyncModels, whose samples are in the file of the article's
    /// name.
    private static let others = [
        Document(path: "README.md", sources: ["Tests/SyncScenarioTests/ReadmeTests.swift"]),
        Document(
            path: "Sources/StoreConformance/Documentation.docc/WritingAStore.md",
            sources: ["Examples/custom-store", "Sources/sync-conformance"]),
        Document(
            path: "Sources/StoreConformance/Documentation.docc/StoresOnAServer.md",
            sources: ["Examples/postgres-store"]),
    ]

    private static func documents() throws -> [Document] {
        try others
            + ["SyncCore", "SyncModels"].flatMap { target in
                let catalog = "Sources/\(target)/Documentation.docc"
                return try FileManager.default.contentsOfDirectory(atPath: path(catalog))
                    .filter { $0.hasSuffix(".md") }.sorted()
                    .map { name in
                        let source = name.dropLast(".md".count) + ".swift"
                        return Document(
                            path: "\(catalog)/\(name)", sources: ["Tests/ArticleTests/Samples/\(source)"])
                    }
            }
    }

    @Test(arguments: try documents()) func `every sample is part of a compiled file`(_ document: Document)
        throws
    {
        let text = try String(contentsOfFile: Self.path(document.path), encoding: .utf8)
        let code = "\n" + Self.trimmed(try Self.code(of: document.sources)) + "\n"
        for sample in Self.samples(of: text) {
            #expect(code.contains("\n" + Self.trimmed(sample) + "\n"), "\(sample)")
        }
    }

    @Test func `the article about troubleshooting has every error code`() throws {
        let codes = try String(
            contentsOfFile: Self.path("Sources/SyncCore/Errors/SyncError+Code.swift"), encoding: .utf8)
        let article = try String(
            contentsOfFile: Self.path("Sources/SyncCore/Documentation.docc/Troubleshooting.md"),
            encoding: .utf8)
        let names = codes.matches(of: /public static let (\w+) =/).map(\.output.1)
        #expect(names.count > 40)
        #expect(names.filter { !article.contains("``SyncError/Code/\($0)``") } == [])
    }

    @Test func `the article about architecture names files that exist`() throws {
        let article = try String(
            contentsOfFile: Self.path("Sources/SyncCore/Documentation.docc/Architecture.md"), encoding: .utf8)
        let rules = try #require(article.split(separator: "## Where is the rule?").last)
            .prefix { $0 != "#" }
        let files = rules.matches(of: /`([A-Z]\w+\/[\w\/+]+)`/).map(\.output.1)
        #expect(files.count > 20)
        let missing = files.filter { file in
            !FileManager.default.fileExists(atPath: Self.path("Sources/SyncCore/\(file).swift"))
        }
        #expect(missing == [])
    }

    private static func path(_ relative: String) -> String { root.appending(path: relative).path() }

    /// The text of all Swift files at the paths. A document without samples has no file.
    private static func code(of sources: [String]) throws -> String {
        try sources.flatMap { source -> [String] in
            if source.hasSuffix(".swift") { return [source] }
            return (FileManager.default.enumerator(atPath: path(source)) ?? .init())
                .compactMap { $0 as? String }
                .filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }
                .map { "\(source)/\($0)" }
        }
        .filter { FileManager.default.fileExists(atPath: path($0)) }
        .map { try String(contentsOfFile: path($0), encoding: .utf8) }
        .joined(separator: "\n")
    }

    /// The blocks marked as Swift. Manifests and excerpts with omissions have no mark.
    private static func samples(of text: String) -> [String] {
        var samples: [String] = []
        var block: (language: Substring, lines: [Substring])?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if !line.hasPrefix("```") {
                block?.lines.append(line)
            } else if let ended = block {
                if ended.language == "swift" { samples.append(ended.lines.joined(separator: "\n")) }
                block = nil
            } else {
                block = (line.dropFirst(3), [])
            }
        }
        return samples
    }

    /// The lines without the white space around them, and without empty ones.
    private static func trimmed(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .joined(separator: "\n")
    }
}
