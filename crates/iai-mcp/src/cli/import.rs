//! `import` and `verify --transcripts`: history in, and the proof that it is in.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use clap::Args;
use jiff::Timestamp;
use serde_json::json;

use super::output::{Output, counted};
use crate::client::Client;
use crate::exit::Exit;
use crate::host::HostKind;
use crate::import::{
    Purpose, Selection, Sender, SharedTally, Source, Sources, Tally, Work, find_sources,
};
use crate::settings::Settings;

const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// Files read at once.
const READERS: usize = 2;

#[derive(Args)]
pub(super) struct ImportArguments {
    /// Files or folders: transcripts, spool files, conversations.json, our exports, notes of
    /// claude-mem, mempalace and the MCP memory server; none means every host found
    paths: Vec<PathBuf>,
    /// Only this host: claude-code, codex, gemini-cli, antigravity, opencode, copilot-cli, pi,
    /// qwen-code or cursor
    #[arg(long, value_parser = parse_host)]
    host: Option<&'static str>,
    /// Only turns said since this time or date
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Also pin what an export pins though it gives orders to the assistant
    #[arg(long)]
    yes: bool,
}

pub(super) fn import(
    arguments: &ImportArguments,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    crate::capture::check_config(settings)?;
    let selection = Selection { paths: &arguments.paths, host: arguments.host };
    let Sources { found, unknown } = find_sources(settings.user_home.as_deref(), &selection)?;
    let purpose = if arguments.yes { Purpose::StoreUntrusted } else { Purpose::Store };
    let tally = take_all(&found, purpose, arguments.since, settings, output)?;
    let told = json!({
        "files": tally.n_files,
        "found": tally.n_found,
        "stored": tally.n_stored,
        "known": tally.n_known,
        "forgotten": tally.n_forgotten,
        "notes": tally.n_notes,
        "unpinned": tally.untold,
        "set_aside": tally.n_problems,
        "problems": tally.problems,
        "unknown": unknown,
    });
    output.show(&told, |_| {
        let mut lines = vec![sum(&tally)];
        if 0 < tally.n_notes {
            let notes = counted(usize::try_from(tally.n_notes).unwrap_or(usize::MAX), "note");
            lines.push(format!("among them {notes} of another program: `iai-mcp teach list`"));
        }
        lines.extend(of_untold(&tally.untold));
        lines.extend(tally.problems.iter().map(|problem| format!("  {problem}")));
        lines.extend(of_no_host(&unknown));
        lines.join("\n")
    });
    let is_nothing = tally.n_found == 0 && (0 < tally.n_problems || !unknown.is_empty());
    let is_failed = is_nothing || 0 < tally.n_exports_broken;
    Ok(if is_failed { Exit::Failure.into() } else { ExitCode::SUCCESS })
}

/// Says what is not put before every session.
fn of_untold(untold: &[String]) -> Option<String> {
    let first = untold.first()?;
    let more = match untold.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    Some(format!(
        "stored, but not pinned: {first}{more} would give orders to the assistant in every \
         session; look at it, then `iai-mcp pin ID --yes`, or `import --yes` for all"
    ))
}

/// Says which files were passed over, without listing a whole folder.
fn of_no_host(unknown: &[PathBuf]) -> Option<String> {
    let first = unknown.first()?.display();
    Some(match unknown.len() {
        1 => format!("{first} was passed over: no host we know has written it"),
        n => {
            format!("{n} files such as {first} were passed over: no host we know has written them")
        }
    })
}

/// What became of every turn, in one line whose parts add up to what was found.
fn sum(tally: &Tally) -> String {
    let forgotten = match tally.n_forgotten {
        0 => String::new(),
        n => format!(" · {n} forgotten on purpose, not stored again"),
    };
    format!(
        "{} · {} found · {} stored · {} already known{forgotten} · {} set aside",
        counted(usize::try_from(tally.n_files).unwrap_or(usize::MAX), "file"),
        counted(usize::try_from(tally.n_found).unwrap_or(usize::MAX), "turn"),
        tally.n_stored,
        tally.n_known,
        tally.n_problems
    )
}

