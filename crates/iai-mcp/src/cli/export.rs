//! `export`: everything that was said, in a file that people and programs can read.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD};
use serde_json::{Value, json};

use super::import::parse_time;
use super::output::{Output, Progress};
use crate::client::{ExportWanted, export};
use crate::fields::Fields as _;
use crate::home::FILE_MODE;
use crate::settings::Settings;

/// How often somebody who waits hears of it.
const LINES_BETWEEN_WORDS: u64 = 500;

const PLAIN: &str = "an export is plain text: whoever reads the file reads every memory in it";

#[derive(Args)]
pub(super) struct ExportArguments {
    /// One JSON object a line, which `import` takes back; or a text to read
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Only this project: its path, or the last part of it
    #[arg(long)]
    project: Option<String>,
    /// Only this session
    #[arg(long)]
    session: Option<String>,
    /// Only what was said since this time or date
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// The file to make, or a folder to make it in; without it, the standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The same
    #[arg(short, long, value_name = "FILE", conflicts_with = "file")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Jsonl,
    Markdown,
}

pub(super) fn run(
    arguments: &ExportArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let wanted = ExportWanted {
        project: arguments.project.clone(),
        session: arguments.session.clone(),
        since: arguments.since,
    };
    output.remark(PLAIN);
    let Some(target) = arguments.file.as_ref().or(arguments.output.as_ref()) else {
        let mut writer = Writer::new(arguments.format, |text: &str| {
            output.text(text);
            Ok(())
        });
        export(settings, &wanted, &mut |line| writer.put(line))?;
        return Ok(ExitCode::SUCCESS);
    };
    let target = placed(target, arguments.format)?;
    let working = output.working("exporting");
    let told = export_into(&target, arguments.format, &wanted, settings, &working);
    drop(working);
    let told = told?;
    let report = json!({
        "file": target,
        "memories": told.at("memories"),
        "lines": told.at("lines"),
    });
    output.show(&report, |report| {
        format!("{} memories: {}", report.at("memories"), target.display())
    });
    Ok(ExitCode::SUCCESS)
}

fn placed(target: &Path, format: Format) -> anyhow::Result<PathBuf> {
    let name = match format {
        Format::Jsonl => "iai-mcp-export.jsonl",
        Format::Markdown => "iai-mcp-export.md",
    };
    let path = if target.is_dir() { target.join(name) } else { target.to_owned() };
    if path.exists() {
        bail!("{} exists already; give another name", path.display());
    }
    Ok(path)
}

/// Names the file at the end: half an export never bears its name.
fn export_into(
    target: &Path,
    format: Format,
    wanted: &ExportWanted,
    settings: &Settings,
    working: &Progress,
) -> anyhow::Result<Value> {
    let making = || format!("writing {}", target.display());
    let half = HalfFile::beside(target).with_context(making)?;
    let mut file = BufWriter::new(&half.file);
    let mut writer = Writer::new(format, |text: &str| file.write_all(text.as_bytes()));
    let mut n_lines = 0_u64;
    let told = export(settings, wanted, &mut |line| {
        n_lines += 1;
        if n_lines.is_multiple_of(LINES_BETWEEN_WORDS) {
            working.say(&format!("exporting, {n_lines} lines so far"));
        }
        writer.put(line)
    });
    let told = told?;
    file.flush().with_context(making)?;
    drop(file);
    half.named(target).with_context(making)?;
    Ok(told)
}

/// A file that is being written. Where the system can, it has no name until it is whole: whatever
/// ends this process leaves none of its plain text behind.
struct HalfFile {
    file: File,
    /// Its name, where it needs one; goes when this is dropped.
    aside: Option<PathBuf>,
}

impl HalfFile {
    fn beside(target: &Path) -> anyhow::Result<Self> {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(file) = nameless(folder.unwrap_or(Path::new("."))) {
            return Ok(Self { file, aside: None });
        }
        let name = target.file_name().and_then(|name| name.to_str()).unwrap_or("export");
        let aside = target.with_file_name(format!(".{name}.{:016x}.new", getrandom::u64()?));
        let mut options = File::options();
        let file = options.write(true).create_new(true).mode(FILE_MODE).open(&aside)?;
        Ok(Self { file, aside: Some(aside) })
    }

    fn named(mut self, target: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        match &self.aside {
            Some(aside) => std::fs::rename(aside, target)?,
            None => {
                let open = open_file(&self.file);
                rustix::fs::linkat(CWD, open, CWD, target, AtFlags::SYMLINK_FOLLOW)?;
            }
        }
        self.aside = None;
        Ok(())
    }
}

impl Drop for HalfFile {
    #[expect(clippy::disallowed_methods, reason = "made here under a random name, and half a file")]
    fn drop(&mut self) {
        if let Some(aside) = &self.aside {
            std::fs::remove_file(aside).ok();
        }
    }
}

/// Makes a file without a name that can be given one, where system and disk know such files.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(FILE_MODE)).ok()?;
    let file = File::from(file);
    open_file(&file).exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_folder: &Path) -> Option<File> {
    None
}

/// Where Linux shows an open file to the process that has it.
fn open_file(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Turns lines into what was asked for.
struct Writer<W> {
    format: Format,
    put: W,
    session: String,
}

impl<W: FnMut(&str) -> io::Result<()>> Writer<W> {
    fn new(format: Format, put: W) -> Self {
        Self { format, put, session: String::new() }
    }

    fn put(&mut self, line: &str) -> io::Result<()> {
        match self.format {
            Format::Jsonl => (self.put)(&format!("{line}\n")),
            Format::Markdown => {
                let line: Value = serde_json::from_str(line)?;
                let text = self.told(&line);
                (self.put)(&text)
            }
        }
    }

    fn told(&mut self, line: &Value) -> String {
        let word = |name: &str| line.at(name).as_str().unwrap_or_default();
        match word("kind") {
            "iai-mcp export" => "# Memories\n\n".to_owned(),
            "identity" => format!("## Identity\n\n{}\n\n", word("text")),
            "memory" => {
                let mut text = String::new();
                if self.session != word("session") {
                    self.session = word("session").to_owned();
                    let (host, project) = (word("host"), word("project"));
                    text = format!("## {} ({host}, {project})\n\n", self.session);
                }
                let ended = match word("valid_to") {
                    "" => String::new(),
                    at => format!(", corrected {at}"),
                };
                text + &format!(
                    "### {} · {}{ended}\n\n{}\n\n",
                    word("role"),
                    word("turn_at"),
                    word("text")
                )
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn half_a_file_has_no_name_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("x.jsonl");
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        let mut half = HalfFile::beside(&target).unwrap();
        half.file.write_all(b"words").unwrap();
        if cfg!(target_os = "linux") {
            assert_eq!(names(), 0, "a kill would leave it behind");
        }
        half.named(&target).unwrap();
        assert_eq!((std::fs::read(&target).unwrap(), names()), (b"words".to_vec(), 1));
        assert_eq!(std::fs::metadata(&target).unwrap().mode() & 0o777, FILE_MODE);
        let again = HalfFile::beside(&target).unwrap();
        if cfg!(target_os = "linux") {
            again.named(&target).expect_err("somebody else made it meanwhile");
        }
        let aside = folder.path().join(".x.jsonl.0.new");
        let file = File::create(&aside).unwrap();
        drop(HalfFile { file, aside: Some(aside) });
        assert_eq!(names(), 1);
    }
}
