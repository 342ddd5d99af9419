#if arch(x86_64)
import BusBench
import FaceSensor
import TestSupport
import Testing

@Suite struct DetectorTests {
    // The linker keeps only one of several functions with an equal name. If it kept an AVX version,
    // its other callers would run it on a processor without AVX.
    @Test(
        "Functions compiled for AVX have names of their own",
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
                // AVX instructions start with "v", as vaddps does; verr and verw are older.
                operation.hasPrefix("v"), !operation.hasPrefix("ver")
            {
                count += 1
                // The last two prefixes belong to an anonymous namespace, so no other file shares
                // them.
                let own = ["dlib_avx", "<_ZN12_GLOBAL__N_1", "<_ZNK12_GLOBAL__N_1"]
                if !own.contains(where: { name.contains($0) }) { shared.insert(name) }
            }
        }
        #expect(count > 1000)
        #expect(shared.isEmpty)
    }
}
#endif
