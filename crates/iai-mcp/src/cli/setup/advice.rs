//! What the user should know before setup, and do after it.

use std::ffi::OsStr;
use std::path::Path;

use super::super::capture_hooks::store_elsewhere;
use super::super::checklist::{Checklist, State};
use super::plan::Plan;
use crate::install::Installer;

/// Folders that somebody empties.
const PASSING: [&str; 5] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/folders"];

/// Returns what to consider before agreeing.
pub(super) fn before(installer: &Installer<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let program = std::env::current_exe().unwrap_or_default();
    if !is_lasting(&program) {
        notes.push(format!(
            "{} is no lasting place: when it goes, hooks and service break; copy the program to a \
             folder such as ~/.local/bin and run setup there",
            program.display()
        ));
    }
    notes.extend(store_elsewhere(installer));
    notes
}

/// Whether a program may be expected to be there next month.
fn is_lasting(program: &Path) -> bool {
    let parts: Vec<&OsStr> = program.iter().collect();
    let is_built = parts.windows(2).any(|pair| {
        pair == [OsStr::new("target"), OsStr::new("debug")]
            || pair == [OsStr::new("target"), OsStr::new("release")]
    });
    !is_built && !PASSING.iter().any(|folder| program.starts_with(folder))
}

/// Returns what to do next, most important first.
pub(super) fn what_now(plan: &Plan<'_>, checklist: &Checklist<'_>) -> Vec<String> {
    let home = &plan.settings.home;
    let mut names: Vec<&str> = plan.hosts.iter().map(|done| done.step.file.host).collect();
    names.dedup();
    // A session in a host that is wired in part is not remembered, or is told nothing.
    let has_failed = |name: &str| {
        plan.hosts.iter().any(|own| own.step.file.host == name && own.failure.is_some())
    };
    names.retain(|name| !has_failed(name));
    let mut lines = Vec::new();
    if checklist.has(State::Failed) {
        lines.push("mend what failed, and run `iai-mcp setup` again: it does what is left".into());
        // Nothing can be told or asked where there is nothing that would keep it.
        if !home.database().exists() {
            return lines;
        }
    }
    if !names.is_empty() {
        let trust = match names.contains(&"codex") {
            true => "; in Codex, open /hooks and trust them first",
            false => "",
        };
        lines.push(format!("start a new session in {}{trust}", names.join(", ")));
    }
    lines.push(
        "ask for something: `iai-mcp recall \"what did we decide about …\"`; `iai-mcp brain` shows \
         everything on a page"
            .into(),
    );
    if home.key_file().exists() {
        lines.push(format!(
            "keep a copy of {} and vault.json beside it: without them nobody can read the memory",
            home.key_file().display()
        ));
    }
    lines.push("`iai-mcp doctor` looks after it, `iai-mcp uninstall` gives everything back".into());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lasting_place_is_told_from_a_passing_one() {
        for (path, want) in [
            ("/usr/local/bin/iai-mcp", true),
            ("/home/u/.cargo/bin/iai-mcp", true),
            ("/home/u/target/iai-mcp", true),
            ("/home/u/src/target/release/iai-mcp", false),
            ("/home/u/src/target/debug/deps/iai-mcp", false),
            ("/tmp/iai-mcp", false),
            ("/tmpfiles/iai-mcp", true),
        ] {
            assert_eq!(is_lasting(Path::new(path)), want, "{path}");
        }
    }
}
