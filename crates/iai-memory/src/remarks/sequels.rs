//! What the user said later about the same thing as a wish or a decision, in whatever words. Nobody
//! lists all the ways to change one's mind; that somebody spoke of the matter again can be seen by
//! the words they share and by what they mean. It is told beside the remark, which stays.
//!
//! Each turn of the user is held once against the wishes and decisions of its project that may
//! still be told, and against those for every project; each new remark against what was said later
//! and heard before, because history comes in in any order.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use iai_embed::Embedder;
use iai_store::{
    LexicalQuery, Memory, MemoryNumber, NewRemark, NewSequel, Reader, Remark, RemarkKind, Role,
    Scope, StepProgress,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::phrase::is_one_of;
use super::{ANY_WISH, FindRemarks, RULES, has_rules_of_today, is_spoken, stem};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::organise::{Advance, Due, Effects, Shift, Step, has_alike};
use crate::recall::{only_asks, says_otherwise, stated_of, telling_words};

/// The newest remarks of each kind in a project that turns are held against …
const MATTERS_MAX: usize = 48;
/// … and of those for every project.
const EVERYWHERE_MAX: usize = 16;
/// Sequels kept of each remark, by place, and of those that take something back.
const KEPT_MAX: usize = 3;
/// A longer turn speaks of too much.
const TEXT_BYTES_MAX: usize = 900;
/// What a sequel has, at least, of all that the words of the remark tell, …
const SHARE_MIN: f32 = 0.3;
/// … or where it takes something back.
const SHARE_WAIVED_MIN: f32 = 0.15;
/// How near it is in meaning, by the yardstick of the model: to a wish …
const NEARNESS_MIN: f32 = 0.4;
/// … and to a decision, of which there are more, in fewer words.
const NEARNESS_DECIDED_MIN: f32 = 0.45;
/// To a wish that it shares most of the words with, it may be as far as this, if both together come
/// to so much …
const NEARNESS_WORDED_MIN: f32 = 0.25;
const SUM_MIN: f32 = 0.9;
/// … or where it takes something back.
const SUM_WAIVED_MIN: f32 = 0.7;
/// Where no model tells, it has more of the words, and says that something changes.
const SHARE_ALONE_MIN: f32 = 0.4;
/// What was said later than a new remark and heard before is searched for among so many.
const CANDIDATES_MAX: usize = 16;
/// The remarks that a turn shares most with, of which each may have to be embedded.
const COMPARED_MAX: usize = 6;
/// Memories heard in one transaction …
const MEMORIES_PER_ADVANCE: usize = 512;
/// … and bytes of text.
const BYTES_PER_ADVANCE: usize = 4 * 1024 * 1024;

/// Looks for what was said later about the same thing.
pub(crate) struct FindSequels;

impl Step for FindSequels {
    fn name(&self) -> &'static str {
        "sequels"
    }

    fn due(&self) -> Due {
        Due::Idle
    }

    fn advance(&self, engine: &MemoryEngine, shift: &Shift<'_>) -> Result<Advance> {
        let found_by = found_by(engine);
        let mut progress = engine.read(|reader| Ok(reader.step(self.name())?))?;
        // A model that is only late, or damaged, takes nothing of what it found with it.
        if is_by_model(&progress) && engine.serving_model().is_none() {
            return Ok(Advance::Nothing);
        }
        let is_other = progress.state != found_by;
        if is_other {
            progress = StepProgress { state: found_by, ..StepProgress::default() };
        }
        let Some(ready) = engine.read(|reader| Ready::read(engine, reader))? else {
            return Ok(Advance::Nothing);
        };
        let heard = engine.read(|reader| {
            let asking = Asking { engine, reader, embedder: &OnceCell::new() };
            hear_from(asking, progress.up_to, &ready, shift)
        })?;
        let Some(last) = heard.last else {
            let next = engine.read(|reader| ready.next(reader, progress.up_to))?;
            return Ok(if next.is_some() { Advance::MadeWay } else { Advance::Nothing });
        };
        progress.up_to = last;
        engine.write(|writing| {
            if is_other {
                writing.drop_sequels()?;
            }
            writing.put_sequels(&heard.sequels, KEPT_MAX)?;
            Ok(writing.put_step(self.name(), &progress, shift.now)?)
        })?;
        Ok(Advance::Did(Effects::from([
            ("turns_heard", heard.n_turns),
            ("sequels_found", heard.sequels.len() as u64),
        ])))
    }
}

/// By which rules and which model they are found: with others, everything is heard again.
fn found_by(engine: &MemoryEngine) -> Value {
    json!({"rules": RULES, "model": engine.serving_model()})
}

