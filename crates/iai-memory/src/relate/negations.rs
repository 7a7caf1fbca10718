//! Tells a sentence from the same one denied by "do not": "uses Redis", "does not use Redis".

use iai_store::Difference;

use super::differences::Slot;
use super::tokens::Token;

/// Verbs that only carry a "not".
const AUXILIARIES: &[&str] = &["do", "does", "did"];
/// Words two such sentences have at least, and how many of them say something.
const TOKENS_MIN: usize = 4;
const CONTENT_MIN: usize = 2;
/// Verbs that change more than their ending.
const OTHER_FORMS: [(&str, &str); 4] =
    [("have", "has"), ("have", "had"), ("go", "went"), ("keep", "kept")];

/// Says how one of two sentences denies the other, where every other word is the same.
pub(super) fn negated(old: &[Token], new: &[Token]) -> Option<Slot> {
    let slot = |plain: &Token, denied: &[Token]| {
        let words: Vec<&str> = denied.iter().map(|token| token.written.as_str()).collect();
        (plain.written.clone(), words.join(" "))
    };
    if let Some((plain, denied)) = denies(new, old) {
        let (old_value, new_value) = slot(plain, denied);
        return Some(Slot { what: Difference::Negation, old_value, new_value });
    }
    let (plain, denied) = denies(old, new)?;
    let (new_value, old_value) = slot(plain, denied);
    Some(Slot { what: Difference::Negation, old_value, new_value })
}

/// Returns the verb that is denied, and the words that deny it.
fn denies<'a>(denied: &'a [Token], plain: &'a [Token]) -> Option<(&'a Token, &'a [Token])> {
    let is_not = |pair: &[Token]| {
        matches!(pair, [first, second] if AUXILIARIES.contains(&first.folded.as_str())
            && second.folded == "not")
    };
    if denied.len() != plain.len() + 2 || plain.len() < TOKENS_MIN {
        return None;
    }
    let place = denied.windows(2).position(is_not)?;
    let verb = plain.get(place)?;
    let (before, after) = (denied.get(..place)?, denied.get(place + 3..)?);
    let is_same = |one: &[Token], other: &[Token]| {
        one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.folded == b.folded)
    };
    let is_denied = is_same(before, plain.get(..place)?)
        && is_same(after, plain.get(place + 1..)?)
        && is_form_of(&denied.get(place + 2)?.folded, &verb.folded);
    let n_content = plain.iter().filter(|token| token.is_content()).count();
    let is_plain = !plain.iter().any(Token::is_negation) && CONTENT_MIN <= n_content;
    (is_denied && is_plain).then(|| denied.get(place..place + 3).map(|words| (verb, words)))?
}

/// Tells whether a word is a verb in another person or time: "uses", "used" and "use".
fn is_form_of(base: &str, form: &str) -> bool {
    let stem = base.strip_suffix(['e', 'y']).unwrap_or(base);
    let ending = form.strip_prefix(stem);
    base == form
        || matches!(ending, Some("s" | "es" | "ies" | "ed" | "ied")) && !stem.is_empty()
        || OTHER_FORMS.contains(&(base, form))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relate::tokens::tokens_of;

    #[test]
    fn a_sentence_is_denied_by_do_not() {
        for (old, new, values) in [
            ("The shop uses Redis", "The shop does not use Redis", ("uses", "does not use")),
            ("We deploy on Fridays", "We don't deploy on Fridays", ("deploy", "do not deploy")),
            (
                "The worker did not retry failed jobs",
                "The worker retries failed jobs",
                ("did not retry", "retries"),
            ),
        ] {
            let slot = negated(&tokens_of(old), &tokens_of(new)).unwrap();
            assert_eq!(slot.what, Difference::Negation);
            assert_eq!((slot.old_value.as_str(), slot.new_value.as_str()), values);
        }
    }

    #[test]
    fn other_sentences_are_not() {
        for (old, new) in [
            ("The shop uses Redis", "The blog does not use Redis"),
            ("The shop uses Redis", "The shop does not use Kafka"),
            ("The shop needs Redis", "The shop does not use Redis"),
            ("The shop does not use Redis", "The shop does not use Redis"),
            ("We deploy on Fridays", "We do deploy on Fridays"),
            ("We never deploy on Fridays", "We do not never deploy on Fridays"),
            ("They do it", "They do not do it"),
            ("", ""),
        ] {
            assert_eq!(negated(&tokens_of(old), &tokens_of(new)), None, "{old} / {new}");
        }
    }
}
