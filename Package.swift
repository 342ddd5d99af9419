// swift-tools-version: 6.2
import PackageDescription

/// What every target is compiled with: the whole of Swift 6, explicit existentials, imports that
/// say what they leak, and no warning tolerated.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "localauthentication-linux",
    products: [
        .executable(name: "localauthd", targets: ["localauthd"]),
        .executable(name: "localauthctl", targets: ["localauthctl"]),
        .executable(name: "localauth-passcode", targets: ["localauth-passcode"]),
        .executable(name: "localauth-sensor-simulated", targets: ["localauth-sensor-simulated"]),
        .library(name: "SensorKit", targets: ["SensorKit"]),
        .library(name: "AgentKit", targets: ["AgentKit"]),
        .library(name: "LocalAuthBus", targets: ["LocalAuthBus"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // Pure: no I/O, no clock, no Foundation.
        .target(name: "AuthEngine", swiftSettings: strict),
        .target(name: "DBusModel", swiftSettings: strict),
        .target(name: "DBusCodegen", dependencies: ["DBusModel"], swiftSettings: strict),

        // Edges: one for each outside world.
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPAM", providers: [.apt(["libpam0g-dev"])]),
        .target(name: "DBus", dependencies: ["CSystemd"], swiftSettings: strict),
        .target(name: "LocalAuthBus", dependencies: ["DBus", "AuthEngine"], swiftSettings: strict),
        .target(
            name: "AuthStore",
            dependencies: [
                "AuthEngine", "CSQLite", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(name: "ServiceProgram", dependencies: ["DBus", "CSystemd"], swiftSettings: strict),

        // Roles: who speaks on the bus.
        .target(
            name: "AuthService",
            dependencies: [
                "AuthEngine", "AuthStore", "CSystemd", "DBus", "LocalAuthBus", "ServiceProgram",
            ],
            swiftSettings: strict),
        .target(
            name: "SensorKit", dependencies: ["DBus", "LocalAuthBus", "ServiceProgram"],
            swiftSettings: strict),
        .target(
            name: "AgentKit", dependencies: ["CSystemd", "DBus", "LocalAuthBus"],
            swiftSettings: strict),

        // Programs: parse, wire, run.
        .executableTarget(
            name: "localauthd", dependencies: ["AuthService", "AuthStore", "DBus", "ServiceProgram"],
            swiftSettings: strict),
        .executableTarget(
            name: "localauth-sensor-simulated",
            dependencies: ["SensorKit", "DBus", "LocalAuthBus", "ServiceProgram"],
            swiftSettings: strict),
        .executableTarget(
            name: "localauth-passcode",
            dependencies: ["CPAM", "CSystemd", "DBus", "LocalAuthBus", "ServiceProgram"],
            swiftSettings: strict),
        .executableTarget(
            name: "localauthctl",
            dependencies: [
                "AgentKit", "CSystemd", "DBus", "LocalAuthBus",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "dbus-codegen", dependencies: ["DBusCodegen", "DBusModel"], swiftSettings: strict),
    ]
)
