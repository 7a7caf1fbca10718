//! `cargo xtask plugins`: what we hand to hosts, judged by the hosts' own programs, which are
//! fetched by name from their registries into `target`.

mod check;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{process, repository};

const FETCH_LIMIT: Duration = Duration::from_secs(600);
const CHECK_LIMIT: Duration = Duration::from_secs(120);
const NODE_PACKAGES: &[&str] =
    &["@anthropic-ai/claude-code", "@anthropic-ai/mcpb", "@openai/codex"];
/// Carries every released schema of the MCP registry.
const PYTHON_PACKAGE: &str = "skillsaw";

pub(crate) fn run() -> Result<(), String> {
    let root = repository::root();
    let problems = check::problems(&|path| std::fs::read_to_string(root.join(path)).ok());
    if let Some(first) = problems.first() {
        return Err(format!("{first} ({} in all)", problems.len()));
    }
    println!("  our own checks: nothing to complain about");
    let judges = Judges::fetch(&root)?;
    judges.claude(&root)?;
    judges.codex(&root)?;
    judges.bundle(&root)?;
    judges.registry(&root)
}

/// The fetched programs, and a home they may write to.
struct Judges {
    folder: PathBuf,
    home: PathBuf,
}

impl Judges {
    fn fetch(root: &Path) -> Result<Self, String> {
        let folder = root.join("target/plugins");
        let home = folder.join("home");
        let failed = |error| format!("{}: {error}", home.display());
        if home.exists() {
            std::fs::remove_dir_all(&home).map_err(failed)?;
        }
        std::fs::create_dir_all(&home).map_err(failed)?;
        let mut npm = process::command("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(&folder);
        npm.args(NODE_PACKAGES);
        answered("npm install", npm, FETCH_LIMIT)?;
        let venv = folder.join("python");
        let mut make = process::command("python3");
        make.args(["-m", "venv"]).arg(&venv);
        answered("python3 -m venv", make, FETCH_LIMIT)?;
        let mut pip = process::command(venv.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        pip.arg(PYTHON_PACKAGE);
        answered("pip install", pip, FETCH_LIMIT)?;
        Ok(Self { folder, home })
    }

    /// Validates, then installs for real: only that loads hooks, commands and server.
    fn claude(&self, root: &Path) -> Result<(), String> {
        let plugins = root.join("plugins");
        let claude = |words: &[&str]| self.node("claude", &[&["plugin"], words].concat());
        claude(&["validate", &text(&plugins)])?;
        claude(&["validate", &text(&plugins.join("iai-mcp"))])?;
        claude(&["marketplace", "add", &text(&plugins)])?;
        claude(&["install", "iai-mcp@iai-mcp"])?;
        let details = claude(&["details", "iai-mcp"])?;
        expect("Claude Code", &details, &["Hooks (6)", "MCP servers (1)", "recall", "remember"])
    }

    fn codex(&self, root: &Path) -> Result<(), String> {
        self.node("codex", &["plugin", "marketplace", "add", &text(&root.join("plugins"))])?;
        self.node("codex", &["plugin", "add", "iai-mcp@iai-mcp"])?;
        let listed = self.node("codex", &["plugin", "list", "--json"])?;
        expect("Codex", &listed, &["\"iai-mcp@iai-mcp\"", "\"enabled\": true"])?;
        let servers = self.node("codex", &["mcp", "list"])?;
        expect("Codex, servers", &servers, &["iai-mcp  iai-mcp  mcp"])
    }

    fn bundle(&self, root: &Path) -> Result<(), String> {
        let manifest = root.join("packaging/mcpb/manifest.json");
        let told = self.node("mcpb", &["validate", &text(&manifest)])?;
        expect("mcpb", &told, &["passes"])
    }

    fn registry(&self, root: &Path) -> Result<(), String> {
        let folder = self.folder.join("registry");
        let failed = |error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(&folder).map_err(failed)?;
        std::fs::copy(root.join("packaging/server.json"), folder.join("server.json"))
            .map_err(failed)?;
        let mut lint = process::command(self.folder.join("python/bin/skillsaw"));
        lint.arg("lint").arg(&folder).env("HOME", &self.home);
        let told = answered("skillsaw", lint, CHECK_LIMIT)?;
        expect("MCP registry", &told, &["mcp-registry", "Errors:   0"])
    }

    fn node(&self, program: &str, words: &[&str]) -> Result<String, String> {
        let mut command = process::command(self.folder.join("node_modules/.bin").join(program));
        command.args(words).env("HOME", &self.home).current_dir(&self.home);
        answered(&format!("{program} {}", words.join(" ")), command, CHECK_LIMIT)
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn answered(what: &str, command: Command, limit: Duration) -> Result<String, String> {
    let finished = process::capture(command, limit)?;
    if finished.status.success() {
        Ok(finished.stdout)
    } else {
        Err(format!("{what} failed: {}{}", finished.stdout, finished.stderr))
    }
}

fn expect(judge: &str, told: &str, words: &[&str]) -> Result<(), String> {
    match words.iter().find(|word| !told.contains(**word)) {
        None => {
            println!("  {judge}: accepted");
            Ok(())
        }
        Some(word) => Err(format!("{judge} says nothing of `{word}`: {told}")),
    }
}
