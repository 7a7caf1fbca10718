//! What kind of text a file is, by its first bytes and its name; and its bytes as letters.

use std::borrow::Cow;
use std::path::Path;

use super::Refusal;

/// What is looked at to tell text from anything else.
const HEAD_BYTES: usize = 8192;

/// How a file is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Markdown,
    Text,
    Source,
    Html,
    Pdf,
    Docx,
}

const MARKDOWN: &[&str] = &["md", "markdown", "mdx", "mdown"];
const HTML: &[&str] = &["html", "htm", "xhtml"];
/// Text in which lines belong together by what they say, not by paragraphs.
const SOURCE: &[&str] = &[
    "rs", "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "tsx", "java", "kt", "kts", "scala", "go",
    "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm", "cs", "fs", "vb", "swift", "rb", "php",
    "pl", "pm", "lua", "r", "jl", "hs", "ml", "mli", "elm", "ex", "exs", "erl", "hrl", "clj",
    "cljs", "lisp", "scm", "el", "vim", "sh", "bash", "zsh", "fish", "ps1", "bat", "sql", "css",
    "scss", "less", "vue", "svelte", "toml", "yaml", "yml", "json", "jsonc", "ini", "cfg", "conf",
    "xml", "proto", "graphql", "tf", "nix", "zig", "dart", "asm", "s", "cmake", "gradle", "mk",
];
/// Files that a program makes anew from others.
const MADE: &[&str] = &[
    "cargo.lock",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "uv.lock",
    "go.sum",
    "composer.lock",
    "gemfile.lock",
    "flake.lock",
];
/// How files that are no text begin, and what they are.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"PK\x05\x06", "an empty archive"),
    (b"\x1f\x8b", "a compressed file"),
    (b"BZh", "a compressed file"),
    (b"\xfd7zXZ", "a compressed file"),
    (b"\x28\xb5\x2f\xfd", "a compressed file"),
    (b"7z\xbc\xaf", "an archive"),
    (b"Rar!", "an archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xca\xfe\xba\xbe", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"\0asm", "a program"),
    (b"SQLite format 3", "a database"),
    (b"\xd0\xcf\x11\xe0", "an old office document; save it as docx or PDF"),
];

/// Tells what kind a file is, or why it is none.
pub(super) fn of(name: &str, bytes: &[u8]) -> Result<Kind, Refusal> {
    let path = Path::new(name);
    let lower = |part: Option<&std::ffi::OsStr>| {
        part.map(|part| part.to_string_lossy().to_lowercase()).unwrap_or_default()
    };
    let extension = lower(path.extension());
    let is_in = |list: &[&str]| list.contains(&extension.as_str());
    if bytes.starts_with(b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") {
        let what = "an archive; of those, only docx is read".to_owned();
        return if extension == "docx" { Ok(Kind::Docx) } else { Err(Refusal::Binary { what }) };
    }
    if extension == "pdf" || extension == "docx" {
        return Err(Refusal::broken(format_args!("it does not begin as a {extension} does")));
    }
    let magic = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic));
    // Two letters begin many a text; a program has bytes behind them that no text has.
    let magic = magic.filter(|(magic, _)| 2 < magic.len() || has_nul(bytes));
    if let Some((_, what)) = magic {
        return Err(Refusal::Binary { what: (*what).to_owned() });
    }
    let file_name = lower(path.file_name());
    if MADE.contains(&file_name.as_str()) || file_name.contains(".min.") || extension == "map" {
        return Err(Refusal::Binary { what: "what a program made from other files".to_owned() });
    }
    if is_wide(bytes).is_none() && has_nul(bytes) {
        return Err(Refusal::Binary { what: "binary data".to_owned() });
    }
    Ok(match () {
        () if is_in(MARKDOWN) => Kind::Markdown,
        () if is_in(HTML) => Kind::Html,
        () if is_in(SOURCE) || file_name == "makefile" || file_name == "dockerfile" => Kind::Source,
        () => Kind::Text,
    })
}

/// Returns the letters of a file.
pub(super) fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, Refusal> {
    if let Some(order) = is_wide(bytes) {
        let pairs = bytes.get(2..).unwrap_or_default().chunks_exact(2);
        let units = pairs.map(|pair| match (pair, order) {
            ([low, high], ByteOrder::LittleEnd) => u16::from(*high) << 8 | u16::from(*low),
            ([high, low], ByteOrder::BigEnd) => u16::from(*high) << 8 | u16::from(*low),
            _ => 0,
        });
        let letters: Result<String, _> = char::decode_utf16(units).collect();
        return letters.map(Cow::Owned).map_err(|_| Refusal::Encoding);
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| Refusal::Encoding)
}

#[derive(Clone, Copy)]
enum ByteOrder {
    LittleEnd,
    BigEnd,
}

/// Tells whether a text of two bytes a letter begins here: it says so itself.
fn is_wide(bytes: &[u8]) -> Option<ByteOrder> {
    match bytes {
        [0xff, 0xfe, ..] => Some(ByteOrder::LittleEnd),
        [0xfe, 0xff, ..] => Some(ByteOrder::BigEnd),
        _ => None,
    }
}

fn has_nul(bytes: &[u8]) -> bool {
    bytes.iter().take(HEAD_BYTES).any(|byte| *byte == 0)
}
