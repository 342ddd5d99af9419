import DBus
import Fingerprint
import SensorKit

extension FingerprintSensor {
    /// Claims the reader, as soon as it is free of ourselves and the machine is awake.
    func open(
        for user: String,
        unless isCanceled: @BusActor () -> Bool = { false }
    ) async throws(FprintFault) -> FprintSession {
        while !isCanceled(), isTaken || closing > 0 || readers.sleep.isAsleep { await bell.wait() }
        guard !isCanceled() else { throw .canceled }
        isTaken = true
        do throws(FprintFault) {
            let session = try await claim(user)
            self.session = session
            return session
        } catch {
            isTaken = false
            bell.ring()
            throw error
        }
    }

    /// fprintd may have ended since it was last asked; then it is started once more.
    private func claim(_ user: String) async throws(FprintFault) -> FprintSession {
        var isAgain = false
        while true {
            guard properties.isPresent, let key else { throw .gone }
            do throws(FprintFault) {
                let (owner, reader) = try await readers.directory.locate(key)
                return try await claim(reader, owner, user)
            } catch {
                guard error == .lost, !isAgain else { throw error }
                isAgain = true
                await readers.directory.refresh()
            }
        }
    }

    private func claim(
        _ reader: FprintReader,
        _ owner: String,
        _ user: String
    ) async throws(FprintFault) -> FprintSession {
        let session = try FprintSession.open(reader, owner: owner)
        do throws(FprintFault) {
            try await session.claim(for: user)
            return session
        } catch {
            giveBack(session)
            throw error
        }
    }

    /// Gives the claim back, while whoever had it goes on.
    func leave(_ session: FprintSession, undoing finger: Finger? = nil) {
        self.session = nil
        isTaken = false
        giveBack(session, undoing: finger)
    }

    /// Nobody gets the reader until this is done: fprintd would say that it is in use.
    private func giveBack(_ session: FprintSession, undoing finger: Finger? = nil) {
        closing += 1
        onLoop {
            await session.close(undoing: finger) {
                while self.readers.sleep.isAsleep { await self.bell.wait() }
            }
            self.closing -= 1
            self.bell.ring()
        }
    }

    /// Returns when every claim was given back, or after so long.
    func settle(within limit: Duration) async {
        _ = await bell.wait(atMost: limit) { self.closing == 0 }
    }
}
