//! The arrows between our crates, as their manifests draw them.

use super::Complaint;
use super::tree::{Text, Tree};

/// Every arrow there is. A crate that is not listed has none.
const ARROWS: &[(&str, &[&str])] = &[
    ("crates/iai-mcp/Cargo.toml", &["iai-wire", "iai-memory", "iai-sync"]),
    ("crates/iai-memory/Cargo.toml", &["iai-store", "iai-embed", "iai-sync"]),
    ("crates/iai-store/Cargo.toml", &["iai-cipher"]),
];

/// `iai-fuzz` is not among them: it knows nobody, and every crate may have its tests fuzz.
const OUR_CRATES: &[&str] = &[
    "iai-wire",
    "iai-cipher",
    "iai-store",
    "iai-embed",
    "iai-sync",
    "iai-memory",
    "iai-mcp",
    "xtask",
];

/// No crate depends on one it must not know, not even for its tests.
pub(super) fn arrows(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for manifest in members(tree) {
        let allowed = ARROWS.iter().find(|(path, _)| *path == manifest.path);
        let allowed = allowed.map_or(&[][..], |(_, allowed)| allowed);
        for (line, name) in dependencies(&manifest.text) {
            if OUR_CRATES.contains(&name.as_str()) && !allowed.contains(&name.as_str()) {
                let what =
                    format!("no arrow leads to `{name}`; see ARCHITECTURE.md for the arrows");
                complaints.push(Complaint::new(&manifest.path, line, what));
            }
        }
    }
}

/// Every crate lives under the workspace's lints.
pub(super) fn lints(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for manifest in members(tree) {
        if !manifest.text.contains("[lints]\nworkspace = true") {
            let what = "its own lints; add `[lints]` with `workspace = true`";
            complaints.push(Complaint::new(&manifest.path, 1, what));
        }
    }
}

fn members(tree: &Tree) -> impl Iterator<Item = &Text> {
    let is_member = |path: &str| path.starts_with("crates/") || path.starts_with("xtask/");
    let manifests = tree.texts.iter().filter(|text| text.path.ends_with("/Cargo.toml"));
    manifests.filter(move |text| is_member(&text.path))
}

/// Returns `(line, package)` for every dependency of any kind.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_in_table = false;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            is_in_table = header.ends_with("dependencies");
            let name = header.rsplit_once("dependencies.").map(|(_, name)| name);
            found.extend(name.map(|name| (index + 1, unquoted(name))));
        } else if let Some((key, value)) = line.split_once('=') {
            let is_rename = key.trim() == "package" && !is_in_table;
            let renamed = value.split_once("package").map(|(_, name)| name.trim_start());
            let renamed = renamed.and_then(|name| name.strip_prefix('=')).map(str::trim_start);
            let renamed = renamed.or(is_rename.then(|| value.trim())).map(first_string);
            let key = key.split('.').next().unwrap_or(key);
            let plain = is_in_table.then(|| unquoted(key));
            found.extend(renamed.or(plain).map(|name| (index + 1, name)));
        }
    }
    found
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

fn first_string(text: &str) -> String {
    text.split(['"', '\'']).nth(1).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[track_caller]
    fn check(path: &str, manifest: &str, want: Option<(usize, &str)>) {
        let want = want.map(|(line, name)| {
            format!("{path}:{line}: no arrow leads to `{name}`; see ARCHITECTURE.md for the arrows")
        });
        let want: Vec<&str> = want.iter().map(String::as_str).collect();
        expect(arrows, &[(path, manifest)], &want);
    }

    #[test]
    fn the_arrows_of_the_house_are_drawn() {
        for (path, allowed) in ARROWS {
            for name in *allowed {
                check(path, &format!("[dependencies]\n{name}.workspace = true\n"), None);
            }
        }
    }

    #[test]
    fn no_other_arrow_is_drawn_in_any_spelling() {
        let cases = [
            ("[dependencies]\niai-memory.workspace = true\n", 2),
            ("[dependencies]\nserde = \"1\"\niai-memory = { path = \"../iai-memory\" }\n", 3),
            ("[dev-dependencies]\n\"iai-memory\" = \"1\"\n", 2),
            ("[build-dependencies]\niai-memory.path = \"..\"\n", 2),
            ("[target.'cfg(unix)'.dependencies]\niai-memory.workspace = true\n", 2),
            ("[dependencies.iai-memory]\nworkspace = true\n", 1),
            ("[dependencies]\nengine = { path = \"..\", package = \"iai-memory\" }\n", 2),
            ("[dependencies.engine]\npackage = \"iai-memory\"\n", 2),
        ];
        for (manifest, line) in cases {
            check("crates/iai-wire/Cargo.toml", manifest, Some((line, "iai-memory")));
            check("crates/iai-mcp/Cargo.toml", manifest, None);
        }
        check(
            "xtask/Cargo.toml",
            "[dependencies]\niai-mcp.workspace = true\n",
            Some((2, "iai-mcp")),
        );
        check("crates/iai-mcp/Cargo.toml", "[package]\nname = \"iai-mcp\"\n", None);
    }

    #[test]
    fn every_crate_has_the_lints_of_the_house() {
        let want = "crates/a/Cargo.toml:1: its own lints; add `[lints]` with `workspace = true`";
        expect(lints, &[("crates/a/Cargo.toml", "[lints.clippy]\n")], &[want]);
        expect(lints, &[("crates/a/Cargo.toml", "x\n\n[lints]\nworkspace = true\n")], &[]);
    }
}
