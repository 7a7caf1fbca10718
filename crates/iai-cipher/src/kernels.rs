//! The door between SQLCipher, which is C, and `pages.rs`: pointers become slices, and back.
//!
//! SQLCipher promises that a pointer it hands over points to as many bytes as it says and that
//! nobody else touches them during the call; a text and its result may be the same bytes. Every
//! `unsafe` block below leans on that and on nothing else.

#![expect(unsafe_code, reason = "C knows no slices, and calls by name")]

use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::mem::MaybeUninit;
use std::{ptr, slice};

use zeroize::Zeroize as _;

use crate::known;
use crate::pages::{self, BLOCK_BYTES, KEY_BYTES, MAC_BYTES, Way};

const OK: c_int = 0;
const FAILED: c_int = 1;
/// How SQLCipher calls HMAC-SHA-512, as a code of a page and within PBKDF2. The codes of its
/// older formats, 0 and 1, are for stores we never wrote.
const SHA512: c_int = 2;
const DECRYPT: c_int = 0;
const ENCRYPT: c_int = 1;
/// The longest key SQLCipher ever wants.
const DERIVED_BYTES_MAX: usize = 64;

unsafe extern "C" {
    /// Does its work once, and may be called from any thread.
    safe fn sqlite3_initialize() -> c_int;
}

/// Lets SQLite and SQLCipher set themselves up; whether that went well shows in opening a database.
pub fn ensure_ready() {
    sqlite3_initialize();
}

/// `sqlcipher_provider` of SQLCipher, field by field; `build.rs` watches that it stays so.
#[repr(C)]
struct Provider {
    init: Option<extern "C" fn() -> c_int>,
    shutdown: Option<extern "C" fn()>,
    name: extern "C" fn(*mut c_void) -> *const c_char,
    add_random: extern "C" fn(*mut c_void, *const c_void, c_int) -> c_int,
    random: unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int,
    hmac: Hmac,
    kdf: Kdf,
    cipher: Cipher,
    cipher_name: extern "C" fn(*mut c_void) -> *const c_char,
    key_bytes: extern "C" fn(*mut c_void) -> c_int,
    iv_bytes: extern "C" fn(*mut c_void) -> c_int,
    block_bytes: extern "C" fn(*mut c_void) -> c_int,
    hmac_bytes: extern "C" fn(*mut c_void, c_int) -> c_int,
    begin: extern "C" fn(*mut *mut c_void) -> c_int,
    end: extern "C" fn(*mut *mut c_void) -> c_int,
    fips_status: extern "C" fn(*mut c_void) -> c_int,
    version: extern "C" fn(*mut c_void) -> *const c_char,
    next: *mut Self,
}

type Bytes = *const c_uchar;
type Hmac = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    Bytes,
    c_int,
    Bytes,
    c_int,
    Bytes,
    c_int,
    *mut c_uchar,
) -> c_int;
type Kdf = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    Bytes,
    c_int,
    Bytes,
    c_int,
    c_int,
    c_int,
    *mut c_uchar,
) -> c_int;
type Cipher = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    Bytes,
    c_int,
    Bytes,
    Bytes,
    c_int,
    *mut c_uchar,
) -> c_int;

/// Fills in the provider SQLCipher made room for.
#[unsafe(no_mangle)]
unsafe extern "C" fn iai_cipher_setup(provider: *mut Provider) -> c_int {
    let ours = Provider {
        init: None,
        shutdown: None,
        name,
        add_random,
        random,
        hmac,
        kdf,
        cipher,
        cipher_name,
        key_bytes,
        iv_bytes,
        block_bytes,
        hmac_bytes,
        begin,
        end,
        fips_status,
        version,
        next: ptr::null_mut(),
    };
    if provider.is_null() {
        return FAILED;
    }
    // SAFETY: not null, as large as `Provider`, and nobody else's yet.
    unsafe { provider.write(ours) };
    OK
}

unsafe extern "C" fn random(_: *mut c_void, buffer: *mut c_void, length: c_int) -> c_int {
    let Some(n_bytes) = usize::try_from(length).ok().filter(|_| !buffer.is_null()) else {
        return FAILED;
    };
    // SAFETY: `buffer` has `length` bytes, of which nothing is assumed.
    let buffer = unsafe { slice::from_raw_parts_mut(buffer.cast::<MaybeUninit<u8>>(), n_bytes) };
    code(getrandom::fill_uninit(buffer).is_ok())
}

