//! Reads the benchmark files as their authors published them, one conversation at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::marker::PhantomData;
use std::path::Path;

use anyhow::Context as _;
use jiff::civil::DateTime;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::capture::Flow;

use super::dataset::{Haystack, Question, Row, in_utc};

/// Hands every question of a LongMemEval file to `each`, with its own haystack.
pub(super) fn longmemeval(
    path: &Path,
    each: &mut dyn FnMut(Haystack) -> anyhow::Result<Flow>,
) -> anyhow::Result<()> {
    each_element(path, &mut |entry: LongMemEval| each(entry.into_haystack()))
}

/// Hands every conversation of a LoCoMo file to `each`, with its questions.
pub(super) fn locomo(
    path: &Path,
    each: &mut dyn FnMut(Haystack) -> anyhow::Result<Flow>,
) -> anyhow::Result<()> {
    each_element(path, &mut |sample: Locomo| each(sample.into_haystack()))
}

#[derive(Deserialize)]
struct LongMemEval {
    question_id: String,
    question_type: String,
    question: String,
    #[serde(default)]
    question_date: String,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_session_ids: Vec<String>,
    haystack_sessions: Vec<Vec<Message>>,
    #[serde(default)]
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
    #[serde(default)]
    has_answer: bool,
}

impl LongMemEval {
    fn into_haystack(self) -> Haystack {
        let is_abstention = self.question_id.ends_with("_abs");
        let (mut rows, mut relevant) = (Vec::new(), Vec::new());
        let mut dates = self.haystack_dates.iter();
        for (session, messages) in self.haystack_session_ids.iter().zip(self.haystack_sessions) {
            let ts = dates.next().and_then(|date| longmemeval_time(date)).unwrap_or_default();
            for (place, message) in messages.into_iter().enumerate() {
                let id = format!("{session}#{place}");
                if message.has_answer && !is_abstention {
                    relevant.push(id.clone());
                }
                let Message { role, content: text, .. } = message;
                rows.push(Row { id, session: session.clone(), role, ts: ts.clone(), text });
            }
        }
        let sessions = if is_abstention { Vec::new() } else { self.answer_session_ids };
        if relevant.is_empty() {
            // Nobody marked the turn; any turn of a right session is as right as another.
            let in_right_session = rows.iter().filter(|row| sessions.contains(&row.session));
            relevant = in_right_session.map(|row| row.id.clone()).collect();
        }
        let kind = if is_abstention { "abstention".to_owned() } else { self.question_type };
        let question = Question {
            id: self.question_id.clone(),
            cue: self.question,
            relevant,
            relevant_sessions: sessions,
            kind,
            asof: longmemeval_time(&self.question_date),
            before: None,
        };
        let set = "longmemeval".to_owned();
        Haystack { set, name: self.question_id, rows, questions: vec![question] }
    }
}

/// `2023/05/30 (Tue) 23:40`
fn longmemeval_time(text: &str) -> Option<String> {
    let (day, time) = text.split_once('(')?;
    let (_, time) = time.split_once(')')?;
    let civil = format!("{} {}", day.trim(), time.trim());
    let civil = DateTime::strptime("%Y/%m/%d %H:%M", civil).ok()?;
    in_utc(civil).map(|at| at.to_string())
}

#[derive(Deserialize)]
struct Locomo {
    sample_id: String,
    conversation: BTreeMap<String, Value>,
    qa: Vec<LocomoQuestion>,
}

