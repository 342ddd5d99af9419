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
/// What is measured.
let project = "localauthentication-linux"

let package = Package(
    name: "localauth-benchmarks",
    traits: [
        .trait(
            name: "Face",
            description: "The face sensor's engine: needs dlib, OpenBLAS, libjpeg."
        )
    ],
    dependencies: [
        .package(
            name: project,
            path: "..",
            traits: [.trait(name: "Face", condition: .when(traits: ["Face"]))]
        )
    ],
    targets: [
        .executableTarget(name: "csdbus-service", cSettings: c, linkerSettings: systemd),
        .executableTarget(name: "bench-client", cSettings: c, linkerSettings: systemd),
        .target(
            name: "BenchSupport",
            dependencies: [
                .product(name: "TestSupport", package: project)
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "localauth-bench",
            dependencies: ["BenchSupport", .product(name: "TestSupport", package: project)],
            swiftSettings: strict
        ),
        .systemLibrary(
            name: "CSecret",
            pkgConfig: "libsecret-1",
            providers: [.apt(["libsecret-1-dev"])]
        ),
        .executableTarget(name: "libsecret-client", dependencies: ["CSecret"], cSettings: c),
        .executableTarget(
            name: "security-client",
            dependencies: [
                .product(name: "LocalAuthentication", package: project),
                .product(name: "Security", package: project),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "keychain-bench",
            dependencies: [
                "BenchSupport", .product(name: "LocalAuthBus", package: project),
                .product(name: "TestSupport", package: project),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "fingerprint-bench",
            dependencies: [
                "BenchSupport", .product(name: "FingerprintRig", package: project),
                .product(name: "LocalAuthBus", package: project),
                .product(name: "TestSupport", package: project),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "face-bench",
            dependencies: [
                "BenchSupport", .product(name: "FaceSensor", package: project),
                .product(name: "LocalAuthBus", package: project),
                .product(name: "TestSupport", package: project),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "howdy-like",
            cxxSettings: [
                .define("LOCALAUTH_FACE", .when(traits: ["Face"])),
                .unsafeFlags(["-O2"]),
            ],
            linkerSettings: [":libdlib.a", "openblas", "jpeg", "png16", "m"]
                .map { .linkedLibrary($0, .when(traits: ["Face"])) }
        ),
    ],
    cxxLanguageStandard: .cxx17
)
