/// The number of terminal columns of a text: Chinese characters take two, combining marks none.
public func columns(of text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + columns(of: $1) }
}

/// Pads a text with spaces to a number of columns.
public func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - columns(of: text)))
}

/// Wraps a text to lines of at most `width` columns.
///
/// Lines break between words and beside wide characters; a word longer than a line breaks at the
/// line's end. Later lines begin with `indent` spaces.
public func wrapped(_ text: String, to width: Int, indent: Int = 0) -> String {
    guard columns(of: text) > width else { return text }
    let room = max(1, width - indent)
    var lines: [String] = []
    var (row, used) = ("", 0)
    var limit: Int { lines.isEmpty ? max(1, width) : room }
    func end() {
        lines.append(trimmed(row))
        (row, used) = ("", 0)
    }
    func add(_ text: String) {
        row += text
        used += columns(of: text)
    }
    for piece in pieces(of: text) {
        let size = columns(of: trimmed(piece))
        if used > 0, used + size > limit { end() }
        guard size > limit else {
            add(piece)
            continue
        }
        for character in piece.map(String.init) {
            if used > 0, used + columns(of: character) > limit, character != " " { end() }
            add(character)
        }
    }
    end()
    return lines.joined(separator: "\n" + String(repeating: " ", count: min(indent, width)))
}

/// Splits a line at its break points: after spaces and after wide characters.
private func pieces(of line: String) -> [String] {
    var pieces: [String] = [""]
    var last: Character = "a"
    for character in line {
        let isWide = { (of: Character) in of.unicodeScalars.contains { columns(of: $0) == 2 } }
        let isPoint = "，。：；！？、）”"
        if last == " " && character != " " || isWide(last) && !isPoint.contains(character)
            || isWide(character) && !isPoint.contains(character) && last != "“"
        {
            pieces.append("")
        }
        pieces[pieces.count - 1].append(character)
        last = character
    }
    return pieces
}

private func trimmed(_ text: String) -> String {
    var text = text
    while text.last == " " { text.removeLast() }
    return text
}

private func columns(of scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    return isWide(scalar.value) ? 2 : 1
}

/// Unicode's East Asian Width W and F, by blocks on which terminals agree.
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
