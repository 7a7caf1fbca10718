//! What is asked of what: haystacks, each a conversation with questions about it.
//!
//! Reads the common format: a folder a haystack, with `corpus.jsonl` and `queries.jsonl`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::DeserializeOwned;

const CORPUS: &str = "corpus.jsonl";
const QUERIES: &str = "queries.jsonl";
/// The folder of a set that holds its haystacks, by custom.
const HAYSTACKS: &str = "haystacks";
/// Folders below the data folder that are looked into.
const DEPTH_MAX: usize = 6;

/// One conversation, or several, and the questions about them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Haystack {
    /// The set it belongs to.
    pub(crate) set: String,
    /// Its own name, unique in the set.
    pub(crate) name: String,
    /// The turns, in order.
    pub(crate) rows: Vec<Row>,
    /// The questions.
    pub(crate) questions: Vec<Question>,
}

/// One turn of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) session: String,
    pub(crate) role: String,
    /// When it was said; empty when nobody knows.
    #[serde(default)]
    pub(crate) ts: String,
    pub(crate) text: String,
}

/// One question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) cue: String,
    /// The ids of the turns that answer it; none means that nothing does.
    pub(crate) relevant: Vec<String>,
    /// The sessions that answer it, where that is more than the sessions of those turns.
    #[serde(default)]
    pub(crate) relevant_sessions: Vec<String>,
    pub(crate) kind: String,
    /// When it is asked.
    #[serde(default)]
    pub(crate) asof: Option<String>,
    /// Only so many rows have been said when it is asked.
    #[serde(default)]
    pub(crate) before: Option<usize>,
}

/// What answers a question: the right turns and the right sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gold {
    pub(crate) turns: BTreeSet<String>,
    pub(crate) sessions: BTreeSet<String>,
}

impl Haystack {
    /// Returns what answers each question, in order.
    pub(crate) fn gold(&self) -> Vec<Gold> {
        let session_of: BTreeMap<&str, &str> =
            self.rows.iter().map(|row| (row.id.as_str(), row.session.as_str())).collect();
        let gold = |question: &Question| {
            let turns: BTreeSet<String> = question.relevant.iter().cloned().collect();
            let sessions = turns.iter().filter_map(|id| session_of.get(id.as_str()));
            let mut sessions: BTreeSet<String> = sessions.map(|id| (*id).to_owned()).collect();
            sessions.extend(question.relevant_sessions.iter().cloned());
            Gold { turns, sessions }
        };
        self.questions.iter().map(gold).collect()
    }
}

/// A haystack that is read when its turn has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) set: String,
    pub(super) name: String,
    pub(super) folder: PathBuf,
}

impl Place {
    pub(super) fn read(&self) -> anyhow::Result<Haystack> {
        Ok(Haystack {
            set: self.set.clone(),
            name: self.name.clone(),
            rows: read_lines(&self.folder.join(CORPUS))?,
            questions: read_lines(&self.folder.join(QUERIES))?,
        })
    }
}

/// Returns every haystack below `data`, in order of set and name.
pub(super) fn find(data: &Path) -> anyhow::Result<Vec<Place>> {
    let mut folders = Vec::new();
    gather(data, 0, &mut folders)?;
    let mut places: Vec<Place> = folders.into_iter().map(|path| place(data, path)).collect();
    places.sort_by(|left, right| (&left.set, &left.name).cmp(&(&right.set, &right.name)));
    if places.is_empty() {
        bail!("{} holds no folder with {CORPUS} and {QUERIES}", data.display());
    }
    Ok(places)
}

fn gather(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if folder.join(CORPUS).is_file() && folder.join(QUERIES).is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let looking = || format!("looking into {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(looking)? {
        let entry = entry.with_context(looking)?;
        if depth < DEPTH_MAX && entry.file_type().with_context(looking)?.is_dir() {
            gather(&entry.path(), depth + 1, found)?;
        }
    }
    Ok(())
}

