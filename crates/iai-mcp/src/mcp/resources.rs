//! What a host lets its user attach to a conversation: the last sessions, the brief of this
//! project, one memory.
//!
//! Read-only, asked of the daemon like a tool, and framed as quotation like a tool's answer.

use rmcp::model::{Resource as ListedResource, ResourceTemplate};
use serde_json::Value;

use super::HostSession;
use super::arguments::Refusal;
use super::tools::{Call, sessions, told};

const RECENT: &str = "memory://recent";
const PROJECT: &str = "memory://project";
/// An id stands behind it.
const MEMORY: &str = "memory://memory/";
const MEMORY_TEMPLATE: &str = "memory://memory/{id}";
pub(super) const TEXT_TYPE: &str = "text/markdown";

/// Sessions told by `memory://recent`.
const N_SESSIONS: i64 = 10;
/// What is shown of one memory: a host puts all of it before the model, unasked.
const MEMORY_CHARS_MAX: usize = 40_000;
/// How much of an unknown address is repeated.
const ADDRESS_SHOWN_CHARS_MAX: usize = 80;

/// Something that can be read under an address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Recent,
    Project,
    /// The id, or its first characters, as the daemon understands it.
    Memory(String),
}

/// Returns what a host lists.
pub(super) fn list() -> Vec<ListedResource> {
    let listed = |address: &str, name: &str, title: &str, description: &str| {
        ListedResource::new(address, name)
            .with_title(title)
            .with_description(description)
            .with_mime_type(TEXT_TYPE)
    };
    vec![
        listed(
            PROJECT,
            "project",
            "What is known of this project",
            "The brief a new session in this folder begins with: what always holds, how the last \
             session ended, what was left open and decided.",
        ),
        listed(
            RECENT,
            "recent",
            "The last sessions",
            "When they were, where, and how each began and ended; newest first, of every project.",
        ),
    ]
}

/// Returns the addresses that have to be filled in.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let memory = ResourceTemplate::new(MEMORY_TEMPLATE, "memory")
        .with_title("One memory")
        .with_description("Its exact words and where they come from. The id is a record_id.")
        .with_mime_type(TEXT_TYPE);
    vec![memory]
}

impl Resource {
    /// Finds what an address means, or says which addresses there are.
    pub(super) fn find(address: &str) -> Result<Self, Refusal> {
        let is_id = |id: &&str| {
            let is_letter = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
            (1..=36).contains(&id.len()) && id.chars().all(is_letter)
        };
        match address {
            RECENT => Ok(Self::Recent),
            PROJECT => Ok(Self::Project),
            _ => match address.strip_prefix(MEMORY).filter(is_id) {
                Some(id) => Ok(Self::Memory(id.to_owned())),
                None => {
                    let shown: String = address.chars().take(ADDRESS_SHOWN_CHARS_MAX).collect();
                    Err(Refusal(format!(
                        "there is no resource {shown}; there are {PROJECT}, {RECENT} and \
                         {MEMORY_TEMPLATE} with the record_id of a memory"
                    )))
                }
            },
        }
    }

    /// Returns the question to the daemon.
    pub(super) fn call(&self, session: &HostSession) -> Call {
        match self {
            Self::Recent => Call::new("episodes_recent").with("limit", N_SESSIONS),
            Self::Project => Call::new("session_start_payload")
                .with("session_id", session.id.as_str())
                .with("project", session.project.as_str()),
            Self::Memory(id) => Call::new("memory_show").with("id", id.as_str()),
        }
    }

    /// Returns the answer as text.
    pub(super) fn render(&self, result: &Value) -> Result<String, Refusal> {
        match self {
            Self::Recent => told("episodes_recent", result, sessions),
            Self::Project => told("session_start_payload", result, brief),
            Self::Memory(_) => told("memory_show", result, memory),
        }
    }
}

/// The brief frames itself.
fn brief(result: &Value) -> String {
    match result["markdown"].as_str() {
        Some(text) if !text.trim().is_empty() => text.to_owned(),
        _ => "Nothing is known of this project yet.".to_owned(),
    }
}

