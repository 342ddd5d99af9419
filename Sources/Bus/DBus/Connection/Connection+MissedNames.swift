/// Recovery from lost `NameOwnerChanged` signals.
///
/// A bus drops signals to a receiver with a full queue. Code that decides by a name's owner must
/// ask the bus first.
extension Connection {
    /// The most watched names asked for in one catch-up.
    private static let mostOwners = 128

    /// Asks the bus for all names, and applies each change that a lost signal would have reported.
    ///
    /// Absent peers leave, and watches report new owners. Concurrent callers share one query.
    public func refreshNames() async {
        await names.catchUps.share(true) { await self.askForNames() }
    }

    /// Handles the bus's own answer that a called unique name has no owner.
    func noteAbsence(of destination: String?, _ sender: String?, _ error: DBusError) {
        guard let destination, destination.hasPrefix(":"), sender == Self.driver,
            error.name == .serviceUnknown || error.name == .nameHasNoOwner
        else { return }
        nameVanished(destination)
    }

    /// Handles that a unique name has no owner.
    ///
    /// A unique name never gets another.
    func nameVanished(_ name: String) {
        peerLeft(name)
        callGuard?.nameVanished(name)
        endCalls(to: name)
    }

    /// Ends unanswered calls to a name without an owner.
    ///
    /// The bus reports such calls itself, with the true cause, unless the report gets lost. All of
    /// the bus's reports precede its answer to one more query, so the calls end with that answer.
    private func endCalls(to name: String) {
        let calls = outgoing.pending.values.filter { $0.destination == name }
        guard !calls.isEmpty else { return }
        let end = { @BusActor in
            for call in calls.sorted(by: { $0.serial < $1.serial }) {
                call.finish(.failure(DBusError(.noReply, "'\(name)' has left.")))
            }
        }
        guard let question = try? askBus("GetId", timeout: .seconds(2)) else { return end() }
        question.onEnd { _ in end() }
    }

    /// Asks the bus for all names and for the owners of the watched names.
    ///
    /// Answers and signals arrive in the order in which the bus made them, so this side's state is
    /// never older than the last answer. The queries for known names do not wait for the list,
    /// because each answer of a busy bus takes long.
    private func askForNames() async {
        var present: [String] = []
        let list = onLoop {
            let watched = await self.answer { () throws(DBusError) in
                try self.askBus("ListNames", timeout: .seconds(2))
            } use: { [weak self] message -> [String] in
                guard let self, let present = try? Self.strings(in: message) else { return [] }
                forgetMissing(Set(present))
                return present.filter { name in self.names.watches.contains { $0.covers(name) } }
            }
            present = watched ?? []
        }
        let known = Set(names.watches.flatMap { $0.isStarted ? Array($0.owners.keys) : [] })
        let first = known.sorted().prefix(Self.mostOwners)
        var questions = first.map { name in onLoop { await self.askForOwner(name) } }
        await list.value
        let others = present.filter { !first.contains($0) }.prefix(Self.mostOwners - first.count)
        questions += others.map { name in onLoop { await self.askForOwner(name) } }
        for question in questions { await question.value }
    }

    private func forgetMissing(_ present: Set<String>) {
        for name in directory.peers.keys where !present.contains(name) { nameVanished(name) }
        for watch in names.watches where watch.isStarted {
            for name in watch.owners.keys where !present.contains(name) && !watch.isOver {
                watch.report(name, nil)
            }
        }
    }

    private func askForOwner(_ name: String) async {
        _ = await answer { () throws(DBusError) in
            try self.askWhoOwns(name)
        } use: { [weak self] message in
            guard let self, let owner = try? Self.owner(in: message) else { return }
            for watch in names.watches
            where watch.isStarted && watch.covers(name) && watch.owners[name] != owner {
                guard !watch.isOver else { continue }
                if watch.isPrefix { watch.reportedNames.insert(name) }
                watch.report(name, owner)
            }
        }
    }

    /// Returns `body`'s result, run in the turn in which the bus answers; nil without an answer.
    ///
    /// A bus drops its own answers to a receiver with a full queue, so the query is repeated.
    private func answer<Value: Sendable>(
        _ ask: () throws(DBusError) -> PendingCall,
        use body: @escaping @BusActor (Message) -> Value
    ) async -> Value? {
        for _ in 0..<10 {
            guard isOpen, let call = try? ask() else { return nil }
            let (answer, isLost): (Value?, Bool) = await withUnsafeContinuation { continuation in
                call.onEnd { reply in
                    var isLost = false
                    if case .failure(let error) = reply { isLost = error.name == .noReply }
                    continuation.resume(returning: ((try? reply.get()).map(body), isLost))
                }
            }
            guard isLost else { return answer }
        }
        return nil
    }
}
