//! Whole installations over files of every shape: what comes in, what must come out.

mod fuzz;
mod properties;
mod whole;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use proptest::prelude::*;
use serde_json::Value;

use super::jsonc::{Kind, Node, scan};
use super::*;

const HOOK: &str = "/b/iai-mcp hook stop --host claude";

/// A machine with one user.
struct Machine {
    folder: tempfile::TempDir,
    home: Home,
    folders: HostFolders,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join(".iai-mcp"), None);
        let folders = HostFolders::below(folder.path());
        Self { folder, home, folders }
    }

    fn installer(&self, program: &str) -> Installer<'_> {
        let program = Program::new(Path::new(program)).unwrap();
        let now = Timestamp::from_second(1_000).unwrap();
        Installer { home: &self.home, folders: &self.folders, program, now }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Runs an action and returns what was refused.
    fn run(&self, action: Action, hosts: &[Host], program: &str) -> Vec<String> {
        let installer = self.installer(program);
        let mut refused = Vec::new();
        for step in installer.plan(action, hosts).unwrap() {
            match &step.outlook {
                Outlook::Unchanged => {}
                Outlook::Refused { refusal, .. } => refused.push(refusal.to_string()),
                Outlook::Change(change) => {
                    installer.apply(action, &step.file, change).unwrap();
                }
            }
        }
        refused
    }

    fn install(&self, hosts: &[Host]) {
        assert_eq!(self.run(Action::Install, hosts, "/b/iai-mcp"), [""; 0]);
    }

    fn uninstall(&self, hosts: &[Host]) {
        assert_eq!(self.run(Action::Uninstall, hosts, "/b/iai-mcp"), [""; 0]);
    }

    /// Every file below the home with its bytes and mode.
    fn snapshot(&self) -> Vec<(String, Vec<u8>, u32)> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.folder.path()).unwrap();
                    let mode = fs::metadata(&path).unwrap().mode() & 0o777;
                    found.push((name.display().to_string(), fs::read(&path).unwrap(), mode));
                }
            }
        }
        found.sort();
        found
    }
}

