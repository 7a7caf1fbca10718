//! The model file, formats 1 and 2: written aside and renamed, read whole and checked to the last
//! bit. `docs/model-format.md` describes the bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::encoder::{Architecture, Shape, Weights};
use crate::error::EmbedError;
use crate::tokenizer::{Charsmap, Rules, Tokenizer, Unigram, Vocabulary, WordPiece};
use crate::weights::{Part, Table};
use crate::{ModelIdentity, Pooling};

const MAGIC: &[u8; 8] = b"IAIMODEL";
/// Of a BERT with WordPiece. What the first programs wrote is written like this for ever: the
/// hash of a file is the identity of its vectors.
const FORMAT_FIRST: u32 = 1;
/// Of everything else.
const FORMAT_LAST: u32 = 2;
const HEADER_BYTES_MAX: u32 = 256 * 1024;
const VOCABULARY_BYTES_MAX: u64 = 64 * 1024 * 1024;
const CHARSMAP_BYTES_MAX: u64 = 16 * 1024 * 1024;
const HASH_BYTES: u64 = 32;
/// What stays in the file is hashed this much at a time.
const PASS_BYTES: usize = 64 * 1024;
/// Floats are turned from and to bytes this many at a time.
const FLOATS_AT_ONCE: usize = 16 * 1024;

/// What a model file holds.
pub(crate) struct Content {
    pub(crate) name: String,
    pub(crate) pooling: Pooling,
    pub(crate) prefix: String,
    pub(crate) n_tokens_max: usize,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) weights: Weights,
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
    Bytes,
    I8,
    F32,
}

/// The lengths of what a tokenizer takes.
#[derive(Clone, Copy)]
struct Letters {
    n_vocabulary: u64,
    /// Of scores and of the table of replacements, if the tokenizer has them.
    scored: Option<(u64, u64)>,
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
    let file = Arc::new(File::open(path).map_err(reading)?);
    let n_bytes = file.metadata().map_err(reading)?.len();
    let mut input = Hashed { inner: file, hash: Sha256::new(), n_bytes: 0 };
    let header = read_header(path, &mut input)?;
    let header_end = input.n_bytes;
    let damaged = |what: &str| EmbedError::damaged(path, what);
    header.shape.check().map_err(|what| EmbedError::damaged(path, what))?;
    let letters = header.letters();
    let n_expected = header_end
        .saturating_add(letters.n_bytes())
        .saturating_add(header.shape.n_bytes())
        .saturating_add(HASH_BYTES);
    // Before any room is made: a file can claim any size.
    if !letters.is_bearable() || n_expected != n_bytes {
        return Err(damaged("its length does not fit its header"));
    }
    let mut weights = header.shape.empty();
    if sections(header_end, letters, &mut weights) != header.sections {
        return Err(damaged("its sections do not fit its shape"));
    }
    let lines = input.take_bytes(letters.n_vocabulary).map_err(reading)?;
    let scored = letters.scored.map(|lengths| input.take_scored(lengths)).transpose();
    let scored = scored.map_err(reading)?;
    for (_, part) in weights.parts() {
        match part {
            Part::Bytes(bytes) => input.fill(bytes),
            Part::Floats(floats) => input.fill_floats(floats),
            Part::ByteTable(table) | Part::FloatTable(table) => input.leave(table),
        }
        .map_err(reading)?;
    }
    let sha256 = input.hash.finalize();
    let mut stored = [0u8; 32];
    input.inner.read_exact(&mut stored).map_err(reading)?;
    if sha256.as_slice() != stored {
        return Err(damaged("its checksum does not fit"));
    }
    let content = header.into_content(lines, scored, weights).map_err(|what| damaged(&what))?;
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
            dimension: self.weights.shape().n_hidden(),
            n_tokens_max: self.n_tokens_max,
        }
    }

    /// Says in a sentence what does not fit together.
    pub(crate) fn check(&self) -> Result<(), String> {
        let shape = self.weights.shape();
        shape.check()?;
        if self.tokenizer.vocabulary().len() != shape.n_pieces() {
            return Err("its vocabulary is not as long as its table of words".to_owned());
        }
        if !(3..=shape.n_tokens_max()).contains(&self.n_tokens_max) {
            return Err("its number of tokens does not fit its positions".to_owned());
        }
        Ok(())
    }

    fn letters(&self) -> Letters {
        let scored = match &self.tokenizer {
            Tokenizer::WordPiece(_) => None,
            Tokenizer::Unigram(unigram) => {
                Some((length_of(unigram.scores()), length_of(unigram.charsmap().bytes())))
            }
        };
        Letters { n_vocabulary: length_of(self.tokenizer.vocabulary().lines()), scored }
    }
}

