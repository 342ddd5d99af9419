import CFido2
package import Linux

/// The relying party of credentials: this machine.
package struct RelyingParty: Hashable, Sendable {
    /// The name to which the security key binds its credentials.
    package let id: String
    /// The name that a security key with a display shows.
    static let name = "LocalAuthentication"

    package init(id: String) { self.id = id }
}

/// A security key that is plugged in, with a thread for its operations.
///
/// The key is open only during an operation, so that other programs can use it in between.
package actor SecurityKey {
    private struct Session {
        let device: OpaquePointer
        let channel: KeyChannel
        let onTouchNeeded: @Sendable () -> Void

        /// Asks for a touch on behalf of a key older than FIDO2, which sends no keepalives.
        func begin() {
            if !fido_dev_is_fido2(device) { onTouchNeeded() }
        }

        var verifiesUser: Bool { fido_dev_has_uv(device) }

        func check(_ code: Int32) throws(KeyFault) {
            guard code != FIDO_OK else { return }
            throw channel.fault ?? KeyFault(code: code)
        }
    }

    package nonisolated let place: KeyPlace
    private let thread: SerialThread

    /// Milliseconds for the key to describe itself.
    private static let patience: Int32 = 3000

    /// The thread on which the key may block.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    /// - Throws: ``KeyFault/failed(_:)`` if the kernel refuses a thread.
    package init(_ place: KeyPlace) throws(KeyFault) {
        self.place = place
        do throws(SystemError) {
            thread = try SerialThread(named: place.path)
        } catch {
            throw .failed("\(error)")
        }
    }

    deinit { thread.close() }

    /// Makes a credential after a touch.
    ///
    /// Refuses a key that has one of the `enrolled` credentials.
    ///
    /// Signalling `stop` ends the operation at any point. `onTouchNeeded` is called when the key
    /// waits for a touch, and again every ten seconds.
    ///
    /// - Returns: The new credential.
    /// - Throws: ``KeyFault``.
    package func makeCredential(
        for party: RelyingParty,
        besides enrolled: [Credential],
        stop: EventDescriptor,
        onTouchNeeded: @escaping @Sendable () -> Void
    ) throws(KeyFault) -> Credential {
        try open(stop, onTouchNeeded) { (session) throws(KeyFault) in
            let probe = try Self.probe(of: enrolled, party, session)
            if probe.has != nil { throw .enrolled }
            guard let new = fido_cred_new() else { throw .failed(Self.memory) }
            var credential: OpaquePointer? = new
            defer { fido_cred_free(&credential) }
            try session.check(fido_cred_set_type(new, COSE_ES256))
            let (challenge, user) = (Self.random(), Self.random())
            try session.check(fido_cred_set_clientdata(new, challenge, challenge.count))
            try session.check(fido_cred_set_rp(new, party.id, RelyingParty.name))
            // A key with a display shows the name. The user's identity stays on this machine.
            try session.check(
                fido_cred_set_user(new, user, user.count, RelyingParty.name, nil, nil)
            )
            for other in probe.unsure {
                try session.check(fido_cred_exclude(new, other.handle, other.handle.count))
            }
            if session.verifiesUser {
                try session.check(fido_cred_set_uv(new, FIDO_OPT_TRUE))
            }
            session.begin()
            try session.check(fido_dev_make_cred(session.device, new, nil))
            return try Self.credential(new, session)
        }
    }

    private static func credential(
        _ made: OpaquePointer,
        _ session: Session
    ) throws(KeyFault) -> Credential {
        let hasVerified = Int32(fido_cred_flags(made)) & CTAP_AUTHDATA_USER_VERIFIED != 0
        guard fido_cred_type(made) == COSE_ES256, hasVerified || !session.verifiesUser,
            let credential = Credential(
                handle: bytes(fido_cred_id_ptr(made), fido_cred_id_len(made)),
                publicKey: bytes(fido_cred_pubkey_ptr(made), fido_cred_pubkey_len(made)),
                verifiesUser: session.verifiesUser,
                counter: fido_cred_sigcount(made)
            )
        else { throw .invalidProof("The security key did not make the credential.") }
        return credential
    }

    /// Makes the key sign a fresh challenge with one of the credentials, and verifies the
    /// signature.
    ///
    /// - Returns: The credential that signed, with its new counter.
    /// - Throws: ``KeyFault/noCredential`` before any touch if the key has none of the credentials,
    ///   ``KeyFault/invalidProof(_:)`` if the signature does not cover this challenge, this machine
    ///   and a touch, or is not new.
    package func sign(
        with credentials: [Credential],
        for party: RelyingParty,
        stop: EventDescriptor,
        onTouchNeeded: @escaping @Sendable () -> Void
    ) throws(KeyFault) -> Credential {
        try open(stop, onTouchNeeded) { (session) throws(KeyFault) in
            let probe = try Self.probe(of: credentials, party, session)
            let known = probe.has.map { [$0] } ?? probe.unsure
            if known.isEmpty { throw .noCredential }
            return try Self.assertion(of: known, party, session) { assertion throws(KeyFault) in
                let verifies = known.allSatisfy(\.verifiesUser)
                if verifies {
                    try session.check(fido_assert_set_uv(assertion, FIDO_OPT_TRUE))
                }
                try session.check(fido_assert_set_up(assertion, FIDO_OPT_TRUE))
                session.begin()
                try session.check(fido_dev_get_assert(session.device, assertion, nil))
                return try Self.verified(assertion, known)
            }
        }
    }

    /// A key's answers about credentials without a touch.
    private struct CredentialProbe {
        var has: Credential?
        /// Credentials about which the key gave no answer, because some keys require a touch first.
        var unsure: [Credential] = []
    }

    /// Asks the key without a touch which credential it has.
    ///
    /// A key without any of them then does not blink, and cannot use up attempts. Each credential
    /// needs its own request, because some keys take no longer list.
    private static func probe(
        of credentials: [Credential],
        _ party: RelyingParty,
        _ session: Session
    ) throws(KeyFault) -> CredentialProbe {
        var probe = CredentialProbe()
        for credential in credentials {
            let code = try assertion(of: [credential], party, session) {
                assertion throws(KeyFault) in
                try session.check(fido_assert_set_up(assertion, FIDO_OPT_FALSE))
                return fido_dev_get_assert(session.device, assertion, nil)
            }
            if let fault = session.channel.fault { throw fault }
            if code == FIDO_OK { return CredentialProbe(has: credential) }
            if code != FIDO_ERR_NO_CREDENTIALS { probe.unsure.append(credential) }
        }
        return probe
    }

    private static func assertion<Value>(
        of credentials: [Credential],
        _ party: RelyingParty,
        _ session: Session,
        _ body: (OpaquePointer) throws(KeyFault) -> Value
    ) throws(KeyFault) -> Value {
        guard let new = fido_assert_new() else { throw .failed(memory) }
        var assertion: OpaquePointer? = new
        defer { fido_assert_free(&assertion) }
        let challenge = random()
        try session.check(fido_assert_set_clientdata(new, challenge, challenge.count))
        try session.check(fido_assert_set_rp(new, party.id))
        for credential in credentials {
            let handle = credential.handle
            try session.check(fido_assert_allow_cred(new, handle, handle.count))
        }
        return try body(new)
    }

    private static func handle(of assertion: OpaquePointer) -> [UInt8] {
        guard fido_assert_count(assertion) == 1 else { return [] }
        return bytes(fido_assert_id_ptr(assertion, 0), fido_assert_id_len(assertion, 0))
    }

    /// Verifies an assertion and returns the credential that signed it.
    private static func verified(
        _ assertion: OpaquePointer,
        _ credentials: [Credential]
    ) throws(KeyFault) -> Credential {
        let handle = handle(of: assertion)
        // With a single credential to choose from, the key may omit the credential id.
        let named = credentials.first { $0.handle == handle || handle.isEmpty }
        guard var credential = named, !handle.isEmpty || credentials.count == 1 else {
            throw .invalidProof(
                "The security key answered with a credential that it was not asked for."
            )
        }
        guard let point = es256_pk_new() else { throw .failed(memory) }
        var publicKey: OpaquePointer? = point
        defer { es256_pk_free(&publicKey) }
        let raw = credential.publicKey
        // The signature covers the challenge, this machine and the touch.
        guard es256_pk_from_ptr(point, raw, raw.count) == FIDO_OK,
            // SAFETY: libfido2 owns the point, which `publicKey` frees later.
            fido_assert_verify(assertion, 0, COSE_ES256, UnsafeRawPointer(point)) == FIDO_OK
        else { throw .invalidProof("The security key's answer is not signed as it should be.") }
        let flags = Int32(fido_assert_flags(assertion, 0))
        guard !credential.verifiesUser || flags & CTAP_AUTHDATA_USER_VERIFIED != 0 else {
            throw .invalidProof("The security key did not recognise its user.")
        }
        let counter = fido_assert_sigcount(assertion, 0)
        guard credential.isNew(counter) else {
            throw .invalidProof(
                "The security key's counter went back: there may be a copy of it. If it is yours, "
                    + "remove the key and enrol it again."
            )
        }
        credential.counter = counter
        return credential
    }

    // MARK: The session

    /// Opens the key for `body`, and closes it afterwards in any case.
    private func open<Value>(
        _ stop: EventDescriptor,
        _ waits: @escaping @Sendable () -> Void,
        _ body: (Session) throws(KeyFault) -> Value
    ) throws(KeyFault) -> Value {
        let channel = try KeyChannel(place, stop: stop, onTouchNeeded: waits)
        guard let new = fido_dev_new() else { throw .failed(Self.memory) }
        var device: OpaquePointer? = new
        defer { fido_dev_free(&device) }
        let session = Session(device: new, channel: channel, onTouchNeeded: waits)
        var functions = KeyChannel.functions
        try session.check(fido_dev_set_io_functions(new, &functions))
        try session.check(fido_dev_set_timeout(new, Self.patience))
        try session.check(channel.open(new))
        defer { fido_dev_close(new) }
        // Remove the time limit: from here on the key may wait for a user.
        try session.check(fido_dev_set_timeout(new, -1))
        do throws(KeyFault) {
            return try body(session)
        } catch {
            if error == .interrupted, fido_dev_cancel(new) == FIDO_OK { channel.drain() }
            throw error
        }
    }

    private static let memory = "There is no memory left for the security key."

    private static func random() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<32).map { _ in random.next() }
    }

    // SAFETY: libfido2 owns the bytes until its object is freed; `Array` copies them.
    private static func bytes(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
        start.map { Array(UnsafeBufferPointer(start: $0, count: count)) } ?? []
    }
}

