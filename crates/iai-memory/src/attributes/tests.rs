//! What is taken from whole memories.

use iai_store::CheckDepth;
use serde_json::json;

use super::*;
use crate::trial::{Trial, now};

#[track_caller]
fn check(text: &str, provenance: &Value, expect: &[(&str, &[&str])]) {
    let source = Source { text, folders: [Some("/home/me/heron"), None], provenance };
    let taken = taken_from(&source);
    assert!(taken.len() <= harvest::ATTRIBUTES_MAX);
    for role in AttributeRole::ALL {
        let mut found: Vec<&str> = taken
            .iter()
            .filter(|taken| taken.role == *role)
            .map(|taken| taken.display.as_str())
            .collect();
        found.sort_unstable();
        let expected = expect.iter().find(|(name, _)| *name == role.as_str());
        assert_eq!(found, expected.map_or(&[][..], |(_, fillers)| *fillers), "{role} of {text}");
    }
}

#[test]
fn a_turn_is_about_what_it_names() {
    check(
        "Can you look why MemoryEngine fails with E0502 in `src/recall.rs:12`? It is ABC-123, \
         Alice Miller asked for it on https://tracker.example.org/x. Run `cargo test -p heron`.",
        &json!({}),
        &[
            (
                "entity",
                &["ABC-123", "Alice Miller", "E0502", "MemoryEngine", "tracker.example.org"],
            ),
            ("file", &["recall.rs", "src/recall.rs"]),
            ("command", &["cargo test"]),
            ("lang", &["en"]),
        ],
    );
}

#[test]
fn what_was_done_is_taken_from_the_provenance() {
    check(
        "Done.",
        &json!({"tools": ["Edit", "Bash"], "files": ["/home/me/heron/src/a.rs", "/etc/hosts"]}),
        &[("tool", &["Bash", "Edit"]), ("file", &["/etc/hosts", "a.rs", "hosts", "src/a.rs"])],
    );
}

#[test]
fn code_gives_commands_and_names_that_recur() {
    check(
        "```bash\ngit rebase main\n# why\n```\n```rust\nlet once_only = \
         retry_policy(retry_policy);\n```\n```console\n$ make all\nmake: done\n```\n$ ls",
        &json!({}),
        &[("command", &["git rebase", "ls", "make all"]), ("entity", &["retry_policy"])],
    );
}

#[test]
fn german_nouns_are_no_names() {
    check(
        "Wir haben die Regel für den Neustart mit Frau Meier Schulze im Team besprochen",
        &json!({}),
        &[("entity", &["Frau Meier Schulze"]), ("lang", &["de"])],
    );
}

#[test]
fn hostile_texts_stay_small() {
    let names: String = (0..10_000).map(|n| format!("some Name{n}X and name_{n}_x ")).collect();
    for text in [&*names, &"A".repeat(100_000), &"`".repeat(100_000), &"\"".repeat(99_999), "\0"] {
        let source = Source { text, folders: [None, None], provenance: &Value::Null };
        let taken = taken_from(&source);
        assert!(taken.len() <= harvest::ATTRIBUTES_MAX);
    }
}

#[test]
fn what_another_rule_took_is_taken_again_and_verified_only_then() {
    let trial = Trial::new();
    trial.tell(&["please use pytest -q", "MemoryEngine is slow"]);
    let filler = |filler: &str| {
        let found = trial.engine.read(|reader| Ok(reader.attributes_named(None, filler)?));
        found.unwrap().len()
    };
    // A store as an earlier rule left it.
    let old = NewAttribute::new(AttributeRole::Entity, "something else").unwrap();
    let taken: Vec<_> = (1..=2).map(|n| (MemoryNumber::new(n), vec![old.clone()])).collect();
    let before = StepProgress { up_to: MemoryNumber::new(2), ..StepProgress::default() };
    let write = |writing: &iai_store::Writing<'_>| {
        writing.put_attributes(&taken)?;
        Ok(writing.put_step("attributes", &before, now())?)
    };
    trial.engine.write(write).unwrap();
    assert_eq!((filler("something else"), filler("pytest")), (1, 0));
    assert!(trial.engine.check(CheckDepth::Deep).unwrap().is_clean());
    assert_eq!(trial.run(&Attributes, now()).get("memories_read"), Some(&2));
    assert_eq!((filler("something else"), filler("pytest"), filler("memoryengine")), (0, 1, 1));
    assert!(trial.engine.check(CheckDepth::Deep).unwrap().is_clean());
    assert!(trial.run(&Attributes, now()).is_empty(), "once");
}
