//! Topics as clusters, and the members of one of them, a page at a time.

use iai_store::{Reader, TAUGHT_HOST, Topic};
use serde::Serialize;

use super::Glimpse;
use crate::brief::cut;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::organise::OWN_HOST;
use crate::topology::TopicView;

/// Clusters of one map: more would be dust on a screen.
const CLUSTERS_MAX: usize = 600;
/// Topics that a filter looks through.
const FILTERED_MAX: usize = 200_000;
/// Topics without a name that are told by how a memory of theirs begins; each is a row to read.
const NAMELESS_MAX: usize = 100;
/// What is shown of it.
const OPENING_CHARS_MAX: usize = 60;
/// Members of one answer at most.
const MEMBERS_MAX: usize = 200;

/// All topics as clusters.
#[derive(Debug, Serialize)]
pub struct TopicMap {
    /// The largest topics that were asked for, the largest first.
    pub topics: Vec<Cluster>,
    /// How many topics there are in all.
    pub n_topics: u64,
    /// How many turns belong to one of them.
    pub n_in_topics: u64,
    /// How many turns there are: nobody said what was taught, or made of it.
    pub n_turns: u64,
    /// How many memories there are in all.
    pub n_memories: usize,
    /// Whether there are smaller topics beside these.
    pub has_more: bool,
}

/// A topic on the map.
#[derive(Debug, Serialize)]
pub struct Cluster {
    /// The topic.
    #[serde(flatten)]
    pub topic: TopicView,
    /// How the latest of its memories begins, where it has no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<String>,
}

impl Cluster {
    /// Tells whether its name, how it begins, or its project has some words.
    fn has(&self, filter: &str) -> bool {
        let project = self.topic.project.as_deref().unwrap_or_default();
        let name = project.rsplit('/').next().unwrap_or_default();
        let shown = [self.topic.label.as_str(), self.opening.as_deref().unwrap_or_default(), name];
        shown.iter().any(|text| text.to_lowercase().contains(filter))
    }
}

/// Which members of which topic.
#[derive(Debug, Clone)]
pub struct MembersAsk {
    /// The topic.
    pub topic: u64,
    /// Only those stored before this memory.
    pub before: Option<String>,
    /// At most this many, 1 to 200.
    pub limit: usize,
}

/// Members of a topic, those stored last first.
#[derive(Debug, Serialize)]
pub struct MembersAnswer {
    /// The topic.
    pub topic: TopicView,
    /// The members.
    pub members: Vec<Glimpse>,
    /// Whether there are more before the last of these.
    pub has_more: bool,
}

impl MemoryEngine {
    /// Returns the topics as clusters, without their members; with a filter those whose name or
    /// project has it, among all there are.
    pub fn topic_map(&self, filter: Option<&str>) -> Result<TopicMap> {
        self.load_index()?;
        let n_memories = self.with_index(|index| index.catalogue().len())?;
        self.read(|reader| {
            let n_read = if filter.is_some() { FILTERED_MAX } else { CLUSTERS_MAX + 1 };
            let mut topics = clusters(reader, reader.topics(None, n_read)?)?;
            if let Some(filter) = filter.map(str::to_lowercase) {
                topics.retain(|cluster| cluster.has(&filter));
            }
            let has_more = CLUSTERS_MAX < topics.len();
            topics.truncate(CLUSTERS_MAX);
            let (n_topics, n_in_topics) = reader.n_topics()?;
            let n_unsaid = reader.n_of_host(OWN_HOST)? + reader.n_of_host(TAUGHT_HOST)?;
            let n_turns = (n_memories as u64).saturating_sub(n_unsaid);
            Ok(TopicMap { topics, n_topics, n_in_topics, n_turns, n_memories, has_more })
        })
    }

    /// Returns the members of a topic, those stored last first.
    pub fn topic_members(&self, ask: &MembersAsk) -> Result<MembersAnswer> {
        let limit = ask.limit.clamp(1, MEMBERS_MAX);
        let before = ask.before.as_deref().map(|id| self.find(id)).transpose()?;
        self.read(|reader| {
            let unknown = || MemoryError::bad("topic", format!("{} does not exist", ask.topic));
            let topic = reader.topic(ask.topic)?.ok_or_else(unknown)?;
            let before = before.map(|id| self.numbered(reader, id)).transpose()?;
            let mut numbers = reader.topic_members_before(ask.topic, before, limit + 1)?;
            let has_more = limit < numbers.len();
            numbers.truncate(limit);
            let members = Glimpse::read(reader, &numbers)?;
            Ok(MembersAnswer { topic: TopicView::of(topic), members, has_more })
        })
    }
}

fn clusters(reader: &Reader, topics: Vec<Topic>) -> Result<Vec<Cluster>> {
    let mut n_nameless = 0;
    let cluster = |topic: Topic| {
        let mut opening = None;
        if topic.label.is_empty() && n_nameless < NAMELESS_MAX {
            n_nameless += 1;
            let latest = reader.topic_members_before(topic.number, None, 1)?;
            let latest = Glimpse::read(reader, &latest)?.pop();
            opening = latest.map(|latest| cut(&latest.first_words, OPENING_CHARS_MAX));
        }
        Ok(Cluster { topic: TopicView::of(topic), opening })
    };
    topics.into_iter().map(cluster).collect()
}
