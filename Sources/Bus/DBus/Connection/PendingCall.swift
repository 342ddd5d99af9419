/// A call that was sent.
///
/// It ends once: by its reply, its timeout, ``cancel()`` or the connection.
@BusActor
public final class PendingCall {
    /// The serial of the call on this connection.
    public let serial: UInt32
    /// Only a reply from this sender counts; nil: from any.
    let destination: String?
    private var result: Result<Message, DBusError>?
    private var waiting: [UnsafeContinuation<Result<Message, DBusError>, Never>] = []
    private var completions: [@BusActor (Result<Message, DBusError>) -> Void] = []
    private var forget: (@BusActor (UInt32) -> Void)?
    var timer: EventSource?
    /// Whether its reply carries a secret.
    let isSensitive: Bool

    init(
        serial: UInt32,
        destination: String?,
        isSensitive: Bool,
        forget: @escaping @BusActor (UInt32) -> Void
    ) {
        self.serial = serial
        self.destination = destination
        self.isSensitive = isSensitive
        self.forget = forget
    }

    /// Whether it was answered, or nobody waits any more.
    var isOver: Bool { result != nil }

    /// Waits for the reply.
    ///
    /// Canceling the waiting task cancels the call.
    ///
    /// - Throws: the error that was answered; `NoReply` after the timeout or a cancellation;
    ///   `Disconnected`.
    public func reply() async throws(DBusError) -> Message {
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation {
                (continuation: UnsafeContinuation<Result<Message, DBusError>, Never>) in
                if let result = self.result {
                    continuation.resume(returning: result)
                } else {
                    waiting.append(continuation)
                }
            }
        } onCancel: {
            onLoop { self.cancel() }
        }
        return try result.get()
    }

    /// Stops waiting; a reply that comes later is dropped.
    ///
    /// The other side is not told.
    public func cancel() {
        finish(.failure(DBusError(.noReply, "The call was canceled.")))
    }

    /// Calls `body` in the same turn in which the call ends.
    package func onEnd(_ body: @escaping @BusActor (Result<Message, DBusError>) -> Void) {
        if let result = self.result {
            body(result)
        } else {
            completions.append(body)
        }
    }

    func finish(_ result: Result<Message, DBusError>) {
        guard self.result == nil else { return }
        self.result = result
        timer?.cancel()
        timer = nil
        forget?(serial)
        forget = nil
        let completions = completions
        self.completions = []
        for completion in completions {
            completion(result)
        }
        let waiting = waiting
        self.waiting = []
        for continuation in waiting {
            continuation.resume(returning: result)
        }
    }
}
