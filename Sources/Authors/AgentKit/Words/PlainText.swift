/// Strips everything that could move the cursor, change the text direction or fake a line.
///
/// Control characters and line separators become spaces, bidirectional controls vanish. The result
/// is cut after `limit` Unicode scalars, because one character can hide any number of scalars.
public func plainText(_ text: String, limit: Int) -> String {
    var plain = String.UnicodeScalarView()
    var count = 0
    for scalar in text.unicodeScalars where count < limit {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator:
            plain.append(" ")
        case .format where isDirectional(scalar):
            continue
        default:
            plain.append(scalar)
        }
        count += 1
    }
    return String(plain)
}

private func isDirectional(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
}
