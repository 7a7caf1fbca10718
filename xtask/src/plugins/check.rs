//! What can be told about the plugins without a host: that every field is there and of its type,
//! every path leads somewhere, every event exists, and every version is ours.

use serde_json::{Value, json};

use crate::release::VERSION;

const PLUGIN: &str = "plugins/iai-mcp";
const NAME: &str = "iai-mcp";
/// The events of each host's file, with our words for them.
const EVENTS: &[(&str, &str)] = &[
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "prompt"),
    ("Stop", "stop"),
    ("SubagentStop", "subagent-stop"),
    ("PreCompact", "pre-compact"),
    ("SessionEnd", "session-end"),
];
const COMMANDS: &[&str] = &["recall", "remember", "forget"];
/// What the MCP registry shows of a description.
const DESCRIPTION_CHARS_MAX: usize = 100;

/// Reads a file of the repository.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns what is wrong, by file; nothing when all is well.
pub(super) fn problems(lookup: Lookup<'_>) -> Vec<String> {
    let mut found = Problems { lookup, told: Vec::new() };
    found.marketplaces();
    found.manifests();
    found.hooks("hooks/hooks.json", "claude");
    found.hooks("hooks/codex.json", "codex");
    found.server();
    found.commands();
    found.bundle();
    found.registry();
    found.blocks();
    found.told
}

struct Problems<'a> {
    lookup: Lookup<'a>,
    told: Vec<String>,
}

