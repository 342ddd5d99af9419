#!/usr/bin/env -S gjs -m
// An app that authenticates the user, and keeps a secret that only this user can read.
//
//     app.js ask [BUS]      authenticates; the exit status is the answer
//     app.js keep [BUS]     stores the secret from standard input
//     app.js show [BUS]     authenticates, and writes the secret to standard output
//
// BUS is system (the default), session or an address. Needs gjs.
//
// Secrets are plain here: they pass through the bus's memory. On the system bus only root can
// monitor. Sealing secrets needs a library with HPKE.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import System from 'system';

const SERVICE = 'org.localauth.Authentication1';
const MANAGER = '/org/localauth/Authentication1';
const CONTEXT = 'org.localauth.Context1';
const KEYCHAIN = 'org.localauth.Keychain1';
const ITEM = {
    class: GLib.Variant.new_string('genp'), svce: GLib.Variant.new_string('example-app'),
    acct: GLib.Variant.new_string('javascript'),
};
const USER_PRESENCE = 1; // reading needs biometry or the password

function connect(where) {
    if (where === 'system')
        return Gio.bus_get_sync(Gio.BusType.SYSTEM, null);
    if (where === 'session')
        return Gio.bus_get_sync(Gio.BusType.SESSION, null);
    return Gio.DBusConnection.new_for_address_sync(where,
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT |
        Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, null, null);
}

// Calls the service, which the bus starts. No timeout, because a person answers: the service has
// its own.
function call(bus, path, name, member, parameters) {
    return new Promise((resolve, reject) => {
        bus.call(SERVICE, path, name, member, parameters, null, Gio.DBusCallFlags.NONE,
            GLib.MAXINT32, null, (_, result) => {
                try {
                    resolve(bus.call_finish(result).deepUnpack()[0]);
                } catch (error) {
                    reject(error);
                }
            });
    });
}

async function keep(bus, path) {
    const input = new Gio.UnixInputStream({fd: 0, close_fd: false});
    // A read from a pipe may return only a part.
    const parts = [];
    for (let part; (part = input.read_bytes(65536, null).get_data()) && part.length > 0;)
        parts.push(...part);
    const secret = new Uint8Array(parts);
    try {
        await call(bus, path, KEYCHAIN, 'Add', new GLib.Variant('(a{sv}aya{sv}a{sv})',
            [ITEM, secret, {flags: GLib.Variant.new_uint64(USER_PRESENCE)}, {}]));
    } catch (error) {
        if (!Gio.DBusError.get_remote_error(error)?.endsWith('.Duplicate'))
            throw error;
        const found = await call(bus, path, KEYCHAIN, 'Search',
            new GLib.Variant('(a{sv}a{sv})', [ITEM, {}]));
        await call(bus, path, KEYCHAIN, 'SetSecret', new GLib.Variant('(saya{sv})',
            [found[0].id.unpack(), secret, {}]));
    }
    print('Kept.');
}

async function run(verb, where = 'system') {
    const bus = connect(where);
    const keychain = '/org/localauth/Keychain1';
    if (verb === 'keep')
        return keep(bus, keychain);
    // A context keeps its success, so reading the secret needs no second prompt.
    const context = await call(bus, MANAGER, SERVICE, 'CreateContext',
        new GLib.Variant('(a{sv})', [{}]));
    bus.signal_subscribe(SERVICE, CONTEXT, 'Event', context, null, Gio.DBusSignalFlags.NONE,
        (_bus, _sender, _path, _interface, _member, parameters) => {
            const [kind, detail] = parameters.recursiveUnpack();
            if (kind === 'no-match')
                print(`Not recognized, attempts left: ${detail['attempts-left']}`);
        });
    const reason = verb === 'show' ? 'show your secret' : 'go on';
    const result = await call(bus, context, CONTEXT, 'Evaluate',
        new GLib.Variant('(usa{sv})', [2, reason, {timeout: GLib.Variant.new_uint64(60000)}]));
    if (verb === 'ask') {
        print(`It is you, by ${result.mechanism.unpack()}`);
        return;
    }
    const found = await call(bus, keychain, KEYCHAIN, 'Search',
        new GLib.Variant('(a{sv}a{sv})', [ITEM, {}]));
    if (found.length === 0)
        throw new Error('Nothing is kept.');
    const secret = await call(bus, keychain, KEYCHAIN, 'Read', new GLib.Variant('(ssa{sv})',
        [found[0].id.unpack(), reason, {context: GLib.Variant.new_object_path(context)}]));
    new Gio.UnixOutputStream({fd: 1, close_fd: false}).write_all(secret, null);
}

function tell(error) {
    const name = error instanceof GLib.Error ? Gio.DBusError.get_remote_error(error) : null;
    if (name)
        Gio.DBusError.strip_remote_error(error);
    printerr(name === 'org.localauth.Error.UserCancel'
        ? 'Canceled.' : `Refused: ${error.message} (${name ?? 'no answer'})`);
}

const loop = GLib.MainLoop.new(null, false);
let status = 64;
if ([1, 2].includes(ARGV.length) && ['ask', 'keep', 'show'].includes(ARGV[0])) {
    run(...ARGV).then(() => (status = 0), error => {
        status = 1;
        tell(error);
    }).finally(() => loop.quit());
    loop.run();
} else {
    printerr('usage: app.js ask|keep|show [BUS]');
}
System.exit(status);
