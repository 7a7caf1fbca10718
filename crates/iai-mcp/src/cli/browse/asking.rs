//! Asks the memory on threads of their own: the latest question only, whatever was typed meanwhile.

use std::collections::BTreeSet;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use iai_wire::BY_PERSON;
use serde_json::{Value, json};

use super::Event;
use crate::cli::memories::{items, whole_memory};
use crate::client::{CallError, Client};
use crate::clock;
use crate::fields::Fields as _;

/// What is listed at once.
const HITS_MAX: u64 = 50;
/// What the hits may cost together; long ones are shown in part.
const BUDGET_TOKENS: u64 = 10_000;
/// Turns shown on each side of a memory.
const BESIDE: u64 = 2;

/// Holds the newest wish until somebody takes it; an older one nobody has begun is forgotten.
pub(super) struct Latest<T> {
    wish: Mutex<Option<T>>,
    changed: Condvar,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { wish: Mutex::new(None), changed: Condvar::new() }
    }
}

impl<T> Latest<T> {
    pub(super) fn put(&self, wish: T) {
        *self.wish.lock().unwrap_or_else(PoisonError::into_inner) = Some(wish);
        self.changed.notify_one();
    }

    /// Waits for a wish.
    fn take(&self) -> T {
        let mut wish = self.wish.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(wish) = wish.take() {
                return wish;
            }
            wish = self.changed.wait(wish).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What is looked for.
pub(super) struct Search {
    /// Grows with every search: an answer to an older one is stale.
    pub(super) number: u64,
    pub(super) words: String,
    pub(super) project: Option<String>,
}

/// What was found.
pub(super) struct Found {
    pub(super) number: u64,
    pub(super) result: Result<Vec<Value>, String>,
    /// No daemon answered; the store was read as it is.
    pub(super) is_degraded: bool,
}

/// A memory, whole, and what was said around it.
pub(super) struct Shown {
    pub(super) id: String,
    pub(super) result: Result<Value, String>,
    pub(super) beside: Value,
}

/// Answers searches for ever.
pub(super) fn answer_searches(
    client: Client,
    searches: Arc<Latest<Search>>,
) -> impl FnOnce(&Sender<Event>) + Send {
    move |events| loop {
        let search = searches.take();
        let found = find(&client, &search);
        let is_degraded = found.as_ref().is_ok_and(|(_, is_degraded)| *is_degraded);
        let result = found.map(|(hits, _)| hits).map_err(|error| error.to_string());
        let found = Found { number: search.number, result, is_degraded };
        if events.send(Event::Found(found)).is_err() {
            return;
        }
    }
}

/// Answers wishes to see a memory for ever.
pub(super) fn answer_previews(
    client: Client,
    previews: Arc<Latest<String>>,
) -> impl FnOnce(&Sender<Event>) + Send {
    move |events| loop {
        let id = previews.take();
        let result = whole_memory(&client, &id).map_err(|error| error.to_string());
        let beside = client.call("memory_beside", &json!({"id": id, "each": BESIDE}));
        // A memory without its neighbours is still worth seeing.
        let shown = Shown { id, result, beside: beside.unwrap_or_default() };
        if events.send(Event::Shown(Box::new(shown))).is_err() {
            return;
        }
    }
}

/// Finds the newest where nothing was typed, else what has the very text, then what answers it.
fn find(client: &Client, search: &Search) -> Result<(Vec<Value>, bool), CallError> {
    let (words, project) = (search.words.trim(), &search.project);
    if words.is_empty() {
        let listed = client.call("memory_list", &json!({"limit": HITS_MAX, "project": project}))?;
        return Ok((items(&listed, "memories").to_vec(), listed.at("degraded") == true));
    }
    // Asked as of now, so that what is typed letter by letter is not learned from.
    let asked = json!({
        "cue": words,
        "project": project,
        "n_hits_max": HITS_MAX,
        "budget_tokens": BUDGET_TOKENS,
        "asof": clock::now().to_string(),
        "by": BY_PERSON,
    });
    let answered = client.call("memory_recall", &asked)?;
    let asked = json!({"text": words, "project": project, "limit": HITS_MAX, "by": BY_PERSON});
    let written = client.call("text_search", &asked)?;
    let hits = merged(items(&answered, "hits"), items(&written, "hits"));
    Ok((hits, answered.at("degraded") == true))
}

/// Puts first what has the very text, in the order of the answer as far as that has it too.
fn merged(answered: &[Value], written: &[Value]) -> Vec<Value> {
    let id = |hit: &Value| hit.at("record_id").as_str().unwrap_or_default().to_owned();
    let literal: BTreeSet<String> = written.iter().map(id).collect();
    let (first, last): (Vec<&Value>, Vec<&Value>) =
        answered.iter().partition(|hit| literal.contains(&id(hit)));
    let mut seen = BTreeSet::new();
    let all = first.into_iter().chain(written).chain(last);
    all.filter(|hit| seen.insert(id(hit))).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_wish_is_taken() {
        let latest = Latest::default();
        latest.put(1);
        latest.put(2);
        assert_eq!(latest.take(), 2);
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| latest.take());
            latest.put(3);
            assert_eq!(taken.join().unwrap(), 3);
        });
    }

    #[test]
    fn what_has_the_very_text_stands_first_and_nothing_twice() {
        let hits = |ids: &[&str]| ids.iter().map(|id| json!({"record_id": id})).collect::<Vec<_>>();
        let all = merged(&hits(&["a", "b", "c"]), &hits(&["x", "c", "b"]));
        assert_eq!(all, hits(&["b", "c", "x", "a"]));
    }
}
