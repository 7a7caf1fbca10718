//! The head of a backup: what it is and which key it needs, readable without any.
//!
//! `magic ‖ version u32 ‖ length u32 ‖ header JSON ‖ SHA-256 of all before`, little-endian.

use std::io::{self, Read};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::sealing::damaged;
use crate::record::{Counts, KeyOrigin};

const MAGIC: &[u8; 16] = b"iai-mcp backup\r\n";
/// The format this program writes and the highest it reads.
const VERSION: u32 = 1;
/// A header is about two kibibytes.
const HEADER_BYTES_MAX: u32 = 256 * 1024;

/// What a backup says about itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) store: String,
    pub(super) created_at: Timestamp,
    /// The program that wrote it.
    pub(super) program: String,
    /// `key file` or `passphrase`.
    pub(super) needs: Needs,
    /// The short name of the master key, as `crypto status` shows it.
    pub(super) key_id: String,
    pub(super) memories: u64,
    pub(super) links: u64,
    pub(super) events: u64,
    pub(super) set_aside: u64,
    /// Fresh bytes: they make the key of this file one that no other file has.
    pub(super) salt: String,
    /// The vault file as it was: the data key, wrapped by the master key.
    pub(super) vault: Box<RawValue>,
}

/// What opens a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Needs {
    #[serde(rename = "key file")]
    KeyFile,
    #[serde(rename = "passphrase")]
    Passphrase,
}

impl Needs {
    pub(super) fn of(origin: KeyOrigin) -> Self {
        match origin {
            KeyOrigin::File => Self::KeyFile,
            KeyOrigin::Passphrase => Self::Passphrase,
        }
    }

    pub(super) fn origin(self) -> KeyOrigin {
        match self {
            Self::KeyFile => KeyOrigin::File,
            Self::Passphrase => KeyOrigin::Passphrase,
        }
    }
}

/// A header and the bytes it was read from or will be written as.
pub(super) struct Head {
    pub(super) header: Header,
    /// Everything before the body.
    pub(super) bytes: Vec<u8>,
}

impl Head {
    pub(super) fn new(header: Header) -> io::Result<Self> {
        let json = serde_json::to_vec(&header)?;
        let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
        if HEADER_BYTES_MAX < length {
            return Err(damaged("its header would be too long"));
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&json);
        let digest = Sha256::digest(&bytes);
        bytes.extend_from_slice(&digest);
        Ok(Self { header, bytes })
    }

    pub(super) fn read(mut input: impl Read) -> io::Result<Self> {
        let mut bytes = vec![0; MAGIC.len() + 8];
        input.read_exact(&mut bytes).map_err(|_| damaged("it is too short to be a backup"))?;
        let (magic, numbers) = bytes.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(damaged("it does not begin like a backup of iai-mcp; give the right file"));
        }
        let number = |at: usize| {
            let four = numbers.get(at..).and_then(|rest| rest.first_chunk::<4>());
            four.map_or(0, |four| u32::from_le_bytes(*four))
        };
        let (version, length) = (number(0), number(4));
        if version == 0 || VERSION < version {
            return Err(damaged(&format!(
                "it has format {version} and this program knows up to {VERSION}; update the \
                 program, or its bytes 16 to 19 were changed"
            )));
        }
        if HEADER_BYTES_MAX < length {
            return Err(damaged("its header (from byte 20) was changed"));
        }
        let start = bytes.len();
        let n_json = usize::try_from(length).unwrap_or_default();
        bytes.resize(start + n_json + 32, 0);
        let rest = bytes.get_mut(start..).unwrap_or_default();
        input.read_exact(rest).map_err(|_| damaged("it ends within its header"))?;
        let (hashed, digest) = bytes.split_at(start + n_json);
        if Sha256::digest(hashed).as_slice() != digest {
            return Err(damaged("its header (from byte 16) was changed"));
        }
        let json = hashed.get(start..).unwrap_or_default();
        let header = serde_json::from_slice(json)
            .map_err(|error| damaged(&format!("its header cannot be read ({error})")))?;
        Ok(Self { header, bytes })
    }
}

impl Header {
    pub(super) fn has_counts(&self, counts: &Counts) -> bool {
        (self.memories, self.links, self.events, self.set_aside)
            == (counts.memories, counts.links, counts.events, counts.set_aside)
    }
}
