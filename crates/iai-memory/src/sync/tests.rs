//! Several engines and one log between them: whatever the order, the same memory everywhere.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use iai_store::{ForgetReason, GoneNames, MemoryId, Reach, VaultKind, VaultNumber};
use iai_sync::{
    Appended, Entry, EntryName, Head, MachineId, MachineKey, Remote, RemoteError, SyncKey, VaultId,
    VaultKeys, random,
};
use jiff::{SignedDuration, Timestamp};

use super::{ExchangeWork, Exchanged, SyncIdentity, VaultInvite};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::forgetting::{ForgetAsk, ForgetWork};
use crate::standing::Consent;
use crate::trial::{Trial, now};

/// A remote in memory.
#[derive(Default)]
struct Shelf {
    chains: BTreeMap<MachineId, Vec<Entry>>,
    /// Gives as much as there is, instead of three entries.
    is_generous: bool,
}

impl Remote for Shelf {
    fn heads(&mut self, _: VaultId) -> Result<Vec<Head>, RemoteError> {
        let chains = self.chains.iter();
        let head = |(machine, chain): (&MachineId, &Vec<Entry>)| Head {
            machine: *machine,
            counter: chain.len() as u64,
        };
        Ok(chains.map(head).collect())
    }

    fn fetch(
        &mut self,
        _: VaultId,
        machine: MachineId,
        counter: u64,
        _: usize,
    ) -> Result<Vec<Entry>, RemoteError> {
        let chain = self.chains.get(&machine).map(Vec::as_slice).unwrap_or_default();
        let skipped = chain.iter().skip(usize::try_from(counter).unwrap());
        let limit = if self.is_generous { usize::MAX } else { 3 };
        Ok(skipped.take(limit).cloned().collect())
    }

    fn append(&mut self, _: VaultId, entries: &[Entry]) -> Result<Appended, RemoteError> {
        for entry in entries {
            let chain = self.chains.entry(entry.name.machine).or_default();
            let place = usize::try_from(entry.name.counter).unwrap() - 1;
            match chain.get(place) {
                None => {
                    assert_eq!(chain.len(), place, "entries follow each other");
                    chain.push(entry.clone());
                }
                Some(known) if known.digest == entry.digest => {}
                Some(_) => return Ok(Appended::Forked(entry.name)),
            }
        }
        Ok(Appended::Kept)
    }

    fn erase(&mut self, _: VaultId, entries: &[EntryName]) -> Result<(), RemoteError> {
        for name in entries {
            let chain = self.chains.get_mut(&name.machine).unwrap();
            chain[usize::try_from(name.counter).unwrap() - 1].payload = None;
        }
        Ok(())
    }

    fn put_invitation(&mut self, _: &str, _: &[u8], _: i64) -> Result<(), RemoteError> {
        Ok(())
    }

    fn take_invitation(&mut self, _: &str, _: i64) -> Result<Option<Vec<u8>>, RemoteError> {
        Ok(None)
    }

    fn wait(&mut self, _: Duration) -> Result<(), RemoteError> {
        Ok(())
    }
}

/// A machine with one vault and a clock of its own.
struct Machine {
    trial: Trial,
    vault: VaultNumber,
    skew: SignedDuration,
    ticks: Cell<i64>,
}

impl Machine {
    fn joined(name: &str, kind: VaultKind, projects: &[(&str, &str)]) -> Self {
        Self::skewed(name, kind, projects, SignedDuration::ZERO)
    }

    fn skewed(
        name: &str,
        kind: VaultKind,
        projects: &[(&str, &str)],
        skew: SignedDuration,
    ) -> Self {
        let trial = Trial::new();
        let projects = projects.iter().map(|(name, path)| iai_store::SyncProject {
            name: (*name).to_owned(),
            path: (*path).to_owned(),
        });
        let invite = VaultInvite {
            id: VaultId::from_bytes([7; 16]),
            name: "home".to_owned(),
            kind,
            address: "nowhere".to_owned(),
            keys: VaultKeys::founded(SyncKey::from_bytes([9; 32])),
            projects: projects.collect(),
        };
        let vault = trial.engine.sync_add_vault(&invite, identity(name), now()).unwrap();
        Self { trial, vault, skew, ticks: Cell::new(0) }
    }

