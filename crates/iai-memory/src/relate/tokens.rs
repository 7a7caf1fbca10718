//! Cuts a sentence into tokens that can be compared: words, numbers, names, paths.

/// Words that add nothing to what is said; a correction often has one more of them.
const FILLERS: &[&str] = &[
    "now",
    "actually",
    "currently",
    "today",
    "again",
    "just",
    "instead",
    "also",
    "really",
    "still",
    "already",
    "then",
    "so",
    "well",
    "ok",
    "okay",
    "jetzt",
    "теперь",
    "сейчас",
    "maintenant",
    "ahora",
];
/// Contractions, and what they stand for.
const CONTRACTIONS: &[(&str, &[&str])] = &[
    ("can't", &["can", "not"]),
    ("cannot", &["can", "not"]),
    ("won't", &["will", "not"]),
    ("shan't", &["shall", "not"]),
];
/// Frequent words that say nothing about what a sentence is about.
const STOP_WORDS: &[&str] = &[
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "to", "of", "in", "on", "at", "by",
    "for", "with", "from", "and", "or", "it", "its", "this", "that", "we", "i", "you", "he", "she",
    "they", "our", "my", "your", "has", "have", "had", "will", "do", "does", "did", "as", "not",
    "no", "der", "die", "das", "ist", "und", "le", "la", "les", "est", "el", "es", "y", "и", "в",
    "на", "не", "это",
];
const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "none",
    "without",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "nie",
    "не",
    "нет",
    "ни",
    "никогда",
    "pas",
    "jamais",
    "sans",
    "nunca",
    "sin",
    "非",
    "不",
    "没",
    "無",
    "沒",
];

/// One token: as written, and as compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) written: String,
    pub(crate) folded: String,
    /// A comma stands behind it: what follows is another item, or another clause.
    pub(crate) ends_item: bool,
}

impl Token {
    fn new(written: &str) -> Self {
        let folded = written.to_lowercase();
        Self { written: written.to_owned(), folded, ends_item: false }
    }

    pub(crate) fn has_digit(&self) -> bool {
        self.written.chars().any(|letter| letter.is_ascii_digit())
    }

    /// Tells whether the token says what a sentence is about.
    pub(crate) fn is_content(&self) -> bool {
        !STOP_WORDS.contains(&self.folded.as_str())
    }

    pub(crate) fn is_negation(&self) -> bool {
        NEGATIONS.contains(&self.folded.as_str())
    }
}

/// Returns the tokens of a sentence, fillers left out, contractions opened.
pub(crate) fn tokens_of(sentence: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for word in sentence.split_whitespace() {
        for piece in cut_wide(trimmed(word)) {
            take(piece, &mut tokens);
        }
        if let Some(last) = tokens.last_mut().filter(|_| word.ends_with([',', ';', '，', '、'])) {
            last.ends_item = true;
        }
    }
    tokens
}

fn take(piece: &str, tokens: &mut Vec<Token>) {
    let folded = piece.to_lowercase().replace('’', "'");
    if piece.is_empty() || FILLERS.contains(&folded.as_str()) {
        return;
    }
    let opened = CONTRACTIONS.iter().find(|(short, _)| *short == folded);
    if let Some((_, words)) = opened {
        tokens.extend(words.iter().map(|word| Token::new(word)));
    } else if let Some(verb) = folded.strip_suffix("n't") {
        tokens.extend([Token::new(verb), Token::new("not")]);
    } else {
        tokens.push(Token::new(piece));
    }
}

/// Takes punctuation off the ends of a word, but leaves what belongs to it: `/etc`, `~/x`, `50%`.
fn trimmed(word: &str) -> &str {
    let is_lead = |letter: char| !letter.is_alphanumeric() && !matches!(letter, '/' | '~' | '.');
    let is_trail = |letter: char| !letter.is_alphanumeric() && !matches!(letter, '%' | '/');
    let word = word.trim_start_matches(is_lead).trim_end_matches(is_trail);
    // About so many, not somebody's home.
    let word = if word.starts_with("~/") { word } else { word.trim_start_matches('~') };
    if word.chars().any(char::is_alphanumeric) { word } else { "" }
}

/// Scripts that write without blanks are cut into characters; what they enclose stays whole.
fn cut_wide(word: &str) -> Vec<&str> {
    if !word.chars().any(is_wide) {
        return vec![word];
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    for (place, letter) in word.char_indices().filter(|(_, letter)| is_wide(*letter)) {
        pieces.extend(word.get(start..place));
        start = place + letter.len_utf8();
        pieces.extend(word.get(place..start));
    }
    pieces.extend(word.get(start..));
    pieces.iter().map(|piece| trimmed(piece)).filter(|piece| !piece.is_empty()).collect()
}

fn is_wide(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{3001}'..='\u{3002}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expect: &[&str]) {
        let tokens = tokens_of(sentence);
        let written: Vec<&str> = tokens.iter().map(|token| token.written.as_str()).collect();
        assert_eq!(written, expect, "{sentence}");
    }

    #[test]
    fn words_lose_their_punctuation_and_keep_their_own_marks() {
        check("The port, (now) is 8080!", &["The", "port", "is", "8080"]);
        check("logs go to `/var/log/app`.", &["logs", "go", "to", "/var/log/app"]);
        check("see ~/.config/app.toml at ~50%", &["see", "~/.config/app.toml", "at", "50%"]);
        check("… — ??", &[]);
    }

    #[test]
    fn contractions_are_opened() {
        check(
            "it doesn't, can’t and won't",
            &["it", "does", "not", "can", "not", "and", "will", "not"],
        );
    }

    #[test]
    fn wide_scripts_are_cut_into_characters() {
        check("端口是8080号", &["端", "口", "是", "8080", "号"]);
        check("порт равен 8080", &["порт", "равен", "8080"]);
    }
}
