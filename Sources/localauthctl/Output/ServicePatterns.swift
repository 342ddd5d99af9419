// Made by make messages from the sources of the service; do not edit.

/// The service's sentences with values in them, the most specific first.
let servicePatterns = [
    "The keychain's master key %1$s is missing: put it back, or restore it from the "
        + "recovery key. If it is sealed, the journal of localauth-master-key.service says "
        + "why it was not given.",
    "The keychain's database is older than what was last written to it: a backup? Put"
        + " the newer one back, or remove %1$s to go on with this one.",
    "The keychain was written with the master key %1$s, this is %2$s: put the right "
        + "one back, or restore it from the recovery key.",
    "The items that were found have more than %1$s bytes of attributes: narrow the "
        + "query, by service or account.",
    "The keychain's master key must have %1$s bytes, %2$s has not: restore it from "
        + "the recovery key.",
    "There is no master key in %1$s: the service makes one when something is stored.",
    "this is the recovery key of the master key %1$s, the keychain was written with "
        + "%2$s",
    "Wait until %1$s, then give your passcode: localauthctl evaluate --policy 2.",
    "What is on the bus as passcode verifier runs as %1$s: it is not trusted.",
    "The keychain's master key must have %1$s bytes, this has %2$s.",
    "Too many wrong passcodes: none is taken for %1$s, until %2$s.",
    "Too many wrong passcodes: none is taken for another %1$s.",
    "Keychain items of yours: %1$s; the key %2$s is a credential.",
    "Keychain items of yours: %1$s; the key %2$s is in a file.",
    "a recovery key has %1$s letters and digits, this has %2$s",
    "The attributes of an item have at most %1$s bytes.",
    "The database was damaged and set aside as %1$s.",
    "The keychain was damaged and set aside as %1$s.",
    "The passcode is required before biometry %1$s.",
    "The passcode verifier can't be started: %1$s",
    "You have %1$s templates on usable sensors.",
    "the attribute %1$s is set by the keychain",
    "Install it in %1$s, then reload the bus.",
    "The item %1$s has the same primary key.",
    "an item of class %1$s has no attribute %2$s",
    "There is a master key in %1$s already.",
    "The sensor %1$s can't be used now (%2$s).",
    "An attribute has at most %1$s bytes.",
    "a recovery key has no character %1$s",
    "the one encryption algorithm is %1$s",
    "there is no signature algorithm %1$s",
    "%1$s has no device on this machine.",
    "the attribute %1$s has a wrong type",
    "there is no exchange algorithm %1$s",
    "The data has more than %1$s bytes.",
    "A secret has at most %1$s bytes.",
    "The bus policy %1$s is missing.",
    "A user has at most %1$s items.",
    "Connections that watch: %1$s.",
    "the size is from 1 to %1$s",
    "there is no attribute %1$s",
    "The keychain's file: %1$s",
    "You are in session %1$s.",
    "there is no class %1$s",
    "%1$s can't be used: %2$s.",
    "%1$s is not trusted: %2$s",
    "%1$s is degraded: %2$s",
    "%1$s is failed: %2$s",
    "Wait until %1$s.",
    "%1$s minutes",
    "%1$s seconds",
]
