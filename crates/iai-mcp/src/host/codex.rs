//! Codex: `rollout-*.jsonl`, lines of `{timestamp, type, payload}`.
//!
//! Only `event_msg` lines are somebody's words; `response_item` repeats them with injected
//! instructions mixed in.

use serde_json::{Map, Value};

use super::{Speaker, Turn, is_blank, time_field};

const HOST: &str = "codex";

pub(super) fn is_codex(fields: &Map<String, Value>) -> bool {
    fields.get("payload").is_some_and(Value::is_object) && fields.contains_key("type")
}

pub(super) fn read_turn(fields: &Map<String, Value>) -> Option<Turn> {
    if fields.get("type")? != "event_msg" {
        return None;
    }
    let payload = fields.get("payload")?.as_object()?;
    let speaker = match payload.get("type")?.as_str()? {
        "user_message" => Speaker::User,
        "agent_message" => Speaker::Assistant,
        _ => return None,
    };
    let text = payload.get("message")?.as_str()?.to_owned();
    (!is_blank(&text)).then(|| Turn {
        host: HOST,
        speaker,
        text,
        uuid: None,
        at: time_field(fields, "timestamp"),
        cwd: None,
        provenance: Map::new(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::host::{Speaker, read_line};

    #[track_caller]
    fn check(kind: &str, payload: &serde_json::Value, want: Option<(Speaker, &str)>) {
        let line = json!({"timestamp": "2026-05-01T10:00:00Z", "type": kind, "payload": payload});
        let turn = read_line(line.to_string().as_bytes());
        let got = turn.as_ref().map(|turn| (turn.speaker, turn.text.as_str()));
        assert_eq!(got, want, "{line}");
    }

    #[test]
    fn only_events_are_words() {
        let user = json!({"type": "user_message", "message": "hi"});
        check("event_msg", &user, Some((Speaker::User, "hi")));
        let agent = json!({"type": "agent_message", "message": "hello"});
        check("event_msg", &agent, Some((Speaker::Assistant, "hello")));
        check("response_item", &user, None);
        check("event_msg", &json!({"type": "token_count"}), None);
        check("session_meta", &json!({"id": "x"}), None);
    }
}
