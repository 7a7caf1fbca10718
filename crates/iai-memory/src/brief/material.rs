//! What there is to tell a new session: read along indexes, a bounded amount of each kind, and
//! nothing of another project but wishes for all.

use std::collections::BTreeSet;

use iai_store::{
    ExceptSessions, Memory, MemoryId, ProjectSeen, Reader, Remark, Role, SessionSeen, TAUGHT_HOST,
};
use jiff::Timestamp;

use super::decided::{decided, decisions, holding, since};
use super::open::{left_open, put_off};
use super::remarked::{Asked, Fresh, kept};
use super::telling::{says_what_it_is_about, states_something};
use super::told::{Told, as_compared, is_news, told};
use super::used::used;
use super::waived::Waivers;
use super::wishes::{preferences, wishes};
use super::{BriefAsk, in_one_view};
use crate::engine::MemoryEngine;
use crate::error::Result;
use crate::ingest::{PAGE_HOST, TERMINAL_HOST, TOOL_HOST};
use crate::organise::{OWN_HOST, UNSAID_HOSTS};
use crate::recall::knobs::Depth;
use crate::remarks::open::{OpenThread, open_threads};
use crate::remarks::{Wording, beginning, is_spoken, is_up_to_date, remarks_after};
use crate::trust::distrust;

/// What these hosts store is kept on purpose, made here or taught; it is no turn of a conversation.
const NO_CONVERSATION: &[&str] = &[TOOL_HOST, PAGE_HOST, TERMINAL_HOST, OWN_HOST, TAUGHT_HOST];
/// Sessions that are looked at for what was left open.
const SESSIONS_MAX: usize = 8;
/// What stands beside the words with which an earlier session ended.
const AT_THE_END: &str = "at the end";
/// Turns that are read at either end of the last session …
const FIRST_TURNS: usize = 6;
const LAST_TURNS: usize = 24;
/// … and at the end of those before it: what they put off was followed by another session.
const EARLIER_LAST_TURNS: usize = 12;
/// How so many of them began is held against what was said since, which is a search for each, …
const N_COMPARED_MAX: usize = 4;
/// … where it is not longer than this: what is longer tells no one thing.
const COMPARED_BYTES_MAX: usize = 200;
/// Sessions whose ends are searched for remarks while the quiet step has not come so far.
const FRESH_SESSIONS_MAX: usize = 1;
const PINS_MAX: usize = 12;
const PROJECTS_MAX: usize = 5;
/// A turn of fewer words says nothing by itself.
const TELLING_WORDS_MIN: usize = 3;
/// Whether a turn says anything is seen in so much of it.
pub(super) const TELLING_BYTES: usize = 2000;

/// How much of each kind is read. The budget decides what of it is told; where there is room for
/// more, more is read.
struct Caps {
    n_preferences: usize,
    n_decisions: usize,
    /// Things put off in earlier sessions.
    n_put_off: usize,
    n_sessions: usize,
    /// Sessions before the last one of which is told how they began, …
    n_earlier: usize,
    /// … and with what they ended.
    n_earlier_ends: usize,
    /// Turns of either side at the end of the last session.
    n_last_turns: usize,
    n_topics: usize,
    n_used: usize,
}

impl Caps {
    fn of(depth: Depth) -> Self {
        match depth {
            Depth::Minimal => Self {
                n_preferences: 6,
                n_decisions: 6,
                n_put_off: 2,
                n_sessions: SESSIONS_MAX,
                n_earlier: 3,
                n_earlier_ends: 0,
                n_last_turns: 1,
                n_topics: 3,
                n_used: 3,
            },
            Depth::Standard => Self {
                n_preferences: 14,
                n_decisions: 8,
                n_put_off: 6,
                n_sessions: SESSIONS_MAX,
                n_earlier: 6,
                n_earlier_ends: 2,
                n_last_turns: 2,
                n_topics: 5,
                n_used: 8,
            },
            Depth::Deep => Self {
                n_preferences: 24,
                n_decisions: 20,
                n_put_off: 12,
                n_sessions: 2 * SESSIONS_MAX,
                n_earlier: 14,
                n_earlier_ends: 6,
                n_last_turns: 4,
                n_topics: 12,
                n_used: 16,
            },
        }
    }
}

/// The last session of the project.
#[derive(Debug, Clone)]
pub(super) struct LastSession {
    pub(super) ended_at: Timestamp,
    pub(super) began_with: Option<Told>,
    pub(super) ended_with: Vec<Told>,
}

