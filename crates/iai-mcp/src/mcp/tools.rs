//! The tools, in the order hosts see them: the twelve of the contract, then three that only read.
//! Also what every one of them has in common.
//!
//! A tool is data: its words, the shape of what goes in and comes out, how arguments become a call
//! to the daemon, and how the result reads as text. One file each; no tool knows the protocol.

mod camouflaging_status;
mod curiosity_pending;
mod episodes_recent;
mod events_query;
mod memory_capture;
mod memory_consolidate;
mod memory_contradict;
mod memory_forget;
mod memory_recall;
mod memory_recall_structural;
mod memory_reinforce;
mod memory_search;
mod memory_temporal_recall;
mod profile_get_set;
mod schema_list;
mod topology;

use std::sync::Arc;

use rmcp::model::{Tool as ListedTool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::arguments::{Arguments, Refusal};
pub(super) use episodes_recent::render as sessions;

/// The order is part of the contract: hosts cache the list and users read it.
static TOOLS: [&Tool; 15] = [
    &memory_recall::TOOL,
    &memory_recall_structural::TOOL,
    &memory_reinforce::TOOL,
    &memory_contradict::TOOL,
    &memory_capture::TOOL,
    &memory_consolidate::TOOL,
    &profile_get_set::TOOL,
    &curiosity_pending::TOOL,
    &schema_list::TOOL,
    &events_query::TOOL,
    &topology::TOOL,
    &camouflaging_status::TOOL,
    &memory_temporal_recall::TOOL,
    &memory_search::TOOL,
    &episodes_recent::TOOL,
];

/// What a user has to allow before it is there; the list above is everybody's.
static FORGET: &Tool = &memory_forget::TOOL;

/// Whether the assistant may ask for something to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forgetting {
    /// There is no such tool.
    Refused,
    /// The user allowed it in the config file.
    Allowed,
}

/// Lines of one list in a text block; the structured result has them all.
const LINES_MAX: usize = 100;

/// How much of an unknown tool's name is repeated.
const NAME_SHOWN_CHARS_MAX: usize = 64;

/// Longest name of a project we pass on.
const PROJECT_CHARS_MAX: usize = 1024;

/// Longest session id we pass on.
const SESSION_ID_CHARS_MAX: usize = 128;

const DEGRADED_LINE: &str = "The memory daemon is down: reads come read-only from the store, \
captures wait in the spool. `iai-mcp daemon start` brings it back.";

/// Returns the tools as the host lists them; nothing here asks the daemon.
pub(super) fn list(forgetting: Forgetting) -> Vec<ListedTool> {
    offered(forgetting).map(|tool| tool.listed()).collect()
}

fn offered(forgetting: Forgetting) -> impl Iterator<Item = &'static Tool> {
    TOOLS.into_iter().chain((forgetting == Forgetting::Allowed).then_some(FORGET))
}

/// Returns the tool of that name, or a sentence with the names there are.
pub(super) fn find(name: &str, forgetting: Forgetting) -> Result<&'static Tool, Refusal> {
    offered(forgetting).find(|tool| tool.name == name).ok_or_else(|| {
        let shown: String = name.chars().take(NAME_SHOWN_CHARS_MAX).collect();
        let names: Vec<&str> = offered(forgetting).map(|tool| tool.name).collect();
        Refusal(format!("unknown tool {shown}; the tools are {}", names.join(", ")))
    })
}

/// One tool. `title` and `description` are what a model chooses by, so they cost tokens in every
/// session.
pub(super) struct Tool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    parameters: Shape,
    result: Shape,
    read: fn(&mut Arguments) -> Result<Call, Refusal>,
    render: fn(&Value) -> String,
}

/// What a call does to the store, as far as a host needs it to ask for consent.
enum Effect {
    Reads,
    Adds,
    /// Saying it twice is saying it once.
    AddsOnce,
    /// Gone for good, after a confirmation.
    Erases,
}

