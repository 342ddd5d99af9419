//! An app that authenticates the user, and keeps a secret that only this user can read.
//!
//!     app ask [BUS]      authenticates; the exit status is the answer
//!     app keep [BUS]     stores the secret from standard input
//!     app show [BUS]     authenticates, and writes the secret to standard output
//!
//! BUS is system (the default), session or an address. Needs the crate dbus (librust-dbus-dev or
//! crates.io).
//!
//! Secrets are plain here: they pass through the bus's memory. On the system bus only root can
//! monitor. Sealing secrets needs a crate with HPKE.

use dbus::arg::{prop_cast, PropMap, RefArg, Variant};
use dbus::channel::{BusType, Channel};
use dbus::message::MessageType;
use dbus::{Error, Message, Path};
use std::io::{self, Read, Write};
use std::time::Duration;

const SERVICE: &str = "org.localauth.Authentication1";
const MANAGER: &str = "/org/localauth/Authentication1";
const CONTEXT: &str = "org.localauth.Context1";
const KEYCHAIN: &str = "org.localauth.Keychain1";
const KEYCHAIN_PATH: &str = "/org/localauth/Keychain1";
const MOST_BYTES: usize = 65_536; // limit of a secret
const USER_PRESENCE: u64 = 1; // reading needs biometry or the password

type Answer<T> = Result<T, Error>;

fn connect(place: &str) -> Answer<Channel> {
    match place {
        "system" => Channel::get_private(BusType::System),
        "session" => Channel::get_private(BusType::Session),
        address => {
            let mut channel = Channel::open_private(address)?;
            channel.register()?;
            Ok(channel)
        }
    }
}

fn failed(why: &str) -> Error {
    Error::new_failed(why)
}

fn map<const N: usize>(entries: [(&str, Box<dyn RefArg>); N]) -> PropMap {
    entries
        .into_iter()
        .map(|(name, value)| (name.to_string(), Variant(value)))
        .collect()
}

fn item() -> PropMap {
    let text = |word: &str| Box::new(word.to_string()) as Box<dyn RefArg>;
    map([
        ("class", text("genp")),
        ("svce", text("example-app")),
        ("acct", text("rust")),
    ])
}

struct Service {
    bus: Channel,
}

impl Service {
    /// Calls the service, which the bus starts, and shows the events that come before the reply.
    fn call(
        &self,
        path: &str,
        interface: &str,
        member: &str,
        fill: impl FnOnce(Message) -> Message,
    ) -> Answer<Message> {
        let call = Message::new_method_call(SERVICE, path, interface, member)
            .map_err(|why| failed(&why))?;
        let serial = self
            .bus
            .send(fill(call))
            .map_err(|_| failed("The bus is gone."))?;
        // Without a timeout, because a person answers. The service has its own timeout.
        loop {
            match self.bus.blocking_pop_message(Duration::from_secs(3600))? {
                Some(mut message) if message.get_reply_serial() == Some(serial) => {
                    message.as_result()?;
                    return Ok(message);
                }
                // Only the service and this connection know the path of the context.
                news => news
                    .iter()
                    .filter(|message| message.path().as_deref() == Some(path))
                    .for_each(Self::tell),
            }
        }
    }

    /// Shows progress, which is never the verdict.
    fn tell(message: &Message) {
        if message.msg_type() != MessageType::Signal {
            return;
        }
        if let Ok(("no-match", detail)) = message.read2::<&str, PropMap>() {
            let left = prop_cast::<u32>(&detail, "attempts-left")
                .copied()
                .unwrap_or_default();
            println!("Not recognized, attempts left: {left}");
        }
    }

    /// Finds the item's id.
    fn search(&self) -> Answer<String> {
        let reply = self.call(KEYCHAIN_PATH, KEYCHAIN, "Search", |call| {
            call.append2(item(), PropMap::new())
        })?;
        let found = reply.read1::<Vec<PropMap>>()?;
        let id = found
            .first()
            .and_then(|one| prop_cast::<String>(one, "id"))
            .cloned();
        let none = "org.localauth.Keychain1.Error.NotFound";
        id.ok_or_else(|| Error::new_custom(none, "Nothing is kept."))
    }

    fn keep(&self) -> Answer<()> {
        let mut secret = Vec::with_capacity(MOST_BYTES + 1);
        io::stdin()
            .read_to_end(&mut secret)
            .map_err(|why| failed(&why.to_string()))?;
        let added = self.call(KEYCHAIN_PATH, KEYCHAIN, "Add", |call| {
            let control = map([("flags", Box::new(USER_PRESENCE))]);
            call.append3(item(), &secret, control)
                .append1(PropMap::new())
        });
        match added {
            Err(refusal) if refusal.name() == Some("org.localauth.Keychain1.Error.Duplicate") => {
                let id = self.search()?;
                self.call(KEYCHAIN_PATH, KEYCHAIN, "SetSecret", |call| {
                    call.append3(id, &secret, PropMap::new())
                })?;
            }
            other => drop(other?),
        }
        println!("Kept.");
        Ok(())
    }

    fn show(&self, context: &Path) -> Answer<()> {
        let id = self.search()?;
        let reply = self.call(KEYCHAIN_PATH, KEYCHAIN, "Read", |call| {
            let options = map([("context", Box::new(context.clone().into_static()))]);
            call.append3(id, "show your secret", options)
        })?;
        io::stdout()
            .write_all(&reply.read1::<Vec<u8>>()?)
            .map_err(|why| failed(&why.to_string()))
    }

    /// Authenticates with a context, so that reading the secret needs no second prompt.
    fn ask(&self, shows: bool) -> Answer<()> {
        let created = self.call(MANAGER, SERVICE, "CreateContext", |call| {
            call.append1(PropMap::new())
        })?;
        let context = created.read1::<Path>()?;
        let reason = if shows { "show your secret" } else { "go on" };
        let reply = self.call(&context, CONTEXT, "Evaluate", |call| {
            call.append3(2u32, reason, map([("timeout", Box::new(60_000u64))]))
        })?;
        if shows {
            return self.show(&context);
        }
        let result = reply.read1::<PropMap>()?;
        let mechanism = prop_cast::<String>(&result, "mechanism")
            .cloned()
            .unwrap_or_default();
        println!("It is you, by {mechanism}");
        Ok(())
    }
}

fn run(place: &str, verb: &str) -> Answer<()> {
    let service = Service {
        bus: connect(place)?,
    };
    if verb == "keep" {
        service.keep()
    } else {
        service.ask(verb == "show")
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let verb = words.first().map_or("", String::as_str);
    if words.len() > 2 || !["ask", "keep", "show"].contains(&verb) {
        eprintln!("usage: app ask|keep|show [BUS]");
        std::process::exit(64);
    }
    if let Err(refusal) = run(words.get(1).map_or("system", String::as_str), verb) {
        match refusal.name() {
            Some("org.localauth.Error.UserCancel") => eprintln!("Canceled."),
            name => {
                let sentence = refusal.message().unwrap_or_default();
                eprintln!("Refused: {sentence} ({})", name.unwrap_or_default());
            }
        }
        std::process::exit(1);
    }
}
