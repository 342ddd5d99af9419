import Foundation

/// A manual page of `docs/man`, as far as tests compare it.
struct ManualPage {
    let name: String
    /// The lines, with continuation lines joined.
    private let lines: [String]

    init(path: String) throws {
        name = String(path.split(separator: "/").last ?? "")
        lines = try String(contentsOfFile: path, encoding: .utf8).replacing("\\\n", with: "")
            .split(separator: "\n").map(String.init)
    }

    func section(_ title: String) -> [String] {
        guard let start = lines.firstIndex(of: ".Sh \(title)") else { return [] }
        return Array(lines[(start + 1)...].prefix { !$0.hasPrefix(".Sh ") })
    }

    /// The items of a section's lists: head and text.
    func items(_ title: String) -> [(head: String, text: [String])] {
        section(title).split(whereSeparator: { $0.hasPrefix(".Bl ") || $0 == ".El" })
            .flatMap { list in
                list.indices.filter { list[$0].hasPrefix(".It ") }
                    .map { start in
                        let text = list[(start + 1)...].prefix { !$0.hasPrefix(".It ") }
                        return (String(list[start].dropFirst(4)), Array(text))
                    }
            }
    }

    static func options(_ line: some StringProtocol) -> Set<String> {
        Set(String(line).matches(of: /Fl -([a-z0-9-]+)/).map { String($0.1) })
    }

    static func commands(_ lines: [String]) -> Set<String> {
        Set(lines.compactMap { $0.firstMatch(of: /^\.Cm ([a-z-]+)/) }.map { String($0.1) })
    }

    var statuses: Set<Int32> {
        Set(items("EXIT STATUS").compactMap { Int32($0.head) })
    }

    var references: [(name: String, section: String)] {
        lines.compactMap { $0.firstMatch(of: /^\.Xr ([^ ]+) ([1-8])/) }
            .map { (String($0.1), String($0.2)) }
    }
}
