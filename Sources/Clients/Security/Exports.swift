// Apple's Security re-exports Core Foundation, which belongs to Foundation here.
@_exported public import Foundation
