//! What a memory is about, by rules: names, files, commands, tools, the language.

use super::named::named;

named! {
    /// In which way an attribute belongs to a memory.
    pub enum AttributeRole("role of an attribute") {
        /// Something with a name: a person, a service, an identifier, a ticket, an error.
        Entity = "entity",
        /// A file that is named or was touched.
        File = "file",
        /// A command that was run or quoted.
        Command = "command",
        /// A tool the assistant used.
        Tool = "tool",
        /// The language it is written in.
        Lang = "lang",
    }
}

/// The characters of a filler at most; the schema says so too.
pub const FILLER_CHARS_MAX: usize = 120;

/// The number of an attribute inside the store; an attribute nobody has any more loses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttributeNumber(pub(crate) i64);

/// An attribute as it is handed to the store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NewAttribute {
    /// In which way it belongs to a memory.
    pub role: AttributeRole,
    /// What it is looked for by: see [`NewAttribute::key_of`].
    pub filler: String,
    /// As it was written.
    pub display: String,
}

impl NewAttribute {
    /// Returns the attribute for a name as written, or nothing when it is empty or too long.
    pub fn new(role: AttributeRole, written: &str) -> Option<Self> {
        let display = written.split_whitespace().collect::<Vec<_>>().join(" ");
        let filler = Self::key_of(&display);
        let fits = |text: &str| (1..=FILLER_CHARS_MAX).contains(&text.chars().count());
        // A NUL ends a text for SQLite's `length`, which the schema relies on.
        let is_kept = fits(&filler) && fits(&display) && !display.contains('\0');
        is_kept.then_some(Self { role, filler, display })
    }

    /// Returns the key a name is kept and found under: lower case, single spaces.
    pub fn key_of(written: &str) -> String {
        let words: Vec<&str> = written.split_whitespace().collect();
        words.join(" ").to_lowercase()
    }
}

/// A stored attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its number.
    pub number: AttributeNumber,
    /// In which way it belongs to a memory.
    pub role: AttributeRole,
    /// What it is looked for by.
    pub filler: String,
    /// As it was first written.
    pub display: String,
    /// How many memories have it.
    pub n_memories: u64,
}

/// How formal the user's turns of one ISO week were, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormalityWeek {
    /// Year × 100 + week.
    pub week: u32,
    /// How many turns.
    pub n: u64,
    /// Their sum.
    pub sum: u64,
    /// The sum of their squares.
    pub sum_squares: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expect: Option<(&str, &str)>) {
        let made = NewAttribute::new(AttributeRole::Entity, written);
        let made = made.as_ref().map(|made| (made.filler.as_str(), made.display.as_str()));
        assert_eq!(made, expect, "{written}");
    }

    #[test]
    fn a_name_is_kept_as_written_and_found_in_lower_case() {
        check("Harbour  Crane", Some(("harbour crane", "Harbour Crane")));
        check("ÜBER\n1", Some(("über 1", "ÜBER 1")));
        check("", None);
        check(" \t", None);
        check("a\0b", None);
        check(&"x".repeat(FILLER_CHARS_MAX), Some((&"x".repeat(120), &"x".repeat(120))));
        check(&"x".repeat(FILLER_CHARS_MAX + 1), None);
        // Lower case may be longer: "İ" becomes two characters.
        check(&"İ".repeat(FILLER_CHARS_MAX), None);
    }
}
