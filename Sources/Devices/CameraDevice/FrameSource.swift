/// Where frames come from; used by one thread at a time, closed when it is released.
package protocol FrameSource: AnyObject {
    /// What its frames are.
    var format: PixelFormat { get }

    /// Waits for the next frame.
    ///
    /// - Throws: ``CameraFault/interrupted`` as soon as the interruption is raised.
    func nextFrame(_ interruption: Interruption) throws(CameraFault) -> Frame
}

/// Why there is no frame.
package enum CameraFault: Error, Hashable, Sendable {
    /// Somebody raised the interruption.
    case interrupted
    /// Another program has the camera.
    case busy
    /// The camera went away, or was never there.
    case disconnected
    /// It is not a camera that can be trusted: one sentence for people.
    case untrusted(String)
    /// Anything else: one sentence for people.
    case failed(String)
}
