//! PDF: the text layer of its pages, by the page.
//!
//! The parser bounds each stream; what all of them cost together is bounded by `contained.rs`.

mod drawn;
mod widths;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lopdf::content::Content;
use lopdf::{Document, LoadOptions, ObjectId};

use self::drawn::{Drawn, Font};
use self::widths::Widths;
use super::split::{Section, Shape, of_section};
use super::{Part, Passage, Refusal};

/// What one stream may unpack to: the words of a page, or a table of objects.
const STREAM_BYTES_MAX: usize = 8 * 1024 * 1024;
/// What the words of all pages may unpack to.
const PAGES_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Pages of one file.
const PAGES_MAX: usize = 5_000;

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
    let mut fonts = BTreeMap::new();
    for (name, font) in document.get_page_fonts(page).unwrap_or_default() {
        let encoding = font.get_font_encoding_with_limit(document, STREAM_BYTES_MAX).ok();
        fonts.insert(name, Font { encoding, widths: Widths::of_font(document, font) });
    }
    let Ok(content) = Content::decode(&content) else { return Ok(String::new()) };
    let mut drawn = Drawn::new();
    let mut font: Option<&Font<'_>> = None;
    for operation in &content.operations {
        let operator = operation.operator.as_str();
        drawn.turn(operator, &operation.operands);
        match operator {
            "Tf" => {
                let name = operation.operands.first().and_then(|name| name.as_name().ok());
                font = name.and_then(|name| fonts.get(name));
            }
            "Tj" | "TJ" | "'" | "\"" => {
                operation.operands.last().into_iter().for_each(|shown| drawn.show(shown, font));
            }
            _ => {}
        }
    }
    Ok(drawn.text)
}