extension KeyFault {
    /// Translates a code of libfido2 that no fault of the channel explains.
    fileprivate init(code: Int32) {
        switch code {
        case FIDO_ERR_NO_CREDENTIALS, FIDO_ERR_INVALID_CREDENTIAL: self = .noCredential
        case FIDO_ERR_CREDENTIAL_EXCLUDED: self = .enrolled
        case FIDO_ERR_USER_ACTION_TIMEOUT, FIDO_ERR_ACTION_TIMEOUT, FIDO_ERR_TIMEOUT,
            FIDO_ERR_OPERATION_DENIED, FIDO_ERR_KEEPALIVE_CANCEL:
            self = .touchTimeout
        case FIDO_ERR_CHANNEL_BUSY: self = .busy
        case FIDO_ERR_KEY_STORE_FULL: self = .full
        case FIDO_ERR_UV_INVALID:
            self = .invalidProof("The security key did not recognise its user.")
        case FIDO_ERR_PIN_REQUIRED, FIDO_ERR_PIN_AUTH_INVALID, FIDO_ERR_UNAUTHORIZED_PERM:
            self = .failed(
                "The security key asks for its PIN, and the prompt cannot take the PIN of a key. "
                    + "Enrol a key without a PIN, or a key with a fingerprint reader."
            )
        case FIDO_ERR_UV_BLOCKED, FIDO_ERR_PIN_BLOCKED, FIDO_ERR_PIN_AUTH_BLOCKED:
            self = .failed(
                "The security key has locked itself after too many failures. Unlock it with the "
                    + "program of its maker."
            )
        case FIDO_ERR_UNSUPPORTED_ALGORITHM, FIDO_ERR_UNSUPPORTED_OPTION:
            self = .failed("The security key is too old to make a credential on P-256.")
        case FIDO_ERR_RX, FIDO_ERR_TX: self = .silent
        default:
            let name = fido_strerr(code).map { String(cString: $0) } ?? "error \(code)"
            self = .failed("The security key refused: \(name).")
        }
    }
}
