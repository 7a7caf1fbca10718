//! The words of a page as it is drawn: lines, paragraphs and blanks are told by how the pen moves.

use lopdf::{Document, Encoding, Object};

use super::widths::{Spacing, Widths};

/// A gap of so many parts of a font's size is a blank; what is moved less is kerned.
const BLANK_GAP: f32 = 0.18;
/// Whoever moves back by so many parts of it begins another word; accents move back by less.
const BACK_GAP: f32 = -1.0;
/// Letters that stand so much lower or higher are in another line.
const LINE_GAP: f32 = 1.0;
/// States of a page that are kept for later; of more, the last ones are wrong.
const SAVED_MAX: usize = 64;

/// A font of a page.
pub(super) struct Font<'a> {
    pub(super) encoding: Option<Encoding<'a>>,
    pub(super) widths: Option<Widths>,
}

/// The words of a page so far, and where on it the pen stands.
pub(super) struct Drawn {
    pub(super) text: String,
    /// The distance of the lines drawn last: a wider one ends a paragraph.
    step: f32,
    /// Where the line begins, and which way it goes.
    line: Matrix,
    /// What the page does to all of that.
    page: Matrix,
    saved: Vec<Matrix>,
    /// How far the pen is from the beginning of the line, as far as widths are known.
    along: Option<f32>,
    size: f32,
    spacing: Spacing,
    leading: f32,
    /// Where the letters end that were drawn last.
    end: Option<End>,
    /// The pen was put somewhere since.
    is_moved: bool,
}

#[derive(Clone, Copy)]
struct End {
    at: (f32, f32),
    /// Widths were known: it is not merely the line they stand in.
    is_measured: bool,
}

impl Drawn {
    pub(super) fn new() -> Self {
        Self {
            text: String::new(),
            step: 0.0,
            line: Matrix::NONE,
            page: Matrix::NONE,
            saved: Vec::new(),
            along: Some(0.0),
            size: 0.0,
            spacing: Spacing { letters: 0.0, words: 0.0, stretch: 1.0 },
            leading: 0.0,
            end: None,
            is_moved: false,
        }
    }

    /// Does what an operator says, where it moves the pen or says how it will move.
    pub(super) fn turn(&mut self, operator: &str, operands: &[Object]) {
        let number = |idx: usize| operands.get(idx).and_then(|n| n.as_float().ok());
        let first = number(0).unwrap_or(0.0);
        match operator {
            "BT" => self.move_to(Matrix::NONE),
            "Tm" => self.move_to(Matrix::of(operands)),
            "Td" => self.move_by(first, number(1).unwrap_or(0.0)),
            "TD" => {
                self.leading = -number(1).unwrap_or(0.0);
                self.move_by(first, -self.leading);
            }
            "T*" | "'" | "\"" => {
                self.end_line();
                self.move_by(0.0, -self.leading);
            }
            "cm" => self.page = Matrix::of(operands).then(&self.page),
            "q" if self.saved.len() < SAVED_MAX => self.saved.push(self.page),
            "Q" => self.page = self.saved.pop().unwrap_or(self.page),
            "Tf" => self.size = number(1).unwrap_or(0.0),
            "TL" => self.leading = first,
            "Tc" => self.spacing.letters = first,
            "Tw" => self.spacing.words = first,
            "Tz" => self.spacing.stretch = first / 100.0,
            _ => {}
        }
        if operator == "\"" {
            self.spacing.words = first;
            self.spacing.letters = number(1).unwrap_or(0.0);
        }
    }

    fn move_to(&mut self, line: Matrix) {
        self.line = line;
        self.along = Some(0.0);
        self.is_moved = true;
    }

    fn move_by(&mut self, right: f32, up: f32) {
        self.move_to(Matrix { at: self.line.place(right, up), ..self.line });
    }

