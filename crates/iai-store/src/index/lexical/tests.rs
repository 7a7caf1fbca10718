//! The index against the simplest thing that could be one: every score worked out by hand.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;
use crate::index::segment::without;

const WORDS: [&str; 12] =
    ["a", "b", "c", "d", "e", "fox", "hen", "owl", "ant", "bee", "cow", "unicorn"];

/// What is done between two memories.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A memory with this many of the first words, this often.
    Add(u16),
    Skip,
    Freeze,
    Seal,
    Merge,
    Remove(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => any::<u16>().prop_map(Step::Add),
        1 => Just(Step::Skip),
        1 => Just(Step::Freeze),
        1 => Just(Step::Seal),
        1 => Just(Step::Merge),
        1 => (0_usize..64).prop_map(Step::Remove),
    ]
}

/// Words that follow a few bits: common ones often, rare ones seldom, the last one never.
fn text_of(bits: u16) -> String {
    let mut text = String::new();
    for (place, word) in (0_u32..).zip(&WORDS[..11]) {
        let is_there = place < 3 || bits >> place & 1 == 1;
        for _ in 0..u32::from(is_there) * (1 + u32::from(bits) % (place + 2)) {
            text.push_str(word);
            text.push(' ');
        }
    }
    text
}

#[derive(Default)]
struct Model {
    memories: Vec<(u32, Vec<String>)>,
}

impl Model {
    /// BM25 by its formula, over all memories and query terms.
    fn score(&self, number: u32, words: &[&str]) -> f64 {
        let n = self.memories.len() as f64;
        let mean = self.memories.iter().map(|(_, words)| words.len()).sum::<usize>() as f64 / n;
        let Some((_, said)) = self.memories.iter().find(|(known, _)| *known == number) else {
            return 0.0;
        };
        let distinct: BTreeSet<&str> = words.iter().copied().collect();
        distinct.iter().fold(0.0, |sum, word| {
            let has = |said: &Vec<String>| said.iter().any(|known| known == word);
            let frequency = self.memories.iter().filter(|(_, said)| has(said)).count() as f64;
            let count = said.iter().filter(|known| known == word).count() as f64;
            let idf = (1.0 + (n - frequency + 0.5) / (frequency + 0.5)).ln().powf(1.5);
            let length = said.len() as f64;
            sum + idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))
        })
    }

    /// What a search finds that reads so many postings, rarest words first, newest first.
    fn newest_by_rarest(&self, words: &[&str], n_postings_max: usize) -> BTreeSet<u32> {
        let having = |word: &&str| -> Vec<u32> {
            let has = |said: &Vec<String>| said.iter().any(|known| known == word);
            self.memories.iter().filter(|(_, said)| has(said)).map(|(n, _)| *n).collect()
        };
        let mut lists: Vec<(Vec<u32>, &str)> = words.iter().map(|w| (having(w), *w)).collect();
        lists.sort_by_key(|(numbers, word)| (numbers.len(), word.to_owned()));
        let mut n_left = n_postings_max;
        let mut found = BTreeSet::new();
        for (numbers, _) in lists {
            let n_read = numbers.len().min(n_left);
            n_left -= n_read;
            found.extend(numbers.iter().rev().take(n_read));
        }
        found
    }

    fn best(&self, words: &[&str], is_in: impl Fn(u32) -> bool) -> Vec<(u32, f64)> {
        let mut best: Vec<(u32, f64)> = (self.memories.iter())
            .map(|(number, _)| (*number, self.score(*number, words)))
            .filter(|(number, score)| *score > 0.0 && is_in(*number))
            .collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best
    }
}

