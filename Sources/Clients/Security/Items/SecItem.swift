// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import DBus
public import Foundation
internal import LocalAuthClient

/// Stores an item; nobody is prompted.
///
/// The result pointer is part of Apple's signature.
///
/// - Parameters:
///   - attributes: What it is, its secret as `kSecValueData`, and what guards it.
///   - result: Gets what the `kSecReturn…` keys ask for.
/// - Returns: `errSecSuccess`, `errSecDuplicateItem`, `errSecParam` and others.
@discardableResult
public func SecItemAdd(
    _ attributes: CFDictionary,
    // Apple's signature has it so.
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    perform(attributes) { item throws(KeychainFailure) in
        try await RemoteKeychain().add(item)
    } then: { found in
        result?.pointee = found
    }
}

/// Finds items, and reads their secrets when `kSecReturnData` asks for them.
///
/// Blocks the calling thread while a prompt is up.
///
/// The result pointer is part of Apple's signature.
///
/// - Parameters:
///   - query: What to find, and what to return of it.
///   - result: Gets data, a dictionary, a key, or an array of them.
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, `errSecUserCanceled`, `errSecAuthFailed`,
///   `errSecInteractionNotAllowed` and others.
@discardableResult
public func SecItemCopyMatching(
    _ query: CFDictionary,
    // Apple's signature has it so.
    _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    perform(query) { item throws(KeychainFailure) in
        try await RemoteKeychain.matches(item)
    } then: { found in
        result?.pointee = found
    }
}

/// Changes all items that are found; nobody is prompted.
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

/// Deletes all items that are found; nobody is prompted.
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

/// Reads the dictionary here, does the rest on the loop, and hands the result out here.
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
    // Without a class nothing says what is meant.
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
