//! Words that have no place in a comment, in an attribute, or anywhere.

use super::Complaint;
use super::tokens::{Kind, Token};
use super::tree::Tree;

/// Marks of open work; it is kept where it can be seen, not in the code.
const OPEN_WORK: &[&str] = &["TODO", "FIXME", "XXX"];

/// `(attribute, what to do instead)`.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("ignore", "a test nobody runs proves nothing; make it run or delete it"),
    ("allow", "write `#[expect(lint, reason = \"…\")]`, so that it goes when it is not needed"),
];

/// `(text, why not)`: traces of one machine, which help nobody else. Split, to pass their own rule.
const DENIED: &[(&str, &str)] = &[
    (concat!("crates.io", "/api"), "no registry is named here"),
    (concat!("/ro", "ot/"), "a path of one machine; write it relative to the repository"),
    (concat!("/wo", "rk/"), "a path of one machine; write it relative to the repository"),
];

/// No comment keeps open work.
pub(super) fn comments(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in &tree.sources {
        for (line, comment) in &source.reading.comments {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            for word in comment.split(|c| !is_word(c)).filter(|word| OPEN_WORK.contains(word)) {
                let what = format!("`{word}`: do it now, or note it in the tracker");
                complaints.push(Complaint::new(&source.path, *line, what));
            }
        }
    }
}

/// No test is switched off and no lint is silenced for good.
pub(super) fn attributes(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in &tree.sources {
        for token in words_in_attributes(&source.reading.tokens) {
            for (word, instead) in ATTRIBUTES.iter().filter(|(w, _)| token.word() == Some(*w)) {
                let what = format!("`#[{word}`: {instead}");
                complaints.push(Complaint::new(&source.path, token.line, what));
            }
        }
    }
}

/// No text file names what only one machine has.
pub(super) fn denied(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for text in &tree.texts {
        for (index, line) in text.text.lines().enumerate() {
            for (word, why) in DENIED.iter().filter(|(word, _)| line.contains(word)) {
                let what = format!("`{word}`: {why}");
                complaints.push(Complaint::new(&text.path, index + 1, what));
            }
        }
    }
}

/// Returns the words between `#[` and its closing bracket, for every attribute.
fn words_in_attributes(tokens: &[Token]) -> Vec<&Token> {
    let mut words = Vec::new();
    let mut n_open = 0usize;
    let mut before = [' ', ' '];
    for token in tokens {
        let mark = match token.kind {
            Kind::Mark(mark) => mark,
            Kind::Word(_) | Kind::Path | Kind::Text => ' ',
        };
        let is_start = matches!((before, mark), ([_, '#'] | ['#', '!'], '['));
        match mark {
            '[' if is_start || n_open > 0 => n_open += 1,
            ']' => n_open = n_open.saturating_sub(1),
            _ if n_open > 0 && token.word().is_some() => words.push(token),
            _ => {}
        }
        before = [before[1], mark];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn open_work_is_not_kept_in_comments() {
        for word in OPEN_WORK {
            let want = format!("a.rs:2: `{word}`: do it now, or note it in the tracker");
            for comment in ["// W: later", "/// W", "x(); /* (W) */"] {
                let text = format!("//! X.\n{}\n", comment.replace('W', word));
                expect(comments, &[("a.rs", &text)], &[&want]);
            }
            expect(comments, &[("a.rs", &format!("let x = \"{word}\"; // A{word}B\n"))], &[]);
        }
    }

    #[test]
    fn tests_run_and_lints_are_expected_not_silenced() {
        let cases = [
            ("#[ignore]", Some("ignore")),
            ("#[ignore = \"slow\"]", Some("ignore")),
            ("#[cfg_attr(miri, ignore)]", Some("ignore")),
            ("#[allow(dead_code)]", Some("allow")),
            ("#![allow(dead_code)]", Some("allow")),
            ("#[expect(dead_code, reason = \"…\")]", None),
            ("#[arg(ignore_case = true, value_parser = [\"a\"])]\nlet ignore = allow;", None),
            ("// #[ignore]\nlet x = \"#[ignore]\";", None),
            ("let ignore = [allow];", None),
        ];
        for (text, want) in cases {
            let rule = ATTRIBUTES.iter().find(|(word, _)| Some(*word) == want);
            let want = rule.map(|(word, instead)| format!("a.rs:1: `#[{word}`: {instead}"));
            let want: Vec<&str> = want.iter().map(String::as_str).collect();
            expect(attributes, &[("a.rs", text)], &want);
        }
    }

    #[test]
    fn traces_of_a_machine_are_noticed_in_any_text() {
        for (word, why) in DENIED {
            let want = format!("docs/a.md:2: `{word}`: {why}");
            expect(denied, &[("docs/a.md", &format!("x\nsee {word}x\n"))], &[&want]);
        }
        expect(denied, &[("docs/a.md", "framework/ network/ root/ /home/dev/\n")], &[]);
    }
}
