//! What the user wants, in the words people use for it: found, told, and no longer told, or told
//! with what changed it, once they take it back.

use crate::brief::{brief_of, conversation, organise, store};
use crate::consolidation::consolidate;
use crate::fixture::{Home, days_ago};

const PROJECT: &str = "/w/p";

/// A home in which each of these began a session of its own, the first of them longest ago.
fn home_of(said: &[&str]) -> Home {
    let home = Home::new();
    for (n, text) in (0_i64..).zip(said) {
        let turns = [*text, "Understood.", "thanks, bye"];
        let at = days_ago(100 - 9 * n);
        store(&home, conversation(&format!("s{n}"), PROJECT, at, &turns));
    }
    consolidate(&home);
    home
}

#[track_caller]
fn check(said: &[&str], told: &[&str], untold: &[&str]) {
    let home = home_of(said);
    let holds = brief_of(&home, Some(PROJECT)).l1;
    check_told(&holds, told, untold);
}

#[track_caller]
fn check_told(holds: &str, told: &[&str], untold: &[&str]) {
    for words in told {
        assert!(holds.contains(words), "{words} is told:\n{holds}");
    }
    for words in untold {
        assert!(!holds.contains(words), "{words} is not told:\n{holds}");
    }
}

#[test]
fn wishes_are_found_in_the_words_of_every_day() {
    let said = [
        "fine. first house rule: commit messages in Spanish in this repo",
        "and ask me before you run migrate anywhere but here. local you can do whatever. always",
        "ok. and no deploys on Fridays. not even small ones.",
        "whenever you change a mail template show me the rendered text",
        "one commit per screen please, I review on the train",
        "good. pls short answers, I can read the diff",
    ];
    let told = [
        "commit messages in Spanish",
        "ask me before you run migrate",
        "no deploys on Fridays",
        "whenever you change a mail template",
        "one commit per screen",
        "pls short answers",
    ];
    check(&said, &told, &["you can do whatever. always", "thanks"]);
}

#[test]
fn a_wish_that_was_taken_back_in_part_is_told_with_what_is_left_of_it() {
    let wish = "Always ask me before you run a migration, even on dev.";
    let since = "you don't need to ask me any more for dev migrations. Only for staging and prod";
    let line = format!("“{wish}”; since 2026-08-25: “{since}”");
    check(&[wish, "The importer is slow today.", since], &[&line], &[]);
    // What is told beside a wish is not told once more by itself.
    let home = home_of(&[wish, since]);
    let holds = brief_of(&home, Some(PROJECT)).l1;
    assert_eq!(holds.matches("any more for dev").count(), 1, "{holds}");
}

#[test]
fn a_wish_that_was_taken_back_is_not_told() {
    let wish = "no emojis in commit messages please";
    check(&[wish, "emojis in commit messages are fine again"], &[], &["no emojis"]);
    // What is about another thing, or was said before, takes nothing back.
    check(&[wish, "emojis in the chat window are broken again"], &[wish], &["since"]);
    check(&["emojis in commit messages are fine again", wish], &[wish], &["since"]);
}

/// What is told in another project of what was said in this one, each a session of its own.
#[track_caller]
fn check_elsewhere(said: &[&str], told: &[&str], untold: &[&str]) {
    let home = home_of(said);
    store(&home, conversation("other", "/w/q", days_ago(1), &["Look at the log.", "I do."]));
    let holds = brief_of(&home, Some("/w/q")).l1;
    check_told(&holds, told, untold);
}

