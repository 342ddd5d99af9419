/// The layers of the targets; dependencies only point down.
enum Layers {
    enum Layer: Int {
        case pure
        case edge
        case role
        case program
    }

    private static let targets: [Layer: Set<String>] = [
        .pure: ["AuthEngine", "Contract"],
        .edge: [
            "AuthStore", "BusBench", "BusGuard", "CAdwaita", "CFace", "CFido2", "CIntl", "CLinux",
            "CPAM", "CPipeWire", "CSQLite", "CSystemd", "CV4L2", "CameraDevice", "DBus",
            "FaceSensor", "Fingerprint", "KeychainStore", "Linux", "LocalAuthBus",
            "LocalAuthClient", "Localization", "SQLite", "Sealing", "SecurityKey",
            "ServiceProgram", "Windows",
        ],
        .role: [
            "AuthService", "CryptoKit", "LocalAuthentication", "Security", "SensorContract",
            "SensorKit", "AgentKit",
        ],
        .program: [
            "localauthd", "localauthctl", "localauth-passcode", "localauth-sensor-simulated",
            "localauth-sensor-face", "localauth-sensor-fido2", "localauth-sensor-fingerprint",
            "localauth-agent", "localauth-settings", "localauth-sensor-check",
        ],
    ]

    /// System modules that a target may import.
    ///
    /// Foundation is for Apple's interfaces, which consist of its types. swift-crypto decrypts to
    /// `Data`, which Sealing wipes.
    static func system(for target: String) -> Set<String> {
        if ["CryptoKit", "LocalAuthentication", "Security"].contains(target) {
            return ["Dispatch", "Foundation", "Glibc", "Synchronization"]
        }
        if layer(of: target) == .pure { return [] }
        let data: Set = target == "Sealing" ? ["FoundationEssentials"] : []
        return data.union(["Glibc", "Synchronization"])
    }

    static func layer(of target: String) -> Layer? {
        targets.first { $0.value.contains(target) }?.key
    }

    static func allows(_ target: String, _ dependency: String) -> Bool {
        guard let upper = layer(of: target) else { return false }
        // Products of other packages, each for a single purpose.
        if dependency == "Crypto" {
            return ["AuthStore", "CryptoKit", "FaceSensor", "KeychainStore", "Sealing", "Security"]
                .contains(target)
        }
        if dependency == "CryptoExtras" { return ["KeychainStore", "Security"].contains(target) }
        if dependency == "ArgumentParser" { return upper == .program }
        // Apple's LocalAuthentication includes Security.
        if target == "LocalAuthentication", dependency == "Security" { return true }
        // CryptoKit's keys are Security's keys, and their prompts are LocalAuthentication's.
        let isOfApple = ["LocalAuthentication", "Security"].contains(dependency)
        if target == "CryptoKit", isOfApple { return true }
        guard let lower = layer(of: dependency) else { return false }
        return switch upper {
        case .pure: lower == .pure
        case .edge: lower == .pure || lower == .edge
        case .role: lower == .pure || lower == .edge
        case .program: lower == .edge || lower == .role
        }
    }
}

/// The targets of `Package.swift`, with their dependencies.
struct Manifest {
    struct Dependency {
        let name: String
        let line: Int
    }

    struct Target {
        let name: String
        let line: Int
        let dependencies: [Dependency]
        let isProgram: Bool
        let path: String

        /// Whether the target is for tests: below tests or benchmarks, or an example that tests
        /// start.
        var isForTests: Bool {
            ["Tests/", "Benchmarks/", "examples/"].contains { path.hasPrefix($0) }
        }
    }

    let path: String
    private let all: [Target]

    /// The targets of the product; targets for tests may depend on any target.
    var targets: [Target] { all.filter { !$0.isForTests } }

    private static let kinds: Set = [
        ".target", ".executableTarget", ".systemLibrary", ".testTarget",
    ]

    /// Parses the calls that declare a target.
    init(_ file: SourceFile) {
        path = file.path
        var all: [Target] = []
        var rest = Words(file)
        while let word = rest.next() {
            guard Self.kinds.contains(word.text) else { continue }
            all.append(rest.target(kind: word.text, line: word.line))
        }
        self.all = all
    }

    /// Targets without a layer, and dependencies that point up.
    var offences: [Offence] {
        targets.flatMap { target in
            if Layers.layer(of: target.name) == nil {
                return [
                    Offence(
                        path: path,
                        line: target.line,
                        message: "\(target.name) is in no layer: a new target needs a reason"
                    )
                ]
            }
            return target.dependencies.filter { !Layers.allows(target.name, $0.name) }
                .map {
                    Offence(
                        path: path,
                        line: $0.line,
                        message: "\(target.name) must not depend on \($0.name)"
                    )
                }
        }
    }

