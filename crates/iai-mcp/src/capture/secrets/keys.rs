//! Private keys, as files have them and as people paste them: quoted, numbered, indented, in code.

use super::{Found, run};

/// The words between `BEGIN` and the dashes.
const LABEL_BYTES_MAX: usize = 40;
/// Fewer letters than this are not a key: somebody talks about keys.
const KEY_LETTERS_MIN: usize = 40;
/// A key that was cut off goes on while its lines have at least so many letters.
const KEY_LINE_MIN: usize = 20;
/// Before a line of a key stand at most so many signs: of a quotation, a number, a diff, code.
const MARGIN_BYTES_MAX: usize = 16;
/// Lines between `BEGIN` and the key that say how it is kept.
const HEADERS_MAX: usize = 6;

/// `-----BEGIN … PRIVATE KEY-----` up to its end, or as far as the lines of a key go.
pub(super) fn private_key(text: &str, at: usize) -> Option<Found> {
    let rest = text.get(at..)?;
    let head = rest.strip_prefix("-----BEGIN ")?;
    let n_label = run(head.as_bytes(), 0, |byte| byte != b'-');
    let label = head.get(..n_label).filter(|label| label.len() <= LABEL_BYTES_MAX)?;
    let body = head.get(n_label..)?.strip_prefix("-----")?;
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let begun = rest.len() - body.len();
    let n_headers = n_header_bytes(body);
    let n_lines = n_headers + n_key_lines(body.get(n_headers..)?);
    let drawn = body.get(n_headers..n_lines)?;
    let n_drawn = drawn.bytes().filter(u8::is_ascii_alphanumeric).count();
    let closing = format!("-----END {label}-----");
    let behind = body.get(n_lines..)?;
    let is_near = |n: &usize| behind.get(*n..).is_some_and(|from| from.starts_with(&closing));
    let n_closing = (0..MARGIN_BYTES_MAX + 4).find(is_near).map_or(0, |n| n + closing.len());
    let range = at..at + begun + n_lines + n_closing;
    (KEY_LETTERS_MIN <= n_drawn).then_some(Found { kind: "private-key", range })
}

/// What `PuTTY` writes below `Private-Lines:`.
pub(super) fn of_putty(text: &str) -> Vec<Found> {
    let all = text.match_indices("Private-Lines:").filter_map(|(at, name)| {
        let body = text.get(at + name.len()..)?;
        let n_number = body.bytes().take(MARGIN_BYTES_MAX).position(|byte| byte == b'\n')?;
        let start = at + name.len() + n_number;
        let n_lines = n_key_lines(text.get(start..)?);
        let range = start..start + n_lines;
        (KEY_LINE_MIN <= n_lines).then_some(Found { kind: "private-key", range })
    });
    all.collect()
}

/// `Proc-Type: 4,ENCRYPTED` and the like, and the empty line behind them.
fn n_header_bytes(body: &str) -> usize {
    let mut end = 0;
    for line in body.split_inclusive('\n').skip(1).take(HEADERS_MAX) {
        let (name, _) = line.split_once(": ").unwrap_or_default();
        let is_header =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
        if !is_header {
            break;
        }
        let begun = if end == 0 { body.find('\n').map_or(0, |at| at + 1) } else { end };
        end = begun + line.len();
    }
    end
}

/// Returns how far the lines of a key go; the last one may be short.
fn n_key_lines(body: &str) -> usize {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let mut end = 0;
    let mut is_last = false;
    while !is_last {
        let gap = n_margin_bytes(body.get(end..).unwrap_or_default());
        let n = run(body.as_bytes(), end + gap, is_letter);
        is_last = n < KEY_LINE_MIN;
        // A word is no line of a key, but what is left of one is.
        let next = body.as_bytes().get(end + gap + n);
        let is_ended = matches!(next, None | Some(b'\n' | b'\\' | b'\r' | b'"' | b'\''));
        if n == 0 || (is_last && !is_ended) {
            break;
        }
        end += gap + n;
    }
    end
}

/// Returns how much stands between two lines of a key: the end of one, also written out as inside
/// a string, and what stands before the next.
fn n_margin_bytes(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let n_tail = run(bytes, 0, |byte| b"\"',;+ \t".contains(&byte)).min(MARGIN_BYTES_MAX);
    let ended = rest.get(n_tail..).unwrap_or_default();
    let n_end = ["\\r\\n", "\\n", "\r\n", "\n"]
        .iter()
        .find_map(|end| ended.starts_with(end).then_some(end.len()));
    let Some(n_end) = n_end else {
        return run(bytes, 0, |byte| byte.is_ascii_whitespace());
    };
    let start = n_tail + n_end;
    let is_sign = |byte: u8| byte.is_ascii_whitespace() || b">|#*\"':".contains(&byte);
    let n_signs = run(bytes, start, is_sign);
    // A number before the line, and what divides them.
    let n_digits = run(bytes, start + n_signs, |byte| byte.is_ascii_digit());
    let n_divides = run(bytes, start + n_signs + n_digits, is_sign);
    let is_numbered = (1..=6).contains(&n_digits) && 0 < n_divides;
    start + n_signs + if is_numbered { n_digits + n_divides } else { 0 }
}