/// The fields of a JSON object, as JSON Schema.
struct Shape {
    properties: fn() -> Value,
    required: &'static [&'static str],
}

/// One request to the daemon.
pub(super) struct Call {
    pub(super) method: &'static str,
    pub(super) params: Map<String, Value>,
    session: SessionRole,
}

enum SessionRole {
    /// Says where the call comes from; without one, the host's session is meant.
    Origin,
    /// Narrows the answer; without one, everything is meant.
    Filter,
}

impl Tool {
    /// Turns the host's arguments into a call, or says what is wrong with them.
    pub(super) fn read(&self, fields: Map<String, Value>) -> Result<Call, Refusal> {
        let mut arguments = Arguments::new(self.name, fields);
        let call = (self.read)(&mut arguments)?;
        arguments.finish()?;
        Ok(call)
    }

    /// Returns the result as text for hosts that show no structured content.
    pub(super) fn render(&self, result: &Value) -> Result<String, Refusal> {
        told(self.name, result, self.render)
    }

    fn listed(&self) -> ListedTool {
        ListedTool::new(self.name, self.description, Arc::new(self.parameters.closed()))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(self.result.listed()))
            .with_annotations(self.effect.annotations())
    }
}

impl Effect {
    fn annotations(&self) -> ToolAnnotations {
        let (is_reading, is_repeatable) = match self {
            Self::Reads => (true, true),
            Self::Adds => (false, false),
            Self::AddsOnce => (false, true),
            Self::Erases => (false, false),
        };
        ToolAnnotations::new()
            .read_only(is_reading)
            .destructive(matches!(self, Self::Erases))
            .idempotent(is_repeatable)
            .open_world(false)
    }
}

impl Shape {
    /// For arguments: a field nobody reads is a mistake.
    fn closed(&self) -> Map<String, Value> {
        let mut schema = self.open();
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }

    /// For the list, which every session pays for: fields that are always there, and those a client
    /// would guess wrong because they may be null or hold one of a few words.
    fn listed(&self) -> Map<String, Value> {
        let mut schema = Value::Object(self.open());
        leave_out_the_obvious(&mut schema);
        match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }

    /// For results: a newer daemon may add fields, and any answer may carry `degraded`.
    fn open(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), (self.properties)());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), json!(self.required));
        }
        schema
    }
}

fn leave_out_the_obvious(schema: &mut Value) {
    let required = schema["required"].clone();
    let is_required = |name: &str| {
        required.as_array().is_some_and(|names| names.iter().any(|known| known == name))
    };
    let is_plain = |field: &Value| {
        field["type"].is_string() && field.as_object().is_some_and(|field| field.len() == 1)
    };
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, field| is_required(name) || !is_plain(field));
        properties.values_mut().for_each(leave_out_the_obvious);
    }
    if let Some(items) = schema.get_mut("items") {
        leave_out_the_obvious(items);
    }
}

impl Call {
    pub(super) fn new(method: &'static str) -> Self {
        Self { method, params: Map::new(), session: SessionRole::Origin }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params.insert(name.to_owned(), value.into());
        self
    }

