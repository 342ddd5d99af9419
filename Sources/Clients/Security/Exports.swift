// Apple's Security brings Core Foundation along, which is a part of Foundation here.
@_exported public import Foundation
