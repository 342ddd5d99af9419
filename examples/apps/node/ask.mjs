#!/usr/bin/env node
// Asks the person at the machine to authenticate. Needs `npm install dbus-next`.
import dbus from 'dbus-next';

const SERVICE = 'org.localauth.Authentication1';
const bus = dbus.systemBus();
const question = new dbus.Message({
    destination: SERVICE, path: '/org/localauth/Authentication1', interface: SERVICE,
    member: 'Evaluate', signature: 'usa{sv}',
    body: [2, 'unlock the backup', {timeout: new dbus.Variant('t', 60_000n)}],
});
try {
    const reply = await bus.call(question);
    console.log('It is you, by', reply.body[0].mechanism.value);
} catch (error) {
    console.error(`Refused: ${error.text} (${error.type})`);
    process.exitCode = 1;
}
bus.disconnect();
