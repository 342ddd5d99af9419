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

    @Test("Backspace takes a whole character, however many bytes it has")
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

    @Test("A full line takes no more")
    func capacity() throws {
        var line = try SecretLine()
        for _ in 0..<SecretLine.longestPasscode { _ = line.append(0x61) }
        let takesMore = line.append(0x61)
        #expect(!takesMore)
        let count = line.count
        #expect(count == SecretLine.longestPasscode)
    }

    @Test("Bytes go in and out in the middle, and nothing stays behind the end")
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

    @Test("Wiping leaves nothing")
    func wipe() throws {
        var line = try SecretLine()
        type("secret", into: &line)
        line.wipe()
        let typed = contents(line)
        #expect(typed.isEmpty)
        let page = (0..<SecretLine.longestPasscode).map { line.cString[$0] }
        #expect(page.allSatisfy { $0 == 0 })
    }

    @Test("What backspace takes away is not left behind")
    func erasedBytes() throws {
        var line = try SecretLine()
        type("a€", into: &line)
        line.eraseCharacter()
        let page = (0..<4).map { line.cString[$0] }
        #expect(page == [0x61, 0, 0, 0])
    }

    @Test("The page is not swapped, in no core file, and empty in a forked child")
    func page() throws {
        let line = try SecretLine()
        let flags = try Self.flags(of: UInt(bitPattern: line.cString))
        // As the kernel shows them: locked, don't dump, wipe on fork. A sanitizer locks nothing.
        let wanted = isSanitized ? ["dd", "wf"] : ["lo", "dd", "wf"]
        for flag in wanted { #expect(flags.contains(flag), "\(flag): \(flags)") }
        // It has been there until now.
        let isEmpty = line.isEmpty
        #expect(isEmpty)
    }

    /// The flags of the memory at an address.
    private static func flags(of address: UInt) throws -> [String] {
        let file = try #require(FileHandle(forReadingAtPath: "/proc/self/smaps"))
        // Comes in pieces; the size of such a file says nothing.
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

    @Test("What is read comes byte by byte, and stops when told")
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

    @Test("The process can't be dumped once a line is there")
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
