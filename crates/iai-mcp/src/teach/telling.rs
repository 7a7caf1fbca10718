//! What is said of a lesson, and what a set may be called.

use serde_json::{Value, json};

use super::Taught;

/// The longest name of a set.
const SET_CHARS_MAX: usize = 80;

/// Returns the name of a set as it is kept, or what a name has to be.
pub(crate) fn parse_set(name: &str) -> Result<String, String> {
    let name = name.trim();
    let is_fit = !name.is_empty()
        && name.chars().count() <= SET_CHARS_MAX
        && !name.chars().any(char::is_control);
    let why = || format!("a name of 1 to {SET_CHARS_MAX} letters, on one line");
    is_fit.then(|| name.to_owned()).ok_or_else(why)
}

impl Taught {
    /// Tells what became of a lesson.
    pub(crate) fn told(&self, set: &str) -> Value {
        let sample = &self.sample;
        let elsewhere = |(name, set): &(String, String)| json!({"file": name, "set": set});
        json!({
            "set": set,
            "files": self.n_files,
            "passages": self.n_passages,
            "stored": self.n_stored,
            "known": self.n_known,
            "repeated": self.n_repeated,
            "retired": self.n_retired,
            "forgotten": self.n_forgotten,
            "cut": self.n_cut,
            "elsewhere": self.elsewhere.iter().map(elsewhere).collect::<Vec<_>>(),
            "sample": {"asked": sample.n_asked, "found": sample.n_found, "missed": sample.missed},
            "problems": self.problems,
        })
    }
}
