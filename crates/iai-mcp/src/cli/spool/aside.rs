//! What was set aside: lines kept in the store, files kept in the spool. Shown, and taken away when
//! a person says so.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::super::doctor::move_aside;
use super::super::output::{Output, counted};
use super::super::paper::visible;
use crate::capture::waiting_files;
use crate::client::Client;
use crate::clock;
use crate::exit::Exit;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// How a folder of files from the spool is called, before its time: they may be the only copy of
/// their turns, unlike what `doctor --apply` moves away.
const FOLDER: &str = "spool-";

/// What was set aside, as somebody sees it.
pub(super) struct Aside {
    /// How many lines the store keeps, and the newest of them.
    n_lines: usize,
    lines: Vec<Value>,
    /// Names of files that no drain takes.
    files: Vec<String>,
}

impl Aside {
    pub(super) fn of(client: &Client, settings: &Settings) -> anyhow::Result<Self> {
        let told = client.call("set_aside_list", &json!({}))?;
        let n_lines = told.at("count").as_u64().and_then(|n| usize::try_from(n).ok());
        let files = waiting_files(&settings.home).into_iter().filter(|file| file.is_set_aside);
        Ok(Self {
            n_lines: n_lines.unwrap_or(0),
            lines: told.at("lines").as_array().cloned().unwrap_or_default(),
            files: files.map(|file| file.name).collect(),
        })
    }

    /// Takes one file for set aside; one that a drain may still take is left alone.
    pub(super) fn named(settings: &Settings, name: &str) -> anyhow::Result<Self> {
        let file = waiting_files(&settings.home).into_iter().find(|file| file.name == name);
        let file = file.with_context(|| {
            format!("no file `{name}` waits; `iai-mcp spool list` shows what does")
        })?;
        anyhow::ensure!(
            file.is_set_aside || file.stuck.is_some(),
            "`{name}` waits to be stored, and nothing was moved; `iai-mcp spool retry` tries now"
        );
        Ok(Self { n_lines: 0, lines: Vec::new(), files: vec![file.name] })
    }

    pub(super) fn as_json(&self) -> Value {
        json!({"count": self.n_lines, "lines": self.lines, "files": self.files})
    }

    fn is_empty(&self) -> bool {
        self.n_lines == 0 && self.files.is_empty()
    }

    pub(super) fn describe(&self) -> String {
        if self.is_empty() {
            return "nothing is set aside".to_owned();
        }
        let mut lines: Vec<String> = self.lines.iter().map(line).collect();
        match self.n_lines.saturating_sub(self.lines.len()) {
            0 => {}
            n => lines.push(format!("… and {} before them", counted(n, "line"))),
        }
        lines
            .extend(self.files.iter().map(|name| format!("{}  stays in the spool", visible(name))));
        lines.join("\n")
    }
}

fn line(line: &Value) -> String {
    let text = |name: &str| line.at(name).as_str().unwrap_or("-").to_owned();
    format!(
        "{}  {}, line {}: {}\n    {}",
        text("at"),
        visible(&text("file")),
        line.at("line"),
        visible(&text("reason")),
        visible(&text("first_words")).replace('\n', " "),
    )
}

/// Takes it away: lines are deleted, files moved into `aside/`.
pub(super) fn clear(
    client: &Client,
    aside: &Aside,
    is_agreed_to: bool,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if aside.is_empty() {
        output.show(&json!({"lines": 0, "files": 0}), |_| "nothing is set aside".to_owned());
        return Ok(ExitCode::SUCCESS);
    }
    if !is_agreed_to {
        output.explain(&aside.describe());
        let question = "delete these lines for good, and move these files into `aside/`?";
        let agreed = output
            .ask(question)
            .context("nothing was changed: there is no terminal to ask on; agree with --yes")?;
        if !agreed {
            output.remark("Nothing was changed.");
            return Ok(Exit::Failure.into());
        }
    }
    // Only what was seen: what was set aside since stays, and what did not fit into the list.
    let numbers = || aside.lines.iter().filter_map(|line| line.at("number").as_u64());
    let n_lines = match numbers().min().zip(numbers().max()) {
        None => 0,
        Some((from, through)) => {
            let seen = json!({"from": from, "through": through});
            let done = client.call_daemon("set_aside_clear", &seen)?;
            done.at("cleared").as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
        }
    };
    let n_left = aside.n_lines.saturating_sub(n_lines);
    let folder = move_files(client, &aside.files)?;
    let told = json!({
        "lines": n_lines, "lines_left": n_left, "files": aside.files.len(), "moved_to": folder,
    });
    output.show(&told, |_| {
        let moved = folder.as_ref().map(|folder| {
            format!(" · {} moved to {}", counted(aside.files.len(), "file"), folder.display())
        });
        let left = match n_left {
            0 => String::new(),
            n => format!(" · {} not shown yet; again shows them", counted(n, "line")),
        };
        format!("{} deleted{}{left}", counted(n_lines, "line"), moved.unwrap_or_default())
    });
    Ok(ExitCode::SUCCESS)
}

fn move_files(client: &Client, names: &[String]) -> anyhow::Result<Option<PathBuf>> {
    if names.is_empty() {
        return Ok(None);
    }
    let home = client.home();
    let paths: Vec<PathBuf> = names.iter().map(|name| home.spool().join(name)).collect();
    let folder = move_aside(home, FOLDER, &paths, clock::now())
        .with_context(|| format!("moving files into {}", home.aside().display()))?;
    // The daemon counts what waits at its next pass.
    client.call_daemon("spool_nudge", &json!({})).ok();
    Ok(Some(folder))
}
