//! The lexical index: finds words in any form, survives any query, can be rebuilt any day.

use iai_store::{
    CheckDepth, Filter, IndexPace, LexicalHit, LexicalQuery, NewMemory, Scope, Store, Tier,
    contains_phrase,
};

use crate::fixture::{Home, at, insert, turn};

fn query(words: &[&str], phrases: &[&str]) -> LexicalQuery {
    let own = |terms: &[&str]| terms.iter().map(|&term| term.to_owned()).collect();
    LexicalQuery { words: own(words), phrases: own(phrases) }
}

fn ask(store: &mut Store, query: &LexicalQuery, scope: &Scope, limit: usize) -> Vec<LexicalHit> {
    store.ensure_index().unwrap();
    store.index().with(|index| index.search(query, scope, limit)).unwrap()
}

fn frequencies(store: &mut Store, words: &[String]) -> Vec<u64> {
    store.ensure_index().unwrap();
    store.index().with(|index| index.document_frequencies(words)).unwrap()
}

fn texts(store: &mut Store, query: &LexicalQuery, scope: &Scope) -> Vec<String> {
    let hits = ask(store, query, scope, 10);
    assert!(hits.iter().all(|hit| hit.score > 0.0), "{hits:?}");
    assert!(hits.is_sorted_by(|a, b| (b.score, a.number) <= (a.score, b.number)), "{hits:?}");
    let numbers: Vec<_> = hits.iter().map(|hit| hit.number).collect();
    let found = store.read().numbered(&numbers).unwrap();
    found.into_iter().map(|(_, memory)| memory.text).collect()
}

fn library() -> (Home, Store) {
    let home = Home::new();
    let mut store = home.open().unwrap();
    for (index, text) in (0..).zip([
        "the cats were running through the garden",
        "a black cat sleeps",
        "cat black",
        "Überraschung im Café",
        "nul\0inside",
        "the dog sleeps and the dog eats",
    ]) {
        insert(&mut store, &turn("s", index, text));
    }
    let keyed = NewMemory { cue: Some("zanzibar".into()), ..turn("s", 9, "an island") };
    insert(&mut store, &keyed);
    (home, store)
}

#[test]
fn words_are_found_in_any_form() {
    let (_home, mut store) = library();
    let all = Scope::default();
    for (words, phrases, expect) in [
        (&["run"][..], &[][..], vec!["the cats were running through the garden"]),
        (&["cafe"], &[], vec!["Überraschung im Café"]),
        (&["UBERRASCHUNG"], &[], vec!["Überraschung im Café"]),
        (&["inside"], &[], vec!["nul\0inside"]),
        (&["zanzibar"], &[], vec!["an island"]),
        (&[], &["black cat"], vec!["cat black", "a black cat sleeps"]),
        (&["dog", "sleeping"], &[], vec!["the dog sleeps and the dog eats", "a black cat sleeps"]),
        (&["unicorn"], &[], vec![]),
        (&[], &[], vec![]),
    ] {
        assert_eq!(
            texts(&mut store, &query(words, phrases), &all),
            expect,
            "{words:?} {phrases:?}"
        );
    }
    assert_eq!(texts(&mut store, &query(&["cat"], &[]), &all).len(), 3);
}

#[test]
fn a_scope_narrows_the_search() {
    let (_home, mut store) = library();
    insert(&mut store, &NewMemory { tier: Tier::Semantic, ..turn("t", 0, "cats are cats") });
    let cats = query(&["cat"], &[]);
    let in_session = store.read().session_numbers("s").unwrap();
    for (scope, expect) in [
        (Scope { tiers: vec![Tier::Semantic], ..Scope::default() }, 1),
        (Scope { tiers: vec![Tier::Working], ..Scope::default() }, 0),
        (Scope { sessions: Some(in_session), ..Scope::default() }, 3),
        (Scope { project: Some("house".into()), ..Scope::default() }, 4),
        (Scope { project: Some("other".into()), ..Scope::default() }, 0),
    ] {
        assert_eq!(texts(&mut store, &cats, &scope).len(), expect, "{scope:?}");
    }
}

#[test]
fn ties_are_broken_by_age_at_any_limit() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    for index in 0..30 {
        insert(&mut store, &turn("s", index, "same words"));
    }
    for limit in [1, 7, 30, 99] {
        let hits = ask(&mut store, &query(&["word"], &[]), &Scope::default(), limit);
        let found: Vec<_> = hits.iter().map(|hit| hit.number.get()).collect();
        assert_eq!(found, (1..=30).take(limit).collect::<Vec<u32>>());
    }
}

