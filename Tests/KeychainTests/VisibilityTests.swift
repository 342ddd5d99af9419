import Sealing
import TestSupport
import Testing

@testable import AuthEngine
@testable import KeychainStore

/// The items that a caller can see.
@Suite("Item visibility")
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

    @Test("R66, R69: An item that needs a password is hidden while it is missing or withheld")
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

    @Test("An item is visible only to its user, app and enrolment")
    func owner() throws {
        #expect(try !Self.item(uid: 1001, .whenUnlocked).isVisible(to: .person))
        let app = Caller(uid: 1000, app: "a", enrolment: .first)
        #expect(try Self.item(app: "a", .whenUnlocked).isVisible(to: app))
        #expect(try !Self.item(app: "b", .whenUnlocked).isVisible(to: app))
        #expect(try Self.item(.whenUnlocked, enrolment: .first).isVisible(to: .person))
        #expect(try !Self.item(.whenUnlocked, enrolment: .second).isVisible(to: .person))
    }

    @Test("R69: An item hidden by a withheld password is never replaced")
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

    @Test("R67: A hidden item of another enrolment is replaced by an update with its names")
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

    @Test("An envelope with trailing bytes is refused")
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
