import DBus
import Fingerprint
import SensorKit

extension FingerprintSensor {
    /// Claims the reader, after this process has released it and while the machine is awake.
    func claimWhenFree(
        for user: String,
        unless isCanceled: @BusActor () -> Bool = { false }
    ) async throws(FprintFault) -> FprintSession {
        while !isCanceled(), isTaken || closing > 0 || readers.sleep.isAsleep {
            await changes.wait()
        }
        guard !isCanceled() else { throw .canceled }
        isTaken = true
        do throws(FprintFault) {
            let session = try await claim(user)
            self.session = session
            return session
        } catch {
            isTaken = false
            changes.notifyAll()
            throw error
        }
    }

    /// Claims, with one retry if fprintd exited meanwhile: the second call starts it again.
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
            releaseInBackground(session)
            throw error
        }
    }

    /// Releases the claim without waiting for fprintd.
    func releaseClaim(_ session: FprintSession, undoing finger: Finger? = nil) {
        self.session = nil
        isTaken = false
        releaseInBackground(session, undoing: finger)
    }

    /// Releases the claim in the background.
    ///
    /// Until that is done, `closing` blocks new claims, which fprintd would refuse as "in use".
    private func releaseInBackground(_ session: FprintSession, undoing finger: Finger? = nil) {
        closing += 1
        onLoop {
            await session.close(undoing: finger) {
                while self.readers.sleep.isAsleep { await self.changes.wait() }
            }
            self.closing -= 1
            self.changes.notifyAll()
        }
    }

    /// Waits at most `limit` until every claim is released.
    func settle(within limit: Duration) async {
        _ = await changes.wait(atMost: limit) { self.closing == 0 }
    }
}
