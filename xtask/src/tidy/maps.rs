//! What the documents point at exists: paths in the map of the house, links everywhere.

use super::Complaint;
use super::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";

/// Every path the map names in backticks exists.
pub(super) fn architecture(tree: &Tree, complaints: &mut Vec<Complaint>) {
    let Some(map) = tree.texts.iter().find(|text| text.path == MAP) else {
        complaints.push(Complaint::new(MAP, 1, "not there; the house needs its map"));
        return;
    };
    for (line, text) in prose(&map.text) {
        for word in text.split('`').skip(1).step_by(2).filter(|word| is_path(word)) {
            if !tree.has(word) {
                let what = format!("`{word}` does not exist; write paths from the repository root");
                complaints.push(Complaint::new(MAP, line, what));
            }
        }
    }
}

/// Every relative link in a document at the root or under `docs/` leads to a file.
pub(super) fn links(tree: &Tree, complaints: &mut Vec<Complaint>) {
    let is_document =
        |path: &str| path.ends_with(".md") && (!path.contains('/') || path.starts_with("docs/"));
    for document in tree.texts.iter().filter(|text| is_document(&text.path)) {
        for (line, text) in prose(&document.text) {
            for target in targets(&text) {
                let is_there = resolve(&document.path, &target).is_some_and(|path| tree.has(&path));
                if !is_there {
                    let what =
                        format!("the link to `{target}` leads nowhere; correct or remove it");
                    complaints.push(Complaint::new(&document.path, line, what));
                }
            }
        }
    }
}

/// Returns the numbered lines outside fenced blocks.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_fenced = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            lines.push((index + 1, line.to_owned()));
        }
    }
    lines
}

/// A path of the repository, and not of a home, the system, a build or the web.
fn is_path(word: &str) -> bool {
    let is_elsewhere = ["~", "$", "/", "target/"].iter().any(|start| word.starts_with(start));
    word.contains('/') && !word.contains([' ', '<']) && !word.contains("://") && !is_elsewhere
}

/// Returns where the inline links of a line lead, as far as they lead into the repository.
fn targets(line: &str) -> Vec<String> {
    // What stands in backticks is shown, not linked.
    let shown: Vec<&str> = line.split('`').step_by(2).collect();
    let line = shown.join("``");
    let ends = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let targets = ends.filter_map(|target| target.split_whitespace().next());
    let paths = targets.filter_map(|target| target.split('#').next());
    let is_ours = |path: &&str| !path.is_empty() && !path.contains(':');
    paths.filter(is_ours).map(str::to_owned).collect()
}

/// Returns `target`, seen from `document`, as a path from the root, unless it leads outside.
fn resolve(document: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => document.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect(),
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn the_map_names_only_what_exists() {
        let source = ("crates/a/src/lib.rs", "");
        let cases = [
            ("see `crates/a/src/lib.rs`, `crates/a/` and `crates/*/src`", None),
            (
                "in `~/.iai-mcp/x`, `$HOME/x`, `/proc/self`, `target/release`, `a / b`, `lib.rs`",
                None,
            ),
            ("```\n`crates/gone.rs`\n```", None),
            ("see `crates/gone.rs`", Some("crates/gone.rs")),
            ("see `src/lib.rs`", Some("src/lib.rs")),
            ("see `crates/*/main.rs`", Some("crates/*/main.rs")),
        ];
        for (text, gone) in cases {
            let want = gone.map(|gone| {
                format!("{MAP}:1: `{gone}` does not exist; write paths from the repository root")
            });
            let want: Vec<&str> = want.iter().map(String::as_str).collect();
            expect(architecture, &[(MAP, text), source], &want);
        }
        let want = "ARCHITECTURE.md:1: not there; the house needs its map";
        expect(architecture, &[source], &[want]);
    }

    #[test]
    fn links_lead_somewhere() {
        let others = [("LICENSE", ""), ("docs/decisions/0001-x.md", "")];
        let cases = [
            (
                "README.md",
                "[a](LICENSE) [b](docs/decisions/) [c](./docs/decisions/0001-x.md)",
                None,
            ),
            ("README.md", "[a](https://example.org/x) [b](#part) [c](mailto:a@b)", None),
            ("README.md", "[a](docs/decisions/0001-x.md#part \"title\") `[b](gone)`", None),
            ("docs/a.md", "[a](../LICENSE) [b](decisions/0001-x.md) [c](/LICENSE)", None),
            ("docs/a.md", "[a](LICENSE)", Some("LICENSE")),
            ("docs/a.md", "[a](../../LICENSE)", Some("../../LICENSE")),
            ("docs/decisions/b.md", "![a](gone.png)", Some("gone.png")),
            ("README.md", "[a](docs/gone.md#part)", Some("docs/gone.md")),
            ("xtask/notes.md", "[a](gone)", None),
        ];
        for (path, text, gone) in cases {
            let want = gone.map(|gone| {
                format!("{path}:1: the link to `{gone}` leads nowhere; correct or remove it")
            });
            let want: Vec<&str> = want.iter().map(String::as_str).collect();
            expect(links, &[others[0], others[1], (path, text)], &want);
        }
    }
}
