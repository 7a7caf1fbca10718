//! A made-up developer's year, of any size: sessions in six projects, as a host writes them down.

use serde_json::{Value, json};

use crate::dice::Dice;

/// Turns of one session.
const TURNS_PER_SESSION: u64 = 8;
const DAY_SECONDS: u64 = 86_400;
const HISTORY_DAYS: u64 = 330;
/// Sessions of one working day, when there is little to tell.
const SESSIONS_PER_DAY: u64 = 2;
/// A short history still reaches back over some weeks.
const DAYS_APART_MAX: u64 = 3;
/// The numbers in the sentences are small ones, from 2 on.
const NUMBERS: u64 = 12;
const SEED: u64 = 2026;

/// What a project talks about: its name, its branch, and its subjects.
struct Project {
    name: &'static str,
    branch: &'static str,
    subjects: &'static [Subject],
}

/// What is said about one thing. `{n}` is a number, `{d}` a detail.
struct Subject {
    asks: &'static [&'static str],
    answers: &'static [&'static str],
    details: &'static [&'static str],
    file: &'static str,
}

const PROJECTS: &[Project] = &[
    Project {
        name: "billing",
        branch: "retry-budget",
        subjects: &[
            Subject {
                asks: &[
                    "Which retry policy do we want for {d} in billing?",
                    "The payment provider answered {n} times with 503 last night. Do we retry {d}?",
                    "Let us decide about retries: {d} gets at most {n} attempts, with jitter.",
                ],
                answers: &[
                    "Decision: {d} is retried up to {n} times with exponential backoff and \
                     jitter, and a timeout is never retried without an idempotency key.",
                    "I changed `RetryPolicy` so that {d} waits {n} seconds before the next \
                     attempt. The test for the slow provider passes now.",
                ],
                details: &["a declined card", "a charge", "the refund call", "the webhook"],
                file: "src/retry.rs",
            },
            Subject {
                asks: &[
                    "The invoice total of {d} is off by {n} cents. Is that rounding?",
                    "How do we round tax for {d}?",
                ],
                answers: &[
                    "The tax of {d} is rounded for every line and summed afterwards; the other \
                     way round gives {n} cents more. I wrote a property test for it.",
                    "Invoices of {d} keep amounts in cents and round half to even, as the \
                     accountants asked on page {n} of their note.",
                ],
                details: &["Swiss customers", "the yearly plan", "credit notes", "the pilot"],
                file: "src/invoice/tax.rs",
            },
        ],
    },
    Project {
        name: "harbour-api",
        branch: "main",
        subjects: &[
            Subject {
                asks: &[
                    "Port {n} is taken on the staging host. Where does {d} listen?",
                    "Please move {d} of the harbour service behind the proxy.",
                ],
                answers: &[
                    "{d} listens on port {n} since the move; the proxy forwards `/harbour` to it:\n\
                     \n```toml\n[listen]\nport = {n}\npath = \"/harbour\"\n```\n",
                    "Done. {d} is reachable through the proxy only, and the health check asks it \
                     every {n} seconds.",
                ],
                details: &["the crane service", "the tide feed", "the berth planner"],
                file: "deploy/harbour.toml",
            },
            Subject {
                asks: &[
                    "The deployment of {d} took {n} minutes. Can we make the container smaller?",
                    "What did we say about deploying {d} on Fridays?",
                ],
                answers: &[
                    "We deploy {d} from Monday to Thursday, never on a Friday afternoon, and a \
                     rollback has to be possible within {n} minutes.",
                    "The image of {d} is {n} MB now: the build stage keeps the toolchain, the \
                     final stage has the binary and certificates only.",
                ],
                details: &["the gateway", "the scheduler", "the pilot boats' backend"],
                file: "Containerfile",
            },
        ],
    },
    Project {
        name: "atlas-web",
        branch: "map-tiles",
        subjects: &[
            Subject {
                asks: &[
                    "The map stutters when {d} has more than {n} markers.",
                    "Should {d} be drawn on a canvas or as elements?",
                ],
                answers: &[
                    "Markers of {d} are clustered first and drawn on a canvas; with {n} markers a \
                     frame takes four milliseconds instead of sixty.",
                    "I would keep elements for {d}: there are at most {n}, and screen readers see \
                     them. The canvas is for the tiles.",
                ],
                details: &["the coast layer", "the ferry layer", "the city of Bergen"],
                file: "src/layers/markers.ts",
            },
            Subject {
                asks: &[
                    "Contrast of {d} is {n} to one. Is that enough?",
                    "Use the dark theme for {d}, please, with the new accent colour.",
                ],
                answers: &[
                    "{d} needs 4.5 to one for text. I took the darker teal, which gives {n} to \
                     one on white, and the lighter one on the dark theme.",
                    "The theme of {d} follows the system now and can be switched; {n} colours \
                     became variables.",
                ],
                details: &["the legend", "the search field", "the settings dialog"],
                file: "src/theme.css",
            },
        ],
    },
    Project {
        name: "garden-bot",
        branch: "main",
        subjects: &[Subject {
            asks: &[
                "The moisture sensor of {d} reports {n} percent all day. Broken?",
                "When does {d} get water in a week without rain?",
            ],
            answers: &[
                "The sensor of {d} is fine, the calibration was not: dry soil reads {n} percent. \
                 I stored the new curve.",
                "{d} gets water at six in the morning for {n} minutes, unless the forecast has \
                 more than five millimetres of rain.",
            ],
            details: &["the tomato bed", "the greenhouse", "the young apple tree"],
            file: "firmware/moisture.c",
        }],
    },
    Project {
        name: "thesis",
        branch: "chapter-3",
        subjects: &[Subject {
            asks: &[
                "Chapter three claims that {d} holds for n below {n}. Is the proof right?",
                "Find a shorter word for {d} in the abstract.",
            ],
            answers: &[
                "The proof of {d} needs the lemma on page {n}; without it the induction step \
                 assumes what it shows. I marked the place.",
                "In the abstract {d} can simply be called the bound. That saves {n} words and \
                 nobody will miss them.",
            ],
            details: &["the lower bound", "the pairing argument", "the coupling"],
            file: "chapters/bounds.tex",
        }],
    },
    Project {
        name: "dotfiles",
        branch: "main",
        subjects: &[Subject {
            asks: &[
                "My shell takes {n} milliseconds to start since I added {d}.",
                "Always use spaces and never tabs in {d}, please.",
            ],
            answers: &[
                "{d} was loaded twice. Loading it once and lazily brings the start to {n} \
                 milliseconds.",
                "Noted: spaces in {d}. I converted {n} lines and left the make files alone.",
            ],
            details: &["the completion script", "the prompt", "the editor's config"],
            file: ".config/shell/rc",
        }],
    },
];

