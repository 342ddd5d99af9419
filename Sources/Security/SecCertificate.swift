// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// A certificate; there are none here.
public final class SecCertificate: NSObject, Sendable {
    private override init() {}
}
