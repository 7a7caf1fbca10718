//! Words that tell by their shape alone what they are: identifiers, files, hosts, tickets, errors.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use iai_store::AttributeRole;

use super::text::words;

const IDENTIFIER_CHARS: std::ops::RangeInclusive<usize> = 4..=64;
const PATH_BYTES_MAX: usize = 120;

/// Endings that make a word a file even without a folder.
static EXTENSIONS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "bash c cc cfg conf cpp cs css csv db go gradle graphql h hpp html ini ipynb java js json \
         jsonl jsx kt lock log lua md mdx mjs pdf php plist png proto ps1 py rb rs scss sh sql \
         sqlite svelte svg swift tf toml ts tsx txt vue wasm xml yaml yml zig zip",
    )
});
/// Folders a relative path begins with.
static ROOTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "app apps bin build components config crates dist docs etc home internal lib node_modules \
         opt packages pkg public scripts src target test tests tmp tools usr var xtask .github",
    )
});
const BARE_FILES: &[&str] = &["Dockerfile", "Makefile", "Gemfile", "Procfile", "Jenkinsfile"];
/// The last label of a host that is named without `https://`.
static TOP_LEVEL: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "ai app be ca ch cloud co com de dev edu es eu fr gov internal io it jp lan local me net \
         nl org pl ru se tech uk us xyz",
    )
});
static ERRNO: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    words(
        "EACCES EADDRINUSE EAGAIN EBADF EBUSY ECONNABORTED ECONNREFUSED ECONNRESET EEXIST \
         EHOSTUNREACH EINVAL EIO EISDIR EMFILE ENOENT ENOMEM ENOSPC ENOTDIR ENOTEMPTY ENOTFOUND \
         EPERM EPIPE EROFS ETIMEDOUT EXDEV",
    )
});

/// Takes what a word is by its shape; usually one thing or nothing, several for `a_b::c_d`.
pub(super) fn each_shape<'a>(word: &'a str, take: &mut dyn FnMut(AttributeRole, &'a str)) {
    if let Some(host) = host_of_url(word) {
        return take(AttributeRole::Entity, host);
    }
    let path = without_line_number(word);
    if is_file(path) {
        return take(AttributeRole::File, path);
    }
    if is_package(word) || is_mail(word) || is_ticket(word) || is_error(word) || is_host(word) {
        return take(AttributeRole::Entity, word);
    }
    each_identifier(word, &mut |identifier| take(AttributeRole::Entity, identifier));
}

/// Takes the `CamelCase` and `snake_case` identifiers in a piece of text.
pub(super) fn each_identifier<'a>(text: &'a str, take: &mut dyn FnMut(&'a str)) {
    for piece in text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')) {
        if IDENTIFIER_CHARS.contains(&piece.len()) && (is_camel(piece) || is_snake(piece)) {
            take(piece);
        }
    }
}

fn is_camel(piece: &str) -> bool {
    let turns = piece.as_bytes().windows(2);
    let begins = piece.starts_with(|letter: char| letter.is_ascii_alphabetic());
    begins
        && turns
            .into_iter()
            .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
}

fn is_snake(piece: &str) -> bool {
    let inner = piece.trim_matches('_');
    inner.contains('_')
        && inner.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && 1 < inner.bytes().filter(u8::is_ascii_alphabetic).count()
}

fn host_of_url(word: &str) -> Option<&str> {
    let (_, rest) = word.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host);
    let host = host.strip_prefix("www.").unwrap_or(host);
    let is_host =
        host.contains('.') && host.chars().all(|c| c.is_alphanumeric() || ".-".contains(c));
    is_host.then_some(host)
}

/// `src/main.rs:12:5` and `src/main.rs#L12` are `src/main.rs`.
fn without_line_number(word: &str) -> &str {
    let word = word.split_once("#L").map_or(word, |(path, _)| path);
    let mut path = word;
    while let Some((before, digits)) = path.rsplit_once(':')
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        path = before;
    }
    path
}

