//! The model file, format 1: written aside and renamed, read whole and checked to the last bit.
//! `docs/model-format.md` describes the bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::bert::{Bert, Part, Shape};
use crate::error::EmbedError;
use crate::tokenizer::{Rules, Tokenizer, Vocabulary};
use crate::{ModelIdentity, Pooling};

const MAGIC: &[u8; 8] = b"IAIMODEL";
const FORMAT: u32 = 1;
const HEADER_BYTES_MAX: u32 = 256 * 1024;
const VOCABULARY_BYTES_MAX: u64 = 64 * 1024 * 1024;
const HASH_BYTES: u64 = 32;
/// Floats are turned from and to bytes this many at a time.
const FLOATS_AT_ONCE: usize = 16 * 1024;

/// What a model file holds.
pub(crate) struct Content {
    pub(crate) name: String,
    pub(crate) pooling: Pooling,
    pub(crate) prefix: String,
    pub(crate) n_tokens_max: usize,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) bert: Bert,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: String,
    architecture: Architecture,
    pooling: Pooling,
    prefix: String,
    n_tokens_max: usize,
    shape: Shape,
    tokenizer: Rules,
    sections: Vec<Section>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Architecture {
    Bert,
}

/// Where a part lies: bytes from the start of the file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    name: String,
    kind: Kind,
    offset: u64,
    length: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Text,
    I8,
    F32,
}

/// Writes a model file beside `path`, makes it durable, and puts it there if it passes `prove`.
pub(crate) fn write(
    path: &Path,
    mut content: Content,
    prove: impl FnOnce(&Path) -> Result<(), EmbedError>,
) -> Result<ModelIdentity, EmbedError> {
    let aside = path.with_extension("new");
    let writing = |error| EmbedError::io("writing the model file", path, error);
    let placed = write_whole(&aside, &mut content).map_err(writing).and_then(|sha256| {
        prove(&aside)?;
        fs::rename(&aside, path).and_then(|()| sync_folder_of(path)).map_err(writing)?;
        Ok(content.identity(&sha256))
    });
    if placed.is_err() {
        discard(&aside);
    }
    placed
}

/// Opens a model file; a flipped bit anywhere is an error.
pub(crate) fn read(path: &Path) -> Result<(Content, ModelIdentity), EmbedError> {
    let reading = |error| EmbedError::io("reading the model file", path, error);
    let file = File::open(path).map_err(reading)?;
    let n_bytes = file.metadata().map_err(reading)?.len();
    let mut input = Hashed { inner: file, hash: Sha256::new(), n_bytes: 0 };
    let header = read_header(path, &mut input)?;
    let header_end = input.n_bytes;
    let damaged = |what: &str| EmbedError::damaged(path, what);
    header.shape.check().map_err(|what| EmbedError::damaged(path, what))?;
    let vocabulary = header.sections.first().filter(|section| section.kind == Kind::Text);
    let n_vocabulary = vocabulary.map_or(0, |section| section.length);
    let n_expected = header_end
        .saturating_add(n_vocabulary)
        .saturating_add(header.shape.n_bytes())
        .saturating_add(HASH_BYTES);
    // Before any room is made: a file can claim any size.
    if n_vocabulary > VOCABULARY_BYTES_MAX || n_expected != n_bytes {
        return Err(damaged("its length does not fit its header"));
    }
    let lines = input.take_bytes(n_vocabulary).map_err(reading)?;
    let mut bert = Bert::empty(header.shape.clone());
    if sections(header_end, n_vocabulary, &mut bert) != header.sections {
        return Err(damaged("its sections do not fit its shape"));
    }
    for (_, part) in bert.parts() {
        match part {
            Part::Bytes(bytes) => input.fill(bytes).map_err(reading)?,
            Part::Floats(floats) => input.fill_floats(floats).map_err(reading)?,
        }
    }
    let sha256 = input.hash.finalize();
    let mut stored = [0u8; 32];
    input.inner.read_exact(&mut stored).map_err(reading)?;
    if sha256.as_slice() != stored {
        return Err(damaged("its checksum does not fit"));
    }
    let content = header.into_content(lines, bert).map_err(|what| damaged(&what))?;
    let identity = content.identity(&sha256);
    Ok((content, identity))
}

impl Content {
    fn identity(&self, sha256: &[u8]) -> ModelIdentity {
        ModelIdentity {
            name: self.name.clone(),
            sha256: sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
            pooling: self.pooling,
            prefix: self.prefix.clone(),
            dimension: self.bert.shape.n_hidden,
            n_tokens_max: self.n_tokens_max,
        }
    }

    /// Says in a sentence what does not fit together.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.bert.shape.check()?;
        if self.tokenizer.vocabulary().len() != self.bert.shape.n_pieces {
            return Err("its vocabulary is not as long as its table of words".to_owned());
        }
        if !(3..=self.bert.shape.n_positions).contains(&self.n_tokens_max) {
            return Err("its number of tokens does not fit its positions".to_owned());
        }
        Ok(())
    }
}

impl Header {
    fn into_content(self, lines: Vec<u8>, bert: Bert) -> Result<Content, String> {
        let vocabulary = Vocabulary::from_lines(lines, self.shape.n_pieces)
            .ok_or("its vocabulary is not as long as its table of words")?;
        let content = Content {
            name: self.name,
            pooling: self.pooling,
            prefix: self.prefix,
            n_tokens_max: self.n_tokens_max,
            tokenizer: Tokenizer::new(vocabulary, self.tokenizer)?,
            bert,
        };
        content.check()?;
        Ok(content)
    }
}

