import Crypto

/// A template as it is stored: magic number, camera and time in clear text, label and faces
/// encrypted.
///
/// Format 1 has no learned faces. Format 2, used after the first learned face, adds them and the
/// time of the last.
///
/// AES-GCM also authenticates the clear part, and the user and id, which the file does not contain.
struct TemplateRecord {
    var entry: TemplateStore.Entry
    let faces: [FaceDescriptor]
    /// Faces learned after the enrolment, the oldest first.
    var learned: [LearnedFace] = []
    /// Time of the last learned face, even if it was removed, in seconds since 1970; 0 for never.
    var lastLearned: Int64 = 0

    struct LearnedFace: Hashable {
        /// 32 hexadecimal digits.
        let id: String
        /// Seconds since 1970.
        let time: Int64
        let face: FaceDescriptor
    }

    private static let magic = Array("LAFACE01".utf8)
    private static let magicOfLearned = Array("LAFACE02".utf8)

    init(entry: TemplateStore.Entry, faces: [FaceDescriptor]) {
        self.entry = entry
        self.faces = faces
    }

    /// Returns nil if the content was changed, or sealed for another user, id or key.
    init?(_ content: [UInt8], id: String, user: UInt32, key: SymmetricKey) {
        var reader = ByteReader(content[...])
        guard let magic = reader.take(Self.magic.count),
            magic == Self.magic[...] || magic == Self.magicOfLearned[...],
            let created: UInt64 = reader.integer(),
            let length: UInt8 = reader.integer(),
            let camera = reader.take(Int(length)).flatMap({ Self.text($0) })
        else { return nil }
        let head = Array(content[..<reader.rest.startIndex])
        guard let box = try? AES.GCM.SealedBox(combined: reader.rest),
            let plain = try? AES.GCM.open(
                box,
                using: key,
                authenticating: Self.authenticated(head, id, user)
            )
        else { return nil }
        var inside = ByteReader([UInt8](plain)[...])
        guard let size: UInt16 = inside.integer(),
            let label = inside.take(Int(size)).flatMap({ Self.text($0) }),
            let count: UInt8 = inside.integer()
        else { return nil }
        var faces: [FaceDescriptor] = []
        for _ in 0..<count {
            guard let face = inside.face() else { return nil }
            faces.append(face)
        }
        if magic == Self.magicOfLearned[...] {
            guard let (last, learned) = inside.learned() else { return nil }
            (lastLearned, self.learned) = (last, learned)
        }
        guard inside.rest.isEmpty, !faces.isEmpty else { return nil }
        let created64 = Int64(bitPattern: created)
        entry = .init(id: id, label: label, created: created64, camera: camera)
        self.faces = faces
    }

    /// Returns the file's content, or nil if a value is out of range.
    func sealed(user: UInt32, key: SymmetricKey) -> [UInt8]? {
        guard let cameraLength = UInt8(exactly: entry.camera.utf8.count),
            let labelLength = UInt16(exactly: entry.label.utf8.count),
            let count = UInt8(exactly: faces.count), learned.count <= Learning.maximum
        else { return nil }
        var head = lastLearned == 0 ? Self.magic : Self.magicOfLearned
        head.append(integer: UInt64(bitPattern: entry.created))
        head.append(cameraLength)
        head += entry.camera.utf8
        var plain: [UInt8] = []
        plain.append(integer: labelLength)
        plain += entry.label.utf8
        plain.append(count)
        for value in faces.flatMap(\.values) { plain.append(integer: value.bitPattern) }
        if lastLearned != 0 {
            plain.append(integer: UInt64(bitPattern: lastLearned))
            plain.append(UInt8(clamping: learned.count))
            for one in learned {
                plain += one.id.utf8
                plain.append(integer: UInt64(bitPattern: one.time))
                for value in one.face.values { plain.append(integer: value.bitPattern) }
            }
        }
        let box = try? AES.GCM.seal(
            plain,
            using: key,
            authenticating: Self.authenticated(head, entry.id, user)
        )
        return box?.combined.map { head + $0 }
    }

    static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    /// Encodes the authenticated data without ambiguity: each part has a fixed length or a length
    /// prefix.
    static func authenticated(_ head: [UInt8], _ id: String, _ user: UInt32) -> [UInt8] {
        var bytes = head
        bytes.append(integer: user)
        return bytes + id.utf8
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        String(validating: bytes, as: UTF8.self)
    }
}

/// Reads from the front of bytes; returns nil if too few are left.
private struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Little-endian.
    mutating func integer<Number: FixedWidthInteger & UnsignedInteger>() -> Number? {
        take(Number.bitWidth / 8)?.reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    /// Reads the time of the last learned face and the learned faces; nil if they are malformed.
    mutating func learned() -> (last: Int64, faces: [TemplateRecord.LearnedFace])? {
        guard let last = time(), last > 0, let count: UInt8 = integer() else { return nil }
        var faces: [TemplateRecord.LearnedFace] = []
        for _ in 0..<count {
            guard let id = take(32).flatMap({ String(validating: $0, as: UTF8.self) }),
                TemplateStore.isIdentifier(id), let time = time(), let face = face()
            else { return nil }
            faces.append(.init(id: id, time: time, face: face))
        }
        return (last, faces)
    }

    private mutating func time() -> Int64? {
        let bits: UInt64? = integer()
        return bits.flatMap { Int64(exactly: $0) }
    }

    mutating func face() -> FaceDescriptor? {
        var values: [Float] = []
        for _ in 0..<FaceDescriptor.count {
            guard let bits: UInt32 = integer() else { return nil }
            values.append(Float(bitPattern: bits))
        }
        return FaceDescriptor(values)
    }
}

extension [UInt8] {
    /// Little-endian.
    fileprivate mutating func append(integer: some FixedWidthInteger) {
        for shift in stride(from: 0, to: integer.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: integer >> shift))
        }
    }
}
