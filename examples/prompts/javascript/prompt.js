#!/usr/bin/env -S gjs -m
// A prompt on a terminal for passwords: ./prompt.js [--bus system|session|ADDRESS].
// Enter sends the password, Ctrl-C cancels. Needs gjs and localauthctl.
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
const SERVICE = 'org.localauth.Authentication1', ROOT = '/org/localauth/Authentication1';
const PATH = '/org/localauth/Agent1', ERROR = 'org.freedesktop.DBus.Error.';
const INTERFACE = Gio.DBusNodeInfo.new_for_xml(`<node><interface name="org.localauth.Agent1">
    <method name="Begin"><arg type="s"/><arg type="a{sv}"/></method>
    <method name="Update"><arg type="s"/><arg type="s"/><arg type="a{sv}"/></method>
    <method name="End"><arg type="s"/><arg type="s"/></method></interface></node>`).interfaces[0];
const SENTENCES = {
    'program': 'A program of yours asked for the password.', 'no-match': 'No match.',
    'remote': 'Your administrator asked for the password.', 'success': 'It is you.',
    'passcode-required': 'Type the password.', 'passcode-rejected': 'Wrong password.'};
const keys = new Gio.UnixInputStream({fd: 0, close_fd: false});
let owner = null, prompt = null; // the service's unique name; the open prompt

// Removes control characters, changes of direction and quotation marks.
const plain = text => text.replace(/[\p{C}\p{Zl}\p{Zp}”]/gu, '').slice(0, 512);
const say = text => print(`\n${text}\n${prompt?.takes ? 'Password:' : ''}`);
const identity = path => Gio.File.new_for_path(path).query_info('id::file', 0, null)
    .get_attribute_string('id::file');
// Names the caller by facts from the service or the kernel, never by its own claim.
function caller(details) {
    const name = plain(details['app-name'] ?? '');
    const app = name ? `The sandboxed app “${name}”` : 'A sandboxed app';
    if (details.sandboxed !== false) return app;
    const file = `/proc/${details.pid}/exe`, space = `/proc/${details.pid}/ns/mnt`;
    try {
        const path = GLib.file_read_link(file), own = identity('/proc/self/ns/mnt');
        if (identity(path) === identity(file) && identity(space) === own) return plain(path);
    } catch {} // the program has exited, or belongs to another user
    return 'A program that hides what it is';
}

function stty(words) {
    const [, output] = GLib.spawn_command_line_sync(`stty -F /dev/tty ${words}`);
    return new TextDecoder().decode(output).trim();
}
function drop() { // earlier input
    stty('-echo -isig -icanon min 0');
    while (keys.is_readable()) keys.read_bytes(4096, null);
    stty('icanon eol ^C'); // Ctrl-C ends a line, like Enter
}
function call(member, kinds, ...words) {
    const variant = new GLib.Variant(kinds, words);
    bus.call(owner, ROOT, SERVICE, member, variant, null, 0, -1, null, (_, result) => {
        try { bus.call_finish(result); } catch (error) { say(plain(error.message)); }
    });
}
const agent = {
    Begin(handle, details) {
        const {stage, policy, 'require-confirmation': confirms} = details;
        const takes = stage === 'passcode' || policy === 2;
        if (prompt || confirms || !/^(biometry|passcode)$/.test(stage)) throw Error('No.');
        const name = plain(details.requester ?? ''), what = plain(details.reason);
        const text = `${caller(details)} wants to: ${what}${name && ` (for “${name}”, it says)`}`;
        prompt = {handle, takes, key: details['passcode-key'], terminal: stty('-g')};
        drop();
        prompt.source = GLib.unix_fd_add_full(0, 0, GLib.IOCondition.IN, typed);
        say(text);
    },
    Update(handle, kind, detail) {
        if (handle !== prompt?.handle || kind === 'success') return; // End follows
        let text = SENTENCES[detail.cause] ?? SENTENCES[kind] ?? plain(detail.hint ?? '');
        if (kind.endsWith('password-required') || kind === 'passcode-required') {
            prompt.takes = kind === 'passcode-required'; // application passwords are unsupported
            prompt.key = detail['passcode-key'] ?? prompt.key;
            drop();
        }
        if (detail.delay) text = `Too many wrong passwords: wait ${detail.delay / 1000} s.`;
        prompt.takes = prompt.takes && !detail.delay;
        if (detail.text) text += ` “${plain(detail.text)}”`;
        if ('attempts-left' in detail) text += ` Attempts left: ${+detail['attempts-left']}.`;
        say(text);
    },
    End(handle, outcome) {
        if (!prompt || handle !== prompt.handle) return;
        GLib.source_remove(prompt.source), drop(), stty(prompt.terminal);
        prompt = null, say(SENTENCES[outcome] ?? 'It has ended.');
    },
};
function called(_, sender, path, name, member, words, call) {
    if (sender !== owner) return call.return_dbus_error(`${ERROR}AccessDenied`, 'Not yours.');
    try {
        agent[member](...words.recursiveUnpack());
        call.return_value(null);
    } catch (error) { call.return_dbus_error(`${ERROR}InvalidArgs`, error.message); }
}
function typed() {
    const line = keys.read_bytes(4096, null).toArray();
    if (line.at(-1) !== 10) call('SubmitCancel', '(s)', prompt.handle);
    else if (line.length > 1 && prompt.takes)
        try { submit(line.slice(0, -1)); } catch (error) { say(plain(error.message)); }
    return true;
}
function submit(secret) {
    const key = GLib.base64_encode(prompt.key), info = 'org.localauth.Passcode1';
    const words = ['localauthctl', 'seal', '--key', key, '--info', info, '--aad', prompt.handle];
    const pipes = Gio.SubprocessFlags.STDIN_PIPE | Gio.SubprocessFlags.STDOUT_PIPE;
    const child = Gio.Subprocess.new(words, pipes);
    const [, sealed] = child.communicate(secret, null);
    if (!child.get_successful()) return say('The password could not be sealed.');
    call('SubmitPasscode', '(say)', prompt.handle, sealed.toArray());
}
function meet(name) { // a new owner of the service's name, or none
    agent.End(prompt?.handle, 'system');
    owner = name;
    if (owner) call('RegisterAgent', '(oa{sv})', PATH, {});
}

const where = ARGV[1] ?? 'system', loop = new GLib.MainLoop(null, false);
if (where.includes(':')) GLib.setenv('DBUS_SESSION_BUS_ADDRESS', where, true);
const bus = Gio.bus_get_sync(where === 'system' ? 1 : 2, null);
bus.register_object(PATH, INTERFACE, called, null, null);
Gio.bus_watch_name_on_connection(bus, SERVICE, 0, (_, __, name) => meet(name), () => meet(null));
for (const signal of [2, 15]) GLib.unix_signal_add(0, signal, () => loop.quit());
loop.run();
agent.End(prompt?.handle, 'system');
