//! What never leaves the hook: spans the user marked private, and folders the user switched off.

use std::borrow::Cow;
use std::path::Path;

/// A file of this name switches capture off for its folder and everything below.
pub(crate) const IGNORE_FILE: &str = ".iai-mcp-ignore";

const NAME: &str = "private";
/// What a tag says beside its name is not longer.
const ATTRIBUTES_BYTES_MAX: usize = 200;
/// What stands where a private span stood.
const MARK: &str = "[private]";

/// Cuts `<private>…</private>` out of a text. Spans may nest; an unclosed one is private to its
/// end.
pub(crate) fn without_private(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let (mut end, mut depth) = (0, 0_usize);
    for tag in text.match_indices('<').filter_map(|(at, _)| tag_at(text, at)) {
        match tag {
            Tag::Open { start } => {
                if depth == 0 {
                    kept.push_str(text.get(end..start).unwrap_or_default());
                    kept.push_str(MARK);
                }
                depth += 1;
            }
            Tag::Close { behind } if 0 < depth => {
                depth -= 1;
                end = behind;
            }
            Tag::Close { .. } => {}
        }
    }
    if kept.is_empty() {
        return Cow::Borrowed(text);
    }
    if depth == 0 {
        kept.push_str(text.get(end..).unwrap_or_default());
    }
    Cow::Owned(kept)
}

/// Tells whether the user switched capture off here or above, by a file or a setting.
pub(crate) fn is_ignored(folder: &Path, switched_off: &[String]) -> bool {
    let by_setting = switched_off.iter().any(|path| folder.starts_with(path));
    by_setting || folder.ancestors().any(|folder| folder.join(IGNORE_FILE).exists())
}

/// A tag of ours.
enum Tag {
    Open { start: usize },
    Close { behind: usize },
}

/// Reads the tag that begins at `start`, as people write it: `<PRIVATE>`, `< private >`,
/// `<private note="x">`. `<private key>` is a stand-in, and no tag.
fn tag_at(text: &str, start: usize) -> Option<Tag> {
    let rest = text.get(start + 1..)?.trim_start_matches(' ');
    let (rest, is_close) = match rest.strip_prefix('/') {
        Some(rest) => (rest.trim_start_matches(' '), true),
        None => (rest, false),
    };
    let is_named = rest.get(..NAME.len())?.eq_ignore_ascii_case(NAME);
    let rest = rest.get(NAME.len()..).filter(|_| is_named)?;
    let n_attributes = rest.bytes().take(ATTRIBUTES_BYTES_MAX).position(|byte| byte == b'>')?;
    let attributes = rest.get(..n_attributes)?;
    let says_nothing = attributes.trim().is_empty();
    let says_more = attributes.starts_with(char::is_whitespace)
        && attributes.contains('=')
        && !attributes.contains('<');
    let behind = text.len() - rest.len() + n_attributes + 1;
    match is_close {
        true => says_nothing.then_some(Tag::Close { behind }),
        false => (says_nothing || says_more).then_some(Tag::Open { start }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(without_private(text), want);
    }

    #[test]
    fn private_spans_are_cut_out() {
        check("nothing here", "nothing here");
        check("a <private>b</private> c", "a [private] c");
        check("<PRIVATE>b</Private>", "[private]");
        check("é<private>ü</private>ß<private>x</private>", "é[private]ß[private]");
        check("open <private>to the end", "open [private]");
        check("a </private> b", "a </private> b");
        check("a <private>b <private>c</private> d</private> e", "a [private] e");
        check("<private><private>x</private>y", "[private]");
        check("a < private >b</ private > c", "a [private] c");
        check("a <private x=1>b</private> c", "a [private] c");
        check("a <Private note=\"x y\">b</private > c", "a [private] c");
        for kept in [
            "paste your <private key> here",
            "<private_key>k</private_key>",
            "List<PrivateKey> and <privateer>",
            "a < private and b > c",
            "<private",
            "< é",
        ] {
            check(kept, kept);
        }
    }

    #[test]
    fn spans_made_to_keep_us_busy_are_read_in_linear_time() {
        // Were it quadratic, this would take minutes.
        let n = 50_000;
        let nested = format!("{}x{}", "<private>".repeat(n), "</private>".repeat(n));
        check(&nested, "[private]");
        check(&"<private ".repeat(n), &"<private ".repeat(n));
    }

    #[test]
    fn a_folder_is_off_by_file_or_setting_and_so_is_what_lies_below() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert!(!is_ignored(&below, &[]));
        assert!(is_ignored(&below, &[folder.path().join("a").to_string_lossy().into_owned()]));
        assert!(!is_ignored(&below, &[folder.path().join("aa").to_string_lossy().into_owned()]));
        std::fs::write(folder.path().join(IGNORE_FILE), "").unwrap();
        assert!(is_ignored(&below, &[]));
    }
}
