import Foundation
import Glibc
import TestSupport
import Testing

@testable import AgentKit

@Suite struct SecretLineTests {
    private func contents(_ line: borrowing SecretLine) -> [UInt8] {
        line.withBytes { span in
            (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
        }
    }

    private func type(_ text: String, into line: inout SecretLine) {
        for byte in text.utf8 { _ = line.append(byte) }
    }

    @Test("Backspace removes a whole character with all its bytes")
    func eraseCharacter() throws {
        var line = try SecretLine()
        type("a€", into: &line)
        line.eraseCharacter()
        let typed = contents(line)
        #expect(typed == Array("a".utf8))
        line.eraseCharacter()
        line.eraseCharacter()
        let isEmpty = line.isEmpty
        #expect(isEmpty)
    }

    @Test("Stray continuation bytes are erased without a trap")
    func eraseContinuations() throws {
        var line = try SecretLine()
        _ = line.append(0x80)
        _ = line.append(0x80)
        line.eraseCharacter()
        let isEmpty = line.isEmpty
        #expect(isEmpty)
    }

    @Test("A full line takes no more bytes")
    func capacity() throws {
        var line = try SecretLine()
        for _ in 0..<SecretLine.longestPasscode { _ = line.append(0x61) }
        let takesMore = line.append(0x61)
        #expect(!takesMore)
        let count = line.count
        #expect(count == SecretLine.longestPasscode)
    }

    @Test("Bytes can be inserted and removed anywhere, and none remain behind the end")
    func editing() throws {
        var line = try SecretLine()
        type("ad", into: &line)
        let isTaken = Array("bc".utf8).withUnsafeBytes { line.insert($0, at: 1) }
        #expect(isTaken)
        let whole = String(cString: line.cString)
        #expect(whole == "abcd")
        line.remove(1..<3)
        let rest = contents(line)
        #expect(rest == Array("ad".utf8))
        let behind = (0..<6).map { line.cString[$0] }
        #expect(behind == [0x61, 0x64, 0, 0, 0, 0])
        let isOutside = Array("x".utf8).withUnsafeBytes { line.insert($0, at: 3) }
        let long = [UInt8](repeating: 0x61, count: SecretLine.longestPasscode)
        let isTooLong = long.withUnsafeBytes { line.insert($0, at: 0) }
        #expect(!isOutside && !isTooLong)
        let count = line.count
        #expect(count == 2)
    }

    @Test("Wiping leaves no bytes")
    func wipe() throws {
        var line = try SecretLine()
        type("secret", into: &line)
        line.wipe()
        let typed = contents(line)
        #expect(typed.isEmpty)
        let page = (0..<SecretLine.longestPasscode).map { line.cString[$0] }
        #expect(page.allSatisfy { $0 == 0 })
    }

    @Test("Backspace leaves no byte of the character")
    func erasedBytes() throws {
        var line = try SecretLine()
        type("a€", into: &line)
        line.eraseCharacter()
        let page = (0..<4).map { line.cString[$0] }
        #expect(page == [0x61, 0, 0, 0])
    }

    @Test("The page is never swapped nor dumped, and is empty in a forked child")
    func page() throws {
        let line = try SecretLine()
        let flags = try Self.flags(of: UInt(bitPattern: line.cString))
        // The kernel's flags for locked, don't dump and wipe on fork. Under a sanitizer, mlock has
        // no effect.
        let wanted = isSanitized ? ["dd", "wf"] : ["lo", "dd", "wf"]
        for flag in wanted { #expect(flags.contains(flag), "\(flag): \(flags)") }
        // Use the line here, so that it lives until this point.
        let isEmpty = line.isEmpty
        #expect(isEmpty)
    }

    private static func flags(of address: UInt) throws -> [String] {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        // Read to the end, because files in /proc have no size.
        let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        var isThere = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2 { isThere = (ends[0]..<ends[1]).contains(address) }
            if isThere, words[0] == "VmFlags:" { return Array(words.dropFirst()) }
        }
        Issue.record("The memory is not there.")
        return []
    }

    @Test("Input is handed out byte by byte until the callback stops it")
    func read() throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        #expect(write(ends[1], "ab\ncd", 5) == 5)
        var line = try SecretLine()
        let size = line.read(from: ends[0]) { line, byte in byte != 0x0A && line.append(byte) }
        #expect(size == 5)
        let typed = contents(line)
        #expect(typed == Array("ab".utf8))
    }

    @Test("The process cannot be dumped once a line exists")
    func undumpable() throws {
        let line = try SecretLine()
        let isEmpty = line.isEmpty
        #expect(isEmpty)
        typealias Prctl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        let getDumpable: Int32 = 3
        let prctl = unsafeBitCast(try #require(dlsym(nil, "prctl")), to: Prctl.self)
        #expect(prctl(getDumpable, 0, 0, 0, 0) == 0)
    }
}
