//! PDF: the text layer of its pages, by the page.
//!
//! The parser bounds each stream; what all of them cost together is bounded by `contained.rs`.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::content::Content;
use lopdf::{Document, Encoding, LoadOptions, Object, ObjectId};

use super::split::{Section, Shape, of_section};
use super::{Part, Passage, Refusal};

/// What one stream may unpack to: the words of a page, or a table of objects.
const STREAM_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What the words of all pages may unpack to.
const PAGES_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Pages of one file.
const PAGES_MAX: usize = 5_000;
/// A gap of so many thousandths of a letter's height is a space.
const SPACE_THOUSANDTHS: f32 = -180.0;

/// Cuts the pages of a file into passages.
pub(super) fn passages(bytes: &[u8]) -> Result<Vec<Passage>, Refusal> {
    // A parser that breaks must not take anybody along.
    catch_unwind(AssertUnwindSafe(|| of_document(bytes)))
        .unwrap_or_else(|_| Err(Refusal::broken("the parser broke")))
}

fn of_document(bytes: &[u8]) -> Result<Vec<Passage>, Refusal> {
    let options = LoadOptions::with_max_decompressed_size(STREAM_BYTES_MAX);
    let document = Document::load_mem_with_options(bytes, options).map_err(refusal_of)?;
    // Whoever may open it without a password may learn from it.
    if document.trailer.get(b"Encrypt").is_ok() && !document.was_encrypted() {
        return Err(Refusal::Encrypted);
    }
    let pages: Vec<ObjectId> = document.page_iter().take(PAGES_MAX + 1).collect();
    if PAGES_MAX < pages.len() {
        return Err(Refusal::TooMany);
    }
    let (mut passages, mut n_bytes) = (Vec::new(), 0);
    for (page_idx, page) in pages.iter().enumerate() {
        let text = words_of(&document, *page, &mut n_bytes)?;
        let part = Part { page: Some(page_idx + 1), ..Part::default() };
        let section = Section { text: text.trim(), first_line: None, part, shape: Shape::Prose };
        passages.extend(of_section(&section));
    }
    match passages.is_empty() && !pages.is_empty() {
        true => Err(Refusal::OnlyImages),
        false => Ok(passages),
    }
}

fn refusal_of(error: lopdf::Error) -> Refusal {
    match error {
        lopdf::Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { limit }) => {
            Refusal::Bomb { max: limit as u64, ratio: 1000 }
        }
        lopdf::Error::InvalidPassword | lopdf::Error::Decryption(_) => Refusal::Encrypted,
        error => Refusal::broken(error),
    }
}

/// Reads the words of a page in the order they are drawn.
fn words_of(document: &Document, page: ObjectId, n_bytes: &mut usize) -> Result<String, Refusal> {
    let left = PAGES_BYTES_MAX.saturating_sub(*n_bytes).min(STREAM_BYTES_MAX);
    let content = document.get_page_content_with_limit(page, left).map_err(refusal_of)?;
    *n_bytes += content.len();
    let mut encodings = BTreeMap::new();
    for (name, font) in document.get_page_fonts(page).unwrap_or_default() {
        // Letters of a font nobody can read are left out; those of the others are not.
        if let Ok(encoding) = font.get_font_encoding_with_limit(document, STREAM_BYTES_MAX) {
            encodings.insert(name, encoding);
        }
    }
    let Ok(content) = Content::decode(&content) else { return Ok(String::new()) };
    let mut drawn = Drawn::default();
    let mut encoding: Option<&Encoding<'_>> = None;
    for operation in &content.operations {
        match operation.operator.as_str() {
            "Tf" => {
                let name = operation.operands.first().and_then(|name| name.as_name().ok());
                encoding = name.and_then(|name| encodings.get(name));
            }
            "Td" | "TD" => drawn.move_by(&operation.operands),
            "Tm" => drawn.move_to(&operation.operands),
            "T*" => drawn.end_line(),
            "BT" => drawn.begin(),
            "Tj" | "TJ" => drawn.show(&operation.operands, encoding),
            "'" | "\"" => {
                drawn.end_line();
                drawn.show(&operation.operands, encoding);
            }
            _ => {}
        }
    }
    Ok(drawn.text)
}

/// The words of a page so far, and how high on it they stand.
#[derive(Default)]
struct Drawn {
    text: String,
    /// The height of the line that was drawn last; 0 is the bottom of the page or of a box.
    height: f32,
    /// The distance of the lines drawn last: a wider one ends a paragraph.
    step: f32,
}

impl Drawn {
    fn begin(&mut self) {
        self.space();
    }

    fn move_by(&mut self, operands: &[Object]) {
        let down = operands.get(1).and_then(|y| y.as_float().ok()).unwrap_or(0.0);
        self.step_down(-down);
        self.height += down;
    }

    fn move_to(&mut self, operands: &[Object]) {
        let height = operands.get(5).and_then(|y| y.as_float().ok()).unwrap_or(0.0);
        self.step_down(self.height - height);
        self.height = height;
    }

    /// Ends the line when the next letters stand lower or higher, and the paragraph when they stand
    /// much lower than lines do.
    fn step_down(&mut self, by: f32) {
        if by.abs() < 1.0 {
            self.space();
            return;
        }
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

    fn show(&mut self, operands: &[Object], encoding: Option<&Encoding<'_>>) {
        let Some(encoding) = encoding else { return };
        for operand in operands {
            match operand {
                Object::String(bytes, _) => self.say(encoding, bytes),
                Object::Array(pieces) => {
                    for piece in pieces {
                        match piece {
                            Object::String(bytes, _) => self.say(encoding, bytes),
                            gap if gap.as_float().is_ok_and(|gap| gap < SPACE_THOUSANDTHS) => {
                                self.space();
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
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
