//! Verdicts that were given before. The same few texts are judged by every answer and every brief,
//! and a verdict depends on nothing but the text; a long text takes as long to judge as to find.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{LazyLock, Mutex, PoisonError};

use super::Verdict;

/// Shorter texts are judged sooner than looked up.
const TEXT_BYTES_MIN: usize = 24;
/// Verdicts kept of each age; twice so many in all, some 400 kB.
const VERDICTS_MAX: usize = 4096;

/// Returns the verdict on a text: the one it got before, or that of `judge`.
pub(super) fn judged(text: &str, judge: impl FnOnce(&str) -> Verdict) -> Verdict {
    static VERDICTS: LazyLock<Verdicts> = LazyLock::new(Verdicts::default);
    match text.len() < TEXT_BYTES_MIN {
        true => judge(text),
        false => VERDICTS.of(text, judge),
    }
}

/// Two generations: whatever is asked for again is young again, and the old are dropped together.
#[derive(Default)]
struct Verdicts {
    /// Keys that nobody outside knows, so that nobody can write two texts with one fingerprint.
    secrets: [RandomState; 2],
    generations: Mutex<Generations>,
}

#[derive(Default)]
struct Generations {
    young: BTreeMap<Fingerprint, Verdict>,
    old: BTreeMap<Fingerprint, Verdict>,
}

type Fingerprint = [u64; 2];

impl Verdicts {
    fn of(&self, text: &str, judge: impl FnOnce(&str) -> Verdict) -> Verdict {
        let fingerprint = self.secrets.each_ref().map(|secret| secret.hash_one(text));
        let known = self.with(|generations| generations.get(fingerprint));
        known.unwrap_or_else(|| {
            let verdict = judge(text);
            self.with(|generations| generations.put(fingerprint, verdict));
            verdict
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Generations) -> T) -> T {
        work(&mut self.generations.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Generations {
    fn get(&mut self, fingerprint: Fingerprint) -> Option<Verdict> {
        if let Some(verdict) = self.young.get(&fingerprint) {
            return Some(*verdict);
        }
        let verdict = self.old.remove(&fingerprint)?;
        self.put(fingerprint, verdict);
        Some(verdict)
    }

    fn put(&mut self, fingerprint: Fingerprint, verdict: Verdict) {
        if VERDICTS_MAX <= self.young.len() {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(fingerprint, verdict);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_text_is_judged_once_while_it_is_asked_for() {
        let verdicts = Verdicts::default();
        let n_judged = Cell::new(0);
        let ask = |n: usize| {
            verdicts.of(&format!("text {n}"), |text| {
                n_judged.set(n_judged.get() + 1);
                text.ends_with('7').then_some("ends badly")
            })
        };
        assert_eq!((ask(7), ask(7), ask(8)), (Some("ends badly"), Some("ends badly"), None));
        assert_eq!(n_judged.get(), 2);
        for n in 0..3 * VERDICTS_MAX {
            ask(n + 100);
            assert_eq!(ask(7), Some("ends badly"));
        }
        assert_eq!(n_judged.get(), 2 + 3 * VERDICTS_MAX);
        ask(8);
        assert_eq!(n_judged.get(), 3 + 3 * VERDICTS_MAX, "nobody asked for it");
        let n_kept = verdicts.with(|kept| kept.young.len() + kept.old.len());
        assert!(n_kept <= 2 * VERDICTS_MAX, "{n_kept}");
    }
}