    fn with_given(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    fn session_filters(mut self) -> Self {
        self.session = SessionRole::Filter;
        self
    }

    /// Adds where the host is working, for calls to which it matters.
    pub(super) fn in_place(self, cwd: &str, project: &str) -> Self {
        match self.method {
            "memory_capture" => self.with("cwd", cwd).with("project", project),
            "memory_recall" => self.with("asked_from", project),
            _ => self,
        }
    }

    /// Adds the host's session where the arguments name none.
    pub(super) fn in_session(mut self, id: &str) -> Self {
        match self.session {
            SessionRole::Origin => {
                self.params.entry("session_id").or_insert_with(|| json!(id));
            }
            SessionRole::Filter => {}
        }
        self
    }
}

/// Returns the daemon's answer as text, with a word about a daemon that is down; an answer that is
/// none is a refusal.
pub(super) fn told(
    asked: &str,
    result: &Value,
    render: fn(&Value) -> String,
) -> Result<String, Refusal> {
    if !result.is_object() {
        let sentence =
            format!("the daemon's answer to {asked} is unreadable; run `iai-mcp doctor`");
        return Err(Refusal(sentence));
    }
    if result["status"] == "error" {
        let reason = result["reason"].as_str().unwrap_or("the daemon gave no reason");
        return Err(Refusal(reason.to_owned()));
    }
    let text = render(result);
    match result["degraded"].as_bool() {
        Some(true) => Ok(format!("{DEGRADED_LINE}\n{text}")),
        _ => Ok(text),
    }
}

/// A heading and one line per item, cut at `LINES_MAX` with a word about the rest.
fn lines(heading: &str, items: &Value, line: impl Fn(&Value) -> String) -> String {
    let items = items.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = heading.to_owned();
    for item in items.iter().take(LINES_MAX) {
        text.push('\n');
        text.push_str(&line(item));
    }
    let n_left = items.len().saturating_sub(LINES_MAX);
    if n_left > 0 {
        text.push_str(&format!("\n… {n_left} more in the structured result"));
    }
    text
}

/// A field as text: strings without their quotes, everything else as JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::mcp::schema_check::violations;

    /// The daemon's `result` must satisfy the tool's output schema and read as `text`.
    pub(super) fn check_result(tool: &Tool, result: &Value, text: &str) {
        let schema = Value::Object(tool.result.open());
        assert_eq!(violations(&schema, result), Vec::<String>::new());
        assert_eq!(tool.render(result), Ok(text.to_owned()));
        let mut degraded = result.clone();
        degraded["degraded"] = json!(true);
        assert_eq!(violations(&schema, &degraded), Vec::<String>::new());
        assert_eq!(tool.render(&degraded), Ok(format!("{DEGRADED_LINE}\n{text}")));
    }

    /// `arguments` must satisfy the input schema and become `call`: the method with its parameters.
    pub(super) fn check_call(tool: &Tool, arguments: Value, call: &Value) {
        let schema = Value::Object(tool.parameters.closed());
        let Value::Object(fields) = arguments else { panic!("arguments are an object") };
        // Accepted for old hosts, advertised to nobody.
        let listed =
            fields.clone().into_iter().filter(|(name, _)| name != "cue_embedding").collect();
        assert_eq!(violations(&schema, &Value::Object(listed)), Vec::<String>::new());
        let made =
            tool.read(fields).map(|call| json!({ call.method: call.in_session("s").params }));
        assert_eq!(made, Ok(call.clone()));
    }

    pub(super) fn check_refused(tool: &Tool, arguments: Value, sentence: &str) {
        let Value::Object(fields) = arguments else { panic!("arguments are an object") };
        let refused = tool.read(fields).err().map(|Refusal(sentence)| sentence);
        assert_eq!(refused.as_deref(), Some(sentence));
    }

    #[test]
    fn the_order_is_the_contract() {
        let names: Vec<_> = list(Forgetting::Refused).into_iter().map(|tool| tool.name).collect();
        let expect = "memory_recall memory_recall_structural memory_reinforce memory_contradict \
            memory_capture memory_consolidate profile_get_set curiosity_pending schema_list \
            events_query topology camouflaging_status memory_temporal_recall memory_search \
            episodes_recent";
        assert_eq!(names.join(" "), expect);
    }

    #[test]
    fn the_list_fits_its_budget() {
        const LIST_CHARS_MAX: usize = 9_850;
        let listed = json!({ "tools": list(Forgetting::Refused) }).to_string();
        assert!(listed.len() <= LIST_CHARS_MAX, "tools/list has {} characters", listed.len());
    }