/// All of it, each kind in the order it is told.
#[derive(Debug, Default)]
pub(super) struct Material {
    pub(super) identity: Option<String>,
    pub(super) pinned: Vec<Told>,
    pub(super) preferences: Vec<Told>,
    pub(super) kept: Vec<Told>,
    pub(super) last: Option<LastSession>,
    /// How those before it began.
    pub(super) earlier: Vec<Told>,
    pub(super) open: Vec<Told>,
    /// What was put off in the middle of a session, or long ago: nobody stopped there.
    pub(super) put_off: Vec<Told>,
    pub(super) decided: Vec<Told>,
    pub(super) topics: Vec<String>,
    pub(super) used: Vec<Told>,
    /// Only where no project is known.
    pub(super) projects: Vec<ProjectSeen>,
}

/// Tells whether a memory may stand at the beginning of a session. It must be what the user and
/// their assistant said to each other, still hold, and not try to give the assistant orders.
pub(super) fn may_be_told(memory: &Memory) -> bool {
    still_holds(memory) && is_trusted(memory)
}

fn still_holds(memory: &Memory) -> bool {
    is_spoken(memory) && memory.role != Role::System && memory.valid_to.is_none()
}

/// Judging takes longer than reading: whoever reads much asks only about what is told.
fn is_trusted(memory: &Memory) -> bool {
    distrust(&memory.text).is_none()
}

/// Topics that are read to choose from.
const TOPICS_READ_MAX: usize = 20;

/// Reads what there is to tell.
pub(super) fn gather(
    engine: &MemoryEngine,
    reader: &Reader,
    ask: &BriefAsk,
    depth: Depth,
    now: Timestamp,
) -> Result<Material> {
    let caps = Caps::of(depth);
    let pinned = reader.pinned(ask.project.as_deref(), PINS_MAX)?;
    let pinned = pinned.iter().filter(|memory| memory.valid_to.is_none());
    let material = Material {
        identity: reader.identity()?,
        pinned: pinned.map(|memory| told(memory, &memory.text, Some("pinned"))).collect(),
        ..Material::default()
    };
    let Some(project) = ask.project.as_deref() else {
        let projects = reader.recent_projects(UNSAID_HOSTS, PROJECTS_MAX)?;
        return Ok(Material { projects, ..material });
    };
    let asked = (project, ask.session.as_str());
    // Parts that need nothing of each other; what was remarked is read by two threads in turn.
    let remarks = || Remarks::read(engine, reader, (asked, &caps), now);
    let spoken =
        |reader: &Reader| in_one_view(reader, || Spoken::read((engine, reader), asked, &caps, now));
    let used = |reader: &Reader| {
        in_one_view(reader, || {
            let topics = topics(reader, project, caps.n_topics)?;
            Ok((topics, used(engine, reader, project, caps.n_used, now)?))
        })
    };
    let spoken = || engine.read_beside(reader, remarks, spoken);
    let ((remarks, spoken), (topics, used)) = engine.read_beside(reader, spoken, used)?;
    let Remarks { preferences, decided, put_off, kept } = remarks;
    let Spoken { last, earlier, open } = spoken;
    let mut material = Material {
        preferences,
        decided,
        put_off,
        kept,
        last,
        earlier,
        open,
        topics,
        used,
        ..material
    };
    material.drop_repetitions();
    Ok(material)
}

/// What was remarked in a project.
struct Remarks {
    preferences: Vec<Told>,
    decided: Vec<Told>,
    put_off: Vec<Told>,
    kept: Vec<Told>,
}

impl Remarks {
    fn read(
        engine: &MemoryEngine,
        reader: &Reader,
        ((project, except), caps): ((&str, &str), &Caps),
        now: Timestamp,
    ) -> Result<Self> {
        let fresh = fresh(reader, project, except)?;
        let asked = |limit| Asked { project, fresh: &fresh, limit, now };
        let asked_wishes = asked(caps.n_preferences);
        // Wishes take longest, so that all else is read beside them.
        let taken_back = |reader: &Reader| {
            let read = || {
                let said = decisions(reader, project, &fresh)?;
                Ok((said, Waivers::read(reader, &asked_wishes)?))
            };
            in_one_view(reader, read)
        };
        let wishes = || wishes(reader, &asked_wishes);
        let (wishes, (said, waivers)) = engine.read_beside(reader, wishes, taken_back)?;
        let holding = || preferences(engine, reader, &asked_wishes, &wishes, (&said, waivers));
        let rest = |reader: &Reader| {
            let read = || {
                let decided = decided(engine, reader, &asked(caps.n_decisions), said.clone())?;
                let put_off = put_off(reader, &asked(caps.n_put_off))?;
                Ok((decided, put_off, kept(reader, project, &fresh)?))
            };
            in_one_view(reader, read)
        };
        let (preferences, (decided, put_off, kept)) = engine.read_beside(reader, holding, rest)?;
        Ok(Self { preferences, decided, put_off, kept })
    }
}

