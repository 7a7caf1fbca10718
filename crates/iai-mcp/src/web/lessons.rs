//! Files that somebody drops on the page: what they are called, and what became of them.
//!
//! A file comes as one line of JSON that says what it is, and its bytes after it.

use std::path::Path;

use anyhow::{anyhow, bail};
use serde_json::{Value, json};

use super::calls;
use crate::capture::check_config;
use crate::client::{CallError, Client};
use crate::clock;
use crate::fields::Fields as _;
use crate::settings::Settings;
use crate::teach::{self, Lesson, Material, Origin, Removed};

/// What a dropped file may weigh.
const DROPPED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// The line before it.
const FACTS_BYTES_MAX: usize = 16 * 1024;
/// Both together.
pub(super) const UPLOAD_BYTES_MAX: usize = DROPPED_BYTES_MAX + FACTS_BYTES_MAX;
/// The longest name of a file, as most systems have it.
const NAME_CHARS_MAX: usize = 120;
/// What the name of a set keeps of a file's.
const STEM_CHARS_MAX: usize = 60;
/// What a file is called whose name says nothing.
const NAMELESS: &str = "file";

/// Tells which files were taught, and how large the next may be.
pub(super) fn taught(client: &Client) -> Value {
    answered(
        teach::taught_files(client, None)
            .map(|files| json!({"files": files, "bytes_max": DROPPED_BYTES_MAX})),
    )
}

/// Has what a file says remembered, and tells what became of it; a refusal is an answer too.
pub(super) fn answer(client: &Client, settings: &Settings, upload: &[u8]) -> Value {
    answered(teach(client, settings, upload))
}

fn answered(outcome: anyhow::Result<Value>) -> Value {
    match outcome {
        Ok(result) => json!({"result": result}),
        Err(error) => match error.downcast_ref::<CallError>() {
            Some(error) => json!({"error": calls::told(error)}),
            None => json!({"error": {"message": format!("{error:#}")}}),
        },
    }
}

fn teach(client: &Client, settings: &Settings, upload: &[u8]) -> anyhow::Result<Value> {
    check_config(settings)?;
    let (facts, bytes) = parted(upload)?;
    let text = |name: &str| facts.at(name).as_str().unwrap_or_default();
    let name = clean(text("name"));
    let set = set_for(text("set"), &name)?;
    let written_at = text("written_at").parse().unwrap_or_else(|_| clock::now());
    let origin = Origin { name: name.clone(), file: None, written_at, project: None };
    let mut material = match Material::read(origin, bytes.to_vec())? {
        Ok(material) => material,
        Err(refusal) => bail!("{name} was not taught: {refusal}"),
    };
    // Files of two sets may have the same name; in one set, the later stands for the earlier.
    material.label = format!("handed over:{set}/{name}");
    let lesson = Lesson {
        client,
        secrets: &settings.secrets,
        set: &set,
        // Somebody took this very file and dropped it.
        removed: Removed::ComeBack,
        watch: &|_| {},
    };
    if facts.at("look_only") == true {
        return Ok(json!({"is_known": teach::is_known(&lesson, &material)?}));
    }
    let mut told = teach::send(&lesson, &[material])?.told(&set);
    told.set("name", name);
    Ok(told)
}

/// Parts the line of facts from the bytes of the file.
fn parted(upload: &[u8]) -> anyhow::Result<(Value, &[u8])> {
    let head = upload.get(..FACTS_BYTES_MAX.min(upload.len())).unwrap_or_default();
    let parts =
        head.iter().position(|byte| *byte == b'\n').and_then(|end| upload.split_at_checked(end));
    let facts = parts.and_then(|(facts, _)| serde_json::from_slice(facts).ok());
    match (parts, facts) {
        (Some((_, rest)), Some(facts)) => Ok((facts, rest.get(1..).unwrap_or_default())),
        _ => bail!("a file comes after a line that says what it is called"),
    }
}

/// Returns the name of the set that was wished for, or that of the file without its ending.
fn set_for(wished: &str, name: &str) -> anyhow::Result<String> {
    if !wished.trim().is_empty() {
        return teach::parse_set(wished).map_err(|why| anyhow!("a set needs {why}"));
    }
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy());
    let stem: String = stem.as_deref().unwrap_or(NAMELESS).chars().take(STEM_CHARS_MAX).collect();
    Ok(teach::parse_set(&stem).unwrap_or_else(|_| NAMELESS.to_owned()))
}

/// Returns the last part of a name, on one line, without what turns text around; long ones keep
/// their ending, which tells the kind.
fn clean(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_odd = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(letter, '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let letters: Vec<char> = last.trim().chars().filter(|letter| !is_odd(*letter)).collect();
    let from = letters.len().saturating_sub(NAME_CHARS_MAX);
    let name: String = letters.into_iter().skip(from).collect();
    if name.trim_matches('.').is_empty() { NAMELESS.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_last_part_on_one_line() {
        for (given, want) in [
            ("notes.md", "notes.md"),
            ("../../etc/notes.md", "notes.md"),
            ("C:\\docs\\notes.md", "notes.md"),
            ("no\ntes\u{202e}dm.\u{0}exe", "notesdm.exe"),
            ("", "file"),
            ("..", "file"),
            ("/", "file"),
        ] {
            assert_eq!(clean(given), want, "{given:?}");
        }
        let long = clean(&format!("{}.md", "x".repeat(500)));
        assert_eq!((long.chars().count(), long.ends_with(".md")), (NAME_CHARS_MAX, true));
    }

    #[test]
    fn a_set_is_called_as_wished_or_like_the_file() {
        assert_eq!(set_for("", "notes.md").unwrap(), "notes");
        assert_eq!(set_for(" handbook ", "notes.md").unwrap(), "handbook");
        assert!(set_for("a\nb", "notes.md").is_err());
        assert_eq!(set_for("", &"x".repeat(120)).unwrap().len(), 60);
    }

    #[test]
    fn an_upload_is_a_line_and_bytes() {
        let (facts, bytes) = parted(b"{\"name\": \"a.md\"}\none\ntwo").unwrap();
        assert_eq!((facts, bytes), (json!({"name": "a.md"}), &b"one\ntwo"[..]));
        for broken in
            [&b""[..], b"{\"name\": \"a.md\"}", b"no json\n", &[b' '; FACTS_BYTES_MAX + 9]]
        {
            assert!(parted(broken).is_err(), "{broken:?}");
        }
    }
}
