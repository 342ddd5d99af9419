import Sealing
import TestSupport
import Testing

@testable import AuthEngine
@testable import KeychainStore

/// Which items a caller is shown at all.
@Suite("Who sees an item")
struct VisibilityTests {
    private static func item(
        uid: UInt32 = 1000,
        app: String = "",
        _ accessibility: AccessControl.Accessibility,
        enrolment: EnrolmentMark? = nil
    ) throws -> Item {
        Item(
            itemID: try #require(ItemID(bytes: [UInt8](repeating: 1, count: 16))),
            uid: uid,
            app: app,
            attributes: try Attributes(["class": .text("genp")]),
            accessControl: try AccessControl(flags: [], accessibility: accessibility),
            created: 1,
            added: 1,
            modified: 1,
            publicKey: [],
            enrolment: enrolment,
            secretVersion: 1,
            secretSize: 6
        )
    }

    @Test("R66, R69: an item that needs a passcode is hidden without one, and while it is withheld")
    func passcode() throws {
        let removed = Caller(uid: 1000, app: nil, enrolment: nil, isWithoutPasscode: true)
        let withheld = Caller(uid: 1000, app: nil, enrolment: nil, isPasscodeWithheld: true)
        let guarded = try Self.item(.whenPasscodeSet)
        let open = try Self.item(.whenUnlocked)
        #expect(guarded.isVisible(to: .person) && open.isVisible(to: .person))
        #expect(open.isVisible(to: removed) && open.isVisible(to: withheld))
        #expect(!guarded.isVisible(to: removed) && !guarded.isWithheld(from: removed))
        #expect(!guarded.isVisible(to: withheld) && guarded.isWithheld(from: withheld))
    }

    @Test("An item is its user's, its app's and its enrolment's")
    func owner() throws {
        #expect(try !Self.item(uid: 1001, .whenUnlocked).isVisible(to: .person))
        let app = Caller(uid: 1000, app: "a", enrolment: .first)
        #expect(try Self.item(app: "a", .whenUnlocked).isVisible(to: app))
        #expect(try !Self.item(app: "b", .whenUnlocked).isVisible(to: app))
        #expect(try Self.item(.whenUnlocked, enrolment: .first).isVisible(to: .person))
        #expect(try !Self.item(.whenUnlocked, enrolment: .second).isVisible(to: .person))
    }

    @Test("R69: an item that is hidden while a passcode is withheld gives way to no other")
    func givesWay() throws {
        let store = try StateFolder("keychain").open()
        let id = try store.add("a", accessibility: .whenPasscodeSet)
        let withheld = Caller(
            uid: 1000,
            app: nil,
            enrolment: .first,
            isPasscodeWithheld: true
        )
        expectRefusal(.duplicate) { _ = try store.add("a", "other", caller: withheld) }
        #expect(try store.read(id) == "secret")
    }

    @Test("R67: an item of another enrolment gives way to one that gets its names with a secret")
    func givesWayToSecret() throws {
        let store = try StateFolder("keychain").open()
        let hidden = try store.add("a", flags: .biometryCurrentSet)
        let id = try store.add("b")
        try store.setSecret(
            of: id,
            to: SecretBytes("new"),
            ["svce": .text("a")],
            password: nil,
            caller: Caller.person.with(nil),
            date: 1
        )
        expectRefusal(.notFound) { _ = try store.read(hidden) }
        #expect(try store.read(id) == "new")
        #expect(try store.itemCount(of: 1000) == 1)
    }

    @Test("An envelope with something behind it is none")
    func longer() throws {
        let ring = KeyRing(
            MasterKey([UInt8](repeating: 3, count: 32)),
            identity: [UInt8](repeating: 5, count: 16)
        )
        let bytes = try Envelope(
            sealing: SecretBytes("secret"),
            of: Self.item(.whenUnlocked),
            password: nil,
            ring: ring
        )
        .bytes
        _ = try Envelope(bytes)
        #expect(throws: KeychainError.self) { _ = try Envelope(bytes + [0]) }
    }
}