    fn engine(&self) -> &MemoryEngine {
        &self.trial.engine
    }

    fn now(&self) -> Timestamp {
        self.ticks.set(self.ticks.get() + 1);
        now() + self.skew + SignedDuration::from_millis(self.ticks.get())
    }

    fn exchange(&self, remote: &mut dyn Remote) -> Exchanged {
        let work = ExchangeWork {
            clock: &|| self.now(),
            draw_name: &|| Ok(identity("renamed").id),
            must_stop: &|| false,
        };
        let done = self.engine().sync_exchange(self.vault, remote, &work).unwrap();
        self.work_off();
        done
    }

    fn forget(&self, id: MemoryId) {
        let ask = ForgetAsk { ids: vec![id.to_string()], ..ForgetAsk::default() };
        self.engine().begin_forgetting(&ask, ForgetReason::Asked, None, self.now()).unwrap();
        self.work_off();
    }

    fn work_off(&self) {
        let work = ForgetWork {
            clock: &|| self.now(),
            erase_names: &|_: &GoneNames| Ok(()),
            must_stop: &|| false,
        };
        self.engine().work_off_forgetting(&work).unwrap();
    }

    /// Everything that is shared, in an order of its own.
    fn told(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let choice = iai_store::ExportChoice::default();
        self.engine()
            .export_lines(&choice, &mut |line| {
                let is_local = ["\"use\"", "\"link_session\"", "\"end\"", "iai-mcp export"];
                if !is_local.iter().any(|kind| line.contains(&format!("\"kind\":{kind}"))) {
                    lines.push(line.to_owned());
                }
                Ok(())
            })
            .unwrap();
        lines.retain(|line| !line.contains("\"kind\":\"iai-mcp export\""));
        lines.sort();
        lines
    }

    fn texts(&self) -> Vec<String> {
        let told = self.told();
        let memories = told.iter().filter(|line| line.contains("\"kind\":\"memory\""));
        let text = |line: &String| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line["text"].as_str().unwrap().to_owned()
        };
        let mut texts: Vec<String> = memories.map(text).collect();
        texts.sort();
        texts
    }
}

fn identity(name: &str) -> SyncIdentity {
    SyncIdentity {
        id: MachineId::from_random(random().unwrap()),
        name: name.to_owned(),
        key: MachineKey::from_bytes(&random().unwrap()),
    }
}

fn settle(machines: &[&Machine], remote: &mut dyn Remote) {
    for _ in 0..3 {
        for machine in machines {
            machine.exchange(remote);
        }
    }
}

#[test]
fn two_machines_have_one_memory() {
    let mut shelf = Shelf::default();
    let (one, other) = (
        Machine::joined("laptop", VaultKind::Personal, &[]),
        Machine::joined("desktop", VaultKind::Personal, &[]),
    );
    let ids = one.trial.tell(&["the staging port is 5433", "we deploy on Fridays"]);
    one.engine()
        .pin(&ids[1].to_string(), (Reach::Everywhere, Consent::NotAsked), one.now())
        .unwrap();
    one.engine().set_identity("a person", one.now()).unwrap();
    let fixed = "the staging port is 5434";
    one.engine().contradict(&ids[0].to_string(), fixed, "s0", one.now()).unwrap();
    other.engine().set_profile("inertia_awareness", &serde_json::json!(true), other.now()).unwrap();
    settle(&[&one, &other], &mut shelf);
    assert_eq!(one.told(), other.told());
    assert_eq!(other.texts().len(), 3);
    assert_eq!(other.engine().pins().unwrap().len(), 1);
    // Nothing is told again.
    assert_eq!(one.exchange(&mut shelf), Exchanged::default());
    assert_eq!(other.exchange(&mut shelf), Exchanged::default());
}

