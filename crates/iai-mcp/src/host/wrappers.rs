//! What Claude Code wraps into text in the user's name, and the typed words inside.

use super::NotWords;
use super::json::is_blank;

/// What a text in the user's name holds.
#[derive(Debug, PartialEq)]
pub(super) enum Typed<'a> {
    /// A person typed this; `command` is the slash command it was typed behind.
    Words {
        text: &'a str,
        command: Option<&'a str>,
    },
    Nobody(NotWords),
}

/// Beginnings that only the program writes; nothing in such a text was typed.
const NEVER_TYPED: &[(&str, NotWords)] = &[
    ("<local-command-stdout>", NotWords::CommandOutput),
    ("<local-command-stderr>", NotWords::CommandOutput),
    ("<local-command-caveat>", NotWords::CommandOutput),
    ("<bash-stdout>", NotWords::CommandOutput),
    ("<bash-stderr>", NotWords::CommandOutput),
    ("<bash-input>", NotWords::Command),
    ("<command-contents>", NotWords::Command),
    ("Caveat: The messages below w", NotWords::CommandOutput),
    ("Caveat: The messages below are w", NotWords::CommandOutput),
    ("Base directory for this skill:", NotWords::Command),
    ("<task-notification>", NotWords::Notification),
    ("<agent-notification>", NotWords::Notification),
    ("<teammate-message", NotWords::Notification),
    ("<cross-session-message", NotWords::Notification),
    ("<channel ", NotWords::Notification),
    ("<channel-message", NotWords::Notification),
    ("<remote-review", NotWords::Notification),
    ("<ultraplan>", NotWords::Notification),
    ("<tick>", NotWords::Notification),
    ("<fork-boilerplate>", NotWords::Injected),
    ("[SYSTEM NOTIFICATION", NotWords::Notification),
    ("<user-prompt-submit-hook>", NotWords::Hook),
    ("<session-start-hook>", NotWords::Hook),
    ("<post-tool-use-hook>", NotWords::Hook),
    ("Stop hook feedback:", NotWords::Hook),
    ("[Request interrupted by user", NotWords::Interruption),
    // Early versions wrote this sentence without marking the line.
    (
        "This session is being continued from a previous conversation that ran out of context.",
        NotWords::CompactSummary,
    ),
];

/// Elements put before or after typed words in the same text; the rest is what was typed.
const BESIDE_WORDS: &[&str] =
    &["system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics"];

/// Finds the words a person typed.
pub(super) fn typed(text: &str) -> Typed<'_> {
    let words = without_elements(text);
    if is_blank(words) {
        let reason = if is_blank(text) { NotWords::Blank } else { NotWords::Injected };
        return Typed::Nobody(reason);
    }
    let start = words.trim_start();
    if let Some((_, reason)) = NEVER_TYPED.iter().find(|(prefix, _)| start.starts_with(prefix)) {
        return Typed::Nobody(*reason);
    }
    if start.starts_with("<command-name>") || start.starts_with("<command-message>") {
        return command(start);
    }
    if let Some(note) = whole_element(start, "user-memory-input") {
        return Typed::Words { text: note, command: Some("#") };
    }
    if is_image_placeholder(start) {
        return Typed::Nobody(NotWords::Image);
    }
    Typed::Words { text: words, command: None }
}

/// What a person typed behind a slash command is a request like any other. A single word is a
/// setting (`/model opus`), not speech.
fn command(text: &str) -> Typed<'_> {
    let arguments = element(text, "command-args").unwrap_or_default();
    if arguments.split_whitespace().nth(1).is_none() {
        return Typed::Nobody(NotWords::Command);
    }
    Typed::Words { text: arguments, command: element(text, "command-name") }
}

/// Takes off whole elements at both ends, with the white space that joined them to the words.
fn without_elements(text: &str) -> &str {
    let mut words = text;
    while let Some(rest) = BESIDE_WORDS.iter().find_map(|name| without_first(words, name)) {
        words = rest;
    }
    while let Some(rest) = BESIDE_WORDS.iter().find_map(|name| without_last(words, name)) {
        words = rest;
    }
    words
}

fn without_first<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let inside = text.trim_start().strip_prefix('<')?.strip_prefix(name)?.strip_prefix('>')?;
    let (_, rest) = inside.split_once(&format!("</{name}>"))?;
    Some(rest.trim_start())
}

