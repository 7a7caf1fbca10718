//! Finds every path a file mentions, imports spelled out and `self`/`super` resolved to `crate`.

use super::tokens::{Kind, Reading, Token};

/// A path as written in code, such as `crate::daemon::run` or `unsafe`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) line: usize,
    pub(super) parts: Vec<String>,
    /// The path is followed by `!`.
    pub(super) is_macro: bool,
}

impl Name {
    /// Returns whether `wanted` occurs in this path; `wanted!` asks for a macro.
    pub(super) fn matches(&self, wanted: &str) -> bool {
        let (wanted, wants_macro) = match wanted.strip_suffix('!') {
            Some(wanted) => (wanted, true),
            None => (wanted, false),
        };
        let wanted: Vec<&str> = wanted.split("::").collect();
        (self.is_macro || !wants_macro)
            && self.parts.windows(wanted.len()).any(|parts| parts == wanted)
    }
}

/// Returns the names in `reading`, a file that holds `module` (its path below `crate`).
pub(super) fn find(reading: &Reading, module: &[String]) -> Vec<Name> {
    let mut finder = Finder {
        tokens: &reading.tokens,
        at: 0,
        module: module.to_vec(),
        inline: Vec::new(),
        depth: 0,
        names: Vec::new(),
    };
    while finder.at < finder.tokens.len() {
        finder.step();
    }
    finder.names
}

struct Finder<'a> {
    tokens: &'a [Token],
    at: usize,
    module: Vec<String>,
    /// The depth of braces at which each inline module we are in was opened.
    inline: Vec<usize>,
    depth: usize,
    names: Vec<Name>,
}

impl Finder<'_> {
    fn step(&mut self) {
        match self.peek(0).map(|token| &token.kind) {
            Some(Kind::Mark('{')) => {
                self.depth += 1;
                self.at += 1;
            }
            Some(Kind::Mark('}')) => self.close(),
            Some(Kind::Word(word)) if word == "mod" => self.open_module(),
            // `use<…>` in a type is not an import.
            Some(Kind::Word(word)) if word == "use" && !self.is_mark(1, '<') => {
                self.at += 1;
                self.import(&[]);
            }
            // What follows a dot is a field or a method, whatever it is called.
            Some(Kind::Mark('.')) if self.word(1).is_some() => self.at += 2,
            Some(Kind::Word(_)) => self.mention(),
            _ => self.at += 1,
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.inline.last() == Some(&self.depth) {
            self.inline.pop();
            self.module.pop();
        }
        self.at += 1;
    }

    fn open_module(&mut self) {
        if let Some(name) = self.word(1)
            && self.is_mark(2, '{')
        {
            self.module.push(name.to_owned());
            self.inline.push(self.depth);
        }
        self.at += 1;
    }

    /// Reads one branch of an import whose path so far is `prefix`.
    fn import(&mut self, prefix: &[String]) {
        let mut parts = prefix.to_vec();
        let line = self.peek(0).map_or(0, |token| token.line);
        while let Some(token) = self.peek(0) {
            match &token.kind {
                Kind::Word(word) if word == "as" => self.at += 2,
                Kind::Word(word) => {
                    parts.push(word.clone());
                    self.at += 1;
                }
                Kind::Path | Kind::Mark('*') => self.at += 1,
                Kind::Mark('{') => return self.import_group(&parts),
                Kind::Mark(_) | Kind::Text => break,
            }
        }
        if parts.len() > 1 && parts.last().is_some_and(|last| last == "self") {
            parts.pop();
        }
        self.push(line, parts, false);
    }

    fn import_group(&mut self, prefix: &[String]) {
        self.at += 1;
        while self.at < self.tokens.len() && !self.is_mark(0, '}') {
            let before = self.at;
            self.import(prefix);
            if self.is_mark(0, ',') || self.at == before {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn mention(&mut self) {
        let line = self.peek(0).map_or(0, |token| token.line);
        let mut parts = Vec::new();
        while let Some(word) = self.word(0) {
            parts.push(word.to_owned());
            self.at += 1;
            if self.peek(0).is_none_or(|token| token.kind != Kind::Path) {
                break;
            }
            self.at += 1;
        }
        let is_macro = self.is_mark(0, '!');
        self.push(line, parts, is_macro);
    }

    fn push(&mut self, line: usize, parts: Vec<String>, is_macro: bool) {
        if !parts.is_empty() {
            let parts = self.resolve(parts);
            self.names.push(Name { line, parts, is_macro });
        }
    }

    fn resolve(&self, parts: Vec<String>) -> Vec<String> {
        let n_up = parts.iter().take_while(|part| *part == "super" || *part == "self").count();
        // A lone `self` is a value.
        if n_up == 0 || parts == ["self"] {
            return parts;
        }
        let mut resolved = vec!["crate".to_owned()];
        let n_super = parts.iter().filter(|part| *part == "super").count();
        let n_kept = self.module.len().saturating_sub(n_super);
        resolved.extend(self.module.iter().take(n_kept).cloned());
        resolved.extend(parts.into_iter().skip(n_up));
        resolved
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn word(&self, ahead: usize) -> Option<&str> {
        self.peek(ahead)?.word()
    }

    fn is_mark(&self, ahead: usize, mark: char) -> bool {
        self.peek(ahead).is_some_and(|token| token.is_mark(mark))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::read;
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let names = find(&read(text), &["capture".to_owned(), "turns".to_owned()]);
        let shown: Vec<String> = names.iter().map(|name| name.parts.join("::")).collect();
        assert_eq!(shown, want, "{text}");
    }

    #[test]
    fn imports_are_spelled_out() {
        check("use std::fs;", &["std::fs"]);
        check("use std::{fs, io::{self, Read as _}};", &["std::fs", "std::io", "std::io::Read"]);
        check("use std::{\n    fs,\n    io,\n};\nf()", &["std::fs", "std::io", "f"]);
        check("pub(crate) use a::*;", &["pub", "crate", "a"]);
        check("use {a::b, c};", &["a::b", "c"]);
    }

    #[test]
    fn relative_paths_become_absolute() {
        check("use super::super::daemon;", &["crate::daemon"]);
        check("super::deliver()", &["crate::capture::deliver"]);
        check("self::a::b", &["crate::capture::turns::a::b"]);
        let inline = "mod tests { use super::*; } super::x";
        check(inline, &["tests", "crate::capture::turns", "crate::capture::x"]);
        check("self.daemon", &["self"]);
    }

    #[test]
    fn fields_and_methods_are_not_names() {
        check("command.stdout(null)", &["command", "null"]);
        check("a.b.c::<D>()", &["a", "D"]);
    }

    #[test]
    fn a_name_matches_by_whole_parts() {
        let cases = [
            ("std::fs::read(p)", "std::fs", true),
            ("std::fs_extra::read(p)", "std::fs", false),
            ("println!(x)", "println!", true),
            ("println(x)", "println!", false),
            ("use std::io::{Write, stdout};", "io::stdout", true),
            ("unsafe { x }", "unsafe", true),
            ("expect(unsafe_code)", "unsafe", false),
        ];
        for (text, wanted, want) in cases {
            let names = find(&read(text), &[]);
            assert_eq!(names.iter().any(|name| name.matches(wanted)), want, "{text}");
        }
    }
}
