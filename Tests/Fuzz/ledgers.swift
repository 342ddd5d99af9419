/// What they refuse with, without the modules that the keychain's own error needs.
struct KeychainError: Error {
    static let changed = KeychainError()
}

/// Any token will do.
enum ItemIndex {
    static let items: UInt64 = 0
}

/// Reads any bytes as what the keychain stores; what is understood is stored as it is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    if let ledger = try? Ledger(bytes) { precondition((try? Ledger(ledger.bytes)) == ledger) }
    _ = try? [LedgerEntry](bytes)
    return 0
}
