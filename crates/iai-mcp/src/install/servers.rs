//! Our entry among the MCP servers of a JSON settings file.

use serde_json::{Value, json};

use super::hosts::ServerFields;
use super::jsonc::Node;
use super::marks::{NAME, Program, STORE_VARIABLE, is_legacy_server};
use super::refusal::Refusal;
use super::splice::{Draft, Step, find};

const VARIABLES: &str = "env";

/// Whose entry stands under our name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Us,
    PythonProgram,
    Somebody,
}

/// Makes the host start this program as an MCP server.
pub(super) fn wire(
    draft: &mut Draft,
    fields: &ServerFields,
    program: &Program,
) -> Result<(), Refusal> {
    check_types(draft.root(), fields)?;
    let server = entry(fields, program);
    let ours = ours(fields);
    if draft.root().get(fields.list).is_none() {
        return Ok(draft.insert(&[], fields.list, &json!({NAME: server}))?);
    }
    match draft.find(&ours).map(|node| holder(node, program)) {
        None => draft.insert(&[fields.list.into()], NAME, &server)?,
        Some(Holder::Us) => update(draft, fields, program)?,
        Some(Holder::PythonProgram) => draft.replace(&ours, &server)?,
        Some(Holder::Somebody) => return Err(Refusal::NameTaken),
    }
    Ok(())
}

/// Takes out our entry, and the object around it where that is empty then and was not before.
pub(super) fn unwire(
    draft: &mut Draft,
    fields: &ServerFields,
    program: &Program,
    original: Option<&Node>,
) -> Result<(), Refusal> {
    check_types(draft.root(), fields)?;
    let ours = ours(fields);
    match draft.find(&ours).map(|node| holder(node, program)) {
        None | Some(Holder::Somebody) => return Ok(()),
        Some(Holder::Us | Holder::PythonProgram) => {}
    }
    let servers = [fields.list.into()];
    let is_alone = draft.find(&servers).and_then(Node::members).is_some_and(|all| all.len() == 1);
    let was_empty = original
        .and_then(|original| find(original, &servers))
        .is_some_and(Node::is_empty_container);
    let route: &[Step] = if is_alone && !was_empty { &servers } else { &ours };
    Ok(draft.remove(route)?)
}

/// Returns our entry's command, where the entry is ours.
pub(super) fn command<'a>(
    root: &'a Node,
    fields: &ServerFields,
    program: &Program,
) -> Option<&'a str> {
    let node = find(root, &ours(fields))?;
    let is_ours = holder(node, program) == Holder::Us;
    node.get("command").and_then(Node::text).filter(|_| is_ours)
}

/// Returns the store that our entry names.
pub(super) fn store<'a>(root: &'a Node, fields: &ServerFields) -> Option<&'a str> {
    let node = find(root, &ours(fields))?;
    node.get(VARIABLES)?.get(STORE_VARIABLE).and_then(Node::text)
}

fn ours(fields: &ServerFields) -> [Step; 2] {
    [fields.list.into(), NAME.into()]
}

fn check_types(root: &Node, fields: &ServerFields) -> Result<(), Refusal> {
    if root.members().is_none() {
        return Err(Refusal::RootNotObject);
    }
    match root.get(fields.list) {
        Some(servers) if servers.members().is_none() => {
            Err(Refusal::WrongType { key: fields.list.to_owned(), wanted: "an object" })
        }
        _ => Ok(()),
    }
}

fn holder(node: &Node, program: &Program) -> Holder {
    match node.get("command").and_then(Node::text) {
        Some(command) if program.owns_server(command) => Holder::Us,
        Some(command) if is_legacy_server(command) => Holder::PythonProgram,
        _ => Holder::Somebody,
    }
}

/// Changes only what is wrong, so that an `env` the user added stays.
fn update(draft: &mut Draft, fields: &ServerFields, program: &Program) -> Result<(), Refusal> {
    let [servers, name] = ours(fields);
    let ours = [servers.clone(), name.clone()];
    let command = [servers.clone(), name.clone(), "command".into()];
    if draft.find(&command).and_then(Node::text) != Some(program.path()) {
        draft.replace(&command, &program.path().into())?;
    }
    let arguments = [servers, name, "args".into()];
    let first = draft.find(&arguments).and_then(Node::elements).and_then(<[_]>::first);
    let is_right = first.and_then(Node::text) == Some("mcp");
    match draft.find(&arguments) {
        _ if is_right => {}
        Some(_) => draft.replace(&arguments, &json!(["mcp"]))?,
        None => draft.insert(&ours, "args", &json!(["mcp"]))?,
    }
    update_store(draft, fields, program)
}

/// Has the entry name our store; the user's other variables stay.
fn update_store(
    draft: &mut Draft,
    fields: &ServerFields,
    program: &Program,
) -> Result<(), Refusal> {
    let [servers, name] = ours(fields);
    let variables = [servers.clone(), name.clone(), VARIABLES.into()];
    let variable = [servers, name, VARIABLES.into(), STORE_VARIABLE.into()];
    let has_variables = match draft.find(&variables) {
        Some(node) if node.members().is_none() => {
            let key = format!("{}.{NAME}.{VARIABLES}", fields.list);
            return Err(Refusal::WrongType { key, wanted: "an object" });
        }
        found => found.is_some(),
    };
    let said = draft.find(&variable).map(|node| node.text().unwrap_or_default().to_owned());
    match (said, program.told_store()) {
        (Some(said), _) => {
            if let Some(root) = program.corrected_store(&said) {
                draft.replace(&variable, &root.into())?;
            }
        }
        (None, None) => {}
        (None, Some(root)) if has_variables => {
            draft.insert(&variables, STORE_VARIABLE, &root.into())?;
        }
        (None, Some(root)) => {
            draft.insert(&ours(fields), VARIABLES, &json!({STORE_VARIABLE: root}))?;
        }
    }
    Ok(())
}

fn entry(fields: &ServerFields, program: &Program) -> Value {
    let command = program.path();
    match (fields.has_type, program.told_store()) {
        (true, None) => json!({"type": "stdio", "command": command, "args": ["mcp"], "env": {}}),
        (true, Some(root)) => json!({"type": "stdio", "command": command, "args": ["mcp"],
            "env": {STORE_VARIABLE: root}}),
        (false, None) => json!({"command": command, "args": ["mcp"]}),
        (false, Some(root)) => {
            json!({"command": command, "args": ["mcp"], "env": {STORE_VARIABLE: root}})
        }
    }
}
