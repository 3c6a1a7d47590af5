// swift-tools-version: 6.2
import PackageDescription

// The fuzz targets: see Scripts/fuzz. This package is apart from the main one because its program has no main function:
// libFuzzer brings it, and only `--sanitize=fuzzer` links libFuzzer.
let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "swift-sync-context", path: "..", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        // Links to the test server's parser of filters, without the server and its dependencies.
        .target(
            name: "ODataParsing",
            dependencies: [.product(name: "SyncCore", package: "swift-sync-context")]),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "ODataParsing",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "StoreOrderedMap", package: "swift-sync-context"),
                .product(name: "SyncCore", package: "swift-sync-context"),
            ],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]),
    ],
    swiftLanguageModes: [.v6])

for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
            .enableUpcomingFeature("ExistentialAny"),
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
            .enableUpcomingFeature("MemberImportVisibility"),
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
            .enableUpcomingFeature("InternalImportsByDefault"),
            // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        ]
}
