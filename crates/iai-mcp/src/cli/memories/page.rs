//! How memories look to a person at a terminal: what was sought stands out, who and where stand
//! back, times are told in words, and nothing in a memory steers the terminal.

use std::ops::Range;

use serde_json::Value;

use super::{advice, items, kind, pinned, replaced, speaker};
use crate::cli::paper::{Look, Tone, beside, dotted, layout, plain_lines, snippet, visible};
use crate::client::matched_words;
use crate::fields::Fields as _;

const INDENT: &str = "  ";
/// Columns of the names before what is known about a memory.
const NAME_COLUMNS: usize = 9;
/// With fewer columns than this, a listed memory has its words on a line of their own.
const ONE_LINE_COLUMNS_MIN: usize = 56;
/// Characters of an id that are shown; they are enough to ask for it.
const ID_CHARS: usize = 8;

/// What was looked for, to be marked.
#[derive(Clone, Copy)]
pub(in crate::cli) enum Sought<'a> {
    Nothing,
    /// Words in whatever form.
    Words(&'a str),
    /// These very characters, whatever their case.
    Text(&'a str),
}

impl Sought<'_> {
    /// Returns where it stands in a text.
    pub(in crate::cli) fn spans(self, text: &str) -> Vec<Range<usize>> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Words(cue) => matched_words(text, cue),
            Self::Text(sought) => literal_spans(text, sought),
        }
    }
}

/// Shows the answer to a cue.
pub(super) fn recalled(answer: &Value, cue: &str, look: &Look) -> String {
    let mut parts: Vec<String> =
        items(answer, "hits").iter().map(|hit| of_hit(hit, cue, look)).collect();
    if parts.is_empty() {
        parts.push("nothing found".to_owned());
    }
    parts.extend(advice(answer).map(|hint| {
        let lines = layout(&format!("note: {hint}"), &[], look.line_width());
        let tinted = lines.iter().map(|line| look.tint(Tone::Careful, &look.line(line)));
        tinted.collect::<Vec<_>>().join("\n")
    }));
    parts.join("\n\n")
}

fn of_hit(hit: &Value, cue: &str, look: &Look) -> String {
    let mut lines = vec![headline(hit, look)];
    if let Some(why) = hit.at("untrusted").as_str() {
        let told = format!("untrusted: it {}", visible(why));
        lines.extend(indented(&told, Tone::Careful, look));
    }
    lines.extend(body(hit, Sought::Words(cue), look));
    let id = short_id(hit);
    let (score, reason) = (hit.at("score"), hit.at("reason").as_str().unwrap_or("-"));
    let foot = format!("{id} · score {score} · {reason}");
    lines.extend(indented(&foot, Tone::Quiet, look));
    lines.join("\n")
}

/// A remark on a memory, below it.
fn indented(text: &str, tone: Tone, look: &Look) -> Vec<String> {
    let lines = plain_lines(text, look.line_width() - INDENT.len());
    lines.iter().map(|line| look.tint(tone, &format!("{INDENT}{line}"))).collect()
}

