//! The MCP reference memory server (`memory.jsonl`, once `memory.json`): a line for each entity
//! with what was observed about it, and one for each relation.

use serde_json::Value;

use super::{Note, Noted};
use crate::fields::Fields as _;

/// Tells whether a file begins as this server writes it.
pub(super) fn is_one(head: &str) -> bool {
    let first = head.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // A line may be longer than what is looked at; then its beginning has to do.
    let is_long = head.len() <= first.len() && 1024 < first.len();
    match serde_json::from_str::<Value>(first) {
        Ok(line) => is_entity(&line) || is_relation(&line),
        Err(_) => is_long && first.starts_with("{\"type\":\"entity\",\"name\":"),
    }
}

fn is_entity(line: &Value) -> bool {
    line.at("type") == "entity" && line.at("name").is_string() && line.at("observations").is_array()
}

fn is_relation(line: &Value) -> bool {
    let has = |name: &str| line.at(name).is_string();
    line.at("type") == "relation" && has("from") && has("to") && has("relationType")
}

/// Reads the lines. An observation becomes a note that says what it is about; there are no dates.
pub(super) fn read(bytes: &[u8]) -> Noted {
    let mut noted = Noted::default();
    for (line_idx, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Value>(line) {
            Ok(line) if is_entity(&line) => add_entity(&line, &mut noted),
            Ok(line) if is_relation(&line) => {
                let text = |name: &str| line.at(name).as_str().unwrap_or_default().to_owned();
                let (from, to, kind) = (text("from"), text("to"), text("relationType"));
                noted.notes.push(Note {
                    text: format!("{from} — {kind} → {to}"),
                    about: from.clone(),
                    headings: vec![from],
                    at: None,
                });
            }
            Ok(_) => {
                let problem = format!("line {} is no entity and no relation", line_idx + 1);
                noted.problems.push(problem);
            }
            Err(error) => noted.problems.push(format!("line {}: {error}", line_idx + 1)),
        }
    }
    noted
}

fn add_entity(line: &Value, noted: &mut Noted) {
    let name = line.at("name").as_str().unwrap_or_default();
    let named = match line.at("entityType").as_str().filter(|kind| !kind.is_empty()) {
        Some(kind) => format!("{name} ({kind})"),
        None => name.to_owned(),
    };
    let observations = line.at("observations").as_array().into_iter().flatten();
    let observations: Vec<&str> = observations.filter_map(Value::as_str).collect();
    let note = |text: String| Note {
        text,
        about: name.to_owned(),
        headings: vec![name.to_owned()],
        at: None,
    };
    if observations.is_empty() {
        noted.notes.push(note(named));
        return;
    }
    let observed = observations.iter().map(|words| note(format!("{named}: {words}")));
    noted.notes.extend(observed);
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAPH: &str = r#"
{"type":"entity","name":"Mira","entityType":"person","observations":["likes tea","bills"]}
{"type":"entity","name":"billing","entityType":"service","observations":[]}

{"type":"relation","from":"Mira","to":"billing","relationType":"maintains"}
{"type":"entity","name":5}
{broken"#;

    #[test]
    fn entities_observations_and_relations_become_notes() {
        assert!(is_one(GRAPH));
        let noted = read(GRAPH.as_bytes());
        let texts: Vec<&str> = noted.notes.iter().map(|note| note.text.as_str()).collect();
        let expect = [
            "Mira (person): likes tea",
            "Mira (person): bills",
            "billing (service)",
            "Mira — maintains → billing",
        ];
        assert_eq!(texts, expect);
        assert_eq!(noted.problems.len(), 2, "{:?}", noted.problems);
    }

    #[test]
    fn other_lines_are_not_ours() {
        for other in ["", "{}", "[1]", r#"{"type":"user","message":{}}"#, "text"] {
            assert!(!is_one(other), "{other}");
        }
    }
}