unsafe extern "C" fn hmac(
    _: *mut c_void,
    algorithm: c_int,
    key: Bytes,
    key_length: c_int,
    first: Bytes,
    first_length: c_int,
    second: Bytes,
    second_length: c_int,
    out: *mut c_uchar,
) -> c_int {
    // SAFETY: three texts, of which the last may be missing.
    let (key, first, second) =
        unsafe { (text(key, key_length), text(first, first_length), text(second, second_length)) };
    match (key, first) {
        (Some(key), Some(first)) if algorithm == SHA512 => {
            let mac = known::code_of(key, first, second.unwrap_or_default());
            // SAFETY: there is room for a code.
            unsafe { put(&mac, out) }
        }
        _ => FAILED,
    }
}

unsafe extern "C" fn kdf(
    _: *mut c_void,
    algorithm: c_int,
    password: Bytes,
    password_length: c_int,
    salt: Bytes,
    salt_length: c_int,
    rounds: c_int,
    key_length: c_int,
    out: *mut c_uchar,
) -> c_int {
    let mut room = [0; DERIVED_BYTES_MAX];
    let key = usize::try_from(key_length).ok().and_then(|length| room.get_mut(..length));
    let rounds = u32::try_from(rounds).ok().filter(|_| algorithm == SHA512);
    // SAFETY: two texts.
    let parts = unsafe { text(password, password_length).zip(text(salt, salt_length)) };
    let (Some(key), Some(rounds), Some((password, salt))) = (key, rounds, parts) else {
        return FAILED;
    };
    pages::derive(password, salt, rounds, key);
    // SAFETY: there is room for as long a key as was asked for.
    let done = unsafe { put(key, out) };
    room.zeroize();
    done
}

unsafe extern "C" fn cipher(
    _: *mut c_void,
    mode: c_int,
    key: Bytes,
    key_length: c_int,
    iv: Bytes,
    input: Bytes,
    length: c_int,
    out: *mut c_uchar,
) -> c_int {
    let way = match mode {
        ENCRYPT => Way::Encrypt,
        DECRYPT => Way::Decrypt,
        _ => return FAILED,
    };
    let n_bytes = usize::try_from(length).ok().filter(|_| !input.is_null() && !out.is_null());
    // SAFETY: a key, and an initial block of the length `iv_bytes` tells.
    let parts = unsafe { text(key, key_length).zip(text(iv, iv_bytes(ptr::null_mut()))) };
    let (Some(n_bytes), Some((key, iv))) = (n_bytes, parts) else {
        return FAILED;
    };
    // SAFETY: both have `length` bytes; they may be the same, which `copy` allows, and from then on
    // only `out` is looked at. Key and initial block lie elsewhere.
    let page = unsafe {
        ptr::copy(input, out, n_bytes);
        slice::from_raw_parts_mut(out, n_bytes)
    };
    code(pages::apply(way, key, iv, page).is_ok())
}

/// The system's generator needs no help.
extern "C" fn add_random(_: *mut c_void, _: *const c_void, _: c_int) -> c_int {
    OK
}

extern "C" fn name(_: *mut c_void) -> *const c_char {
    static_text(c"rustcrypto")
}

/// A length as C has it; none of ours is near its limit.
fn int(n_bytes: usize) -> c_int {
    c_int::try_from(n_bytes).unwrap_or(0)
}

extern "C" fn version(_: *mut c_void) -> *const c_char {
    static_text(c"1")
}

extern "C" fn cipher_name(_: *mut c_void) -> *const c_char {
    static_text(c"AES-256-CBC")
}

extern "C" fn key_bytes(_: *mut c_void) -> c_int {
    int(KEY_BYTES)
}

extern "C" fn iv_bytes(_: *mut c_void) -> c_int {
    int(BLOCK_BYTES)
}

extern "C" fn block_bytes(_: *mut c_void) -> c_int {
    int(BLOCK_BYTES)
}

extern "C" fn hmac_bytes(_: *mut c_void, algorithm: c_int) -> c_int {
    if algorithm == SHA512 { int(MAC_BYTES) } else { 0 }
}

