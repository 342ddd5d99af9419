/// A source of frames, used by a single thread at a time and closed on release.
package protocol FrameSource: AnyObject {
    var format: PixelFormat { get }

    /// Waits for the next frame.
    ///
    /// - Throws: ``CameraFault/interrupted`` as soon as the interruption is raised.
    func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame
}

package enum CameraFault: Error, Hashable, Sendable {
    case interrupted
    /// Another program uses the camera.
    case busy
    /// The camera is unplugged or missing.
    case disconnected
    /// The device cannot be trusted as a camera; a sentence for people says why.
    case untrusted(String)
    /// Any other failure; a sentence for people describes it.
    case failed(String)
}