/// Settings files as people have them.
const SHAPES: &[&str] = &[
    "",
    "\n",
    "\u{feff}",
    "// nothing yet",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{ // mine\n}",
    "{\"model\":\"opus\"}",
    "{\"model\": \"opus\", \"a\": [1, 2]}\n",
    "{\"model\": \"opus\",}",
    "{\n  \"model\": \"opus\"\n}\n",
    "{\n\t\"model\": \"opus\",\n\t\"deep\": {\n\t\t\"er\": []\n\t}\n}",
    "{\r\n    \"model\": \"opus\", // why\r\n    /* block */\r\n}\r\n",
    "\u{feff}{\r\n  \"a\": 1\r\n}",
    "{\n  \"a\": 1 // last\n  // end\n}\n",
    "{\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": {\"Stop\": []},\n  \"mcpServers\": {}\n}\n",
    "{\"hooks\":{},\"mcpServers\":{}}",
    "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"theirs\"}]}]}}",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"\",\n\
     \x20       \"hooks\": [\n          \
     {\"type\": \"command\", \"command\": \"theirs\"}, // keep\n        ],\n      },\n    ],\n    \
     \"PreToolUse\": []\n  },\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [{\n      \"hooks\": [{\n        \"command\": \"x\"\n\
     \x20     }]\n    }]\n  }\n}",
    "{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n",
    "{\"servers\":{ },\"inputs\":[],}",
    "// Zed\n{\n  \"context_servers\": {\n    /* mine */ \"a\": {\"command\": \"b\",},\n  },\n}\n",
];

const EVERY: [&str; 9] = [
    ".claude/settings.json",
    ".claude.json",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".codeium/windsurf/mcp_config.json",
    ".config/zed/settings.json",
    VS_CODE,
];

#[cfg(target_os = "macos")]
const VS_CODE: &str = "Library/Application Support/Code/User/mcp.json";
#[cfg(not(target_os = "macos"))]
const VS_CODE: &str = ".config/Code/User/mcp.json";

#[test]
fn leaving_gives_back_the_very_bytes_of_every_shape() {
    for shape in SHAPES {
        let machine = Machine::new();
        for name in EVERY {
            machine.write(name, shape);
        }
        machine.write(".codex/config.toml", "# mine\r\nmodel = \"x\"");
        fs::set_permissions(machine.path(EVERY[0]), fs::Permissions::from_mode(0o640)).unwrap();
        let before = machine.snapshot();
        machine.install(&HOSTS);
        let wired = machine.snapshot();
        for name in EVERY {
            let now = fs::read_to_string(machine.path(name)).unwrap();
            assert!(now.contains("/b/iai-mcp"), "{shape:?}: {now}");
        }
        machine.install(&HOSTS);
        assert_eq!(machine.snapshot(), wired, "a second time changes nothing: {shape:?}");
        machine.uninstall(&HOSTS);
        assert_eq!(machine.snapshot(), before, "{shape:?}");
    }
}

#[test]
fn what_was_not_there_is_not_there_afterwards() {
    let machine = Machine::new();
    machine.install(&HOSTS);
    for name in EVERY {
        assert_eq!(fs::metadata(machine.path(name)).unwrap().mode() & 0o777, 0o600);
    }
    let cursor = fs::read_to_string(machine.path(".cursor/hooks.json")).unwrap();
    assert!(cursor.starts_with("{\n  \"version\": 1,\n  \"hooks\": {\n    \"sessionStart\": [\n"));
    machine.uninstall(&HOSTS);
    assert_eq!(machine.snapshot(), []);
    for folder in [".claude", ".codex", ".cursor", ".gemini", ".codeium", ".config"] {
        assert!(!machine.path(folder).exists(), "{folder}");
    }
}

#[test]
fn one_host_is_wired_without_touching_another() {
    for (host, prefix) in
        [(Host::Claude, ".claude"), (Host::Codex, ".codex"), (Host::Cursor, ".cursor")]
    {
        let machine = Machine::new();
        machine.install(&[host]);
        let names = machine.snapshot().into_iter().map(|(name, ..)| name);
        let names: Vec<String> = names.filter(|name| !name.starts_with(".iai-mcp")).collect();
        assert!(names.len() == 2 && names.iter().all(|name| name.starts_with(prefix)), "{names:?}");
    }
}

#[test]
fn a_link_stays_a_link() {
    let machine = Machine::new();
    let real = machine.write("dotfiles/claude.json", "{\"a\":1}");
    fs::create_dir(machine.path(".claude")).unwrap();
    let link = machine.path(".claude/settings.json");
    symlink(&real, &link).unwrap();
    machine.install(&[Host::Claude]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("hook stop"));
    machine.uninstall(&[Host::Claude]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\"a\":1}");
}

#[test]
fn what_the_user_wrote_since_stays() {
    for shape in SHAPES {
        let machine = Machine::new();
        for name in EVERY {
            machine.write(name, shape);
        }
        machine.install(&HOSTS);
        for name in EVERY {
            let path = machine.path(name);
            let edited = fs::read_to_string(&path).unwrap() + "// mine\n";
            fs::write(path, edited).unwrap();
        }
        machine.uninstall(&HOSTS);
        for name in EVERY {
            let left = fs::read_to_string(machine.path(name)).unwrap();
            assert!(!left.contains("/b/iai-mcp") && left.ends_with("// mine\n"), "{left}");
            assert_eq!(meaning(&left), meaning(shape), "{name}: {shape:?} became {left:?}");
        }
        let names = machine.snapshot().into_iter().map(|(name, ..)| name);
        let n_backups = names.filter(|name| name.contains("iai-mcp-backup-")).count();
        assert_eq!(n_backups, EVERY.len(), "one of each: what it was a moment ago");
    }
}

#[test]
fn a_file_we_made_stays_once_somebody_else_uses_it() {
    let machine = Machine::new();
    machine.install(&[Host::Claude]);
    let path = machine.path(".claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen('{', "{\n  \"model\": \"opus\",", 1)).unwrap();
    machine.uninstall(&[Host::Claude]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"model\": \"opus\"\n}\n");
    assert!(!machine.path(".claude.json").exists());
}

#[test]
fn a_handler_leaves_alone_the_foreign_one_beside_it() {
    let machine = Machine::new();
    let theirs = "{\"type\": \"command\", \"command\": \"theirs\"}";
    let ours = "{\"type\": \"command\", \"command\": \"/old/iai-mcp hook stop --host claude\"}";
    let file = |handlers: &str| {
        format!(
            "{{\n  \"hooks\": {{\n    \"Stop\": [{{\"matcher\": \"x\", \"hooks\": [{handlers}]}}]\n\
             \x20 }}\n}}\n"
        )
    };
    let path = machine.write(".claude/settings.json", file(&format!("{ours}, {theirs}")));
    machine.uninstall(&[Host::Claude]);
    assert_eq!(fs::read_to_string(&path).unwrap(), file(theirs));
    fs::write(&path, file(&format!("{theirs}, {ours}"))).unwrap();
    machine.uninstall(&[Host::Claude]);
    assert_eq!(fs::read_to_string(&path).unwrap(), file(theirs));
}

#[test]
fn a_moved_program_is_updated_and_still_leaves_no_trace() {
    let machine = Machine::new();
    for name in EVERY {
        machine.write(name, "{\n  \"a\": 1\n}\n");
    }
    let before = machine.snapshot();
    assert_eq!(machine.run(Action::Install, &HOSTS, "/old/bin/iai-mcp"), [""; 0]);
    let old = machine.snapshot();
    machine.install(&HOSTS);
    let expected = old.into_iter().filter(|(name, ..)| !name.starts_with(".iai-mcp"));
    let moved = machine.snapshot().into_iter().filter(|(name, ..)| !name.starts_with(".iai-mcp"));
    for ((name, old, _), (_, new, _)) in expected.zip(moved) {
        let old = String::from_utf8(old).unwrap().replace("/old/bin/iai-mcp", "/b/iai-mcp");
        assert_eq!(old, String::from_utf8(new).unwrap(), "{name}");
    }
    machine.uninstall(&HOSTS);
    assert_eq!(machine.snapshot(), before);
}

#[test]
fn installing_over_an_edited_installation_can_still_be_undone() {
    let machine = Machine::new();
    let path = machine.write(".claude/settings.json", "{\n  \"a\": 1\n}\n");
    machine.install(&[Host::Claude]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"a\": 1", "\"a\": 2")).unwrap();
    assert_eq!(machine.run(Action::Install, &[Host::Claude], "/new/iai-mcp"), [""; 0]);
    machine.uninstall(&[Host::Claude]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"a\": 2\n}\n");
}

#[test]
fn the_python_program_is_taken_over_from() {
    let machine = Machine::new();
    let legacy = |script: &str| {
        format!(
            "{{\"hooks\": [{{\"type\": \"command\", \"command\": \"bash /h/{script}\", \
             \"timeout\": 5}}]}}"
        )
    };
    let settings = format!(
        "{{\n  \"hooks\": {{\n    \"UserPromptSubmit\": [{}],\n    \"Stop\": [{}, {{\"hooks\": [\
         {{\"command\": \"theirs\"}}]}}],\n    \"SessionStart\": [{}, {}]\n  }}\n}}\n",
        legacy("iai-mcp-turn-capture.sh"),
        legacy("iai-mcp-session-capture.sh"),
        legacy("iai-mcp-session-recall.sh"),
        legacy("iai-mcp-update-check.sh"),
    );
    let path = machine.write(".claude/settings.json", &settings);
    let servers = machine.write(
        ".claude.json",
        "{\"mcpServers\": {\"iai-mcp\": {\"command\": \"node\", \"args\": [\"x.js\"]}, \"b\": {}}}",
    );
    machine.install(&[Host::Claude]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains(".sh") && text.contains("theirs"), "{text}");
    assert_eq!(text.matches(" hook ").count(), 6);
    let text = fs::read_to_string(&servers).unwrap();
    assert!(!text.contains("node") && text.contains("\"b\": {}"), "{text}");
    assert!(scan(&text).is_ok());
    machine.uninstall(&[Host::Claude]);
    assert_eq!(fs::read_to_string(&path).unwrap(), settings);
}

#[test]
fn one_bad_file_is_refused_and_the_others_are_wired() {
    let cases: &[(&str, &[u8], &str)] = &[
        (EVERY[0], b"{\n  \"a\": oops\n}", "line 2, column 8"),
        (EVERY[0], b"[]", "object at its root"),
        (EVERY[0], b"\"x\"", "object at its root"),
        (EVERY[0], b"{\"a\":1,\"a\":2}", "stands twice"),
        (EVERY[0], b"{\"hooks\":[]}", "`hooks`, but it is not an object"),
        (EVERY[0], b"{\"hooks\":null}", "`hooks`, but it is not an object"),
        (EVERY[0], b"{\"hooks\":{\"Stop\":{}}}", "`hooks.Stop`, but it is not a list"),
        (EVERY[0], b"{\"a\":\"\xff\"}", "not UTF-8 at byte 6"),
        (EVERY[1], b"{\"mcpServers\":[]}", "`mcpServers`, but it is not an object"),
        (EVERY[1], b"{\"mcpServers\":{\"iai-mcp\":{\"url\":\"x\"}}}", "another program"),
        (EVERY[1], b"{\"mcpServers\":{\"iai-mcp\":{\"command\":\"docker\"}}}", "another program"),
        (".codex/config.toml", b"a = ", "not TOML at line 1"),
    ];
    for (name, bytes, want) in cases {
        let machine = Machine::new();
        let path = machine.write(name, bytes);
        let refused = machine.run(Action::Install, &HOSTS, "/b/iai-mcp");
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].contains(want), "{refused:?}");
        assert_eq!(&fs::read(&path).unwrap(), bytes);
        let n_files = machine.snapshot().len();
        assert_eq!(n_files, EVERY.len() + 2, "every file, Codex's settings and the ledger");
    }
}

