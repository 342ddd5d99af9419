// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import DBus
public import Foundation
internal import LocalAuthClient

/// Stores an item.
///
/// Blocks while a prompt asks for an application password; other items need no prompt.
///
/// - Parameters:
///   - attributes: Class, attributes, secret (`kSecValueData`) and protection of the item.
///   - result: Receives the parts that the `kSecReturn…` keys request.
/// - Returns: `errSecSuccess`, `errSecDuplicateItem`, `errSecParam` and others.
@discardableResult
public func SecItemAdd(
    _ attributes: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    perform(attributes) { item throws(KeychainFailure) in
        try await RemoteKeychain().add(item)
    } then: { found in
        result?.pointee = found
    }
}

/// Finds items, and reads their secrets if `kSecReturnData` is set.
///
/// Blocks the calling thread while a prompt is open.
///
/// - Parameters:
///   - query: The conditions and the requested parts.
///   - result: Receives data, a dictionary, a key or an array of these types.
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecUserCanceled`, `errSecAuthFailed`,
///   `errSecInteractionNotAllowed` and others.
@discardableResult
public func SecItemCopyMatching(
    _ query: CFDictionary,
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    perform(query) { item throws(KeychainFailure) in
        try await RemoteKeychain.matches(item)
    } then: { found in
        result?.pointee = found
    }
}

/// Changes all matching items.
///
/// Blocks while a prompt is open. Only a change of the secret or of the protection of a guarded
/// item may need a prompt.
///
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecParam` and others.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    let changes: ItemDictionary
    do throws(KeychainFailure) {
        changes = try ItemDictionary(attributesToUpdate)
    } catch {
        return error.status
    }
    return perform(query) { item throws(KeychainFailure) in
        try await RemoteKeychain().change(item, changes)
        return .nothing
    } then: { _ in
    }
}

/// Deletes all matching items; no prompt.
///
/// - Returns: `errSecSuccess`, `errSecItemNotFound` and others.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    perform(query) { item throws(KeychainFailure) in
        try await RemoteKeychain().remove(item)
        return .nothing
    } then: { _ in
    }
}

/// Parses the dictionary and stores the result on the caller's thread, and runs `body` on the loop.
private func perform(
    _ dictionary: CFDictionary,
    _ body:
        @escaping @BusActor @Sendable (ItemDictionary) async throws(KeychainFailure) -> ItemResult,
    then hand: (CFTypeRef?) -> Void
) -> OSStatus {
    let item: ItemDictionary
    do throws(KeychainFailure) {
        item = try ItemDictionary(dictionary)
    } catch {
        return error.status
    }
    // Without a class or a reference the query is ambiguous.
    guard item.itemClass != nil || item.id != nil else { return errSecParam }
    do throws(KeychainFailure) {
        let result = try waiting { () async throws(KeychainFailure) in
            try await body(item)
        }
        hand(result.object)
        return errSecSuccess
    } catch {
        return error.status
    }
}
