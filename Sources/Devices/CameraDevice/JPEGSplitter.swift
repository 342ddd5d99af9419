/// Cuts a stream of JPEG pictures, one after another, into pictures.
///
/// It follows the lengths of the segments, so that the end of an embedded picture isn't taken for
/// its own; bytes that aren't JPEG are skipped.
struct JPEGSplitter {
    private var bytes: [UInt8] = []
    /// Where the picture begins.
    private var start = 0
    /// How far it has been read.
    private var position = 0
    private var place = Place.outside

    private enum Place {
        case outside
        case segments
        case scan
    }

    /// Takes more of the stream.
    mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

    /// Forgets what has come.
    mutating func reset() { self = JPEGSplitter() }

    /// The next whole picture; nil: more bytes are needed.
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

    /// Passes one segment; false: it is not there yet.
    private mutating func passSegment() -> Bool {
        guard position + 4 <= bytes.count else { return false }
        guard bytes[position] == 0xFF else {
            place = .outside
            return true
        }
        let marker = bytes[position + 1]
        let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
        guard length >= 2, marker != 0xD8, marker != 0xD9 else {
            // A picture begins inside another one, which was therefore cut off.
            if marker != 0xD8 { position += 2 }
            place = .outside
            return true
        }
        guard position + 2 + length <= bytes.count else { return false }
        position += 2 + length
        if marker == 0xDA { place = .scan }
        return true
    }

    /// Passes compressed data; true: the picture ends; nil: there is no end yet.
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

    /// A picture without an end must not grow without bound.
    private mutating func limited() -> [UInt8]? {
        if bytes.count - start > Frame.maximumBytes { reset() }
        return nil
    }
}
