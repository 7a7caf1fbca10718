//! What the assistant did between two utterances: names of tools, paths of files, commands.

use serde_json::{Map, Value};

use crate::fields::Fields as _;

use super::commands;

/// The most names kept with one turn, of tools and of files each.
const NAMES_MAX: usize = 64;
/// The most commands kept with one turn.
const COMMANDS_MAX: usize = 8;

/// The names hosts give to the path a tool works on.
const PATH_FIELDS: &[&str] =
    &["file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file"];

const PATCH_HEADERS: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: "];

/// Tools that are given a folder to look through: looking is not touching.
const SEARCHING: &[&str] = &[
    "Grep",
    "Glob",
    "LS",
    "grep",
    "glob",
    "ls",
    "find",
    "list",
    "list_directory",
    "search_file_content",
];

/// Tools used, files touched and commands run, each once, in order of first use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Deeds {
    tools: Vec<String>,
    files: Vec<String>,
    commands: Vec<String>,
    is_subagent: bool,
}

impl Deeds {
    /// Says whose the next deeds are. Old files mix the lines of a sub-agent with the others;
    /// nobody is given what another did.
    pub(super) fn belong_to(&mut self, is_subagent: bool) {
        if self.is_subagent != is_subagent {
            *self = Self { is_subagent, ..Self::default() };
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        // What runs a command is a tool.
        self.tools.is_empty() && self.files.is_empty()
    }

    pub(super) fn forget(&mut self) {
        self.tools.clear();
        self.files.clear();
        self.commands.clear();
    }

    /// Notes a call; `input` is what the tool was given, as an object or as JSON in text.
    pub(super) fn note(&mut self, tool: &Value, input: &Value) {
        let Some(tool) = tool.as_str() else { return };
        push_once(&mut self.tools, tool);
        if SEARCHING.contains(&tool) {
            return;
        }
        let parsed = input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let fields = parsed.as_ref().unwrap_or(input);
        let paths = PATH_FIELDS.iter().filter_map(|name| fields.at(name).as_str());
        for path in paths {
            push_once(&mut self.files, path);
        }
        for command in commands::run_by(tool, fields) {
            if self.commands.len() < COMMANDS_MAX {
                push_once(&mut self.commands, &command);
            }
        }
    }

    /// Notes the files a patch in the language of `apply_patch` names.
    pub(super) fn note_patch(&mut self, patch: &str) {
        for line in patch.lines() {
            if let Some(path) = PATCH_HEADERS.iter().find_map(|header| line.strip_prefix(header)) {
                push_once(&mut self.files, path);
            }
        }
    }

    /// Moves everything noted so far into the provenance of the turn that follows it.
    pub(super) fn give_to(&mut self, provenance: &mut Map<String, Value>) {
        for (name, values) in [
            ("tools", std::mem::take(&mut self.tools)),
            ("files", std::mem::take(&mut self.files)),
            ("commands", std::mem::take(&mut self.commands)),
        ] {
            if !values.is_empty() {
                provenance.insert(name.to_owned(), Value::from(values));
            }
        }
    }
}

fn push_once(names: &mut Vec<String>, name: &str) {
    if names.len() < NAMES_MAX && !name.is_empty() && !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_and_files_are_named_once_and_given_away_once() {
        let mut deeds = Deeds::default();
        deeds.note(&json!("Edit"), &json!({"file_path": "src/a.rs", "new_string": "x"}));
        deeds.note(&json!("Edit"), &json!({"file_path": "src/a.rs"}));
        deeds.note(&json!("shell"), &json!("{\"path\":\"b.txt\"}"));
        deeds.note(&json!("Grep"), &json!({"path": "src"}));
        deeds.note(&json!("Bash"), &json!({"command": "cargo test -p x && cargo test"}));
        deeds.note(&json!(null), &json!({"path": "nobody"}));
        deeds.note_patch("*** Begin Patch\n*** Update File: c.rs\n+x\n*** End Patch");
        let mut provenance = Map::new();
        deeds.give_to(&mut provenance);
        assert_eq!(
            Value::Object(provenance),
            json!({
                "tools": ["Edit", "shell", "Grep", "Bash"],
                "files": ["src/a.rs", "b.txt", "c.rs"],
                "commands": ["cargo test"],
            })
        );
        assert!(deeds.is_empty());
    }

    #[test]
    fn names_have_a_maximum() {
        let mut deeds = Deeds::default();
        for number in 0..2 * NAMES_MAX {
            deeds.note(&json!(format!("tool{number}")), &json!({"path": format!("p{number}")}));
            deeds.note(&json!("Bash"), &json!({"command": format!("program{number} x")}));
        }
        assert_eq!((deeds.tools.len(), deeds.files.len()), (NAMES_MAX, NAMES_MAX));
        assert_eq!(deeds.commands.len(), COMMANDS_MAX);
        deeds.forget();
        assert_eq!(deeds, Deeds::default());
    }
}
