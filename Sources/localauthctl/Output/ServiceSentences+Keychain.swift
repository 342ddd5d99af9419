import Localization

/// Why the keychain refuses.
extension ServiceSentences {
    /// What it says of items.
    static let items = [
        marked("There is no such item."),
        marked("There is no such item; an earlier database of the keychain was damaged or lost."),
        marked("The item was changed behind the keychain's back: delete it, and store it again."),
        marked("The item %1$s has the same primary key."),
        marked("A user has at most %1$s items."),
        marked("A secret has at most %1$s bytes."),
        marked("The attributes of an item have at most %1$s bytes."),
        marked("An attribute has at most %1$s bytes."),
        marked("The data has more than %1$s bytes."),
        marked(
            "The items that were found have more than %1$s bytes of attributes: narrow the query, "
                + "by service or account."
        ),
        marked("There is no enrolled biometry to hold on to."),
        marked("Such an item needs a passcode, and this user has none."),
        marked("The authentication was for something else."),
        marked("The authentication is not enough for this item."),
        marked("The context was invalidated."),
        marked("The item needs its application password."),
        marked("The application password is wrong."),
        marked("The application password can't be stretched."),
        marked("The secret can't be encrypted."),
        marked("No key can be made."),
        marked("The key can't sign."),
        marked("The data was not encrypted for this key, or was changed."),
    ]

    /// What it says of itself.
    static let keychain = [
        marked("This service has no keychain."),
        marked("The state can't be written: try again."),
        marked("The keychain's file: %1$s"),
        marked("The keychain's database was changed behind its back: put an untouched one back."),
        marked(
            "The keychain was written with the master key %1$s, this is %2$s: put the right one "
                + "back, or restore it from the recovery key."
        ),
        marked(
            "The keychain's master key %1$s is missing: put it back, or restore it from the "
                + "recovery key. If it is sealed, the journal of localauth-master-key.service says "
                + "why it was not given."
        ),
        marked(
            "The keychain's master key must have %1$s bytes, %2$s has not: restore it from the "
                + "recovery key."
        ),
        marked("The keychain's master key must have %1$s bytes, this has %2$s."),
        marked(
            "A database of the keychain was damaged or lost, and so was its master key: restore "
                + "that from the recovery key, or make a new one with localauthctl keychain init."
        ),
        marked(
            "The keychain's database is older than what was last written to it: a backup? Put the "
                + "newer one back, or remove %1$s to go on with this one."
        ),
        marked("There is no master key in %1$s: the service makes one when something is stored."),
        marked(
            "this is the recovery key of the master key %1$s, the keychain was written with %2$s"
        ),
        marked("Nothing was stored with it yet."),
        marked("a recovery key has no character %1$s"),
        marked("a recovery key has %1$s letters and digits, this has %2$s"),
        marked("the recovery key's check digits don't match: something is mistyped"),
    ]

    /// What it says of arguments.
    static let arguments = [
        marked("the attribute class is genp, inet or keys, and can't be missing"),
        marked("an item can't change its class"),
        marked("the attribute %1$s is set by the keychain"),
        marked("there is no attribute %1$s"),
        marked("the attribute %1$s has a wrong type"),
        marked("an item of class %1$s has no attribute %2$s"),
        marked("there is no class %1$s"),
        marked("a key is made in the keychain, it can't be added"),
        marked("a private key never leaves the keychain"),
        marked("a private key can't be replaced"),
        marked("an item with the flag applicationPassword needs one"),
        marked("an item without the flag applicationPassword has none"),
        marked("a key has the class keys"),
        marked("the item is no key"),
        marked("a SHA-256 digest has 32 bytes"),
        marked("the public key is no X9.63 point of P-256"),
        marked("the size is from 1 to %1$s"),
        marked("there is no signature algorithm %1$s"),
        marked("there is no exchange algorithm %1$s"),
        marked("the one encryption algorithm is %1$s"),
        marked("only one logical operation can be set"),
        marked("only one bio constraint can be set"),
        marked(
            "kSecAccessControlUserPresence can be combined only with "
                + "kSecAccessControlApplicationPassword and kSecAccessControlPrivateKeyUsage"
        ),
        marked("SecAccessControl: invalid protection"),
        marked("SecAccessControl: a flag that is none"),
        marked("an item has an access control or an accessibility, not both"),
    ]
}