pub(super) fn verify(
    paths: &[PathBuf],
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let selection = Selection { paths, host: None };
    let sources = find_sources(settings.user_home.as_deref(), &selection)?.found;
    let tally = take_all(&sources, Purpose::Verify, None, settings, output)?;
    let is_whole = tally.n_known + tally.n_forgotten == tally.n_found && tally.n_problems == 0;
    let told = json!({
        "ok": is_whole,
        "files": tally.n_files,
        "turns": tally.n_found,
        "exact": tally.n_known,
        "forgotten": tally.n_forgotten,
        "cut": tally.n_cut,
        "problems": tally.problems,
    });
    output.show(&told, |_| {
        let cut = match tally.n_cut {
            0 => String::new(),
            n => format!(" ({n} of the turns found but for what is private or secret in them)"),
        };
        let mut lines = vec![format!(
            "{} of {} turns byte-exact, in {} transcripts{cut}",
            tally.n_known, tally.n_found, tally.n_files
        )];
        if 0 < tally.n_forgotten {
            lines.push(format!("{} forgotten on purpose", tally.n_forgotten));
        }
        lines.extend(tally.problems.iter().map(|problem| format!("  {problem}")));
        lines.join("\n")
    });
    Ok(if is_whole { ExitCode::SUCCESS } else { Exit::Failure.into() })
}

pub(super) fn take_all(
    sources: &[Source],
    purpose: Purpose,
    since: Option<Timestamp>,
    settings: &Settings,
    output: &Output,
) -> anyhow::Result<Tally> {
    let client = Client::new(settings.clone());
    let begun = Instant::now();
    let shown_at = Mutex::new(begun);
    let n_files = sources.len();
    let working = output.working("reading");
    let watch = |tally: &Tally| {
        let mut shown_at = shown_at.lock().unwrap_or_else(PoisonError::into_inner);
        if PROGRESS_EVERY <= shown_at.elapsed() {
            *shown_at = Instant::now();
            working.say(&progress(tally, n_files, begun.elapsed()));
            working.part(tally.n_files, n_files as u64);
        }
    };
    let work = Work { settings, client: &client, purpose, since, watch: &watch };
    let tally = SharedTally::new();
    let next = AtomicUsize::new(0);
    // While the daemon writes one batch, another is read and understood.
    let take = || {
        let mut sender = Sender::new(&work, &tally);
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            sender
                .take_source(source)
                .with_context(|| format!("taking in {}", source.path().display()))?;
        }
        sender.flush()
    };
    let taken: Vec<anyhow::Result<()>> = thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(take)).collect();
        let ended = readers.into_iter().map(thread::ScopedJoinHandle::join);
        ended.map(|end| end.unwrap_or_else(|_| Err(anyhow!("a reader panicked")))).collect()
    });
    drop(working);
    taken.into_iter().collect::<anyhow::Result<()>>()?;
    Ok(tally.with(std::mem::take))
}

/// The rest is guessed from the files that are done; files differ, so it is only a guess.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn progress(tally: &Tally, n_files: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let share = (tally.n_files as f64 / n_files.max(1) as f64).clamp(0.001, 1.0);
    format!(
        "{} turns · {:.0} turns/s · about {:.0} s left · files",
        tally.n_found,
        tally.n_found as f64 / seconds,
        seconds / share - seconds
    )
}

pub(super) fn parse_time(text: &str) -> Result<Timestamp, String> {
    let date = || {
        let date: jiff::civil::DateTime = text.parse().ok()?;
        Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
    };
    text.parse()
        .ok()
        .or_else(date)
        .ok_or_else(|| "give a date like 2026-05-01 or a time like 2026-05-01T10:00:00Z".to_owned())
}

/// Hooks call the host `claude`; its turns are stored as `claude-code`.
fn parse_host(text: &str) -> Result<&'static str, String> {
    let sought = if text == "claude" { "claude-code" } else { text };
    let mut names = HostKind::ALL.iter().map(|kind| kind.name());
    names.find(|name| *name == sought).ok_or_else(|| {
        let names: Vec<&str> = HostKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("there are {}", names.join(", "))
    })
}
