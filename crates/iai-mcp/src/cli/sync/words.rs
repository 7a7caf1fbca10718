//! How `sync` tells what came of it.

use serde_json::Value;

use crate::fields::Fields as _;

pub(super) fn set_up(answer: &Value) -> String {
    let mut lines = vec![
        format!("vault `{}` begun at {}", text(answer, "vault"), text(answer, "address")),
        format!("  id    {}", text(answer, "id")),
        "  key   write these words down; they are shown this once, and nobody can read the vault \
         without its key:"
            .to_owned(),
    ];
    lines.extend(wrapped(text(answer, "words")));
    let notes = answer.at("notes").as_array().into_iter().flatten().filter_map(Value::as_str);
    lines.extend(notes.map(|note| format!("  note  {note}")));
    lines.push(
        "what is stored is on its way; `iai-mcp sync invite` lets another machine join".to_owned(),
    );
    lines.join("\n")
}

pub(super) fn invitation(answer: &Value) -> String {
    let mut lines = Vec::new();
    if let Some(picture) = answer.at("picture").as_str() {
        lines.push(picture.trim_end().to_owned());
    }
    lines.push("on the other machine:".to_owned());
    lines.push(format!("  iai-mcp sync join {}", text(answer, "code")));
    lines.push(format!(
        "good once, until {}; whoever has it can join `{}`, so hand it over as you would a key",
        text(answer, "good_until"),
        text(answer, "vault")
    ));
    lines.join("\n")
}

pub(super) fn joined(answer: &Value) -> String {
    let mut lines = vec![format!(
        "joined `{}` ({}) at {}; `iai-mcp sync now` waits until everything is here",
        text(answer, "vault"),
        text(answer, "kind"),
        text(answer, "address")
    )];
    for (name, path) in answer.at("projects").as_object().into_iter().flatten() {
        lines.push(format!("  project {name} is {} here", path.as_str().unwrap_or_default()));
    }
    lines.join("\n")
}

pub(super) fn status(answer: &Value) -> String {
    let vaults = answer.at("vaults").as_array().map(Vec::as_slice).unwrap_or_default();
    if vaults.is_empty() {
        return "off: this memory is on this machine only; `iai-mcp sync setup` or `sync join`"
            .to_owned();
    }
    vaults.iter().map(vault).collect::<Vec<_>>().join("\n\n")
}

fn vault(vault: &Value) -> String {
    let mut lines = vec![
        format!("{} ({}) at {}", text(vault, "name"), text(vault, "kind"), text(vault, "address")),
        format!(
            "  {} entries written here, {} wait to be sent · key {} · last reached {}",
            vault.at("written"),
            vault.at("waiting_to_send"),
            vault.at("key"),
            vault.at("heard_at").as_str().unwrap_or("never")
        ),
    ];
    for (name, path) in vault.at("projects").as_object().into_iter().flatten() {
        lines.push(format!("  project {name}: {}", path.as_str().unwrap_or_default()));
    }
    for machine in vault.at("machines").as_array().into_iter().flatten() {
        let short: String = text(machine, "id").chars().take(8).collect();
        let which = match (machine.at("is_this") == true, machine.at("is_out") == true) {
            (true, false) => ", this machine",
            (true, true) => ", this machine: put out",
            (false, true) => ", put out",
            (false, false) => "",
        };
        let name = text(machine, "name");
        lines.push(format!("  {short} {name}{which}: {} entries", machine.at("entries")));
        if let Some(trouble) = machine.at("trouble").as_str() {
            lines.push(format!("           ! {trouble}"));
        }
    }
    let waits = [
        ("waiting_for_memories", "changes wait for a memory that is not here yet"),
        ("waiting_for_update", "changes wait for a newer iai-mcp on this machine"),
        ("withheld", "entries came without their words, and nothing says they were forgotten"),
    ];
    for (name, what) in waits {
        if vault.at(name).as_u64().unwrap_or(0) > 0 {
            lines.push(format!("  ! {} {what}", vault.at(name)));
        }
    }
    if let Some(trouble) = vault.at("trouble").as_str() {
        lines.push(format!("  ! {trouble}"));
    }
    lines.join("\n")
}

pub(super) fn exchanged(answer: &Value) -> String {
    let vaults = answer.at("vaults").as_array().map(Vec::as_slice).unwrap_or_default();
    if vaults.is_empty() {
        return status(answer);
    }
    let line = |vault: &Value| match vault.at("trouble").as_str() {
        Some(trouble) => format!("{}: {trouble}", text(vault, "name")),
        None => format!("{}: {}", text(vault, "name"), sums(vault.at("last"))),
    };
    vaults.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn log(answer: &Value) -> String {
    let events = answer.at("events").as_array().map(Vec::as_slice).unwrap_or_default();
    if events.is_empty() {
        return "nothing was exchanged yet".to_owned();
    }
    let line = |event: &Value| {
        let data = event.at("data");
        format!("{}  {}: {}", text(event, "ts"), text(data, "vault"), sums(data))
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What an exchange did, in one line.
fn sums(done: &Value) -> String {
    let count = |name: &str| done.at(name).as_u64().unwrap_or(0);
    let mut parts = vec![
        format!("{} sent", count("sent")),
        format!("{} received", count("received")),
        format!("{} memories new here", count("new_memories")),
    ];
    let more = [("erased", "erased at the remote"), ("passed_over", "passed over")];
    for (name, what) in more {
        if count(name) > 0 {
            parts.push(format!("{} {what}", count(name)));
        }
    }
    parts.extend(done.at("renamed").as_str().map(|why| format!("began a new chain: {why}")));
    for (machine, trouble) in done.at("troubles").as_object().into_iter().flatten() {
        let machine: String = machine.chars().take(8).collect();
        parts.push(format!("{machine}: {}", trouble.as_str().unwrap_or_default()));
    }
    parts.join(", ")
}

pub(super) fn preview(answer: &Value) -> String {
    let mut lines =
        vec![format!("{} memories would be shared; nothing was sent", answer.at("memories"))];
    for project in answer.at("projects").as_array().into_iter().flatten() {
        let name = project.at("project").as_str().unwrap_or("outside of any project");
        lines.push(format!("  {name}: {}", project.at("memories")));
        for sample in project.at("samples").as_array().into_iter().flatten() {
            let sample = sample.as_str().unwrap_or_default().replace('\n', " ");
            lines.push(format!("    “{sample}”"));
        }
    }
    lines.join("\n")
}

pub(super) fn shared(answer: &Value) -> String {
    format!("{} projects shared with `{}`", answer.at("shared"), text(answer, "vault"))
}

pub(super) fn rotated(answer: &Value) -> String {
    let head = format!(
        "`{}` has key {} now; its words, shown this once:",
        text(answer, "vault"),
        answer.at("key")
    );
    let mut lines = vec![head];
    lines.extend(wrapped(text(answer, "words")));
    lines.join("\n")
}

pub(super) fn left(answer: &Value) -> String {
    format!("left `{}`; what it brought stays", text(answer, "vault"))
}

/// Words in lines that fit a note.
fn wrapped(words: &str) -> Vec<String> {
    let words: Vec<&str> = words.split_whitespace().collect();
    words.chunks(6).map(|line| format!("        {}", line.join(" "))).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.at(name).as_str().unwrap_or("-")
}
