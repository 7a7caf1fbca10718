//! `cargo xtask docs`: the reference of settings, written from the table the program reads them by.

#[path = "../../crates/iai-mcp/src/settings/table.rs"]
mod table;

use crate::repository;
use table::{HANDED_OVER, KEYS, Setting, Takes, VARIABLES};

/// What is written.
pub(crate) const PAGE: &str = "docs/configuration.md";

const OPENING: &str = "\
# Configuration

Written by `cargo xtask docs` from `crates/iai-mcp/src/settings/table.rs`, which is also what the
program reads its settings by; change it there.

Everything works without any of it. What cannot be used is named by the command that met it, which
exits with 3; a hook exits with 0 all the same. `<store>` is `$HOME/.iai-mcp` unless
`IAI_MCP_STORE` says otherwise.

## Environment

Paths must be absolute. An empty variable counts as unset. The daemon keeps what it saw when it
started; hosts hand their own environment to hooks and MCP servers.

";

const KEYS_OPENING: &str = "
## `<store>/config.json`

A JSON object without comments. Keys that are not listed are left alone. The daemon reads it when
it starts, what it says about secrets at every write; hooks and MCP servers when they start. While
it cannot be read, hooks and `capture-transcript` take nothing, because it may be the very file
that says what must not be kept; `iai-mcp doctor` says what is wrong with it.

";

const ENDING: &str = "
What the memory learns about you is not here: `profile_get_set` tells and sets the knobs of the
profile, `iai-mcp identity` who you are, `iai-mcp pin` what every session is told.
";

pub(crate) fn run() -> Result<(), String> {
    let path = repository::root().join(PAGE);
    std::fs::write(&path, page()).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the page as it has to be.
pub(crate) fn page() -> String {
    let environment = table_of("Variable", VARIABLES.iter().chain(HANDED_OVER));
    let keys = table_of("Key", KEYS.iter());
    format!("{OPENING}{environment}{KEYS_OPENING}{keys}{ENDING}")
}

fn table_of<'a>(heading: &str, settings: impl Iterator<Item = &'a Setting>) -> String {
    let head = format!("| {heading} | Takes | Default | Effect |\n|---|---|---|---|\n");
    settings.fold(head, |rows, setting| {
        let (takes, default) = (takes(&setting.takes), default(&setting.takes));
        format!("{rows}| `{}` | {takes} | {default} | {} |\n", setting.name, setting.effect)
    })
}

fn takes(takes: &Takes) -> String {
    match takes {
        Takes::Path(_) => "an absolute path".to_owned(),
        Takes::Seconds { min, max: u64::MAX, .. } => format!("seconds, at least {min}"),
        Takes::Seconds { min, max, .. } => format!("seconds, {min} to {max}"),
        Takes::Text(_) => "text".to_owned(),
        Takes::Presence => "anything".to_owned(),
        Takes::Flag => "`true` or `false`".to_owned(),
        Takes::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            words.join(" or ")
        }
        Takes::List(None) => "a list of texts".to_owned(),
        Takes::List(Some(n_max)) => format!("a list of texts, at most {n_max}"),
    }
}

fn default(takes: &Takes) -> String {
    match takes {
        Takes::Path(words) | Takes::Text(words) => (*words).to_owned(),
        Takes::Seconds { default, .. } => default.to_string(),
        Takes::Presence => "unset".to_owned(),
        Takes::Flag => "`false`".to_owned(),
        Takes::Choice(words) => format!("`\"{}\"`", words.first().unwrap_or(&"")),
        Takes::List(_) => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_one_row() {
        let page = page();
        for setting in VARIABLES.iter().chain(HANDED_OVER).chain(KEYS) {
            let row = format!("\n| `{}` | ", setting.name);
            assert_eq!(page.matches(&row).count(), 1, "{}", setting.name);
            assert!(!setting.effect.is_empty() && !setting.effect.contains(['|', '\n']));
        }
        assert!(page.contains("| seconds, 1 to 900 | 120 | how long it may take |"), "{page}");
        assert!(page.contains("| `\"replace\"` or `\"keep\"` | `\"replace\"` |"), "{page}");
    }
}
