import ClientTestSupport
import Foundation
import TestSupport
import Testing

@testable import Security

/// Tests that a program sees only its own items.
@Suite(.clientTurn, .timeLimit(.minutes(10)))
struct AccessGroupTests {
    private func add(_ more: [CFString: Any], _ itemClass: CFString) -> OSStatus {
        var item: [CFString: Any] = [kSecClass: itemClass, kSecValueData: Data("secret".utf8)]
        item.merge(more) { $1 }
        return SecItemAdd(item as CFDictionary, nil)
    }

    private func count(_ query: [CFString: Any]) -> Int {
        var wanted = query
        wanted[kSecMatchLimit] = kSecMatchLimitAll
        wanted[kSecReturnAttributes] = true
        var found: CFTypeRef?
        let status = SecItemCopyMatching(wanted as CFDictionary, &found)
        return status == errSecSuccess ? (found as? [Any])?.count ?? -1 : 0
    }

    @Test("L27: Deleting everything deletes only the program's own items")
    func wipe() async throws {
        try await ClientDesk.run { _ in
            let other: [CFString: Any] = [kSecAttrAccessGroup: "com.example.other"]
            let classes: [(CFString, [CFString: Any])] = [
                (kSecClassGenericPassword, [:]), (kSecClassInternetPassword, [:]),
                (kSecClassKey, [kSecAttrKeyClass: kSecAttrKeyClassSymmetric]),
            ]
            for (itemClass, more) in classes {
                #expect(add(more, itemClass) == errSecSuccess)
                #expect(add(more.merging(other) { $1 }, itemClass) == errSecSuccess)
                #expect(count([kSecClass: itemClass]) == 1)
                let wipe = [kSecClass: itemClass] as CFDictionary
                #expect(SecItemDelete(wipe) == errSecSuccess)
                #expect(SecItemDelete(wipe) == errSecItemNotFound)
                let theirs = other.merging([kSecClass: itemClass]) { $1 }
                #expect(count(theirs) == 1)
                #expect(SecItemUpdate(theirs as CFDictionary, [:] as NSDictionary) == 0)
                #expect(SecItemDelete(theirs as CFDictionary) == errSecSuccess)
            }
        }
    }

    @Test("L27: Updating everything changes only the program's own items")
    func update() async throws {
        try await ClientDesk.run { _ in
            let group = [kSecAttrAccessGroup: "com.example.other"]
            #expect(add([kSecAttrAccount: "jo"], kSecClassGenericPassword) == errSecSuccess)
            #expect(add(group, kSecClassGenericPassword) == errSecSuccess)
            let all = [kSecClass: kSecClassGenericPassword] as CFDictionary
            let changes = [kSecAttrLabel: "mine"] as CFDictionary
            #expect(SecItemUpdate(all, changes) == errSecSuccess)
            #expect(count([kSecClass: kSecClassGenericPassword, kSecAttrLabel: "mine"]) == 1)
            #expect(
                count([
                    kSecClass: kSecClassGenericPassword, kSecAttrLabel: "mine",
                    kSecAttrAccessGroup: "com.example.other",
                ]) == 0
            )
        }
    }

    @Test("An item contains its group, and an update moves it to another group")
    func move() async throws {
        try await ClientDesk.run { _ in
            #expect(add([:], kSecClassGenericPassword) == errSecSuccess)
            let query: [CFString: Any] = [kSecClass: kSecClassGenericPassword]
            var found: CFTypeRef?
            let wanted = query.merging([kSecReturnAttributes: true]) { $1 }
            #expect(SecItemCopyMatching(wanted as CFDictionary, &found) == errSecSuccess)
            let attributes = found as? [String: Any]
            #expect(attributes?["agrp"] as? String == AccessGroup.ofProgram)
            let changes = [kSecAttrAccessGroup: "com.example.suite"] as CFDictionary
            #expect(SecItemUpdate(query as CFDictionary, changes) == errSecSuccess)
            #expect(count(query) == 0)
            #expect(count(query.merging([kSecAttrAccessGroup: "com.example.suite"]) { $1 }) == 1)
        }
    }

    @Test(
        "L27: A program's group is the name of its bundle, sandbox, desktop file or executable"
    )
    func names() throws {
        let folder = try StateFolder("groups")
        let path = folder.path
        func group(
            _ program: String,
            bundle: String? = nil,
            sandbox: String? = nil
        ) -> String {
            AccessGroup.of(
                program,
                bundleIdentifier: bundle,
                sandbox: sandbox,
                desktopFolders: ["/nonexistent", path]
            )
        }
        func install(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
        }
        #expect(group("/opt/notes/bin/notes") == "notes")
        let start = "Exec=/opt/notes/bin/notes"
        try install("a.desktop", "[Desktop Entry]\nExec=/opt/a %u\n[Desktop Action x]\n\(start)\n")
        #expect(group("/opt/notes/bin/notes") == "notes")
        try install("org.example.Notes.New.desktop", "[Desktop Entry]\n\(start) --new\n")
        let quoted = "Exec=\"/opt/notes/bin/notes\" %u"
        try install("org.example.Notes.desktop", "[Desktop Entry]\n\(quoted)\n")
        #expect(group("/opt/notes/bin/notes") == "org.example.Notes")
        #expect(group("/opt/notes/bin/notes", sandbox: "org.example.Box") == "org.example.Box")
        let all = group("/opt/notes/bin/notes", bundle: "org.example.B", sandbox: "org.example.Box")
        #expect(all == "org.example.B")
        let flatpak = "[Context]\nname=x\n[Application]\nname=org.example.App\nruntime=y\n"
        #expect(AccessGroup.sandboxedApplication(Array(flatpak.utf8)) == "org.example.App")
        #expect(AccessGroup.sandboxedApplication([]) == nil)
        #expect(!AccessGroup.ofProgram.isEmpty)
    }

    @Test("L27: A user's own launcher does not change the group of an installed program")
    func personalLauncher() throws {
        let folder = try StateFolder("groups")
        let (home, system) = ("\(folder.path)/home", "\(folder.path)/usr/share")
        func install(_ name: String, in place: String, _ arguments: String) throws {
            let applications = URL(filePath: "\(place)/applications")
            let files = FileManager.default
            try files.createDirectory(at: applications, withIntermediateDirectories: true)
            let text = "[Desktop Entry]\nExec=/opt/notes/bin/notes \(arguments)\n"
            try Data(text.utf8).write(to: applications.appending(path: name))
        }
        func group() -> String {
            AccessGroup.of(
                "/opt/notes/bin/notes",
                bundleIdentifier: nil,
                sandbox: nil,
                desktopFolders: AccessGroup.desktopFolders(home: home, system: [system])
            )
        }
        try install("notes-work.desktop", in: "\(home)/.local/share", "--work")
        // The program is installed for this user only.
        #expect(group() == "notes-work")
        try install("org.example.Notes.desktop", in: system, "%u")
        #expect(group() == "org.example.Notes")
    }
}
