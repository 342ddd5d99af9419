import DBus
import Fingerprint
import SensorKit

extension FingerprintSensor {
    /// Time for a listing; the daemon gives up after two seconds.
    static let listPatience = Duration.milliseconds(1500)
    static let mostUsers = 1024

    /// A user's fingers: the cached list while the print files are unchanged, else from fprintd.
    func enrolled(
        _ uid: UInt32,
        _ user: String
    ) async throws(SensorFault) -> [EnrolledFingers.Entry] {
        let store = readers.prints
        let prints = store.prints(of: user)
        if let known = lists[uid], known.isComplete, known.prints == prints { return known.entries }
        let fingers = try await ask(user)
        let now = store.prints(of: user)
        let list = EnrolledFingers(
            fingers,
            prints: now,
            // fprintd may have missed a file written during the call.
            isCurrent: now == prints,
            in: store,
            user: user,
            stamps: readers.labels.identifiers(uid: uid, sensor: name)
        ) { finger, print, modified, stamp in
            readers.known.identifier(
                of: finger,
                uid: uid,
                sensor: name,
                print: print,
                modified: modified,
                stamp: stamp,
                now: EnrolledFingers.now
            )
        }
        readers.known.keep(only: fingers, uid: uid, sensor: name)
        readers.writeKnown()
        let isOther = lists[uid].map { $0.entries.map(\.id) != list.entries.map(\.id) } ?? false
        if isOther || now != prints { host.templatesChanged(of: uid) }
        if lists.count >= Self.mostUsers { lists = [:] }
        lists[uid] = list
        readers.watchPrints(of: user)
        return list.entries
    }

    /// Reports the users whose print files have changed.
    func printsChanged() {
        for (uid, list) in lists where list.prints != nil {
            guard let user = try? Account.name(of: uid) else { continue }
            guard readers.prints.prints(of: user) != list.prints else { continue }
            lists[uid] = nil
            host.templatesChanged(of: uid)
        }
    }

    /// The template that matched; the user's first if fprintd does not name the finger.
    ///
    /// - Throws: When fprintd names a finger that it does not list.
    func template(
        of finger: Finger?,
        _ uid: UInt32,
        _ user: String,
        _ list: [EnrolledFingers.Entry]
    ) throws(SensorFault) -> String {
        var list = list
        if let known = lists[uid], known.isComplete {
            // Prefer the current list: its ids are the valid ids.
            list = known.entries
        }
        guard let entry = list.first(where: { finger == nil || $0.finger == finger }) else {
            throw .failed("fprintd matched a finger that it does not list.")
        }
        return entry.id
    }

    /// Lists fingers with a deadline, because fprintd does not answer for seconds during a match.
    private func ask(_ user: String) async throws(SensorFault) -> [Finger] {
        guard properties.isPresent, let key else { throw .disconnected }
        var answer: Result<[Finger], FprintFault>?
        onLoop {
            do throws(FprintFault) {
                let (owner, reader) = try await self.readers.directory.locate(key)
                answer = .success(
                    try await FprintSession.fingers(of: user, on: reader, owner: owner)
                )
            } catch {
                answer = .failure(error)
            }
            self.changes.notifyAll()
        }
        guard await changes.wait(atMost: Self.listPatience, until: { answer != nil }), let answer
        else {
            throw .inUse("fprintd is busy.")
        }
        do throws(FprintFault) {
            return try answer.get()
        } catch {
            throw SensorFault(error)
        }
    }
}
