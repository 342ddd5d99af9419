import CSQLite
import Contract
import KeychainStore
import Sealing
import TestSupport
import Testing

@testable import AuthEngine

extension StateFolder {
    func open(credentials: String? = nil, itemLimit: Int = 4096) throws -> KeychainStore {
        try KeychainStore.open(directory: path, credentials: credentials, itemLimit: itemLimit)
    }

    /// Runs SQL in the database, bypassing the keychain.
    func run(_ statements: String...) throws {
        // SAFETY: SQLite writes the pointer, and the `defer` below closes it.
        var database: OpaquePointer?
        #expect(sqlite3_open(file("items.sqlite"), &database) == SQLITE_OK)
        defer { sqlite3_close(database) }
        for statement in statements {
            let result = sqlite3_exec(database, statement, nil, nil, nil)
            #expect(result == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
        }
    }

    /// Returns a keychain on its own thread.
    func keychain() throws -> Keychain {
        let path = path
        return try Keychain { () throws(KeychainError) in
            try KeychainStore.open(directory: path, credentials: nil)
        }
    }

    /// Returns the error of opening the keychain.
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

    /// Reads a secret with every proof that a user can give.
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

/// Expects a refusal with this code.
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

/// Runs a program with this input and returns its output.
func run(_ words: [String], input: [UInt8] = []) throws -> [UInt8] {
    let ended = try ChildProcess.run(words, input: input)
    #expect(ended.status == 0, "\(ended.errors)")
    return ended.bytes
}
