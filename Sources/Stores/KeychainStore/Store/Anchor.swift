import Glibc
import Linux
import SQLite

/// A file beside the database with the number of the last change.
///
/// A database with a lower number was restored from an older copy. The file is written after each
/// change without waiting for the disk. After a power cut, its number may therefore be lower than
/// the database's, but never higher. Restoring both files goes unnoticed; detecting that takes a
/// counter outside the disk.
final class Anchor {
    private let file: OwnedDescriptor
    private let path: String

    static let name = "anchor"
    private static let size = 8 + 32

    init(in folder: DatabaseFolder) throws(KeychainError) {
        let path = folder.directory.file(Self.name)
        self.path = path
        _ = try translating { () throws(SystemError) in try PrivateFile.exists(path) }
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        guard let file = OwnedDescriptor.open(path, flags, mode: 0o600) else {
            throw KeychainError(SystemError(errno: errno, "It can't be opened", path: path))
        }
        self.file = file
    }

    /// Refuses a database that is older than the anchor.
    ///
    /// An anchor of another database, or a torn anchor, is ignored.
    func check(_ root: LedgerRoot, ring: KeyRing) throws(KeychainError) {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        guard pread(file.rawValue, &bytes, bytes.count, 0) == bytes.count else { return }
        var reader = ByteReader(bytes)
        let counter: UInt64 = try reader.number()
        guard KeyRing.isSame(bytes, Self.content(counter, ring)), counter > root.counter else {
            return
        }
        throw KeychainError(
            .decode,
            "The keychain's database is older than the last change, as after restoring a backup. "
                + "Put the newer database back, or remove \(path) to keep this database."
        )
    }

    /// Records a change that is already on the disk.
    func note(_ counter: UInt64, ring: KeyRing) {
        let bytes = Self.content(counter, ring)
        // A failed write only makes a roll-back harder to detect, so the error is ignored.
        _ = pwrite(file.rawValue, bytes, bytes.count, 0)
    }

    private static func content(_ counter: UInt64, _ ring: KeyRing) -> [UInt8] {
        var writer = ByteWriter()
        writer.add(counter)
        var use = ByteWriter("anchor")
        use.add(counter)
        return writer.bytes + ring.ledgerCode(use.bytes)
    }
}
