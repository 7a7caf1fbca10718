//! How text is cut, case by case.

use super::*;

fn terms(text: &str, purpose: Purpose) -> (Vec<String>, Vec<String>) {
    let (mut words, mut extras) = (Vec::new(), Vec::new());
    each_term(text, purpose, &mut |term, kind| match kind {
        Kind::Word => words.push(term.to_owned()),
        Kind::Extra => extras.push(term.to_owned()),
    });
    (words, extras)
}

#[track_caller]
fn check(text: &str, words: &[&str], extras: &[&str]) {
    let (found_words, found_extras) = terms(text, Purpose::Storing);
    assert_eq!(found_words, words, "{text}");
    assert_eq!(found_extras, extras, "{text}");
}

#[test]
fn prose_is_cut_folded_and_stemmed() {
    check("The cats were running.", &["the", "cat", "were", "run"], &[]);
    check("don't, user's, I'll", &["don", "user", "i"], &[]);
    check("l'homme", &["l", "homm"], &[]);
    check("Überraschung im Café", &["uberraschung", "im", "cafe"], &[]);
    check("GRÖSSE Größe", &["gross", "gross"], &[]);
    check("ÅSE Łódź smørrebrød", &["ase", "lodz", "smorrebrod"], &[]);
    check("ПРИВЕТ, ёлка", &["привет", "елка"], &[]);
    check("Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", &["οδυσσευσ", "οδυσσευσ"], &[]);
    check("ﬁne ① ｆｕｌｌ", &["fine", "1", "full"], &[]);
    check("हिन्दी", &["हिन्दी"], &[]);
    check("שָׁלוֹם", &["שלום"], &[]);
    check("nul\0inside", &["nul", "insid"], &[]);
    check("soft\u{ad}ware", &["softwar"], &[]);
    check("", &[], &[]);
    check("… — !? 🦊 \u{feff}", &[], &[]);
}

#[test]
fn names_from_code_are_found_whole_and_by_parts() {
    check("handleUserLogin", &["handl", "user", "login"], &["handleuserlogin"]);
    check("handle_user_login", &["handl", "user", "login"], &["handleuserlogin"]);
    check("handle-user-login", &["handl", "user", "login"], &["handleuserlogin"]);
    check("HTTPServer", &["http", "server"], &["httpserver"]);
    check("SHA256Sum", &["sha256", "sum"], &["sha256sum"]);
    check("ERR_CONN_RESET", &["err", "conn", "reset"], &["errconnreset"]);
    check("E0502", &["e0502"], &[]);
    check("URLs, PCBs and IDs", &["url", "pcb", "and", "id"], &[]);
    check("pcbs vms dns css", &["pcb", "vm", "dn", "css"], &[]);
    check("src/auth/mod.rs", &["src", "auth", "mod", "rs"], &["src/auth/mod.rs"]);
    check("/a/readMe.md:", &["a", "read", "me", "md"], &["a/readme.md", "readm"]);
    check("v1.2.3", &["v1", "2", "3"], &["v1.2.3"]);
    check("user@example.com", &["user", "exampl", "com"], &["user@example.com"]);
    check("https://x.org", &["https", "x", "org"], &["x.org"]);
    check("std::fs::read", &["std", "fs", "read"], &[]);
    check("--dry-run", &["dri", "run"], &["dryrun"]);
    check("C++ and C#", &["c", "and", "c"], &["c++", "c#"]);
    check("a+b #1", &["a", "b", "1"], &[]);
}

#[test]
fn scripts_without_blanks_are_cut_into_pairs() {
    check("猫", &["猫"], &[]);
    check("黒猫", &["黒猫"], &["黒", "猫"]);
    check("東京タワー", &["東京", "京タ", "タワ", "ワー"], &["東", "京"]);
    check("고양이 밥", &["고양", "양이", "밥"], &[]);
    check("ｶﾞｷﾞ", &["ガギ"], &[]);
    check("แมวดำ", &["แม", "มว", "วด", "ดํ", "ํา"], &[]);
    check("東京Tower2", &["東京", "tower2"], &["東", "京"]);
    assert_eq!(terms("黒猫", Purpose::Asking).0, ["黒猫"]);
    assert_eq!(terms("黒猫", Purpose::Asking).1, [""; 0]);
}

#[test]
fn terms_and_memories_have_a_most() {
    let (words, _) = terms(&"ö".repeat(1000), Purpose::Storing);
    assert_eq!(words, ["o".repeat(TERM_BYTES_MAX)]);
    let (words, _) = terms(&"я".repeat(1000), Purpose::Storing);
    assert_eq!(words, ["я".repeat(TERM_BYTES_MAX / 2)]);
    let (words, extras) = terms(&["long"; 40].join("_"), Purpose::Storing);
    assert_eq!((words.len(), extras.len()), (40, 0));
    let many: String = (0..TERMS_MAX + 10).map(|n| format!("w{n} ")).collect();
    let words = MemoryWords::of(&format!("{many} w0 w0"), Some("w0"));
    assert_eq!(words.terms.len(), TERMS_MAX);
    assert_eq!(words.length, PASSAGE_WORDS);
    let words = MemoryWords::of("w0 w1 w0 w0", Some("w0"));
    assert_eq!((words.counts, words.length), (vec![4, 1], 5));
}

#[test]
fn a_long_memory_counts_as_one_of_its_passages() {
    let n_passages = 10;
    let n_words = usize::from(PASSAGE_WORDS) * n_passages;
    let text = format!("{}zeppelin", "often seldom often ".repeat((n_words - 1) / 3));
    let words = MemoryWords::of(&text, None);
    assert_eq!((words.counts, words.length), (vec![666, 333, 1], PASSAGE_WORDS));
}

#[test]
fn a_question_has_each_term_once() {
    assert_eq!(terms_asked("Cats cat handleCat"), ["cat", "handl", "handlecat"]);
}

#[test]
fn a_phrase_stands_together() {
    for (text, phrase, expect) in [
        ("a black cat sleeps", "black cat", true),
        ("Black, cats!", "black cat", true),
        ("cat black", "black cat", false),
        ("black the cat", "black cat", false),
        ("fn handleUserLogin()", "user login", true),
        ("黒猫が好き", "猫が", true),
        ("黒猫が好き", "猫", true),
        ("黒猫が好き", "犬", false),
        ("anything", "", false),
        ("", "a", false),
    ] {
        assert_eq!(contains_phrase(text, phrase), expect, "{text} / {phrase}");
    }
}