#[derive(Deserialize)]
struct LocomoTurn {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct LocomoQuestion {
    question: String,
    #[serde(default, deserialize_with = "evidence")]
    evidence: Vec<String>,
    category: u64,
}

impl Locomo {
    fn into_haystack(self) -> Haystack {
        let mut sessions: Vec<(u64, &str, Vec<LocomoTurn>)> = Vec::new();
        for (name, value) in &self.conversation {
            let number = name.strip_prefix("session_").and_then(|number| number.parse().ok());
            let turns = Vec::<LocomoTurn>::deserialize(value);
            if let (Some(number), Ok(turns)) = (number, turns) {
                sessions.push((number, name, turns));
            }
        }
        sessions.sort_by_key(|(number, ..)| *number);
        let mut rows = Vec::new();
        for (_, session, turns) in sessions {
            let date = self.conversation.get(&format!("{session}_date_time"));
            let ts = date.and_then(Value::as_str).and_then(locomo_time).unwrap_or_default();
            rows.extend(turns.into_iter().map(|turn| Row {
                id: turn.dia_id,
                session: session.to_owned(),
                role: turn.speaker,
                ts: ts.clone(),
                text: turn.text,
            }));
        }
        let known: BTreeSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let questions = self.qa.into_iter().enumerate().filter_map(|(place, asked)| {
            let mut relevant = asked.evidence;
            relevant.retain(|id| known.contains(id.as_str()));
            let kind = locomo_kind(asked.category).to_owned();
            let id = format!("{}-q{place}", self.sample_id);
            // Evidence that does not exist leaves nothing to score; it does not mean that the
            // question has no answer.
            let question =
                Question { id, cue: asked.question, kind, relevant, ..Question::default() };
            (!question.relevant.is_empty()).then_some(question)
        });
        let questions = questions.collect();
        Haystack { set: "locomo".to_owned(), name: self.sample_id, rows, questions }
    }
}

fn locomo_kind(category: u64) -> &'static str {
    match category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        5 => "adversarial",
        _ => "other",
    }
}

/// `1:56 pm on 8 May, 2023`
fn locomo_time(text: &str) -> Option<String> {
    let civil = DateTime::strptime("%I:%M %p on %d %B, %Y", text.trim()).ok()?;
    in_utc(civil).map(|at| at.to_string())
}

/// Some evidence holds several ids in one string: `D8:6; D9:17`.
fn evidence<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let given = Vec::<String>::deserialize(deserializer)?;
    let ids = given.iter().flat_map(|text| text.split([';', ',', ' ']));
    Ok(ids.filter(|id| !id.is_empty()).map(str::to_owned).collect())
}

/// Hands each element of a list in a file to `each`, without holding the others.
fn each_element<T: for<'de> Deserialize<'de>>(
    path: &Path,
    each: &mut dyn FnMut(T) -> anyhow::Result<Flow>,
) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut ended = None;
    let mut deserializer = serde_json::Deserializer::from_reader(BufReader::new(file));
    let elements = Elements { each, ended: &mut ended, element: PhantomData };
    let read = deserializer.deserialize_seq(elements);
    match ended {
        Some(Err(error)) => Err(error),
        Some(Ok(Flow::Stop)) => Ok(()),
        Some(Ok(Flow::On)) | None => read.with_context(|| format!("reading {}", path.display())),
    }
}

