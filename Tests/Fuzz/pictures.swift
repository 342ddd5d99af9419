/// Cuts any bytes into pictures: they are the same however the bytes come.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    func pictures(_ step: Int) -> [[UInt8]] {
        var splitter = JPEGSplitter()
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            splitter.append(bytes[start..<min(start + step, bytes.count)])
            while let picture = splitter.next() { found.append(picture) }
        }
        return found
    }
    let found = pictures(max(1, count))
    for picture in found { precondition(picture.starts(with: [0xFF, 0xD8])) }
    precondition(pictures(1) == found)
    return 0
}
