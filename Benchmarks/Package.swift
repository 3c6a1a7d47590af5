// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "bench", targets: ["bench"])],
    dependencies: [
        .package(
            name: "swift-sync-context", path: "..", traits: ["AsyncHTTPTransport", "TableServer"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSystemLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(
            name: "CSystemPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(name: "CChangegroup", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "CHTTPConnection"),
        .target(name: "CInstructionCount"),
        .executableTarget(
            name: "bench",
            dependencies: [
                "CChangegroup",
                "CHTTPConnection",
                "CInstructionCount",
                "CSystemLMDB",
                "CSystemPQ",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "AsyncHTTPTransport", package: "swift-sync-context"),
                .product(name: "StoreLMDB", package: "swift-sync-context"),
                .product(name: "StoreMemory", package: "swift-sync-context"),
                .product(name: "StoreSQLite", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
                .product(name: "SyncModels", package: "swift-sync-context"),
                .product(name: "TableServer", package: "swift-sync-context"),
                .product(name: "TableServerPostgreSQL", package: "swift-sync-context"),
            ]),
    ],
    swiftLanguageModes: [.v6])

for target in package.targets where target.name == "bench" {
    target.swiftSettings = [
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
    if Context.environment["CI"] != nil {
        target.swiftSettings?.append(.treatAllWarnings(as: .error))
    }
}
