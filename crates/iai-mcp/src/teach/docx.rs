//! Word documents: a zip archive with XML in it, read with a limit on everything it may unpack to.

use std::io::{Cursor, Read as _};

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use zip::ZipArchive;

use super::split::{Section, Shape, of_section};
use super::{Part, Passage, Refusal};

/// What the text of a document may unpack to.
const DOCUMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Text packs to about a tenth; nothing that is written by people packs to this share.
const RATIO_MAX: u64 = 200;
/// Below this size no ratio is suspicious.
const RATIO_BYTES_MIN: u64 = 1024 * 1024;
/// Parts of one archive.
const PARTS_MAX: usize = 10_000;
/// Where the words are.
const DOCUMENT: &str = "word/document.xml";
/// What is kept of a heading's words.
const HEADING_CHARS_MAX: usize = 120;

/// Cuts a document into passages, by its headings.
pub(super) fn passages(bytes: &[u8]) -> Result<Vec<Passage>, Refusal> {
    let xml = document_of(bytes)?;
    let mut sections = Sections::default();
    let mut reader = Reader::from_str(&xml);
    loop {
        match reader.read_event().map_err(Refusal::broken)? {
            Event::Start(tag) => sections.open(&tag),
            Event::Empty(tag) => sections.stand_alone(&tag),
            Event::End(tag) => sections.close(tag.local_name().as_ref()),
            Event::Text(text) => sections.say(&text.xml10_content()),
            Event::CData(text) => sections.say(&text.xml10_content()),
            Event::GeneralRef(name) => sections.say(&letter_of(&name)?),
            Event::DocType(_) => return Err(Refusal::Entities),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    sections.end_section();
    Ok(sections.passages)
}

/// Unpacks the one part that holds the words.
fn document_of(bytes: &[u8]) -> Result<String, Refusal> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(Refusal::broken)?;
    if PARTS_MAX < archive.len() {
        return Err(Refusal::broken(format_args!("it has {} parts", archive.len())));
    }
    let names: Vec<String> =
        archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if let Some(name) = names.into_iter().find(|name| points_outside(name)) {
        let name = name.chars().take(HEADING_CHARS_MAX).collect();
        return Err(Refusal::Path { name });
    }
    check_claims(&mut archive, bytes.len() as u64)?;
    let part = archive.by_name(DOCUMENT).map_err(|error| match error {
        zip::result::ZipError::FileNotFound => {
            Refusal::broken(format_args!("it has no {DOCUMENT}"))
        }
        error if error.to_string().to_lowercase().contains("password") => Refusal::Encrypted,
        error => Refusal::broken(error),
    })?;
    // What the archive says of its size is only a claim; what comes out of it is counted.
    let packed = part.compressed_size().max(1);
    let max = DOCUMENT_BYTES_MAX.min(packed.saturating_mul(RATIO_MAX).max(RATIO_BYTES_MIN));
    let mut unpacked = Vec::new();
    part.take(max + 1).read_to_end(&mut unpacked).map_err(Refusal::broken)?;
    if max < unpacked.len() as u64 {
        return Err(Refusal::Bomb { max, ratio: RATIO_MAX });
    }
    String::from_utf8(unpacked).map_err(|_| Refusal::Encoding)
}

/// The other parts are not unpacked; one that says of itself that it bursts is still a trap.
fn check_claims(archive: &mut ZipArchive<Cursor<&[u8]>>, n_bytes: u64) -> Result<(), Refusal> {
    let mut claimed = 0_u64;
    for place in 0..archive.len() {
        let part = archive.by_index_raw(place).map_err(Refusal::broken)?;
        claimed = claimed.saturating_add(part.size());
    }
    let max = DOCUMENT_BYTES_MAX.max(n_bytes.saturating_mul(RATIO_MAX));
    match max < claimed {
        true => Err(Refusal::Bomb { max, ratio: RATIO_MAX }),
        false => Ok(()),
    }
}

/// Nothing is unpacked to a disk here; an archive that tries is still not one to learn from.
fn points_outside(name: &str) -> bool {
    let is_absolute = name.starts_with(['/', '\\']) || name.get(1..2) == Some(":");
    is_absolute || name.split(['/', '\\']).any(|part| part == "..") || name.contains('\0')
}

/// Only the five entities of XML and numbers mean something without a document type.
fn letter_of(name: &quick_xml::events::BytesRef<'_>) -> Result<String, Refusal> {
    if let Some(letter) = name.resolve_char_ref().map_err(Refusal::broken)? {
        return Ok(letter.to_string());
    }
    match name.as_ref() {
        "amp" => Ok("&".to_owned()),
        "lt" => Ok("<".to_owned()),
        "gt" => Ok(">".to_owned()),
        "quot" => Ok("\"".to_owned()),
        "apos" => Ok("'".to_owned()),
        _ => Err(Refusal::Entities),
    }
}

/// The text so far: paragraphs of the section that is being read, and what is finished.
#[derive(Default)]
struct Sections {
    passages: Vec<Passage>,
    /// Headings above, each with its level.
    path: Vec<(usize, String)>,
    text: String,
    paragraph: String,
    /// The level of the heading the paragraph is, if it is one.
    level: Option<usize>,
    /// Inside a run of letters that are shown.
    is_shown: bool,
}

impl Sections {
    fn open(&mut self, tag: &BytesStart<'_>) {
        match tag.local_name().as_ref() {
            "p" => {
                self.paragraph.clear();
                self.level = None;
            }
            "t" => self.is_shown = true,
            "pStyle" => self.level = level_of(tag),
            _ => {}
        }
    }

    fn stand_alone(&mut self, tag: &BytesStart<'_>) {
        match tag.local_name().as_ref() {
            "tab" => self.paragraph.push('\t'),
            "br" | "cr" => self.paragraph.push('\n'),
            "pStyle" => self.level = level_of(tag),
            _ => {}
        }
    }

    fn say(&mut self, words: &str) {
        if self.is_shown {
            self.paragraph.push_str(words);
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.is_shown = false,
            "p" => self.end_paragraph(),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        if paragraph.trim().is_empty() {
            return;
        }
        if let Some(level) = self.level.take() {
            self.end_section();
            self.path.retain(|(above, _)| *above < level);
            let words = paragraph.trim().chars().take(HEADING_CHARS_MAX).collect();
            self.path.push((level, words));
        }
        self.text.push_str(paragraph.trim_end());
        self.text.push_str("\n\n");
    }

    fn end_section(&mut self) {
        let text = std::mem::take(&mut self.text);
        let headings = self.path.iter().map(|(_, words)| words.clone()).collect();
        let part = Part { headings, ..Part::default() };
        let section = Section { text: &text, first_line: None, part, shape: Shape::Prose };
        self.passages.extend(of_section(&section));
    }
}

/// `Heading2` is of level 2; a title stands above them all.
fn level_of(tag: &BytesStart<'_>) -> Option<usize> {
    let value = tag.try_get_attribute("w:val").ok()??;
    let style = value.value.to_lowercase();
    match style.strip_prefix("heading") {
        Some(level) => level.trim().parse().ok().filter(|level| (1..=9).contains(level)),
        None => (style == "title").then_some(0),
    }
}
