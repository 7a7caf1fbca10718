//! One line of text that is being typed.

/// The line and where the next letter goes.
#[derive(Debug, Default)]
pub(super) struct Line {
    text: String,
    /// A byte of the text that a character begins at, or its end.
    cursor: usize,
}

/// How the line changes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Edit {
    Insert(char),
    DeleteBefore,
    DeleteAfter,
    DeleteWord,
    Clear,
    Left,
    Right,
    Start,
    End,
}

/// Longer lines say nothing new.
const BYTES_MAX: usize = 1000;

impl Line {
    pub(super) fn new(text: String) -> Self {
        Self { cursor: text.len(), text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns what stands before the cursor.
    pub(super) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Changes the line; tells whether its text is another now.
    pub(super) fn edit(&mut self, edit: Edit) -> bool {
        let n_before = self.before().chars().next_back().map_or(0, char::len_utf8);
        let n_after = self.after().chars().next().map_or(0, char::len_utf8);
        match edit {
            Edit::Insert(letter) if self.text.len() < BYTES_MAX && !letter.is_control() => {
                self.text.insert(self.cursor, letter);
                self.cursor += letter.len_utf8();
                true
            }
            Edit::Insert(_) => false,
            Edit::DeleteBefore => self.delete_before(n_before),
            Edit::DeleteAfter => {
                self.cursor += n_after;
                self.delete_before(n_after)
            }
            Edit::DeleteWord => {
                let kept = self.before().trim_end().rfind(' ').map_or(0, |blank| blank + 1);
                self.delete_before(self.cursor - kept)
            }
            Edit::Clear => {
                self.cursor = self.text.len();
                self.delete_before(self.cursor)
            }
            Edit::Left => self.go_to(self.cursor - n_before),
            Edit::Right => self.go_to(self.cursor + n_after),
            Edit::Start => self.go_to(0),
            Edit::End => self.go_to(self.text.len()),
        }
    }

    fn delete_before(&mut self, n_bytes: usize) -> bool {
        let start = self.cursor - n_bytes;
        self.text.drain(start..self.cursor);
        self.cursor = start;
        0 < n_bytes
    }

    fn go_to(&mut self, cursor: usize) -> bool {
        self.cursor = cursor;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_at_the_cursor() {
        use Edit::{Clear, DeleteAfter, DeleteBefore, DeleteWord, End, Insert, Left, Right, Start};
        let mut line = Line::new("größe".to_owned());
        for (edit, text, before) in [
            (Left, "größe", "größ"),
            (DeleteBefore, "gröe", "grö"),
            (Insert('ß'), "größe", "größ"),
            (Start, "größe", ""),
            (DeleteBefore, "größe", ""),
            (DeleteAfter, "röße", ""),
            (Right, "röße", "r"),
            (End, "röße", "röße"),
            (DeleteAfter, "röße", "röße"),
            (Insert(' '), "röße ", "röße "),
            (Insert('\u{1b}'), "röße ", "röße "),
            (Insert('x'), "röße x", "röße x"),
            (DeleteWord, "röße ", "röße "),
            (DeleteWord, "", ""),
            (Insert('a'), "a", "a"),
            (Clear, "", ""),
        ] {
            let was = line.text().to_owned();
            assert_eq!(line.edit(edit), was != text, "{edit:?}");
            assert_eq!((line.text(), line.before()), (text, before), "{edit:?}");
        }
    }
}
