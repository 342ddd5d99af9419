import DBus
import Fingerprint
import LocalAuthBus
import SensorKit

extension FingerprintSensor {
    func templates(of uid: UInt32) async throws(SensorFault) -> [Template] {
        guard let user = try name(of: uid) else { return [] }
        return try await enrolled(uid, user)
            .map { entry in
                Template(
                    id: entry.id,
                    label: readers.labels.label(of: entry.id, uid: uid, sensor: name)
                        ?? entry.finger.label,
                    created: entry.created
                )
            }
    }

    func rename(_ id: String, of uid: UInt32, to label: String) async throws(SensorFault) {
        let (_, _, list) = try await find(id, uid)
        guard readers.rename(id, to: label, uid: uid, sensor: name, list.map(\.id)) else {
            throw .failed("The label can't be written to \(Readers.stateFolder).")
        }
    }

    func remove(_ id: String, of uid: UInt32) async throws(SensorFault) {
        let (user, entry, _) = try await find(id, uid)
        _ = try await delete([entry.finger], uid, user)
    }

    func removeAll(of uid: UInt32) async throws(SensorFault) -> UInt32 {
        guard let user = try name(of: uid) else { return 0 }
        let list = try await enrolled(uid, user)
        return list.isEmpty ? 0 : try await delete(list.map(\.finger), uid, user)
    }

    /// The account's name; nil for a uid unknown to fprintd.
    func name(of uid: UInt32) throws(SensorFault) -> String? {
        do throws(FprintFault) {
            return try Account.name(of: uid)
        } catch {
            throw SensorFault(error)
        }
    }

    private func find(
        _ id: String,
        _ uid: UInt32
    ) async throws(SensorFault) -> (String, EnrolledFingers.Entry, [EnrolledFingers.Entry]) {
        guard let user = try name(of: uid) else { throw .noTemplates }
        let list = try await enrolled(uid, user)
        guard let entry = list.first(where: { $0.id == id }) else { throw .noTemplates }
        return (user, entry, list)
    }

    private func delete(
        _ fingers: [Finger],
        _ uid: UInt32,
        _ user: String
    ) async throws(SensorFault) -> UInt32 {
        // Otherwise the call would wait until the running Verify or Enroll ends.
        guard !isOperating else { throw .busy }
        return try await erase(fingers, uid, user)
    }

    /// Deletes prints as soon as the reader can be claimed.
    func erase(
        _ fingers: [Finger],
        _ uid: UInt32,
        _ user: String,
        unless isCanceled: @BusActor () -> Bool = { false }
    ) async throws(SensorFault) -> UInt32 {
        var deleted: UInt32 = 0
        var former: EnrolledFingers?
        do throws(FprintFault) {
            let session = try await claimWhenFree(for: user, unless: isCanceled)
            defer { releaseClaim(session) }
            // Forget the list: SensorKit reports this sensor's own changes, and the claim keeps
            // other programs from making any.
            former = lists.removeValue(forKey: uid)
            for finger in fingers where !isCanceled() {
                do throws(FprintFault) {
                    try await session.delete(finger)
                    deleted += 1
                } catch {
                    guard error == .noPrints else { throw error }
                }
            }
        } catch {
            // Restore the list, so that the comparison reports deleted prints and later changes by
            // other programs.
            if lists[uid] == nil { lists[uid] = former }
            printsChanged()
            throw SensorFault(error)
        }
        await settle(within: Self.releasePatience)
        _ = try? await enrolled(uid, user)
        return deleted
    }
}
