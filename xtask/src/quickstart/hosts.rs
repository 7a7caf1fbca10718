//! The lines a person pastes into an assistant's settings to reach the MCP server.

use std::path::Path;

use serde_json::json;

/// Returns the instructions for every host we know, for the binary at `path`.
pub(crate) fn lines_to_paste(path: &Path) -> String {
    let path = path.display().to_string();
    let quoted = json!(path);
    let word = shell_word(&path);
    let servers = json!({"mcpServers": {"iai-mcp": {"command": path, "args": ["mcp"]}}});
    format!(
        "To use it, have everything set up (shows what it would change, and asks once):\n\
         \n  {word} setup\n\
         \n\
         Or by hand: keep a daemon running and tell your assistant where the server is.\n\
         \n\
         The daemon:\n\
         \n  {word} daemon start\n\
         \n\
         Claude Code:\n\
         \n  claude mcp add iai-mcp -- {word} mcp\n\
         \n\
         Codex, in ~/.codex/config.toml:\n\
         \n  [mcp_servers.iai-mcp]\n  command = {quoted}\n  args = [\"mcp\"]\n\
         \n\
         Cursor and others, in their mcp.json:\n\
         \n{servers:#}\n"
    )
}

/// Returns `path` as one word of a shell line.
fn shell_word(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_gets_the_absolute_path() {
        let lines = lines_to_paste(Path::new("/opt/iai-mcp"));
        for want in [
            "  claude mcp add iai-mcp -- /opt/iai-mcp mcp\n",
            "  [mcp_servers.iai-mcp]\n  command = \"/opt/iai-mcp\"\n  args = [\"mcp\"]\n",
            "\"command\": \"/opt/iai-mcp\"",
            "  /opt/iai-mcp daemon start\n",
            "  /opt/iai-mcp setup\n",
        ] {
            assert!(lines.contains(want), "{want} in {lines}");
        }
    }

    #[test]
    fn a_path_stays_one_word() {
        assert_eq!(shell_word("/opt/iai-mcp"), "/opt/iai-mcp");
        assert_eq!(shell_word("/my code/it's"), r"'/my code/it'\''s'");
    }
}
