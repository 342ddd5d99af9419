// swift-tools-version: 6.2
import PackageDescription

/// As in the package that is measured.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The yardstick and the client are plain C over sd-bus.
let c: [CSetting] = [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])]
let systemd: [LinkerSetting] = [.linkedLibrary("systemd")]

let package = Package(
    name: "localauth-benchmarks",
    dependencies: [
        .package(name: "localauthentication-linux", path: "..", traits: ["Face"])
    ],
    targets: [
        .executableTarget(name: "csdbus-service", cSettings: c, linkerSettings: systemd),
        .executableTarget(name: "bench-client", cSettings: c, linkerSettings: systemd),
        .executableTarget(
            name: "peer-service",
            dependencies: [
                .product(name: "AuthService", package: "localauthentication-linux")
            ],
            swiftSettings: strict
        ),
        .executableTarget(name: "localauth-bench", swiftSettings: strict),
        .executableTarget(
            name: "fingerprint-bench",
            dependencies: [
                .product(name: "AuthService", package: "localauthentication-linux"),
                .product(name: "FingerprintRig", package: "localauthentication-linux"),
                .product(name: "LocalAuthBus", package: "localauthentication-linux"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "face-bench",
            dependencies: [.product(name: "FaceSensor", package: "localauthentication-linux")],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "howdy-like",
            cxxSettings: [.unsafeFlags(["-O2"])],
            linkerSettings: [
                .linkedLibrary(":libdlib.a"), .linkedLibrary("openblas"), .linkedLibrary("jpeg"),
                .linkedLibrary("png16"), .linkedLibrary("m"),
            ]
        ),
    ],
    cxxLanguageStandard: .cxx17
)