fn is_by_model(progress: &StepProgress) -> bool {
    progress.state.get("model").is_some_and(Value::is_string)
}

/// Returns up to where a model compared what was said with the wishes before it, if one did.
pub(crate) fn compared_up_to(reader: &Reader) -> Result<Option<MemoryNumber>> {
    let progress = reader.step(FindSequels.name())?;
    Ok(is_by_model(&progress).then_some(progress.up_to))
}

/// Tells whether a turn is held against anything: a longer one speaks of too much.
pub(crate) fn is_compared(memory: &Memory) -> bool {
    memory.role == Role::User && memory.text.len() <= TEXT_BYTES_MAX && memory.valid_to.is_none()
}

/// Which memories may be heard: those whose remarks are found by the rules of today and, where a
/// model serves, whose vectors are there. All after the first that waits wait too.
struct Ready<'a> {
    engine: &'a MemoryEngine,
    remarked_up_to: MemoryNumber,
    has_model: bool,
}

impl<'a> Ready<'a> {
    fn read(engine: &'a MemoryEngine, reader: &Reader) -> Result<Option<Self>> {
        let remarked = reader.step(FindRemarks.name())?;
        let has_model = engine.serving_model().is_some();
        let ready = Self { engine, remarked_up_to: remarked.up_to, has_model };
        Ok(has_rules_of_today(&remarked).then_some(ready))
    }

    /// Returns the next one.
    fn next(&self, reader: &Reader, after: MemoryNumber) -> Result<Option<(MemoryNumber, Memory)>> {
        if self.remarked_up_to <= after {
            return Ok(None);
        }
        let next = reader.after(after, 1)?.into_iter().next();
        let is_ready = |number: MemoryNumber| {
            number <= self.remarked_up_to && (!self.has_model || self.engine.has_vectors(number))
        };
        Ok(next.filter(|(number, _)| is_ready(*number)))
    }
}

/// What was heard in one call.
#[derive(Default)]
struct Heard {
    last: Option<MemoryNumber>,
    n_turns: u64,
    sequels: Vec<NewSequel>,
}

/// Hears what came in after a number, until it is enough for one transaction or somebody else goes
/// first. Texts are read one by one: each may be as large as it likes.
fn hear_from(
    asking: Asking<'_>,
    up_to: MemoryNumber,
    ready: &Ready<'_>,
    shift: &Shift<'_>,
) -> Result<Heard> {
    let mut hearing = Hearing { up_to, by_project: BTreeMap::new(), everywhere: None };
    let mut heard = Heard::default();
    let (mut n_heard, mut n_bytes) = (0, 0);
    while n_heard < MEMORIES_PER_ADVANCE && n_bytes < BYTES_PER_ADVANCE && shift.lets_by(n_heard) {
        let after = heard.last.unwrap_or(up_to);
        let Some((number, memory)) = ready.next(asking.reader, after)? else { break };
        (heard.last, n_heard, n_bytes) = (Some(number), n_heard + 1, n_bytes + memory.text.len());
        heard.n_turns += u64::from(memory.role == Role::User);
        heard.sequels.extend(hearing.hear(asking, (number, &memory), shift.now)?);
    }
    Ok(heard)
}

/// What turns are held against, read once for each project they belong to.
struct Hearing {
    /// Up to here all turns were heard before.
    up_to: MemoryNumber,
    /// What a project's turns are held against: its own remarks, and those for every project.
    by_project: BTreeMap<String, Vec<Matter>>,
    everywhere: Option<Vec<Matter>>,
}

/// A remark, and what it is about.
#[derive(Clone)]
struct Matter {
    number: MemoryNumber,
    start_byte: usize,
    kind: RemarkKind,
    said_at: Timestamp,
    session: String,
    project: Option<String>,
    /// Its telling words, and what each weighs …
    words: Vec<(String, f32)>,
    /// … and all of them.
    weight: f32,
    sentence: String,
    /// What it means, once somebody asked.
    vector: OnceCell<Vec<f32>>,
}

/// Who asks.
#[derive(Clone, Copy)]
struct Asking<'a> {
    engine: &'a MemoryEngine,
    reader: &'a Reader,
    /// The model that serves, once a sentence has to be embedded.
    embedder: &'a OnceCell<Option<Arc<dyn Embedder>>>,
}

