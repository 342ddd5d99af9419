/// Reads any bytes as `localauth.conf`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    _ = try? Configuration.parse(bytes: bytes, file: "fuzz")
    return 0
}