#[test]
fn a_read_only_file_is_named_and_left() {
    let machine = Machine::new();
    let path = machine.write(".claude/settings.json", "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let refused = machine.run(Action::Install, &[Host::Claude], "/b/iai-mcp");
    assert!(refused[0].contains("is read-only"), "{refused:?}");
    assert_eq!(fs::read(&path).unwrap(), b"{}");
}

#[test]
fn a_diff_names_the_file_and_shows_only_what_changes() {
    let machine = Machine::new();
    let path = machine.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}\n");
    let installer = machine.installer("/b/iai-mcp");
    let steps = installer.plan(Action::Install, &[Host::Cursor]).unwrap();
    let Outlook::Change(change) = &steps[1].outlook else { panic!("a change") };
    let path = path.display();
    let want = format!(
        "--- {path}\n+++ {path}\n@@ -1,5 +1,11 @@\n {{\n   \"mcpServers\": {{\n-    \"b\": {{}}\n\
         +    \"b\": {{}},\n+    \"iai-mcp\": {{\n+      \"command\": \"/b/iai-mcp\",\n\
         +      \"args\": [\n+        \"mcp\"\n+      ]\n+    }}\n   }}\n }}\n"
    );
    assert_eq!(change.diff(&machine.path(".cursor/mcp.json")), want);
    assert!(
        machine.path(".cursor/hooks.json").symlink_metadata().is_err(),
        "a plan writes nothing"
    );
}

