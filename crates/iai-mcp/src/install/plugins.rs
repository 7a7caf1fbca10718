//! Our plugin in a host: a second way to be wired, which the host's own commands put in and out.
//!
//! Only looked at. With it, hooks in a settings file run beside the plugin's; nothing is stored
//! twice, but every event costs two processes.

use std::path::PathBuf;

use toml_edit::Document;

use super::disk::{self, Held};
use super::hosts::{Host, HostFolders};
use super::jsonc::{Node, scan};
use super::marks::NAME;

/// A plugin of ours that a host runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plugin {
    /// As users know the host.
    pub(crate) host: &'static str,
    /// The plugin and the list it came from.
    pub(crate) id: String,
    /// Which file says so.
    pub(crate) path: PathBuf,
}

/// Returns the plugin that the host's settings switch on; a file that cannot be read has none.
pub(super) fn enabled(host: Host, folders: &HostFolders) -> Option<Plugin> {
    let (name, path, find) = match host {
        Host::Claude => {
            ("claude", folders.claude_settings(), in_claude as fn(&str) -> Option<String>)
        }
        Host::Codex => ("codex", folders.codex_config(), in_codex as _),
        Host::Cursor | Host::Gemini | Host::VsCode | Host::Windsurf | Host::Zed => return None,
    };
    let held = disk::read(&path).ok()??;
    let text = Held::text(&held).ok()?;
    let id = find(text);
    Some(Plugin { host: name, id: id?, path })
}

/// `"enabledPlugins": {"iai-mcp@somewhere": true}`
fn in_claude(text: &str) -> Option<String> {
    let root = scan(text).ok()??;
    let plugins = root.get("enabledPlugins").and_then(Node::members)?;
    let is_on = |node: &Node| text.get(node.span.clone()) == Some("true");
    let mut on = plugins.iter().filter(|member| is_ours(&member.key) && is_on(&member.value));
    on.next().map(|member| member.key.clone())
}

/// `[plugins."iai-mcp@somewhere"]`, which is on unless `enabled` says otherwise.
fn in_codex(text: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let plugins = document.as_table().get("plugins")?.as_table_like()?;
    let mut on = plugins.iter().filter(|(id, plugin)| {
        let enabled = plugin.as_table_like().and_then(|plugin| plugin.get("enabled"));
        is_ours(id) && enabled.and_then(toml_edit::Item::as_bool) != Some(false)
    });
    on.next().map(|(id, _)| id.to_owned())
}

fn is_ours(id: &str) -> bool {
    id.split('@').next() == Some(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(find: fn(&str) -> Option<String>, text: &str, want: Option<&str>) {
        assert_eq!(find(text).as_deref(), want, "{text}");
    }

    #[test]
    fn a_plugin_counts_where_it_is_switched_on() {
        let on = "{ // mine\n \"enabledPlugins\": {\"x@y\": true, \"iai-mcp@iai-mcp\": true,}}";
        check(in_claude, on, Some("iai-mcp@iai-mcp"));
        check(in_claude, r#"{"enabledPlugins": {"iai-mcp@here": false}}"#, None);
        check(in_claude, r#"{"enabledPlugins": {"iai-mcp-other@here": true}}"#, None);
        for strange in ["", "[]", "{,}", r#"{"enabledPlugins": []}"#] {
            check(in_claude, strange, None);
        }
        check(in_codex, "[plugins.\"iai-mcp@m\"]\nenabled = true\n", Some("iai-mcp@m"));
        check(in_codex, "[plugins.\"iai-mcp@m\"]\n", Some("iai-mcp@m"));
        check(in_codex, "[plugins.\"iai-mcp@m\"]\nenabled = false\n", None);
        check(in_codex, "[plugins.\"x@m\"]\nenabled = true\n", None);
        for strange in ["", "plugins = 3", "[["] {
            check(in_codex, strange, None);
        }
    }
}
