//! The common part of sensors: `org.localauth.Sensor1` on the bus.
//! A sensor implements [`Sensor`] and passes itself to [`run`]. org.localauth.Sensor1(5) documents
//! the interface.

mod bus;
mod calls;
mod store;

pub use bus::Bus;
use dbus::channel::{BusType, Channel};
use dbus::Error;
use std::io;
use std::os::unix::io::RawFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
pub use store::{load, save};

const SENSOR: &str = "org.localauth.Sensor1";
const PATH: &str = "/org/localauth/Sensor1";
const DAEMON: &str = "org.localauth.Authentication1";
const BUS: &str = "org.freedesktop.DBus";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// The properties of a sensor.
pub struct Properties {
    pub description: &'static str,
    /// A number of the manual's table: 1 is a fingerprint sensor.
    pub biometry_type: u32,
    /// `strong`, `weak` or `convenience`.
    pub strength: &'static str,
    /// The reason why the sensor can't be used, such as `no-hardware`; empty if usable.
    pub unavailability: &'static str,
    /// The number of stages of an enrolment.
    pub stages: u32,
    /// The limit of templates for a user; 0 for no limit.
    pub max_templates: u32,
    /// Instructions for the user, by language; empty for the default of the biometry type.
    pub instructions: &'static [(&'static str, &'static str)],
}

/// The description of an enrolment, without biometric data.
#[derive(Clone)]
pub struct Template {
    pub uid: u32,
    /// Unique; must change whenever the biometric data changes.
    pub id: String,
    pub label: String,
    /// In seconds since 1970.
    pub created: i64,
}

impl Template {
    /// Creates a template with a unique, never reused id.
    pub fn new(uid: u32, label: String) -> io::Result<Template> {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/uuid")?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Ok(Template {
            uid,
            id: id.trim().to_string(),
            label,
            created: since.map_or(0, |time| time.as_secs() as i64),
        })
    }
}

/// The interface that a sensor implements.
pub trait Sensor {
    fn properties(&self) -> Properties;
    /// Returns all templates of all users.
    fn templates(&self) -> Vec<Template>;
    /// Replaces all templates. Returns false if saving failed and nothing changed.
    fn change(&mut self, templates: Vec<Template>) -> bool;
    /// A descriptor that becomes readable when the hardware has data.
    fn descriptor(&self) -> RawFd;
    /// Handles data of the hardware. Returns false to stop watching the descriptor.
    fn look(&mut self, bus: &mut Bus) -> bool;
}

/// A task for the hardware.
#[derive(Clone, PartialEq)]
pub enum Task {
    Verify { uid: u32 },
    Enroll { uid: u32, label: String },
}

fn connect(place: &str) -> Result<Channel, Error> {
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

/// Returns a descriptor that becomes readable at SIGTERM, and blocks the signal itself.
fn end_of_service() -> io::Result<RawFd> {
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGTERM);
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        match libc::signalfd(-1, &set, libc::SFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(descriptor),
        }
    }
}

/// Serves the sensor as `org.localauth.Sensor1.NAME` until SIGTERM or the end of the bus.
fn serve(name: &str, place: &str, sensor: &mut dyn Sensor) -> Result<(), Error> {
    let failed = |why: io::Error| Error::new_failed(&why.to_string());
    let term = end_of_service().map_err(failed)?;
    let mut bus = Bus::new(connect(place)?);
    bus.ask(
        "AddMatch",
        &format!("type='signal',sender='{BUS}',member='NameOwnerChanged'"),
    )?;
    let name = format!("{SENSOR}.{name}");
    if bus.ask("RequestName", &name)?.read1::<u32>()? != 1 {
        return Err(Error::new_failed(&format!("{name} is taken.")));
    }
    let mut hardware = sensor.descriptor();
    loop {
        bus.channel
            .read_write(Some(Duration::ZERO))
            .map_err(|_| Error::new_failed("The bus is gone."))?;
        while let Some(message) = bus.channel.pop_message() {
            calls::received(&mut bus, sensor, message);
        }
        bus.channel.flush();
        let now = Instant::now();
        let wait = bus
            .due()
            .map(|due| due.saturating_duration_since(now).as_millis() + 1);
        let mut ready = [bus.channel.watch().fd, term, hardware].map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        });
        let count = unsafe {
            libc::poll(
                ready.as_mut_ptr(),
                3,
                wait.map_or(-1, |time| time as libc::c_int),
            )
        };
        if count < 0 {
            return Err(failed(io::Error::last_os_error()));
        } else if count == 0 {
            bus.count();
        } else if ready[1].revents != 0 {
            return Ok(());
        } else if ready[2].revents != 0 && !sensor.look(&mut bus) {
            hardware = -1;
        }
    }
}

/// Implements `main`: reads `--bus system|session|ADDRESS` and ignores other arguments.
pub fn run(name: &str, sensor: &mut dyn Sensor) -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let usual = match unsafe { libc::getuid() } {
        0 => "system",
        _ => "session",
    };
    let asked = words.iter().position(|word| word == "--bus");
    let place = match asked {
        None => usual,
        Some(option) => match words.get(option + 1) {
            Some(place) => place,
            None => {
                eprintln!("usage: [--bus system|session|ADDRESS]");
                return 64.into();
            }
        },
    };
    match serve(name, place, sensor) {
        Ok(()) => 0.into(),
        Err(why) => {
            eprintln!("{}", why.message().unwrap_or_default());
            1.into()
        }
    }
}
