//! A unified diff of two texts, for the reader who is asked for consent.

const CONTEXT_LINES: usize = 3;
const LINE_CHARS_MAX: usize = 200;
/// What is shown of a long line before and after the part that changes.
const AROUND_CHARS: usize = 40;
/// What is shown of that part itself; what we put into a file is less.
const CHANGED_CHARS_MAX: usize = 4000;
/// Above this many changed lines, everything between the first and the last change is shown.
const CHANGES_MAX: usize = 1000;

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Removed,
    Added,
}

/// Returns the diff, without the two lines that name the files.
pub(super) fn unified(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let script = script(&old, &new);
    let mut out = String::new();
    for hunk in hunks(&script) {
        show(&mut out, &script, hunk);
    }
    out
}

type Line<'a> = (Fate, &'a str);

fn script<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let n_before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (shared, old) = old.split_at(n_before);
    let (_, new) = new.split_at(n_before);
    let pairs = old.iter().rev().zip(new.iter().rev());
    let n_after = pairs.take_while(|(old, new)| old == new).count();
    let (old, after) = old.split_at(old.len() - n_after);
    let (new, _) = new.split_at(new.len() - n_after);
    let kept = |line: &&'a str| (Fate::Kept, *line);
    let mut script: Vec<Line<'a>> = shared.iter().map(kept).collect();
    match shortest(old, new) {
        Some(middle) => script.extend(middle),
        None => {
            script.extend(old.iter().map(|line| (Fate::Removed, *line)));
            script.extend(new.iter().map(|line| (Fate::Added, *line)));
        }
    }
    script.extend(after.iter().map(kept));
    script
}