#[test]
fn text_around_a_new_handler_stays_as_it_was() {
    let check = |before: &str, after: &str| {
        let program = Program::new(Path::new("/b/iai-mcp")).unwrap();
        let mut draft = splice::Draft::open(before).unwrap();
        draft.append(&["h".into()], &Value::from(HOOK)).unwrap();
        let text = draft.into_text();
        assert_eq!(text, after);
        assert!(program.owns_hook(HOOK));
        let mut draft = splice::Draft::open(&text).unwrap();
        let n = draft.find(&["h".into()]).unwrap().elements().unwrap().len();
        draft.remove(&["h".into(), (n - 1).into()]).unwrap();
        let left = draft.into_text();
        assert_eq!(meaning(&left), meaning(before), "{left:?}");
        if !before.contains("[]") && !before.contains("[ ]") {
            assert_eq!(left, before);
        }
    };
    let hook = format!("\"{HOOK}\"");
    check("{\"h\":[]}", &format!("{{\"h\":[{hook}]}}"));
    check("{\"h\":[1]}", &format!("{{\"h\":[1, {hook}]}}"));
    check("{\"h\":[1,2]}", &format!("{{\"h\":[1,2,{hook}]}}"));
    check("{\"h\": [1, ]}", &format!("{{\"h\": [1, {hook}, ]}}"));
    check("{\"h\": [1 /* one */ ]}", &format!("{{\"h\": [1, /* one */ {hook} ]}}"));
    check("{\n  \"h\": []\n}", &format!("{{\n  \"h\": [\n    {hook}\n  ]\n}}"));
    check("{\n  \"h\": [1]\n}", &format!("{{\n  \"h\": [1, {hook}]\n}}"));
    check("{\n\t\"h\": [\n\t\t1\n\t]\n}", &format!("{{\n\t\"h\": [\n\t\t1,\n\t\t{hook}\n\t]\n}}"));
    check("{\n \"h\": [\n  1,\n ]}", &format!("{{\n \"h\": [\n  1,\n  {hook},\n ]}}"));
    check(
        "{\r\n \"h\": [\r\n  1 // x\r\n ]}",
        &format!("{{\r\n \"h\": [\r\n  1, // x\r\n  {hook}\r\n ]}}"),
    );
    check("{\"h\": [ // x\n]}", &format!("{{\"h\": [ // x\n  {hook}\n]}}"));
    check("{\n\"h\": [{\n\"a\": 1\n}]\n}", &format!("{{\n\"h\": [{{\n\"a\": 1\n}}, {hook}]\n}}"));
}