#[test]
fn a_long_chain_is_taken_in_by_pieces_and_may_be_left_between_them() {
    let mut shelf = Shelf { is_generous: true, ..Shelf::default() };
    let one = Machine::joined("laptop", VaultKind::Personal, &[]);
    let other = Machine::joined("desktop", VaultKind::Personal, &[]);
    let said: Vec<String> = (0..600).map(|n| format!("buoy {n} is lit")).collect();
    one.trial.tell(&said.iter().map(String::as_str).collect::<Vec<_>>());
    one.exchange(&mut shelf);
    // Whoever is asked to stop says so when the first piece is in.
    let n_asked = Cell::new(0);
    let must_stop = || n_asked.replace(n_asked.get() + 1) > 0;
    let draw_name = || Ok(identity("renamed").id);
    let clock = || other.now();
    let work = ExchangeWork { clock: &clock, draw_name: &draw_name, must_stop: &must_stop };
    let begun = other.engine().sync_exchange(other.vault, &mut shelf, &work).unwrap();
    assert!((1..600).contains(&begun.received), "{begun:?}");
    settle(&[&other, &one], &mut shelf);
    assert_eq!(one.told(), other.told());
    assert_eq!(other.texts().len(), 600);
}

#[test]
fn forgetting_reaches_everyone_and_the_log() {
    let mut shelf = Shelf::default();
    let machines: Vec<Machine> = ["a", "b", "c"]
        .iter()
        .map(|name| Machine::joined(name, VaultKind::Personal, &[]))
        .collect();
    let all: Vec<&Machine> = machines.iter().collect();
    let secret = "the safe opens with 8841";
    let ids = machines[0].trial.tell(&[secret, "the cat is called Ivo"]);
    // The same turn, taken in by another machine too.
    machines[2].trial.tell(&[secret]);
    settle(&all, &mut shelf);
    machines[1].forget(ids[0]);
    settle(&all, &mut shelf);
    for machine in &machines {
        assert_eq!(machine.texts(), ["the cat is called Ivo"]);
        let status = machine.engine().sync_status().unwrap();
        assert_eq!(status.vaults[0].withheld, 0);
    }
    let n_erased = shelf.chains.values().flatten().filter(|entry| entry.payload.is_none()).count();
    // The second machine that had it found it told, or told it as well.
    assert!((1..=2).contains(&n_erased), "{n_erased} payloads are gone");
    // It does not come back by being said again from a transcript.
    machines[2].trial.tell(&[secret]);
    settle(&all, &mut shelf);
    assert_eq!(machines[0].texts(), machines[2].texts());
}

#[test]
fn a_forgetting_that_comes_first_wins_too() {
    let mut shelf = Shelf::default();
    let one = Machine::joined("a", VaultKind::Personal, &[]);
    let other = Machine::joined("b", VaultKind::Personal, &[]);
    let ids = one.trial.tell(&["a word to be forgotten"]);
    one.exchange(&mut shelf);
    one.forget(ids[0]);
    one.exchange(&mut shelf);
    other.exchange(&mut shelf);
    assert_eq!(other.texts(), [""; 0]);
    assert_eq!(other.engine().sync_status().unwrap().vaults[0].withheld, 0);
}

#[test]
fn corrections_made_apart_are_both_kept_and_disputed() {
    let mut shelf = Shelf::default();
    let one = Machine::joined("a", VaultKind::Personal, &[]);
    let other = Machine::joined("b", VaultKind::Personal, &[]);
    let id = one.trial.tell(&["the release is on Monday"])[0].to_string();
    settle(&[&one, &other], &mut shelf);
    one.engine().contradict(&id, "the release is on Tuesday", "x", one.now()).unwrap();
    other.engine().contradict(&id, "the release is on Thursday", "y", other.now()).unwrap();
    settle(&[&one, &other], &mut shelf);
    assert_eq!(one.told(), other.told());
    for machine in [&one, &other] {
        let open = machine.engine().read(|reader| Ok(reader.open_disputes(10)?)).unwrap();
        assert_eq!(open.len(), 1, "both are told as disputed");
    }
}