fn without_last<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let inside = text.trim_end().strip_suffix(&format!("</{name}>"))?;
    let (rest, _) = inside.rsplit_once(&format!("<{name}>"))?;
    Some(rest.trim_end())
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, inside) = text.split_once(&format!("<{name}>"))?;
    // The last closing tag, because arguments may quote one.
    Some(inside.rsplit_once(&format!("</{name}>"))?.0)
}

fn whole_element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let inside = text.strip_prefix('<')?.strip_prefix(name)?.strip_prefix('>')?;
    inside.trim_end().strip_suffix(&format!("</{name}>")).filter(|inside| !is_blank(inside))
}

/// `[Image #1]`, `[Image: source: /tmp/x.png]` and nothing else.
fn is_image_placeholder(text: &str) -> bool {
    let inside = text.trim_end().strip_prefix("[Image").and_then(|rest| rest.strip_suffix(']'));
    inside.is_some_and(|inside| !inside.contains(['[', ']', '\n']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, NotWords>) {
        let got = match typed(text) {
            Typed::Words { text, .. } => Ok(text),
            Typed::Nobody(reason) => Err(reason),
        };
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn typed_words_are_kept_byte_for_byte() {
        for text in [
            "  hello \n",
            "what does <system-reminder> mean?",
            "<div>why is this red?</div>",
            "[Image #1] what is wrong here?",
            "Caveat: I know nothing about this",
            "/loose command",
        ] {
            check(text, Ok(text));
        }
    }

    #[test]
    fn what_stands_beside_words_is_taken_off() {
        check("<system-reminder>x</system-reminder>\n\nfix it\n", Ok("fix it\n"));
        check("fix it\n<system-reminder>a</system-reminder>", Ok("fix it"));
        let both = "<ide_selection>s</ide_selection><ide_opened_file>f</ide_opened_file> a <b>";
        check(both, Ok("a <b>"));
        check("<system-reminder>x</system-reminder>\n", Err(NotWords::Injected));
    }

    #[test]
    fn arguments_of_a_command_are_words_when_they_are_a_sentence() {
        let line = |arguments: &str| {
            format!(
                "<command-name>/plan</command-name>\n  <command-message>plan</command-message>\n  \
                 <command-args>{arguments}</command-args>"
            )
        };
        check(&line("keep the old <b> parser"), Ok("keep the old <b> parser"));
        check(&line("opus"), Err(NotWords::Command));
        check(&line(""), Err(NotWords::Command));
        check("<command-message>pr</command-message>\n<command-name>/pr</command-name>", {
            Err(NotWords::Command)
        });
        let typed = typed("<command-name>/a</command-name><command-args>b c</command-args>");
        assert_eq!(typed, Typed::Words { text: "b c", command: Some("/a") });
    }

    #[test]
    fn a_note_to_memory_was_typed() {
        check("<user-memory-input>we use tabs</user-memory-input>", Ok("we use tabs"));
    }

    #[test]
    fn what_the_program_writes_is_nobodys() {
        for (text, reason) in [
            ("", NotWords::Blank),
            (" \n", NotWords::Blank),
            ("<local-command-stdout>ok</local-command-stdout>", NotWords::CommandOutput),
            ("<bash-input> ls -l</bash-input>", NotWords::Command),
            ("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>", NotWords::CommandOutput),
            (
                "Caveat: The messages below were generated by the user while running local \
                 commands. DO NOT respond",
                NotWords::CommandOutput,
            ),
            ("<task-notification>\n<x>\n</task-notification>\nRead it", NotWords::Notification),
            ("<tick>10:00</tick>", NotWords::Notification),
            ("<remote-review-progress>x</remote-review-progress>", NotWords::Notification),
            ("<channel-message from=\"x\">y</channel-message>", NotWords::Notification),
            ("<fork-boilerplate>x</fork-boilerplate>\nYour directive: y", NotWords::Injected),
            ("[Request interrupted by user for tool use]", NotWords::Interruption),
            ("[Image: source: /tmp/a.png]", NotWords::Image),
            ("[Image #2]", NotWords::Image),
            ("Base directory for this skill: /x\n\n# Skill", NotWords::Command),
            ("Stop hook feedback:\n- run the tests", NotWords::Hook),
        ] {
            check(text, Err(reason));
        }
    }
}
