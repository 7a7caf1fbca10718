//! What was taught: text that nobody said, from a file or from another program's notes.

use jiff::Timestamp;

/// The host name of what was taught. Its memories have the role `system`, the tier `semantic` and a
/// turn index, and `provenance.taught` says where each comes from.
pub const TAUGHT_HOST: &str = "taught";

/// A file something was taught from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaughtFile {
    /// The session its passages stand in.
    pub session: String,
    /// The set it belongs to.
    pub set: String,
    /// Its name as it was given.
    pub name: String,
    /// Its path; empty where there was none.
    pub file: String,
    /// How many passages of it are stored.
    pub n_passages: u64,
    /// How many characters these have.
    pub n_chars: u64,
    /// When the latest of them was stored.
    pub taught_at: Timestamp,
}
