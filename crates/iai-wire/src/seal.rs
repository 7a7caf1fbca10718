//! Seals spool lines to the daemon, so that a hook needs no secret and a waiting turn is
//! ciphertext.
//!
//! `HPKE[X25519, HKDF-SHA256]` (RFC 9180, base mode) agrees on one key per append; each line is
//! then
//! `ChaCha20-Poly1305[key, nonce = n](line)`. A fresh key agreement per append is what lets `n`
//! start at 0: the pair (key, n) must never repeat, and no key is used by two appends.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use hpke::aead::ExportOnlyAead;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable as _, Kem, OpModeR, OpModeS, Serializable as _};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zeroize::Zeroizing;

/// The name of the whole construction, written into every sealed file.
pub(crate) const SUITE: &str = "hpke-x25519-hkdf-sha256-chacha20poly1305";

const PUBLIC_PREFIX: &str = "iai-spool-x25519:v1:";
/// How many bytes of the key's hash stand behind it, a blank for each bit.
const CHECKSUM_BYTES: usize = 4;
const KEY_NAME_CHARS: usize = 12;
const INFO: &[u8] = b"iai-mcp spool v2";
const EXPORT_LABEL: &[u8] = b"spool lines";
const LINE_LABEL: &[u8] = b"iai-mcp spool line";

/// Why something could not be sealed or opened.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SealError {
    /// The public key file does not hold a key, or another than was written.
    #[error(
        "the spool's public key is malformed or was changed; `iai-mcp daemon restart` writes it \
         again"
    )]
    BadPublicKey,
    /// The line was sealed to another key, or its bytes changed.
    #[error("the line was sealed to another store's key or is damaged")]
    CannotOpen,
}

/// The public half: anyone holding it can seal, nobody can open with it.
#[derive(Clone, Debug)]
pub struct SealingKey(<X25519HkdfSha256 as Kem>::PublicKey);

/// The private half, which only the daemon holds.
pub struct OpeningKey(<X25519HkdfSha256 as Kem>::PrivateKey);

impl std::fmt::Debug for OpeningKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("OpeningKey(…)")
    }
}

impl SealingKey {
    /// Reads the key from the text of the public key file. What is sealed to a key that was changed
    /// nobody opens again, so its checksum must fit; programs before 0.10 wrote none.
    pub fn parse(text: &str) -> Result<Self, SealError> {
        let line = text.trim_end_matches(['\r', '\n']);
        let key = line.trim_end();
        let encoded = key.strip_prefix(PUBLIC_PREFIX).ok_or(SealError::BadPublicKey)?;
        let bytes = BASE64.decode(encoded).map_err(|_| SealError::BadPublicKey)?;
        let checksum = line.get(key.len()..).unwrap_or_default();
        if !checksum.is_empty() && checksum != blanks_for(&bytes) {
            return Err(SealError::BadPublicKey);
        }
        let key = <X25519HkdfSha256 as Kem>::PublicKey::from_bytes(&bytes);
        key.map(Self).map_err(|_| SealError::BadPublicKey)
    }

    /// Returns a short name of the key, so that a reader knows whether a file is meant for it.
    pub fn name(&self) -> String {
        key_name(&self.0)
    }

    /// Agrees on a fresh key. Returns what seals lines, and the share the reader needs.
    pub(crate) fn begin(&self) -> Result<(LineSealer, String), SealError> {
        let (share, context) = hpke::setup_sender::<ExportOnlyAead, HkdfSha256, X25519HkdfSha256>(
            &OpModeS::Base,
            &self.0,
            INFO,
        )
        .map_err(|_| SealError::BadPublicKey)?;
        let mut key = Zeroizing::new([0; 32]);
        context.export(EXPORT_LABEL, key.as_mut()).map_err(|_| SealError::BadPublicKey)?;
        let cipher = ChaCha20Poly1305::new((&*key).into());
        Ok((LineSealer { cipher, n_sealed: 0 }, BASE64.encode(share.to_bytes())))
    }
}

impl OpeningKey {
    /// Takes the private key's bytes as the vault keeps them.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, SealError> {
        let key = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(bytes);
        key.map(Self).map_err(|_| SealError::CannotOpen)
    }

    /// Returns the name of the public key that belongs to this one.
    pub(crate) fn name(&self) -> String {
        key_name(&X25519HkdfSha256::sk_to_pk(&self.0))
    }

    pub(crate) fn begin(&self, share: &str) -> Result<LineOpener, SealError> {
        let share = BASE64.decode(share).map_err(|_| SealError::CannotOpen)?;
        let share = <X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(&share)
            .map_err(|_| SealError::CannotOpen)?;
        let context = hpke::setup_receiver::<ExportOnlyAead, HkdfSha256, X25519HkdfSha256>(
            &OpModeR::Base,
            &self.0,
            &share,
            INFO,
        )
        .map_err(|_| SealError::CannotOpen)?;
        let mut key = Zeroizing::new([0; 32]);
        context.export(EXPORT_LABEL, key.as_mut()).map_err(|_| SealError::CannotOpen)?;
        Ok(LineOpener { cipher: ChaCha20Poly1305::new((&*key).into()) })
    }
}

