/// Decodes terminal input into keys, so that cursor keys and escape sequences never become part of
/// a password.
struct KeyReader {
    enum Key: Equatable {
        /// A byte of a character.
        case byte(UInt8)
        case erase
        case eraseAll
        case enter
        case cancel
    }

    private enum State {
        case plain
        case escaped
        case sequence
    }

    private var state = State.plain

    mutating func key(_ byte: UInt8) -> Key? {
        if let key = control(byte) {
            state = .plain
            return key
        }
        switch state {
        case .plain where byte == 0x1B:
            state = .escaped
        case .plain where byte >= 0x20:
            return .byte(byte)
        case .plain:
            break
        case .escaped:
            // "[" and "O" begin a sequence. Any other byte is an Alt combination, which is ignored.
            state = byte == 0x5B || byte == 0x4F ? .sequence : .plain
        case .sequence:
            if (0x40...0x7E).contains(byte) { state = .plain }
        }
        return nil
    }

    private func control(_ byte: UInt8) -> Key? {
        switch byte {
        case 0x03, 0x04, 0x1C: .cancel
        case 0x08, 0x7F: .erase
        case 0x0A, 0x0D: .enter
        case 0x15: .eraseAll
        default: nil
        }
    }
}
