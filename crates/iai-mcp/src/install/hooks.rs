//! Our handlers among the hooks of a JSON settings file.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::hosts::{HookEvent, HookSet, Shape};
use super::jsonc::{Node, ScanError};
use super::marks::{Program, is_legacy_hook};
use super::refusal::Refusal;
use super::splice::{Draft, Step, find};

const FLAT_VERSION: u32 = 1;
/// `hooks`, the event, the place in its list.
const ENTRY_DEPTH: usize = 3;

/// A handler of anybody.
pub(super) struct Handler {
    pub(super) event: String,
    pub(super) command: String,
    route: Vec<Step>,
}

/// Makes every event run this program, once, and takes out what the Python program left.
pub(super) fn wire(draft: &mut Draft, set: &HookSet, program: &Program) -> Result<(), Refusal> {
    check_types(draft.root(), set)?;
    if set.shape == Shape::Flat && draft.root().get("version").is_none() {
        draft.insert(&[], "version", &json!(FLAT_VERSION))?;
    }
    if draft.root().get("hooks").is_none() {
        draft.insert(&[], "hooks", &whole_block(set, program))?;
    }
    for event in set.events {
        wire_event(draft, set, event, program)?;
    }
    while let Some(handler) = leftover(draft.root(), set, program) {
        take_out(draft, &handler, set.shape, None)?;
    }
    Ok(())
}

/// Takes out our handlers and the Python program's, and containers that this empties, except those
/// that were empty in `original` already.
pub(super) fn unwire(
    draft: &mut Draft,
    set: &HookSet,
    program: &Program,
    original: Option<&Node>,
) -> Result<(), Refusal> {
    check_types(draft.root(), set)?;
    let is_ours =
        |handler: &Handler| program.owns_hook(&handler.command) || is_legacy_hook(&handler.command);
    while let Some(handler) = handlers(draft.root(), set.shape).into_iter().find(is_ours) {
        take_out(draft, &handler, set.shape, original)?;
    }
    // A version is no use to a file without hooks, but only one that we added is ours to take.
    let is_version_ours = original.is_some_and(|original| original.get("version").is_none());
    if set.shape == Shape::Flat && is_version_ours && handlers(draft.root(), set.shape).is_empty() {
        draft.remove(&["version".into()])?;
    }
    Ok(())
}

/// Returns every handler that has a command, in the order of the file.
pub(super) fn handlers(root: &Node, shape: Shape) -> Vec<Handler> {
    let mut found = Vec::new();
    let events = root.get("hooks").and_then(Node::members).unwrap_or_default();
    for member in events {
        let event = member.key.as_str();
        for (place, entry) in member.value.elements().unwrap_or_default().iter().enumerate() {
            let route = vec!["hooks".into(), event.into(), place.into()];
            match shape {
                Shape::Flat => found.extend(handler(event, entry, route)),
                Shape::Grouped => found.extend(grouped(event, entry, &route)),
            }
        }
    }
    found
}

/// Returns the `hooks` value of a file that has none.
fn whole_block(set: &HookSet, program: &Program) -> Value {
    let events = set.events.iter().map(|event| {
        let entries = json!([entry(set, event, program)]);
        (event.name.to_owned(), entries)
    });
    Value::Object(events.collect())
}

/// What is not an object or a list where one must be was not written by the host; nothing can be
/// added to it.
fn check_types(root: &Node, set: &HookSet) -> Result<(), Refusal> {
    let wrong = |key: &str, wanted| Err(Refusal::WrongType { key: key.to_owned(), wanted });
    if root.members().is_none() {
        return Err(Refusal::RootNotObject);
    }
    let Some(hooks) = root.get("hooks") else { return Ok(()) };
    if hooks.members().is_none() {
        return wrong("hooks", "an object");
    }
    for event in set.events {
        if hooks.get(event.name).is_some_and(|entries| entries.elements().is_none()) {
            return wrong(&format!("hooks.{}", event.name), "a list");
        }
    }
    Ok(())
}

