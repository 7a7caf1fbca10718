//! The list of commands as `--help` shows it: by what somebody wants, the first steps first.

use clap::Command;

use super::output::columns;
use super::paper::beside;

/// Every command that is not hidden, in groups.
const GROUPS: &[(&str, &[&str])] = &[
    ("Begin and leave", &["setup", "status", "doctor", "uninstall"]),
    ("Ask", &["recall", "browse", "brain", "search", "list", "show", "transcript", "watch"]),
    ("Tell", &["teach", "import", "pin", "unpin", "identity", "forget"]),
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