impl Hearing {
    /// Returns what a memory is a sequel to, and what was heard before that is one to its remarks.
    fn hear(
        &mut self,
        asking: Asking<'_>,
        (number, memory): (MemoryNumber, &Memory),
        now: Timestamp,
    ) -> Result<Vec<NewSequel>> {
        let Asking { engine, reader, .. } = asking;
        let Some(project) = memory.project.as_deref().filter(|_| is_spoken(memory)) else {
            return Ok(Vec::new());
        };
        self.read(engine, reader, project)?;
        let all = self.by_project.get(project).map(Vec::as_slice).unwrap_or_default();
        // What somebody else of a team says is about what was said where they say it.
        let is_of_team = memory.role == Role::User && reader.is_of_team(number)?;
        let held = all.iter().filter(|matter| !is_of_team || matter.is_of(project));
        let held: Vec<&Matter> = held.collect();
        let mut found = sequels_in(&asking, (number, memory), &held)?;
        if self.up_to == MemoryNumber::new(0) {
            return Ok(found);
        }
        for matter in all.iter().filter(|matter| matter.number == number) {
            let is_everywhere = self.everywhere.iter().flatten().any(|own| own.is_same(matter));
            let project = (!is_everywhere).then(|| project.to_owned());
            for (turn, said) in self.heard_before(engine, reader, (matter, project), now)? {
                let is_of_place = matter.project == said.project;
                if is_of_place || !reader.is_of_team(turn)? {
                    found.extend(sequels_in(&asking, (turn, &said), &[matter])?);
                }
            }
        }
        Ok(found)
    }

    /// Returns what the user said after a remark that has its words, as far as it was heard before.
    fn heard_before(
        &self,
        engine: &MemoryEngine,
        reader: &Reader,
        (matter, project): (&Matter, Option<String>),
        now: Timestamp,
    ) -> Result<Vec<(MemoryNumber, Memory)>> {
        let scope = Scope {
            project,
            roles: vec![Role::User],
            said_ms: Some((matter.said_at.as_millisecond(), now.as_millisecond())),
            ..Scope::default()
        };
        let words = matter.words.iter().map(|(word, _)| word.clone()).collect();
        let query = LexicalQuery { words, phrases: Vec::new() };
        let hits = engine.with_index(|index| index.search(&query, &scope, CANDIDATES_MAX))?;
        let numbers = hits.into_iter().map(|hit| hit.number);
        let heard: Vec<MemoryNumber> = numbers.filter(|number| *number <= self.up_to).collect();
        Ok(reader.numbered(&heard)?)
    }

    fn read(&mut self, engine: &MemoryEngine, reader: &Reader, project: &str) -> Result<()> {
        let wish = RemarkKind::Preference;
        if self.everywhere.is_none() {
            let mut all = reader.remarks_for_everywhere(wish, EVERYWHERE_MAX)?;
            all.extend(reader.remarks_of_several(wish, EVERYWHERE_MAX)?);
            self.everywhere = Some(matters(engine, wish, &all)?);
        }
        if !self.by_project.contains_key(project) {
            let mut all = Vec::new();
            for kind in [wish, RemarkKind::Decision] {
                let remarks = reader.remarks(kind, project, MATTERS_MAX)?;
                all.extend(matters(engine, kind, &remarks)?);
            }
            let everywhere = self.everywhere.iter().flatten();
            let others = everywhere.filter(|other| !all.iter().any(|own| own.is_same(other)));
            let others: Vec<Matter> = others.cloned().collect();
            all.extend(others);
            self.by_project.insert(project.to_owned(), all);
        }
        Ok(())
    }
}

/// Weighs the words of remarks: what few memories have tells most.
fn matters(engine: &MemoryEngine, kind: RemarkKind, remarks: &[Remark]) -> Result<Vec<Matter>> {
    let mut matters = Vec::with_capacity(remarks.len());
    for remark in remarks {
        let words: Vec<String> = telling_words(remark.sentence()).into_iter().collect();
        let weights = engine.with_index(|index| {
            let n_memories = index.catalogue().len() as u64;
            let frequencies = index.document_frequencies(&words).into_iter();
            frequencies.map(|n| rarity(n, n_memories)).collect::<Vec<f32>>()
        })?;
        matters.push(Matter {
            number: remark.number,
            start_byte: remark.start_byte,
            kind,
            said_at: remark.memory.turn_at,
            session: remark.memory.session.clone(),
            project: remark.memory.project.clone(),
            weight: weights.iter().sum(),
            words: words.into_iter().zip(weights).collect(),
            sentence: remark.sentence().to_owned(),
            vector: OnceCell::new(),
        });
    }
    Ok(matters)
}

/// In a store of a few memories all words weigh about the same.
#[expect(clippy::cast_precision_loss, reason = "a weight needs few digits")]
fn rarity(frequency: u64, n_memories: u64) -> f32 {
    (1.0 + (n_memories + 1) as f32 / (frequency + 1) as f32).ln()
}

