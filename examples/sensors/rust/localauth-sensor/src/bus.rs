//! The bus connection and the running operation.

use crate::calls::{caller, refusal, values};
use crate::{Sensor, Task, Template, BUS, DAEMON, PATH, PROPERTIES, SENSOR};
use dbus::arg::{AppendAll, PropMap, RefArg, Variant};
use dbus::channel::Channel;
use dbus::message::MessageType;
use dbus::strings::BusName;
use dbus::{Error, Message};
use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

const BUS_PATH: &str = "/org/freedesktop/DBus";
const DAEMON_PATH: &str = "/org/localauth/Authentication1";
const HOST: &str = "org.localauth.SensorHost1";

struct Operation {
    call: Message,
    number: u64,
    task: Task,
    /// False until the service has counted a miss.
    looks: bool,
    misses: u32,
    stages: u32,
    /// The serial of the running NoMatch call, and its timeout.
    counting: Option<(u32, Instant)>,
    /// The time of the next NoMatch call, after an error.
    again: Option<Instant>,
}

/// The bus connection and the running operation.
pub struct Bus {
    pub(crate) channel: Channel,
    operation: Option<Operation>,
    /// Cancellations that arrived before their operation.
    early: VecDeque<(u64, String)>,
}

impl Bus {
    pub(crate) fn new(mut channel: Channel) -> Bus {
        channel.set_watch_enabled(true);
        Bus {
            channel,
            operation: None,
            early: VecDeque::new(),
        }
    }

    /// The caller of the running operation.
    pub(crate) fn running(&self) -> Option<String> {
        self.operation.as_ref().map(|one| caller(&one.call))
    }

    /// The task that needs the hardware; `None` without an operation or while a miss is counted.
    pub fn task(&self) -> Option<Task> {
        let running = self.operation.as_ref().filter(|one| one.looks);
        running.map(|one| one.task.clone())
    }

    /// Ends Verify with a match of this template.
    pub fn matched(&mut self, id: &str) {
        self.end(Ok(id));
    }

    /// Reports a miss of Verify, until the service has counted it.
    pub fn missed(&mut self) {
        if let Some(one) = &mut self.operation {
            one.looks = false;
            one.misses += 1;
            self.count();
        }
    }

    /// Sends a hint for the user, such as `lift-and-retry`.
    pub fn hint(&mut self, hint: &str) {
        self.event("hint", vec![("hint", Box::new(hint.to_string()))]);
    }

    /// Reports a stage of Enroll. Returns true after the last: call [`Bus::enrolled`] next.
    pub fn staged(&mut self, sensor: &dyn Sensor) -> bool {
        let stages = sensor.properties().stages;
        let done = self.operation.as_mut().map_or(0, |one| {
            one.stages += 1;
            one.stages
        });
        self.event(
            "stage",
            vec![
                ("stage", Box::new(done)),
                ("stages", Box::new(stages as i32)),
            ],
        );
        done >= stages
    }

    /// Ends Enroll with a new template.
    pub fn enrolled(&mut self, sensor: &mut dyn Sensor, template: io::Result<Template>) {
        let (mut all, new) = match template {
            Ok(template) => (sensor.templates(), template),
            Err(_) => return self.fail("Failed"),
        };
        all.push(new.clone());
        if !sensor.change(all) {
            return self.fail("Failed");
        }
        self.end(Ok(&new.id));
        self.templates_changed(new.uid);
    }

    /// Reports a change of a user's templates, for any reason.
    pub fn templates_changed(&mut self, uid: u32) {
        self.signal(None, SENSOR, "TemplatesChanged", (uid,));
    }

    /// Reports a change of `Present` and `Unavailability`. Without hardware the operation ends.
    pub fn properties_changed(&mut self, sensor: &dyn Sensor) {
        let mut all = values(sensor);
        let away = !sensor.properties().unavailability.is_empty();
        all.retain(|name, _| name == "Present" || name == "Unavailability");
        let invalidated = Vec::<String>::new();
        self.signal(
            None,
            PROPERTIES,
            "PropertiesChanged",
            (SENSOR, all, invalidated),
        );
        if away {
            self.fail("Disconnected");
        }
    }

    /// Ends the operation with an error: `Disconnected`, `Failed` or `Canceled`.
    pub fn fail(&mut self, error: &str) {
        self.end(Err(&fault(error)));
    }

    fn end(&mut self, result: Result<&str, &str>) {
        if let Some(one) = self.operation.take() {
            self.answer(&one.call, result.map(|id| (id.to_string(),)));
        }
    }

    pub(crate) fn answer<A: AppendAll>(&self, call: &Message, result: Result<A, &str>) {
        self.send(match result {
            Ok(values) => call.return_with_args(values),
            Err(name) => refusal(call, name),
        });
    }

