//! What was promised: every memory somebody got an id for, every one that had to go.

use std::collections::{BTreeMap, BTreeSet};

/// A memory's id, as the daemon writes it.
pub(crate) type Id = String;

/// What one session said, as seen by whoever said it.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Everything that was sent, answered or not. No text is sent twice.
    attempted: BTreeSet<String>,
    acknowledged: BTreeMap<Id, String>,
    /// Forgets that were answered.
    forgotten: BTreeSet<Id>,
    /// Forgets that were asked for when the daemon died: either is right.
    in_doubt: BTreeSet<Id>,
}

impl Session {
    pub(crate) fn attempt(&mut self, text: &str) {
        self.attempted.insert(text.to_owned());
    }

    pub(crate) fn acknowledge(&mut self, id: Id, text: String) {
        self.acknowledged.insert(id, text);
    }

    pub(crate) fn ask_to_forget(&mut self, id: &str) {
        self.in_doubt.insert(id.to_owned());
    }

    pub(crate) fn forgotten(&mut self, id: &str) {
        self.in_doubt.remove(id);
        self.forgotten.insert(id.to_owned());
    }

    pub(crate) fn n_acknowledged(&self) -> usize {
        self.acknowledged.len()
    }

    pub(crate) fn n_forgotten(&self) -> usize {
        self.forgotten.len()
    }

    /// Returns the acknowledged memories that nobody asked to forget.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (&Id, &String)> {
        self.acknowledged
            .iter()
            .filter(|(id, _)| !self.forgotten.contains(*id) && !self.in_doubt.contains(*id))
    }

    /// Compares with what the store holds of this session, and says everything that is wrong.
    pub(crate) fn compare(&self, name: &str, found: &[(Id, String)]) -> Vec<String> {
        let mut wrong = Vec::new();
        let by_id: BTreeMap<&Id, &String> = found.iter().map(|(id, text)| (id, text)).collect();
        for (id, text) in self.kept() {
            match by_id.get(id) {
                None => wrong.push(format!("{name}: {id} was acknowledged and is lost")),
                Some(stored) if *stored != text => {
                    wrong.push(format!("{name}: {id} does not say what was acknowledged"));
                }
                Some(_) => {}
            }
        }
        let mut seen = BTreeSet::new();
        for (id, text) in found {
            if self.forgotten.contains(id) {
                wrong.push(format!("{name}: {id} was forgotten and is there"));
            }
            if !self.attempted.contains(text) {
                wrong.push(format!("{name}: {id} holds words nobody sent"));
            }
            if !seen.insert(text) {
                wrong.push(format!("{name}: {id} is there a second time"));
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(pairs: &[(&str, &str)]) -> Vec<(Id, String)> {
        pairs.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
    }

    fn session() -> Session {
        let mut session = Session::default();
        for (id, text) in [("1", "a"), ("2", "b"), ("3", "c")] {
            session.attempt(text);
            session.acknowledge(id.to_owned(), text.to_owned());
        }
        session.attempt("on its way");
        session.ask_to_forget("2");
        session.ask_to_forget("3");
        session.forgotten("3");
        session
    }

    #[test]
    fn what_may_be_is_no_fault() {
        let session = session();
        for found in [
            stored(&[("1", "a")]),
            stored(&[("1", "a"), ("2", "b")]),
            stored(&[("1", "a"), ("9", "on its way")]),
        ] {
            assert_eq!(session.compare("s", &found), Vec::<String>::new());
        }
    }

    #[test]
    fn every_kind_of_fault_is_seen() {
        let session = session();
        for (found, want) in [
            (stored(&[]), "s: 1 was acknowledged and is lost"),
            (stored(&[("1", "b")]), "s: 1 does not say what was acknowledged"),
            (stored(&[("1", "a"), ("3", "c")]), "s: 3 was forgotten and is there"),
            (stored(&[("1", "a"), ("4", "x")]), "s: 4 holds words nobody sent"),
            (stored(&[("1", "a"), ("4", "a")]), "s: 4 is there a second time"),
        ] {
            let wrong = session.compare("s", &found);
            assert!(wrong.iter().any(|sentence| sentence == want), "{want}: {wrong:?}");
        }
    }
}
