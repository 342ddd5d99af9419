// As on Apple's systems, one import brings all three modules.
@_exported public import Foundation
@_exported public import Security
