import Glibc

/// What changes with a file, however it is written: in place, or as another file that is renamed
/// to it.
///
/// Its content need not be readable.
package struct FileStamp: Equatable, Sendable {
    private let device: dev_t
    private let number: ino_t
    private let size: off_t
    private let written: [Int]

    /// Nil: there is no such file, or the way to it is closed.
    package init?(of path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        (device, number, size) = (info.st_dev, info.st_ino, info.st_size)
        written = [
            info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec,
        ]
    }
}
