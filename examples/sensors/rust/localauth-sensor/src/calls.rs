//! Incoming messages and their answers.

use crate::bus::{fault, Bus};
use crate::{Sensor, Task, Template, BUS, DAEMON, PATH, PROPERTIES, SENSOR};
use dbus::arg::{ArgType, PropMap, RefArg, Variant};
use dbus::message::MessageType;
use dbus::strings::ErrorName;
use dbus::Message;
use std::collections::HashMap;
use std::ffi::CString;

const INVALID: &str = "org.freedesktop.DBus.Error.InvalidArgs";
const NO_METHOD: &str = "org.freedesktop.DBus.Error.UnknownMethod";
const NO_PROPERTY: &str = "org.freedesktop.DBus.Error.UnknownProperty";
const INTERFACE: &str = include_str!("org.localauth.Sensor1.xml");

pub(crate) fn caller(call: &Message) -> String {
    call.sender()
        .map(|name| name.to_string())
        .unwrap_or_default()
}

pub(crate) fn refusal(call: &Message, name: &str) -> Message {
    let text = CString::new("It can't be done.").expect("no NUL in it");
    call.error(&ErrorName::from(name), &text)
}

pub(crate) fn values(sensor: &dyn Sensor) -> PropMap {
    fn value<T: RefArg + 'static>(name: &str, value: T) -> (String, Variant<Box<dyn RefArg>>) {
        (name.to_string(), Variant(Box::new(value)))
    }
    let is = sensor.properties();
    let mut all = PropMap::from([
        value("ProtocolVersions", vec![1u32]),
        value("Description", is.description.to_string()),
        value("BiometryType", is.biometry_type),
        value("Strength", is.strength.to_string()),
        value("Present", is.unavailability.is_empty()),
        value("Unavailability", is.unavailability.to_string()),
        value("EnrollStages", is.stages as i32),
        value("MaxTemplates", is.max_templates),
    ]);
    if !is.instructions.is_empty() {
        let words = is.instructions.iter();
        let map: HashMap<String, String> = words
            .map(|(language, text)| (language.to_string(), text.to_string()))
            .collect();
        all.extend([value("Instructions", map)]);
    }
    all
}

fn signature(call: &Message) -> String {
    let mut words = call.iter_init();
    let mut all = String::new();
    while words.arg_type() != ArgType::Invalid {
        all += &words.signature();
        words.next();
    }
    all
}

/// Handles a call of Sensor1 by the daemon. Returns an operation to begin, or answers at once.
fn called(
    bus: &mut Bus,
    sensor: &mut dyn Sensor,
    call: &Message,
) -> Result<Option<(u64, Task)>, String> {
    let member = call
        .member()
        .map(|name| name.to_string())
        .unwrap_or_default();
    match (member.as_str(), signature(call).as_str()) {
        ("Verify", "tua{sv}") => {
            let (number, uid) = read(call.read2::<u64, u32>())?;
            if of(sensor, uid)?.is_empty() {
                return Err(fault("NoTemplates"));
            }
            bus.may_begin(sensor, &(number, caller(call)))?;
            return Ok(Some((number, Task::Verify { uid })));
        }
        ("Enroll", "tusa{sv}") => {
            let (number, uid, label) = read(call.read3::<u64, u32, &str>())?;
            bounded(label)?;
            let room = sensor.properties().max_templates as usize;
            if of(sensor, uid)?.len() >= room && room > 0 {
                return Err(fault("Full"));
            }
            bus.may_begin(sensor, &(number, caller(call)))?;
            let label = label.to_string();
            return Ok(Some((number, Task::Enroll { uid, label })));
        }
        ("Cancel", "t") => {
            bus.cancel((read(call.read1::<u64>())?, caller(call)));
            bus.answer(call, Ok(()));
        }
        ("ListTemplates", "u") => {
            let list = of(sensor, read(call.read1::<u32>())?)?.into_iter();
            let rows: Vec<_> = list.map(|one| (one.id, one.label, one.created)).collect();
            bus.answer(call, Ok((rows,)));
        }
        ("RenameTemplate", "uss") => {
            let (uid, id, label) = read(call.read3::<u32, &str, &str>())?;
            bounded(label)?;
            find(sensor, uid, id)?;
            let mut all = sensor.templates();
            let named = all.iter_mut().filter(|one| one.uid == uid && one.id == id);
            named.for_each(|one| one.label = label.to_string());
            change(sensor, all)?;
            bus.answer(call, Ok(()));
        }
        ("RemoveTemplate", "us") => {
            let (uid, id) = read(call.read2::<u32, &str>())?;
            find(sensor, uid, id)?;
            let mut all = sensor.templates();
            all.retain(|one| one.uid != uid || one.id != id);
            change(sensor, all)?;
            bus.templates_changed(uid);
            bus.answer(call, Ok(()));
        }
        ("RemoveAllTemplates", "u") => {
            let uid = read(call.read1::<u32>())?;
            let count = of(sensor, uid)?.len() as u32;
            if count > 0 {
                let mut all = sensor.templates();
                all.retain(|one| one.uid != uid);
                change(sensor, all)?;
                bus.templates_changed(uid);
            }
            bus.answer(call, Ok((count,)));
        }
        ("Health", "") => bus.answer(call, Ok(("ok", ""))),
        // Learn, ListLearned and RemoveLearned are optional.
        (name, _) if name.contains("Learn") || !declares(name) => return Err(NO_METHOD.into()),
        _ => return Err(INVALID.into()),
    }
    Ok(None)
}

