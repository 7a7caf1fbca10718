//! Walks through a text once: prose, inline code, fenced code, commands, each read by its rules.

use std::collections::BTreeSet;

use iai_store::AttributeRole;

use super::harvest::Harvest;
use super::names::Names;
use super::spoken::commands_in_prose;
use super::{commands, names, shapes};

/// The beginning of a text that is read; what it is about is said there.
const TEXT_BYTES_MAX: usize = 32 * 1024;
/// Longer pieces of inline code are code, not a name.
const INLINE_CHARS_MAX: usize = 64;

/// What a line of a fenced block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fence {
    /// Every line is a command.
    Shell,
    /// Only lines with a prompt are.
    Console,
    Code,
}

/// Reads a text; German writes every noun with a capital, so that single ones tell nothing there.
pub(super) fn read<'a>(text: &'a str, language: Option<&str>, harvest: &mut Harvest<'a>) {
    let text = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text);
    let mut names = Names::new(language != Some("de"));
    let mut fence: Option<Fence> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(info) = trimmed.strip_prefix("```").or_else(|| trimmed.strip_prefix("~~~")) {
            fence = if fence.is_some() { None } else { Some(fence_of(info)) };
            continue;
        }
        match fence {
            Some(Fence::Shell) => commands::each_in_line(without_prompt(trimmed), harvest),
            _ if is_prompted(trimmed, fence) => {
                commands::each_in_line(without_prompt(trimmed), harvest);
            }
            Some(Fence::Console) => {}
            Some(Fence::Code) => {
                shapes::each_identifier(line, &mut |name| harvest.add_from_code(name));
            }
            None => read_prose(trimmed, &mut names, harvest),
        }
    }
}

fn fence_of(info: &str) -> Fence {
    match info.trim().split([' ', '{', ',']).next().unwrap_or_default() {
        "sh" | "bash" | "zsh" | "fish" | "shell" | "powershell" | "ps1" | "cmd" => Fence::Shell,
        "console" | "terminal" | "shell-session" | "sh-session" | "shellsession" => Fence::Console,
        _ => Fence::Code,
    }
}

fn is_prompted(line: &str, fence: Option<Fence>) -> bool {
    line.starts_with("$ ")
        || fence == Some(Fence::Console) && (line.starts_with("% ") || line.starts_with("> "))
}

fn without_prompt(line: &str) -> &str {
    let prompt = ["$ ", "% ", "> "].into_iter().find_map(|prompt| line.strip_prefix(prompt));
    prompt.unwrap_or(line)
}

/// Between backticks stands code, elsewhere words.
fn read_prose<'a>(line: &'a str, names: &mut Names, harvest: &mut Harvest<'a>) {
    names.begin_line(line);
    let mut pieces = line.split('`').peekable();
    let (mut is_code, mut is_first) = (false, true);
    while let Some(piece) = pieces.next() {
        // A backtick without a partner quotes nothing.
        if is_code && pieces.peek().is_some() {
            read_inline(piece, harvest);
            names.pass_over();
        } else {
            read_spoken(piece, is_first, harvest);
            names.read(piece, harvest);
            names::each_quoted(piece, &mut |quoted| harvest.add(AttributeRole::Entity, quoted));
        }
        (is_code, is_first) = (!is_code, false);
    }
    names.end_line(harvest);
}

fn read_spoken(piece: &str, is_line_start: bool, harvest: &mut Harvest<'_>) {
    for spoken in commands_in_prose(piece, is_line_start) {
        for name in &spoken.names {
            harvest.add(AttributeRole::Command, name);
        }
    }
}

/// One word in backticks is a name, a file or a command; several may be a command.
fn read_inline<'a>(code: &'a str, harvest: &mut Harvest<'a>) {
    let code = code.trim();
    if code.is_empty() {
        return;
    }
    if commands::is_known(code) {
        return commands::each_in_line(code, harvest);
    }
    if code.contains(char::is_whitespace) {
        return;
    }
    let mut is_shaped = false;
    shapes::each_shape(code, &mut |role, name| {
        is_shaped = true;
        harvest.add(role, name);
    });
    let is_name = |letter: char| letter.is_alphanumeric() || "_.-@/:!?".contains(letter);
    let is_short = code.chars().count() <= INLINE_CHARS_MAX;
    let begins_well = code.starts_with(|letter: char| letter.is_alphabetic());
    if !is_shaped && is_short && begins_well && 1 < code.len() && code.chars().all(is_name) {
        harvest.add(AttributeRole::Entity, code.trim_end_matches(['!', '?', ':', '.']));
    }
}

/// A list of words, written as one text.
pub(super) fn words(text: &'static str) -> BTreeSet<&'static str> {
    text.split_whitespace().collect()
}
