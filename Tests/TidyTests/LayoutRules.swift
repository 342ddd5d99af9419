/// Limits on lines, functions and files.
enum LayoutRules {
    static let columns = Rule(name: "At most 100 columns") { file in
        guard file.path.hasSuffix(".swift") else { return [] }
        return file.lines.enumerated()
            .compactMap { index, line in
                line.unicodeScalars.count > 100
                    ? file.offence(index, "\(line.unicodeScalars.count) columns, at most 100") : nil
            }
    }

    static let fileLength = Rule(name: "At most 500 lines a file") { file in
        guard file.path.hasSuffix(".swift"), file.path != "Package.swift", !file.isGenerated,
            file.lines.count > 500
        else { return [] }
        return [file.offence(500, "\(file.lines.count) lines, at most 500 a file")]
    }

    static let functionLength = Rule(name: "At most 70 lines a function") { file in
        guard !file.isGenerated else { return [] }
        return bodies(in: file)
            .compactMap { body in
                let count = body.last - body.first + 1
                return count > 70
                    ? file.offence(body.first, "\(count) lines, at most 70 a function") : nil
            }
    }

    /// The first and last line of each function, initialiser and accessor.
    static func bodies(in file: SourceFile) -> [(first: Int, last: Int)] {
        let tokens = file.code.enumerated()
            .flatMap { index, line in
                self.tokens(of: line).map { (text: $0, line: index) }
            }
        var bodies: [(first: Int, last: Int)] = []
        for (index, token) in tokens.enumerated() {
            guard starters.contains(token.text), index == 0 || tokens[index - 1].text != ".",
                let open = bodyStart(after: index, in: tokens)
            else {
                continue
            }
            var depth = 0
            for (text, line) in tokens[open...] {
                if text == "{" { depth += 1 }
                if text == "}" { depth -= 1 }
                if depth == 0 {
                    bodies.append((token.line, line))
                    break
                }
            }
        }
        return bodies
    }

    private static let starters: Set<String> = ["func", "init", "deinit", "subscript", "var"]
    /// Tokens that end a declaration without a body.
    private static let enders = starters.union([
        "let", "case", "struct", "class", "enum", "protocol", "extension", "actor", "}",
    ])

    /// The index of the opening brace; nil for a declaration without a body.
    private static func bodyStart(
        after start: Int,
        in tokens: [(text: String, line: Int)]
    ) -> Int? {
        let hasParameters = ["func", "init", "subscript"].contains(tokens[start].text)
        var depth = 0
        var seesName = hasParameters
        for index in tokens.indices.dropFirst(start + 1) {
            let text = tokens[index].text
            if text == "(" || text == "[" { depth += 1 }
            if text == ")" || text == "]" { depth -= 1 }
            // A name may be any token, including `==` and `init`.
            if seesName && depth == 0 { continue }
            seesName = false
            guard depth == 0 else { continue }
            if text == "{" { return index }
            if enders.contains(text) || text == "=" && !hasParameters { return nil }
        }
        return nil
    }

    private static func tokens(of line: String) -> [String] {
        var tokens: [String] = []
        var word = ""
        for character in line {
            if character.isLetter || character.isNumber || character == "_" {
                word.append(character)
                continue
            }
            if !word.isEmpty { tokens.append(word) }
            word = ""
            if "(){}[].=".contains(character) { tokens.append(String(character)) }
        }
        return word.isEmpty ? tokens : tokens + [word]
    }
}
