import Glibc
import TestSupport
import Testing

@testable import FaceSensor

@Suite struct TemplateStoreTests {
    private static let faces = (0..<5).map { Seen.numbers(Float($0)) }
    private static let camera = "usb 046d:085c - at here"

    private func enrolled(
        _ folder: TemporaryFolder,
        user: UInt32 = 1000
    ) async throws -> (TemplateStore, String) {
        let store = try TemplateStore(folder: folder.path + "/state")
        let id = try await store.add(
            Self.faces,
            label: "me",
            user: user,
            camera: Self.camera
        )
        return (store, id)
    }

    @Test("An enrolment survives a restart, for its user and camera")
    func keeps() async throws {
        let folder = try TemporaryFolder()
        let (_, id) = try await enrolled(folder)
        let store = try TemplateStore(folder: folder.path + "/state")
        let entries = try await store.entries(of: 1000)
        #expect(entries.map(\.id) == [id] && entries.map(\.label) == ["me"])
        #expect(entries.allSatisfy { $0.camera == Self.camera && $0.created > 1_000_000_000 })
        let templates = try await store.templates(of: 1000, camera: Self.camera)
        #expect(templates == [FaceTemplate(id: id, faces: Self.faces)])
        #expect(try await store.entries(of: 100).isEmpty)
    }

