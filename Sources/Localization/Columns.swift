/// How many terminal columns a text takes: Chinese characters take two, combining marks none.
public func columns(of text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
}

/// The text, filled up with spaces to a number of columns.
public func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - columns(of: text)))
}

private func columns(of scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    return isWide(scalar.value) ? 2 : 1
}

/// Unicode's East Asian Width W and F, by blocks: terminals agree on these.
private func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
        0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD:
        true
    default: false
    }
}
