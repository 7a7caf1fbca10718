//! `export`: everything that was said, in a file that people and programs can read.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
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
    #[arg(short, long, value_name = "FILE")]
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
    let Some(target) = &arguments.output else {
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

/// Writes beside the file and renames at the end: half an export never bears its name.
fn export_into(
    target: &Path,
    format: Format,
    wanted: &ExportWanted,
    settings: &Settings,
    working: &Progress,
) -> anyhow::Result<Value> {
    let name = target.file_name().and_then(|name| name.to_str()).unwrap_or("export");
    let aside = target.with_file_name(format!(".{name}.{:016x}.new", getrandom::u64()?));
    let making = || format!("writing {}", aside.display());
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(&aside)
        .with_context(making)?;
    let mut file = BufWriter::new(file);
    let mut writer = Writer::new(format, |text: &str| file.write_all(text.as_bytes()));
    let mut n_lines = 0_u64;
    let told = export(settings, wanted, &mut |line| {
        n_lines += 1;
        if n_lines.is_multiple_of(LINES_BETWEEN_WORDS) {
            working.say(&format!("exporting, {n_lines} lines so far"));
        }
        writer.put(line)
    });
    let written = told.and_then(|told| {
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all().with_context(making)?;
        std::fs::rename(&aside, target).with_context(making)?;
        Ok(told)
    });
    if written.is_err() {
        discard(&aside);
    }
    written
}

#[expect(clippy::disallowed_methods, reason = "made here under a random name, and half of a file")]
fn discard(aside: &Path) {
    std::fs::remove_file(aside).ok();
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