/// Seals the lines of one append.
pub(crate) struct LineSealer {
    cipher: ChaCha20Poly1305,
    n_sealed: u64,
}

impl LineSealer {
    /// Returns the line's number and its ciphertext.
    pub(crate) fn seal(&mut self, line: &[u8]) -> Result<(u64, String), SealError> {
        let n = self.n_sealed;
        let sealed = self
            .cipher
            .encrypt(&nonce(n), Payload { msg: line, aad: LINE_LABEL })
            .map_err(|_| SealError::CannotOpen)?;
        self.n_sealed += 1;
        Ok((n, BASE64.encode(sealed)))
    }
}

/// Opens the lines of one append, in any order.
pub(crate) struct LineOpener {
    cipher: ChaCha20Poly1305,
}

impl LineOpener {
    pub(crate) fn open(&self, n: u64, sealed: &str) -> Result<Vec<u8>, SealError> {
        let sealed = BASE64.decode(sealed).map_err(|_| SealError::CannotOpen)?;
        self.cipher
            .decrypt(&nonce(n), Payload { msg: &sealed, aad: LINE_LABEL })
            .map_err(|_| SealError::CannotOpen)
    }
}

fn key_name(public: &<X25519HkdfSha256 as Kem>::PublicKey) -> String {
    BASE64.encode(public.to_bytes()).chars().take(KEY_NAME_CHARS).collect()
}

/// The checksum behind a public key: one bit of its hash after the other, a tab for 1 and a space
/// for 0, which earlier programs pass over.
fn blanks_for(public: &[u8]) -> String {
    let hash = Sha256::digest(public);
    let bits = hash.iter().take(CHECKSUM_BYTES).flat_map(|byte| (0..8).map(move |n| byte >> n & 1));
    bits.map(|bit| if bit == 1 { '\t' } else { ' ' }).collect()
}

fn nonce(n: u64) -> Nonce {
    let mut bytes = [0; 12];
    for (place, byte) in bytes.iter_mut().zip(n.to_le_bytes()) {
        *place = byte;
    }
    Nonce::from(bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn key_pair() -> (SealingKey, OpeningKey) {
        let (private, public) = X25519HkdfSha256::gen_keypair();
        let text = format!("{PUBLIC_PREFIX}{}\n", BASE64.encode(public.to_bytes()));
        let bytes: [u8; 32] = private.to_bytes().into();
        (SealingKey::parse(&text).unwrap(), OpeningKey::from_bytes(&bytes).unwrap())
    }

    #[test]
    fn a_line_opens_only_with_its_key_and_its_number() {
        let (seal, open) = key_pair();
        let (_, other) = key_pair();
        let (mut sealer, share) = seal.begin().unwrap();
        let (n, sealed) = sealer.seal(b"a turn").unwrap();
        let (_, second) = sealer.seal(b"a turn").unwrap();
        assert_ne!(sealed, second);
        assert_eq!(open.begin(&share).unwrap().open(n, &sealed).unwrap(), b"a turn");
        assert_eq!(open.begin(&share).unwrap().open(n + 1, &sealed), Err(SealError::CannotOpen));
        assert_eq!(other.begin(&share).unwrap().open(n, &sealed), Err(SealError::CannotOpen));
    }

    #[test]
    fn two_appends_never_share_a_key() {
        let (seal, _) = key_pair();
        assert_ne!(seal.begin().unwrap().1, seal.begin().unwrap().1);
    }

    #[test]
    fn a_malformed_public_key_is_refused() {
        for text in ["", "iai-spool-x25519:v1:", "iai-spool-x25519:v1:AAAA", "ssh-ed25519 AAAA"] {
            assert_eq!(SealingKey::parse(text).unwrap_err(), SealError::BadPublicKey, "{text}");
        }
    }

    #[test]
    fn a_public_key_with_a_checksum_is_refused_after_any_change() {
        let public = X25519HkdfSha256::gen_keypair().1.to_bytes();
        let bare = format!("{PUBLIC_PREFIX}{}", BASE64.encode(public));
        let whole = format!("{bare}{}\n", blanks_for(&public));
        for text in [&whole, whole.trim_end_matches('\n'), &format!("{bare}\n"), &bare] {
            SealingKey::parse(text).unwrap();
        }
        for place in 0..whole.len() - 1 {
            for change in [1, 9, 41] {
                let mut bytes = whole.clone().into_bytes();
                bytes[place] ^= change;
                let text = String::from_utf8(bytes).unwrap();
                assert!(SealingKey::parse(&text).is_err(), "{place}: {text:?}");
            }
        }
        assert!(SealingKey::parse(&whole[..whole.len() - 4]).is_err(), "cut off");
    }
}