/// When, who, where.
fn headline(memory: &Value, look: &Look) -> String {
    let said_at = text_of(memory, "ts");
    let (date, age) = (look.date(said_at), look.age(said_at));
    let parts = [date.as_str(), age.as_str(), speaker(memory), &project_name(memory)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| visible(part).into_owned())
        .collect();
    let line = |line: &String| match line.strip_prefix(&date) {
        Some("") => look.tint(Tone::Good, &date),
        Some(rest) => {
            let rest = look.tint(Tone::Quiet, rest.trim_start());
            format!("{} {rest}", look.tint(Tone::Good, &date))
        }
        None => look.tint(Tone::Quiet, line),
    };
    dotted(&parts, look.line_width()).iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The words, indented.
fn body(memory: &Value, sought: Sought<'_>, look: &Look) -> Vec<String> {
    let text = text_of(memory, "literal_surface");
    let lines = layout(text, &sought.spans(text), look.line_width() - INDENT.len());
    lines.iter().map(|line| format!("{INDENT}{}", look.line(line)).trim_end().to_owned()).collect()
}

/// Shows one memory on one line, or on two where that would be too little.
pub(super) fn listed(memory: &Value, sought: Sought<'_>, look: &Look) -> String {
    let said_at = text_of(memory, "ts");
    let (id, age, who) = (short_id(memory), look.short_age(said_at), visible(speaker(memory)));
    let text = text_of(memory, "literal_surface");
    let words = |width| look.line(&snippet(text, &sought.spans(text), width));
    if look.line_width() < ONE_LINE_COLUMNS_MIN {
        let head = plain_lines(&format!("{id}  {age:>4}  {who}"), look.line_width());
        let head: Vec<String> = head.iter().map(|line| look.tint(Tone::Quiet, line)).collect();
        let words = words(look.line_width() - INDENT.len());
        return format!("{}\n{INDENT}{words}", head.join("\n"));
    }
    let head = format!("{id}  {}  {age:>4}  {who:<9}  ", look.date(said_at));
    let width = look.line_width().saturating_sub(head.chars().count()).max(ID_CHARS);
    format!("{}{}", look.tint(Tone::Quiet, &head), words(width))
}

/// Shows one memory whole, with everything known about it.
pub(in crate::cli) fn whole(memory: &Value, look: &Look) -> String {
    let field = |name: &str| visible(memory.at(name).as_str().unwrap_or("-")).into_owned();
    let dated = |name: &str| match memory.at(name).as_str() {
        Some(at) => format!("{} ({})", look.date(at), look.age(at)),
        None => "-".to_owned(),
    };
    let until = match memory.at("valid_to").as_str() {
        Some(_) => format!("until {}", dated("valid_to")),
        None => "still".to_owned(),
    };
    let facts = [
        ("id", field("record_id")),
        ("said", format!("{} by {} ({})", dated("ts"), visible(speaker(memory)), field("host"))),
        ("session", field("session_id")),
        ("project", field("project")),
        ("tier", visible(kind(memory)).into_owned()),
        ("valid", until),
        ("replaced", visible(&replaced(memory)).into_owned()),
        ("pinned", pinned(memory).to_owned()),
    ];
    let facts = facts.into_iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| {
        let head = format!("{name:<8} ");
        let laid = beside(&head, NAME_COLUMNS, &value, look.line_width());
        laid.lines().map(|line| look.tint(Tone::Quiet, line)).collect::<Vec<_>>().join("\n")
    });
    let text = layout(text_of(memory, "literal_surface"), &[], look.line_width());
    let text: Vec<String> = text.iter().map(|line| look.line(line)).collect();
    format!("{}\n\n{}", facts.collect::<Vec<_>>().join("\n"), text.join("\n"))
}

/// Shows a memory that just came in.
pub(in crate::cli) fn arrived(memory: &Value, look: &Look) -> String {
    let mut lines = vec![headline(memory, look)];
    lines.extend(body(memory, Sought::Nothing, look));
    lines.join("\n")
}

/// Returns the beginning of a memory's id.
pub(in crate::cli) fn short_id(memory: &Value) -> String {
    visible(text_of(memory, "record_id")).chars().take(ID_CHARS).collect()
}

/// Returns the last part of the project's path; nothing when there is none.
pub(in crate::cli) fn project_name(memory: &Value) -> String {
    let project = text_of(memory, "project").trim_end_matches(['/', '\\']);
    project.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

fn text_of<'a>(memory: &'a Value, name: &str) -> &'a str {
    memory.at(name).as_str().unwrap_or_default()
}

