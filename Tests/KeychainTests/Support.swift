import Foundation
import KeychainStore
import Testing

@testable import AuthEngine

/// A state directory of a test, removed with the value.
final class StateFolder: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "localauth-keychain-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/keychain/" + name }

    var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: file("")).sorted() }
    }

    func read(_ name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: URL(filePath: file(name))))
    }

    /// Writes a file with mode 0600.
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: URL(filePath: file(name)))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: file(name)
        )
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: file(name))
    }

    func mode(of path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    func open(credentials: String? = nil, itemLimit: Int = 4096) throws -> KeychainStore {
        try KeychainStore.open(directory: path, credentials: credentials, itemLimit: itemLimit)
    }

    /// The keychain on a thread of its own.
    func keychain() throws -> Keychain {
        let path = path
        return try Keychain { () throws(KeychainError) in
            try KeychainStore.open(directory: path, credentials: nil)
        }
    }

    /// Why it can't be opened.
    func refusal(credentials: String? = nil) -> KeychainError? {
        #expect(throws: KeychainError.self) { _ = try open(credentials: credentials) }
    }
}

extension Caller {
    static let person = Caller(uid: 1000, app: nil, enrolment: .first)
    static let other = Caller(uid: 1001, app: nil, enrolment: .first)

    func with(_ enrolment: EnrolmentMark?) -> Caller {
        Caller(uid: uid, app: app, enrolment: enrolment)
    }
}

extension EnrolmentMark {
    static let first = EnrolmentMark(generation: 1, state: [UInt8](repeating: 1, count: 32))
    static let second = EnrolmentMark(generation: 2, state: [UInt8](repeating: 2, count: 32))
}

extension Grant {
    static func finger(
        uid: UInt32 = 1000,
        strength: Strength = .strong,
        type: BiometryType = .fingerprint
    ) -> Grant {
        let sensor = SensorFact(
            name: "Finger",
            type: type,
            strength: strength,
            availability: .usable,
            templates: 1
        )
        return .resting(on: .match(sensor), uid: uid)
    }

    static func companion(uid: UInt32 = 1000) -> Grant { finger(uid: uid, type: .none) }

    static func passcode(uid: UInt32 = 1000) -> Grant { .resting(on: .passcode, uid: uid) }
}

extension AccessControl {
    static func guarded(
        by flags: Flags,
        _ accessibility: Accessibility = .whenUnlocked
    ) throws -> AccessControl {
        try AccessControl(flags: flags, accessibility: accessibility)
    }
}

extension SecretBytes {
    convenience init(_ text: String) {
        self.init(Array(text.utf8))
    }

    var text: String { use { String(decoding: $0, as: UTF8.self) } }
    var bytes: [UInt8] { use { $0 } }
}

extension Attributes {
    static func service(_ name: String, account: String = "me") throws -> Attributes {
        try Attributes([
            "class": .text("genp"), "svce": .text(name), "acct": .text(account),
        ])
    }
}

extension KeychainStore {
    /// Adds a generic password.
    @discardableResult
    func add(
        _ service: String,
        _ secret: String = "secret",
        flags: AccessControl.Flags = [],
        accessibility: AccessControl.Accessibility = .whenUnlocked,
        password: String? = nil,
        caller: Caller = .person,
        date: Int64 = 100
    ) throws -> String {
        try add(
            .service(service),
            secret: SecretBytes(secret),
            accessControl: .guarded(by: flags, accessibility),
            password: password.map { SecretBytes($0) },
            caller: caller,
            date: date
        )
    }

    /// Reads, with all that a person can prove.
    func read(
        _ id: String,
        password: String? = nil,
        caller: Caller = .person
    ) throws -> String {
        let control = try item(id, caller: caller).accessControl
        let uid = caller.uid
        let authorization = AccessGrant.resting(
            on: [.finger(uid: uid), .passcode(uid: uid), .companion(uid: uid)],
            for: .useItem,
            uid: uid,
            accessControl: control
        )
        return try secret(
            of: id,
            authorization: #require(authorization),
            password: password.map { SecretBytes($0) },
            caller: caller
        )
        .text
    }

    func find(
        _ query: [String: AttributeValue] = [:],
        caller: Caller = .person
    ) throws -> [Item] {
        try search(Query(query), caller: caller)
    }
}

/// Expects a refusal of some kind.
@discardableResult
func expectRefusal(
    _ code: KeychainError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) -> KeychainError? {
    let error = #expect(throws: KeychainError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    return error
}

/// SplitMix64, so that a seed gives the same test again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// The seed in `LOCALAUTH_SEED`, or a new one; printed.
    init() {
        let text = ProcessInfo.processInfo.environment["LOCALAUTH_SEED"]
        state = text.flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
        print("LOCALAUTH_SEED=\(state)")
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// Runs a program with this input and gives what it printed.
func run(_ program: String, _ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    let (standardInput, output) = (Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = output
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: Data(input))
    try standardInput.fileHandleForWriting.close()
    let printed = try output.fileHandleForReading.readToEnd()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return Array(printed ?? Data())
}
