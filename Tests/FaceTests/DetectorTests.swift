#if arch(x86_64)
import BusBench
import FaceSensor
import TestSupport
import Testing

/// What of the C++ unit only some processors can run.
@Suite struct DetectorTests {
    // The linker keeps one of all functions of a name. If that were one for AVX, whoever calls
    // the other would run it, on a processor without.
    @Test(
        "What is compiled for AVX has names of its own",
        .enabled(if: FaceEngine.isBuilt, "the package trait Face is off")
    )
    func names() throws {
        let object = "\(ChildProcess.folder)/CFace.build/detector-avx.cpp.o"
        let code = try ChildProcess.run(
            ["/usr/bin/objdump", "--disassemble", "--no-show-raw-insn", object]
        )
        #expect(code.status == 0, "\(code.errors)")
        var (name, count, shared): (Substring, Int, Set<Substring>) = ("", 0, [])
        for line in code.output.split(separator: "\n") {
            if line.hasSuffix(">:") {
                name = line.drop { $0 != "<" }
            } else if let operation = line.split(separator: "\t").dropFirst().first,
                // AVX: vaddps and so on; verr and verw are no such.
                operation.hasPrefix("v"), !operation.hasPrefix("ver")
            {
                count += 1
                // The last two are an anonymous namespace's: no other file's has its names.
                let own = ["dlib_avx", "<_ZN12_GLOBAL__N_1", "<_ZNK12_GLOBAL__N_1"]
                if !own.contains(where: { name.contains($0) }) { shared.insert(name) }
            }
        }
        #expect(count > 1000)
        #expect(shared.isEmpty)
    }
}
#endif
