/// The layout of a frame's bytes.
package enum PixelFormat: Sendable, Hashable, CaseIterable {
    /// Two pixels in four bytes (YUYV): luma, blue chroma, luma, red chroma.
    case yuyv
    /// Luma of the whole picture, then interleaved blue and red chroma, a pair for four pixels.
    case nv12
    /// Luma of the whole picture, then blue chroma, then red chroma, each for four pixels.
    case i420
    case mjpg
    /// One byte of luma for each pixel, as infrared cameras give it.
    case grey
    case rgb
    case bgr
    /// Four bytes a pixel: red, green, blue, padding.
    case rgbx
    /// Four bytes a pixel: blue, green, red, padding.
    case bgrx
}

package struct Frame: Sendable, Hashable {
    /// The size limit of a frame, in bytes.
    package static let maximumBytes = 8 << 20

    package let format: PixelFormat
    /// In pixels; 0 for JPEG, which has its size in its header.
    package let width: Int
    /// In pixels; 0 for JPEG, which has its size in its header.
    package let height: Int
    /// Bytes from one line of luma to the next; 0 for JPEG.
    package let stride: Int
    package let bytes: [UInt8]

    /// Makes a frame without checks; the decoder checks the bytes against the size.
    package init(format: PixelFormat, width: Int, height: Int, stride: Int, bytes: [UInt8]) {
        self.format = format
        self.width = width
        self.height = height
        self.stride = stride
        self.bytes = bytes
    }

    package init(jpeg bytes: [UInt8]) {
        self.init(format: .mjpg, width: 0, height: 0, stride: 0, bytes: bytes)
    }
}
