//! How wide a font draws its letters, as far as a file says it.

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document, Object};

/// Letters of a font that has one byte for each.
const SIMPLE_MAX: usize = 256;
/// Numbers that tell the widths of a font that has two.
const WIDE_MAX: usize = 200_000;
/// What a letter is wide of which a font with two bytes says nothing.
const WIDE_DEFAULT: f32 = 1000.0;
/// Widths are told in thousandths of the size of a font.
const UNIT: f32 = 0.001;

/// How far the letters of a font move the pen, in parts of its size.
pub(super) struct Widths {
    n_code_bytes: usize,
    /// By the first letter of a row, the last one, and what each of them is wide.
    rows: BTreeMap<u16, (u16, f32)>,
    default: f32,
    unit: f32,
}

/// What is put between letters beside their own widths.
#[derive(Clone, Copy)]
pub(super) struct Spacing {
    pub(super) letters: f32,
    pub(super) words: f32,
    /// How much wider than high everything is drawn.
    pub(super) stretch: f32,
}

impl Widths {
    /// Reads the widths of a font; most of the fonts that every reader has tell none.
    pub(super) fn of_font(document: &Document, font: &Dictionary) -> Option<Self> {
        let subtype = font.get(b"Subtype").and_then(Object::as_name).unwrap_or_default();
        match subtype {
            b"Type0" => Self::of_wide(document, font),
            _ => Self::of_simple(document, font),
        }
    }

    fn of_simple(document: &Document, font: &Dictionary) -> Option<Self> {
        let first = font.get_deref(b"FirstChar", document).ok()?.as_i64().ok()?;
        let first = u16::try_from(first).ok()?;
        let told = font.get_deref(b"Widths", document).ok()?.as_array().ok()?;
        let rows = (first..=u16::MAX)
            .zip(told.iter().take(SIMPLE_MAX))
            .filter_map(|(code, width)| Some((code, (code, number(document, width)?))));
        let about = font.get_deref(b"FontDescriptor", document).and_then(Object::as_dict).ok();
        let missing = about.and_then(|about| number(document, about.get(b"MissingWidth").ok()?));
        // Letters that are drawn by the file itself have a unit of their own.
        let matrix = font.get_deref(b"FontMatrix", document).and_then(Object::as_array).ok();
        let unit = matrix.and_then(|matrix| number(document, matrix.first()?));
        Some(Self {
            n_code_bytes: 1,
            rows: rows.collect(),
            default: missing.unwrap_or(0.0),
            unit: unit.unwrap_or(UNIT),
        })
    }

    fn of_wide(document: &Document, font: &Dictionary) -> Option<Self> {
        // Other tables of codes have other lengths, or write from top to bottom.
        let table = font.get_deref(b"Encoding", document).and_then(Object::as_name).ok();
        table.filter(|table| *table == b"Identity-H")?;
        let below = font.get_deref(b"DescendantFonts", document).ok()?.as_array().ok()?;
        let (_, below) = document.dereference(below.first()?).ok()?;
        let below = below.as_dict().ok()?;
        let default = below.get(b"DW").ok().and_then(|width| number(document, width));
        let told = below.get_deref(b"W", document).and_then(Object::as_array).ok();
        let rows = told.map(|told| wide_rows(document, told)).unwrap_or_default();
        let default = default.unwrap_or(WIDE_DEFAULT);
        Some(Self { n_code_bytes: 2, rows, default, unit: UNIT })
    }

    /// Returns how far these letters move the pen.
    pub(super) fn advance(&self, letters: &[u8], size: f32, spacing: Spacing) -> f32 {
        let codes = letters.chunks(self.n_code_bytes);
        let advances = codes.map(|code| {
            let is_blank = code == b" ";
            let code = code.iter().fold(0, |code, byte| code << 8 | u16::from(*byte));
            let words = if is_blank { spacing.words } else { 0.0 };
            self.width(code) * self.unit * size + spacing.letters + words
        });
        advances.sum::<f32>() * spacing.stretch
    }

    fn width(&self, code: u16) -> f32 {
        let row = self.rows.range(..=code).next_back();
        row.filter(|(_, (last, _))| code <= *last).map_or(self.default, |(_, (_, width))| *width)
    }
}

/// Reads `first [width …]` and `first last width`, as many as there are.
fn wide_rows(document: &Document, told: &[Object]) -> BTreeMap<u16, (u16, f32)> {
    let code = |object: &Object| {
        let (_, object) = document.dereference(object).ok()?;
        u16::try_from(object.as_i64().ok()?).ok()
    };
    let mut rows = BTreeMap::new();
    let (mut rest, mut n_left) = (told, WIDE_MAX);
    while let [first, second, behind @ ..] = rest {
        let Some(first) = code(first) else { break };
        let each = document.dereference(second).ok().and_then(|(_, each)| each.as_array().ok());
        let n_told = each.map_or(1, Vec::len);
        // A list may be told again and again; what it costs is bounded all the same.
        let Some(n) = n_left.checked_sub(n_told) else { break };
        n_left = n;
        if let Some(each) = each {
            let widths = (first..=u16::MAX).zip(each);
            let widths = widths.filter_map(|(code, width)| Some((code, number(document, width)?)));
            rows.extend(widths.map(|(code, width)| (code, (code, width))));
            rest = behind;
            continue;
        }
        let [width, behind @ ..] = behind else { break };
        let (Some(last), Some(width)) = (code(second), number(document, width)) else { break };
        rows.insert(first, (last, width));
        rest = behind;
    }
    rows
}

fn number(document: &Document, object: &Object) -> Option<f32> {
    document.dereference(object).ok().and_then(|(_, number)| number.as_float().ok())
}
