import DBusCodegen
import DBusModel
import Glibc

private let usage = """
    Usage: dbus-codegen [--check] --output DIR FILE.xml...

    Makes Swift sources from D-Bus introspection files.

      --output DIR  the directory of the sources; it holds nothing else
      --check       write nothing; exit with status 1 when the sources are not current
      --help        print this
      --version     print the version
    """

/// What the command line asks for.
private struct Request {
    var isCheck = false
    var output = ""
    var inputs: [String] = []
}

@main
private enum Program {
    static func main() {
        var arguments = CommandLine.arguments.dropFirst()
        var request = Request()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--help": return print(usage)
            case "--version": return print("dbus-codegen 1.0")
            case "--check": request.isCheck = true
            case "--output": request.output = arguments.popFirst() ?? ""
            case _ where argument.hasPrefix("-"): fail("unknown option \(argument)", status: 64)
            default: request.inputs.append(argument)
            }
        }
        guard !request.output.isEmpty, !request.inputs.isEmpty else { fail(usage, status: 64) }
        do {
            try run(request)
        } catch {
            fail("\(error)")
        }
    }

    private static func run(_ request: Request) throws {
        var interfaces: [Interface] = []
        for path in request.inputs {
            let interface = try Interface(xml: try readFile(path), file: path)
            guard path.split(separator: "/").last == "\(interface.name).xml" else {
                throw FileError(path, "the file is not named after '\(interface.name)'")
            }
            interfaces.append(interface)
        }
        let files = try generate(interfaces)
        let present = try swiftFiles(in: request.output)
        let stale = Set(present).subtracting(files.map(\.name)).sorted()
        // Current files are left alone: a build looks at their times.
        let old = try files.filter { file in
            guard present.contains(file.name) else { return true }
            return try !readFile("\(request.output)/\(file.name)").elementsEqual(file.text.utf8)
        }
        guard request.isCheck else {
            for file in old { try writeFile("\(request.output)/\(file.name)", file.text) }
            for name in stale { try remove("\(request.output)/\(name)") }
            return
        }
        let names = old.map(\.name) + stale
        guard names.isEmpty else {
            fail(names.map { "\(request.output)/\($0): not current" }.joined(separator: "\n"))
        }
    }

    /// Removes a source of an interface that is gone, and nothing that was written by hand.
    private static func remove(_ path: String) throws {
        guard try readFile(path).starts(with: generatedMark.utf8) else {
            throw FileError(path, "not made by dbus-codegen: it doesn't belong there")
        }
        guard unlink(path) == 0 else { throw FileError(path) }
    }

    private static func fail(_ message: String, status: Int32 = 1) -> Never {
        let line = Array((message + "\n").utf8)
        write(STDERR_FILENO, line, line.count)
        exit(status)
    }
}
