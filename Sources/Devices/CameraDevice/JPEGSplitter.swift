/// Splits a stream of concatenated JPEG pictures.
///
/// The splitter follows segment lengths, so the end of an embedded thumbnail does not end the
/// picture. Bytes that are not JPEG are skipped.
struct JPEGSplitter {
    private var bytes: [UInt8] = []
    private var start = 0
    /// Offset of the first byte that is not parsed yet.
    private var position = 0
    private var place = Place.outside

    private enum Place {
        case outside
        case segments
        case scan
    }

    mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

    mutating func reset() { self = JPEGSplitter() }

    /// Returns the next whole picture, or nil if more bytes are needed.
    mutating func next() -> [UInt8]? {
        while true {
            switch place {
            case .outside: guard findBeginning() else { return nil }
            case .segments: guard passSegment() else { return limited() }
            case .scan:
                guard let isEnd = passScan() else { return limited() }
                if isEnd { return take() }
            }
        }
    }

    private mutating func findBeginning() -> Bool {
        while position + 1 < bytes.count {
            if bytes[position] == 0xFF, bytes[position + 1] == 0xD8 {
                start = position
                position += 2
                place = .segments
                return true
            }
            position += 1
        }
        bytes.removeFirst(position)
        position = 0
        return false
    }

    /// Skips a segment; false if it is incomplete.
    private mutating func passSegment() -> Bool {
        guard position + 4 <= bytes.count else { return false }
        guard bytes[position] == 0xFF else {
            place = .outside
            return true
        }
        let marker = bytes[position + 1]
        let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
        guard length >= 2, marker != 0xD8, marker != 0xD9 else {
            // A picture begins inside another picture, which is therefore incomplete.
            if marker != 0xD8 { position += 2 }
            place = .outside
            return true
        }
        guard position + 2 + length <= bytes.count else { return false }
        position += 2 + length
        if marker == 0xDA { place = .scan }
        return true
    }

    /// Skips compressed data; true at the picture's end, nil if more bytes are needed.
    private mutating func passScan() -> Bool? {
        while position + 1 < bytes.count {
            guard bytes[position] == 0xFF else {
                position += 1
                continue
            }
            switch bytes[position + 1] {
            // An escaped data byte FF, or a restart marker.
            case 0x00, 0xFF, 0xD0...0xD7: position += bytes[position + 1] == 0xFF ? 1 : 2
            case 0xD9:
                position += 2
                return true
            default:
                place = .segments
                return false
            }
        }
        return nil
    }

    private mutating func take() -> [UInt8] {
        defer {
            bytes.removeFirst(position)
            position = 0
            start = 0
            place = .outside
        }
        return Array(bytes[start..<position])
    }

    /// Drops a picture without an end, so that it cannot grow without bound.
    private mutating func limited() -> [UInt8]? {
        if bytes.count - start > Frame.maximumBytes { reset() }
        return nil
    }
}