/// What the latest sessions of a project tell by their ends.
struct Spoken {
    last: Option<LastSession>,
    earlier: Vec<Told>,
    open: Vec<Told>,
}

impl Spoken {
    fn read(
        (engine, reader): (&MemoryEngine, &Reader),
        (project, except): (&str, &str),
        caps: &Caps,
        now: Timestamp,
    ) -> Result<Self> {
        let sessions = sessions_of(reader, project, except, caps.n_sessions)?;
        let threads: Vec<Vec<OpenThread<'_>>> =
            sessions.iter().map(Session::open_threads).collect();
        let told_of = sessions.iter().zip(&threads);
        let mut told_of =
            told_of.filter_map(|(session, open)| session.told(open, caps.n_last_turns));
        let last = told_of.next();
        let mut earlier = earlier(told_of, caps);
        let is_stated =
            |told: &&mut Told| told.role == Role::User && told.words.len() <= COMPARED_BYTES_MAX;
        for told in earlier.iter_mut().filter(is_stated).take(N_COMPARED_MAX) {
            told.since = since(engine, reader, told.id, now)?;
        }
        Ok(Self { last, earlier, open: left_open(&sessions, &threads) })
    }
}

/// Returns what was decided in a project and still holds, the latest first.
pub(crate) fn decisions_in(reader: &Reader, project: &str) -> Result<Vec<Remark>> {
    Ok(holding(decisions(reader, project, &fresh(reader, project, "")?)?))
}

/// What the last sessions but for one remarked, where the quiet step has not come so far.
fn fresh(reader: &Reader, project: &str, except: &str) -> Result<Fresh> {
    if is_up_to_date(reader)? {
        return Ok(Vec::new());
    }
    let sessions = sessions_of(reader, project, except, FRESH_SESSIONS_MAX)?;
    let mut fresh = Vec::new();
    for session in &sessions {
        fresh.extend(session.remarks(reader)?);
    }
    Ok(fresh)
}

/// Tells how sessions began and, of the latest, with what they ended.
fn earlier(sessions: impl Iterator<Item = LastSession>, caps: &Caps) -> Vec<Told> {
    let sessions = sessions.filter(|one| one.began_with.is_some()).take(caps.n_earlier);
    let lines = sessions.enumerate().flat_map(|(place, mut one)| {
        let ended = one.ended_with.pop().filter(|told| {
            place < caps.n_earlier_ends && states_something(beginning(&told.words, TELLING_BYTES))
        });
        let ended = ended.map(|told| Told { aside: Some(AT_THE_END.to_owned()), ..told });
        one.began_with.into_iter().chain(ended)
    });
    lines.collect()
}

/// Reads the ends of the last sessions of a project, the latest first, but for one.
pub(super) fn recent_sessions(
    reader: &Reader,
    project: &str,
    except: &str,
) -> Result<Vec<Session>> {
    sessions_of(reader, project, except, SESSIONS_MAX)
}

fn sessions_of(reader: &Reader, project: &str, except: &str, limit: usize) -> Result<Vec<Session>> {
    let except = ExceptSessions { name: except, hosts: NO_CONVERSATION };
    let seen = reader.recent_sessions(project, &except, limit)?;
    let n_last = std::iter::once(LAST_TURNS).chain(std::iter::repeat(EARLIER_LAST_TURNS));
    seen.into_iter().zip(n_last).map(|(seen, n)| Session::read(reader, seen, n, project)).collect()
}

/// The topics of a project, the largest first: none until they are found.
fn topics(reader: &Reader, project: &str, limit: usize) -> Result<Vec<String>> {
    let found = reader.topics(Some(project), TOPICS_READ_MAX)?.into_iter();
    // One word alone ("noted") names no topic.
    let named = found.filter(|topic| 1 < topic.phrases.len());
    Ok(named.take(limit).map(|topic| topic.label).collect())
}

impl Material {
    /// Tells everything once: what is pinned is not told again as a wish, and so on.
    fn drop_repetitions(&mut self) {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let known: Vec<&Told> =
            self.earlier.iter().chain(&self.used).chain(&self.decided).collect();
        let known: BTreeSet<MemoryId> = known.into_iter().map(|told| told.id).collect();
        // How a session began is not told beside what it is out of date by.
        let is_over = |told: &Told| told.since.as_ref().is_some_and(|own| known.contains(&own.id));
        self.earlier.retain(|told| !is_over(told));
        let kinds = [
            &mut self.pinned,
            &mut self.preferences,
            &mut self.open,
            &mut self.put_off,
            &mut self.decided,
            &mut self.kept,
            &mut self.used,
            &mut self.earlier,
        ];
        for kind in kinds {
            kind.retain(|told| is_news(&mut seen, told));
            let beside = kind.iter().filter_map(|told| told.since.as_ref()?.words.as_deref());
            seen.extend(beside.map(as_compared));
        }
        let pinned: BTreeSet<MemoryId> = self.pinned.iter().map(|told| told.id).collect();
        for kind in [&mut self.preferences, &mut self.decided, &mut self.kept, &mut self.used] {
            kind.retain(|told| !pinned.contains(&told.id));
        }
        let open: BTreeSet<MemoryId> = self.open.iter().map(|told| told.id).collect();
        self.put_off.retain(|told| !open.contains(&told.id));
        if let Some(last) = &mut self.last {
            last.ended_with.retain(|told| is_news(&mut seen, told));
        }
    }
}

