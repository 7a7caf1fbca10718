//! Source code: cut between items, told apart by blank lines and indentation, with line ranges.

use super::split::{Section, Shape, of_section};
use super::{Part, Passage};

/// Cuts source code into passages.
pub(super) fn passages(text: &str) -> Vec<Passage> {
    let section =
        Section { text, first_line: Some(1), part: Part::default(), shape: Shape::Source };
    of_section(&section)
}
