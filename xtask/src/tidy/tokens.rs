//! Splits Rust text into words, marks and comments. Strings and characters keep only their place.

/// A Rust file without its strings: what is said to the compiler, and what is said to the reader.
pub(super) struct Reading {
    pub(super) tokens: Vec<Token>,
    /// `(line, text)`, one entry per line of a comment.
    pub(super) comments: Vec<(usize, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word(String),
    /// `::`
    Path,
    Mark(char),
    /// A string of any kind, its content left out.
    Text,
}

impl Token {
    pub(super) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(word) => Some(word),
            Kind::Path | Kind::Mark(_) | Kind::Text => None,
        }
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

pub(super) fn read(text: &str) -> Reading {
    let mut cursor = Cursor { chars: text.chars().collect(), at: 0, line: 1 };
    let mut reading = Reading { tokens: Vec::new(), comments: Vec::new() };
    while let Some(c) = cursor.peek(0) {
        let line = cursor.line;
        let kind = match (c, cursor.peek(1)) {
            ('/', Some('/')) => {
                reading.comments.push((line, cursor.take_while(|c| c != '\n')));
                continue;
            }
            ('/', Some('*')) => {
                let comment = cursor.block_comment();
                let lines = comment.lines().enumerate();
                reading.comments.extend(lines.map(|(n, text)| (line + n, text.to_owned())));
                continue;
            }
            ('"', _) => {
                cursor.skip_string();
                Kind::Text
            }
            ('\'', _) => {
                cursor.skip_quote();
                continue;
            }
            (':', Some(':')) => {
                cursor.skip(2);
                Kind::Path
            }
            _ if is_word(c) => cursor.word(),
            _ => {
                cursor.skip(1);
                if c.is_whitespace() {
                    continue;
                }
                Kind::Mark(c)
            }
        };
        reading.tokens.push(Token { line, kind });
    }
    reading
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Cursor {
    chars: Vec<char>,
    at: usize,
    line: usize,
}

impl Cursor {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        if c == '\n' {
            self.line += 1;
        }
        Some(c)
    }

    fn skip(&mut self, n: usize) {
        for _ in 0..n {
            self.next();
        }
    }

    fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.peek(0).filter(|c| is_wanted(*c)) {
            taken.push(c);
            self.next();
        }
        taken
    }

    fn word(&mut self) -> Kind {
        let word = self.take_while(is_word);
        let n_hashes = (0..).take_while(|n| self.peek(*n) == Some('#')).count();
        let is_raw = matches!(word.as_str(), "r" | "br" | "cr");
        match self.peek(n_hashes) {
            Some('"') if is_raw => {
                self.skip_raw_string(n_hashes);
                Kind::Text
            }
            Some(c) if word == "r" && n_hashes == 1 && is_word(c) => {
                self.skip(1);
                Kind::Word(self.take_while(is_word))
            }
            _ => Kind::Word(word),
        }
    }

    fn block_comment(&mut self) -> String {
        let mut comment = String::new();
        let mut depth = 0usize;
        while let Some(c) = self.peek(0) {
            let pair = (c, self.peek(1));
            match pair {
                ('/', Some('*')) => depth += 1,
                ('*', Some('/')) => depth -= 1,
                _ => {
                    comment.push(c);
                    self.next();
                    continue;
                }
            }
            comment.extend([pair.0, pair.1.unwrap_or_default()]);
            self.skip(2);
            if depth == 0 {
                break;
            }
        }
        comment
    }

    fn skip_string(&mut self) {
        self.skip(1);
        while let Some(c) = self.next() {
            match c {
                '"' => return,
                '\\' => self.skip(1),
                _ => {}
            }
        }
    }

    fn skip_raw_string(&mut self, n_hashes: usize) {
        self.skip(n_hashes + 1);
        while let Some(c) = self.next() {
            if c == '"' && (0..n_hashes).all(|n| self.peek(n) == Some('#')) {
                self.skip(n_hashes);
                return;
            }
        }
    }

    /// Skips a character or a lifetime; both begin with a quote, only one ends with it.
    fn skip_quote(&mut self) {
        match (self.peek(1), self.peek(2)) {
            (Some('\\'), _) => {
                self.skip(3);
                self.take_while(|c| c != '\'');
                self.skip(1);
            }
            (Some(_), Some('\'')) => self.skip(3),
            _ => {
                self.skip(1);
                self.take_while(is_word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let tokens = read(text).tokens.into_iter().map(|token| match token.kind {
            Kind::Word(word) => word,
            Kind::Path => "::".to_owned(),
            Kind::Mark(mark) => mark.to_string(),
            Kind::Text => "\"\"".to_owned(),
        });
        assert_eq!(tokens.collect::<Vec<_>>().join(" "), want, "{text}");
    }

    #[test]
    fn strings_and_characters_hide_their_content() {
        check(r#"f("unsafe \" x", 'u')"#, "f ( \"\" , )");
        check(r###"r#"a " unsafe"# y"###, "\"\" y");
        check(r#"br"unsafe" y"#, "\"\" y");
        check(r#"b"unsafe" y"#, "b \"\" y");
        check(r"'\'' '\u{1F}' '\\' y", "y");
        check("\"a\nb\" y", "\"\" y");
    }

    #[test]
    fn lifetimes_and_raw_names_are_not_strings() {
        check("fn f<'a>(x: &'a str)", "fn f < > ( x : & str )");
        check("r#type::x", "type :: x");
        check("'outer: loop {}", ": loop { }");
    }

    #[test]
    fn comments_are_kept_apart_with_their_lines() {
        let reading = read("a // one\n/* two\n/* in */ three */ b");
        let words: Vec<_> = reading.tokens.iter().map(|t| (t.line, t.word())).collect();
        assert_eq!(words, [(1, Some("a")), (3, Some("b"))]);
        let comments: Vec<_> = reading.comments.iter().map(|(n, c)| (*n, c.as_str())).collect();
        assert_eq!(comments, [(1, "// one"), (2, "/* two"), (3, "/* in */ three */")]);
    }
}