/// A folder called `haystacks` divides the set's name from the haystack's.
fn place(data: &Path, folder: PathBuf) -> Place {
    let inside = folder.strip_prefix(data).unwrap_or(&folder).to_string_lossy().into_owned();
    let above = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    let above = above.file_name().map_or_else(|| "data".into(), |name| name.to_string_lossy());
    let parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty()).collect();
    let (set, name) = match parts.iter().rposition(|part| *part == HAYSTACKS) {
        Some(0) | None => (above.into_owned(), parts.join("/")),
        Some(at) => (parts.iter().take(at).copied().collect::<Vec<_>>().join("-"), parts.join("/")),
    };
    let name = name.rsplit_once(&format!("{HAYSTACKS}/")).map_or(name.clone(), |(_, n)| n.into());
    Place { set, name: if name.is_empty() { "all".to_owned() } else { name }, folder }
}

/// Reads a file of one JSON value a line.
pub(super) fn read_lines<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Vec<T>> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut values = Vec::new();
    for (place, line) in BufReader::new(file).lines().enumerate() {
        let at = || format!("{}:{}", path.display(), place + 1);
        let line = line.with_context(at)?;
        if !line.trim().is_empty() {
            values.push(serde_json::from_str(&line).with_context(at)?);
        }
    }
    Ok(values)
}

/// Understands an ISO time; one without a zone is UTC.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| in_utc(text.parse().ok()?))
}

/// Returns the moment a clock in UTC shows this.
pub(super) fn in_utc(time: DateTime) -> Option<Timestamp> {
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check_place(data: &str, folder: &str, set: &str, name: &str) {
        let got = place(Path::new(data), PathBuf::from(folder));
        assert_eq!((got.set.as_str(), got.name.as_str()), (set, name), "{folder}");
    }

    #[test]
    fn a_haystack_is_named_after_its_folders() {
        check_place("/d/locomo", "/d/locomo/haystacks/conv-26", "locomo", "conv-26");
        check_place("/d", "/d/locomo/haystacks/conv-26", "locomo", "conv-26");
        check_place("/d", "/d/a/b/haystacks/c/d", "a-b", "c/d");
        check_place("/d/plain", "/d/plain/x/y", "plain", "x/y");
        check_place("/d/plain", "/d/plain", "plain", "all");
    }

    #[test]
    fn haystacks_are_found_in_order_and_read_line_by_line() {
        let data = tempfile::tempdir().unwrap();
        for name in ["two", "one"] {
            let folder = data.path().join("s/haystacks").join(name);
            fs::create_dir_all(&folder).unwrap();
            let row = r#"{"id":"a:0","session":"a","role":"user","ts":"2026-01-01","text":"hi"}"#;
            fs::write(folder.join(CORPUS), format!("{row}\n\n")).unwrap();
            let question = r#"{"id":"q","cue":"hi?","relevant":["a:0"],"kind":"k","before":1}"#;
            fs::write(folder.join(QUERIES), question).unwrap();
        }
        let places = find(data.path()).unwrap();
        let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        let haystack = places[0].read().unwrap();
        assert_eq!((haystack.rows.len(), haystack.questions[0].before), (1, Some(1)));
        assert_eq!(haystack.gold()[0].sessions, BTreeSet::from(["a".to_owned()]));
        fs::write(data.path().join("s/haystacks/one").join(CORPUS), "{}\n").unwrap();
        let error = format!("{:#}", places[0].read().unwrap_err());
        assert!(error.contains("corpus.jsonl:1"), "{error}");
    }

    #[test]
    fn a_time_without_a_zone_is_utc() {
        for text in ["2026-11-15T10:00:00Z", "2026-11-15T10:00:00", "2026-11-15T11:00:00+01:00"] {
            assert_eq!(parse_time(text).unwrap().to_string(), "2026-11-15T10:00:00Z", "{text}");
        }
        assert_eq!(parse_time("soon"), None);
    }
}