/// Myers' greedy search: for each number of changes, how far each diagonal gets. Diagonal `k` means
/// `k` more lines removed than added; its reach is kept at place `k + n_changes`.
fn shortest<'a>(old: &[&'a str], new: &[&'a str]) -> Option<Vec<Line<'a>>> {
    let mut reaches: Vec<Vec<usize>> = Vec::new();
    for n_changes in 0..=CHANGES_MAX {
        let mut reach = vec![0; 2 * n_changes + 1];
        for place in (0..=2 * n_changes).step_by(2) {
            let start = reaches.last().map_or(0, |before| step(before, place).0);
            let n_old = slide((old, new), start, n_changes, place);
            *reach.get_mut(place)? = n_old;
            if n_old == old.len() && n_old + n_changes == new.len() + place {
                reaches.push(reach);
                return walk_back(old, new, &reaches, place);
            }
        }
        reaches.push(reach);
    }
    None
}

/// Returns where a diagonal starts from, given the reaches of one change less, and whether it came
/// by removing a line.
fn step(before: &[usize], place: usize) -> (usize, bool) {
    // The same diagonal stands one place further left in the shorter list.
    let added = before.get(place).copied();
    let removed = place.checked_sub(2).and_then(|place| before.get(place)).copied();
    match (removed, added) {
        (Some(removed), Some(added)) if added <= removed => (removed + 1, true),
        (Some(removed), None) => (removed + 1, true),
        (_, Some(added)) => (added, false),
        (None, None) => (0, false),
    }
}

/// Follows equal lines as far as they go.
fn slide((old, new): (&[&str], &[&str]), start: usize, n_changes: usize, place: usize) -> usize {
    let is_equal = |n_old: &usize| {
        let n_new = (n_old + n_changes).checked_sub(place);
        let lines = old.get(*n_old).zip(n_new.and_then(|n_new| new.get(n_new)));
        lines.is_some_and(|(old, new)| old == new)
    };
    start + (start..).take_while(is_equal).count()
}

fn walk_back<'a>(
    old: &[&'a str],
    new: &[&'a str],
    reaches: &[Vec<usize>],
    mut place: usize,
) -> Option<Vec<Line<'a>>> {
    let mut script = Vec::new();
    for n_changes in (0..reaches.len()).rev() {
        let end = *reaches.get(n_changes)?.get(place)?;
        let before = n_changes.checked_sub(1).and_then(|n_changes| reaches.get(n_changes));
        let (start, is_removed) = before.map_or((0, false), |before| step(before, place));
        let kept = old.get(start..end)?;
        script.extend(kept.iter().rev().map(|line| (Fate::Kept, *line)));
        if before.is_some() {
            if is_removed {
                script.push((Fate::Removed, *old.get(start.checked_sub(1)?)?));
                place = place.checked_sub(2)?;
            } else {
                let n_new = (start + n_changes).checked_sub(place)?;
                script.push((Fate::Added, *new.get(n_new.checked_sub(1)?)?));
            }
        }
    }
    script.reverse();
    Some(script)
}

/// Groups changes that are close together.
fn hunks(script: &[Line<'_>]) -> Vec<std::ops::Range<usize>> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    for (place, _) in script.iter().enumerate().filter(|(_, (fate, _))| *fate != Fate::Kept) {
        let start = place.saturating_sub(CONTEXT_LINES);
        let end = (place + 1 + CONTEXT_LINES).min(script.len());
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

fn show(out: &mut String, script: &[Line<'_>], hunk: std::ops::Range<usize>) {
    let count =
        |lines: &[Line<'_>], other: Fate| lines.iter().filter(|(fate, _)| *fate != other).count();
    let before = script.get(..hunk.start).unwrap_or_default();
    let lines = script.get(hunk).unwrap_or_default();
    let side = |other| {
        let n_lines = count(lines, other);
        let first = count(before, other) + usize::from(0 < n_lines);
        format!("{first},{n_lines}")
    };
    out.push_str(&format!("@@ -{} +{} @@\n", side(Fate::Added), side(Fate::Removed)));
    for (place, (fate, line)) in lines.iter().enumerate() {
        out.push(match fate {
            Fate::Kept => ' ',
            Fate::Removed => '-',
            Fate::Added => '+',
        });
        match partner(lines, place).filter(|_| LINE_CHARS_MAX < line.chars().count()) {
            Some(other) => out.push_str(&changed_part(line, other)),
            None => out.push_str(&readable(line)),
        }
        out.push('\n');
        if !line.ends_with('\n') {
            out.push_str("\\ no newline at the end of the file\n");
        }
    }
}

/// Returns the line that one line, alone, is replaced by or replaces.
fn partner<'a>(lines: &[Line<'a>], place: usize) -> Option<&'a str> {
    let fate = |place: usize| lines.get(place).map(|(fate, _)| *fate);
    let (removed, added) = match fate(place)? {
        Fate::Kept => return None,
        Fate::Removed => (place, place + 1),
        Fate::Added => (place.checked_sub(1)?, place),
    };
    let is_pair = fate(removed) == Some(Fate::Removed) && fate(added) == Some(Fate::Added);
    let before = removed.checked_sub(1).and_then(fate);
    let is_alone = before != Some(Fate::Removed) && fate(added + 1) != Some(Fate::Added);
    let other = if place == removed { added } else { removed };
    lines.get(other).filter(|_| is_pair && is_alone).map(|(_, line)| *line)
}

/// Shows of a long line what differs from the other one, whole, with a little around it: whoever
/// agrees to a change has to see it, also in a file that is all one line.
fn changed_part(line: &str, other: &str) -> String {
    let letters = |line: &str| line.trim_end_matches(['\r', '\n']).chars().collect::<Vec<_>>();
    let (line, other) = (letters(line), letters(other));
    let n_same = line.iter().zip(&other).take_while(|(one, two)| one == two).count();
    let room = line.len().min(other.len()) - n_same;
    let ends = line.iter().rev().zip(other.iter().rev()).take(room);
    let n_same_after = ends.take_while(|(one, two)| one == two).count();
    let start = n_same.saturating_sub(AROUND_CHARS);
    let end = (line.len() - n_same_after + AROUND_CHARS).min(line.len());
    let hidden = |n: usize| if n == 0 { String::new() } else { format!("… ({n} as before) …") };
    let part = line.get(start..end).unwrap_or_default();
    let shown: String = part.iter().copied().take(CHANGED_CHARS_MAX).map(safe).collect();
    let cut = match part.len().saturating_sub(CHANGED_CHARS_MAX) {
        0 => String::new(),
        n_more => format!("… ({n_more} more characters)"),
    };
    format!("{}{shown}{cut}{}", hidden(start), hidden(line.len() - end))
}

fn safe(letter: char) -> char {
    if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter }
}

/// Shortens what no terminal shows, and lets nothing in a file drive the terminal.
fn readable(line: &str) -> String {
    let line = line.trim_end_matches(['\r', '\n']);
    let mut shown: String = line.chars().take(LINE_CHARS_MAX).map(safe).collect();
    let n_hidden = line.chars().count().saturating_sub(LINE_CHARS_MAX);
    if 0 < n_hidden {
        shown.push_str(&format!("… ({n_hidden} more characters)"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, want: &str) {
        assert_eq!(unified(old, new), want);
    }

    #[test]
    fn changes_are_shown_with_their_neighbours() {
        check("a\nb\n", "a\nb\n", "");
        check("", "x\ny\n", "@@ -0,0 +1,2 @@\n+x\n+y\n");
        check("x\n", "", "@@ -1,1 +0,0 @@\n-x\n");
        check(
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            "1\n2\n3\n4\n5\nnew\n6\n7\n8\n9\n",
            "@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+new\n 6\n 7\n 8\n",
        );
        check("a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        let no_end = "\\ no newline at the end of the file\n";
        check("a", "a\n", &format!("@@ -1,1 +1,1 @@\n-a\n{no_end}+a\n"));
    }

    #[test]
    fn far_changes_are_two_hunks() {
        let old: String = (0..30).map(|line| format!("{line}\n")).collect();
        let new = old.replace("2\n3\n", "2\nX\n3\n").replace("27\n", "");
        assert_eq!(unified(&old, &new).matches("@@ -").count(), 2);
    }

    #[test]
    fn a_line_cannot_flood_or_drive_the_terminal() {
        let long = "x".repeat(5000);
        let shown = unified("", &format!("{long}\u{1b}[31m\n"));
        assert!(shown.len() < 400 && shown.contains("(4805 more characters)"), "{shown}");
        assert!(unified("", "\u{1b}[31m\r\n").contains("\u{fffd}[31m\n"));
    }

    #[test]
    fn of_a_long_line_the_part_is_shown_that_changes() {
        let (before, after) = ("a".repeat(900), "b".repeat(700));
        let old = format!("{{{before}{after}}}\n");
        let ours = format!("\"iai-mcp\": {}", "{\"command\": \"/b/iai-mcp\"}".repeat(20));
        let shown = unified(&old, &format!("{{{before}{ours}{after}}}\n"));
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        assert!(
            shown.contains(&format!("-… (861 as before) …{a}{b}… (661 as before) …\n")),
            "{shown}"
        );
        assert!(shown.contains(&format!("+… (861 as before) …{a}{ours}{b}… (661 as before) …\n")));
    }

    #[test]
    fn many_changes_are_shown_all_the_same() {
        let old: String = (0..2000).map(|line| format!("a{line}\n")).collect();
        let new: String = (0..2000).map(|line| format!("b{line}\n")).collect();
        assert_eq!(unified(&old, &new).lines().count(), 4001);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn the_script_turns_the_old_text_into_the_new(
            old in proptest::collection::vec(0..4u8, 0..12),
            new in proptest::collection::vec(0..4u8, 0..12),
        ) {
            let words = ["a\n", "b\n", "c\n", "d\n"];
            let line = |word: &u8| words[usize::from(*word)];
            let old: Vec<&str> = old.iter().map(line).collect();
            let new: Vec<&str> = new.iter().map(line).collect();
            let script = script(&old, &new);
            let side = |other: Fate| -> Vec<&str> {
                script.iter().filter(|(fate, _)| *fate != other).map(|(_, line)| *line).collect()
            };
            prop_assert_eq!(side(Fate::Added), old.clone());
            prop_assert_eq!(side(Fate::Removed), new.clone());
            prop_assert!(shortest(&old, &new).is_some());
        }
    }
}
