//! What is known about forgetting: which memories are meant, and what stays when they are gone.

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::named::named;
use super::{MemoryId, MemoryNumber, Role};

named! {
    /// Why something was forgotten.
    pub enum ForgetReason("reason") {
        /// Somebody asked for it.
        Asked = "asked",
        /// It held a secret; the same words without it were stored in its place.
        Secret = "secret",
        /// It may come back: what a check stored to forget it, or a passage its file has no more.
        /// No receipt of it is kept.
        Check = "check",
    }
}

/// Which memories are meant: those that every wish means. No wish at all means none of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgetSelection {
    /// One of these.
    pub ids: Option<Vec<MemoryId>>,
    /// Said in the session of this name, whatever the host.
    pub session: Option<String>,
    /// Said in one of these places.
    pub places: Option<Vec<u32>>,
    /// With these letters in the text or the cue, upper and lower case alike.
    pub containing: Option<String>,
    /// Said before this.
    pub before: Option<Timestamp>,
    /// Taught as the set of this name.
    pub taught: Option<String>,
}

impl ForgetSelection {
    /// Returns the kinds of wishes, without the wishes.
    pub fn kinds(&self) -> String {
        let kinds = [
            (self.ids.is_some(), "ids"),
            (self.session.is_some(), "session"),
            (self.places.is_some(), "project"),
            (self.containing.is_some(), "match"),
            (self.before.is_some(), "before"),
            (self.taught.is_some(), "taught"),
        ];
        let given = kinds.iter().filter(|(is_given, _)| *is_given).map(|(_, kind)| *kind);
        given.collect::<Vec<_>>().join("+")
    }
}

/// A memory that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selected {
    /// Its number.
    pub number: MemoryNumber,
    /// The number of its session.
    pub session: u32,
    /// When it was said.
    pub turn_at: Timestamp,
}

/// One time something was forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetReceipt {
    /// Its number.
    pub number: u64,
    /// When somebody asked.
    pub asked_at: Timestamp,
    /// When the last of it was gone; `None` while something is left to do.
    pub finished_at: Option<Timestamp>,
    /// The kinds of wishes, `session+before` and the like.
    pub selection: String,
    /// Why.
    pub reason: ForgetReason,
    /// How many memories.
    pub n_memories: u64,
    /// A keyed digest over the marks of all of them.
    pub digest: Option<[u8; 32]>,
}

/// Names that nothing stored has any more, for whoever keeps files named by them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoneNames {
    /// Sessions without a memory.
    pub sessions: Vec<String>,
    /// Projects and folders without a memory.
    pub places: Vec<String>,
}

/// The key of all marks of one store.
pub(crate) struct MarkKey(pub(crate) [u8; 32]);

/// The beginning of a keyed digest.
pub(crate) type Mark = [u8; 16];

impl MarkKey {
    /// `SHA-256(key ‖ "id" ‖ id)`, cut. The key never leaves the store.
    pub(crate) fn of_id(&self, id: MemoryId) -> Mark {
        let mut hash = self.begin(b"id");
        hash.update(id.as_bytes());
        cut(hash)
    }

    /// `SHA-256(key ‖ "turn" ‖ length ‖ session ‖ role ‖ 0 ‖ time ‖ SHA-256(text))`, cut.
    pub(crate) fn of_turn(
        &self,
        (session, role): (&str, Role),
        turn_at_ms: i64,
        content_hash: &[u8; 32],
    ) -> Mark {
        let mut hash = self.begin(b"turn");
        hash.update((session.len() as u64).to_le_bytes());
        hash.update(session.as_bytes());
        hash.update(role.as_str().as_bytes());
        hash.update([0]);
        hash.update(turn_at_ms.to_le_bytes());
        hash.update(content_hash);
        cut(hash)
    }

    /// `SHA-256(key ‖ "all" ‖ marks)`, of marks in their order.
    pub(crate) fn of_all(&self, marks: &[Mark]) -> [u8; 32] {
        let mut hash = self.begin(b"all");
        marks.iter().for_each(|mark| hash.update(mark));
        hash.finalize().into()
    }

    fn begin(&self, what: &[u8]) -> Sha256 {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(what);
        hash
    }
}

fn cut(hash: Sha256) -> Mark {
    let digest: [u8; 32] = hash.finalize().into();
    let mut mark = Mark::default();
    mark.iter_mut().zip(digest).for_each(|(place, byte)| *place = byte);
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_tells_its_kinds_and_nothing_else() {
        let selection = ForgetSelection {
            session: Some("secret session".to_owned()),
            before: Some(Timestamp::UNIX_EPOCH),
            ..ForgetSelection::default()
        };
        assert_eq!(selection.kinds(), "session+before");
        assert_eq!(ForgetSelection::default().kinds(), "");
    }

    #[test]
    fn marks_depend_on_the_key_and_on_everything_marked() {
        let (one, other) = (MarkKey([1; 32]), MarkKey([2; 32]));
        let turn = |key: &MarkKey, session, role, at| key.of_turn((session, role), at, &[7; 32]);
        let marks = [
            turn(&one, "a", Role::User, 1),
            turn(&other, "a", Role::User, 1),
            turn(&one, "b", Role::User, 1),
            turn(&one, "a", Role::Assistant, 1),
            turn(&one, "a", Role::User, 2),
        ];
        for (place, mark) in marks.iter().enumerate() {
            assert!(!marks[place + 1..].contains(mark));
        }
    }
}
