// swift-tools-version: 6.2
import PackageDescription

let withSoftwareKeys = TargetDependencyCondition.when(traits: ["SoftwareKeys"])
let inFace = BuildSettingCondition.when(traits: ["Face"])
let whereWindows = TargetDependencyCondition.when(traits: ["Prompt"])

// The library is loaded at run time, so pkg-config, which would link it, is not used.
let ofPipeWire: [CSetting] = [
    .define("LOCALAUTH_FACE", inFace),
    .define("_GNU_SOURCE"),
    .unsafeFlags(["-I/usr/include/pipewire-0.3", "-I/usr/include/spa-0.2"], inFace),
]

let package = Package(
    name: "localauthentication-linux",
    products: [
        // For the tests of examples/swift.
        .library(name: "TestSupport", targets: ["TestSupport"])
    ]
        + [
            "AgentKit", "CryptoKit", "DBus", "LocalAuthBus", "LocalAuthClient",
            "LocalAuthentication", "Security", "SensorKit", "ServiceProgram",
        ]
        .map { .library(name: $0, targets: [$0]) },
    traits: [
        .default(enabledTraits: ["SoftwareKeys"]),
        .trait(name: "SoftwareKeys", description: "SecKey in the process: needs CryptoExtras."),
        .trait(name: "Face", description: "Faces: needs dlib, OpenBLAS, libjpeg, PipeWire."),
        .trait(name: "Prompt", description: "The desktop's prompt: needs GTK 4, libadwaita 1.2."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        // Pure: no I/O, no clock, no Foundation. The vocabulary of the wire, and the decisions.
        .target(name: "Contract", path: "Sources/Contract"),
        .target(name: "AuthEngine", dependencies: ["Contract"], path: "Sources/Engine"),

        // Edges: each wraps a part of the outside world.
        .systemLibrary(
            name: "CSystemd",
            path: "Sources/Bus/CSystemd",
            pkgConfig: "libsystemd",
            providers: [.apt(["libsystemd-dev"])]
        ),
        .systemLibrary(name: "CSQLite", path: "Sources/Stores/CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(
            name: "CPAM",
            path: "Sources/System/CPAM",
            providers: [.apt(["libpam0g-dev"])]
        ),
        .systemLibrary(
            name: "CFido2",
            path: "Sources/Devices/CFido2",
            providers: [.apt(["libfido2-dev"])]
        ),
        .systemLibrary(
            name: "CUHID",
            path: "Sources/Devices/CUHID",
            providers: [.apt(["linux-libc-dev"])]
        ),
        .target(
            name: "SecurityKey",
            dependencies: ["CFido2", "CLinux", "Linux"],
            path: "Sources/Devices/SecurityKey"
        ),
        .systemLibrary(
            name: "CAdwaita",
            path: "Sources/Devices/CAdwaita",
            pkgConfig: "libadwaita-1"
        ),
        // Empty without the trait.
        .target(
            name: "Windows",
            dependencies: ["DBus", .byName(name: "CAdwaita", condition: whereWindows)],
            path: "Sources/Devices/Windows"
        ),
        .systemLibrary(name: "CIntl", path: "Sources/System/CIntl"),
        .target(
            name: "Localization",
            dependencies: ["CIntl"],
            path: "Sources/Authors/Localization"
        ),
        .systemLibrary(name: "CLinux", path: "Sources/System/CLinux"),
        .target(name: "Linux", dependencies: ["CLinux"], path: "Sources/System/Linux"),
        .target(
            name: "Sealing",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            path: "Sources/Bus/Sealing"
        ),
        .target(
            name: "DBus",
            dependencies: ["CLinux", "CSystemd", "Linux"],
            path: "Sources/Bus/DBus"
        ),
        // Bounds the calls and the memory of neighbours. Only the service links this target.
        .target(
            name: "BusGuard",
            dependencies: ["DBus"],
            path: "Sources/Bus/BusGuard"
        ),
        .target(
            name: "LocalAuthBus",
            dependencies: ["Contract", "DBus"],
            path: "Sources/Bus/LocalAuthBus"
        ),
        .target(name: "SQLite", dependencies: ["CSQLite", "Linux"], path: "Sources/Stores/SQLite"),
        .target(
            name: "AuthStore",
            dependencies: [
                "AuthEngine", "Contract", "Linux", "SQLite",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Sources/Stores/AuthStore"
        ),
        .target(
            name: "KeychainStore",
            dependencies: [
                "AuthEngine", "Linux", "SQLite", "Sealing",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            path: "Sources/Stores/KeychainStore"
        ),
        .target(
            name: "Fingerprint",
            dependencies: ["DBus", "Linux"],
            path: "Sources/Devices/Fingerprint"
        ),
        .target(
            name: "BusBench",
            dependencies: ["CLinux", "DBus", "Linux"],
            path: "Sources/Authors/BusBench"
        ),
        .target(
            name: "ServiceProgram",
            dependencies: ["CLinux", "CSystemd", "DBus"],
            path: "Sources/Authors/ServiceProgram"
        ),

        .systemLibrary(
            name: "CV4L2",
            path: "Sources/Devices/CV4L2",
            providers: [.apt(["linux-libc-dev"])]
        ),
        .target(name: "CPipeWire", path: "Sources/Devices/CPipeWire", cSettings: ofPipeWire),
        .target(
            name: "CameraDevice",
            dependencies: ["CLinux", "CV4L2", "Linux"],
            path: "Sources/Devices/CameraDevice"
        ),
        .target(
            name: "PipeWireCamera",
            dependencies: ["CLinux", "CPipeWire", "CameraDevice", "Linux"],
            path: "Sources/Devices/PipeWireCamera"
        ),
        // Contains dlib only with the trait. Always optimised: at -O0 a frame takes 6.5 s.
        .target(
            name: "CFace",
            path: "Sources/Devices/CFace",
            cxxSettings: [.define("LOCALAUTH_FACE", inFace), .unsafeFlags(["-O2"])],
            // Distributions name libjpeg differently, so its archive makes one package serve all.
            linkerSettings: [":libdlib.a", ":libjpeg.a"]
                .map { .linkedLibrary($0, inFace) }
        ),
        .target(
            name: "FaceSensor",
            dependencies: [
                "CFace", "CameraDevice", "Contract", "Linux",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Sources/Devices/FaceSensor",
            resources: [.embedInCode("fetch-archive.py")]
        ),

        .target(
            name: "Passkeys",
            dependencies: [
                "DBus", "Linux",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            path: "Sources/Devices/Passkeys"
        ),

        .target(
            name: "LocalAuthClient",
            dependencies: ["Contract", "DBus", "LocalAuthBus", "Sealing"],
            path: "Sources/Clients/LocalAuthClient"
        ),

        // Roles on the bus.
        .target(
            name: "Security",
            dependencies: [
                "DBus", "Linux", "LocalAuthBus", "LocalAuthClient", "Sealing",
                .product(name: "Crypto", package: "swift-crypto", condition: withSoftwareKeys),
                .product(
                    name: "CryptoExtras",
                    package: "swift-crypto",
                    condition: withSoftwareKeys
                ),
            ],
            path: "Sources/Clients/Security"
        ),
        .target(
            name: "LocalAuthentication",
            dependencies: ["DBus", "LocalAuthBus", "LocalAuthClient", "Sealing", "Security"],
            path: "Sources/Clients/LocalAuthentication"
        ),
        .target(
            name: "CryptoKit",
            dependencies: [
                .product(name: "Crypto", package: "swift-crypto"), "LocalAuthentication",
                "Security",
            ],
            path: "Sources/Clients/CryptoKit"
        ),
        .target(
            name: "AuthService",
            dependencies: [
                "AuthEngine", "AuthStore", "BusGuard", "CLinux", "CSystemd", "Contract", "DBus",
                "KeychainStore", "Linux", "LocalAuthBus", "Sealing", "ServiceProgram",
            ],
            path: "Sources/Daemon"
        ),
        .target(
            name: "SensorKit",
            dependencies: ["Contract", "DBus", "Linux", "LocalAuthBus", "ServiceProgram"],
            path: "Sources/Authors/SensorKit"
        ),
        .target(
            name: "SensorContract",
            dependencies: ["BusBench", "DBus", "Linux", "LocalAuthBus", "Sealing"],
            path: "Sources/Authors/SensorContract"
        ),
        .target(
            name: "AgentKit",
            dependencies: [
                "CLinux", "Contract", "DBus", "Linux", "LocalAuthBus", "LocalAuthClient",
                "Localization", "Sealing", "ServiceProgram",
            ],
            path: "Sources/Authors/AgentKit"
        ),

        // Programs: parse, wire, run.
        .executableTarget(
            name: "localauthd",
            dependencies: [
                "AuthService", "AuthStore", "DBus", "KeychainStore", "Linux", "ServiceProgram",
            ],
            path: "Sources/Programs/localauthd"
        ),
        // The simulated sensor uses only the public API, as a sensor of another author does. The
        // other sensors use the package's API for their device targets alone.
        .executableTarget(
            name: "localauth-sensor-simulated",
            dependencies: ["SensorKit", "DBus", "LocalAuthBus", "ServiceProgram"],
            path: "Sources/Programs/localauth-sensor-simulated",
            packageAccess: false
        ),
        .executableTarget(
            name: "localauth-sensor-fingerprint",
            dependencies: [
                "DBus", "Fingerprint", "Linux", "LocalAuthBus", "SensorKit", "ServiceProgram",
            ],
            path: "Sources/Programs/localauth-sensor-fingerprint"
        ),
        .executableTarget(
            name: "localauth-sensor-face",
            dependencies: [
                "CameraDevice", "DBus", "FaceSensor", "Linux", "LocalAuthBus", "PipeWireCamera",
                "SensorKit", "ServiceProgram",
            ],
            path: "Sources/Programs/localauth-sensor-face"
        ),
        .executableTarget(
            name: "localauth-sensor-fido2",
            dependencies: [
                "DBus", "Linux", "LocalAuthBus", "SecurityKey", "SensorKit", "ServiceProgram",
            ],
            path: "Sources/Programs/localauth-sensor-fido2"
        ),
        .executableTarget(
            name: "localauth-passcode",
            dependencies: [
                "CLinux", "CPAM", "DBus", "Linux", "LocalAuthBus", "Sealing", "ServiceProgram",
            ],
            path: "Sources/Programs/localauth-passcode"
        ),
        .executableTarget(
            name: "localauth-passkey",
            dependencies: [
                "CLinux", "DBus", "Linux", "LocalAuthBus", "LocalAuthClient", "Localization",
                "Passkeys", "Sealing", "ServiceProgram",
            ],
            path: "Sources/Programs/localauth-passkey"
        ),
        .executableTarget(
            name: "localauth-passkey-broker",
            dependencies: ["CLinux", "CSystemd", "CUHID", "DBus", "Linux", "ServiceProgram"],
            path: "Sources/Programs/localauth-passkey-broker"
        ),
        .executableTarget(
            name: "localauthctl",
            dependencies: [
                "AgentKit", "DBus", "KeychainStore", "Linux", "LocalAuthBus", "LocalAuthClient",
                "Localization", "Passkeys", "Sealing",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/Programs/localauthctl"
        ),
        // Without the trait, the program only prints that it was built without a window.
        .executableTarget(
            name: "localauth-agent",
            dependencies: [
                "AgentKit", "CLinux", "DBus", "LocalAuthBus", "Localization", "ServiceProgram",
                "Windows", .byName(name: "CAdwaita", condition: whereWindows),
            ],
            path: "Sources/Programs/localauth-agent",
            resources: [.embedInCode("prompt.ui"), .embedInCode("prompt.css")]
        ),
        .executableTarget(
            name: "localauth-settings",
            dependencies: [
                "AgentKit", "DBus", "LocalAuthBus", "LocalAuthClient", "Localization", "Passkeys",
                "ServiceProgram", "Windows", .byName(name: "CAdwaita", condition: whereWindows),
            ],
            path: "Sources/Programs/localauth-settings",
            resources: ["settings.ui", "enrollment.ui", "settings.css"].map { .embedInCode($0) }
        ),
        .executableTarget(
            name: "localauth-sensor-check",
            dependencies: [
                "BusBench", "DBus", "LocalAuthBus", "SensorContract",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/Programs/localauth-sensor-check",
            resources: [
                "Makefile", "activation.service", "cargo.toml.txt", "description.conf",
                "package.swift.txt", "policy.conf", "sensor.c.txt", "sensor.py", "sensor.rs.txt",
                "sensor.swift.txt", "sysusers.conf", "udev.rules", "unit.service",
            ]
            .map { .embedInCode("Skeletons/\($0)") }
        ),

        // Tests by folder, and the targets that they need beside the product.
        .testTarget(
            name: "AuthEngineTests",
            dependencies: ["AuthEngine", "Contract", "TestSupport"]
        ),
        .testTarget(name: "LinuxTests", dependencies: ["Linux", "TestSupport"]),
        .testTarget(name: "SQLiteTests", dependencies: ["Linux", "SQLite"]),
        .target(
            name: "TestSupport",
            dependencies: [
                "BusBench", "CLinux", "DBus", "Linux", "LocalAuthBus", "Sealing", "SensorContract",
            ],
            path: "Tests/TestSupport"
        ),
        .executableTarget(
            name: "StoreCrashProbe",
            dependencies: ["AuthEngine", "AuthStore", "Linux"],
            path: "Tests/StoreCrashProbe"
        ),
        .testTarget(
            name: "AuthStoreTests",
            dependencies: [
                "AuthEngine", "AuthStore", "CSQLite", "Contract", "Linux", "SQLite",
                "StoreCrashProbe",
                "TestSupport",
            ]
        ),
        .executableTarget(
            name: "KeychainCrashProbe",
            dependencies: ["AuthEngine", "KeychainStore", "Sealing", "TestSupport"],
            path: "Tests/KeychainCrashProbe"
        ),
        .testTarget(
            name: "KeychainTests",
            dependencies: [
                "AuthEngine", "CSQLite", "Contract", "KeychainCrashProbe", "KeychainStore",
                .product(name: "Crypto", package: "swift-crypto"), "SQLite", "Sealing",
                "TestSupport",
            ],
            exclude: ["Format1", "Format2"]
        ),
        .systemLibrary(name: "CDBus1", path: "Tests/CDBus1", pkgConfig: "dbus-1"),
        .executableTarget(
            name: "InteropClient",
            dependencies: ["CDBus1"],
            path: "Tests/InteropClient"
        ),
        .testTarget(
            name: "DBusTests",
            dependencies: [
                "BusGuard", "CSystemd", "DBus", "InteropClient", "Linux", "LocalAuthBus",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "AuthServiceTests",
            dependencies: [
                "AuthEngine", "AuthService", "AuthStore", "BusGuard", "CLinux", "Contract", "DBus",
                "Linux",
                "LocalAuthBus", "Sealing", "TestSupport", "localauth-sensor-simulated",
                "localauthd",
            ]
        ),
        .testTarget(
            name: "ServiceProgramTests",
            dependencies: ["DBus", "ServiceProgram", "localauth-sensor-simulated", "TestSupport"]
        ),
        // Swift templates for authors; each is also a package of its own.
        .executableTarget(
            name: "Doorbell",
            dependencies: ["DBus", "LocalAuthBus", "SensorKit"],
            path: "examples/sensors/swift/Sources/Doorbell"
        ),
        .executableTarget(
            name: "ask",
            dependencies: ["AgentKit"],
            path: "examples/prompts/swift/Sources/ask"
        ),
        .testTarget(
            name: "SensorKitTests",
            dependencies: [
                "DBus", "Doorbell", "LocalAuthBus", "SensorContract", "SensorKit", "TestSupport",
                "ask", "localauth-sensor-simulated", "localauthctl",
            ]
        ),
        .target(
            name: "FingerprintRig",
            dependencies: ["DBus", "Linux", "SensorContract", "TestSupport"],
            path: "Tests/FingerprintRig",
            exclude: ["Images"]
        ),
        .executableTarget(
            name: "fingerprint-rig",
            dependencies: ["DBus", "FingerprintRig"],
            path: "Tests/FingerprintRigProgram"
        ),
        .testTarget(
            name: "FingerprintTests",
            dependencies: [
                "DBus", "Fingerprint", "FingerprintRig", "Linux", "LocalAuthBus", "SensorContract",
                "fingerprint-rig", "localauth-passcode", "localauth-sensor-fingerprint",
                "localauthd", "TestSupport",
            ]
        ),
        .target(
            name: "VirtualKey",
            dependencies: ["Linux", .product(name: "Crypto", package: "swift-crypto")],
            path: "Tests/VirtualKey"
        ),
        .executableTarget(
            name: "virtual-key",
            dependencies: ["VirtualKey"],
            path: "Tests/VirtualKeyProgram"
        ),
        .testTarget(
            name: "SecurityKeyTests",
            dependencies: [
                "DBus", "Linux", "LocalAuthBus", "SecurityKey", "SensorContract", "TestSupport",
                "VirtualKey", "localauth-sensor-fido2", "localauthd", "virtual-key",
            ]
        ),
        .testTarget(
            name: "PasskeyTests",
            dependencies: [
                "DBus", "LocalAuthBus", "Passkeys", "TestSupport", "localauth-passkey",
                "localauth-passkey-broker", "localauth-sensor-simulated", "localauthctl",
                "localauthd",
            ],
            exclude: ["ctap.py"]
        ),
        // A camera of PipeWire. Without the trait, the program only prints that it is none.
        .executableTarget(
            name: "pipewire-camera",
            path: "Tests/PipeWireCamera",
            cSettings: ofPipeWire,
            linkerSettings: [
                .linkedLibrary("pipewire-0.3", inFace), .linkedLibrary("jpeg", inFace),
            ]
        ),
        .executableTarget(
            name: "FaceFigures",
            dependencies: ["CameraDevice", "FaceSensor", "Linux"],
            path: "Tests/FaceFigures"
        ),
        .testTarget(
            name: "FaceTests",
            dependencies: [
                "CV4L2", "CameraDevice", "Contract", "DBus", "FaceSensor", "Linux", "LocalAuthBus",
                "PipeWireCamera", "SensorContract", "SensorKit", "ServiceProgram", "TestSupport",
                "pipewire-camera", "localauth-sensor-face",
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .target(
            name: "ClientTestSupport",
            dependencies: ["DBus", "LocalAuthClient", "TestSupport"],
            path: "Tests/LocalAuthenticationTests/Support"
        ),
        .testTarget(
            name: "LocalAuthenticationTests",
            dependencies: [
                "ClientTestSupport", "DBus", "LocalAuthBus", "LocalAuthClient",
                "LocalAuthentication", "Sealing", "Security", "localauth-sensor-simulated",
                "localauthd", "TestSupport",
            ],
            exclude: ["Support"]
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: [
                "AuthEngine", "ClientTestSupport", "DBus", "LocalAuthentication", "Security",
                "localauth-sensor-simulated", "localauthd", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .testTarget(
            name: "CryptoKitTests",
            dependencies: [
                "ClientTestSupport", "CryptoKit", "LocalAuthentication", "Security",
                "localauth-sensor-simulated", "localauthd", "TestSupport",
            ]
        ),
        // Tests of deprecated spellings and old habits, therefore without strict settings.
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
                "ClientTestSupport", "LocalAuthentication", "SourceCompatibility5",
                "SourceCompatibility6", "localauth-sensor-simulated", "localauthd", "TestSupport",
            ],
            path: "Tests/SourceCompatibility/Run"
        ),
        .testTarget(
            name: "PasscodeTests",
            dependencies: [
                "CPAM", "DBus", "Linux", "LocalAuthBus", "Sealing", "localauth-passcode",
                "TestSupport",
            ]
        ),
        .testTarget(
            name: "AgentKitTests",
            dependencies: ["AgentKit", "DBus", "TestSupport"]
        ),
        .testTarget(
            name: "PromptTests",
            dependencies: [
                "DBus", "LocalAuthBus", "localauth-agent", "localauth-passcode",
                "localauth-sensor-simulated", "localauth-settings", "localauthd",
                "Passkeys", "SensorContract", "TestSupport",
            ]
        ),
        .testTarget(
            name: "LocalizationTests",
            dependencies: ["DBus", "Localization", "TestSupport", "localauthctl"]
        ),
        .testTarget(
            name: "ControlTests",
            dependencies: [
                "TestSupport", "DBus", "Doorbell", "Linux", "LocalAuthBus", "Sealing",
                "localauth-passcode", "localauth-sensor-simulated", "localauthctl", "localauthd",
            ],
            exclude: ["MasterKey/Spy"]
        ),
        // Reads any bytes: scripts/fuzz runs it in libFuzzer, and a test replays Tests/Corpora in
        // it.
        .target(name: "CFuzz", dependencies: ["CFace"], path: "Tests/CFuzz"),
        .executableTarget(
            name: "fuzzers",
            dependencies: [
                "AuthEngine", "AuthService", "AuthStore", "BusGuard", "CFuzz", "CV4L2",
                "CameraDevice", "Contract", "DBus", "FaceSensor", "Fingerprint", "KeychainStore",
                "Linux", "LocalAuthBus", "Passkeys", "PipeWireCamera", "SQLite", "Sealing",
                "SecurityKey", "TestSupport", .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Tests/Fuzz"
        ),
        .executableTarget(
            name: "HostileNeighbour",
            dependencies: ["TestSupport"],
            path: "Tests/HostileNeighbour"
        ),
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "AuthEngine", "AuthStore", "DBus", "HostileNeighbour", "Linux", "LocalAuthBus",
                "fuzzers", "localauth-agent", "localauth-passcode", "localauth-passkey",
                "localauth-passkey-broker", "localauth-sensor-face",
                "localauth-sensor-fingerprint", "localauth-sensor-simulated", "localauth-settings",
                "localauthctl", "localauthd", "TestSupport",
            ]
        ),
    ],
    cxxLanguageStandard: .cxx17
)

// Benchmarks of the product: make bench.
if Context.environment["LOCALAUTH_BENCHMARKS"] != nil {
    // The yardstick and the clients are plain C.
    let optimized: [CSetting] = [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])]
    let systemd: [LinkerSetting] = [.linkedLibrary("systemd")]
    package.targets += [
        .executableTarget(
            name: "csdbus-service",
            path: "Benchmarks/Sources/csdbus-service",
            cSettings: optimized,
            linkerSettings: systemd
        ),
        .executableTarget(
            name: "bench-client",
            path: "Benchmarks/Sources/bench-client",
            cSettings: optimized,
            linkerSettings: systemd
        ),
        .target(
            name: "BenchSupport",
            dependencies: ["TestSupport"],
            path: "Benchmarks/Sources/BenchSupport"
        ),
        .executableTarget(
            name: "localauth-bench",
            dependencies: ["BenchSupport", "TestSupport"],
            path: "Benchmarks/Sources/localauth-bench"
        ),
        .systemLibrary(
            name: "CSecret",
            path: "Benchmarks/Sources/CSecret",
            pkgConfig: "libsecret-1",
            providers: [.apt(["libsecret-1-dev"])]
        ),
        .executableTarget(
            name: "libsecret-client",
            dependencies: ["CSecret"],
            path: "Benchmarks/Sources/libsecret-client",
            cSettings: optimized
        ),
        .executableTarget(
            name: "security-client",
            dependencies: ["LocalAuthentication", "Security"],
            path: "Benchmarks/Sources/security-client"
        ),
        .executableTarget(
            name: "keychain-bench",
            dependencies: ["BenchSupport", "DBus", "LocalAuthBus", "TestSupport"],
            path: "Benchmarks/Sources/keychain-bench"
        ),
        .executableTarget(
            name: "fingerprint-bench",
            dependencies: [
                "BenchSupport", "DBus", "FingerprintRig", "LocalAuthBus", "TestSupport",
            ],
            path: "Benchmarks/Sources/fingerprint-bench"
        ),
        .executableTarget(
            name: "face-bench",
            dependencies: [
                "BenchSupport", "CameraDevice", "DBus", "FaceSensor", "LocalAuthBus", "TestSupport",
            ],
            path: "Benchmarks/Sources/face-bench"
        ),
        .executableTarget(
            name: "howdy-like",
            path: "Benchmarks/Sources/howdy-like",
            cxxSettings: [.define("LOCALAUTH_FACE", inFace), .unsafeFlags(["-O2"])],
            linkerSettings: [":libdlib.a", "openblas", "jpeg", "png16", "m"]
                .map { .linkedLibrary($0, inFace) }
        ),
    ]
}

// Every Swift target: all of Swift 6, explicit existentials, reports of leaked imports, warnings as
// errors.
for target in package.targets where target.type != .system && target.swiftSettings == nil {
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ]
}