    /// Ignores errors: without a bus `run` ends anyway.
    fn send(&self, message: Message) -> Option<u32> {
        self.channel.send(message).ok()
    }

    pub(crate) fn signal<A: AppendAll>(
        &self,
        to: Option<&str>,
        interface: &str,
        member: &str,
        words: A,
    ) {
        let mut signal = Message::new_signal(PATH, interface, member).expect("names are ours");
        signal.set_destination(to.map(BusName::from));
        signal.append_all(words);
        self.send(signal);
    }

    fn event(&self, kind: &str, detail: Vec<(&str, Box<dyn RefArg>)>) {
        if let Some(one) = &self.operation {
            let values = detail.into_iter();
            let detail: PropMap = values
                .map(|(name, value)| (name.into(), Variant(value)))
                .collect();
            self.signal(
                Some(&caller(&one.call)),
                SENSOR,
                "Event",
                (one.number, kind, detail),
            );
        }
    }

    pub(crate) fn count(&mut self) {
        let one = match &mut self.operation {
            Some(one) => one,
            None => return,
        };
        let call = Message::new_method_call(caller(&one.call), DAEMON_PATH, HOST, "NoMatch")
            .map(|call| call.append2(one.number, one.misses));
        let sent = call.ok().and_then(|call| self.channel.send(call).ok());
        one.counting = sent.map(|serial| (serial, Instant::now() + Duration::from_secs(5)));
        one.again = None;
    }

    /// Handles the reply to NoMatch, the number of attempts left. After 0 a Cancel follows.
    pub(crate) fn counted(&mut self, reply: &Message) {
        let one = match &mut self.operation {
            Some(one) => one,
            None => return,
        };
        let waited_for = one.counting.map(|(serial, _)| serial);
        if waited_for.is_none() || waited_for != reply.get_reply_serial() {
            return;
        }
        if reply.sender().as_deref() != Some(caller(&one.call).as_str()) {
            return;
        }
        one.counting = None;
        match reply.read1::<u32>() {
            Ok(left) if reply.msg_type() == MessageType::MethodReturn => one.looks = left > 0,
            _ => one.again = Some(Instant::now() + Duration::from_millis(250)),
        }
    }

    /// The time of the next NoMatch call, or the timeout of the running call.
    pub(crate) fn due(&self) -> Option<Instant> {
        let one = self.operation.as_ref()?;
        one.again.or(one.counting.map(|(_, until)| until))
    }

    pub(crate) fn ask(&self, member: &str, name: &str) -> Result<Message, Error> {
        let mut call = Message::new_method_call(BUS, BUS_PATH, BUS, member)
            .map_err(|why| Error::new_failed(&why))?
            .append1(name);
        if member == "RequestName" {
            call = call.append1(4u32); // DO_NOT_QUEUE
        }
        self.channel
            .send_with_reply_and_block(call, Duration::from_secs(25))
    }

    /// Asks the bus each time, because signals can be lost.
    pub(crate) fn owns(&self, caller: &str, name: &str) -> bool {
        let reply = self.ask("GetNameOwner", name);
        reply.map_or(false, |reply| reply.read1::<&str>().ok() == Some(caller))
    }

    pub(crate) fn begin(&mut self, call: Message, (number, task): (u64, Task)) {
        self.operation = Some(Operation {
            call,
            number,
            task,
            looks: true,
            misses: 0,
            stages: 0,
            counting: None,
            again: None,
        });
        self.event("ready", Vec::new());
    }

    /// Refuses an operation that is the second, was canceled already or lacks the hardware.
    pub(crate) fn may_begin(
        &mut self,
        sensor: &dyn Sensor,
        operation: &(u64, String),
    ) -> Result<(), String> {
        if self
            .running()
            .map_or(false, |caller| !self.owns(&caller, &caller))
        {
            self.fail("Canceled");
        }
        if self.operation.is_some() {
            Err(fault("Busy"))
        } else if self.early.contains(operation) {
            Err(fault("Canceled"))
        } else if !sensor.properties().unavailability.is_empty() {
            Err(fault("Disconnected"))
        } else {
            Ok(())
        }
    }

    pub(crate) fn cancel(&mut self, operation: (u64, String)) {
        let running = self.operation.as_ref();
        if running.map_or(false, |one| (one.number, caller(&one.call)) == operation) {
            return self.fail("Canceled");
        }
        self.early.push_back(operation);
        if self.early.len() > 16 {
            self.early.pop_front();
        }
    }
}

pub(crate) fn fault(name: &str) -> String {
    format!("{SENSOR}.Error.{name}")
}