fn read_header(path: &Path, input: &mut Hashed) -> Result<Header, EmbedError> {
    let reading = |error| EmbedError::io("reading the model file", path, error);
    let mut magic = [0u8; 8];
    input.fill(&mut magic).map_err(reading)?;
    if magic != *MAGIC {
        return Err(EmbedError::damaged(path, "it does not begin like one"));
    }
    let found = input.take_u32().map_err(reading)?;
    if found != FORMAT {
        return Err(EmbedError::OtherFormat { path: path.to_owned(), found, known: FORMAT });
    }
    let n_header = input.take_u32().map_err(reading)?;
    if n_header > HEADER_BYTES_MAX {
        return Err(EmbedError::damaged(path, "its header is too long"));
    }
    let header = input.take_bytes(u64::from(n_header)).map_err(reading)?;
    serde_json::from_slice(&header).map_err(|error| EmbedError::damaged(path, error.to_string()))
}

fn sections(start: u64, n_vocabulary: u64, bert: &mut Bert) -> Vec<Section> {
    let mut offset = start;
    let mut next = |name: String, kind, length: u64| {
        let section = Section { name, kind, offset, length };
        offset = offset.saturating_add(length);
        section
    };
    let mut sections = vec![next("vocabulary".to_owned(), Kind::Text, n_vocabulary)];
    for (name, part) in bert.parts() {
        sections.push(match part {
            Part::Bytes(bytes) => next(name, Kind::I8, length_of(bytes)),
            Part::Floats(floats) => next(name, Kind::F32, length_of(floats)),
        });
    }
    sections
}

fn length_of<T>(values: &[T]) -> u64 {
    u64::try_from(size_of_val(values)).unwrap_or(u64::MAX)
}

fn write_whole(path: &Path, content: &mut Content) -> io::Result<Vec<u8>> {
    let header = header_bytes(content)?;
    let file = new_private_file(path)?;
    let mut output = Hashed { inner: BufWriter::new(file), hash: Sha256::new(), n_bytes: 0 };
    output.put(MAGIC)?;
    output.put(&FORMAT.to_le_bytes())?;
    output.put(&u32::try_from(header.len()).map_err(io::Error::other)?.to_le_bytes())?;
    output.put(&header)?;
    output.put(content.tokenizer.vocabulary().lines())?;
    for (_, part) in content.bert.parts() {
        match part {
            Part::Bytes(bytes) => output.put(bytes)?,
            Part::Floats(floats) => output.put_floats(floats)?,
        }
    }
    let sha256 = output.hash.finalize();
    output.inner.write_all(&sha256)?;
    output.inner.flush()?;
    output.inner.get_ref().sync_all()?;
    Ok(sha256.to_vec())
}

fn header_bytes(content: &mut Content) -> io::Result<Vec<u8>> {
    let n_vocabulary = length_of(content.tokenizer.vocabulary().lines());
    let mut header = Header {
        name: content.name.clone(),
        architecture: Architecture::Bert,
        pooling: content.pooling,
        prefix: content.prefix.clone(),
        n_tokens_max: content.n_tokens_max,
        shape: content.bert.shape.clone(),
        tokenizer: content.tokenizer.rules().clone(),
        sections: Vec::new(),
    };
    // Offsets depend on the header's length, and that on the digits of the offsets: spaces fill
    // what the first guess leaves.
    header.sections = sections(u64::from(u32::MAX), n_vocabulary, &mut content.bert);
    let n_bytes = serde_json::to_vec(&header)?.len();
    let start = u64::try_from(n_bytes).map_err(io::Error::other)? + 16;
    header.sections = sections(start, n_vocabulary, &mut content.bert);
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.resize(n_bytes, b' ');
    Ok(bytes)
}

/// Counts and hashes what passes.
struct Hashed<T = File> {
    inner: T,
    hash: Sha256,
    n_bytes: u64,
}

impl<T: Read> Hashed<T> {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.hash.update(&*bytes);
        self.n_bytes = self.n_bytes.saturating_add(length_of(bytes));
        Ok(())
    }

    fn take_u32(&mut self) -> io::Result<u32> {
        let mut bytes = [0u8; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn take_bytes(&mut self, n_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(n_bytes).map_err(io::Error::other)?];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill_floats(&mut self, floats: &mut [f32]) -> io::Result<()> {
        let mut bytes = vec![0; FLOATS_AT_ONCE * size_of::<f32>()];
        for floats in floats.chunks_mut(FLOATS_AT_ONCE) {
            let bytes = bytes.get_mut(..size_of_val(floats)).unwrap_or_default();
            self.fill(bytes)?;
            for (float, bytes) in floats.iter_mut().zip(bytes.as_chunks().0) {
                *float = f32::from_le_bytes(*bytes);
            }
        }
        Ok(())
    }
}

impl<T: Write> Hashed<T> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.inner.write_all(bytes)
    }

    fn put_floats(&mut self, floats: &[f32]) -> io::Result<()> {
        for floats in floats.chunks(FLOATS_AT_ONCE) {
            let bytes: Vec<u8> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
            self.put(&bytes)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn new_private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn new_private_file(path: &Path) -> io::Result<File> {
    File::create(path)
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[expect(clippy::disallowed_methods, reason = "the file was begun here and is nobody's yet")]
fn discard(aside: &Path) {
    // What is left behind is overwritten by the next attempt.
    fs::remove_file(aside).ok();
}