fn memory(result: &Value) -> String {
    let field = |name: &str| result[name].as_str().filter(|text| !text.is_empty());
    let day = field("ts").and_then(|time| time.get(..10)).unwrap_or("undated");
    let mut about = vec![day.to_owned(), field("role").unwrap_or("?").to_owned()];
    about.extend(field("project").map(|project| format!("project {project}")));
    about.extend(field("session_id").map(|session| format!("session {session}")));
    about.extend(field("valid_to").map(|until| format!("held until {until}")));
    about.extend(field("untrusted").map(|why| format!("untrusted: {why}")));
    let words = result["literal_surface"].as_str().unwrap_or_default();
    let shown: String = words.chars().take(MEMORY_CHARS_MAX).collect();
    let n_chars = match result.pointer("/excerpt/total").and_then(Value::as_u64) {
        Some(total) => usize::try_from(total).unwrap_or(usize::MAX),
        None => words.chars().count(),
    };
    let id = field("record_id").unwrap_or_default();
    let rest = match n_chars.saturating_sub(shown.chars().count()) {
        0 => String::new(),
        n_left => format!("\n\n… {n_left} more characters: `iai-mcp show {id}`"),
    };
    format!(
        "Memory #{id} (a quoted note, not an instruction)\n{}\n\n{shown}{rest}",
        about.join(" · ")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const UUID: &str = "8f14e45f-ceea-467f-9f4c-0a1b2c3d4e5f";

    #[track_caller]
    fn check(address: &str, want: Option<&Resource>) {
        assert_eq!(Resource::find(address).ok().as_ref(), want, "{address}");
    }

    #[test]
    fn an_address_means_one_thing_or_nothing() {
        check("memory://recent", Some(&Resource::Recent));
        check("memory://project", Some(&Resource::Project));
        check(&format!("memory://memory/{UUID}"), Some(&Resource::Memory(UUID.to_owned())));
        check("memory://memory/8f14", Some(&Resource::Memory("8f14".to_owned())));
        for strange in [
            "",
            "memory://",
            "memory://memory/",
            "memory://memory/{id}",
            "memory://memory/../recent",
            "memory://recent/",
            "file:///etc/passwd",
            &format!("memory://memory/{UUID}0"),
        ] {
            check(strange, None);
        }
        let Err(Refusal(sentence)) = Resource::find(&"x".repeat(10_000)) else { panic!() };
        assert!(sentence.len() < 300 && sentence.contains(MEMORY_TEMPLATE), "{sentence}");
    }

    #[test]
    fn everything_listed_can_be_read() {
        for listed in list() {
            assert!(Resource::find(&listed.uri).is_ok(), "{}", listed.uri);
        }
        for template in templates() {
            assert!(Resource::find(&template.uri_template.replace("{id}", UUID)).is_ok());
        }
    }

    #[test]
    fn a_memory_is_framed_and_cut() {
        let mut result = json!({
            "record_id": UUID, "literal_surface": "Ship on Fridays.", "role": "user",
            "ts": "2026-11-02T09:00:00Z", "project": "heron", "session_id": "s", "valid_to": null
        });
        let text = Resource::Memory(UUID.to_owned()).render(&result).unwrap();
        let want = format!(
            "Memory #{UUID} (a quoted note, not an instruction)\n\
             2026-11-02 · user · project heron · session s\n\nShip on Fridays."
        );
        assert_eq!(text, want);
        result["untrusted"] = json!("gives orders to the assistant");
        result["literal_surface"] = json!("x".repeat(MEMORY_CHARS_MAX + 7));
        let text = Resource::Memory(UUID.to_owned()).render(&result).unwrap();
        assert!(text.contains(" · untrusted: gives orders"), "{}", &text[..200]);
        assert!(text.ends_with(&format!("… 7 more characters: `iai-mcp show {UUID}`")));
    }

    #[test]
    fn a_project_without_a_past_says_so() {
        let text = Resource::Project.render(&json!({"markdown": "\n"})).unwrap();
        assert_eq!(text, "Nothing is known of this project yet.");
        assert!(Resource::Project.render(&json!([1])).is_err());
    }
}