/// Returns which of the remarks a turn is a sequel to.
fn sequels_in(
    asking: &Asking<'_>,
    (number, memory): (MemoryNumber, &Memory),
    matters: &[&Matter],
) -> Result<Vec<NewSequel>> {
    if !is_compared(memory) || only_asks(&memory.text) {
        return Ok(Vec::new());
    }
    let words = telling_words(&stated_of(&memory.text));
    let is_later =
        |matter: &&Matter| matter.said_at < memory.turn_at && matter.session != memory.session;
    let later = matters.iter().copied().filter(is_later);
    let shares = later.map(|matter| (matter, matter.share(&words)));
    let mut shares: Vec<(&Matter, f32)> =
        shares.filter(|(_, share)| SHARE_WAIVED_MIN <= *share).collect();
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    shares.truncate(COMPARED_MAX);
    if shares.is_empty() {
        return Ok(Vec::new());
    }
    let remarks = super::remarks_of(memory);
    let takes_back = remarks.iter().any(|own| own.kind == RemarkKind::Waiver);
    let mut found = Vec::new();
    for (matter, share) in shares.into_iter().filter(|(_, share)| takes_back || SHARE_MIN <= *share)
    {
        let nearness = matter.nearness(asking, number)?;
        let is_sequel = match nearness {
            Some(nearness) => is_about(matter.kind, (share, nearness), takes_back),
            None => SHARE_ALONE_MIN <= share && changes_something(memory, &remarks),
        };
        let nearness = thousandths(share + nearness.unwrap_or_default());
        let Matter { number: remark, start_byte, kind, .. } = *matter;
        let sequel = NewSequel { memory: remark, start_byte, kind, sequel: number, nearness };
        found.extend(is_sequel.then_some(sequel));
    }
    Ok(found)
}

/// Tells whether what shares so much with a remark, and is so near to it, is about the same.
fn is_about(kind: RemarkKind, (share, nearness): (f32, f32), takes_back: bool) -> bool {
    if kind == RemarkKind::Decision {
        return NEARNESS_DECIDED_MIN <= nearness;
    }
    let sum_min = if takes_back { SUM_WAIVED_MIN } else { SUM_MIN };
    NEARNESS_MIN <= nearness || NEARNESS_WORDED_MIN <= nearness && sum_min <= share + nearness
}

/// Tells whether a turn decides something, wishes something, takes something back, or says in other
/// words that something is another way.
fn changes_something(memory: &Memory, remarks: &[NewRemark]) -> bool {
    let is_of_kind = |kind: RemarkKind| match kind {
        RemarkKind::Preference | RemarkKind::Waiver | RemarkKind::Decision => true,
        RemarkKind::Open | RemarkKind::Kept => false,
    };
    says_otherwise(memory, &memory.text) || remarks.iter().any(|own| is_of_kind(own.kind))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "held between 0 and 2 before"
)]
fn thousandths(share: f32) -> u32 {
    (share.clamp(0.0, 2.0) * 1000.0).round() as u32
}

impl Matter {
    fn is_of(&self, project: &str) -> bool {
        self.project.as_deref() == Some(project)
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.number, self.start_byte, self.kind) == (other.number, other.start_byte, other.kind)
    }

    /// Returns how much of what the words of the remark tell these words have; nothing where they
    /// share only what anybody may say.
    fn share(&self, words: &BTreeSet<String>) -> f32 {
        let (mut shared, mut has_own) = (0.0, false);
        for (word, weight) in &self.words {
            // One word alone has to be the very same: "follow-up" is not about who follows.
            let is_shared = match self.words.len() {
                1 => words.contains(word),
                _ => has_alike(words, word),
            };
            if is_shared {
                shared += weight;
                has_own |= !is_one_of(stem(word), ANY_WISH);
            }
        }
        if has_own { shared / self.weight.max(f32::MIN_POSITIVE) } else { 0.0 }
    }

    /// Returns how near a turn is to the remark in meaning, where a model tells.
    fn nearness(&self, asking: &Asking<'_>, turn: MemoryNumber) -> Result<Option<f32>> {
        let embedder = asking.embedder.get_or_init(|| asking.engine.quiet_embedder());
        let Some(embedder) = embedder.as_deref() else { return Ok(None) };
        let vector = match self.vector.get() {
            Some(known) => known,
            None => {
                // The sentence alone: what stands around it may be about anything.
                let vector = embedder.embed(&[&self.sentence])?.pop().unwrap_or_default();
                self.vector.get_or_init(|| vector)
            }
        };
        let near = asking.engine.nearness_to(asking.reader, (embedder, vector), &[turn])?;
        Ok(near.into_iter().next().flatten())
    }
}

#[cfg(test)]
mod tests;
