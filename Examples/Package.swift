// swift-tools-version: 6.2
import PackageDescription

// One package, so that the dependencies are built once. Each example could be a package with the same targets: the article
// "Write a store" shows the manifest of custom-store, and Scripts/check-resolved-packages that of client-app.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-sync-context", path: "..", traits: ["StoreConformanceCommand", "TableServer"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    ],
    targets: [
        // An app as SwiftPM makes it: Swift 6, and no upcoming features.
        .target(
            name: "ClientApp",
            dependencies: [
                .product(name: "StoreSQLite", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            path: "client-app/Sources/ClientApp"),
        .testTarget(
            name: "ClientAppTests",
            dependencies: ["ClientApp", .product(name: "SyncCore", package: "swift-sync-context")],
            path: "client-app/Tests/ClientAppTests"),
        // Typed models, a live list and automatic sync in a terminal, and tests with a server that fails.
        .executableTarget(
            name: "TypedApp",
            dependencies: [
                .product(name: "StoreSQLite", package: "swift-sync-context"),
                .product(name: "SyncModels", package: "swift-sync-context"),
            ],
            path: "typed-app/Sources/TypedApp"),
        .testTarget(
            name: "TypedAppTests",
            dependencies: [
                "TypedApp", .product(name: "StoreMemory", package: "swift-sync-context"),
                .product(name: "SyncModels", package: "swift-sync-context"),
                .product(name: "TableServer", package: "swift-sync-context"),
            ],
            path: "typed-app/Tests/TypedAppTests"),
        // Synced models in the GRDB database of an app.
        .target(
            name: "GRDBApp",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "StoreSQLite", package: "swift-sync-context"),
                .product(name: "SyncModels", package: "swift-sync-context"),
            ],
            path: "grdb-app/Sources/GRDBApp"),
        .testTarget(
            name: "GRDBAppTests",
            dependencies: ["GRDBApp", .product(name: "TableServer", package: "swift-sync-context")],
            path: "grdb-app/Tests/GRDBAppTests"),
        // A background worker under swift-service-lifecycle.
        .executableTarget(
            name: "Worker",
            dependencies: [
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "StoreLMDB", package: "swift-sync-context"),
                .product(name: "SyncModels", package: "swift-sync-context"),
            ],
            path: "worker/Sources/Worker"),
        // A store in one plain file.
        .target(
            name: "FileStore",
            dependencies: [
                .product(name: "StoreOrderedMap", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            path: "custom-store/Sources/FileStore"),
        .executableTarget(
            name: "file-store-conformance",
            dependencies: [
                "FileStore", .product(name: "StoreConformance", package: "swift-sync-context"),
                .product(name: "StoreConformanceCommand", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            path: "custom-store/Sources/file-store-conformance"),
        .testTarget(
            name: "FileStoreTests",
            dependencies: [
                "FileStore", "file-store-conformance",
                .product(name: "StoreConformance", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            path: "custom-store/Tests/FileStoreTests"),
        // A store on a server. libpq is a system library, which Scripts/setup --tests installs.
        .systemLibrary(
            name: "CPostgres", path: "postgres-store/Sources/CPostgres", pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "PostgresStore",
            dependencies: [
                "CPostgres", .product(name: "StoreOrderedMap", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            path: "postgres-store/Sources/PostgresStore"),
        .target(
            name: "PostgresHarness",
            dependencies: [
                "PostgresStore", .product(name: "StoreConformance", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            path: "postgres-store/Sources/PostgresHarness"),
        .executableTarget(
            name: "postgres-store-conformance",
            dependencies: [
                "PostgresHarness", .product(name: "StoreConformance", package: "swift-sync-context"),
                .product(name: "StoreConformanceCommand", package: "swift-sync-context"),
            ],
            path: "postgres-store/Sources/postgres-store-conformance"),
        .testTarget(
            name: "PostgresStoreTests",
            dependencies: [
                "PostgresHarness", "postgres-store-conformance",
                .product(name: "StoreConformance", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            path: "postgres-store/Tests/PostgresStoreTests"),
    ])