fn handler(event: &str, node: &Node, route: Vec<Step>) -> Option<Handler> {
    let command = node.get("command")?.text()?.to_owned();
    Some(Handler { event: event.to_owned(), command, route })
}

fn grouped(event: &str, entry: &Node, route: &[Step]) -> Vec<Handler> {
    let nodes = entry.get("hooks").and_then(Node::elements).unwrap_or_default();
    let handlers = nodes.iter().enumerate().filter_map(|(place, node)| {
        handler(event, node, [route, &["hooks".into(), place.into()]].concat())
    });
    handlers.collect()
}

fn wire_event(
    draft: &mut Draft,
    set: &HookSet,
    event: &HookEvent,
    program: &Program,
) -> Result<(), ScanError> {
    let wanted = program.hook_command(event.word, set.host);
    let is_ours =
        |handler: &Handler| handler.event == event.name && program.owns_hook(&handler.command);
    match handlers(draft.root(), set.shape).into_iter().find(is_ours) {
        Some(handler) if handler.command == wanted => Ok(()),
        Some(handler) => {
            let route = [handler.route.as_slice(), &["command".into()]].concat();
            draft.replace(&route, &wanted.into())
        }
        None => {
            let entry = entry(set, event, program);
            let route = ["hooks".into(), event.name.into()];
            match draft.find(&route) {
                Some(_) => draft.append(&route, &entry),
                None => draft.insert(&["hooks".into()], event.name, &json!([entry])),
            }
        }
    }
}

fn entry(set: &HookSet, event: &HookEvent, program: &Program) -> Value {
    let command = program.hook_command(event.word, set.host);
    match set.shape {
        Shape::Flat => json!({"command": command, "timeout": event.timeout_secs}),
        Shape::Grouped => {
            let handler =
                json!({"type": "command", "command": command, "timeout": event.timeout_secs});
            match event.matcher {
                Some(matcher) => json!({"matcher": matcher, "hooks": [handler]}),
                None => json!({"hooks": [handler]}),
            }
        }
    }
}

/// Returns a handler that must go: the Python program's, a second one of ours for the same event,
/// or one of ours for an event we no longer listen to.
fn leftover(root: &Node, set: &HookSet, program: &Program) -> Option<Handler> {
    let mut seen = BTreeSet::new();
    handlers(root, set.shape).into_iter().find(|handler| {
        if is_legacy_hook(&handler.command) {
            return true;
        }
        if !program.owns_hook(&handler.command) {
            return false;
        }
        let is_known = set.events.iter().any(|event| event.name == handler.event);
        !(is_known && seen.insert(handler.event.clone()))
    })
}

/// Takes out one handler, and with it every container that would be left empty.
fn take_out(
    draft: &mut Draft,
    handler: &Handler,
    shape: Shape,
    original: Option<&Node>,
) -> Result<(), ScanError> {
    let mut route = handler.route.as_slice();
    while let Some((_, container)) = route.split_last().filter(|(_, rest)| !rest.is_empty()) {
        // Only names are the same as in the original; positions have moved.
        let was_empty = container.len() < ENTRY_DEPTH
            && original
                .and_then(|original| find(original, container))
                .is_some_and(Node::is_empty_container);
        if draft.find(container).map_or(0, n_children) != 1 || was_empty {
            break;
        }
        // An entry without handlers does nothing, whatever its matcher says.
        let is_inside_entry = shape == Shape::Grouped && ENTRY_DEPTH < container.len();
        route = container.get(..ENTRY_DEPTH).filter(|_| is_inside_entry).unwrap_or(container);
    }
    draft.remove(route)
}

fn n_children(node: &Node) -> usize {
    node.members().map_or(0, <[_]>::len) + node.elements().map_or(0, <[_]>::len)
}
