// swift-tools-version: 6.2
import PackageDescription

/// The products that apps use.
let apple: [Target.Dependency] = [
    .product(name: "LocalAuthentication", package: "localauthentication-linux"),
    .product(name: "Security", package: "localauthentication-linux"),
]

let package = Package(
    name: "localauthentication-examples",
    dependencies: [
        .package(name: "localauthentication-linux", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLiteSystem",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        // The server of the flows “device binding” and “server-side comparison”.
        .executableTarget(
            name: "device-server",
            dependencies: [
                "CSQLiteSystem",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]
        ),
        // One program for each flow.
        .executableTarget(name: "settings-switch", dependencies: apple),
        .executableTarget(name: "current-set", dependencies: apple),
        .executableTarget(name: "application-password", dependencies: apple),
        .executableTarget(name: "device-login", dependencies: apple),
        .executableTarget(name: "server-compare", dependencies: apple),
        .executableTarget(name: "biometry-tool", dependencies: apple),
        .executableTarget(name: "three-flags", dependencies: apple),
        .testTarget(
            name: "FlowTests",
            dependencies: [
                .product(name: "LocalAuthBus", package: "localauthentication-linux"),
                .product(name: "TestSupport", package: "localauthentication-linux"),
                "application-password", "biometry-tool", "current-set", "device-login",
                "device-server", "server-compare", "settings-switch", "three-flags",
            ]
        ),
    ]
)
