// swift-tools-version: 6.2
import PackageDescription

let products: [Product] = [
    .library(name: "SyncCore", targets: ["SyncCore"]),
    .library(name: "SyncModels", targets: ["SyncModels"]),
    .library(name: "StoreMemory", targets: ["StoreMemory"]),
    .library(name: "StoreSQLite", targets: ["StoreSQLite"]),
    .library(name: "StoreLMDB", targets: ["StoreLMDB"]),
    .library(name: "StoreOrderedMap", targets: ["StoreOrderedMap"]),
    .library(name: "AsyncHTTPTransport", targets: ["AsyncHTTPTransport"]),
    .library(name: "StoreConformance", targets: ["StoreConformance"]),
    .library(name: "StoreConformanceMutants", targets: ["StoreConformanceMutants"]),
    .library(name: "StoreConformanceCommand", targets: ["StoreConformanceCommand"]),
    .library(name: "SyncSimulation", targets: ["SyncSimulation"]),
    .library(name: "TableServer", targets: ["TableServer"]),
    .library(name: "TableServerPostgreSQL", targets: ["TableServerPostgreSQL"]),
    .executable(name: "sync-conformance", targets: ["sync-conformance"]),
    .executable(name: "todo", targets: ["todo"]),
    .executable(name: "table-server", targets: ["table-server"]),
]

// A package that depends on this one resolves the dependencies of all its products. Those that bring many packages are
// therefore behind traits, which an app enables by name: .package(url: …, traits: ["TableServer"]).
let allTraits: Set<String> = ["AsyncHTTPTransport", "StoreConformanceCommand", "TableServer"]

// In a checkout all traits are on, so that `swift build` and `swift test` need no options. Default traits also apply to
// packages that depend on this one. They get none: SwiftPM reads the manifest of a downloaded package from the
// repository, with "/" as its directory, and later from its directory of checkouts. A package that depends on a
// checkout by path passes `traits: []`.
let directory = Context.packageDirectory.split(separator: "/")
let isDownloaded = directory.isEmpty || directory.dropLast().last == "checkouts"

let dependencies: [Package.Dependency] = [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.26.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
]

let asyncHTTPClient = Target.Dependency.product(
    name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPTransport"]))
// Each of the two traits enables it: for the command line of stores, and for the program table-server.
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser",
    condition: .when(traits: ["StoreConformanceCommand", "TableServer"]))
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(
    name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["TableServer"]))
let jwtKit = Target.Dependency.product(
    name: "JWTKit", package: "jwt-kit", condition: .when(traits: ["TableServer"]))
// For tests that start programs, on the systems where there are any.
let subprocess = Target.Dependency.product(
    name: "Subprocess", package: "swift-subprocess", condition: .when(platforms: [.linux, .macOS]))
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(
    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPTransport"]))
let nioHTTPCompression = Target.Dependency.product(
    name: "NIOHTTPCompression", package: "swift-nio-extras", condition: .when(traits: ["AsyncHTTPTransport"]))
let nioHTTP1 = Target.Dependency.product(
    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPTransport"]))
let nioPosix = Target.Dependency.product(
    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["AsyncHTTPTransport"]))
let nioSSL = Target.Dependency.product(
    name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["AsyncHTTPTransport"]))
let sqlite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")

// A target of a product behind a trait depends on the target of the trait, which is compiled first. Without the trait its
// error names the line to add; the compiler would only report the first module that is missing.
let traitTargets = allTraits.sorted().map { trait in
    Target.target(name: "\(trait)Trait", path: "Sources/Traits/\(trait)")
}

