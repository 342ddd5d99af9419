/// How the bytes of a frame are laid out.
package enum PixelFormat: Sendable, Hashable, CaseIterable {
    /// Two pixels in four bytes (YUYV): luma, blue chroma, luma, red chroma.
    case yuyv
    /// Luma of the whole picture, then blue and red chroma in turns for each four pixels.
    case nv12
    /// Luma of the whole picture, then blue chroma, then red chroma, each for four pixels.
    case i420
    /// One JPEG picture.
    case mjpg
    /// One byte of luma for each pixel, as infrared cameras give it.
    case grey
    /// Three bytes a pixel: red, green, blue.
    case rgb
    /// Three bytes a pixel: blue, green, red.
    case bgr
    /// Four bytes a pixel, of which the last says nothing.
    case rgbx
    /// Four bytes a pixel, of which the last says nothing.
    case bgrx
}

/// One picture as a camera gave it.
package struct Frame: Sendable, Hashable {
    /// The largest frame that is taken, in bytes.
    package static let maximumBytes = 8 << 20

    /// How the bytes are laid out.
    package let format: PixelFormat
    /// In pixels; 0 for JPEG, which says it itself.
    package let width: Int
    /// In pixels; 0 for JPEG, which says it itself.
    package let height: Int
    /// Bytes from one line of luma to the next; 0 for JPEG.
    package let stride: Int
    package let bytes: [UInt8]

    /// A frame of these bytes; whoever decodes it checks that they fit the size.
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
