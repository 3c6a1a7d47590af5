// swift-tools-version: 6.2
import PackageDescription

// One package, so that the dependencies are built once. Each example could be a package with the same targets: the article
// "Write a store" shows the manifest of custom-store, and Scripts/check-resolved-packages that of client-app.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "swift-sync-context", path: "..", traits: ["StoreConformanceCommand"])],
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
                "FileStore", .product(name: "StoreConformance", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            path: "custom-store/Tests/FileStoreTests"),
    ])