    /// Declared dependencies that no file of the target imports.
    ///
    /// Programs are exempt, because tests declare the programs that they start, to have them built
    /// first. C targets include headers instead.
    func unusedDependencies(in files: [SourceFile]) -> [Offence] {
        let programs = Set(all.filter(\.isProgram).map(\.name))
        var imported: [String: Set<String>] = [:]
        for file in files where file.path.hasSuffix(".swift") {
            guard let target = target(of: file) else { continue }
            imported[target.name, default: []].formUnion(file.code.compactMap(Self.module))
        }
        return all.flatMap { target in
            guard let modules = imported[target.name] else { return [Offence]() }
            let unused = target.dependencies.filter { dependency in
                let isStarted = target.isForTests && programs.contains(dependency.name)
                return !modules.contains(dependency.name) && !isStarted
            }
            return unused.map {
                Offence(
                    path: path,
                    line: $0.line,
                    message: "\(target.name) declares \($0.name), and imports it nowhere"
                )
            }
        }
    }

    /// The target with the deepest folder that contains a file.
    private func target(of file: SourceFile) -> Target? {
        all.filter { file.path.hasPrefix($0.path + "/") }.max { $0.path.count < $1.path.count }
    }

    /// Imports that are undeclared, or forbidden for the target's layer.
    func importOffences(in file: SourceFile) -> [Offence] {
        guard let name = file.target else { return [] }
        let declared = targets.first { $0.name == name }?.dependencies.map(\.name) ?? []
        let allowed = Set(declared).filter { Layers.allows(name, $0) }
            .union(Layers.system(for: name))
        return file.code.enumerated()
            .compactMap { index, line in
                guard let module = Self.module(of: line), !allowed.contains(module) else {
                    return nil
                }
                return file.offence(index, "\(name) must not import \(module)")
            }
    }

    /// The module of an import line; nil for any other line.
    static func module(of line: String) -> String? {
        let words = line.split { $0 == " " || $0 == "." || $0 == ";" }
        guard let index = words.firstIndex(of: "import"),
            words[..<index].allSatisfy({ modifiers.contains($0) })
        else {
            return nil
        }
        return words[(index + 1)...].first { !declarations.contains($0) }.map(String.init)
    }

    private static let modifiers: Set<Substring> = [
        "public", "package", "internal", "fileprivate", "private", "@testable", "@_exported",
        "@_implementationOnly", "@preconcurrency",
    ]
    private static let declarations: Set<Substring> = [
        "typealias", "struct", "class", "enum", "protocol", "let", "var", "func",
    ]

    /// An iterator over the strings and words of a file.
    private struct Words {
        private var words: ArraySlice<(text: String, line: Int)>

        init(_ file: SourceFile) {
            var words: [(text: String, line: Int)] = []
            for (index, line) in file.lines.enumerated()
            where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                var isString = false
                for piece in line.split(separator: "\"", omittingEmptySubsequences: false) {
                    if isString {
                        words.append(("\"\(piece)", index + 1))
                    } else {
                        words += piece.split { $0 == " " || $0 == "," }
                            .flatMap { word in
                                Self.parts(of: word).map { ($0, index + 1) }
                            }
                    }
                    isString.toggle()
                }
            }
            self.words = words[...]
        }

        private static func parts(of word: Substring) -> [String] {
            var parts: [String] = [""]
            for character in word {
                if "()[]".contains(character) {
                    parts += [String(character), ""]
                } else {
                    parts[parts.count - 1].append(character)
                }
            }
            return parts.filter { !$0.isEmpty }
        }

        mutating func next() -> (text: String, line: Int)? { words.popFirst() }

        /// Parses up to the end of the call.
        ///
        /// The first string is the name, and the strings in the brackets of `dependencies:` are the
        /// dependencies. For a product only its name counts.
        mutating func target(kind: String, line: Int) -> Target {
            var name = ""
            var dependencies: [Dependency] = []
            var (depth, isDependency, label, path) = (0, false, "", "")
            while let (text, line) = next() {
                if text == "(" { depth += 1 }
                if text == ")" { depth -= 1 }
                if depth == 0 { break }
                if text == "]" && depth == 1 { isDependency = false }
                if text == "dependencies:" { isDependency = true }
                if text.hasPrefix("\"") {
                    let string = String(text.dropFirst())
                    if name.isEmpty {
                        name = string
                    } else if label == "path:" {
                        path = string
                    } else if isDependency && label != "package:" {
                        dependencies.append(Dependency(name: string, line: line))
                    }
                }
                label = text
            }
            return Target(
                name: name,
                line: line,
                dependencies: dependencies,
                isProgram: kind == ".executableTarget",
                path: path.isEmpty
                    ? "\(kind == ".testTarget" ? "Tests" : "Sources")/\(name)" : path
            )
        }
    }
}
