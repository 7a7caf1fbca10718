//! Tells the language of a text: by its script, or by the small words every sentence needs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The beginning that is looked at: two or three sentences are enough.
const TEXT_BYTES_MAX: usize = 600;
/// Fewer small words than this may be a coincidence.
const WORDS_MIN: usize = 2;
/// Letters of a script that make a text of it, of all letters.
const SCRIPT_SHARE: usize = 4;

/// Small words that are of one of these languages, and hardly of another.
const SMALL_WORDS: [(&str, &str); 7] = [
    (
        "en",
        "the and is are was were of to with that this for it you we have has not what when how \
         please can should would be from by my our your they but if let",
    ),
    (
        "de",
        "der die das und ist nicht ich wir ein eine mit für auf den dem zu von sich auch wie wird \
         sind bitte aber wenn haben kann noch im als oder einen",
    ),
    (
        "fr",
        "le les des et est une du dans pour pas que qui nous vous avec sur je il ce cette mais \
         sont être plus ont aux fait avons",
    ),
    (
        "es",
        "el los las una es por para con que del se está pero como más este esta muy hay son \
         también yo qué cuando porque y tenemos",
    ),
    (
        "it",
        "il gli che non è sono della per una con di nel anche ma questo come più abbiamo alla dei \
         delle perché",
    ),
    (
        "pt",
        "o os uma não é que para com em do da dos das por mais como mas foi você são está nós \
         isso também",
    ),
    (
        "nl",
        "de het een en van niet is ik wij voor met dat zijn op maar ook naar wordt hebben deze \
         aan er",
    ),
];

/// Returns the language as a two-letter code, or nothing when it cannot be told.
pub(crate) fn language_of(text: &str) -> Option<&'static str> {
    let text = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or(text);
    let (mut n_letters, mut n_latin) = (0_usize, 0_usize);
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        n_letters += 1;
        n_latin += usize::from(letter < '\u{250}');
    }
    if n_letters == 0 {
        return None;
    }
    if (n_letters - n_latin).saturating_mul(SCRIPT_SHARE) < n_letters {
        return by_small_words(text);
    }
    by_script(text, n_letters - n_latin)
}

/// A language, and the letters of its script.
type Script = (&'static str, fn(char) -> bool);

/// One language for each script that has one; some are told apart by letters only one uses.
fn by_script(text: &str, n_letters: usize) -> Option<&'static str> {
    let count = |is_one: fn(char) -> bool| text.chars().filter(|letter| is_one(*letter)).count();
    let is_mostly = |n: usize| n_letters <= n.saturating_mul(2);
    if 0 < count(|c| matches!(c, '\u{3040}'..='\u{30ff}')) {
        return Some("ja");
    }
    let scripts: [Script; 8] = [
        ("ko", |c| matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}')),
        ("zh", |c| matches!(c, '\u{3400}'..='\u{9fff}')),
        ("ru", |c| matches!(c, '\u{400}'..='\u{52f}')),
        ("ar", |c| matches!(c, '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}')),
        ("he", |c| matches!(c, '\u{590}'..='\u{5ff}')),
        ("th", |c| matches!(c, '\u{e00}'..='\u{e7f}')),
        ("el", |c| matches!(c, '\u{370}'..='\u{3ff}')),
        ("hi", |c| matches!(c, '\u{900}'..='\u{97f}')),
    ];
    let (language, _) = scripts.into_iter().find(|(_, is_one)| is_mostly(count(*is_one)))?;
    let other = match language {
        "ru" if 0 < count(|c| matches!(c, 'і' | 'ї' | 'є' | 'ґ')) => "uk",
        "ar" if 0 < count(|c| matches!(c, 'پ' | 'چ' | 'ژ' | 'گ')) => "fa",
        _ => language,
    };
    Some(other)
}

fn by_small_words(text: &str) -> Option<&'static str> {
    let mut counts = [0_usize; SMALL_WORDS.len()];
    let lower = text.to_lowercase();
    for word in lower.split(|letter: char| !letter.is_alphabetic()) {
        let Some(languages) = LANGUAGES.get(word).filter(|_| !word.is_empty()) else { continue };
        for (place, count) in counts.iter_mut().enumerate() {
            *count += usize::from(languages >> place & 1);
        }
    }
    let n_best = counts.iter().copied().max()?;
    let mut best = counts.iter().zip(SMALL_WORDS).filter(|(n, _)| **n == n_best);
    let (_, (language, _)) = best.next()?;
    (WORDS_MIN <= n_best && best.next().is_none()).then_some(language)
}

/// Word → a bit for each language that has it, in their order.
static LANGUAGES: LazyLock<BTreeMap<&str, u8>> = LazyLock::new(|| {
    let mut languages = BTreeMap::new();
    for (place, (_, words)) in SMALL_WORDS.iter().enumerate() {
        for word in words.split_whitespace() {
            *languages.entry(word).or_default() |= 1 << place;
        }
    }
    languages
});

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(language_of(text), expect, "{text}");
    }

    #[test]
    fn small_words_tell_the_language() {
        check("What was the retry policy we decided on?", Some("en"));
        check("Was ist die Regel für den Neustart?", Some("de"));
        check("Nous avons décidé que le service est prêt", Some("fr"));
        check("El despliegue es el viernes por la tarde", Some("es"));
        check("Il rilascio non è ancora pronto per la settimana", Some("it"));
        check("O serviço não está pronto para a versão", Some("pt"));
        check("Het plan is niet klaar voor de klant", Some("nl"));
    }

    #[test]
    fn the_script_tells_the_language() {
        check("Когда выходит новая версия?", Some("ru"));
        check("Коли вийде нова версія?", Some("uk"));
        check("我们决定使用数据库", Some("zh"));
        check("データベースを使うことにした", Some("ja"));
        check("데이터베이스를 사용하기로 했다", Some("ko"));
        check("متى الإصدار الجديد", Some("ar"));
        check("เราตัดสินใจใช้ฐานข้อมูล", Some("th"));
        check("我们用 PostgreSQL 做数据库存储", Some("zh"));
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        for text in ["", "42", "cargo test", "ok", "die", "SELECT x"] {
            check(text, None);
        }
    }
}
