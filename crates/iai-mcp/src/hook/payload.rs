//! What a host sends on stdin, as sent. Unknown fields are ignored, known ones of a wrong type too:
//! hosts change their payloads more often than we are updated.

use serde_json::{Map, Value};

use crate::host::repaired;

/// The fields we use, of any host.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) session: Option<String>,
    pub(super) transcript: Option<String>,
    pub(super) agent_transcript: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) prompt: Option<String>,
}

impl Payload {
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if text.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::default());
        }
        let fields: Map<String, Value> = serde_json::from_slice(text)
            .or_else(|error| serde_json::from_slice(&repaired(text)).map_err(|_| error))
            .map_err(|error| format!("the payload is not a JSON object: {error}"))?;
        let any = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| fields.get(*name)?.as_str());
            found.find(|value| !value.is_empty()).map(str::to_owned)
        };
        let roots = fields.get("workspace_roots").and_then(Value::as_array);
        let root = roots.and_then(|roots| roots.first()?.as_str().map(str::to_owned));
        Ok(Self {
            session: any(&["session_id", "sessionId", "conversation_id"]),
            transcript: any(&["transcript_path", "transcriptPath"]),
            agent_transcript: any(&["agent_transcript_path"]),
            cwd: any(&["cwd"]).or(root),
            prompt: any(&["prompt"]),
        })
    }
}

#[cfg(test)]
mod fuzz {
    use super::*;

    #[test]
    fn any_payload_is_read_or_named() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/payloads");
        iai_fuzz::fuzz(corpus, |bytes| {
            if let Err(why) = Payload::parse(bytes) {
                assert!(!why.is_empty());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hosts_names_are_understood_and_the_rest_is_ignored() {
        let claude =
            br#"{"session_id":"s","transcript_path":"/t","cwd":"/c","prompt":"p","x":[1]}"#;
        let payload = Payload::parse(claude).unwrap();
        assert_eq!(payload.session.as_deref(), Some("s"));
        assert_eq!(payload.transcript.as_deref(), Some("/t"));
        assert_eq!(payload.prompt.as_deref(), Some("p"));
        let codex = br#"{"session_id":"s","transcript_path":null,"turn_id":"t"}"#;
        assert_eq!(Payload::parse(codex).unwrap().transcript, None);
        let cursor = br#"{"conversation_id":"c","workspace_roots":["/w"],"cwd":5}"#;
        let payload = Payload::parse(cursor).unwrap();
        assert_eq!((payload.session.as_deref(), payload.cwd.as_deref()), (Some("c"), Some("/w")));
    }

    #[test]
    fn half_a_character_in_a_field_we_do_not_use_costs_nothing() {
        let cut = br#"{"session_id":"s","last_assistant_message":"x \ud83d"}"#;
        assert_eq!(Payload::parse(cut).unwrap().session.as_deref(), Some("s"));
    }

    #[test]
    fn nothing_is_a_payload_and_rubbish_is_named() {
        assert_eq!(Payload::parse(b" \n").unwrap(), Payload::default());
        assert_eq!(Payload::parse(b"\xef\xbb\xbf{}").unwrap(), Payload::default());
        for rubbish in [&b"not json"[..], b"[1]", b"\xff"] {
            assert!(Payload::parse(rubbish).is_err());
        }
    }
}