/// The two ends of a session, as far as they belong to the project and still hold. Not all of it
/// may be told: what a method returns may.
pub(super) struct Session {
    seen: SessionSeen,
    first: Vec<Memory>,
    last: Vec<Memory>,
}

impl Session {
    fn read(reader: &Reader, seen: SessionSeen, n_last: usize, project: &str) -> Result<Self> {
        let (mut first, mut last) = reader.session_ends(seen.number, FIRST_TURNS, n_last)?;
        let is_ours = |turn: &Memory| turn.project.as_deref() == Some(project) && still_holds(turn);
        first.retain(is_ours);
        last.retain(is_ours);
        Ok(Self { seen, first, last })
    }

    /// Returns what was said at either end, told or not.
    pub(super) fn turns(&self) -> impl Iterator<Item = &Memory> {
        self.first.iter().chain(&self.last)
    }

    /// Returns what its end leaves open.
    pub(super) fn open_threads(&self) -> Vec<OpenThread<'_>> {
        let mut open = open_threads(&self.last);
        open.retain(|thread| is_trusted(thread.turn));
        open
    }

    /// Tells how it began, and the last turns of either side.
    fn told(&self, open: &[OpenThread<'_>], n_last_turns: usize) -> Option<LastSession> {
        let says_something = |turn: &Memory| {
            TELLING_WORDS_MIN <= Wording::of(beginning(&turn.text, TELLING_BYTES)).len()
        };
        // What was put off is told as that, as long as nobody took it up.
        let put_off: Vec<MemoryId> =
            open.iter().filter(|thread| thread.is_put_off()).map(|thread| thread.turn.id).collect();
        let is_about = |turn: &&Memory| {
            turn.role == Role::User
                && !put_off.contains(&turn.id)
                && says_what_it_is_about(beginning(&turn.text, TELLING_BYTES))
                && is_trusted(turn)
        };
        let began_with = self.turns().find(is_about);
        let said_last = |role: Role| {
            let turns = self.last.iter().enumerate().rev();
            let told = turns.filter(move |(_, turn)| {
                turn.role == role && says_something(turn) && is_trusted(turn)
            });
            told.map(|(place, _)| place).take(n_last_turns)
        };
        let mut places: Vec<usize> =
            said_last(Role::User).chain(said_last(Role::Assistant)).collect();
        places.sort_unstable();
        let exchange = places.into_iter().filter_map(|place| self.last.get(place));
        let began_id = began_with.map(|turn| turn.id);
        let exchange = exchange.filter(|turn| Some(turn.id) != began_id);
        (!self.last.is_empty()).then(|| LastSession {
            ended_at: self.seen.last_at,
            began_with: began_with.map(|turn| told(turn, &turn.text, None)),
            ended_with: exchange.map(|turn| told(turn, &turn.text, None)).collect(),
        })
    }

    /// What was remarked at its ends.
    fn remarks(&self, reader: &Reader) -> Result<Fresh> {
        // The two ends of a short session overlap, those of a long one have a gap between them.
        let known: BTreeSet<MemoryId> = self.first.iter().map(|turn| turn.id).collect();
        let last = each_behind(&self.last).filter(|(turn, _)| !known.contains(&turn.id));
        let mut found = Vec::new();
        for (turn, before) in each_behind(&self.first).chain(last) {
            let remarks = remarks_after(before, turn);
            if remarks.is_empty() || !is_trusted(turn) {
                continue;
            }
            // Forgotten meanwhile, it remarks nothing.
            let Some(number) = reader.number_of(turn.id)? else { continue };
            found.extend(remarks.into_iter().map(|new| {
                let (start_byte, end_byte, words) = (new.start_byte, new.end_byte, new.words);
                let memory = turn.clone();
                (new.kind, Remark { number, memory, start_byte, end_byte, words, n_said: 1 })
            }));
        }
        Ok(found)
    }
}

/// Returns each turn with the one before it.
fn each_behind(turns: &[Memory]) -> impl Iterator<Item = (&Memory, Option<&Memory>)> {
    turns.iter().zip(std::iter::once(None).chain(turns.iter().map(Some)))
}
