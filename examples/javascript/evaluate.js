#!/usr/bin/env -S gjs -m
// Authenticates the user, and shows the progress.
//
//     evaluate.js [BUS]
//
// BUS is system (the default), session or an address. Needs gjs.
// Exit status: 0 yes, 1 no, 3 the service did not answer.
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

function call(bus, member, parameters) {
    // No timeout here, because the service has its own (option "timeout").
    return new Promise((resolve, reject) => {
        bus.call(SERVICE, PATH, SERVICE, member, parameters, null,
            Gio.DBusCallFlags.NONE, GLib.MAXINT32, null, (_, result) => {
                try {
                    resolve(bus.call_finish(result));
                } catch (error) {
                    reject(error);
                }
            });
    });
}

async function main(where) {
    let bus;
    try {
        bus = connect(where);
    } catch (error) {
        printerr(`No bus: ${error.message}`);
        return 3;
    }
    bus.signal_subscribe(SERVICE, SERVICE, 'Event', PATH, null, Gio.DBusSignalFlags.NONE,
        (_bus, _sender, _path, _interface, _member, parameters) => {
            const [kind, detail] = parameters.recursiveUnpack();
            printerr(kind, JSON.stringify(detail));
        });
    try {
        // The bus starts the service. The reply is the answer. Events are never the verdict.
        const reply = await call(bus, 'Evaluate', new GLib.Variant('(usa{sv})', [
            BIOMETRICS_OR_PASSCODE, 'show how a JavaScript program asks',
            {timeout: GLib.Variant.new_uint64(60000)},
        ]));
        print('It is you:', JSON.stringify(reply.recursiveUnpack()[0]));
        return 0;
    } catch (error) {
        const name = Gio.DBusError.get_remote_error(error) ?? 'no answer';
        Gio.DBusError.strip_remote_error(error);
        printerr(`Not granted: ${error.message} (${name})`);
        return name.startsWith('org.localauth.') ? 1 : 3;
    }
}

const loop = GLib.MainLoop.new(null, false);
let status = 1;
main(ARGV[0] ?? 'system').then(code => {
    status = code;
}, error => {
    printerr(`${error}`);
}).finally(() => loop.quit());
loop.run();
System.exit(status);