impl Letters {
    fn n_bytes(self) -> u64 {
        let (n_scores, n_charsmap) = self.scored.unwrap_or_default();
        self.n_vocabulary.saturating_add(n_scores).saturating_add(n_charsmap)
    }

    fn is_bearable(self) -> bool {
        let (_, n_charsmap) = self.scored.unwrap_or_default();
        self.n_vocabulary <= VOCABULARY_BYTES_MAX && n_charsmap <= CHARSMAP_BYTES_MAX
    }
}

impl Header {
    /// Returns the lengths that do not follow from the shape; they are checked with all others.
    fn letters(&self) -> Letters {
        let length = |at: usize| self.sections.get(at).map_or(0, |section| section.length);
        let n_scores = self.shape.n_pieces().saturating_mul(size_of::<f32>());
        let scored = match self.tokenizer {
            Rules::WordPiece(_) => None,
            Rules::Unigram(_) => Some((u64::try_from(n_scores).unwrap_or(u64::MAX), length(2))),
        };
        Letters { n_vocabulary: length(0), scored }
    }

    fn format(&self) -> u32 {
        match (&self.shape, &self.tokenizer) {
            (Shape::Bert(_), Rules::WordPiece(_)) => FORMAT_FIRST,
            _ => FORMAT_LAST,
        }
    }

