#if Prompt
import DBus
import Foundation
import TestSupport

/// The pictures in docs/prompt, and the packages used to draw them.
enum Pictures {
    private static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    static let folder = root + "/docs/prompt"
    /// The fraction of pixels that may differ by more than the fuzz.
    private static let tolerance = 0.001

    /// `LA_PICTURES=1` draws the pictures anew after a change of a window.
    static let isDrawing = ProcessInfo.processInfo.environment["LA_PICTURES"] == "1"

    /// Packages whose versions affect text and icons.
    private static let packages = [
        "libgtk-4-1", "libadwaita-1-0", "libcairo2", "libpango-1.0-0", "libfreetype6",
        "fontconfig-config", "fonts-cantarell", "fonts-wqy-microhei", "adwaita-icon-theme",
    ]

    /// Returns whether these package versions drew the pictures; otherwise prints a note once.
    static func areComparable() async throws -> Bool { try await comparison.value }

    private static let comparison = Task {
        let query = ["/usr/bin/dpkg-query", "-W", "-f", "${Package} ${Version}\n"]
        let installed = try await ChildProcess(query + packages).ended(within: .seconds(60)).output
        let list = folder + "/drawn-with.txt"
        if isDrawing { try installed.write(toFile: list, atomically: true, encoding: .utf8) }
        let kept = (try? String(contentsOfFile: list, encoding: .utf8)) ?? ""
        if kept != installed {
            let (here, there) = (Set(installed.split(separator: "\n")), kept.split(separator: "\n"))
            let others = there.filter { !here.contains($0) }.joined(separator: ", ")
            print("No window was compared with its picture, which was drawn with \(others).")
        }
        return kept == installed
    }

    @BusActor
    static func compare(_ name: String, on screen: Screen, height: Int? = nil) async throws {
        let kept = "\(folder)/\(name).png"
        let taken = "\(screen.bus.folder)/\(name).png"
        if isDrawing {
            var last: Data?
            var since = ContinuousClock.now
            // Wait for a stable picture: buttons are grey at first, and text appears after the
            // window.
            try await eventually("a picture that stays", within: .seconds(60)) {
                try await take(taken, on: screen, height)
                let new = try? Data(contentsOf: URL(filePath: taken))
                if new != last { (last, since) = (new, .now) }
                return new != nil && .now - since > .seconds(2)
            }
            return try Data(contentsOf: URL(filePath: taken)).write(to: URL(filePath: kept))
        }
        let words = try await screen.run("/usr/bin/identify", "-format", "%w %h", kept)
        let sides = words.split(separator: " ").compactMap { Double($0) }
        try expect(sides.count == 2, "\(kept) is no picture: \(words)")
        let limit = sides[0] * sides[1] * tolerance
        var difference = ""
        do {
            try await eventually("the same picture", within: .seconds(60)) {
                try await take(taken, on: screen, height)
                difference =
                    try await ChildProcess(
                        [
                            "/usr/bin/compare", "-metric", "AE", "-fuzz", "6%", kept, taken,
                            "null:",
                        ],
                        mergesErrors: true
                    )
                    .ended(within: .seconds(60)).output
                return Double(difference).map { $0 <= limit } ?? false
            }
        } catch {
            throw TestFailure("\(name): \(difference) points differ, of \(limit) that may")
        }
    }

    @BusActor
    private static func take(_ path: String, on screen: Screen, _ height: Int?) async throws {
        let found = try await screen.run(
            "/usr/bin/xdotool",
            "search",
            "--onlyvisible",
            "--class",
            "localauth-"
        )
        guard let window = found.split(separator: "\n").first.map(String.init) else { return }
        let part = height.map { ["-crop", "x\($0)+0+0", "+repage"] } ?? []
        _ = try await ChildProcess(
            // Leave out the time at which the picture was taken.
            ["/usr/bin/import", "-window", window] + part + ["-strip", "+set", "date:create"]
                + ["+set", "date:modify", path],
            environment: screen.environment
        )
        .ended(within: .seconds(60))
    }

    /// Turns off animations and the blinking cursor for programs on a bus.
    @BusActor static func still(_ bus: PrivateBus) throws {
        let folder = bus.folder + "/.config/gtk-4.0"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        let settings = "[Settings]\ngtk-cursor-blink=false\ngtk-enable-animations=false\n"
        try settings.write(toFile: folder + "/settings.ini", atomically: true, encoding: .utf8)
    }

    /// Returns the environment for a language, with this project's catalogue.
    @BusActor
    static func language(_ language: String, _ bus: PrivateBus) async throws -> [String: String] {
        let folder = "\(bus.folder)/locale/\(language)/LC_MESSAGES"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        let made = try await ChildProcess([
            "/usr/bin/msgfmt", "-o", folder + "/localauth.mo", "\(root)/po/\(language).po",
        ])
        .ended(within: .seconds(60))
        try expect(made.status == 0, "msgfmt: \(made.errors)")
        return ["LANGUAGE": language, "TEXTDOMAINDIR": bus.folder + "/locale"]
    }

    /// Returns the environment for writing from right to left.
    @BusActor static func rightToLeft(_ bus: PrivateBus) async throws -> [String: String] {
        let made = try await ChildProcess([
            "/usr/bin/localedef", "-i", "he_IL", "-f", "UTF-8", bus.folder + "/he_IL.UTF-8",
        ])
        .ended(within: .seconds(60))
        try expect(made.status == 0, "localedef: \(made.errors)")
        return ["LOCPATH": bus.folder, "LC_ALL": "he_IL.UTF-8", "LANGUAGE": "he"]
    }
}
#endif