#[test]
fn taking_something_out_keeps_comments_and_commas_right() {
    let check = |before: &str, place: usize, after: &str| {
        let mut draft = splice::Draft::open(before).unwrap();
        draft.remove(&[place.into()]).unwrap();
        assert_eq!(draft.into_text(), after, "{before:?}");
    };
    check("[1]", 0, "[]");
    check("[1,]", 0, "[]");
    check("[1, 2, 3]", 0, "[2, 3]");
    check("[1, 2, 3]", 1, "[1, 3]");
    check("[1, 2, 3]", 2, "[1, 2]");
    check("[1, 2, 3,]", 2, "[1, 2,]");
    check("[\n  // one\n  1, // after one\n  2\n]", 0, "[\n  // one\n  // after one\n  2\n]");
    check(
        "[\n  1, // after one\n  2 // after two\n]",
        1,
        "[\n  1 // after one\n   // after two\n]",
    );
    check("[ // x\n 1 ]", 0, "[ // x\n  ]");
    check("[1, // x\n 2 ]", 1, "[1 // x\n  ]");
    check("[1 /* a */ , 2]", 0, "[ /* a */ 2]");
    check("[\n  1\n]", 0, "[]");
}

/// What a text says, without how it is written; empty lists and objects of ours apart.
fn meaning(text: &str) -> Value {
    fn of(text: &str, node: &Node) -> Value {
        match &node.kind {
            Kind::Object(members) => {
                let members =
                    members.iter().map(|member| (member.key.clone(), of(text, &member.value)));
                Value::Object(members.collect())
            }
            Kind::Array(elements) => elements.iter().map(|node| of(text, node)).collect(),
            Kind::Text(text) => Value::from(text.as_str()),
            Kind::Scalar => serde_json::from_str(&text[node.span.clone()]).unwrap(),
        }
    }
    match scan(text).unwrap() {
        Some(root) => of(text, &root),
        None => Value::Object(serde_json::Map::new()),
    }
}

/// What the plugins bring and what `capture-hooks install` writes are one list.
#[test]
fn the_plugins_run_the_same_hooks() {
    let claude = include_str!("../../../../plugins/iai-mcp/hooks/hooks.json");
    let codex = include_str!("../../../../plugins/iai-mcp/hooks/codex.json");
    let machine = Machine::new();
    for (host, file, plugin) in
        [(Host::Claude, ".claude/settings.json", claude), (Host::Codex, ".codex/hooks.json", codex)]
    {
        machine.run(Action::Install, &[host], "/b/iai-mcp");
        let written = fs::read_to_string(machine.path(file)).unwrap();
        let written: Value =
            serde_json::from_str(&written.replace("/b/iai-mcp", "iai-mcp")).unwrap();
        let plugin: Value = serde_json::from_str(plugin).unwrap();
        assert_eq!(written["hooks"], plugin["hooks"], "{file}");
    }
}

/// Every block of the documentation is what a host would be given.
#[test]
fn the_documented_codex_block_is_the_one_we_write() {
    let documented = include_str!("../../../../docs/hosts.md");
    let (_, rest) = documented.split_once("```toml\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let program = Program::new(Path::new("/b/iai-mcp")).unwrap();
    let written = codex_config::whole_block("\n", &program).replace("/b/iai-mcp", "iai-mcp");
    assert_eq!(block, written);
}