impl Problems<'_> {
    fn json(&mut self, path: &str) -> Value {
        let text = (self.lookup)(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_else(|error| {
            self.told.push(format!("{path}: {error}"));
            Value::Null
        })
    }

    /// The value at `pointer` must be this.
    fn is(&mut self, path: &str, value: &Value, pointer: &str, want: &Value) {
        let found = value.pointer(pointer).unwrap_or(&Value::Null);
        if found != want {
            self.told.push(format!("{path}: {pointer} is {found}, not {want}"));
        }
    }

    /// The value at `pointer` must be a text that says something.
    fn says(&mut self, path: &str, value: &Value, pointer: &str) {
        let text = value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if text.trim().is_empty() {
            self.told.push(format!("{path}: {pointer} says nothing"));
        }
    }

    fn exists(&mut self, path: &str, pointed: &str) {
        if (self.lookup)(pointed).is_none() {
            self.told.push(format!("{path}: there is no {pointed}"));
        }
    }

    fn marketplaces(&mut self) {
        let path = "plugins/.claude-plugin/marketplace.json";
        let list = self.json(path);
        for pointer in ["/owner/name", "/plugins/0/description"] {
            self.says(path, &list, pointer);
        }
        self.is(path, &list, "/name", &json!(NAME));
        self.is(path, &list, "/plugins/0/name", &json!(NAME));
        self.is(path, &list, "/plugins/0/source", &json!("./iai-mcp"));
        self.is(path, &list, "/plugins/0/version", &json!(VERSION));
        let path = "plugins/.agents/plugins/marketplace.json";
        let list = self.json(path);
        self.is(path, &list, "/name", &json!(NAME));
        self.is(path, &list, "/plugins/0/name", &json!(NAME));
        let source = json!({"source": "local", "path": "./iai-mcp"});
        self.is(path, &list, "/plugins/0/source", &source);
    }

    fn manifests(&mut self) {
        for host in ["claude", "codex"] {
            let path = format!("{PLUGIN}/.{host}-plugin/plugin.json");
            let manifest = self.json(&path);
            self.is(&path, &manifest, "/name", &json!(NAME));
            self.is(&path, &manifest, "/version", &json!(VERSION));
            self.is(&path, &manifest, "/license", &json!("MIT OR Apache-2.0"));
            self.says(&path, &manifest, "/description");
            self.says(&path, &manifest, "/author/name");
            for pointer in ["/mcpServers", "/hooks"] {
                let pointed = manifest.pointer(pointer).and_then(Value::as_str);
                match pointed.map(|pointed| pointed.strip_prefix("./")) {
                    None => {}
                    Some(Some(inside)) => self.exists(&path, &format!("{PLUGIN}/{inside}")),
                    Some(None) => self.told.push(format!("{path}: {pointer} leads out of it")),
                }
            }
        }
    }

    fn hooks(&mut self, file: &str, host: &str) {
        let path = format!("{PLUGIN}/{file}");
        let hooks = self.json(&path);
        let events = hooks.get("hooks").and_then(Value::as_object).cloned().unwrap_or_default();
        if events.len() != EVENTS.len() {
            self.told.push(format!("{path}: {} events instead of {}", events.len(), EVENTS.len()));
        }
        for (event, word) in EVENTS {
            let handler = format!("/hooks/{event}/0/hooks/0");
            let command = format!("iai-mcp hook {word} --host {host}");
            self.is(&path, &hooks, &format!("{handler}/type"), &json!("command"));
            self.is(&path, &hooks, &format!("{handler}/command"), &json!(command));
            let timeout = hooks.pointer(&format!("{handler}/timeout")).and_then(Value::as_u64);
            if !timeout.is_some_and(|seconds| (1..=60).contains(&seconds)) {
                self.told.push(format!("{path}: {event} has no sensible timeout"));
            }
        }
    }

    fn server(&mut self) {
        let path = format!("{PLUGIN}/.mcp.json");
        let servers = self.json(&path);
        let want = json!({"mcpServers": {NAME: {"command": NAME, "args": ["mcp"]}}});
        self.is(&path, &servers, "", &want);
    }

    fn commands(&mut self) {
        for command in COMMANDS {
            let path = format!("{PLUGIN}/commands/{command}.md");
            let text = (self.lookup)(&path).unwrap_or_default();
            let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
            let (head, body) = parts.unwrap_or_default();
            let is_described = head.lines().any(|line| {
                line.strip_prefix("description: ").is_some_and(|words| !words.trim().is_empty())
            });
            if !is_described {
                self.told.push(format!("{path}: no description in its head"));
            }
            if !body.contains("$ARGUMENTS") {
                self.told.push(format!("{path}: does nothing with what the user wrote"));
            }
        }
    }

    fn bundle(&mut self) {
        let path = "packaging/mcpb/manifest.json";
        let manifest = self.json(path);
        self.is(path, &manifest, "/manifest_version", &json!("0.3"));
        self.is(path, &manifest, "/name", &json!(NAME));
        self.is(path, &manifest, "/version", &json!(VERSION));
        self.is(path, &manifest, "/server/type", &json!("binary"));
        self.is(path, &manifest, "/server/mcp_config/args", &json!(["mcp"]));
        let entry = manifest.pointer("/server/entry_point").and_then(Value::as_str);
        let command = format!("${{__dirname}}/{}", entry.unwrap_or_default());
        self.is(path, &manifest, "/server/mcp_config/command", &json!(command));
        for pointer in ["/description", "/author/name", "/server/entry_point"] {
            self.says(path, &manifest, pointer);
        }
    }

    fn registry(&mut self) {
        let path = "packaging/server.json";
        let entry = self.json(path);
        self.is(path, &entry, "/version", &json!(VERSION));
        for pointer in ["/$schema", "/title", "/description"] {
            self.says(path, &entry, pointer);
        }
        let field = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        if DESCRIPTION_CHARS_MAX < field("description").chars().count() {
            self.told.push(format!("{path}: more than {DESCRIPTION_CHARS_MAX} characters told"));
        }
        let is_name = |part: &str| {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
            !part.is_empty() && part.chars().all(is_letter)
        };
        let name = field("name").split_once('/');
        if !name.is_some_and(|(space, name)| is_name(space) && is_name(name)) {
            self.told.push(format!("{path}: the name is not of the form space/name"));
        }
    }

    /// What users copy out of the documentation must work as it stands.
    fn blocks(&mut self) {
        let path = "docs/hosts.md";
        let text = (self.lookup)(path).unwrap_or_default();
        let mut n_blocks = 0;
        for block in text.split("```json\n").skip(1) {
            n_blocks += 1;
            let block = block.split("```").next().unwrap_or_default();
            let parsed: Result<Value, _> = serde_json::from_str(block);
            let servers = parsed.as_ref().ok().and_then(|whole| {
                let keys = ["mcpServers", "servers", "context_servers"];
                keys.iter().find_map(|key| whole.get(key)?.get(NAME))
            });
            let is_ours = servers.is_some_and(|server| {
                server.get("command") == Some(&json!(NAME))
                    && server.get("args") == Some(&json!(["mcp"]))
            });
            if !is_ours {
                self.told.push(format!("{path}: block {n_blocks} does not start our server"));
            }
        }
        if n_blocks == 0 {
            self.told.push(format!("{path}: there are no blocks to copy"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository;

    fn read(path: &str) -> Option<String> {
        std::fs::read_to_string(repository::root().join(path)).ok()
    }

    #[test]
    fn what_we_hand_to_hosts_is_whole() {
        assert_eq!(problems(&read), Vec::<String>::new());
    }

    #[test]
    fn every_kind_of_fault_is_noticed() {
        let cases = [
            ("plugins/.claude-plugin/marketplace.json", VERSION, "0.0.1"),
            ("plugins/.agents/plugins/marketplace.json", "./iai-mcp", "./elsewhere"),
            ("plugins/iai-mcp/.claude-plugin/plugin.json", VERSION, "0.0.1"),
            ("plugins/iai-mcp/.codex-plugin/plugin.json", "./hooks/codex.json", "./hooks/x.json"),
            ("plugins/iai-mcp/.codex-plugin/plugin.json", "./.mcp.json", "../.mcp.json"),
            ("plugins/iai-mcp/hooks/hooks.json", "SessionEnd", "SessionOver"),
            ("plugins/iai-mcp/hooks/hooks.json", "--host claude", "--host codex"),
            ("plugins/iai-mcp/hooks/codex.json", "\"timeout\": 3", "\"timeout\": \"3\""),
            ("plugins/iai-mcp/.mcp.json", "[\"mcp\"]", "[]"),
            ("plugins/iai-mcp/commands/recall.md", "$ARGUMENTS", "this"),
            ("plugins/iai-mcp/commands/forget.md", "description:", "about:"),
            ("packaging/mcpb/manifest.json", "\"binary\"", "\"node\""),
            ("packaging/mcpb/manifest.json", "${__dirname}/server", "server"),
            ("packaging/server.json", "io.github.", "io github "),
            ("packaging/server.json", "Long-term", &"long ".repeat(30)),
            ("docs/hosts.md", "\"args\": [\"mcp\"]", "\"args\": []"),
            ("docs/hosts.md", "```json", "```text"),
        ];
        for (path, old, new) in cases {
            let broken = |asked: &str| {
                let text = read(asked)?;
                Some(if asked == path { text.replace(old, new) } else { text })
            };
            assert_ne!(broken(path), read(path), "{path} has no `{old}` to break");
            let told = problems(&broken);
            assert!(
                told.iter().any(|problem| problem.starts_with(path)),
                "{path}: {old}: {told:?}"
            );
        }
        assert!(!problems(&|_| None).is_empty());
    }
}
