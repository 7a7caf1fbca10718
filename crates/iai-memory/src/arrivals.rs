//! What came in lately, for somebody who follows along: in the order of arrival, each once.

use iai_store::{Filter, MemoryNumber};
use serde::Serialize;

use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::projects::places_of;
use crate::shelf::{MemoryView, views};

/// The most memories told at once; whoever follows asks again.
const ARRIVALS_MAX: usize = 100;

/// From where on, and of what.
#[derive(Debug, Clone, Default)]
pub struct ArrivalsAsk {
    /// What `next` said the last time; `None` begins with what comes from now on.
    pub after: Option<u64>,
    /// Only this project: a path, or its last part.
    pub project: Option<String>,
}

/// What came in.
#[derive(Debug, Serialize)]
pub struct ArrivalsAnswer {
    /// The memories, in the order they came in.
    pub memories: Vec<MemoryView>,
    /// Where to go on.
    pub next: u64,
}

impl MemoryEngine {
    /// Returns what came in after a place in the order of arrival.
    pub fn arrivals(&self, ask: &ArrivalsAsk) -> Result<ArrivalsAnswer> {
        self.read(|reader| {
            let last = reader.last_number()?;
            let after = ask.after.and_then(|after| u32::try_from(after).ok());
            // A place behind the end is of another store: of one that was there before a restore.
            let after = after.map_or(last, MemoryNumber::new).min(last);
            let project = match &ask.project {
                None => None,
                Some(name) => match places_of(reader, name)?.into_iter().next() {
                    Some((_, project)) => Some(project),
                    // Nothing was said there so far; something may be, under this very name.
                    None => Some(name.clone()),
                },
            };
            let filter = Filter { project, ..Filter::default() };
            let arrived = reader.arrived_after(after, &filter, ARRIVALS_MAX)?;
            let (numbers, memories): (Vec<_>, Vec<_>) = arrived.into_iter().unzip();
            let shown = views(memories);
            let is_cut = shown.len() < numbers.len() || numbers.len() == ARRIVALS_MAX;
            let told = numbers.get(shown.len().saturating_sub(1)).copied();
            let next = match told {
                Some(told) if is_cut => told,
                // Of a project that nobody speaks in, all others are passed over at once.
                _ => told.map_or(last, |told| told.max(last)),
            };
            Ok(ArrivalsAnswer { memories: shown, next: u64::from(next.get()) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    fn texts(answer: &ArrivalsAnswer) -> Vec<&str> {
        answer.memories.iter().map(|memory| memory.literal_surface.as_str()).collect()
    }

    #[test]
    fn what_comes_in_is_told_once_in_its_order() {
        let trial = Trial::new();
        trial.tell(&["before"]);
        let ask = |after| trial.engine.arrivals(&ArrivalsAsk { after, project: None }).unwrap();
        let begun = ask(None);
        assert_eq!(texts(&begun), [""; 0], "what was there before is no news");
        trial.tell(&["one", "two"]);
        let told = ask(Some(begun.next));
        assert_eq!(texts(&told), ["one", "two"]);
        assert_eq!(texts(&ask(Some(told.next))), [""; 0]);
        assert_eq!(ask(Some(told.next)).next, told.next);
        assert_eq!(ask(Some(999_999)).next, told.next, "a place of another store");
    }

    #[test]
    fn more_than_one_answer_holds_comes_in_several() {
        let trial = Trial::new();
        let many: Vec<String> = (0..ARRIVALS_MAX + 5).map(|n| format!("turn {n}")).collect();
        trial.tell(&many.iter().map(String::as_str).collect::<Vec<_>>());
        let mut told = Vec::new();
        let mut after = 0;
        for _ in 0..3 {
            let ask = ArrivalsAsk { after: Some(after), project: Some("p".to_owned()) };
            let answer = trial.engine.arrivals(&ask).unwrap();
            told.extend(answer.memories.iter().map(|memory| memory.literal_surface.clone()));
            after = answer.next;
        }
        assert_eq!(told, many);
        let other = ArrivalsAsk { after: Some(0), project: Some("elsewhere".to_owned()) };
        let answer = trial.engine.arrivals(&other).unwrap();
        assert_eq!((texts(&answer).len(), answer.next), (0, after), "passed over at once");
    }
}