#[test]
fn a_wish_for_all_projects_is_told_in_all_as_far_as_it_holds() {
    let tests = "always run the tests before you tell me something is done. any repo";
    check_elsewhere(&[tests], &["for all projects: “always run the tests"], &[]);
    check_elsewhere(&["always run the tests of the parser first"], &[], &["parser"]);
    check_elsewhere(&["please keep answers short, no recap at the end"], &["keep answers"], &[]);
    let push = "please never push. I do that myself. all repos";
    let branches = "you may push feature branches now";
    // What was said elsewhere, and not for all, is not told in its words.
    let since = "since 2026-08-16 taken back in part in another project";
    check_elsewhere(&[push, branches], &["please never push.", since], &[branches]);
    let all = format!("{branches}. all repos");
    check_elsewhere(&[push, &all], &["please never push.", branches], &[]);
    // What is taken back for one place only holds elsewhere.
    let here = "in this repo you may push feature branches now";
    check_elsewhere(&[push, here], &["please never push."], &["since"]);
    let (kept, once) = ("no deploys on fridays, every repo", "we fix it today, exception, friday");
    check_elsewhere(&[kept, once], &[kept], &["since"]);
}

#[test]
fn what_was_said_since_in_other_words_is_told_beside_it() {
    let style = "we always use conventional commits with ticket numbers, please";
    let plain = "conventional commits with ticket numbers: nobody reads them, plain sentences now";
    let line = format!("“{style}”; since 2026-08-16: “{plain}”");
    check(&[style, plain], &[&line], &[]);
    check(&[style, "the numbers of the invoices have gaps, look at it now"], &[style], &["since"]);
}

#[test]
fn of_what_was_said_since_in_another_project_only_what_is_for_all_is_told() {
    let style = "always use conventional commits with ticket numbers. All repos.";
    let told = |later: &str| {
        let home = home_of(&[style]);
        store(&home, conversation("later", "/w/secret", days_ago(50), &[later, "Understood."]));
        store(&home, conversation("other", "/w/q", days_ago(1), &["Look at the log.", "I do."]));
        consolidate(&home);
        brief_of(&home, Some("/w/q")).l1
    };
    let waived = "you don't need to use conventional commits with ticket numbers for Acme any more";
    let holds = told(waived);
    let since = "ticket numbers.”; since 2026-09-26 taken back in part in another project";
    check_told(&holds, &[since], &["Acme"]);
    check_told(
        &told("Acme: conventional commits with ticket numbers look odd now"),
        &[],
        &["since"],
    );
    let all = "conventional commits with ticket numbers are over, please always write plain \
               sentences. All repos.";
    let holds = told(&format!("Acme is late. {all}"));
    check_told(&holds, &["; since 2026-09-26: “conventional commits"], &["Acme"]);
}

#[test]
fn the_latest_language_is_told() {
    let spanish = "commit messages in Spanish in this repo please";
    let english = "and commit messages in English from today, the new colleague is Dutch";
    check(&[spanish, english], &["commit messages in English"], &["in Spanish"]);
    let talk = "En este repo háblame en español";
    let all = "hi, english from now on in this repo. Ana works on it too, so docs in English";
    check(&[talk, all], &["english from now on"], &["háblame"]);
    let docs = "the docs in German please, generally";
    check(&[docs, english], &["commit messages in English", "the docs in German"], &[]);
}

#[test]
fn a_word_or_two_that_decide_are_told_with_what_they_answer() {
    let home = Home::new();
    let offered = "For the cache there is Redis, one more service, or moka in the process.";
    let talk = ["The price list needs a cache.", offered, "moka then"];
    store(&home, conversation("a", PROJECT, days_ago(9), &talk));
    organise(&home.engine);
    let decided = brief_of(&home, Some(PROJECT)).l2.join("\n");
    let expect = format!("to “{offered}”: “moka then”");
    assert!(decided.contains("## Decided") && decided.contains(&expect), "{decided}");
}

#[test]
fn what_is_put_off_in_a_word_is_told_with_what_it_answers() {
    let home = Home::new();
    let asked = "The contact address at the bank is still the old one, did Nuria change it?";
    let talk = ["Check the settings of the bank.", asked, "still open, I'll nag her"];
    store(&home, conversation("a", PROJECT, days_ago(9), &talk));
    organise(&home.engine);
    let open = brief_of(&home, Some(PROJECT)).l2.join("\n");
    assert!(open.contains(&format!("put off, to “{asked}”: “still open, I'll nag her”")), "{open}");
}