#[test]
fn a_clock_years_ahead_locks_nobody_out() {
    let mut shelf = Shelf::default();
    let years = SignedDuration::from_hours(24 * 365 * 10);
    let ahead = Machine::skewed("ahead", VaultKind::Personal, &[], years);
    let other = Machine::joined("b", VaultKind::Personal, &[]);
    ahead.engine().set_identity("from the future", ahead.now()).unwrap();
    settle(&[&ahead, &other], &mut shelf);
    other.engine().set_identity("from the present", other.now()).unwrap();
    settle(&[&ahead, &other], &mut shelf);
    assert_eq!(ahead.engine().identity().unwrap().as_deref(), Some("from the present"));
    assert_eq!(other.engine().identity().unwrap().as_deref(), Some("from the present"));
}

#[test]
fn what_is_personal_never_enters_a_team() {
    let mut shelf = Shelf::default();
    let one = Machine::joined("a", VaultKind::Team, &[("billing", "/p")]);
    let other = Machine::joined("b", VaultKind::Team, &[("billing", "/home/b/billing")]);
    let ids = one.trial.tell(&["the invoice job runs at night", "its timeout is 30 s"]);
    let private = crate::ingest::CaptureAsk {
        text: "my doctor's appointment".to_owned(),
        cue: None,
        tier: iai_store::Tier::Episodic,
        role: iai_store::Role::User,
        session: "private".to_owned(),
        project: Some("/home/a/diary".to_owned()),
        cwd: None,
    };
    one.engine().capture(&private, one.now()).unwrap();
    one.trial.tell(&["never push to a branch of mine, in any repo"]);
    one.engine().set_identity("a person", one.now()).unwrap();
    one.engine().pin(&ids[0].to_string(), (Reach::Project, Consent::NotAsked), one.now()).unwrap();
    one.engine().contradict(&ids[1].to_string(), "its timeout is 60 s", "s1", one.now()).unwrap();
    settle(&[&one, &other], &mut shelf);
    assert_eq!(other.texts().len(), 4);
    for (machine, n_expected) in [(&one, 1), (&other, 0)] {
        machine.trial.run(&crate::remarks::FindRemarks, machine.now());
        let kind = iai_store::RemarkKind::Preference;
        let wide = machine.engine().read(|reader| Ok(reader.remarks_for_everywhere(kind, 9)?));
        assert_eq!(wide.unwrap().len(), n_expected, "a wish for all projects is its user's own");
    }
    let told = other.told().join("\n");
    assert!(
        told.contains("\"project\":\"/home/b/billing\"") && !told.contains("\"project\":\"/p\"")
    );
    assert!(told.contains("contradicts") && !told.contains("doctor"));
    assert!(
        other.engine().identity().unwrap().is_none() && other.engine().pins().unwrap().is_empty()
    );
}

#[test]
fn what_a_team_says_is_about_what_was_said_in_its_project() {
    let mut shelf = Shelf::default();
    let one = Machine::joined("a", VaultKind::Team, &[("billing", "/p")]);
    let other = Machine::joined("b", VaultKind::Team, &[("billing", "/p")]);
    let say = |machine: &Machine, project: &str, text: &str, at: Timestamp| {
        let said = iai_store::NewMemory {
            session: text.to_owned(),
            project: Some(project.to_owned()),
            turn_at: at,
            ..crate::trial::turn(0, text)
        };
        machine.engine().store_turns(&[said], now()).unwrap();
    };
    let hours_ago = |n: i64| now() - SignedDuration::from_hours(n);
    let of_all = "always sign the tarball of a release, in every repo";
    let of_here = "always squash the fixture commits of the ledger";
    say(&other, "/home/b/diary", of_all, hours_ago(9));
    say(&other, "/p", of_here, hours_ago(8));
    say(&one, "/p", "no longer sign the tarball of a release", hours_ago(7));
    say(&one, "/p", "no longer squash the fixture commits of the ledger", hours_ago(6));
    settle(&[&one, &other], &mut shelf);
    let sequels = || {
        other.trial.run(&crate::remarks::FindRemarks, other.now());
        other.trial.run(&crate::remarks::FindSequels, other.now());
        let kind = iai_store::RemarkKind::Preference;
        let n_of = |project: &str, wish: &str| {
            let found = other.engine().read(|reader| {
                let wishes = reader.remarks(kind, project, 9)?;
                let wish = wishes.iter().find(|own| own.memory.text == wish).expect("the wish");
                Ok(reader.sequels(kind, wish)?.len())
            });
            found.unwrap()
        };
        (n_of("/home/b/diary", of_all), n_of("/p", of_here))
    };
    assert_eq!(sequels(), (0, 1), "a colleague changes what holds in the project, not my habits");
    say(&other, "/p", "I no longer sign the tarball of a release", hours_ago(5));
    assert_eq!(sequels(), (1, 1), "they are mine to change, wherever I say it");
}