fn is_file(word: &str) -> bool {
    if PATH_BYTES_MAX < word.len() || word.contains("//") {
        return false;
    }
    if BARE_FILES.contains(&word) {
        return true;
    }
    let is_windows =
        matches!(word.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    let is_letter = |c: char| c.is_alphanumeric() || "_-.+@~$/[]()".contains(c) || is_windows;
    if !word.chars().all(is_letter) || !word.contains(char::is_alphabetic) {
        return false;
    }
    if is_windows {
        return true;
    }
    let Some((folder, name)) = word.rsplit_once('/') else { return is_bare_file(word) };
    let starts = ["/", "./", "../", "~/"].into_iter().any(|start| word.starts_with(start));
    let first = word.split('/').find(|part| !part.is_empty()).unwrap_or_default();
    let n_parts = word.split('/').filter(|part| !part.is_empty()).count();
    let is_scoped = word.starts_with('@');
    !is_scoped
        && (has_extension(name) && !is_number(first) && !is_host(first)
            || starts && (1 < n_parts || 1 < folder.len())
            || ROOTS.contains(first) && 1 < n_parts)
}

/// `main.rs`, but not `Node.js`, `e.g` or `3.5`.
fn is_bare_file(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else { return false };
    let is_product = extension == "js" && stem.starts_with(|c: char| c.is_ascii_uppercase());
    let is_stem = stem.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    !stem.is_empty() && is_stem && !is_product && EXTENSIONS.contains(extension)
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=8).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !is_number(extension)
    })
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// `@scope/name`.
fn is_package(word: &str) -> bool {
    word.strip_prefix('@').and_then(|rest| rest.split_once('/')).is_some_and(|(scope, name)| {
        let is_part = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        is_part(scope) && is_part(name)
    })
}

fn is_mail(word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, domain)| {
        !name.is_empty()
            && domain.contains('.')
            && domain.chars().all(|c| c.is_alphanumeric() || ".-".contains(c))
            && name.chars().all(|c| c.is_alphanumeric() || "._+-".contains(c))
    })
}

/// `ABC-123`, `#1234`.
fn is_ticket(word: &str) -> bool {
    if let Some(digits) = word.strip_prefix('#') {
        return (2..=7).contains(&digits.len()) && is_number(digits);
    }
    word.split_once('-').is_some_and(|(project, digits)| {
        (2..=10).contains(&project.len())
            && project.starts_with(|letter: char| letter.is_ascii_uppercase())
            && project.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
            && digits.len() <= 6
            && is_number(digits)
    })
}

/// `E0502`, `ENOENT`, `SIGSEGV`, `0x80070005`.
fn is_error(word: &str) -> bool {
    if let Some(digits) = word.strip_prefix("0x") {
        return (4..=16).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = word.get(letters..).unwrap_or_default();
    (1..=4).contains(&letters) && (3..=6).contains(&rest.len()) && is_number(rest)
        || word.starts_with("SIG") && letters == word.len() && (6..=9).contains(&letters)
        || ERRNO.contains(word)
}

fn is_host(word: &str) -> bool {
    let host =
        word.split_once(':').map_or(word, |(host, port)| if is_number(port) { host } else { word });
    host.rsplit_once('.').is_some_and(|(name, last)| {
        TOP_LEVEL.contains(last)
            && name.chars().any(|c| c.is_ascii_alphabetic())
            && name.split('.').all(|label| {
                !label.is_empty()
                    && label
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expect: &[(AttributeRole, &str)]) {
        let mut found = Vec::new();
        each_shape(word, &mut |role, name| found.push((role, name)));
        assert_eq!(found, expect, "{word}");
    }

    #[test]
    fn files_are_known_with_a_folder_or_an_ending() {
        for file in [
            "src/main.rs",
            "./a/b",
            "../x.py",
            "~/notes/todo",
            "/etc/hosts",
            "main.rs",
            "crates/iai-store",
            "Makefile",
            "a/b/c.tar.gz",
            "package.json",
            "C:\\Users\\x",
            "app/[id]/page.tsx",
            "données/été.csv",
        ] {
            check(file, &[(AttributeRole::File, file)]);
        }
        check("src/main.rs:12:5", &[(AttributeRole::File, "src/main.rs")]);
        check("src/main.rs#L12-L20", &[(AttributeRole::File, "src/main.rs")]);
        for word in
            ["and/or", "either/or/both", "e.g", "3.5", "1/2", "12/05/2026", "/", "a.b", "/help"]
        {
            check(word, &[]);
        }
    }

    #[test]
    fn names_are_known_by_their_shape() {
        let entities = [
            "MemoryEngine",
            "camelCase",
            "snake_case",
            "DATABASE_URL",
            "GitHub",
            "PostgreSQL",
            "@types/node",
            "me@example.org",
            "ABC-123",
            "#1234",
            "E0502",
            "ENOENT",
            "SIGSEGV",
            "0x80070005",
            "api.example.com",
            "db-1.internal:5432",
        ];
        for entity in entities {
            check(entity, &[(AttributeRole::Entity, entity)]);
        }
        check("https://www.example.org:8080/a?b", &[(AttributeRole::Entity, "example.org")]);
        check(
            "iai_store::MemoryId",
            &[(AttributeRole::Entity, "iai_store"), (AttributeRole::Entity, "MemoryId")],
        );
        for word in ["plain", "Plain", "API", "#1", "__init__", "x_1", "1_000", "http://x", "A-1"] {
            check(word, &[]);
        }
    }
}
