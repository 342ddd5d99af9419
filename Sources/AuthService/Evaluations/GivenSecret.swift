import DBus
import Glibc
import KeychainStore
import Linux

/// A secret that an app hands over: whole, or still on its way through a pipe.
///
/// A pipe is for languages that can't make a memfd. Whoever monitors a bus gets a copy of its
/// reading end, so that it is refused where the bus is the system's.
@BusActor
enum GivenSecret {
    case whole(SecretBytes)
    case piped(SecretPipe)

    /// - Throws: InvalidArgs for what is neither sealed memory nor, off the system bus, the reading
    ///   end of a pipe; LimitsExceeded over 64 KiB.
    init(_ descriptor: OwnedDescriptor, of call: IncomingCall) throws(DBusError) {
        guard SecretPipe.isPipe(descriptor) else {
            let secret = try SecretBytes(sealed: descriptor)
            call.hold(secret.count)
            self = .whole(secret)
            return
        }
        guard !call.peer.isOnSystemBus else { throw SecretPipe.refused }
        // What it may become counts for its user from the first byte on.
        call.hold(KeychainStore.secretLimit)
        self = .piped(try SecretPipe(descriptor, from: call.peer))
    }

    /// All of it, for which a pipe is waited for.
    func bytes() async throws(DBusError) -> SecretBytes {
        switch self {
        case .whole(let secret): secret
        case .piped(let pipe): try await pipe.bytes()
        }
    }
}

/// The reading end of an app's pipe, read until it ends.
///
/// The loop never waits for it: what arrives is read when it has arrived. Who leaves it open loses
/// its call after some seconds, who sends more than a secret may have at once.
@BusActor
final class SecretPipe {
    /// How long it may take to end.
    static let patience = Duration.seconds(5)
    /// Linux's flag of descriptors that only name a file, which Swift doesn't see.
    private static let pathOnly: Int32 = 0o10000000

    /// What was passed; it counts among its user's descriptors for as long as it is kept.
    private let passed: OwnedDescriptor
    /// The same pipe, opened anew: no other process can make its reads wait.
    private let pipe: OwnedDescriptor
    private let peer: Peer
    private var buffer: [UInt8] = []
    private var count = 0
    private var sources: [EventSource] = []
    private var ended: UnsafeContinuation<Result<SecretBytes, DBusError>, Never>?

    /// - Throws: InvalidArgs when it can't be read from.
    fileprivate init(_ descriptor: OwnedDescriptor, from peer: Peer) throws(DBusError) {
        let flags = fcntl(descriptor.rawValue, F_GETFL)
        guard flags >= 0, flags & (O_ACCMODE | Self.pathOnly) == O_RDONLY else {
            throw .invalid("the secret's descriptor is not the reading end of its pipe")
        }
        let path = Self.path(descriptor)
        guard let pipe = OwnedDescriptor.open(path, O_RDONLY | O_NONBLOCK) else {
            throw .invalid("the secret's pipe can't be read")
        }
        (passed, self.pipe, self.peer) = (descriptor, pipe, peer)
    }

    /// Whether it is a pipe without a name; one with a name is a file of whoever serves its folder,
    /// and to open that may wait.
    fileprivate static func isPipe(_ descriptor: OwnedDescriptor) -> Bool {
        var target = [UInt8](repeating: 0, count: 6)
        let length = readlink(path(descriptor), &target, target.count)
        return length == target.count && target.elementsEqual("pipe:[".utf8)
    }

    private static func path(_ descriptor: OwnedDescriptor) -> String {
        "/proc/self/fd/\(descriptor.rawValue)"
    }

    /// What came until its end.
    ///
    /// - Throws: InvalidArgs when it doesn't end; LimitsExceeded over 64 KiB.
    fileprivate func bytes() async throws(DBusError) -> SecretBytes {
        // Its full size from the start: an array that grows leaves copies of the secret behind.
        buffer = [UInt8](repeating: 0, count: KeychainStore.secretLimit + 1)
        let result = await withUnsafeContinuation { continuation in
            ended = continuation
            read()
            guard ended != nil else { return }
            sources = [
                EventLoop.shared.watch(descriptor: pipe.rawValue) { self.read() },
                EventLoop.shared.schedule(after: Self.patience) { self.end(Self.unfinished) },
                peer.onLeave { self.end(Self.left) },
            ]
        }
        return try result.get()
    }

    private func read() {
        while count < buffer.count {
            let got = buffer.withUnsafeMutableBytes { bytes in
                Glibc.read(pipe.rawValue, bytes.baseAddress.map { $0 + count }, bytes.count - count)
            }
            if got > 0 {
                count += got
            } else if got == 0 {
                return end(nil)
            } else if errno != EINTR {
                if errno != EAGAIN { end(.invalid("the secret's pipe can't be read")) }
                return
            }
        }
        end(.exceeded("the secret is over 64 KiB"))
    }

    private func end(_ failure: DBusError?) {
        guard let ended else { return }
        self.ended = nil
        for source in sources { source.cancel() }
        sources = []
        let secret = failure == nil ? SecretBytes(Array(buffer[..<count])) : nil
        buffer.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
        }
        buffer = []
        if let secret {
            ended.resume(returning: .success(secret))
        } else {
            ended.resume(returning: .failure(failure ?? Self.unfinished))
        }
    }

    fileprivate static let refused = DBusError.invalid(
        "on the system bus a secret comes in a sealed memfd, and in no pipe; "
            + "localauthctl keychain add --secret-file - takes a pipe"
    )
    private static let unfinished = DBusError.invalid(
        "the secret's pipe didn't end within 5 s: close every writing end"
    )
    private static let left = DBusError.invalid("the caller left")
}