/// A session as a transcript: its name, its project, its lines.
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) project: &'static str,
    pub(crate) lines: Vec<Value>,
}

/// Returns sessions of `n_turns` turns in all, the last of them on the day before `now_seconds`.
pub(crate) fn sessions(n_turns: u64, now_seconds: u64) -> impl Iterator<Item = Session> {
    let n_sessions = n_turns.div_ceil(TURNS_PER_SESSION).max(1);
    let per_day = n_sessions.div_ceil(HISTORY_DAYS).max(SESSIONS_PER_DAY);
    let days_apart = (HISTORY_DAYS / n_sessions.div_ceil(per_day)).clamp(1, DAYS_APART_MAX);
    (0..n_sessions).map(move |n| {
        let n_turns = TURNS_PER_SESSION.min(n_turns - n * TURNS_PER_SESSION);
        let day = now_seconds / DAY_SECONDS - 1 - n / per_day * days_apart;
        // Between eight and six, in steps that leave each session its half hour.
        let begin = day * DAY_SECONDS + 8 * 3600 + (n % per_day) * 36_000 / per_day;
        session(n, n_turns, begin)
    })
}

fn session(n: u64, n_turns: u64, begin: u64) -> Session {
    let mut dice = Dice::new(SEED ^ (n << 16));
    let (project, round) = nth(PROJECTS, n);
    let (subject, round) = nth(project.subjects, round);
    let name = format!("{:08x}-made-up-{n}", dice.below(u64::from(u32::MAX)));
    let mut lines: Vec<Value> = Vec::new();
    let mut parent = Value::Null;
    for place in 0..n_turns {
        let at = begin + place * 140 + dice.below(60);
        let is_user = place.is_multiple_of(2);
        let said = if is_user { subject.asks } else { subject.answers };
        let (template, again) = nth(said, place / 2);
        let (detail, _) = nth(subject.details, round + again);
        let text = fill(template, detail, &mut dice);
        let uuid = format!("{n:08x}-0000-4000-8000-{place:012x}");
        let role = if is_user { "user" } else { "assistant" };
        let mut content = vec![json!({"type": "text", "text": text})];
        if !is_user && dice.one_in(2) {
            let input = json!({"file_path": subject.file});
            content.push(json!({"type": "tool_use", "id": uuid, "name": "Edit", "input": input}));
        }
        let mut line = json!({
            "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": name,
            "timestamp": iso(at), "cwd": format!("/home/dev/{}", project.name),
            "gitBranch": project.branch, "version": "2.1.0",
            "message": {"role": role, "content": content},
        });
        if let Some(message) = line.get_mut("message").and_then(Value::as_object_mut)
            && !is_user
        {
            message.insert("model".to_owned(), json!("made-up-model-1"));
        }
        parent = json!(uuid);
        lines.push(line);
    }
    Session { name, project: project.name, lines }
}

/// Returns one of `all`, in turn, and how many rounds were made before.
fn nth<T>(all: &[T], n: u64) -> (&T, u64) {
    let n_all = all.len() as u64;
    let place = usize::try_from(n % n_all).unwrap_or(0);
    (all.get(place).expect("every list has something"), n / n_all)
}

fn fill(template: &str, detail: &str, dice: &mut Dice) -> String {
    let number = (2 + dice.below(NUMBERS)).to_string();
    let text = template.replace("{d}", detail).replace("{n}", &number);
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

/// Writes a time as hosts do. The day is counted as in the civil calendar from March on, so that
/// the leap day is the last of a year.
fn iso(seconds: u64) -> String {
    let (days, rest) = (seconds / DAY_SECONDS + 719_468, seconds % DAY_SECONDS);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.000Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        for (seconds, want) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_763_294_645, "2025-11-16T12:04:05.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
        ] {
            assert_eq!(iso(seconds), want);
        }
    }

    #[test]
    fn a_life_has_as_many_turns_as_asked_and_is_the_same_every_time() {
        let now = 1_763_294_645;
        for n_turns in [1, 8, 100, 5000] {
            let n: usize = sessions(n_turns, now).map(|session| session.lines.len()).sum();
            assert_eq!(n as u64, n_turns);
        }
        let texts = || sessions(100, now).map(|s| format!("{:?}", s.lines)).collect::<Vec<_>>();
        assert_eq!(texts(), texts());
    }
}
