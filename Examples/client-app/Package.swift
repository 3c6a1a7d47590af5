// swift-tools-version: 6.2
import PackageDescription

// An app's package as SwiftPM makes it: Swift 6, and no upcoming features.
let package = Package(
    name: "client-app",
    platforms: [.macOS(.v15)],
    products: [.library(name: "ClientApp", targets: ["ClientApp"])],
    dependencies: [
        // With a URL instead of a path, no traits is the default.
        .package(name: "swift-sync-context", path: "../..", traits: [])
    ],
    targets: [
        .target(
            name: "ClientApp",
            dependencies: [
                .product(name: "StoreSQLite", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ]),
        .testTarget(
            name: "ClientAppTests",
            dependencies: ["ClientApp", .product(name: "SyncCore", package: "swift-sync-context")]),
    ])
