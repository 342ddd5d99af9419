package import DBus
package import LocalAuthBus

/// A running evaluation: progress events, then the verdict.
public final class AuthenticationEvaluation: Sendable {
    /// Starts the evaluation on the given context.
    package typealias Start =
        @BusActor @Sendable (Context1Proxy) async throws(AuthenticationError)
        -> StreamingCall<[String: Variant]>

    /// Progress events until the verdict; the buffer drops the oldest of more than 1024.
    public let events: AsyncStream<AuthenticationEvent>
    private typealias Verdict = Result<AuthenticationSuccess, AuthenticationError>
    private let task: Task<Verdict, Never>
    private let session: AuthenticationSession

    package init(
        _ session: AuthenticationSession,
        _ options: AuthenticationOptions,
        start: @escaping Start
    ) {
        self.session = session
        let (events, feed) = AsyncStream.makeStream(
            of: AuthenticationEvent.self,
            bufferingPolicy: .bufferingNewest(1024)
        )
        self.events = events
        task = Task(executorPreference: EventLoop.shared) {
            let result = await Self.end(of: session, options) {
                await Self.run(session, start, feed)
            }
            feed.finish()
            return result
        }
    }

    /// Awaits the verdict, with a guard against a hung service.
    ///
    /// A prompt may stay open without a limit. The service must answer pings if no prompt is
    /// allowed, and after the session was invalidated.
    @BusActor
    private static func end(
        of session: AuthenticationSession,
        _ options: AuthenticationOptions,
        _ body: @escaping @BusActor @Sendable () async -> Verdict
    ) async -> Verdict {
        let (context, outcome) = (session.context, Outcome<Verdict>())
        onLoop { outcome.settle(await body()) }
        var timers: [EventSource] = []
        if options.isInteractionNotAllowed {
            timers.append(context.connection.watch(outcome, orElse: .failure(.silent)))
        }
        let token = context.onInvalidation {
            timers.append(context.connection.watch(outcome, orElse: .failure(.invalidated)))
        }
        let verdict = await outcome.value
        context.forget(token)
        for timer in timers { timer.cancel() }
        return verdict
    }

    @BusActor
    private static func run(
        _ session: AuthenticationSession,
        _ start: Start,
        _ feed: AsyncStream<AuthenticationEvent>.Continuation
    ) async -> Verdict {
        do throws(AuthenticationError) {
            let call = try await start(try await session.context.current())
            for await event in call.events { feed.yield(AuthenticationEvent(event)) }
            return .success(try await verdict(of: call))
        } catch {
            return .failure(error)
        }
    }

    @BusActor
    private static func verdict(
        of call: StreamingCall<[String: Variant]>
    ) async throws(AuthenticationError) -> AuthenticationSuccess {
        do throws(DBusError) {
            return AuthenticationSuccess(try await call.reply())
        } catch {
            throw AuthenticationError(error)
        }
    }

    /// Calls `body` once on the loop after the verdict; nil means success.
    package func whenOver(_ body: @escaping @Sendable (AuthenticationError?) -> Void) {
        let task = task
        onLoop {
            switch await task.value {
            case .success: body(nil)
            case .failure(let error): body(error)
            }
        }
    }

    /// Waits for the verdict.
    ///
    /// Canceling the waiting task invalidates the session.
    ///
    /// - Throws: The reason why the user was not authenticated.
    public var value: AuthenticationSuccess {
        get async throws(AuthenticationError) {
            let result = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                session.invalidate()
            }
            return try result.get()
        }
    }
}
