//! What SQLCipher does to a page, over slices: encrypt, authenticate, derive a key.

use aes::cipher::array::Array;
use aes::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use aes::{Aes256Dec, Aes256Enc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha512;

/// Bytes of a key of AES-256.
pub(crate) const KEY_BYTES: usize = 32;
/// Bytes of a block of AES, which is also what begins a chain of them.
pub(crate) const BLOCK_BYTES: usize = 16;
/// Bytes of an HMAC-SHA-512.
pub(crate) const MAC_BYTES: usize = 64;

/// A key, an initial block or a text is not as long as it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongLength;

/// Which way a page goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Encrypt,
    Decrypt,
}

/// `cbc[key, iv](text)`: AES-256-CBC without padding, in place. `iv` must never repeat under one
/// `key` when encrypting; SQLCipher draws it fresh for every page it writes.
pub(crate) fn apply(way: Way, key: &[u8], iv: &[u8], text: &mut [u8]) -> Result<(), WrongLength> {
    let (blocks, rest) = Array::slice_as_chunks_mut(text);
    if !rest.is_empty() {
        return Err(WrongLength);
    }
    match way {
        Way::Encrypt => cbc::Encryptor::<Aes256Enc>::new_from_slices(key, iv)
            .map_err(|_| WrongLength)?
            .encrypt_blocks(blocks),
        Way::Decrypt => cbc::Decryptor::<Aes256Dec>::new_from_slices(key, iv)
            .map_err(|_| WrongLength)?
            .decrypt_blocks(blocks),
    }
    Ok(())
}

/// `hmac-sha-512[key](first ‖ second)`. A key of any length will do.
pub(crate) fn authenticate(key: &[u8], first: &[u8], second: &[u8]) -> [u8; MAC_BYTES] {
    let mut mac = Hmac::<Sha512>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(first);
    mac.update(second);
    mac.finalize().into_bytes().into()
}

/// `pbkdf2-hmac-sha-512[password, salt, rounds]`. `salt` must not repeat between databases.
pub(crate) fn derive(password: &[u8], salt: &[u8], rounds: u32, key: &mut [u8]) {
    pbkdf2::pbkdf2_hmac::<Sha512>(password, salt, rounds, key);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<char> = hex.chars().filter(|digit| !digit.is_whitespace()).collect();
        let pair = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16);
        digits.chunks(2).map(|digits| pair(digits).unwrap()).collect()
    }

    /// NIST SP 800-38A, F.2.5 and F.2.6.
    #[test]
    fn pages_are_encrypted_as_published() {
        let key = bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
        let iv = bytes("000102030405060708090a0b0c0d0e0f");
        let clear = bytes(
            "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51
             30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710",
        );
        let sealed = bytes(
            "f58c4c04d6e5f1ba779eabfb5f7bfbd6 9cfc4e967edb808d679f777bc6702c7d
             39f23369a9d9bacfa530e26304231461 b2eb05e2c39be9fcda6c19078c6a9d1b",
        );
        let mut text = clear.clone();
        apply(Way::Encrypt, &key, &iv, &mut text).unwrap();
        assert_eq!(text, sealed);
        apply(Way::Decrypt, &key, &iv, &mut text).unwrap();
        assert_eq!(text, clear);
    }

    /// RFC 4231, test cases 2 and 3, cut in two as a page and its number are.
    #[test]
    fn pages_are_authenticated_as_published() {
        let mac = authenticate(b"Jefe", b"what do ya want ", b"for nothing?");
        let want = "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554
                    9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737";
        assert_eq!(mac.to_vec(), bytes(want));
        let mac = authenticate(&[0xaa; 20], &[0xdd; 50], &[]);
        let want = "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39
                    bf3e848279a722c806b485a47e67c807b946a337bee8942674278859e13292fb";
        assert_eq!(mac.to_vec(), bytes(want));
    }

    /// Computed by another implementation: `hashlib.pbkdf2_hmac("sha512", …)`.
    #[test]
    fn keys_are_derived_as_elsewhere() {
        let mut key = [0; 64];
        derive(b"password", b"salt", 2, &mut key);
        assert_eq!(key.to_vec(), bytes(DERIVED));
    }

    const DERIVED: &str = "\
        e1d9c16aa681708a45f5c7c4e215ceb66e011a2e9f0040713f18aefdb866d53c\
        f76cab2868a39b9f7840edce4fef5a82be67335c77a6068e04112754f27ccf4e";

    #[test]
    fn wrong_lengths_are_refused() {
        let (key, iv) = ([0; KEY_BYTES], [0; BLOCK_BYTES]);
        let check = |key: &[u8], iv: &[u8], n_bytes: usize| {
            let mut text = vec![0; n_bytes];
            apply(Way::Decrypt, key, iv, &mut text)
        };
        assert_eq!(check(&key, &iv, 32), Ok(()));
        assert_eq!(check(&key, &iv, 0), Ok(()));
        assert_eq!(check(&key, &iv, 31), Err(WrongLength));
        assert_eq!(check(&key[1..], &iv, 32), Err(WrongLength));
        assert_eq!(check(&key, &iv[1..], 32), Err(WrongLength));
    }
}