fn run(steps: &[Step]) -> (LexicalIndex, Model) {
    let (mut index, mut model, mut next) = (LexicalIndex::default(), Model::default(), 1);
    for step in steps {
        match step {
            Step::Add(bits) => {
                let text = text_of(*bits);
                index.add(next, &MemoryWords::of(&text, None));
                model.memories.push((next, text.split_whitespace().map(str::to_owned).collect()));
                next += 1;
            }
            Step::Skip => next += 1,
            Step::Freeze => index.freeze(),
            Step::Seal => {
                if let Some(tail) = index.to_seal() {
                    index.replace(tail.sealed());
                }
            }
            Step::Merge => {
                let run: Vec<_> = index.segments.iter().rev().take(3).rev().cloned().collect();
                if run.len() > 1 {
                    index.replace(merge(&run));
                }
            }
            Step::Remove(place) => {
                let Some(place) = place.checked_rem(model.memories.len()) else { continue };
                let (number, _) = model.memories.remove(place);
                index.remove_unsealed(&[number]);
                let holder =
                    index.segments.iter().find(|s| (s.first()..=s.last()).contains(&number));
                if let Some(segment) = holder.map(|segment| without(segment, |n| n == number)) {
                    index.replace(segment);
                }
            }
        }
    }
    (index, model)
}

fn query_of(words: &[&str]) -> LexicalQuery {
    LexicalQuery { words: words.iter().map(|&word| word.to_owned()).collect(), phrases: Vec::new() }
}

/// Equal scores may come in any order between the two: they differ in the last digit.
fn check_best(index: &LexicalIndex, model: &Model, words: &[&str], limit: usize, step: u32) {
    let is_in = |number: u32| number.is_multiple_of(step);
    let found = index.resolve(&query_of(words)).search(&|number| is_in(number.get()), limit);
    let best = model.best(words, is_in);
    assert_eq!(found.len(), best.len().min(limit), "{words:?}");
    for (hit, (_, score)) in found.iter().zip(&best) {
        assert!((f64::from(hit.score) - score).abs() < 1e-4, "{words:?}: {found:?} {best:?}");
        let own = model.score(hit.number.get(), words);
        assert!((f64::from(hit.score) - own).abs() < 1e-4, "{words:?}: {hit:?} {own}");
        assert!(is_in(hit.number.get()));
    }
    assert!(found.is_sorted_by(|a, b| (b.score, a.number) <= (a.score, b.number)));
}

proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Config::default() })]

    #[test]
    fn it_scores_by_the_formula_however_it_is_cut(
        steps in prop::collection::vec(step(), 1..120),
        asked in prop::collection::vec(0..WORDS.len(), 1..8),
        limit in 1_usize..20,
        every in 1_u32..4,
    ) {
        let (index, model) = run(&steps);
        let words: Vec<&str> = asked.iter().map(|place| WORDS[*place]).collect();
        check_best(&index, &model, &words, limit, every);
        let numbers: Vec<MemoryNumber> = (0..130).rev().map(MemoryNumber::new).collect();
        let scores = index.resolve(&query_of(&words)).scores(&numbers);
        for (number, score) in numbers.iter().zip(scores) {
            let expect = model.score(number.get(), &words);
            prop_assert!((f64::from(score) - expect).abs() < 1e-4, "{number:?} {score} {expect}");
        }
        for word in words {
            let expect = model.memories.iter().filter(|(_, said)| said.iter().any(|w| w == word));
            prop_assert_eq!(index.document_frequency(word), expect.count() as u64);
        }
    }

    #[test]
    fn cutting_it_differently_changes_no_bit(
        texts in prop::collection::vec(any::<u16>(), 1..200),
        cuts in prop::collection::btree_set(0_usize..200, 0..6),
    ) {
        let whole: Vec<Step> = texts.iter().map(|bits| Step::Add(*bits)).collect();
        let mut cut = Vec::new();
        for (place, step) in whole.iter().enumerate() {
            cut.push(*step);
            if cuts.contains(&place) {
                cut.extend([Step::Freeze, Step::Seal]);
            }
        }
        let query = query_of(&["a", "c", "fox", "bee", "cow"]);
        let ask = |steps: &[Step]| run(steps).0.resolve(&query).search(&|_| true, 10);
        prop_assert_eq!(ask(&whole), ask(&cut));
    }
}

