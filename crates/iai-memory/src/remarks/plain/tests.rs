//! Sentences both ways: what is wished in plain words, and what is asked for once.

use crate::remarks::sentences;
use crate::remarks::wishes::is_preference;

use super::*;

#[track_caller]
fn check(expect: bool, all: &[&str]) {
    for sentence in all {
        assert_eq!(is_preference(sentence), expect, "{sentence}");
    }
}

#[test]
fn a_head_says_where_a_wish_holds() {
    check(
        true,
        &[
            "One small thing for all projects: please do not use emojis in code or commits.",
            "one for everything: in docs and english texts use british spelling.",
            "A general wish: please write dates as ISO strings in all projects.",
            "For all projects: commit messages in the imperative, please.",
            "One wish for this project: please do not force-push once a review has started.",
            "I have a wish for this site: every image needs an alternative text in Swedish.",
            "for this repo: marek is new, so explain more when you change a model, a short why.",
            "A wish for this app: please no modal dialogs.",
        ],
    );
    check(
        false,
        &[
            "One small thing for all projects: the CI is slow.",
            "One point for all projects: we use a different CI in each.",
            "One change for all projects: add the licence header.",
            "For this repo: run the migrations.",
            "for this project: show me the config",
            "for this project: can you list the open issues?",
            "for this repo: no tests fail",
            "One thing for this PR: please do not squash it.",
            "one more thing: please run the tests",
            "a note for this project: the deadline is Friday",
            "I have a wish for this site: add a dark mode",
            "I looked at the cache of this repo: use of memory is high",
        ],
    );
}

#[test]
fn an_announced_order_is_a_wish() {
    let check = |text: &str, expect: bool| {
        let ranges = sentences(text);
        assert_eq!(is_announced(text, &ranges, ranges.len() - 1), expect, "{text}");
    };
    let change = "I have a change for all projects. The old prefixes are too long for us.";
    check(&format!("{change} Please write a plain sentence with the ticket in front."), true);
    check("I have a request for this project. Please do not rename functions.", true);
    check(&format!("{change}\n\nPlease write a plain sentence."), false);
    check(change, false);
    check("I have a request for all projects. Please look at the CI of each.", false);
    check("I have a change for this project. The button is blue now.", false);
    check("Something is odd in all projects. Please keep commits small.", false);
}

#[test]
fn an_order_beside_a_place_stands() {
    check(
        true,
        &[
            "In every repo of mine, docs and comments are written with British spelling.",
            "Across all projects, please do not add comments that repeat the code.",
            "I would like you to use conventional commits in all my repos.",
            "For reports in this project, please give tables, not charts.",
            "In this repo drop the scope from commit messages.",
            "I'd like commit messages with the ticket number in front in this repo.",
            "Two spaces instead of tabs in this repo, prettier does it.",
            "Please do not bring in any JavaScript frameworks here.",
            "The budget is 900 kronor, so please do not propose paid services.",
        ],
    );
    check(
        false,
        &[
            "In all repos the CI is red.",
            "In every repo we use a different CI.",
            "In this repo, please check the CI config.",
            "In this repo drop the table users and run it again.",
            "In this project use the key from the vault.",
            "In this repo no tests fail.",
            "It uses tabs instead of spaces in this repo.",
            "The function returns null instead of an error in this project.",
            "Use the branch instead of main in this repo for now.",
            "Please do not change anything here.",
            "Don't use the old client here.",
            "please don't touch that file",
            "Please do not commit yet.",
            "I know it is late, so please do not propose changes, just review",
            "Do not suggest fixes, only list the problems.",
            "Please add a dark mode for this site.",
            "I would like to see commit messages of last week in this repo",
        ],
    );
}

#[test]
fn tools_tastes_and_what_comes_before_anything_of_a_kind() {
    check(
        true,
        &[
            "By the way, run the tests with cargo nextest, not cargo test.",
            "Install packages with uv, not pip.",
            "ines likes sql keywords in lower case, so do i, keep that.",
            "Ask me before you add a dependency to kestrel.",
            "Please check with me before changing a public function.",
            "Please run \"make check\" before you tell me that something is done.",
            "Nothing may be deployed in that time.",
        ],
    );
    check(
        false,
        &[
            "Run the tests with the debug flag, not the release one.",
            "Run the test with verbose output, not quietly, so I can see it.",
            "Ines likes it, so do I.",
            "marek likes to work late, me too",
            "Tell me before you start.",
            "ask me again before you continue with this",
            "run it again before you tell me it works",
            "nothing may be null here",
            "Nothing may be changed by the user in this form.",
            "Nothing was deployed in that time.",
        ],
    );
    assert!(goes_on_with_a_wish("and ctes instead of nested subqueries"));
    assert!(!goes_on_with_a_wish("and it returns null instead of an error"));
    assert!(!goes_on_with_a_wish("and fix the parser instead of the test"));
}

#[test]
fn tones_habits_of_code_and_what_is_asked_for_in_general() {
    check(
        true,
        &[
            "TypeScript: no \"any\" in this codebase please, use unknown and narrow it.",
            "About the texts: everything patients see in this app has to be formal, with \"Sie\".",
            "Texts in the interface should use the informal \"du\", it's just us.",
            "All mails must be informal.",
            "Oh and in this project I'd like type hints on everything, also on private helpers.",
            "In this repo drop the scope from commit messages, it's a single app and every scope \
             would be \"web\".",
            "And could you keep the summaries a bit shorter in general?",
            "Can you please use tables from now on?",
        ],
    );
    check(
        false,
        &[
            "everything users see in this app is cached",
            "everything users see in this app has to be cached",
            "the texts in the interface use du",
            "the texts in the interface use \"du\"",
            "These texts should be formal.",
            "The labels should be unique in this app",
            "In this project I'd like a dark mode everywhere.",
            "I'd like type hints on this function in this project.",
            "In this project I'd like a summary of all comments everywhere.",
            "could you keep the lock?",
            "could you use generics in general?",
            "would you use Postgres in general?",
            "can you explain in general how it works?",
            "Could you keep it for now, in general?",
            "In this repo drop the users table, it's a single app",
            "In this repo use tabs would be odd, it's Go",
        ],
    );
    assert!(goes_on_with_a_wish("Three sentences are enough for me, in every project."));
    assert!(!goes_on_with_a_wish("two tests are enough to reproduce"));
    assert!(!goes_on_with_a_wish("that's enough for today"));
}

#[test]
fn what_is_written_again_and_again_is_told_with_its_place() {
    check(
        true,
        &[
            "Tests in this repo should be table-driven, with a name per case.",
            "Commit subjects here start with the ticket, PAY-123 style.",
            "One more thing: branch names in this project must be lower case.",
            "I want full type hints in this repo, mypy --strict must be clean.",
        ],
    );
    check(
        false,
        &[
            "Tests in this repo are slow.",
            "These tests should be table-driven.",
            "The tests in this repo should be green by tomorrow.",
            "Tests should be faster.",
            "Migrations here take an hour.",
            "Errors in this app are swallowed by the handler.",
        ],
    );
}