#[test]
fn no_query_can_break_the_search() {
    let (_home, mut store) = library();
    let long = "lorem ipsum ".repeat(10_000);
    let one_word = "ä".repeat(100_000);
    insert(&mut store, &turn("s", 50, &long));
    insert(&mut store, &turn("s", 51, &one_word));
    let hostile = [
        "",
        " ",
        "\"",
        "\"\"",
        "\"\"\"",
        "'",
        "*",
        "cat*",
        "^cat",
        "-cat",
        "+",
        "(",
        ")",
        "()",
        "AND",
        "OR",
        "NOT",
        "AND OR NOT",
        "NEAR(cat dog)",
        "text:cat",
        "cue : cat",
        "{text cue}: cat",
        "cat\0dog",
        "\0",
        "\u{1f9d1}\u{200d}\u{1f680}",
        "\u{feff}",
        "漢字",
        ";--",
        "\\",
        "%",
        "\u{1a}",
        "lexical",
        "rank",
        long.as_str(),
        one_word.as_str(),
    ];
    for words in hostile {
        let both = query(&[words, "cat"], &[words]);
        let found = ask(&mut store, &both, &Scope::default(), 10);
        assert!(found.len() >= 3, "{:?} hid the cats", words.chars().take(20).collect::<String>());
        ask(&mut store, &query(&[words], &[]), &Scope::default(), 10);
        frequencies(&mut store, &[words.to_owned()]);
        store.read().containing(words, &Filter::default(), 2).unwrap();
    }
    let every = query(&hostile, &hostile);
    ask(&mut store, &every, &Scope::default(), 10);
    let split: Vec<&str> = long.split(' ').collect();
    assert_eq!(texts(&mut store, &query(&split, &[]), &Scope::default()), [long.as_str()]);
}

#[test]
fn words_are_counted_in_any_form() {
    let (_home, mut store) = library();
    let words: Vec<String> = ["cat", "CATS", "running", "dog", "unicorn", "", "the", "black cat"]
        .map(String::from)
        .into();
    let counts = frequencies(&mut store, &words);
    assert_eq!(counts, [3, 3, 1, 1, 0, 0, 2, 2]);
}

#[test]
fn a_rebuilt_index_gives_equal_answers() {
    let (home, mut store) = library();
    let cats = query(&["cat", "the", "dog"], &["black cat"]);
    let before = ask(&mut store, &cats, &Scope::default(), 10);
    store.rebuild_index().unwrap();
    assert_eq!(ask(&mut store, &cats, &Scope::default(), 10), before);
    drop(store);
    let mut store = home.open().unwrap();
    assert_eq!(ask(&mut store, &cats, &Scope::default(), 10), before);
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
    insert(&mut store, &turn("s", 70, "after the rebuild a cat"));
    assert_eq!(ask(&mut store, &cats, &Scope::default(), 10).len(), before.len() + 1);
}

#[test]
fn every_script_and_every_name_is_found() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let said = [
        "東京で黒猫を見ました",
        "ฉันชอบแมวดำมาก",
        "우리 고양이가 밥을 먹는다",
        "fix handleUserLogin in src/auth/mod.rs",
        "error[E0502] and ERR_CONN_RESET again",
        "released v1.2.3, tell user@example.com",
    ];
    for (index, text) in (0..).zip(said) {
        insert(&mut store, &turn("s", index, text));
    }
    for (word, expect) in [
        ("黒猫", 0),
        ("猫", 0),
        ("แมว", 1),
        ("고양이", 2),
        ("handle_user_login", 3),
        ("handleuserlogin", 3),
        ("login", 3),
        ("src/auth/mod.rs", 3),
        ("auth", 3),
        ("e0502", 4),
        ("err_conn_reset", 4),
        ("reset", 4),
        ("v1.2.3", 5),
        ("user@example.com", 5),
        ("example", 5),
    ] {
        let found = texts(&mut store, &query(&[word], &[]), &Scope::default());
        assert_eq!(found.first().map(String::as_str), Some(said[expect]), "{word}");
        assert!(contains_phrase(said[expect], word) || word == "handleuserlogin", "{word}");
    }
}

#[test]
fn who_leaves_seals_and_does_not_merge() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    store.ensure_index().unwrap();
    for round in 0..8 {
        insert(&mut store, &turn("s", round, "a turn"));
        store.index().end_tail(3);
        assert!(store.index().make_due(IndexPace::Leaving).is_none(), "too short");
        store.index().end_tail(1);
        let made = store.index().make_due(IndexPace::Leaving).unwrap();
        store.keep(made).unwrap();
    }
    assert!(store.index().make_due(IndexPace::Leaving).is_none());
    assert!(store.index().make_due(IndexPace::Calm).is_some(), "eight are due to become one");
}

#[test]
fn a_full_tail_becomes_a_segment_and_nothing_is_lost_before() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    store.ensure_index().unwrap();
    store
        .write(|w| {
            for index in 0..5000 {
                w.insert(&turn("s", index, &format!("turn number {index}")), at(0))?;
            }
            Ok::<_, iai_store::StoreError>(())
        })
        .unwrap();
    let last = query(&["4999"], &[]);
    assert_eq!(texts(&mut store, &last, &Scope::default()), ["turn number 4999"]);
    let made = store.index().make_due(IndexPace::Calm).unwrap();
    store.keep(made).unwrap();
    assert!(store.index().make_due(IndexPace::Calm).is_none());
    let size = store.index().with(iai_store::MemoryIndex::size).unwrap();
    assert_eq!((size.n_segments, size.n_frozen), (1, 0));
    drop(store);
    let mut store = home.open().unwrap();
    for word in ["0", "4095", "4096", "4999"] {
        let found = texts(&mut store, &query(&[word], &[]), &Scope::default());
        assert_eq!(found, [format!("turn number {word}")]);
    }
    let size = store.index().with(iai_store::MemoryIndex::size).unwrap();
    assert_eq!((size.n_segments, size.n_frozen), (1, 0), "loaded, not made again");
    assert!(store.check(CheckDepth::Sample).unwrap().is_clean());
}