/// Finds a text in another, upper and lower case alike.
fn literal_spans(text: &str, sought: &str) -> Vec<Range<usize>> {
    let sought: Vec<char> = sought.to_lowercase().chars().collect();
    let mut letters: Vec<(char, Range<usize>)> = Vec::with_capacity(text.len());
    for (place, letter) in text.char_indices() {
        let at = place..place + letter.len_utf8();
        letters.extend(letter.to_lowercase().map(|small| (small, at.clone())));
    }
    let mut spans: Vec<Range<usize>> = Vec::new();
    if sought.is_empty() {
        return spans;
    }
    for window in letters.windows(sought.len()) {
        let (Some((_, first)), Some((_, last))) = (window.first(), window.last()) else { break };
        let is_after_last = spans.last().is_none_or(|span| span.end <= first.start);
        if is_after_last && window.iter().map(|(letter, _)| letter).eq(&sought) {
            spans.push(first.start..last.end);
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use serde_json::json;

    use super::*;
    use crate::cli::paper::Colours;

    fn look(colours: Colours, width: usize) -> Look {
        let now = "2026-11-16T12:00:00Z".parse().unwrap();
        Look { colours, width, now, zone: TimeZone::UTC }
    }

    fn memory(text: &str) -> Value {
        json!({
            "record_id": "3f2a9c1e-0000-0000-0000-000000000000",
            "ts": "2026-11-14T10:22:31Z",
            "role": "user",
            "project": "/home/u/billing",
            "literal_surface": text,
            "score": 0.75,
            "reason": "words retry",
            "host": "claude-code",
            "session_id": "s1",
            "tier": "episodic",
            "valid_to": null,
        })
    }

    fn answer(text: &str) -> Value {
        let hint = json!({"text": "words alone were compared"});
        json!({"hits": [memory(text)], "hints": [hint]})
    }

    #[test]
    fn a_hit_without_colours() {
        let text = "We retried three times, then gave up.\n\nThe policy is exponential.";
        let shown = recalled(&answer(text), "retry policy", &look(Colours::Off, 40));
        insta::assert_snapshot!(shown, @r"
        2026-11-14 10:22 · 2 days ago · user
        billing
          We retried three times, then gave up.

          The policy is exponential.
          3f2a9c1e · score 0.75 · words retry

        note: words alone were compared
        ");
        let nothing = recalled(&json!({"hits": []}), "x", &look(Colours::Off, 40));
        assert_eq!(nothing, "nothing found");
    }

    #[test]
    fn a_hit_in_colours_marks_what_was_sought_in_any_form() {
        let text = "We retried three times; the policy holds.";
        let shown = recalled(&answer(text), "what was the retry policy", &look(Colours::Shown, 60));
        let shown = shown.replace('\x1b', "^");
        insta::assert_snapshot!(shown, @r"
        ^[32m2026-11-14 10:22^[0m ^[2m· 2 days ago · user · billing^[0m
          We ^[1;33mretried^[0m three times; the ^[1;33mpolicy^[0m holds.
        ^[2m  3f2a9c1e · score 0.75 · words retry^[0m

        ^[33mnote: words alone were compared^[0m
        ");
    }

    #[test]
    fn a_person_reads_who_spoke_and_what_they_can_do() {
        let mut hit = memory("a passage");
        hit["role"] = json!("system");
        assert_eq!(speaker(&hit), "generated");
        hit["taught"] = json!("guide.md, lines 1–3");
        assert_eq!(speaker(&hit), "taught");
        let hint = "two memories disagree; ask which one holds, memory_contradict settles it";
        let mut answer = answer("x");
        answer["hints"][0]["text"] = json!(hint);
        let shown = recalled(&answer, "x", &look(Colours::Off, 120));
        assert!(shown.contains("iai-mcp correct") && !shown.contains("memory_"), "{shown}");
    }

    #[test]
    fn lists_and_whole_memories() {
        let text = "The Retry budget is 5, and RETRYING costs 10 % each time it happens.";
        let line = listed(&memory(text), Sought::Text("retry"), &look(Colours::Off, 72));
        insta::assert_snapshot!(
            line,
            @"3f2a9c1e  2026-11-14 10:22    2d  user       The Retry budget is 5, and…"
        );
        let line = listed(&memory(text), Sought::Text("costs"), &look(Colours::Off, 72));
        insta::assert_snapshot!(
            line,
            @"3f2a9c1e  2026-11-14 10:22    2d  user       …RETRYING costs 10 % each …"
        );
        let shown = whole(&memory("all of it"), &look(Colours::Off, 80));
        insta::assert_snapshot!(shown, @r"
        id       3f2a9c1e-0000-0000-0000-000000000000
        said     2026-11-14 10:22 (2 days ago) by user (claude-code)
        session  s1
        project  /home/u/billing
        tier     episodic
        valid    still

        all of it
        ");
    }

    #[test]
    fn nothing_is_wider_than_a_narrow_terminal() {
        let mut hit = memory("a heron that says something of some length to everybody");
        hit["project"] = json!("/home/u/a-project-with-a-name-that-nobody-would-ever-type");
        hit["session_id"] = json!("0ba1e2d3-1234-4321-8888-0123456789ab");
        hit["untrusted"] = json!("gives orders to the assistant, and nobody knows who wrote it");
        hit["role"] = json!("assistant");
        for width in [20, 40, 55, 56, 80] {
            for colours in [Colours::Off, Colours::Shown] {
                let look = look(colours, width);
                let pages = [
                    recalled(&json!({"hits": [hit]}), "heron", &look),
                    listed(&hit, Sought::Text("heron"), &look),
                    whole(&hit, &look),
                    arrived(&hit, &look),
                ];
                for page in pages {
                    let bare = ["\x1b[0m", "\x1b[32m", "\x1b[2m", "\x1b[33m", "\x1b[1;33m"];
                    let bare = bare.iter().fold(page, |page, tone| page.replace(tone, ""));
                    let widest = bare.lines().max_by_key(|line| line.chars().count()).unwrap();
                    assert!(widest.chars().count() <= width, "{widest:?} in {width}");
                    assert!(bare.contains("heron"), "{bare}");
                }
            }
        }
        let line = listed(&hit, Sought::Text("heron"), &look(Colours::Off, 40));
        insta::assert_snapshot!(line, @r"
        3f2a9c1e    2d  assistant
          a heron that says something of some l…
        ");
        let shown = whole(&memory("all of it"), &look(Colours::Off, 40));
        insta::assert_snapshot!(shown, @r"
        id
            3f2a9c1e-0000-0000-0000-000000000000
        said
            2026-11-14 10:22 (2 days ago) by
            user (claude-code)
        session  s1
        project  /home/u/billing
        tier     episodic
        valid    still

        all of it
        ");
    }

    #[test]
    fn nothing_in_a_memory_steers_the_terminal() {
        let hostile = "a\x1b]52;c;aGk=\x07 retry \x1b[2J\u{9b}0m\u{202e}";
        let mut answer = answer(hostile);
        for name in ["record_id", "ts", "role", "project", "reason", "untrusted"] {
            if let Some(hit) = answer["hits"].get_mut(0) {
                hit.set(name, hostile);
            }
        }
        let memory = answer["hits"][0].clone();
        for colours in [Colours::Off, Colours::Shown] {
            let look = look(colours, 60);
            let pages = [
                recalled(&answer, "retry", &look),
                listed(&memory, Sought::Text("retry"), &look),
                whole(&memory, &look),
                arrived(&memory, &look),
            ];
            for page in pages {
                let ours = crate::cli::paper::guarded(&page);
                assert_eq!(ours, page, "something passed that is not ours");
                let is_raw = |letter: char| letter == '\x1b';
                let has_escapes = page.contains(is_raw);
                assert_eq!(has_escapes, colours == Colours::Shown, "{page:?}");
                assert!(page.contains('␛'), "{page:?}");
            }
        }
    }

    #[test]
    fn a_text_is_found_whatever_its_case() {
        let check = |text: &str, sought: &str, want: &[&str]| {
            let spans = literal_spans(text, sought);
            let found: Vec<&str> = spans.into_iter().map(|span| &text[span]).collect();
            assert_eq!(found, want, "{sought} in {text}");
        };
        check("Heron, HERON and heronry", "heron", &["Heron", "HERON", "heron"]);
        check("aaa", "aa", &["aa"]);
        check("İstanbul", "i\u{307}s", &["İs"]);
        check("x", "", &[]);
        check("short", "much longer than it", &[]);
    }
}
