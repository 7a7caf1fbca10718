//! Logins written as one value: `user:password` in base64, and addresses that open by themselves.

use super::named::value_at;
use super::{Found, n_distinct};

/// A login has at least so many letters of base64, its password so many of its own.
const LOGIN_BYTES_MIN: usize = 12;
const PASSWORD_BYTES_MIN: usize = 6;
/// A signature of 256 bits in base64, without what fills it up.
const SIGNATURE_BYTES_MIN: usize = 43;

/// `"auth": "…"`, as programs that fetch images keep a login.
pub(super) fn in_base64(text: &str, start: usize) -> Option<Found> {
    let (range, _) = value_at(text, start)?;
    let told = text.get(range.clone())?;
    if told.len() < LOGIN_BYTES_MIN || !told.len().is_multiple_of(4) {
        return None;
    }
    let login = decoded(told)?;
    let (user, password) = login.split_once(':')?;
    let is_plain = password.bytes().all(|byte| byte.is_ascii_graphic());
    let is_login = !user.is_empty() && PASSWORD_BYTES_MIN <= password.len() && is_plain;
    is_login.then_some(Found { kind: "authorization", range })
}

fn decoded(base64: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(base64.len());
    let (mut bits, mut n_bits) = (0_u32, 0);
    for byte in base64.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if 8 <= n_bits {
            n_bits -= 8;
            bytes.push(u8::try_from(bits >> n_bits & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

/// `&sig=…` of an address that opens something without a login.
pub(super) fn signature(text: &str, start: usize) -> Option<Found> {
    let (range, _) = value_at(text, start)?;
    let end = text.get(range.clone())?.find('&').map_or(range.end, |at| range.start + at);
    let told = text.get(range.start..end)?;
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || b"%+/=-_".contains(&byte);
    let fits = SIGNATURE_BYTES_MIN <= told.len() && told.bytes().all(is_in);
    let is_drawn = fits && n_distinct(told) >= 16;
    is_drawn.then_some(Found { kind: "signed-address", range: range.start..end })
}