    /// Draws letters, and what is between them; those of a font nobody can read are left out.
    pub(super) fn show(&mut self, letters: &Object, font: Option<&Font<'_>>) {
        let Some((font, encoding)) = font.and_then(|font| Some((font, font.encoding.as_ref()?)))
        else {
            self.along = None;
            return;
        };
        self.arrive();
        let pieces = match letters {
            Object::Array(pieces) => pieces.as_slice(),
            piece => std::slice::from_ref(piece),
        };
        for piece in pieces {
            match piece {
                Object::String(bytes, _) => {
                    self.say(encoding, bytes);
                    let widths = font.widths.as_ref();
                    let advance = widths.map(|w| w.advance(bytes, self.size, self.spacing));
                    self.along = self.along.zip(advance).map(|(along, by)| along + by);
                }
                gap => self.kern(gap.as_float().map_or(0.0, |gap| -gap / 1000.0)),
            }
        }
        let at = self.line.then(&self.page).place(self.along.unwrap_or(0.0), 0.0);
        self.end = Some(End { at, is_measured: self.along.is_some() });
    }

    /// Moves the pen on between two letters, by parts of the font's size.
    fn kern(&mut self, by: f32) {
        if BLANK_GAP < by {
            self.space();
        }
        self.along = self.along.map(|along| along + by * self.size * self.spacing.stretch);
    }

    /// Puts what lies between the letters drawn last and the place the pen was moved to.
    fn arrive(&mut self) {
        let is_moved = std::mem::take(&mut self.is_moved);
        let Some(end) = self.end.filter(|_| is_moved) else { return };
        let line = self.line.then(&self.page);
        let way = (line.at.0 - end.at.0, line.at.1 - end.at.1);
        let down = -along(way, line.up);
        if LINE_GAP <= down.abs() {
            self.step_down(down);
            return;
        }
        // Where a width is not known, a piece of text is a word.
        let gap = along(way, line.right) / (self.size * line.right.0.hypot(line.right.1)).abs();
        let goes_on = end.is_measured && BACK_GAP < gap && gap < BLANK_GAP;
        if !goes_on {
            self.space();
        }
    }

    /// Ends the line when the next letters stand lower or higher, and the paragraph when they stand
    /// much lower than lines do.
    fn step_down(&mut self, by: f32) {
        let is_paragraph = 0.0 < self.step && (1.6 * self.step < by || by < -self.step);
        self.end_line();
        if is_paragraph && !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        } else if 0.0 < by {
            self.step = by;
        }
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn say(&mut self, encoding: &Encoding<'_>, bytes: &[u8]) {
        let words = Document::decode_text(encoding, bytes).unwrap_or_default();
        for letter in words.chars() {
            match spelled_out(letter) {
                Some(letters) => self.text.push_str(letters),
                // Control characters are nobody's words, and NUL would end a text elsewhere.
                None if letter.is_control() => {}
                None => self.text.push(letter),
            }
        }
    }
}

/// Letters that a font draws as one; nobody types them who looks for the word.
fn spelled_out(letter: char) -> Option<&'static str> {
    match letter {
        '\u{fb00}' => Some("ff"),
        '\u{fb01}' => Some("fi"),
        '\u{fb02}' => Some("fl"),
        '\u{fb03}' => Some("ffi"),
        '\u{fb04}' => Some("ffl"),
        _ => None,
    }
}

/// Where something begins, and what one step to the right and one up are there.
#[derive(Clone, Copy)]
struct Matrix {
    right: (f32, f32),
    up: (f32, f32),
    at: (f32, f32),
}

impl Matrix {
    const NONE: Self = Self { right: (1.0, 0.0), up: (0.0, 1.0), at: (0.0, 0.0) };

    fn of(operands: &[Object]) -> Self {
        let number = |idx: usize| operands.get(idx).and_then(|n| n.as_float().ok()).unwrap_or(0.0);
        let pair = |idx: usize| (number(idx), number(idx + 1));
        Self { right: pair(0), up: pair(2), at: pair(4) }
    }

    fn place(&self, right: f32, up: f32) -> (f32, f32) {
        let (x, y) = self.turned((right, up));
        (self.at.0 + x, self.at.1 + y)
    }

    fn turned(&self, (right, up): (f32, f32)) -> (f32, f32) {
        (right * self.right.0 + up * self.up.0, right * self.right.1 + up * self.up.1)
    }

    fn then(&self, outer: &Self) -> Self {
        Self {
            right: outer.turned(self.right),
            up: outer.turned(self.up),
            at: outer.place(self.at.0, self.at.1),
        }
    }
}

/// Returns how much of a way goes in a direction.
fn along(way: (f32, f32), direction: (f32, f32)) -> f32 {
    let length = direction.0.hypot(direction.1);
    (way.0 * direction.0 + way.1 * direction.1) / length
}
