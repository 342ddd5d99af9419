import AuthEngine
import DBus
import KeychainStore
import LocalAuthBus

/// Whose items, and whether they are still there.
extension KeychainObject {
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (KeychainStore) throws(KeychainError) -> Result
    ) async throws(DBusError) -> Result {
        let keychain = try keychain
        do throws(KeychainError) {
            return try await keychain.run(body)
        } catch {
            throw DBusError(error)
        }
    }

    /// A caller with the enrolment that is known; nobody vouches for an app here.
    func caller(of peer: Peer) -> Caller {
        Caller(uid: peer.uid, app: nil, enrolment: service.enrolments.mark(of: peer.uid))
    }

    /// A caller who makes an item: what that holds on to is asked for anew.
    ///
    /// - Throws: NotAvailable for an item that needs a passcode where none is set (R69).
    func caller(
        of peer: Peer,
        for accessControl: AccessControl
    ) async throws(DBusError) -> Caller {
        if accessControl.isOfCurrentEnrolment { await service.enrolments.refresh(peer.uid) }
        if accessControl.needsPasscodeSet, await !service.verifier.isSet(for: peer.uid) {
            throw DBusError(
                .keychainNotAvailable,
                "Such an item needs a passcode, and this user has none."
            )
        }
        return caller(of: peer)
    }

    /// An item and its caller, both as they are now.
    func item(_ id: String, of peer: Peer) async throws(DBusError) -> (Caller, Item) {
        func found(by caller: Caller) async throws(DBusError) -> Item {
            try await run { keychain throws(KeychainError) in
                try keychain.item(id, caller: caller)
            }
        }
        let caller = caller(of: peer)
        let item = try await found(by: caller)
        guard try await mayBeGone([item.accessControl], peer) else { return (caller, item) }
        let current = self.caller(of: peer)
        return (current, try await found(by: current))
    }

    /// Whether what such items hold on to was asked for anew, so that they have to be looked up
    /// again (R67, R69).
    func mayBeGone(
        _ accessControls: [AccessControl],
        _ peer: Peer
    ) async throws(DBusError) -> Bool {
        let uid = peer.uid
        var isChanged = false
        if accessControls.contains(where: \.isOfCurrentEnrolment) {
            let before = service.enrolments.mark(of: uid)
            await service.enrolments.refresh(uid)
            isChanged = service.enrolments.mark(of: uid) != before
        }
        // A verifier that is away says nothing, and that is no reason to delete anything.
        if accessControls.contains(where: \.needsPasscodeSet),
            await service.verifier.answer(for: uid) == false
        {
            try await run { keychain throws(KeychainError) in
                try keychain.passcodeRemoved(uid: uid)
            }
            isChanged = true
        }
        return isChanged
    }
}

/// What Add and CreateKey are given, checked.
struct NewItem: Sendable {
    let attributes: Attributes
    let accessControl: AccessControl
    let password: SecretBytes?
    let date = KeychainValues.date

    @BusActor
    init(
        _ attributes: [String: Variant],
        _ accessControl: [String: Variant],
        _ options: [String: Variant],
        _ call: IncomingCall,
        _ service: AuthService
    ) throws(DBusError) {
        var attributes = attributes
        let accessible = attributes.removeValue(forKey: "pdmn")
        self.accessControl = try KeychainValues.accessControl(accessControl, attribute: accessible)
        let values = try KeychainValues.attributes(attributes)
        do throws(KeychainError) {
            self.attributes = try Attributes(values)
        } catch {
            throw DBusError(error)
        }
        let lent = try Self.password(options, call, service)
        // A context that was evaluated for something else may have a password as well.
        password = self.accessControl.flags.contains(.applicationPassword) ? lent : nil
    }

    /// The application password of the context that the call names.
    @BusActor
    static func password(
        _ options: [String: Variant],
        _ call: IncomingCall,
        _ service: AuthService
    ) throws(DBusError) -> SecretBytes? {
        try service.lentContext(options, of: call.peer)?.applicationPassword
    }
}
