import Glibc

/// A value that changes whenever a file is written in place or replaced by a rename.
///
/// The file's content need not be readable.
package struct FileStamp: Equatable, Sendable {
    private let device: dev_t
    private let number: ino_t
    private let size: off_t
    private let written: [Int]

    /// Returns nil if the file does not exist or cannot be reached.
    package init?(of path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        (device, number, size) = (info.st_dev, info.st_ino, info.st_size)
        written = [
            info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec,
        ]
    }
}
