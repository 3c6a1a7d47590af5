// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "custom-store",
    platforms: [.macOS(.v15)],
    products: [.library(name: "FileStore", targets: ["FileStore"])],
    dependencies: [.package(name: "swift-sync-context", path: "../..", traits: ["StoreConformanceCommand"])],
    targets: [
        .target(
            name: "FileStore",
            dependencies: [
                .product(name: "StoreOrderedMap", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ]),
        .executableTarget(
            name: "file-store-conformance",
            dependencies: [
                "FileStore", .product(name: "StoreConformance", package: "swift-sync-context"),
                .product(name: "StoreConformanceCommand", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ]),
        .testTarget(
            name: "FileStoreTests",
            dependencies: [
                "FileStore", .product(name: "StoreConformance", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ]),
    ],
    swiftLanguageModes: [.v6])