proptest! {
    #![proptest_config(Config { cases: 100, failure_persistence: None, ..Config::default() })]

    /// With a bound that is reached, hits are fewer or others; which ones does not depend on how
    /// memories are spread, and what each scores is exact.
    #[test]
    fn a_bounded_search_finds_the_newest_that_have_the_rarest_word(
        texts in prop::collection::vec(any::<u16>(), 1..200),
        cuts in prop::collection::btree_set(0_usize..200, 0..6),
        asked in prop::collection::btree_set(0..11_usize, 1..6),
        n_postings_max in 0_u32..60,
    ) {
        let mut steps = Vec::new();
        for (place, bits) in texts.iter().enumerate() {
            steps.push(Step::Add(*bits));
            if cuts.contains(&place) {
                steps.extend([Step::Freeze, Step::Seal]);
            }
        }
        let words: Vec<&str> = asked.iter().map(|place| WORDS[*place]).collect();
        let (index, model) = run(&steps);
        let whole = run(&texts.iter().map(|bits| Step::Add(*bits)).collect::<Vec<_>>()).0;
        let query = query_of(&words);
        let bounded = |index: &LexicalIndex, limit: usize| {
            search::best(&index.resolve(&query), &|_| true, limit, n_postings_max)
        };
        let found = bounded(&index, 500);
        prop_assert_eq!(&found, &bounded(&whole, 500));
        for hit in &found {
            let expect = model.score(hit.number.get(), &words);
            prop_assert!((f64::from(hit.score) - expect).abs() < 1e-4, "{:?} {}", hit, expect);
        }
        let numbers: BTreeSet<u32> = found.iter().map(|hit| hit.number.get()).collect();
        prop_assert_eq!(numbers, model.newest_by_rarest(&words, n_postings_max as usize));
        // A smaller answer is the beginning of the larger one.
        prop_assert_eq!(&bounded(&index, 5)[..], &found[..found.len().min(5)]);
    }
}

#[test]
fn common_words_cost_nothing_where_a_rare_one_tells() {
    let texts: Vec<u16> = (0..400_u16).map(|n| if n % 40 == 7 { 0x200 } else { n % 4 }).collect();
    let (index, model) = run(&texts.iter().map(|bits| Step::Add(*bits)).collect::<Vec<_>>());
    let words = ["a", "b", "c", "bee"];
    let best = model.best(&words, |_| true);
    let query = query_of(&words);
    // Ten memories have the rare word, and the common ones fit no bound.
    let found = search::best(&index.resolve(&query), &|_| true, 10, 10);
    let numbers = |hits: &[(u32, f64)]| hits.iter().map(|hit| hit.0).collect::<BTreeSet<_>>();
    let found: BTreeSet<u32> = found.iter().map(|hit| hit.number.get()).collect();
    assert_eq!(found, numbers(&best[..10]));
}