let targets: [Target] = [
    .target(name: "SyncCore", dependencies: [httpTypes, logging]),
    .target(name: "SyncModels", dependencies: ["SyncCore"]),
    .target(
        name: "AsyncHTTPTransport",
        dependencies: [
            "AsyncHTTPTransportTrait", "SyncCore", asyncHTTPClient, httpTypes, nioCore, nioHTTP1,
            nioHTTPCompression, nioPosix, nioSSL,
        ]),
    .target(name: "SyncSimulation", dependencies: ["StoreMemory", "SyncCore", "SyncModels", httpTypes]),
    .executableTarget(name: "simulate", dependencies: ["StoreLMDB", "StoreSQLite", "SyncSimulation"]),
    .target(name: "StoreOrderedMap", dependencies: ["SyncCore"]),
    .target(name: "StoreMemory", dependencies: ["SyncCore"]),
    .target(name: "StoreSQLite", dependencies: ["SyncCore", grdb, sqlite, logging]),
    .systemLibrary(
        name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(name: "StoreLMDB", dependencies: ["SyncCore", "StoreOrderedMap", "CLMDB"]),
    .target(name: "StoreConformance", dependencies: ["SyncCore", "StoreMemory"]),
    .target(
        name: "StoreConformanceMutants", dependencies: ["StoreConformance", "StoreMemory", "SyncCore"]),
    .target(
        name: "StoreConformanceCommand",
        dependencies: [
            "StoreConformance", "StoreConformanceCommandTrait", "StoreConformanceMutants", "SyncCore",
            argumentParser,
        ]),
    .executableTarget(
        name: "sync-conformance",
        dependencies: [
            "StoreConformance", "StoreConformanceCommand", "StoreLMDB", "StoreMemory", "StoreSQLite",
            "SyncCore", grdb,
        ]),
    .target(
        name: "TableServer",
        dependencies: ["SyncCore", "TableServerTrait", grdb, hummingbird, jwtKit, logging, sqlite]),
    .systemLibrary(
        name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(name: "TableServerPostgreSQL", dependencies: ["CLibPQ", "SyncCore", "TableServer"]),
    .executableTarget(
        name: "table-server",
        dependencies: ["SyncCore", "TableServer", "TableServerPostgreSQL", argumentParser, logging]),
    .executableTarget(
        name: "todo",
        dependencies: [
            .target(name: "AsyncHTTPTransport", condition: .when(platforms: [.linux])), "StoreLMDB",
            "StoreMemory", "StoreSQLite", "SyncCore", "SyncModels", "TableServer", argumentParser,
        ]),
    .executableTarget(
        name: "sync-inspect",
        dependencies: ["StoreLMDB", "StoreMemory", "StoreSQLite", "SyncCore", argumentParser, httpTypes]),
    .target(name: "TestSupport", dependencies: ["SyncCore", httpTypes, logging], path: "Tests/TestSupport"),
    .testTarget(
        name: "SyncCoreTests",
        dependencies: [
            "AsyncHTTPTransport", "StoreConformance", "StoreMemory", "SyncCore", "TestSupport", httpTypes,
            logging,
        ]),
    .testTarget(
        name: "SyncModelsTests",
        dependencies: [
            "StoreConformance", "StoreLMDB", "StoreMemory", "StoreSQLite", "SyncCore", "SyncModels",
            "SyncSimulation", "TableServer", "TestSupport", grdb, httpTypes, logging,
        ]),
    .testTarget(
        name: "StoreOrderedMapTests",
        dependencies: ["StoreConformance", "StoreMemory", "StoreOrderedMap", "SyncCore", "TestSupport"]),
    .testTarget(
        name: "StoreMemoryTests",
        dependencies: ["StoreConformance", "StoreMemory", "SyncCore", "TestSupport"]),
    .testTarget(
        name: "StoreSQLiteTests",
        dependencies: [
            "StoreConformance", "StoreMemory", "StoreSQLite", "SyncCore", "TestSupport", grdb, logging,
            sqlite,
        ]),
    .testTarget(
        name: "StoreLMDBTests",
        dependencies: [
            "CLMDB", "StoreConformance", "StoreLMDB", "StoreMemory", "StoreOrderedMap", "SyncCore",
            "TestSupport",
        ]),
    .testTarget(
        name: "StoreConformanceTests",
        dependencies: [
            "StoreConformance", "StoreConformanceMutants", "StoreLMDB", "StoreMemory", "StoreSQLite",
            "SyncCore", "TestSupport", "sync-conformance",
        ]),
    .testTarget(
        name: "TableServerTests",
        dependencies: [
            "StoreConformance", "StoreMemory", "SyncCore", "TableServer", "TableServerPostgreSQL",
            "TestSupport", "table-server", grdb, httpTypes, jwtKit, logging, subprocess,
        ]),
    // Clients and processes of the server on one PostgreSQL, which are killed: see Scripts/stress-server.
    .executableTarget(
        name: "server-stress",
        dependencies: [
            "AsyncHTTPTransport", "StoreMemory", "SyncCore", "TableServer", "TableServerPostgreSQL",
            "TestSupport",
        ],
        path: "Tests/ServerStress"),
    .testTarget(
        name: "SyncScenarioTests",
        dependencies: [
            "AsyncHTTPTransport", "StoreConformance", "StoreLMDB", "StoreMemory", "StoreSQLite", "SyncCore",
            "TableServer", "TableServerPostgreSQL", "TestSupport", grdb,
        ]),
    // Faults of the file system for processes that tests start, and the program of these processes.
    .target(name: "CFileFaults", path: "Tests/CFileFaults"),
    .executableTarget(
        name: "sync-child",
        dependencies: ["CFileFaults", "StoreLMDB", "StoreSQLite", "SyncCore", "TestSupport"],
        path: "Tests/SyncChild"),
    .testTarget(
        name: "HostileInputTests",
        dependencies: [
            "CFileFaults", "StoreConformance", "StoreLMDB", "StoreMemory", "StoreSQLite", "SyncCore",
            "TableServer", "TestSupport", "sync-child", grdb, httpTypes, logging, subprocess,
        ]),
    .testTarget(
        name: "SyncSimulationTests",
        dependencies: ["StoreLMDB", "StoreSQLite", "SyncCore", "SyncSimulation", "TestSupport"],
        resources: [.copy("Seeds.txt")]),
    .testTarget(
        name: "ArticleTests",
        dependencies: [
            "AsyncHTTPTransport", "StoreConformance", "StoreMemory", "StoreSQLite", "SyncCore",
            "SyncModels", "SyncSimulation", "TableServer", grdb, httpTypes, logging,
        ]),
    .testTarget(
        name: "SyncInspectTests",
        dependencies: [
            "AsyncHTTPTransport", "StoreLMDB", "StoreSQLite", "SyncCore", "TableServer", "TestSupport",
            "sync-inspect", grdb, httpTypes, subprocess,
        ]),
    .testTarget(
        name: "TodoTests",
        dependencies: [
            "StoreMemory", "SyncCore", "SyncModels", "TableServer", "TestSupport", "todo", argumentParser,
            subprocess,
        ]),
]

let package = Package(
    name: "swift-sync-context",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: products,
    traits: [
        .trait(name: "AsyncHTTPTransport", description: "The product AsyncHTTPTransport"),
        .trait(name: "StoreConformanceCommand", description: "The product StoreConformanceCommand"),
        .trait(name: "TableServer", description: "The products TableServer and TableServerPostgreSQL"),
        .default(enabledTraits: isDownloaded ? [] : allTraits),
    ],
    dependencies: dependencies,
    targets: targets + traitTargets,
    swiftLanguageModes: [.v6])

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
        .enableUpcomingFeature("InferIsolatedConformances"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0481-weak-let.md
        .enableUpcomingFeature("ImmutableWeakCaptures"),
    ]
    if Context.environment["CI"] != nil {
        target.swiftSettings?.append(.treatAllWarnings(as: .error))
    }
}
