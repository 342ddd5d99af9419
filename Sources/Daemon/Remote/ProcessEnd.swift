import DBus
import Glibc
import Linux

enum ProcessEnd {
    /// `PIDFD_GET_INFO` with a 64-byte `struct pidfd_info`, from linux/pidfd.h.
    private static let getInformation: UInt = 0xC040_FF0B
    /// `PIDFD_INFO_EXIT`, from linux/pidfd.h.
    private static let exit: UInt64 = 1 << 3
    private static let size = 64
    private static let statusOffset = 60

    /// The wait status of a reaped process; nil before that, and on kernels without this feature.
    static func status(of process: OwnedDescriptor) -> Int32? {
        // SAFETY: the kernel writes at most `size` bytes, which the buffer has. The C library's
        // headers do not declare this structure yet.
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { information in
            guard let base = information.baseAddress else { return nil }
            memset(base, 0, size)
            information.storeBytes(of: exit, as: UInt64.self)
            guard ioctl(process.rawValue, getInformation, base) == 0,
                information.load(as: UInt64.self) & exit != 0
            else { return nil }
            return information.load(fromByteOffset: statusOffset, as: Int32.self)
        }
    }

    /// Whether the process exits with status 0 within a second.
    @BusActor
    static func isClean(_ process: OwnedDescriptor) async -> Bool {
        for _ in 0..<50 {
            if let status = status(of: process) { return status == 0 }
            await pause(.milliseconds(20))
        }
        return false
    }
}

extension Connection {
    /// Whether the process behind a unique name ended without a fault after it gave up its other
    /// names.
    ///
    /// A process that stays on the bus for a while did. For a process that left immediately, the
    /// kernel may report the exit status.
    func hasEndedWell(_ owner: String, _ process: OwnedDescriptor?) async -> Bool {
        if let holder = try? await nameOwner(owner), holder == owner { return true }
        guard let process else { return false }
        return await ProcessEnd.isClean(process)
    }
}