    @Test("Only our user can read the files, and label and faces are encrypted")
    func privacy() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        // A long label, which cannot occur by chance.
        let label = "me at home"
        try await store.rename(id, of: 1000, to: label)
        #expect(folder.mode("state") == 0o700)
        for name in TemporaryFolder.names(in: folder.path + "/state") {
            #expect(folder.mode("state/\(name)") == 0o600, "\(name)")
        }
        let content = try folder.read("state/1000-\(id).face")
        var value: [UInt8] = []
        withUnsafeBytes(of: Float(4)) { value = Array($0) }
        #expect(!content.contains(Array(label.utf8)) && !content.contains(value))
    }

    @Test("A changed byte is refused at any offset")
    func changedByte() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        let name = "state/1000-\(id).face"
        let content = try folder.read(name)
        for index in content.indices where index < 80 || index % 97 == 0 {
            var changed = content
            changed[index] ^= 1
            try folder.write(name, changed, mode: 0o600)
            await #expect(throws: FaceFault.self, "byte \(index)") {
                try await store.templates(of: 1000, camera: Self.camera)
            }
        }
        for length in [0, 7, 40, content.count - 1] {
            try folder.write(name, content.prefix(length), mode: 0o600)
            #expect(try await store.entries(of: 1000).isEmpty)
            #expect(try await store.unusable().damaged == [folder.path + "/" + name])
        }
        try folder.write(name, content, mode: 0o600)
        #expect(try await store.unusable() == .init())
        #expect(try await store.entries(of: 1000).count == 1)
    }

    @Test("A damaged template does not affect the others")
    func others() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        let second = try await store.add(
            Self.faces,
            label: "two",
            user: 1000,
            camera: Self.camera
        )
        let name = "state/1000-\(id).face"
        try folder.write(name, [1, 2, 3], mode: 0o600)
        #expect(try await store.entries(of: 1000).map(\.id) == [second])
        #expect(try await store.templates(of: 1000, camera: Self.camera).map(\.id) == [second])
        #expect(try await store.unusable().damaged == [folder.path + "/" + name])
        #expect(try await store.removeAll(of: 1000) == 2)
    }

    /// Only root can give a file away.
    @Test(
        "A template with a wrong mode or owner is listed with its remedy, and the others match",
        arguments: geteuid() == 0 ? [false, true] : [false]
    )
    func refused(hasOtherOwner: Bool) async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        let name = "\(folder.path)/state/1000-\(id).face"
        // For example after a restored backup.
        func spoil() { _ = hasOtherOwner ? chown(name, 65534, 65534) : chmod(name, 0o644) }
        spoil()
        let label = "Not used. Give this file the owner \(geteuid()) and the mode 0600: \(name)"
        #expect(try await store.entries(of: 1000).map(\.label) == [label])
        let fault = await #expect(throws: FaceFault.self) {
            try await store.templates(of: 1000, camera: Self.camera)
        }
        let remedy =
            hasOtherOwner
            ? "The file belongs to another user: give it to the user \(geteuid()) with chown."
            : "The file must be ours alone: give it the mode 0600."
        #expect("\(String(describing: fault))".contains("\(name): \(remedy)"))
        #expect(try await store.unusable() == .init(refused: [name]))
        let other = try await store.add(Self.faces, label: "two", user: 1000, camera: Self.camera)
        #expect(try await store.templates(of: 1000, camera: Self.camera).map(\.id) == [other])
        chmod(name, 0o600)
        chown(name, geteuid(), getegid())
        #expect(try await store.templates(of: 1000, camera: Self.camera).count == 2)
        spoil()
        try await store.remove(id, of: 1000)
        #expect(try await store.entries(of: 1000).map(\.id) == [other])
    }

    @Test("A face too close to another person's is not enrolled")
    func tooClose() async throws {
        let store = try TemplateStore(folder: try TemporaryFolder().path + "/state")
        var values = try Studio.faceOfCohort()
        for (distance, isRefused) in [(0.39, true), (0.41, false)] as [(Float, Bool)] {
            values[127] += distance
            let face = try #require(FaceDescriptor(values))
            values[127] -= distance
            let id = try? await store.add([face], label: "", user: 7, camera: Self.camera)
            #expect((id == nil) == isRefused, "\(distance)")
        }
    }

    @Test("A template of an older version that is too close to another person's is not used")
    func tooCloseBefore() async throws {
        let folder = try TemporaryFolder()
        let (store, other) = try await enrolled(folder)
        let id = TemplateStore.newIdentifier()
        let entry = TemplateStore.Entry(id: id, label: "old", created: 1, camera: Self.camera)
        let face = try #require(FaceDescriptor(try Studio.faceOfCohort()))
        try await store.save(TemplateRecord(entry: entry, faces: [face]), user: 1000)
        #expect(try await store.templates(of: 1000, camera: Self.camera).map(\.id) == [other])
        let name = "\(folder.path)/state/1000-\(id).face"
        #expect(try await store.unusable() == .init(indistinct: [name]))
        let label = try await store.entries(of: 1000).first?.label
        #expect(label?.hasPrefix("Not used. The camera can't tell this face") == true)
        try await store.remove(other, of: 1000)
        let fault = await #expect(throws: FaceFault.self) {
            try await store.templates(of: 1000, camera: Self.camera)
        }
        #expect("\(String(describing: fault))".contains("Use a fingerprint or your password."))
        try await store.remove(id, of: 1000)
    }

    @Test("Another program's changes are reported once, the store's own never")
    func changes() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        #expect(try await store.changedUsers().isEmpty)
        let (here, there) = ("\(folder.path)/state/1000-\(id).face", folder.path + "/away")
        try #require(rename(here, there) == 0)
        #expect(try await store.changedUsers() == [1000])
        #expect(try await store.changedUsers().isEmpty)
        try #require(rename(there, here) == 0)
        try folder.write("state/7-\(id).face", [1], mode: 0o600)
        try folder.write("state/07-\(id).face", [1], mode: 0o600)
        #expect(try await store.changedUsers() == [7, 1000])
        try await store.remove(id, of: 1000)
        _ = try await store.removeAll(of: 7)
        #expect(try await store.changedUsers().isEmpty)
    }

    @Test("A template moved to another user or id is refused")
    func wrongUser() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        let content = try folder.read("state/1000-\(id).face")
        try folder.write("state/1001-\(id).face", content, mode: 0o600)
        #expect(try await store.entries(of: 1001).isEmpty)
        let other = String(id.reversed())
        try folder.write("state/1000-\(other).face", content, mode: 0o600)
        #expect(try await store.entries(of: 1000).map(\.id) == [id])
        #expect(try await store.unusable().damaged.count == 2)
        // Damaged templates can still be removed.
        try await store.remove(other, of: 1000)
        #expect(try await store.entries(of: 1000).count == 1)
        #expect(try await store.removeAll(of: 1001) == 1)
    }

    @Test("A template of another camera is refused, even if the camera's name is forged")
    func wrongCamera() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        let other = "usb 046d:085c - at home"
        let fault = await #expect(throws: FaceFault.self) {
            try await store.templates(of: 1000, camera: other)
        }
        guard case .failed(let message) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(message.contains(Self.camera) && message.contains("enrolled with the camera"))
        let name = "state/1000-\(id).face"
        let content = try folder.read(name)
        let range = try #require(content.firstRange(of: Array(Self.camera.utf8)))
        var forged = content
        forged.replaceSubrange(range, with: other.utf8)
        try folder.write(name, forged, mode: 0o600)
        await #expect(throws: FaceFault.self) {
            try await store.templates(of: 1000, camera: other)
        }
    }

    @Test("A rename keeps id and faces, and a missing template cannot be renamed or removed")
    func renames() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        try await store.rename(id, of: 1000, to: "with glasses")
        #expect(try await store.entries(of: 1000).map(\.label) == ["with glasses"])
        let templates = try await store.templates(of: 1000, camera: Self.camera)
        #expect(templates == [FaceTemplate(id: id, faces: Self.faces)])
        let missing = String(repeating: "0", count: 32)
        for bad in [missing, "", "../face", "nothing", id.uppercased()] where bad != id {
            await #expect(throws: FaceFault.noTemplate) { try await store.remove(bad, of: 1000) }
            await #expect(throws: FaceFault.noTemplate) {
                try await store.rename(bad, of: 1000, to: "x")
            }
        }
        try await store.remove(id, of: 1000)
        await #expect(throws: FaceFault.noTemplate) {
            try await store.templates(of: 1000, camera: Self.camera)
        }
    }

    @Test("A user whose uid is a prefix of another's has no access to the other's templates")
    func prefixes() async throws {
        let folder = try TemporaryFolder()
        let (store, _) = try await enrolled(folder, user: 1000)
        #expect(try await store.entries(of: 10).isEmpty)
        #expect(try await store.removeAll(of: 100) == 0)
        #expect(try await store.removeAll(of: 1000) == 1)
    }

    @Test("Each folder has its own key, and a template of another folder is damaged")
    func ownKey() async throws {
        let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
        let (store, id) = try await enrolled(one)
        _ = try await enrolled(two)
        let (own, other) = (try one.read("state/face.key"), try two.read("state/face.key"))
        #expect(own.count == 32 && other.count == 32 && own != other)
        #expect(try await store.unusable() == .init())
        try one.write("state/face.key", other, mode: 0o600)
        let again = try TemplateStore(folder: one.path + "/state")
        #expect(try await again.unusable().damaged == ["\(one.path)/state/1000-\(id).face"])
        #expect(try await again.entries(of: 1000).isEmpty)
    }

    @Test("Without its key the store does not start over as if it were empty")
    func lostKey() async throws {
        let folder = try TemporaryFolder()
        _ = try await enrolled(folder)
        unlink(folder.path + "/state/face.key")
        #expect(throws: FaceFault.self) { try TemplateStore(folder: folder.path + "/state") }
        try folder.write("state/face.key", [1, 2, 3], mode: 0o600)
        #expect(throws: FaceFault.self) { try TemplateStore(folder: folder.path + "/state") }
    }

    @Test("A key or a folder that others can access is refused")
    func openToOthers() async throws {
        let folder = try TemporaryFolder()
        _ = try await enrolled(folder)
        chmod(folder.path + "/state/face.key", 0o640)
        #expect(throws: FaceFault.self) { try TemplateStore(folder: folder.path + "/state") }
        chmod(folder.path + "/state/face.key", 0o600)
        chmod(folder.path + "/state", 0o777)
        #expect(throws: FaceFault.self) { try TemplateStore(folder: folder.path + "/state") }
    }

    @Test("A half-written file is no template")
    func halfWritten() async throws {
        let folder = try TemporaryFolder()
        let (store, id) = try await enrolled(folder)
        try folder.write("state/1000-\(id).face.new", [1, 2], mode: 0o600)
        #expect(try await store.entries(of: 1000).count == 1)
        try await store.rename(id, of: 1000, to: "two")
        #expect(try await store.entries(of: 1000).map(\.label) == ["two"])
    }
}
