//! Topics as clusters, and the members of one of them, a page at a time.

use serde::Serialize;

use super::Glimpse;
use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};
use crate::topology::TopicView;

/// Clusters of one map: more would be dust on a screen.
const CLUSTERS_MAX: usize = 600;
/// Members of one answer at most.
const MEMBERS_MAX: usize = 200;

/// All topics as clusters.
#[derive(Debug, Serialize)]
pub struct TopicMap {
    /// The largest topics, the largest first.
    pub topics: Vec<TopicView>,
    /// How many memories there are in all.
    pub n_memories: usize,
    /// How many of them belong to one of these topics.
    pub n_in_topics: u64,
    /// Whether there are smaller topics beside these.
    pub has_more: bool,
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
    /// Returns the topics as clusters, without their members.
    pub fn topic_map(&self) -> Result<TopicMap> {
        let mut topics = self.read(|reader| Ok(reader.topics(None, CLUSTERS_MAX + 1)?))?;
        let has_more = CLUSTERS_MAX < topics.len();
        topics.truncate(CLUSTERS_MAX);
        let topics: Vec<TopicView> = topics.into_iter().map(TopicView::of).collect();
        let n_in_topics = topics.iter().map(|topic| topic.n_members).sum();
        let n_memories = self.with_index(|index| index.catalogue().len())?;
        Ok(TopicMap { topics, n_memories, n_in_topics, has_more })
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