#[test]
fn a_machine_that_is_put_out_reads_nothing_new() {
    let mut shelf = Shelf::default();
    let one = Machine::joined("a", VaultKind::Personal, &[]);
    let out = Machine::joined("lost", VaultKind::Personal, &[]);
    let third = Machine::joined("c", VaultKind::Personal, &[]);
    out.trial.tell(&["said before it was lost"]);
    settle(&[&one, &out, &third], &mut shelf);
    let lost = one.engine().sync_status().unwrap().vaults.remove(0).machines;
    let lost = lost.into_iter().find(|machine| machine.name == "lost").unwrap().id;
    let epoch = one.engine().sync_rekey(one.vault, Some(lost.parse().unwrap()), one.now()).unwrap();
    assert_eq!(epoch, 2);
    one.exchange(&mut shelf);
    one.trial.tell(&["said before it was lost", "said after it was lost"]);
    out.trial.tell(&["said before it was lost", "words of a thief"]);
    settle(&[&one, &out, &third], &mut shelf);
    assert_eq!(one.told(), third.told());
    assert!(third.texts().contains(&"said after it was lost".to_owned()));
    assert!(!third.texts().contains(&"words of a thief".to_owned()));
    assert!(!out.texts().contains(&"said after it was lost".to_owned()));
    let machines = out.engine().sync_status().unwrap().vaults.remove(0).machines;
    assert!(machines.iter().any(|machine| machine.is_this && machine.is_out));
}

#[test]
fn a_chain_that_somebody_else_goes_on_with_is_begun_anew() {
    let mut shelf = Shelf::default();
    let one = Machine::joined("a", VaultKind::Personal, &[]);
    let other = Machine::joined("b", VaultKind::Personal, &[]);
    one.trial.tell(&["kept on the remote"]);
    settle(&[&one, &other], &mut shelf);
    // As if a copy of this store had written on: entries nobody here knows.
    let this = one.engine().sync_status().unwrap().vaults.remove(0).machines.remove(0).id;
    let chain = shelf.chains.get_mut(&this.parse::<MachineId>().unwrap()).unwrap();
    let mut foreign = chain.last().unwrap().clone();
    foreign.name.counter += 1;
    foreign.digest = [1; 32];
    chain.push(foreign);
    one.trial.tell(&["said after the copy was made"]);
    let done = one.exchange(&mut shelf);
    assert!(done.renamed.is_some(), "{done:?}");
    settle(&[&one, &other], &mut shelf);
    assert_eq!(one.texts(), other.texts());
    assert_eq!(one.texts().len(), 2);
}

#[test]
fn what_a_remote_does_to_entries_is_noticed() {
    type Harm = fn(&mut Vec<Entry>);
    let check = |harm: Harm, expect: &str| {
        let mut shelf = Shelf::default();
        let one = Machine::joined("a", VaultKind::Personal, &[]);
        one.trial.tell(&["first", "second", "third"]);
        one.exchange(&mut shelf);
        harm(shelf.chains.values_mut().next().unwrap());
        let other = Machine::joined("b", VaultKind::Personal, &[]);
        let troubles = other.exchange(&mut shelf).troubles;
        let said = troubles.values().next().cloned().unwrap_or_default();
        let withheld = other.engine().sync_status().unwrap().vaults[0].withheld;
        assert!(said.contains(expect) || (expect.is_empty() && withheld == 1), "{said} {withheld}");
        assert!(one.texts().len() == 3 && other.texts().len() < 3);
    };
    check(|chain| drop(chain.remove(1)), "missing");
    check(|chain| chain.swap(1, 2), "out of order");
    check(|chain| chain[2].payload.as_mut().unwrap()[40] ^= 1, "altered");
    check(|chain| chain[1].payload = None, "");
    check(
        |chain| {
            let payload = chain[1].payload.clone();
            chain[2].payload = payload;
        },
        "altered",
    );
}

