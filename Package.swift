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
        .executable(
            name: "localauth-sensor-fingerprint",
            targets: ["localauth-sensor-fingerprint"]
        ),
        .library(name: "FingerprintRig", targets: ["FingerprintRig", "SensorContract"]),
        .executable(name: "localauth-sensor-face", targets: ["localauth-sensor-face"]),
        // For Benchmarks: a product of unsafe flags can't be had by version, only by path.
        .library(name: "FaceSensor", targets: ["FaceSensor", "CameraDevice"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "Security", targets: ["Security"]),
        .library(name: "LocalAuthClient", targets: ["LocalAuthClient"]),
        .library(name: "AuthService", targets: ["AuthService", "AuthStore", "DBus"]),
        .library(name: "SensorKit", targets: ["SensorKit"]),
        .library(name: "AgentKit", targets: ["AgentKit"]),
        .library(name: "LocalAuthBus", targets: ["LocalAuthBus"]),
    ],
    traits: [
        .trait(
            name: "Face",
            description: "The engine of the face sensor: needs dlib, OpenBLAS and libjpeg."
        )
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
        .systemLibrary(
            name: "CSystemd",
            pkgConfig: "libsystemd",
            providers: [.apt(["libsystemd-dev"])]
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(name: "CPAM", providers: [.apt(["libpam0g-dev"])]),
        .systemLibrary(name: "CIntl"),
        .target(name: "Localization", dependencies: ["CIntl"], swiftSettings: strict),
        .target(name: "DBus", dependencies: ["CSystemd"], swiftSettings: strict),
        .target(name: "LocalAuthBus", dependencies: ["DBus", "AuthEngine"], swiftSettings: strict),
        .target(
            name: "AuthStore",
            dependencies: [
                "AuthEngine", "CSQLite", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "KeychainStore",
            dependencies: [
                "AuthEngine", "AuthStore", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(name: "Fingerprint", dependencies: ["DBus"], swiftSettings: strict),
        .target(name: "ServiceProgram", dependencies: ["DBus", "CSystemd"], swiftSettings: strict),

        .systemLibrary(name: "CV4L2", providers: [.apt(["linux-libc-dev"])]),
        .target(name: "CameraDevice", dependencies: ["CV4L2"], swiftSettings: strict),
        // Nothing of dlib without the trait. Always optimised: at -O0 one frame takes 6.5 s.
        .target(
            name: "CFace",
            cxxSettings: [
                .define("LOCALAUTH_FACE", .when(traits: ["Face"])),
                .unsafeFlags(["-O2"]),
            ],
            linkerSettings: [
                .linkedLibrary(":libdlib.a", .when(traits: ["Face"])),
                .linkedLibrary("openblas", .when(traits: ["Face"])),
                .linkedLibrary("jpeg", .when(traits: ["Face"])),
            ]
        ),
        .target(
            name: "FaceSensor",
            dependencies: [
                "CFace", "CameraDevice", .product(name: "Crypto", package: "swift-crypto"),
            ],
            resources: [.embedInCode("fetch-archive.py")],
            swiftSettings: strict
        ),

        .target(
            name: "LocalAuthClient",
            dependencies: ["DBus", "LocalAuthBus"],
            swiftSettings: strict
        ),

        // Roles: who speaks on the bus.
        .target(
            name: "Security",
            dependencies: [
                "DBus", "LocalAuthBus", "LocalAuthClient",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "LocalAuthentication",
            dependencies: ["DBus", "LocalAuthBus", "LocalAuthClient", "Security"],
            swiftSettings: strict
        ),
        .target(
            name: "AuthService",
            dependencies: [
                "AuthEngine", "AuthStore", "CSystemd", "DBus", "KeychainStore", "LocalAuthBus",
                "ServiceProgram",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "SensorKit",
            dependencies: ["DBus", "LocalAuthBus", "ServiceProgram"],
            swiftSettings: strict
        ),
        .target(
            name: "AgentKit",
            dependencies: ["CSystemd", "DBus", "LocalAuthBus", "Localization"],
            swiftSettings: strict
        ),

        // Programs: parse, wire, run.
        .executableTarget(
            name: "localauthd",
            dependencies: ["AuthService", "AuthStore", "DBus", "KeychainStore", "ServiceProgram"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "localauth-sensor-simulated",
            dependencies: ["SensorKit", "DBus", "LocalAuthBus", "ServiceProgram"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "localauth-sensor-fingerprint",
            dependencies: ["DBus", "Fingerprint", "LocalAuthBus", "SensorKit", "ServiceProgram"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "localauth-sensor-face",
            dependencies: [
                "CameraDevice", "DBus", "FaceSensor", "LocalAuthBus", "SensorKit",
                "ServiceProgram",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "localauth-passcode",
            dependencies: ["CPAM", "CSystemd", "DBus", "LocalAuthBus", "ServiceProgram"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "localauthctl",
            dependencies: [
                "AgentKit", "AuthService", "CSystemd", "DBus", "KeychainStore", "LocalAuthBus",
                "LocalAuthClient",
                "Localization", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "dbus-codegen",
            dependencies: ["DBusCodegen", "DBusModel"],
            swiftSettings: strict
        ),

        // Tests, folder by folder, and what they need beside the product.
        .testTarget(name: "AuthEngineTests", dependencies: ["AuthEngine"], swiftSettings: strict),
        .testTarget(name: "DBusModelTests", dependencies: ["DBusModel"], swiftSettings: strict),
        .testTarget(
            name: "DBusCodegenTests",
            dependencies: ["DBusCodegen", "DBusModel"],
            swiftSettings: strict
        ),
        .testTarget(name: "TidyTests", swiftSettings: strict),
        .target(name: "ToolSupport", path: "Tests/ToolSupport", swiftSettings: strict),
        .executableTarget(
            name: "StoreCrashProbe",
            dependencies: ["AuthEngine", "AuthStore"],
            path: "Tests/StoreCrashProbe",
            swiftSettings: strict
        ),
        .testTarget(
            name: "AuthStoreTests",
            dependencies: ["AuthEngine", "AuthStore", "CSQLite", "StoreCrashProbe", "ToolSupport"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "KeychainCrashProbe",
            dependencies: ["AuthEngine", "KeychainStore"],
            path: "Tests/KeychainCrashProbe",
            swiftSettings: strict
        ),
        .testTarget(
            name: "KeychainTests",
            dependencies: [
                "AuthEngine", "CSQLite", "KeychainCrashProbe", "KeychainStore",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .systemLibrary(
            name: "CDBus1",
            path: "Tests/CDBus1",
            pkgConfig: "dbus-1",
            providers: [.apt(["libdbus-1-dev"])]
        ),
        .executableTarget(
            name: "InteropClient",
            dependencies: ["CDBus1"],
            path: "Tests/InteropClient"
        ),
        .testTarget(
            name: "DBusTests",
            dependencies: ["CSystemd", "DBus", "InteropClient"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AuthServiceTests",
            dependencies: [
                "AuthEngine", "AuthService", "AuthStore", "CSystemd", "DBus", "LocalAuthBus",
                "SensorContract", "ServiceProgram", "ToolSupport", "localauth-sensor-simulated",
                "localauthd",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "SensorContract",
            dependencies: ["CSystemd", "DBus", "LocalAuthBus"],
            path: "Tests/SensorContract",
            swiftSettings: strict
        ),
        .testTarget(
            name: "ServiceProgramTests",
            dependencies: [
                "DBus", "SensorContract", "ServiceProgram", "localauth-sensor-simulated",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SensorKitTests",
            dependencies: [
                "DBus", "LocalAuthBus", "SensorContract", "SensorKit", "localauth-sensor-simulated",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "FingerprintRig",
            dependencies: ["DBus", "SensorContract"],
            path: "Tests/FingerprintRig",
            exclude: ["Images"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "fingerprint-rig",
            dependencies: ["DBus", "FingerprintRig", "SensorContract"],
            path: "Tests/FingerprintRigProgram",
            swiftSettings: strict
        ),
        .testTarget(
            name: "FingerprintTests",
            dependencies: [
                "DBus", "Fingerprint", "FingerprintRig", "LocalAuthBus", "SensorContract",
                "fingerprint-rig", "localauth-passcode", "localauth-sensor-fingerprint",
                "localauthd",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "FaceTests",
            dependencies: [
                "CV4L2", "CameraDevice", "DBus", "FaceSensor", "LocalAuthBus", "SensorContract",
                "ToolSupport",
                "localauth-sensor-face",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "ClientTestSupport",
            dependencies: ["DBus", "LocalAuthBus", "LocalAuthClient", "SensorContract"],
            path: "Tests/LocalAuthenticationTests/Support",
            swiftSettings: strict
        ),
        .testTarget(
            name: "LocalAuthenticationTests",
            dependencies: [
                "ClientTestSupport", "DBus", "LocalAuthBus", "LocalAuthClient",
                "LocalAuthentication", "Security", "SensorContract", "localauth-sensor-simulated",
                "localauthd",
            ],
            exclude: ["Support"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: [
                "AuthEngine", "ClientTestSupport", "DBus", "LocalAuthentication", "Security",
                "localauth-sensor-simulated", "localauthd",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        // Deprecated spellings and old habits are what these are about: no strict settings.
        .target(
            name: "SourceCompatibility5",
            dependencies: ["LocalAuthentication", "Security"],
            path: "Tests/SourceCompatibility/Swift5",
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .target(
            name: "SourceCompatibility6",
            dependencies: ["LocalAuthentication", "Security"],
            path: "Tests/SourceCompatibility/Swift6",
            swiftSettings: [.swiftLanguageMode(.v6)]
        ),
        .testTarget(
            name: "SourceCompatibilityTests",
            dependencies: [
                "ClientTestSupport", "LocalAuthentication", "Security", "SourceCompatibility5",
                "SourceCompatibility6", "localauth-sensor-simulated", "localauthd",
            ],
            path: "Tests/SourceCompatibility/Run",
            swiftSettings: strict
        ),
        .testTarget(
            name: "PasscodeTests",
            dependencies: ["DBus", "LocalAuthBus", "SensorContract", "localauth-passcode"],
            swiftSettings: strict
        ),
        .target(
            name: "AgentTestSupport",
            dependencies: ["CSystemd", "DBus", "LocalAuthBus"],
            path: "Tests/AgentKitTests/Support",
            swiftSettings: strict
        ),
        .testTarget(
            name: "AgentKitTests",
            dependencies: ["AgentKit", "AgentTestSupport", "DBus", "LocalAuthBus"],
            exclude: ["Support"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LocalizationTests",
            dependencies: [
                "AgentTestSupport", "DBus", "Localization", "ToolSupport", "localauthctl",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "AgentTestSupport", "DBus", "LocalAuthBus", "localauth-passcode",
                "localauth-sensor-simulated", "localauthctl", "localauthd",
            ],
            exclude: ["MasterKey/Spy"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "DBus", "LocalAuthBus", "localauth-passcode", "localauth-sensor-face",
                "localauth-sensor-fingerprint", "localauth-sensor-simulated", "localauthctl",
                "localauthd",
            ],
            swiftSettings: strict
        ),
    ],
    cxxLanguageStandard: .cxx17
)
