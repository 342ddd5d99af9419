//! Stores templates in a file of the service's own folder, a line for each.

use crate::Template;
use std::fs::{rename, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// The file in the folder that systemd creates for `StateDirectory=`; without it nothing is stored.
fn place() -> Option<PathBuf> {
    std::env::var_os("STATE_DIRECTORY").map(|folder| PathBuf::from(folder).join("templates"))
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn text(hex: &str) -> Option<String> {
    let digits = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes = (0..hex.len()).step_by(2).map(digits);
    String::from_utf8(bytes.collect::<Option<Vec<_>>>()?).ok()
}

fn template(line: &str) -> Option<Template> {
    let mut words = line.split('\t');
    Some(Template {
        uid: words.next()?.parse().ok()?,
        created: words.next()?.parse().ok()?,
        id: text(words.next()?)?,
        label: text(words.next()?)?,
    })
}

/// Loads the saved templates. Fails on an unreadable file, so that no template counts as deleted.
pub fn load() -> io::Result<Vec<Template>> {
    let mut kept = String::new();
    match place().map(File::open) {
        None => (),
        Some(Err(why)) if why.kind() == io::ErrorKind::NotFound => (),
        Some(file) => drop(file?.read_to_string(&mut kept)?),
    }
    let all = kept.lines().map(template).collect::<Option<Vec<_>>>();
    all.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a template can't be read"))
}

/// Saves all templates. After an error the previous file is unchanged.
pub fn save(templates: &[Template]) -> io::Result<()> {
    let place = match place() {
        Some(place) => place,
        None => return Ok(()),
    };
    let beside = place.with_extension("new");
    let mut file = File::create(&beside)?;
    for one in templates {
        let (id, label) = (hex(&one.id), hex(&one.label));
        writeln!(file, "{}\t{}\t{id}\t{label}", one.uid, one.created)?;
    }
    file.sync_all()?;
    rename(beside, place)
}
