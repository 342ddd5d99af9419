// Code for Apple's systems gets both with the one import.
@_exported public import Foundation
@_exported public import Security