#[test]
fn a_phrase_needs_all_its_words() {
    let mut index = LexicalIndex::default();
    for (number, text) in (1..).zip(["black cat", "cat", "a black dog", "cat black", "dog"]) {
        index.add(number, &MemoryWords::of(text, None));
    }
    let found = |words: &[&str], phrases: &[&str]| {
        let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let query = LexicalQuery { words: own(words), phrases: own(phrases) };
        let mut found: Vec<u32> =
            index.resolve(&query).search(&|_| true, 9).iter().map(|hit| hit.number.get()).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(found(&[], &["black cat"]), [1, 4]);
    assert_eq!(found(&["dog"], &["black cat"]), [1, 3, 4, 5]);
    assert_eq!(found(&[], &["black unicorn"]), [0; 0]);
    assert_eq!(found(&[], &["black unicorn", "cat"]), [1, 2, 4]);
    assert_eq!(found(&[], &[]), [0; 0]);
}

#[test]
fn the_most_a_memory_can_score_is_never_scored() {
    let (index, _) = run(&(0..50).map(Step::Add).collect::<Vec<_>>());
    let query = query_of(&["a", "fox", "nothing"]);
    let asked = index.resolve(&query);
    let best = asked.search(&|_| true, 1);
    assert!(best[0].score < asked.information(), "{best:?}");
    assert_eq!(asked.search(&|_| true, 0), []);
}

#[test]
fn segments_stay_few_and_bounded() {
    let check = |sizes: &[u32], expect: Option<std::ops::Range<usize>>| {
        let sizes: Vec<_> = sizes.iter().map(|size| (*size, 1000)).collect();
        assert_eq!(due_run(&sizes), expect, "{sizes:?}");
    };
    check(&[], None);
    check(&[4096; 7], None);
    check(&[4096; 8], Some(0..8));
    check(&[131_072, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096], Some(1..9));
    check(&[32_768; 3], None);
    check(&[32_768; 4], Some(0..4));
    check(&[65_536, 65_536], Some(0..2));
    check(&[131_072; 20], None);
    let mut sizes: Vec<(u32, usize)> = Vec::new();
    for _ in 0..2000 {
        sizes.push((4096, 300_000));
        while let Some(run) = due_run(&sizes) {
            let joined = sizes.drain(run.clone()).reduce(|a, b| (a.0 + b.0, a.1 + b.1)).unwrap();
            sizes.insert(run.start, joined);
        }
        assert!(sizes.iter().all(|size| size.0 <= SEGMENT_NUMBERS_MAX));
    }
    assert!(sizes.len() <= 2000 / 32 + 16, "{}", sizes.len());
}

#[test]
fn a_scene_scores_what_its_words_would_score_as_one_memory() {
    let mut index = LexicalIndex::default();
    for (number, text) in (1_u32..).zip(["fox hen", "owl", "fox owl cow", "bee bee bee"]) {
        index.add(number, &MemoryWords::of(text, None));
    }
    let query = query_of(&["fox", "owl", "nothing"]);
    let scene = |numbers: &[u32]| numbers.iter().map(|n| MemoryNumber::new(*n)).collect();
    let asked = index.resolve(&query);
    let scores = asked.scene_scores(&[scene(&[1, 2]), scene(&[3]), scene(&[4])]);
    assert!((scores[0] - scores[1]).abs() < 1e-6, "the same counts and length: {scores:?}");
    assert!(0.0 < scores[0] && scores[2] == 0.0, "{scores:?}");
    assert_eq!(asked.scene_scores(&[]), [0.0_f32; 0]);
}

#[test]
fn coverage_counts_words_and_not_how_often() {
    let mut index = LexicalIndex::default();
    for (number, text) in (1_u32..).zip(["fox owl", "fox fox fox and a long tail of words", "bee"])
    {
        index.add(number, &MemoryWords::of(text, None));
    }
    let numbers = [3, 2, 1, 9].map(MemoryNumber::new);
    let coverage = index.resolve(&query_of(&["fox", "owl"])).coverage(&numbers);
    assert!((coverage[2] - 1.0).abs() < 1e-6, "{coverage:?}");
    assert!(0.0 < coverage[1] && coverage[1] < 0.5, "the commoner word: {coverage:?}");
    assert_eq!((coverage[0], coverage[3]), (0.0, 0.0));
}

#[test]
fn words_that_are_missing_are_counted_once_and_in_any_form() {
    let mut index = LexicalIndex::default();
    for (number, text) in (1_u32..).zip(["the foxes and an owl", "fox fox", "bee"]) {
        index.add(number, &MemoryWords::of(text, None));
    }
    let numbers = [3, 2, 1, 9].map(MemoryNumber::new);
    let query = query_of(&["fox", "owls", "fox", "nowhere"]);
    assert_eq!(index.resolve(&query).n_missing(&numbers), [3, 2, 1, 3]);
}
