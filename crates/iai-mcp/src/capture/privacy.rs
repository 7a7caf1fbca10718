//! What never leaves the hook: spans the user marked private, and folders the user switched off.

use std::borrow::Cow;
use std::path::Path;

/// A file of this name switches capture off for its folder and everything below.
pub(crate) const IGNORE_FILE: &str = ".iai-mcp-ignore";

const OPEN: &str = "<private>";
const CLOSE: &str = "</private>";
/// What stands where a private span stood.
const MARK: &str = "[private]";

/// Cuts `<private>…</private>` out of a text. An unclosed span is private to its end.
pub(crate) fn without_private(text: &str) -> Cow<'_, str> {
    if !has_tag(text, OPEN) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = split_at_tag(rest, OPEN) {
        kept.push_str(before);
        kept.push_str(MARK);
        rest = behind_close(after);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Tells whether the user switched capture off here or above, by a file or a setting.
pub(crate) fn is_ignored(folder: &Path, switched_off: &[String]) -> bool {
    let by_setting = switched_off.iter().any(|path| folder.starts_with(path));
    by_setting || folder.ancestors().any(|folder| folder.join(IGNORE_FILE).exists())
}

/// Returns what follows the closing tag that belongs to a tag just opened; spans may nest.
fn behind_close(mut rest: &str) -> &str {
    let mut depth = 1;
    while 0 < depth {
        let opens = split_at_tag(rest, OPEN);
        let Some((before, behind)) = split_at_tag(rest, CLOSE) else { return "" };
        match opens {
            Some((outside, inside)) if outside.len() < before.len() => {
                depth += 1;
                rest = inside;
            }
            _ => {
                depth -= 1;
                rest = behind;
            }
        }
    }
    rest
}

fn has_tag(text: &str, tag: &str) -> bool {
    split_at_tag(text, tag).is_some()
}

/// Tags are ASCII, so that a byte-wise comparison without case never cuts a character.
fn split_at_tag<'a>(text: &'a str, tag: &str) -> Option<(&'a str, &'a str)> {
    let is_tag = |at: &usize| {
        let there = text.as_bytes().get(*at..at + tag.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(tag.as_bytes()))
    };
    let at = text.match_indices('<').map(|(at, _)| at).find(is_tag)?;
    Some((text.get(..at)?, text.get(at + tag.len()..)?))
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
