//! Codes of pages, kept for a while.
//!
//! After every commit SQLite's readers drop the pages they hold, and nearly all of them come back
//! from the file as they were. Comparing a page costs a twentieth of hashing it. A code is a
//! function of key, page and number alone, so that one changed bit still means hashing anew.

use std::sync::{LazyLock, Mutex, PoisonError};

use sha2::{Digest as _, Sha512};

use crate::pages::{MAC_BYTES, authenticate};

/// Pages kept, each in the place its number gives it: four megabytes where all are in use.
const PAGES_MAX: usize = 1024;
/// Larger pages are not kept.
const PAGE_BYTES_MAX: usize = 4096;
/// Bytes of a page's number.
const NUMBER_BYTES: usize = 4;
/// Bytes of what stands for a key: the key itself has no business here.
const KEY_DIGEST_BYTES: usize = 32;

static KNOWN: LazyLock<Known> = LazyLock::new(Known::default);

/// `hmac-sha-512[key](page ‖ number)`, by memory where the same was asked lately.
pub(crate) fn code_of(key: &[u8], page: &[u8], number: &[u8]) -> [u8; MAC_BYTES] {
    KNOWN.code_of(key, page, number)
}

struct Known {
    places: Vec<Mutex<Option<Page>>>,
}

struct Page {
    key_digest: [u8; KEY_DIGEST_BYTES],
    number: [u8; NUMBER_BYTES],
    bytes: Vec<u8>,
    code: [u8; MAC_BYTES],
}

impl Default for Known {
    fn default() -> Self {
        Self { places: (0..PAGES_MAX).map(|_| Mutex::default()).collect() }
    }
}

impl Known {
    fn code_of(&self, key: &[u8], page: &[u8], number: &[u8]) -> [u8; MAC_BYTES] {
        let Some((number, place)) = self.place_of(page, number) else {
            return authenticate(key, page, number);
        };
        let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
        let key_digest = digest(key);
        if let Some(same) = kept.as_ref().filter(|kept| kept.is(key_digest, page, number)) {
            return same.code;
        }
        let code = authenticate(key, page, &number);
        let mut bytes = kept.take().map(|old| old.bytes).unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(page);
        *kept = Some(Page { key_digest, number, bytes, code });
        code
    }

    /// Returns the number and where such a page is kept; nothing for what is no page.
    fn place_of(
        &self,
        page: &[u8],
        number: &[u8],
    ) -> Option<([u8; NUMBER_BYTES], &Mutex<Option<Page>>)> {
        let number: [u8; NUMBER_BYTES] = number.try_into().ok()?;
        let place = usize::try_from(u32::from_le_bytes(number)).ok()? % PAGES_MAX;
        self.places.get(place).filter(|_| page.len() <= PAGE_BYTES_MAX).map(|kept| (number, kept))
    }
}

impl Page {
    fn is(&self, key: [u8; KEY_DIGEST_BYTES], page: &[u8], number: [u8; NUMBER_BYTES]) -> bool {
        self.key_digest == key && self.number == number && self.bytes == page
    }
}

fn digest(key: &[u8]) -> [u8; KEY_DIGEST_BYTES] {
    let mut digest = [0; KEY_DIGEST_BYTES];
    digest.iter_mut().zip(Sha512::digest(key)).for_each(|(to, from)| *to = from);
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(page: u32) -> [u8; NUMBER_BYTES] {
        page.to_le_bytes()
    }

    #[test]
    fn a_code_is_the_same_by_memory_and_another_for_every_changed_part() {
        let known = Known::default();
        let (key, page) = ([7; 32], vec![1; 4032]);
        let code = known.code_of(&key, &page, &number(5));
        assert_eq!(code, authenticate(&key, &page, &number(5)));
        assert_eq!(known.code_of(&key, &page, &number(5)), code);
        for place in [0, 2000, 4031] {
            let mut flipped = page.clone();
            flipped[place] ^= 1;
            let other = known.code_of(&key, &flipped, &number(5));
            assert_eq!(other, authenticate(&key, &flipped, &number(5)));
            assert_ne!(other, code);
        }
        assert_ne!(known.code_of(&[8; 32], &page, &number(5)), code);
        let same_place = 5 + u32::try_from(PAGES_MAX).unwrap();
        assert_ne!(known.code_of(&key, &page, &number(same_place)), code);
        assert_ne!(known.code_of(&key, &page[1..], &number(5)), code);
        assert_eq!(known.code_of(&key, &page, &number(5)), code);
    }

    #[test]
    fn what_was_asked_lately_is_not_hashed_again() {
        let known = Known::default();
        let (key, page) = ([7; 32], [1; 64]);
        known.code_of(&key, &page, &number(3));
        let forged = [9; MAC_BYTES];
        known.places[3].lock().unwrap().as_mut().unwrap().code = forged;
        assert_eq!(known.code_of(&key, &page, &number(3)), forged);
    }

    #[test]
    fn what_is_no_page_is_not_kept() {
        let known = Known::default();
        for (page, number) in [(vec![1; PAGE_BYTES_MAX + 1], &[0; 4][..]), (vec![1; 9], &[])] {
            assert_eq!(known.code_of(&[7], &page, number), authenticate(&[7], &page, number));
        }
        assert!(known.places.iter().all(|place| place.lock().unwrap().is_none()));
    }
}
