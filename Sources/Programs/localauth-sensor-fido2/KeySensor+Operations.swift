import DBus
import Linux
import SecurityKey
import SensorKit
import ServiceProgram

extension KeySensor {
    /// The first touch creates the credential; the second proves that the key can use it.
    static let stages: Int32 = 2

    func verify(_ operation: SensorOperation) async throws(SensorFault) -> String {
        let entries = try await entries(of: operation.user)
        guard !entries.isEmpty else { throw .noTemplates }
        running += 1
        defer { ended() }
        let (credentials, party) = (entries.map(\.credential), store.party)
        while true {
            let touch = try await KeyRound(self, operation) { key, stop, waits in
                do throws(KeyFault) {
                    return .success(
                        try await key.sign(
                            with: credentials,
                            for: party,
                            stop: stop,
                            onTouchNeeded: waits
                        )
                    )
                } catch {
                    return .failure(error)
                }
            }
            .run()
            if let signed = touch.credential,
                let entry = entries.first(where: { $0.credential.handle == signed.handle }),
                try await take(signed, of: entry.id, operation.user)
            {
                return entry.id
            }
            if let doubt = touch.objection { log(.warning, doubt) }
            try await operation.noMatch()
        }
    }

    func enroll(
        _ operation: SensorOperation,
        label: String
    ) async throws(SensorFault) -> String {
        let enrolled = try await entries(of: operation.user).map(\.credential)
        running += 1
        defer { ended() }
        let party = store.party
        let made = try await KeyRound(self, operation) { key, stop, waits in
            do throws(KeyFault) {
                return .success(
                    try await key.makeCredential(
                        for: party,
                        besides: enrolled,
                        stop: stop,
                        onTouchNeeded: waits
                    )
                )
            } catch {
                return .failure(error)
            }
        }
        .run()
        guard let credential = made.credential else { throw .failed(made.objection ?? "") }
        operation.stage(1, of: Self.stages)
        // Prove that the credential belongs to this key and that the key can use it.
        let proof = try await KeyRound(self, operation, only: made.place) { key, stop, waits in
            do throws(KeyFault) {
                return .success(
                    try await key.sign(
                        with: [credential],
                        for: party,
                        stop: stop,
                        onTouchNeeded: waits
                    )
                )
            } catch {
                return .failure(error)
            }
        }
        .run()
        guard let proven = proof.credential else { throw .failed(proof.objection ?? "") }
        guard !operation.isCanceled else { throw .canceled }
        operation.stage(2, of: Self.stages)
        do throws(SystemError) {
            return try await store.add(proven, label: label, user: operation.user)
        } catch {
            throw .credentials(error)
        }
    }

    private func ended() {
        running -= 1
        changes.notifyAll()
    }

    private func take(
        _ signed: Credential,
        of id: String,
        _ user: UInt32
    ) async throws(SensorFault) -> Bool {
        do throws(SystemError) {
            return try await store.take(signed, of: id, user: user)
        } catch {
            throw .credentials(error)
        }
    }
}
