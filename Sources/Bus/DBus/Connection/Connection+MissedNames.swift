/// A bus drops signals whose receiver's queue is full, `NameOwnerChanged` as well.
///
/// So nothing may rest on one alone: whoever decides something asks the bus before.
extension Connection {
    /// Of the watched names in use, so many are asked for.
    private static let mostOwners = 128

    /// Finds out what signals about names would have said that got lost, and does what they would
    /// have done: who is gone leaves, and watches are told of other owners.
    ///
    /// Those who want to know at the same time share the question.
    public func catchUpWithNames() async {
        await names.catchUps.share(true) { await self.askForNames() }
    }

    /// The bus itself says that nobody has the unique name that was called.
    func noteAbsence(of destination: String?, _ sender: String?, _ error: DBusError) {
        guard let destination, destination.hasPrefix(":"), sender == Self.driver,
            error.name == .serviceUnknown || error.name == .nameHasNoOwner
        else { return }
        left(destination)
    }

    /// A unique name has no owner, and never will again.
    func left(_ name: String) {
        peerLeft(name)
        callGuard?.left(name)
        endCalls(to: name)
    }

    /// Ends what was asked of who has left and is not answered any more.
    ///
    /// The bus says so itself, with a reason that counts, unless that gets lost: all that it has to
    /// say comes before the answer to one more question.
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

    /// Answers and signals come in the order in which the bus made them, so what is known when an
    /// answer arrives is at most as old as the answer.
    ///
    /// The names that are known are asked for behind it and not after its answer: on a busy bus
    /// each answer takes long.
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
        for name in directory.peers.keys where !present.contains(name) { left(name) }
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
                if watch.isPrefix { watch.told.insert(name) }
                watch.report(name, owner)
            }
        }
    }

    /// What is made of an answer of the bus, in the turn in which it arrives; nil: there is none.
    ///
    /// A bus whose queue to this side is full drops its own answers, so that it is asked again.
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
