//! What `.gitignore` files leave out: enough of git's rules to leave out what it does.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A longer file of rules is read to here.
const RULES_BYTES_MAX: u64 = 64 * 1024;
/// `**` in one pattern; each multiplies the ways to match.
const ANY_DEPTH_MAX: usize = 4;
/// Folders above that are looked into for rules.
const FOLDERS_UP_MAX: usize = 64;

/// The rules of one folder.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    folder: PathBuf,
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    /// The pattern between its slashes; `**` stands for any number of folders.
    segments: Vec<String>,
    is_exception: bool,
    is_for_folders: bool,
}

impl Rules {
    /// Reads the rules of a folder; none where it has no file of them.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        let file = fs::File::open(folder.join(".gitignore")).ok()?;
        let mut text = Vec::new();
        file.take(RULES_BYTES_MAX).read_to_end(&mut text).ok()?;
        let text = String::from_utf8_lossy(&text);
        let rules = text.lines().filter_map(Rule::of).collect();
        Some(Self { folder: folder.to_owned(), rules })
    }

    /// Reads the rules that hold in a folder by those above it, up to the repository's root.
    pub(super) fn above(folder: &Path) -> Vec<Self> {
        let mut above: Vec<&Path> = Vec::new();
        for place in folder.ancestors().take(FOLDERS_UP_MAX) {
            if place != folder {
                above.push(place);
            }
            if place.join(".git").exists() {
                return above.into_iter().rev().filter_map(Self::of).collect();
            }
        }
        Vec::new()
    }

    /// Tells whether a path is left out, where these rules say anything about it.
    fn verdict(&self, path: &Path, is_folder: bool) -> Option<bool> {
        let relative = path.strip_prefix(&self.folder).ok()?.to_string_lossy();
        let segments: Vec<&str> = relative.split('/').collect();
        let says =
            self.rules.iter().rev().find(|rule| {
                (is_folder || !rule.is_for_folders) && matches(&rule.segments, &segments)
            });
        says.map(|rule| !rule.is_exception)
    }
}

/// Tells whether rules leave a path out; those of the deepest folder go first.
pub(super) fn is_left_out(rules: &[Rules], path: &Path, is_folder: bool) -> bool {
    rules.iter().rev().find_map(|rules| rules.verdict(path, is_folder)).unwrap_or(false)
}

impl Rule {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (is_exception, pattern) = match line.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, line),
        };
        let is_for_folders = pattern.ends_with('/');
        let pattern = pattern.trim_end_matches('/');
        let is_anchored = pattern.contains('/');
        let mut segments: Vec<String> = Vec::new();
        if !is_anchored {
            segments.push("**".to_owned());
        }
        segments.extend(pattern.trim_start_matches('/').split('/').map(str::to_owned));
        segments.dedup_by(|a, b| a == "**" && b == "**");
        let n_any = segments.iter().filter(|segment| *segment == "**").count();
        let is_usable = n_any <= ANY_DEPTH_MAX && !pattern.is_empty();
        is_usable.then_some(Self { segments, is_exception, is_for_folders })
    }
}

fn matches(pattern: &[String], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "**" => {
            // At the end it means what is inside, and that needs a name.
            let is_inside = rest.is_empty() && !path.is_empty();
            is_inside
                || (0..=path.len())
                    .any(|n| !rest.is_empty() && matches(rest, path.get(n..).unwrap_or_default()))
        }
        (Some((own, rest)), Some((name, below))) => {
            let (own, name): (Vec<char>, Vec<char>) =
                (own.chars().collect(), name.chars().collect());
            name_matches(&own, &name) && matches(rest, below)
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// `*`, `?` and `[a-z]` inside one name. Goes back to the last star only, so that no pattern takes
/// long.
fn name_matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while let Some(letter) = name.get(place) {
        match (pattern.get(at), pattern.get(at).and_then(|_| one(pattern, at, *letter))) {
            (Some('*'), _) => {
                last_star = Some((at, place));
                at += 1;
            }
            (Some(_), Some(next)) => {
                at = next;
                place += 1;
            }
            _ => match last_star {
                Some((star, from)) => {
                    last_star = Some((star, from + 1));
                    (at, place) = (star + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|letter| *letter == '*')
}

/// Returns where the pattern goes on when its next element admits a letter.
fn one(pattern: &[char], at: usize, letter: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '\\' => (pattern.get(at + 1) == Some(&letter)).then_some(at + 2),
        '[' => {
            let rest = pattern.get(at + 1..)?;
            let is_not = matches!(rest.first(), Some('!' | '^'));
            let start = usize::from(is_not);
            // A bracket right behind the opening one is a letter.
            let length = rest.iter().skip(start + 1).position(|letter| *letter == ']')?;
            let set = rest.get(start..start + 1 + length)?;
            (is_in(set, letter) != is_not).then_some(at + 1 + start + 1 + length + 1)
        }
        own => (*own == letter).then_some(at + 1),
    }
}

fn is_in(set: &[char], letter: char) -> bool {
    let is_range = |three: &[char]| matches!(three, [a, '-', z] if (a..=z).contains(&&letter));
    set.contains(&letter) || set.windows(3).any(is_range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rules: &str, path: &str, expect: bool) {
        let rules = Rules {
            folder: PathBuf::from("/r"),
            rules: rules.lines().filter_map(Rule::of).collect(),
        };
        let is_folder = path.ends_with('/');
        let path = Path::new("/r").join(path.trim_end_matches('/'));
        assert_eq!(is_left_out(&[rules], &path, is_folder), expect, "{}", path.display());
    }

    #[test]
    fn rules_leave_out_what_git_leaves_out() {
        check("*.log", "a/b.log", true);
        check("*.log", "a/b.log.txt", false);
        check("# no\n\nbuild/", "build/", true);
        check("build/", "build", false);
        check("build/", "a/build/", true);
        check("/build", "a/build", false);
        check("/build", "build", true);
        check("docs/*.txt", "docs/a.txt", true);
        check("docs/*.txt", "docs/b/a.txt", false);
        check("docs/**/*.txt", "docs/b/c/a.txt", true);
        check("docs/**/*.txt", "docs/a.txt", true);
        check("a/**", "a/b/c", true);
        check("a/**", "a", false);
        check("*.md\n!keep.md", "keep.md", false);
        check("*.md\n!keep.md", "other.md", true);
        check("v[0-9].?x?", "v3.txt", true);
        check("v[!0-9].txt", "v3.txt", false);
        check("\\!a", "!a", true);
        check("a*b*c", "axxbyyc", true);
        check("a*b*c", "axxbyy", false);
        check("[", "[", false);
    }

    #[test]
    fn no_pattern_takes_long() {
        check(&format!("{}b", "*a".repeat(200)), &"a".repeat(4000), false);
        check(&"**/a/".repeat(40), &"a/".repeat(60), false);
    }
}
