import CFace
package import CameraDevice
import Crypto
import Linux
import Synchronization

/// Finds and measures faces with the C++ unit and its models.
package final class FaceEngine: Sendable {
    private struct State: ~Copyable {
        // SAFETY: made by the C++ unit, owned by this value, and freed only in `deinit`.
        let handle: OpaquePointer
        /// The place of the face in the frame that ``FaceEngine/follow(_:)`` searched in full.
        var place: cface_place?
        /// When that frame was searched.
        var searched = ContinuousClock.now

        deinit { cface_close(handle) }
    }

    private let state: Mutex<State>

    /// Chooses the kernels of OpenBLAS for this processor, and a single thread.
    ///
    /// Call it at the start of a program: it sets environment variables.
    package static func chooseKernels() { cface_choose_kernels() }

    /// Makes an engine, faster if it gets the detector of an earlier run.
    ///
    /// - Parameters:
    ///   - models: The models.
    ///   - detector: The ``detector`` of an earlier engine.
    /// - Throws: ``FaceFault/failed(_:)`` with the remedy.
    package init(
        models: FaceModels.Content,
        detector: [UInt8] = []
    ) throws(FaceFault) {
        // SAFETY: `made` is NULL or an engine that this object owns.
        var made: OpaquePointer?
        let result = cface_open(
            models.landmarks,
            models.landmarks.count,
            models.network.rawValue,
            detector,
            detector.count,
            &made
        )
        guard result == CFACE_OK.rawValue, let made else {
            switch cface_result(UInt32(bitPattern: result)) {
            case CFACE_NOT_BUILT: throw .failed(Self.notBuilt)
            case CFACE_BAD_MODEL: throw .failed("The face models are damaged.")
            case CFACE_NO_BLAS: throw .failed("OpenBLAS is missing: install its library.")
            default: throw .failed("The face engine can't be started: is there enough memory?")
            }
        }
        state = Mutex(State(handle: made))
    }

    /// Makes an engine from the models of a folder.
    ///
    /// The state directory caches the detector with its digest, because dlib does not validate
    /// input.
    ///
    /// - Throws: ``FaceFault/failed(_:)`` with the remedy.
    package convenience init(models: FaceModels, state: String) throws(FaceFault) {
        let name = "detector.cache"
        let content = try models.load()
        // A missing or damaged cache only delays the start.
        let kept = try? PrivateDirectory(state).content(of: name, limit: 1 << 20)
        try self.init(models: content, detector: Self.unsealed(kept ?? []))
        guard !usedDetector else { return }
        let fresh = detector
        try? PrivateDirectory(state).replace(name, with: Array(SHA256.hash(data: fresh)) + fresh)
    }

    /// Returns the bytes after the digest, or nothing if they are damaged.
    private static func unsealed(_ kept: [UInt8]) -> [UInt8] {
        let detector = kept.dropFirst(SHA256.byteCount)
        let isWhole = kept.starts(with: SHA256.hash(data: detector))
        return isWhole && !detector.isEmpty ? Array(detector) : []
    }

    /// The message of a build without the package's trait.
    package static let notBuilt =
        "This program was built without its face engine; build it with the package trait Face."

    package static var isBuilt: Bool { cface_is_built() != 0 }

    /// True if the engine runs at full speed, even in a debug build.
    package static var isOptimised: Bool { cface_is_optimised() != 0 }

    package var usedDetector: Bool { state.withLock { cface_used_detector($0.handle) != 0 } }

    /// The serialized detector for the next run: loading it is 100 times faster than building it.
    package var detector: [UInt8] {
        state.withLock { state in
            let handle = state.handle
            let count = cface_detector(handle, nil, 0)
            return [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
                filled = cface_detector(handle, bytes.baseAddress, count) == count ? count : 0
            }
        }
    }

    /// Analyses a frame; nil if it is no picture.
    package func look(_ frame: Frame) -> FrameFindings? {
        state.withLock { Self.sight(of: frame, $0.handle, near: nil) }.map(FrameFindings.init)
    }

    /// Analyses the next frame of a camera; nil if it is no picture.
    ///
    /// After a frame that was searched in full and has a single face, only the face's surroundings
    /// are searched. A second face is therefore found at least in every other frame.
    package func follow(_ frame: Frame) -> FrameFindings? {
        state.withLock { state in
            // Another operation begins anew, maybe with another person.
            let now = ContinuousClock.now
            if now - state.searched > .milliseconds(500) { state.place = nil }
            state.searched = now
            guard let seen = Self.sight(of: frame, state.handle, near: state.place) else {
                return nil
            }
            state.place = seen.is_whole != 0 && seen.faces == 1 ? seen.place : nil
            return FrameFindings(seen)
        }
    }

    private static func sight(
        of frame: Frame,
        _ handle: OpaquePointer,
        near: cface_place?
    ) -> cface_sight? {
        let format: cface_format =
            switch frame.format {
            case .mjpg: CFACE_MJPG
            case .yuyv: CFACE_YUYV
            case .nv12: CFACE_NV12
            case .i420: CFACE_I420
            case .grey: CFACE_GREY
            case .rgb: CFACE_RGB
            case .bgr: CFACE_BGR
            case .rgbx: CFACE_RGBX
            case .bgrx: CFACE_BGRX
            }
        guard frame.bytes.count <= Frame.maximumBytes, let width = Int32(exactly: frame.width),
            let height = Int32(exactly: frame.height), let stride = Int32(exactly: frame.stride)
        else { return nil }
        var seen = cface_sight()
        let result = frame.bytes.withUnsafeBufferPointer { bytes in
            var picture = cface_frame(
                format: Int32(format.rawValue),
                width: width,
                height: height,
                stride: stride,
                bytes: bytes.baseAddress,
                count: bytes.count
            )
            let black = FrameFindings.blackLimit
            guard var near else { return cface_look(handle, &picture, black, nil, &seen) }
            return cface_look(handle, &picture, black, &near, &seen)
        }
        return result == CFACE_OK.rawValue ? seen : nil
    }
}

extension FrameFindings {
    fileprivate init(_ seen: cface_sight) {
        self.init(
            brightness: seen.brightness,
            darkness: seen.darkness,
            glare: seen.glare,
            count: Int(seen.faces),
            hasRival: seen.rival >= CFACE_RIVAL
        )
        guard seen.faces > 0, seen.width > 0, seen.height > 0 else { return }
        face = Face(seen)
        guard seen.has_numbers != 0 else { return }
        numbers = withUnsafeBytes(of: seen.numbers) { bytes in
            FaceDescriptor(Array(bytes.bindMemory(to: Float.self)))
        }
    }
}

extension FrameFindings.Face {
    fileprivate init(_ seen: cface_sight) {
        let points = withUnsafeBytes(of: seen.landmarks) { bytes in
            Array(bytes.bindMemory(to: Float.self))
        }
        // The outer corners of the eyes: points 0 on the right of the picture, points 4 on the
        // left.
        let axis = (x: points[0] - points[4], y: points[1] - points[5])
        let middle = (x: (points[0] + points[4]) / 2, y: (points[1] + points[5]) / 2)
        let nose = (x: points[8] - middle.x, y: points[9] - middle.y)
        let square = axis.x * axis.x + axis.y * axis.y
        self.init(
            x: (seen.place.left + seen.place.side / 2) / Float(seen.width),
            y: (seen.place.top + seen.place.side / 2) / Float(seen.height),
            size: seen.place.side / Float(seen.width),
            yaw: square > 0 ? (nose.x * axis.x + nose.y * axis.y) / square : 0,
            brightness: seen.face_brightness,
            eyes: seen.eyes
        )
    }
}
