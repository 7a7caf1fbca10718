//! The lexical index: finds words in any form, survives any query, can be rebuilt any day.

use iai_store::{CheckDepth, Filter, LexicalQuery, NewMemory, Store, Tier};

use crate::fixture::{Home, insert, turn};

fn query(words: &[&str], phrases: &[&str]) -> LexicalQuery {
    let own = |terms: &[&str]| terms.iter().map(|&term| term.to_owned()).collect();
    LexicalQuery { words: own(words), phrases: own(phrases) }
}

fn texts(store: &Store, query: &LexicalQuery, filter: &Filter) -> Vec<String> {
    let hits = store.read().lexical(query, filter, 10).unwrap();
    assert!(hits.iter().all(|hit| hit.score > 0.0), "{hits:?}");
    assert!(hits.is_sorted_by(|a, b| (b.score, a.id) <= (a.score, b.id)), "{hits:?}");
    let ids: Vec<_> = hits.iter().map(|hit| hit.id).collect();
    store.read().memories(&ids).unwrap().into_iter().map(|memory| memory.text).collect()
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
    let (_home, store) = library();
    let all = Filter::default();
    for (words, phrases, expect) in [
        (&["run"][..], &[][..], vec!["the cats were running through the garden"]),
        (&["cafe"], &[], vec!["Überraschung im Café"]),
        (&["UBERRASCHUNG"], &[], vec!["Überraschung im Café"]),
        (&["inside"], &[], vec!["nul\0inside"]),
        (&["zanzibar"], &[], vec!["an island"]),
        (&[], &["black cat"], vec!["a black cat sleeps"]),
        (&["dog", "sleeping"], &[], vec!["the dog sleeps and the dog eats", "a black cat sleeps"]),
        (&["unicorn"], &[], vec![]),
        (&[], &[], vec![]),
    ] {
        assert_eq!(texts(&store, &query(words, phrases), &all), expect, "{words:?} {phrases:?}");
    }
    assert_eq!(texts(&store, &query(&["cat"], &[]), &all).len(), 3);
}

#[test]
fn a_filter_narrows_the_search() {
    let (_home, mut store) = library();
    insert(&mut store, &NewMemory { tier: Tier::Semantic, ..turn("t", 0, "cats are cats") });
    let cats = query(&["cat"], &[]);
    for (filter, expect) in [
        (Filter { tiers: vec![Tier::Semantic], ..Filter::default() }, 1),
        (Filter { tiers: vec![Tier::Working], ..Filter::default() }, 0),
        (Filter { session: Some("s".into()), ..Filter::default() }, 3),
        (Filter { project: Some("house".into()), ..Filter::default() }, 4),
        (Filter { project: Some("other".into()), ..Filter::default() }, 0),
    ] {
        assert_eq!(texts(&store, &cats, &filter).len(), expect, "{filter:?}");
    }
}

#[test]
fn ties_are_broken_by_id_at_any_limit() {
    let home = Home::new();
    let mut store = home.open().unwrap();
    let mut ids: Vec<_> =
        (0..30).map(|i| insert(&mut store, &turn("s", i, "same words"))).collect();
    ids.sort();
    for limit in [1, 7, 30, 99] {
        let hits = store.read().lexical(&query(&["word"], &[]), &Filter::default(), limit).unwrap();
        let found: Vec<_> = hits.iter().map(|hit| hit.id).collect();
        assert_eq!(found, ids[..limit.min(30)]);
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
        let found = store.read().lexical(&both, &Filter::default(), 10).unwrap();
        assert!(found.len() >= 3, "{:?} hid the cats", words.chars().take(20).collect::<String>());
        store.read().lexical(&query(&[words], &[]), &Filter::default(), 10).unwrap();
        store.read().document_frequencies(&[words.to_owned()]).unwrap();
        store.read().containing(words, &Filter::default(), 2).unwrap();
    }
    let every = query(&hostile, &hostile);
    store.read().lexical(&every, &Filter::default(), 10).unwrap();
    let split: Vec<&str> = long.split(' ').collect();
    assert_eq!(texts(&store, &query(&split, &[]), &Filter::default()), [long.as_str()]);
}

#[test]
fn words_are_counted_in_any_form() {
    let (_home, store) = library();
    let words: Vec<String> = ["cat", "CATS", "running", "dog", "unicorn", "", "the", "black cat"]
        .map(String::from)
        .into();
    let counts = store.read().document_frequencies(&words).unwrap();
    assert_eq!(counts, [3, 3, 1, 1, 0, 0, 2, 1]);
}

#[test]
fn a_rebuilt_index_gives_equal_answers() {
    let (home, mut store) = library();
    let cats = query(&["cat", "the", "dog"], &["black cat"]);
    let ask = |store: &Store| store.read().lexical(&cats, &Filter::default(), 10).unwrap();
    let before = ask(&store);
    store.rebuild_lexical().unwrap();
    assert_eq!(ask(&store), before);
    drop(store);
    let mut store = home.open().unwrap();
    assert_eq!(ask(&store), before);
    assert!(store.check(CheckDepth::Deep).unwrap().is_clean());
    insert(&mut store, &turn("s", 70, "after the rebuild a cat"));
    assert_eq!(ask(&store).len(), before.len() + 1);
}
