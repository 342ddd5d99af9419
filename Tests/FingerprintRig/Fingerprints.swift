import Glibc
public import TestSupport

/// Images made by `scripts/make-fingerprints`: three fingers with two touches each.
public enum Fingerprints {
    /// Grey values with dark ridges.
    public struct Image: Sendable {
        public let width: Int
        public let height: Int
        /// Rows from top to bottom, a byte per pixel.
        public let pixels: [UInt8]
    }

    static var folder: String {
        "\(#filePath)".split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/Images"
    }

    /// Returns an image of finger 1, 2 or 3; `again` selects the second touch.
    public static func image(_ finger: Int, again: Bool = false) throws(TestFailure) -> Image {
        let path = "\(folder)/finger-\(finger)\(again ? "-again" : "").pgm"
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try expect(file >= 0, "\(path) to be there")
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        let count = read(file, &bytes, bytes.count)
        let lines = bytes.prefix(max(0, count)).split(separator: 10, maxSplits: 3)
        let size = lines.count == 4 ? lines[1].split(separator: 32).compactMap(Self.number) : []
        try expect(size.count == 2, "\(path) to be an image")
        let pixels = Array(bytes[(count - size[0] * size[1])..<count])
        return Image(width: size[0], height: size[1], pixels: pixels)
    }

    /// Returns an image that fprintd matches slowly: finger 1 repeated twelve times.
    ///
    /// The parts are so similar that fprintd compares them for about two seconds. Meanwhile fprintd
    /// answers no call.
    public static func slow() throws(TestFailure) -> Image {
        let part = try image(1)
        var row: [UInt8] = []
        for start in stride(from: 0, to: part.pixels.count, by: part.width) {
            let line = part.pixels[start..<(start + part.width)]
            row += Array(line) + line + line + line
        }
        return Image(width: 4 * part.width, height: 3 * part.height, pixels: row + row + row)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        Int(String(decoding: digits, as: UTF8.self))
    }
}