    #[test]
    fn every_description_is_short_and_says_when() {
        const DESCRIPTION_CHARS_MAX: usize = 125;
        let words = [
            "use when",
            "use for",
            "returns",
            "read-only",
            "mutates",
            "idempotent",
            "prefer",
            "detect",
        ];
        for tool in offered(Forgetting::Allowed) {
            let description = tool.description.to_lowercase();
            assert!(words.iter().any(|word| description.contains(word)), "{}", tool.name);
            assert!(
                description.len() <= DESCRIPTION_CHARS_MAX,
                "{}: {}",
                tool.name,
                description.len()
            );
        }
    }

    #[test]
    fn every_tool_declares_everything() {
        for tool in list(Forgetting::Allowed) {
            let listed = json!(tool);
            let hints = listed["annotations"].as_object().expect("annotations");
            assert_eq!(hints.len(), 4, "{}", tool.name);
            let is_destructive = tool.name == "memory_forget";
            assert_eq!(listed["annotations"]["destructiveHint"], is_destructive);
            assert_eq!(listed["annotations"]["openWorldHint"], false);
            assert_eq!(listed["inputSchema"]["additionalProperties"], false);
            assert!(listed["outputSchema"]["additionalProperties"].is_null(), "{}", tool.name);
            assert!(listed["outputSchema"]["properties"].is_object(), "{}", tool.name);
            assert!(listed["title"].as_str().is_some_and(|title| !title.is_empty()));
        }
    }

    /// Ties the hand-written schemas to the readers: a field in one must be known to the other.
    #[test]
    fn readers_and_schemas_know_the_same_fields() {
        for tool in offered(Forgetting::Allowed) {
            let schema = tool.parameters.closed();
            let properties = schema["properties"].as_object().expect("properties").clone();
            for name in properties.keys() {
                let asked = asked_fields(tool);
                assert!(asked.contains(name), "{} never reads {name}", tool.name);
                assert_eq!(asked.len(), properties.len(), "{} lists too little", tool.name);
            }
            for name in tool.parameters.required {
                assert!(
                    properties.contains_key(*name),
                    "{} requires an unlisted {name}",
                    tool.name
                );
            }
        }
    }

    /// Returns what the reader asks for when it gets its required fields.
    fn asked_fields(tool: &Tool) -> Vec<String> {
        let mut fields = Map::new();
        for name in tool.parameters.required {
            let given = match *name {
                "ids" => json!([]),
                "id" => json!("8f14e45f-ceea-467f-9f4c-0a1b2c3d4e5f"),
                "operation" => json!("get"),
                _ => json!("some words"),
            };
            fields.insert((*name).to_owned(), given);
        }
        fields.insert("no_such_field".to_owned(), json!(1));
        let Err(Refusal(sentence)) = tool.read(fields) else {
            panic!("{} takes anything", tool.name)
        };
        let (_, known) = sentence.split_once("it takes ").expect("the sentence lists the fields");
        known.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn an_unknown_tool_is_answered_with_the_known_ones() {
        let Err(Refusal(sentence)) = find("memory_forget", Forgetting::Refused) else {
            panic!("there is no such tool")
        };
        assert!(sentence.starts_with("unknown tool memory_forget; the tools are memory_recall, "));
        assert!(sentence.ends_with("episodes_recent"));
        assert!(find("memory_forget", Forgetting::Allowed).is_ok());
    }

    #[test]
    fn an_unreadable_answer_is_a_refusal() {
        assert!(memory_capture::TOOL.render(&json!([1])).is_err());
        assert!(memory_capture::TOOL.render(&Value::Null).is_err());
    }

    #[test]
    fn a_long_list_is_cut_in_the_text_only() {
        let items = json!((0..LINES_MAX + 7).collect::<Vec<_>>());
        let text = lines("107 things", &items, plain);
        assert_eq!(text.lines().count(), LINES_MAX + 2);
        assert!(text.ends_with("\n… 7 more in the structured result"));
    }
}
