//! Topics that are talked about in several projects, and summaries made by a former rule.

use iai_store::StepProgress;

use super::*;
use crate::organise::terms;
use crate::trial::{Trial, now};

const DETAILS: [&str; 4] = ["invoice", "stripe webhook", "refund policy", "tax rounding"];

/// Turns about the same thing, some of them in each of these projects.
fn tell(trial: &Trial, projects: &[(&str, i64)]) {
    let mut turns = Vec::new();
    for (project, n_turns) in projects {
        for n in 0..*n_turns {
            let place = usize::try_from(n).unwrap();
            let (detail, other) = (DETAILS[place % 4], DETAILS[(place + 1) % 4]);
            let text = format!("In {project} the billing {detail} needs the {other} of billing.");
            turns.push(NewMemory {
                host: "test".to_owned(),
                session: format!("{project} {n}"),
                turn_uuid: None,
                turn_index: Some(n.unsigned_abs()),
                role: Role::User,
                tier: Tier::Episodic,
                project: Some((*project).to_owned()),
                cwd: None,
                turn_at: now() - SignedDuration::from_hours(48) + SignedDuration::from_mins(n),
                captured_at: now(),
                text,
                cue: None,
                language: None,
                tags: Vec::new(),
                provenance: json!({}),
                pinned: false,
            });
        }
    }
    trial.engine.store_turns(&turns, now()).unwrap();
}

/// Puts everything that was said into one topic.
fn one_topic(trial: &Trial) -> u64 {
    let numbers: Vec<MemoryNumber> =
        trial.engine.with_index(|index| index.catalogue().newest_first().collect()).unwrap();
    trial
        .engine
        .write(|writing| {
            let topic = writing.new_topic(now())?;
            for number in &numbers {
                writing.set_topic(*number, Some(topic))?;
            }
            Ok(topic)
        })
        .unwrap()
}

/// The summaries there are, each with the projects of the memories it names as its sources.
fn summaries(trial: &Trial) -> Vec<(Memory, Vec<Option<String>>)> {
    let all = |reader: &iai_store::Reader| Ok(reader.after(MemoryNumber::new(0), 1000)?);
    let memories = trial.engine.read(all).unwrap();
    let projects: BTreeMap<MemoryId, Option<String>> =
        memories.iter().map(|(_, memory)| (memory.id, memory.project.clone())).collect();
    let made = memories.into_iter().filter(|(_, memory)| memory.host == OWN_HOST);
    made.map(|(number, memory)| {
        let links = trial.engine.read(|reader| Ok(reader.links_of(&[number])?)).unwrap();
        let from = links.into_iter().filter(|link| link.kind == LinkKind::ConsolidatedFrom);
        let mut from: Vec<Option<String>> = from.map(|link| projects[&link.dst].clone()).collect();
        from.sort();
        from.dedup();
        (memory, from)
    })
    .collect()
}

#[track_caller]
fn check_is_of(trial: &Trial, project: &str) {
    let made = summaries(trial);
    assert_eq!(made.len(), 1, "{made:?}");
    let (memory, from) = &made[0];
    assert_eq!(memory.project.as_deref(), Some(project));
    for sentence in memory.text.lines() {
        assert!(sentence.starts_with(&format!("In {project} ")), "{sentence}");
    }
    assert_eq!(from, &[Some(project.to_owned())]);
}

#[test]
fn a_topic_of_several_projects_is_told_by_the_memories_of_one() {
    let trial = Trial::new();
    tell(&trial, &[("/shop", 8), ("/ledger", 6), ("/crew", 4)]);
    let topic = one_topic(&trial);
    assert_eq!(trial.run(&Summaries, now()).get("summaries_created"), Some(&1));
    check_is_of(&trial, "/shop");
    let told = trial.engine.read(|reader| Ok(reader.topic(topic)?)).unwrap().unwrap();
    assert_eq!((told.n_members, told.project.as_deref()), (18, Some("/shop")));
    assert_eq!(summaries(&trial)[0].0.provenance["n_members"], 8);
    assert_eq!(trial.run(&Summaries, now()), Effects::new(), "the same members, the same summary");
}

