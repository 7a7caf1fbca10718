//! Secrets in a cell of their own: tables of Markdown, columns behind tabs, lines of `.pgpass`, and
//! the file that AWS gives out with a new key.

use super::spoken::drawn_at;
use super::tokens::Letters;
use super::{Found, is_random, named, names, run, told};

/// What belongs to the id of a key of AWS has this length.
const AWS_SECRET_BYTES: usize = 40;
/// The fields of a line of `.pgpass` before the password: host, port, database, user.
const PGPASS_FIELDS: usize = 4;

/// `| DB_PASSWORD | … |`, with `at` on the sign between the cells.
pub(super) fn cell(text: &str, at: usize) -> Option<Found> {
    let before = text.get(..at)?.trim_end_matches([' ', '\t']);
    if !names::ends_like_a_name(before) {
        return None;
    }
    let name = names::name_before(before).filter(|name| names::is_secret_name(name))?;
    let found = drawn_at(text, at + 1, &name)?;
    let behind = text.get(found.range.end..)?.trim_start_matches(['`', '"', '\'', ' ', '\t']);
    // Nothing else stands in the cell.
    (behind.is_empty() || behind.starts_with(['|', '\r', '\n'])).then_some(found)
}

/// `DB_PASSWORD` and, behind a tab, its value; with `at` on the tab.
pub(super) fn column(text: &str, at: usize) -> Option<Found> {
    let before = text.get(..at)?;
    if before.ends_with(['\t', '\n']) || !names::ends_like_a_name(before) {
        return None;
    }
    let name = names::name_before(before).filter(|name| names::is_secret_name(name))?;
    drawn_at(text, at + 1, &name)
}

/// `host:5432:database:user:…`, with `at` on the last colon.
pub(super) fn pgpass(text: &str, at: usize) -> Option<Found> {
    let line = named::last_line(text.get(..at).filter(|_| told::may_be_drawn(text, at + 1))?);
    let mut fields = line.split(':');
    let port = fields.clone().nth(1)?;
    let is_port = port == "*" || (!port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    let is_field = |field: &str| !field.is_empty() && !field.contains([' ', '\t', '"', '/']);
    let fits = is_port && fields.clone().count() == PGPASS_FIELDS && fields.all(is_field);
    let found = fits.then(|| drawn_at(text, at + 1, "password")).flatten()?;
    let behind = text.get(found.range.end..)?;
    (behind.is_empty() || behind.starts_with(['\r', '\n'])).then_some(found)
}

/// Secrets that stand right behind the ids of their keys, in the next column.
pub(super) fn beside_ids(text: &str, all: &[Found]) -> Vec<Found> {
    let ids = all.iter().filter(|found| found.kind == "aws-key-id");
    let beside = ids.filter_map(|id| {
        let rest = text.get(id.range.end..)?;
        let value = rest.trim_start_matches(['"', '\'']).trim_start_matches([',', '\t', ' ', '|']);
        let value = value.trim_start_matches(['"', '\'']);
        let is_in = |byte: u8| Letters::Plain.has(byte) || matches!(byte, b'/' | b'+');
        let n = run(value.as_bytes(), 0, is_in);
        let start = text.len() - value.len();
        let is_apart = value.len() < rest.len();
        let fits = is_apart && n == AWS_SECRET_BYTES && is_random(value.get(..n)?);
        fits.then_some(Found { kind: "named-secret", range: start..start + n })
    });
    beside.collect()
}
