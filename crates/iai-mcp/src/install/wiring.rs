//! One question for every kind of file: the text with us in it, without us, and how it is now.

use super::codex_config;
use super::hooks;
use super::hosts::{Content, WHOLE_MARK};
use super::jsonc::scan;
use super::marks::{Program, program_of, store_of};
use super::refusal::Refusal;
use super::servers;
use super::splice::Draft;

/// How a file is wired now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wiring {
    /// What reaches us: events, or `mcp`.
    pub(crate) wired: Vec<&'static str>,
    pub(crate) missing: Vec<&'static str>,
    /// The programs it runs, which may have moved away since.
    pub(crate) programs: Vec<String>,
    /// Stores it leads to that are not this one.
    pub(crate) other_stores: Vec<String>,
}

const SERVER: &str = "mcp";
const SERVICE: &str = "service";

impl Content {
    /// What this file is for, as users call it.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Hooks(_) => "hooks",
            Self::JsonServer(_) | Self::TomlServer => "MCP server",
            Self::Whole(_) => "service",
        }
    }

    /// Returns the text with everything of ours in it, once.
    pub(super) fn wire(&self, text: &str, program: &Program) -> Result<String, Refusal> {
        match self {
            Self::Hooks(set) => {
                let mut draft = Draft::open(text)?;
                hooks::wire(&mut draft, set, program)?;
                Ok(draft.into_text())
            }
            Self::JsonServer(fields) => {
                let mut draft = Draft::open(text)?;
                servers::wire(&mut draft, fields, program)?;
                Ok(draft.into_text())
            }
            Self::TomlServer => codex_config::wire(text, program),
            Self::Whole(whole) => Ok(whole.to_string()),
        }
    }

    /// Returns the text without anything of ours; `original` is the text before we came, where it
    /// is known.
    pub(super) fn unwire(
        &self,
        text: &str,
        program: &Program,
        original: Option<&str>,
    ) -> Result<String, Refusal> {
        match self {
            Self::TomlServer => return codex_config::unwire(text, program),
            // Without the mark it is somebody else's by now, whatever its name.
            Self::Whole(_) if !text.contains(WHOLE_MARK) => return Ok(text.to_owned()),
            Self::Whole(_) => return Ok(original.unwrap_or_default().to_owned()),
            Self::Hooks(_) | Self::JsonServer(_) => {}
        }
        if scan(text)?.is_none() {
            return Ok(text.to_owned());
        }
        let original = match original.map(scan) {
            Some(Ok(None)) => scan("{}")?,
            Some(Ok(root)) => root,
            Some(Err(_)) | None => None,
        };
        let mut draft = Draft::open(text)?;
        match self {
            Self::Hooks(set) => hooks::unwire(&mut draft, set, program, original.as_ref())?,
            Self::JsonServer(fields) => {
                servers::unwire(&mut draft, fields, program, original.as_ref())?;
            }
            Self::TomlServer | Self::Whole(_) => {}
        }
        Ok(draft.into_text())
    }

    /// Looks at how the text is wired.
    pub(super) fn look(&self, text: &str, program: &Program) -> Result<Wiring, Refusal> {
        let server = |command: Option<String>, store: Option<&str>| match command {
            Some(command) => Wiring {
                wired: vec![SERVER],
                missing: Vec::new(),
                programs: vec![command],
                other_stores: program.other_store(store).into_iter().collect(),
            },
            None => Wiring { missing: vec![SERVER], ..Wiring::default() },
        };
        match self {
            Self::Whole(whole) if text == &**whole => {
                Ok(Wiring { wired: vec![SERVICE], ..Wiring::default() })
            }
            Self::Whole(_) => Ok(Wiring { missing: vec![SERVICE], ..Wiring::default() }),
            Self::TomlServer => {
                let store = codex_config::store(text)?;
                Ok(server(codex_config::command(text, program)?, store.as_deref()))
            }
            Self::JsonServer(fields) => {
                let root = scan(text)?;
                let root = root.as_ref();
                let command = root.and_then(|root| servers::command(root, fields, program));
                let store = root.and_then(|root| servers::store(root, fields));
                Ok(server(command.map(str::to_owned), store))
            }
            Self::Hooks(set) => {
                let root = scan(text)?;
                let handlers = root.map(|root| hooks::handlers(&root, set.shape));
                let ours: Vec<_> = handlers
                    .into_iter()
                    .flatten()
                    .filter(|handler| program.owns_hook(&handler.command))
                    .collect();
                let mut wiring = Wiring::default();
                for event in set.events {
                    match ours.iter().find(|handler| handler.event == event.name) {
                        Some(handler) => {
                            wiring.wired.push(event.name);
                            wiring.programs.push(program_of(&handler.command));
                            let store = store_of(&handler.command);
                            wiring.other_stores.extend(program.other_store(store.as_deref()));
                        }
                        None => wiring.missing.push(event.name),
                    }
                }
                wiring.programs.dedup();
                wiring.other_stores.dedup();
                Ok(wiring)
            }
        }
    }

    /// Returns what a user could paste into the file.
    pub(super) fn block(&self, program: &Program) -> String {
        match self {
            Self::TomlServer => codex_config::whole_block("\n", program),
            Self::Hooks(_) | Self::JsonServer(_) | Self::Whole(_) => {
                self.wire("", program).unwrap_or_default()
            }
        }
    }

    /// Returns what stood in a file that was not there.
    pub(super) fn nothing(&self) -> &'static str {
        match self {
            Self::Hooks(_) | Self::JsonServer(_) => "{}",
            Self::TomlServer | Self::Whole(_) => "",
        }
    }

    /// Whether nothing is left in a file we made.
    pub(super) fn is_hollow(&self, text: &str) -> bool {
        match self {
            Self::TomlServer | Self::Whole(_) => text.trim().is_empty(),
            Self::Hooks(_) | Self::JsonServer(_) => {
                let bare: String = text.split_whitespace().collect();
                bare == "{}" || bare == "{\"version\":1}"
            }
        }
    }
}