/// The count is of all projects, the summary of one: what leaves elsewhere changes only the first.
#[test]
fn a_topic_is_counted_anew_when_only_other_projects_lose_members() {
    let trial = Trial::new();
    tell(&trial, &[("/shop", 8), ("/ledger", 6)]);
    let topic = one_topic(&trial);
    trial.run(&Summaries, now());
    let told = || trial.engine.read(|reader| Ok(reader.topic(topic)?)).unwrap().unwrap();
    let (before, made) = (told(), summaries(&trial));
    assert_eq!(before.n_members, 14);
    let elsewhere: Vec<MemoryNumber> = trial
        .engine
        .with_index(|index| {
            let catalogue = index.catalogue();
            let is_elsewhere =
                |number: &MemoryNumber| catalogue.project_name(*number) == Some("/ledger");
            catalogue.newest_first().filter(is_elsewhere).collect()
        })
        .unwrap();
    let (moved, forgotten) = elsewhere.split_at(2);
    trial
        .engine
        .write(|writing| {
            for number in moved {
                writing.set_topic(*number, None)?;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(trial.run(&Summaries, now()), Effects::new());
    assert_eq!(told().n_members, 12);
    trial.engine.write(|writing| Ok(writing.forget(forgotten)?)).unwrap();
    for _ in 0..3 {
        assert_eq!(trial.run(&Summaries, now()), Effects::new());
        assert_eq!(told(), Topic { n_members: 8, ..before.clone() });
        assert_eq!(summaries(&trial), made, "the same summary");
    }
}

#[test]
fn a_project_with_few_memories_of_a_topic_is_told_nothing() {
    let trial = Trial::new();
    tell(&trial, &[("/shop", 2), ("/ledger", 2), ("/crew", 1)]);
    one_topic(&trial);
    trial.run(&Summaries, now());
    assert!(summaries(&trial).is_empty());
}

/// A summary as an earlier version left it: up to date, of every project, with links to all.
fn make_mixed(trial: &Trial, topic: u64, text: &str) {
    let all = |reader: &iai_store::Reader| Ok(reader.after(MemoryNumber::new(0), 1000)?);
    let group = trial.engine.read(all).unwrap();
    let members: Vec<MemoryNumber> = group.iter().map(|(number, _)| *number).collect();
    let made = Made {
        summary: Summary {
            kind: SummaryKind::Topic,
            source: topic,
            members_hash: None,
            memory: None,
        },
        hash: Some(hash_of(&members)),
        project: Some("/shop".to_owned()),
        n_members: members.len(),
        n_own: members.len(),
        group,
        extract: Some(Extract {
            text: text.to_owned(),
            quoted: members,
            centre: terms::Direction::mean(std::iter::empty()),
        }),
        phrases: Vec::new(),
    };
    let last = made.group.last().map(|(number, _)| *number).unwrap();
    let progress = StepProgress { up_to: last, ..StepProgress::default() };
    let write = |writing: &Writing<'_>| {
        keep_all(writing, std::slice::from_ref(&made), now())?;
        Ok(writing.put_step(NAME, &progress, now())?)
    };
    trial.engine.write(write).unwrap();
}

#[test]
fn what_a_former_rule_made_is_made_anew_once() {
    let trial = Trial::new();
    tell(&trial, &[("/shop", 8), ("/ledger", 6)]);
    let topic = one_topic(&trial);
    make_mixed(
        &trial,
        topic,
        "In /ledger the billing invoice needs the stripe webhook of billing.",
    );
    assert_eq!(trial.run(&Summaries, now()).get("summaries_updated"), Some(&1));
    check_is_of(&trial, "/shop");
    assert_eq!(trial.run(&Summaries, now()), Effects::new());
}

#[test]
fn a_summary_whose_words_stay_names_no_foreign_source_any_more() {
    let trial = Trial::new();
    tell(&trial, &[("/shop", 8)]);
    let topic = one_topic(&trial);
    trial.run(&Summaries, now());
    let text = summaries(&trial)[0].0.text.clone();
    let trial = Trial::new();
    tell(&trial, &[("/shop", 8), ("/ledger", 1)]);
    assert_eq!(one_topic(&trial), topic);
    make_mixed(&trial, topic, &text);
    assert_eq!(summaries(&trial)[0].1.len(), 2);
    let before = summaries(&trial)[0].0.id;
    trial.run(&Summaries, now());
    assert_eq!(summaries(&trial)[0].0.text, text);
    assert_eq!(summaries(&trial)[0].0.id, before);
    check_is_of(&trial, "/shop");
}
