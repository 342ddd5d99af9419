internal import CPipeWire
package import CameraDevice
internal import Glibc

/// A connection to a system's PipeWire daemon, with a camera among its nodes.
///
/// Use it from a single thread at a time. No method waits: the caller polls ``descriptor`` and then
/// calls ``serve()``.
package final class PipeWireConnection {
    package enum CameraState: Hashable, Sendable {
        /// The daemon has not answered yet.
        case unknown
        case camera(CameraIdentity)
        case fault(CameraFault)
    }

    struct Stream {
        var isRunning = false
        var failure: String?
        /// The format of the next frames; nil for a format that cannot be decoded.
        var format: PixelFormat?
        var size = (width: 0, height: 0)
        var frame: Frame?
        var broken = 0
    }

    /// Readable when there is something to serve.
    package var descriptor: Int32 { cpipewire_descriptor(handle) }
    var stream = Stream()
    private(set) var node: UInt32?
    private let address: PipeWireAddress
    // SAFETY: owned by this object, and closed only in `deinit`.
    private var handle: OpaquePointer?
    fileprivate var graph = PipeWireGraph(own: geteuid())
    /// True after the daemon ended the connection; the caller has to open a new connection.
    package fileprivate(set) var hasEnded = false
    private var hasList = false
    /// Sequence numbers of the last request and of the last answer.
    private var asked: Int32 = -1
    fileprivate var answered: Int32?

    /// Connects to the daemon.
    ///
    /// The caller then waits for the answers.
    ///
    /// - Throws: ``CameraFault/disconnected`` without a daemon, ``CameraFault/untrusted(_:)`` if it
    ///   isn't the system's, or ``CameraFault/failed(_:)``.
    package init(_ address: PipeWireAddress) throws(CameraFault) {
        self.address = address
        let socket = try SystemSocket.connect(to: address.socket)
        // SAFETY: this object is the context of the C side, which `deinit` closes first.
        let context = Unmanaged.passUnretained(self).toOpaque()
        let result = withUnsafePointer(to: events) {
            cpipewire_open(socket, $0, context, &handle)
        }
        switch cpipewire_result(UInt32(bitPattern: result)) {
        case CPIPEWIRE_OK: break
        case CPIPEWIRE_NOT_BUILT:
            throw .failed("This program was built without PipeWire: the package trait Face is off.")
        case CPIPEWIRE_NOT_INSTALLED:
            throw .failed("PipeWire's library is missing: install libpipewire-0.3-modules.")
        default: throw .failed("PipeWire's library can't be started.")
        }
        asked = cpipewire_sync(handle)
    }

    deinit { cpipewire_close(handle) }

    /// Handles pending messages of the daemon and returns the camera's state.
    package func serve() -> CameraState {
        cpipewire_serve(handle)
        guard !hasEnded else { return .fault(.disconnected) }
        hasList = hasList || answered == asked
        guard hasList else { return .unknown }
        do throws(CameraFault) {
            let camera = try graph.camera(address.node)
            if camera != node {
                node = camera
                guard cpipewire_ask(handle, camera) == CPIPEWIRE_OK.rawValue else {
                    throw .failed("PipeWire's library can't be used.")
                }
                asked = cpipewire_sync(handle)
            }
            guard answered == asked else { return .unknown }
            // Check again: the daemon has reported all of the node's properties only now.
            _ = try graph.camera(address.node)
            let properties = graph.entries[camera]?.properties ?? [:]
            return .camera(try CameraIdentity(pipeWire: address.node, properties))
        } catch {
            node = nil
            return .fault(error)
        }
    }

    func start() throws(CameraFault) {
        guard let node,
            cpipewire_start(handle, node, Frame.maximumBytes) == CPIPEWIRE_OK.rawValue
        else { throw .failed("PipeWire gives no stream.") }
    }

    // MARK: What the C side tells

    fileprivate func see(_ format: Int32, _ size: (UInt32, UInt32)) {
        stream.format = Self.formats[format]
        stream.size = (Int(size.0), Int(size.1))
        // The kept frame has the previous format.
        stream.frame = nil
    }

    // SAFETY: the C side owns the bytes during this call; `Array` copies them.
    fileprivate func see(_ bytes: UnsafeBufferPointer<UInt8>?, _ stride: Int32) {
        guard let bytes, let format = stream.format else {
            stream.broken &+= 1
            return
        }
        if format == .mjpg {
            stream.frame = Frame(jpeg: Array(bytes))
            return
        }
        stream.frame = Frame(
            format: format,
            width: stream.size.width,
            height: stream.size.height,
            stride: Int(stride),
            bytes: Array(bytes)
        )
    }

    private static let formats: [Int32: PixelFormat] = [
        Int32(CPIPEWIRE_MJPG.rawValue): .mjpg, Int32(CPIPEWIRE_YUYV.rawValue): .yuyv,
        Int32(CPIPEWIRE_GREY.rawValue): .grey, Int32(CPIPEWIRE_NV12.rawValue): .nv12,
        Int32(CPIPEWIRE_I420.rawValue): .i420, Int32(CPIPEWIRE_RGB.rawValue): .rgb,
        Int32(CPIPEWIRE_BGR.rawValue): .bgr, Int32(CPIPEWIRE_RGBX.rawValue): .rgbx,
        Int32(CPIPEWIRE_BGRX.rawValue): .bgrx,
    ]
}

// SAFETY: the context is the connection, which closes the C side in its `deinit`.
private func connection(_ context: UnsafeMutableRawPointer?) -> PipeWireConnection? {
    context.map { Unmanaged<PipeWireConnection>.fromOpaque($0).takeUnretainedValue() }
}

private let events = cpipewire_events(
    object: { context, id, kind in
        let isClient = kind == Int32(CPIPEWIRE_CLIENT.rawValue)
        connection(context)?.graph.add(id, isClient: isClient)
    },
    property: { context, id, key, value in
        guard let key, let value else { return }
        connection(context)?.graph
            .set(String(cString: key), of: id, to: String(cString: value))
    },
    removed: { context, id in connection(context)?.graph.remove(id) },
    synchronized: { context, sequence in connection(context)?.answered = sequence },
    ended: { context in connection(context)?.hasEnded = true },
    failed: { context, message in
        connection(context)?.stream.failure = message.map { String(cString: $0) } ?? ""
    },
    streaming: { context in connection(context)?.stream.isRunning = true },
    format: { context, format, width, height in
        connection(context)?.see(format, (width, height))
    },
    picture: { context, bytes, count, stride in
        // SAFETY: the C side owns the bytes until this closure returns; `see` copies them.
        let picture = bytes.map { UnsafeBufferPointer(start: $0, count: count) }
        connection(context)?.see(picture, stride)
    }
)
