import CFuzz
import DBus
import Glibc
import Linux

guard let target = Target.chosen else {
    print("usage: fuzzers \(Target.all.keys.sorted().joined(separator: "|")) FILE...")
    exit(64)
}
// This thread serves the bus.
EventLoop.shared.run {
    #if FUZZER
    // The words after the target's name are libFuzzer's.
    var words =
        Array(CommandLine.arguments.enumerated())
        .filter { $0.offset != 1 }.map { strdup($0.element) } + [nil]
    var count = CInt(words.count - 1)
    words.withUnsafeMutableBufferPointer { words in
        var start = words.baseAddress
        exit(LLVMFuzzerRunDriver(&count, &start) { Target.run($0, $1) })
    }
    #else
    for file in CommandLine.arguments.dropFirst(2) {
        guard let bytes = SmallFile.read(file, limit: 1 << 20) else {
            print("fuzzers: \(file) can't be read")
            exit(66)
        }
        target(bytes)
    }
    #endif
}
