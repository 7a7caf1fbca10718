//! The list of commands as `--help` shows it: by what somebody wants, the first steps first.

use clap::Command;

use super::output::columns;
use super::paper::beside;

/// Every command that is not hidden, in groups.
const GROUPS: &[(&str, &[&str])] = &[
    ("Begin and leave", &["setup", "status", "doctor", "uninstall"]),
    ("Ask", &["recall", "browse", "brain", "search", "list", "show", "transcript", "watch"]),
    ("Tell", &["teach", "import", "correct", "pin", "unpin", "identity", "forget"]),
    ("Keep", &["backup", "restore", "export", "verify", "scan", "crypto", "sync"]),
    ("Behind it", &["daemon", "model", "maintenance", "spool", "capture-hooks", "bench"]),
    ("For your shell", &["completions", "man", "help"]),
    (
        "Run by hosts",
        &[
            "mcp",
            "hook",
            "session-start",
            "capture-transcript",
            "capture-turn-deferred",
            "bank-recall",
        ],
    ),
];
/// What stands before the words about a command.
const HEAD_COLUMNS: usize = 25;
/// Longer lines are hard to read.
const WIDTH_MAX: usize = 100;

/// Has the program show its commands in groups.
pub(super) fn grouped(program: Command) -> Command {
    let header = *program.get_styles().get_header();
    let literal = *program.get_styles().get_literal();
    let width = columns().min(WIDTH_MAX);
    let mut list = String::new();
    for (title, names) in GROUPS {
        list.push_str(&format!("{header}{title}{header:#}\n"));
        for name in *names {
            let about = match program.find_subcommand(name) {
                Some(command) => command.get_about().map(ToString::to_string).unwrap_or_default(),
                None => "Print this, or the help of a command".to_owned(),
            };
            let head = format!("  {literal}{name:<22}{literal:#} ");
            list.push_str(&beside(&head, HEAD_COLUMNS, &about, width));
            list.push('\n');
        }
        list.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{header}Options{header:#}\n\
         {{options}}\n\nNew here? `iai-mcp setup` shows what it would do, and asks."
    );
    program.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Arguments;
    use clap::CommandFactory as _;

    /// What stands in backticks on the page, word by word; alternatives are words too.
    fn documented() -> Vec<Vec<&'static str>> {
        let page = include_str!("../../../../docs/commands.md");
        let spans = page.split('`').skip(1).step_by(2);
        let is_between = |letter: char| letter.is_whitespace() || matches!(letter, '|' | '\\');
        let words = |span: &'static str| span.split(is_between).filter(|word| !word.is_empty());
        spans.map(|span| words(span).collect()).collect()
    }

    #[test]
    fn every_command_stands_in_the_documentation() {
        let documented = documented();
        let is_told = |words: &[&str]| {
            let told = |span: &&Vec<&str>| {
                span.first() == words.first() && words.iter().all(|word| span.contains(word))
            };
            documented.iter().any(|span| told(&span))
        };
        let is_shown = |command: &&Command| !command.is_hide_set();
        let program = Arguments::command();
        let mut untold = Vec::new();
        for command in program.get_subcommands().filter(is_shown) {
            let name = command.get_name();
            let below = command.get_subcommands().filter(is_shown);
            let below = below.map(|command| vec![name, command.get_name()]);
            let lines = std::iter::once(vec![name]).chain(below);
            untold.extend(lines.filter(|words| !is_told(words)));
        }
        assert_eq!(untold, [[""; 0]; 0], "docs/commands.md says that it has every command");
        assert!(!is_told(&["daemon", "sing"]) && !is_told(&["sing"]));
    }

    #[test]
    fn every_command_stands_in_one_group() {
        let program = Arguments::command();
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        let mut want: Vec<&str> = shown.map(Command::get_name).chain(["help"]).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        want.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, want);
        let help = grouped(program).render_help().to_string();
        assert!(help.contains("Begin and leave\n  setup  "), "{help}");
    }
}