#[test]
fn vectors_travel_and_are_used_where_the_model_is_the_same() {
    let check = |name: &str, n_missing: u64| {
        let mut shelf = Shelf::default();
        let one = Machine::joined("a", VaultKind::Personal, &[]);
        let other = Machine::joined("b", VaultKind::Personal, &[]);
        for (machine, name) in [(&one, "minilm"), (&other, name)] {
            let model = iai_embed::FakeEmbedder::new(name);
            machine.engine().attach_model(std::sync::Arc::new(model)).unwrap();
        }
        one.trial.tell(&["the retry policy of the billing service has four attempts"]);
        while one.engine().embed_step().unwrap() {}
        settle(&[&one, &other], &mut shelf);
        assert_eq!(other.texts().len(), 1);
        assert_eq!(other.engine().meaning_status().pending, n_missing, "{name}");
        let deep = other.engine().check(iai_store::CheckDepth::Deep).unwrap();
        assert!(deep.is_clean(), "{:?}", deep.problems);
    };
    check("minilm", 0);
    check("another", 1);
}

/// A small generator: the tests need no better one.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

#[test]
fn random_work_in_any_order_converges() {
    for seed in 1..=4 {
        let mut dice = Dice(seed);
        let mut shelf = Shelf::default();
        let years = |n: i64| SignedDuration::from_hours(24 * 365 * n);
        let machines = [
            Machine::skewed("a", VaultKind::Personal, &[], years(0)),
            Machine::skewed("b", VaultKind::Personal, &[], years(-3)),
            Machine::skewed("c", VaultKind::Personal, &[], years(5)),
        ];
        let mut ids: Vec<MemoryId> = Vec::new();
        for step in 0..60 {
            let machine = &machines[dice.roll(3)];
            let engine = machine.engine();
            let any = (!ids.is_empty()).then(|| ids[dice.roll(ids.len())]);
            let known = any.filter(|id| engine.read(|r| Ok(r.number_of(*id)?)).unwrap().is_some());
            match (dice.roll(8), known) {
                (0 | 1, _) => ids.extend(machine.trial.tell(&[&format!("said in step {step}")])),
                (2, Some(id)) => {
                    let pin = (Reach::Everywhere, Consent::Given);
                    engine.pin(&id.to_string(), pin, machine.now()).unwrap();
                }
                (3, Some(id)) => drop(engine.unpin(&id.to_string(), machine.now()).unwrap()),
                (4, Some(id)) => {
                    let fact = format!("corrected in step {step}");
                    let done = engine.contradict(&id.to_string(), &fact, "s", machine.now());
                    ids.extend(done.map(|done| done.new_record_id));
                }
                (5, Some(id)) => machine.forget(id),
                (6, _) => engine.set_identity(&format!("step {step}"), machine.now()).unwrap(),
                _ => drop(machine.exchange(&mut shelf)),
            }
        }
        settle(&machines.iter().collect::<Vec<_>>(), &mut shelf);
        assert_eq!(machines[0].told(), machines[1].told(), "seed {seed}");
        assert_eq!(machines[0].told(), machines[2].told(), "seed {seed}");
        for machine in &machines {
            let report = machine.engine().check(iai_store::CheckDepth::Deep).unwrap();
            assert!(report.problems.is_empty(), "seed {seed}: {:?}", report.problems);
            let vault = machine.engine().sync_status().unwrap().vaults.remove(0);
            assert_eq!((vault.withheld, vault.waiting_to_send), (0, 0), "seed {seed}");
        }
    }
}
