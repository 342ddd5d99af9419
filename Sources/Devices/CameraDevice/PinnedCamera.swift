/// A camera whose identity is checked again after its hook has run and it is open.
package struct PinnedCamera: Sendable {
    private let device: String
    private let identity: CameraIdentity
    private let hook: PreOpenHook?

    package init(device: String, identity: CameraIdentity, hook: PreOpenHook?) {
        self.device = device
        self.identity = identity
        self.hook = hook
    }

    /// Runs the hook, opens the camera, and asks the kernel for the opened camera's identity.
    ///
    /// Tests set `root`, a prefix of `/dev` and `/sys`.
    /// - Throws: ``CameraFault/untrusted(_:)`` if another camera was opened; the faults of the hook
    ///   and of ``V4L2Source``.
    package func open(
        _ interruption: Interruption,
        system: VideoSystem = .kernel,
        root: String = ""
    ) throws(CameraFault) -> V4L2Source {
        try hook?.run(device, interruption)
        let camera = try V4L2Source(path: root + device, system: system)
        guard let number = camera.number else {
            throw .untrusted("\(device) is no video device.")
        }
        let opened = try CameraIdentity(opened: number, root: root)
        guard opened == identity else {
            throw .untrusted(
                "\(device) became another camera while it was opened: \(opened), not \(identity)."
            )
        }
        return camera
    }
}
