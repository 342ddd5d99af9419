/// A call that was sent.
///
/// The call ends once: by its reply, its timeout, ``cancel()`` or the end of the connection.
@BusActor
public final class PendingCall {
    public let serial: UInt32
    /// The only accepted sender of the reply; nil accepts any.
    let destination: String?
    private var result: Result<Message, DBusError>?
    private var waiting: [UnsafeContinuation<Result<Message, DBusError>, Never>] = []
    private var completions: [@BusActor (Result<Message, DBusError>) -> Void] = []
    private var forget: (@BusActor (UInt32) -> Void)?
    var timer: EventSource?
    /// Whether the reply carries a secret.
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

    /// Whether the call has ended.
    var isOver: Bool { result != nil }

    /// Waits for the reply.
    ///
    /// Canceling the waiting task cancels the call.
    ///
    /// - Throws: The error that was answered; `NoReply` after the timeout or a cancellation;
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

    /// Stops waiting.
    ///
    /// A later reply is dropped, and the other side is not told.
    public func cancel() {
        finish(.failure(DBusError(.noReply, "The call was canceled.")))
    }

    /// Calls `body` in the turn in which the call ends.
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