fn declares(method: &str) -> bool {
    INTERFACE.contains(&format!("<method name=\"{method}\">"))
}

fn read<T, E>(words: Result<T, E>) -> Result<T, String> {
    words.map_err(|_| INVALID.to_string())
}

fn bounded(text: &str) -> Result<(), String> {
    if text.len() > 256 {
        return Err(INVALID.into());
    }
    Ok(())
}

/// The templates of a user.
fn of(sensor: &dyn Sensor, uid: u32) -> Result<Vec<Template>, String> {
    if uid == u32::MAX {
        return Err(INVALID.into());
    }
    let all = sensor.templates().into_iter();
    Ok(all.filter(|one| one.uid == uid).collect())
}

fn change(sensor: &mut dyn Sensor, all: Vec<Template>) -> Result<(), String> {
    if sensor.change(all) {
        Ok(())
    } else {
        Err(fault("Failed"))
    }
}

fn find(sensor: &dyn Sensor, uid: u32, id: &str) -> Result<(), String> {
    bounded(id)?;
    let is_there = of(sensor, uid)?.iter().any(|one| one.id == id);
    if is_there {
        Ok(())
    } else {
        Err(fault("NoTemplates"))
    }
}

/// Handles a call of an interface that is open to all callers.
fn asked(bus: &Bus, sensor: &dyn Sensor, call: &Message) -> Result<(), String> {
    let interface = call
        .interface()
        .map(|name| name.to_string())
        .unwrap_or_default();
    let member = call
        .member()
        .map(|name| name.to_string())
        .unwrap_or_default();
    let is_known = |name: &str| name.is_empty() || name == SENSOR;
    match (
        interface.as_str(),
        member.as_str(),
        signature(call).as_str(),
    ) {
        (PROPERTIES, "GetAll", "s") => {
            let mut all = values(sensor);
            all.retain(|_, _| call.read1::<&str>().map_or(false, is_known));
            bus.answer(call, Ok((all,)));
        }
        (PROPERTIES, "Get", "ss") => {
            let (interface, name) = read(call.read2::<&str, &str>())?;
            let value = values(sensor).remove(name).filter(|_| is_known(interface));
            bus.answer(call, Ok((value.ok_or(NO_PROPERTY)?,)));
        }
        (PROPERTIES, "Set", "ssv") => {
            return Err("org.freedesktop.DBus.Error.PropertyReadOnly".into());
        }
        (PROPERTIES, "Get" | "GetAll" | "Set", _) => return Err(INVALID.into()),
        ("org.freedesktop.DBus.Introspectable", "Introspect", "") => {
            bus.answer(call, Ok((INTERFACE,)));
        }
        ("org.freedesktop.DBus.Peer", "Ping", "") => bus.answer(call, Ok(())),
        _ => return Err(NO_METHOD.into()),
    }
    Ok(())
}

pub(crate) fn received(bus: &mut Bus, sensor: &mut dyn Sensor, message: Message) {
    match message.msg_type() {
        MessageType::MethodReturn | MessageType::Error => bus.counted(&message),
        MessageType::Signal => {
            // A program has left the bus. Only the bus may send this signal.
            let by_bus = message.sender().as_deref() == Some(BUS);
            let running = bus.running();
            if by_bus && message.member().as_deref() == Some("NameOwnerChanged") {
                if message.read1::<&str>().ok() == running.as_deref() && running.is_some() {
                    bus.fail("Canceled");
                }
            }
        }
        MessageType::MethodCall => {
            let interface = message.interface().map(|name| name.to_string());
            let result = if message.path().as_deref() != Some(PATH) {
                Err("org.freedesktop.DBus.Error.UnknownObject".to_string())
            } else if interface.map_or(false, |name| name != SENSOR) {
                asked(bus, sensor, &message).map(|()| None)
            } else if !bus.owns(&caller(&message), DAEMON) {
                Err("org.freedesktop.DBus.Error.AccessDenied".to_string())
            } else {
                called(bus, sensor, &message)
            };
            match result {
                Ok(Some(operation)) => bus.begin(message, operation),
                Ok(None) => (),
                Err(name) => bus.answer::<()>(&message, Err(&name)),
            }
        }
    }
}
