import CFace
package import CameraDevice
import Crypto
import Linux

/// Finds and measures faces with the C++ unit and its models.
///
/// Not thread-safe.
package final class FaceEngine {
    // SAFETY: made by the C++ unit, owned by this object, and freed only in `deinit`.
    private let handle: OpaquePointer

    /// Makes an engine, faster if it gets the detector of an earlier run.
    ///
    /// - Parameters:
    ///   - models: The models.
    ///   - detector: The ``detector`` of an earlier engine.
    ///   - forAny: Use only instructions that every processor has. Results are equal but slower.
    /// - Throws: ``FaceFault/failed(_:)`` with the remedy.
    package init(
        models: FaceModels.Content,
        detector: [UInt8] = [],
        forAny: Bool = false
    ) throws(FaceFault) {
        // SAFETY: `made` is NULL or an engine that this object owns.
        var made: OpaquePointer?
        let result = cface_open(
            models.landmarks,
            models.landmarks.count,
            models.network.rawValue,
            detector,
            detector.count,
            forAny ? 1 : 0,
            &made
        )
        guard result == CFACE_OK.rawValue, let made else {
            switch cface_result(UInt32(bitPattern: result)) {
            case CFACE_NOT_BUILT: throw .failed(Self.notBuilt)
            case CFACE_BAD_MODEL: throw .failed("The face models are damaged.")
            default: throw .failed("The face engine can't be started: is there enough memory?")
            }
        }
        handle = made
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

    deinit { cface_close(handle) }

    /// The message of a build without the package's trait.
    package static let notBuilt =
        "This program was built without its face engine; build it with the package trait Face."

    package static var isBuilt: Bool { cface_is_built() != 0 }

    /// True if the engine runs at full speed, even in a debug build.
    package static var isOptimised: Bool { cface_is_optimised() != 0 }

    package var usedDetector: Bool { cface_used_detector(handle) != 0 }

    /// The serialized detector for the next run: loading it is 100 times faster than building it.
    package var detector: [UInt8] {
        let count = cface_detector(handle, nil, 0)
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            filled = cface_detector(handle, bytes.baseAddress, count) == count ? count : 0
        }
    }

    /// Analyses a frame; nil if it is no picture.
    package func look(_ frame: Frame) -> FrameFindings? {
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
            return cface_look(handle, &picture, FrameFindings.darknessLimit, 1, &seen)
        }
        return result == CFACE_OK.rawValue ? FrameFindings(seen) : nil
    }
}

extension FrameFindings {
    fileprivate init(_ seen: cface_sight) {
        self.init(
            brightness: seen.brightness,
            darkness: seen.darkness,
            glare: seen.glare,
            count: Int(seen.faces)
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
            x: (seen.left + seen.side / 2) / Float(seen.width),
            y: (seen.top + seen.side / 2) / Float(seen.height),
            size: seen.side / Float(seen.width),
            yaw: square > 0 ? (nose.x * axis.x + nose.y * axis.y) / square : 0,
            brightness: seen.face_brightness,
            eyes: seen.eyes
        )
    }
}
