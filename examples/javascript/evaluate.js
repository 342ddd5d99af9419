#!/usr/bin/env -S gjs -m
// Authenticates the user, and shows the progress.
//
// Needs gjs.  ./evaluate.js [system | session | ADDRESS]
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import System from 'system';

const SERVICE = 'org.localauth.Authentication1';
const PATH = '/org/localauth/Authentication1';
const BIOMETRICS_OR_PASSCODE = 2;

function connect(where) {
    if (where === 'system')
        return Gio.bus_get_sync(Gio.BusType.SYSTEM, null);
    if (where === 'session')
        return Gio.bus_get_sync(Gio.BusType.SESSION, null);
    return Gio.DBusConnection.new_for_address_sync(where,
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT |
        Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, null, null);
}

function call(bus, destination, member, parameters) {
    // No timeout here, because the service has its own (option "timeout").
    return new Promise((resolve, reject) => {
        bus.call(destination, PATH, SERVICE, member, parameters, null,
            Gio.DBusCallFlags.NONE, GLib.MAXINT32, null, (_, result) => {
                try {
                    resolve(bus.call_finish(result));
                } catch (error) {
                    reject(error);
                }
            });
    });
}

function ownerOf(bus, name) {
    // Ignore events from other senders: any program can send a signal with this interface, but the
    // bus sets the sender.
    const reply = bus.call_sync('org.freedesktop.DBus', '/org/freedesktop/DBus',
        'org.freedesktop.DBus', 'GetNameOwner', new GLib.Variant('(s)', [name]), null,
        Gio.DBusCallFlags.NONE, -1, null);
    return reply.deepUnpack()[0];
}

async function main(where) {
    let bus, owner;
    try {
        bus = connect(where);
        owner = ownerOf(bus, SERVICE);
    } catch (error) {
        printerr(`The service is not running: ${error.message}`);
        return 3;
    }
    bus.signal_subscribe(owner, SERVICE, 'Event', PATH, null, Gio.DBusSignalFlags.NONE,
        (_bus, _sender, _path, _interface, _member, parameters) => {
            const [kind, detail] = parameters.recursiveUnpack();
            printerr(kind, JSON.stringify(detail));
        });
    try {
        // The reply of this call is the answer. Events are progress, never the verdict.
        const reply = await call(bus, owner, 'Evaluate', new GLib.Variant('(usa{sv})', [
            BIOMETRICS_OR_PASSCODE, 'show how a JavaScript program asks',
            {timeout: GLib.Variant.new_uint64(60000)},
        ]));
        print('It is you:', JSON.stringify(reply.recursiveUnpack()[0]));
        return 0;
    } catch (error) {
        const name = Gio.DBusError.get_remote_error(error) ?? 'no answer';
        Gio.DBusError.strip_remote_error(error);
        printerr(`Not granted: ${error.message} (${name})`);
        return 1;
    }
}

const loop = GLib.MainLoop.new(null, false);
let status = 1;
main(ARGV[0] ?? 'session').then(code => {
    status = code;
}, error => {
    printerr(`${error}`);
}).finally(() => loop.quit());
loop.run();
System.exit(status);