    fn into_content(
        self,
        lines: Vec<u8>,
        scored: Option<(Vec<f32>, Vec<u8>)>,
        weights: Weights,
    ) -> Result<Content, String> {
        let vocabulary = Vocabulary::from_lines(lines, self.shape.n_pieces())
            .ok_or("its vocabulary is not as long as its table of words")?;
        let tokenizer = match self.tokenizer {
            Rules::WordPiece(rules) => Tokenizer::WordPiece(WordPiece::new(vocabulary, rules)?),
            Rules::Unigram(rules) => {
                let (scores, charsmap) = scored.unwrap_or_default();
                let charsmap = Charsmap::parse(charsmap).ok_or("its replacements make no sense")?;
                Tokenizer::Unigram(Unigram::new(vocabulary, scores, charsmap, rules)?)
            }
        };
        let content = Content {
            name: self.name,
            pooling: self.pooling,
            prefix: self.prefix,
            n_tokens_max: self.n_tokens_max,
            tokenizer,
            weights,
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
    if !(FORMAT_FIRST..=FORMAT_LAST).contains(&found) {
        return Err(EmbedError::OtherFormat { path: path.to_owned(), found, known: FORMAT_LAST });
    }
    let n_header = input.take_u32().map_err(reading)?;
    if n_header > HEADER_BYTES_MAX {
        return Err(EmbedError::damaged(path, "its header is too long"));
    }
    let header = input.take_bytes(u64::from(n_header)).map_err(reading)?;
    let header: Header = serde_json::from_slice(&header)
        .map_err(|error| EmbedError::damaged(path, error.to_string()))?;
    if header.format() != found || header.architecture != header.shape.architecture() {
        return Err(EmbedError::damaged(path, "its header contradicts itself"));
    }
    Ok(header)
}

fn sections(start: u64, letters: Letters, weights: &mut Weights) -> Vec<Section> {
    let mut offset = start;
    let mut next = |name: String, kind, length: u64| {
        let section = Section { name, kind, offset, length };
        offset = offset.saturating_add(length);
        section
    };
    let mut sections = vec![next("vocabulary".to_owned(), Kind::Text, letters.n_vocabulary)];
    if let Some((n_scores, n_charsmap)) = letters.scored {
        sections.push(next("scores".to_owned(), Kind::F32, n_scores));
        sections.push(next("charsmap".to_owned(), Kind::Bytes, n_charsmap));
    }
    for (name, part) in weights.parts() {
        sections.push(match part {
            Part::Bytes(bytes) => next(name, Kind::I8, length_of(bytes)),
            Part::Floats(floats) => next(name, Kind::F32, length_of(floats)),
            Part::ByteTable(table) => next(name, Kind::I8, table.n_bytes()),
            Part::FloatTable(table) => next(name, Kind::F32, table.n_bytes()),
        });
    }
    sections
}

fn length_of<T>(values: &[T]) -> u64 {
    u64::try_from(size_of_val(values)).unwrap_or(u64::MAX)
}

fn write_whole(path: &Path, content: &mut Content) -> io::Result<Vec<u8>> {
    let (format, header) = header_bytes(content)?;
    let file = new_private_file(path)?;
    let mut output = Hashed { inner: BufWriter::new(file), hash: Sha256::new(), n_bytes: 0 };
    output.put(MAGIC)?;
    output.put(&format.to_le_bytes())?;
    output.put(&u32::try_from(header.len()).map_err(io::Error::other)?.to_le_bytes())?;
    output.put(&header)?;
    output.put(content.tokenizer.vocabulary().lines())?;
    if let Tokenizer::Unigram(unigram) = &content.tokenizer {
        output.put_floats(unigram.scores())?;
        output.put(unigram.charsmap().bytes())?;
    }
    for (_, part) in content.weights.parts() {
        match part {
            Part::Bytes(bytes) => output.put(bytes)?,
            Part::Floats(floats) => output.put_floats(floats)?,
            Part::ByteTable(table) | Part::FloatTable(table) => output.put(table.bytes())?,
        }
    }
    let sha256 = output.hash.finalize();
    output.inner.write_all(&sha256)?;
    output.inner.flush()?;
    output.inner.get_ref().sync_all()?;
    Ok(sha256.to_vec())
}

fn header_bytes(content: &mut Content) -> io::Result<(u32, Vec<u8>)> {
    let letters = content.letters();
    let shape = content.weights.shape();
    let mut header = Header {
        name: content.name.clone(),
        architecture: shape.architecture(),
        pooling: content.pooling,
        prefix: content.prefix.clone(),
        n_tokens_max: content.n_tokens_max,
        shape,
        tokenizer: content.tokenizer.rules(),
        sections: Vec::new(),
    };
    // Offsets depend on the header's length, and that on the digits of the offsets: spaces fill
    // what the first guess leaves.
    header.sections = sections(u64::from(u32::MAX), letters, &mut content.weights);
    let n_bytes = serde_json::to_vec(&header)?.len();
    let start = u64::try_from(n_bytes).map_err(io::Error::other)? + 16;
    header.sections = sections(start, letters, &mut content.weights);
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.resize(n_bytes, b' ');
    Ok((header.format(), bytes))
}

/// Counts and hashes what passes.
struct Hashed<T = Arc<File>> {
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

    fn take_scored(
        &mut self,
        (n_scores, n_charsmap): (u64, u64),
    ) -> io::Result<(Vec<f32>, Vec<u8>)> {
        let n_scores = usize::try_from(n_scores).map_err(io::Error::other)?;
        let mut scores = vec![0.0; n_scores / size_of::<f32>()];
        self.fill_floats(&mut scores)?;
        Ok((scores, self.take_bytes(n_charsmap)?))
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

impl Hashed {
    /// Leaves a table where it is, but hashes it.
    #[cfg(unix)]
    fn leave(&mut self, table: &mut Table) -> io::Result<()> {
        table.lies_in(&self.inner, self.n_bytes);
        let mut bytes = vec![0; PASS_BYTES];
        let mut n_left = table.n_bytes();
        while n_left > 0 {
            let n_now = usize::try_from(n_left).unwrap_or(PASS_BYTES).min(PASS_BYTES);
            let bytes = bytes.get_mut(..n_now).unwrap_or_default();
            self.fill(bytes)?;
            n_left = n_left.saturating_sub(length_of(bytes));
        }
        Ok(())
    }

    /// Reads a table.
    #[cfg(not(unix))]
    fn leave(&mut self, table: &mut Table) -> io::Result<()> {
        table.hold(self.take_bytes(table.n_bytes())?);
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