struct Elements<'a, T> {
    each: &'a mut dyn FnMut(T) -> anyhow::Result<Flow>,
    ended: &'a mut Option<anyhow::Result<Flow>>,
    element: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<'_, T> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list, as the benchmark's authors publish it")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<T>()? {
            *self.ended = Some((self.each)(element));
            if !matches!(self.ended, Some(Ok(Flow::On))) {
                // What follows in the list stays unread, which only an error says.
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Reader = fn(&Path, &mut dyn FnMut(Haystack) -> anyhow::Result<Flow>) -> anyhow::Result<()>;

    fn read(reader: Reader, published: &Value) -> Vec<Haystack> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("published.json");
        std::fs::write(&path, published.to_string()).unwrap();
        let mut haystacks = Vec::new();
        reader(&path, &mut |haystack| {
            haystacks.push(haystack);
            Ok(Flow::On)
        })
        .unwrap();
        haystacks
    }

    fn entry(id: &str, marked: bool) -> Value {
        json!({
            "question_id": id, "question_type": "multi-session", "question": "Which harbour?",
            "answer": "north", "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 09:00"],
            "haystack_session_ids": ["answer_1", "noise"],
            "haystack_sessions": [
                [{"role": "user", "content": "the north one", "has_answer": marked},
                 {"role": "assistant", "content": "noted"}],
                [{"role": "user", "content": "hello"}],
            ],
            "answer_session_ids": ["answer_1"],
        })
    }

    #[test]
    fn a_longmemeval_file_is_read_as_published() {
        let published = json!([entry("q1", true), entry("q2_abs", true), entry("q3", false)]);
        let haystacks = read(longmemeval, &published);
        let [marked, abstention, unmarked] = haystacks.as_slice() else { panic!("three") };
        assert_eq!(marked.rows[1].id, "answer_1#1");
        assert_eq!(marked.rows[2].ts, "2023-05-21T09:00:00Z");
        let question = &marked.questions[0];
        assert_eq!(question.relevant, ["answer_1#0"]);
        assert_eq!(question.relevant_sessions, ["answer_1"]);
        assert_eq!(question.asof.as_deref(), Some("2023-05-30T23:40:00Z"));
        assert_eq!(question.kind, "multi-session");
        assert_eq!(abstention.questions[0].kind, "abstention");
        assert!(abstention.questions[0].relevant.is_empty());
        assert!(abstention.gold()[0].sessions.is_empty());
        assert_eq!(unmarked.questions[0].relevant, ["answer_1#0", "answer_1#1"]);
    }

    #[test]
    fn a_locomo_file_is_read_as_published() {
        let published = json!([{
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Ann", "speaker_b": "Bo",
                "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Late."}],
                "session_10_date_time": "10:05 am on 9 June, 2023",
                "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Hi Bo!"}],
                "session_2_date_time": "1:56 pm on 8 May, 2023",
            },
            "qa": [
                {"question": "Who?", "answer": "Ann", "evidence": ["D2:1; D10:1"], "category": 1},
                {"question": "Lost?", "answer": 7, "evidence": ["D9:9"], "category": 4},
                {"question": "Trick?", "evidence": ["D10:1"], "category": 5,
                 "adversarial_answer": "x"},
            ],
        }]);
        let haystacks = read(locomo, &published);
        let haystack = &haystacks[0];
        let rows: Vec<(&str, &str, &str)> = haystack
            .rows
            .iter()
            .map(|row| (row.id.as_str(), row.role.as_str(), row.ts.as_str()))
            .collect();
        let want =
            [("D2:1", "Ann", "2023-05-08T13:56:00Z"), ("D10:1", "Bo", "2023-06-09T10:05:00Z")];
        assert_eq!(rows, want);
        let asked: Vec<(&str, &str)> =
            haystack.questions.iter().map(|q| (q.id.as_str(), q.kind.as_str())).collect();
        assert_eq!(asked, [("conv-1-q0", "multi-hop"), ("conv-1-q2", "adversarial")]);
        assert_eq!(haystack.questions[0].relevant, ["D2:1", "D10:1"]);
    }

    #[test]
    fn a_file_is_read_element_by_element_until_somebody_stops() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("broken.json");
        let whole = entry("q1", true);
        std::fs::write(&path, format!("[{whole},{whole},not json")).unwrap();
        let mut n_read = 0;
        let read = longmemeval(&path, &mut |_| {
            n_read += 1;
            Ok(if n_read == 2 { Flow::Stop } else { Flow::On })
        });
        assert_eq!((read.is_ok(), n_read), (true, 2));
        let failed = longmemeval(&path, &mut |_| Err(anyhow::anyhow!("enough")));
        assert_eq!(failed.unwrap_err().to_string(), "enough");
        let error = longmemeval(&path, &mut |_| Ok(Flow::On)).unwrap_err();
        assert!(error.to_string().contains("broken.json"), "{error}");
    }
}