/// There is nothing to keep between two calls.
extern "C" fn begin(_: *mut *mut c_void) -> c_int {
    OK
}

extern "C" fn end(_: *mut *mut c_void) -> c_int {
    OK
}

extern "C" fn fips_status(_: *mut c_void) -> c_int {
    0
}

fn static_text(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}

fn code(is_done: bool) -> c_int {
    if is_done { OK } else { FAILED }
}

/// Returns what SQLCipher points to for the time of one call; nothing where it is no text.
///
/// # Safety
/// `start` is null or points to `length` bytes that nobody changes until the call returns.
unsafe fn text<'a>(start: Bytes, length: c_int) -> Option<&'a [u8]> {
    let n_bytes = usize::try_from(length).ok().filter(|_| !start.is_null())?;
    // SAFETY: not null, and the rest is the caller's promise.
    Some(unsafe { slice::from_raw_parts(start, n_bytes) })
}

/// Writes a result where SQLCipher wants it.
///
/// # Safety
/// `out` is null or has room for `result`.
unsafe fn put(result: &[u8], out: *mut c_uchar) -> c_int {
    if out.is_null() {
        return FAILED;
    }
    // SAFETY: not null, and the rest is the caller's promise.
    unsafe { ptr::copy(result.as_ptr(), out, result.len()) };
    OK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_or_another_algorithm_is_refused() {
        let mut out = [0; MAC_BYTES];
        let (no_context, key) = (ptr::null_mut(), [7; KEY_BYTES]);
        let mut mac = |algorithm, first: Bytes, length| {
            let key = key.as_ptr();
            // SAFETY: every pointer is null or has as many bytes as is said.
            unsafe {
                hmac(
                    no_context,
                    algorithm,
                    key,
                    32,
                    first,
                    length,
                    ptr::null(),
                    0,
                    out.as_mut_ptr(),
                )
            }
        };
        assert_eq!(mac(SHA512, key.as_ptr(), 32), OK);
        assert_eq!(mac(SHA512, key.as_ptr(), -1), FAILED);
        assert_eq!(mac(SHA512, ptr::null(), 32), FAILED);
        assert_eq!(mac(0, key.as_ptr(), 32), FAILED);
        assert_eq!(out, pages::authenticate(&key, &key, &[]));
    }

    #[test]
    fn a_page_may_be_its_own_result() {
        let (key, iv) = ([1; KEY_BYTES], [2; BLOCK_BYTES]);
        let mut page = [3; 64];
        let mut apply = |mode| {
            let (start, n_bytes) = (page.as_mut_ptr(), 64);
            let (key, iv) = (key.as_ptr(), iv.as_ptr());
            // SAFETY: key, initial block and page are as long as is said.
            unsafe { cipher(ptr::null_mut(), mode, key, 32, iv, start, n_bytes, start) }
        };
        assert_eq!((apply(ENCRYPT), apply(DECRYPT), apply(2)), (OK, OK, FAILED));
        assert_eq!(page, [3; 64]);
    }

    #[test]
    fn a_longer_key_than_there_is_room_for_is_refused() {
        let mut out = [0; DERIVED_BYTES_MAX + 1];
        let mut derive = |length| {
            let (salt, out) = (b"salt".as_ptr(), out.as_mut_ptr());
            // SAFETY: salt serves as both texts, and `out` is longer than any key.
            unsafe { kdf(ptr::null_mut(), SHA512, salt, 4, salt, 4, 2, length, out) }
        };
        assert_eq!((derive(32), derive(64), derive(65), derive(-1)), (OK, OK, FAILED, FAILED));
        let mut want = [0; DERIVED_BYTES_MAX];
        pages::derive(b"salt", b"salt", 2, &mut want);
        assert_eq!(out.split_last(), Some((&0, &want[..])));
    }

    #[test]
    fn random_bytes_fill_what_was_asked_for_and_no_more() {
        let mut buffer = [0_u8; 33];
        let start = buffer.as_mut_ptr().cast();
        // SAFETY: the buffer is longer than what is asked for.
        assert_eq!(unsafe { random(ptr::null_mut(), start, 32) }, OK);
        assert_ne!(buffer[..32], [0; 32]);
        assert_eq!(buffer[32], 0);
    }
}
