import TestSupport
import Testing

@Suite("Shell completion", .timeLimit(.minutes(10)))
struct CompletionTests {
    /// Completes a command line in bash through bash-completion, which finds the installed file by
    /// the program's name.
    private static func completed(_ line: String, in site: Installation) async throws -> [String] {
        let script = """
            PATH=$1/usr/bin:$PATH
            BASH_COMPLETION_USER_DIR=$1/usr/share/bash-completion
            . /usr/share/bash-completion/bash_completion
            _completion_loader localauthctl
            COMP_LINE=$2 COMP_POINT=${#2}
            read -ra COMP_WORDS <<< "$2"
            case $2 in *' ') COMP_WORDS+=('') ;; esac
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            compopt() { :; }
            function=$(complete -p localauthctl | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
            "$function" localauthctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let said = try await Installation.run(
            "/bin/bash",
            ["-c", script, "bash", site.folder, line]
        )
        #expect(said.status == 0, "\(said.output)")
        return said.output.split(separator: "\n").map(String.init)
    }

    @Test("bash completes verbs, options, their values and files")
    func bash() async throws {
        let site = try await Installation("install")
        func completed(_ line: String) async throws -> [String] {
            try await Self.completed(line, in: site)
        }
        #expect(try await completed("localauthctl ev") == ["evaluate"])
        #expect(
            try await completed("localauthctl keychain ex").sorted() == [
                "exchange", "export-recovery-key",
            ]
        )
        #expect(try await completed("localauthctl evaluate --mini") == ["--minimum-strength"])
        // Values are completed verbatim.
        #expect(
            try await completed("localauthctl evaluate --policy ") == [
                "biometrics", "biometrics-or-passcode", "companion", "biometrics-or-companion",
            ]
        )
        #expect(try await completed("localauthctl status --bus s") == ["system", "session"])
        #expect(
            try await completed("localauthctl keychain add --secret-file /etc/passw")
                .contains("/etc/passwd")
        )
    }

    @Test("zsh and fish accept their installed completion files")
    func others() async throws {
        let site = try await Installation("install")
        let files = try site.files()
        let zsh = try #require(files.first { $0.hasSuffix("/_localauthctl") })
        let fish = try #require(files.first { $0.hasSuffix("/localauthctl.fish") })
        for (shell, file) in [("/usr/bin/zsh", zsh), ("/usr/bin/fish", fish)] {
            let said = try await Installation.run(shell, ["-n", "\(site.folder)/\(file)"])
            #expect(said.status == 0 && said.output.isEmpty, "\(said.output)")
        }
        #expect(try site.text(zsh).hasPrefix("#compdef localauthctl"))
        let script = """
            source $argv[1]
            complete --do-complete 'localauthctl ev'
            """
        let said = try await Installation.run(
            "/usr/bin/fish",
            ["-N", "-c", script, "\(site.folder)/\(fish)"]
        )
        #expect(said.output.hasPrefix("evaluate\t"), "\(said.output)")
    }
}
