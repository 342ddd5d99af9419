// swift-tools-version: 6.2
import PackageDescription

/// The path of localauth-dev's Swift package.
let localauth = Context.environment["LOCALAUTH_SWIFT"] ?? "/usr/share/localauth/swift"

let package = Package(
    name: "ask",
    dependencies: [.package(name: "localauth", path: localauth)],
    targets: [
        .executableTarget(
            name: "ask",
            dependencies: [.product(name: "AgentKit", package: "localauth")]
        )
    ]
)
