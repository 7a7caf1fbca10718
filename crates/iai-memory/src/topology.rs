//! Measures the shape of the links between memories. Only memories are nodes, and large graphs are
//! sampled.

use std::collections::{BTreeMap, BTreeSet};

use iai_store::LinkKind;
use serde::Serialize;

use crate::engine::MemoryEngine;
use crate::error::Result;

/// Links looked at; beyond this the figures are those of a part.
const PAIRS_MAX: usize = 200_000;
/// Nodes whose neighbourhood or distances are measured.
const SAMPLED_NODES: usize = 200;
/// Links walked along to measure distances; in a large graph, from fewer nodes.
const STEPS_MAX: usize = 4_000_000;
/// A graph of fewer memories has no shape worth a name.
const NODES_MIN: u64 = 200;
/// From here on a weak shape is drift and not youth.
const NODES_GROWN: u64 = 500;
/// The part of the memories with the most links.
const RICH_SHARE: usize = 10;

/// The graph in numbers.
#[derive(Debug, Serialize)]
#[expect(non_snake_case, reason = "the contract names these fields so")]
pub struct Topology {
    /// How many memories there are.
    pub N: u64,
    /// Mean clustering of linked memories.
    pub C: Option<f64>,
    /// Mean distance in the largest part.
    pub L: Option<f64>,
    /// Clustering over distance, each against a random graph of the same size.
    pub sigma: Option<f64>,
    /// Communities that consolidation found.
    pub community_count: u64,
    /// Share of all link ends held by the tenth of linked memories with the most links.
    pub rich_club_ratio: f64,
    /// `insufficient_data`, `developmental`, `mid_life_drift` or `healthy`.
    pub regime: &'static str,
    /// Memories without any link but to the turn before and after.
    pub isolated: u64,
    /// Links by kind.
    pub links: BTreeMap<String, u64>,
}

impl MemoryEngine {
    /// Measures the links as they are now.
    pub fn topology(&self) -> Result<Topology> {
        let (counts, pairs) =
            self.read(|reader| Ok((reader.counts()?, reader.link_pairs(PAIRS_MAX)?)))?;
        let graph = Graph::new(&pairs);
        let n = counts.memories;
        let (clustering, distance) = (graph.clustering(), graph.distance());
        let sigma = match (clustering, distance) {
            (Some(c), Some(l)) if NODES_MIN <= n => graph.small_worldness(c, l),
            _ => None,
        };
        let stored = counts.links_by_kind.iter().map(|(k, n)| (k.as_str().to_owned(), *n));
        let mut links: BTreeMap<String, u64> = stored.collect();
        let following = LinkKind::TemporalNext.as_str().to_owned();
        links.insert(following, self.with_index(|index| index.catalogue().n_following())? as u64);
        Ok(Topology {
            N: n,
            C: clustering,
            L: distance,
            sigma,
            community_count: counts.communities,
            rich_club_ratio: graph.rich_share(),
            regime: regime(n, sigma),
            isolated: n.saturating_sub(graph.neighbours.len() as u64),
            links,
        })
    }
}

/// What the memories of a topic are about.
#[derive(Debug, Clone, Serialize)]
pub struct TopicView {
    /// Its number, the same as long as it goes on.
    pub number: u64,
    /// What it is called.
    pub label: String,
    /// How many memories it has.
    pub n_members: u64,
    /// The project of most of them.
    pub project: Option<String>,
}

impl TopicView {
    pub(crate) fn of(topic: iai_store::Topic) -> Self {
        Self {
            number: topic.number,
            label: topic.label,
            n_members: topic.n_members,
            project: topic.project,
        }
    }
}

/// Topics told at once.
const TOPICS_TOLD_MAX: usize = 200;

impl MemoryEngine {
    /// Returns the largest topics, of one project or of all.
    pub fn topics(&self, project: Option<&str>) -> Result<Vec<TopicView>> {
        let topics = self.read(|reader| Ok(reader.topics(project, TOPICS_TOLD_MAX)?))?;
        Ok(topics.into_iter().map(TopicView::of).collect())
    }
}

fn regime(n: u64, sigma: Option<f64>) -> &'static str {
    match sigma {
        None => "insufficient_data",
        Some(sigma) if 1.0 <= sigma => "healthy",
        Some(_) if n < NODES_GROWN => "developmental",
        Some(_) => "mid_life_drift",
    }
}

struct Graph {
    neighbours: BTreeMap<u64, BTreeSet<u64>>,
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
impl Graph {
    fn new(pairs: &[(u64, u64)]) -> Self {
        let mut neighbours: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for (left, right) in pairs.iter().filter(|(left, right)| left != right) {
            neighbours.entry(*left).or_default().insert(*right);
            neighbours.entry(*right).or_default().insert(*left);
        }
        Self { neighbours }
    }

    /// Every so-manieth node, so that equal graphs give equal figures.
    fn sample(&self) -> impl Iterator<Item = (u64, &BTreeSet<u64>)> {
        let step = self.neighbours.len().div_ceil(SAMPLED_NODES).max(1);
        self.neighbours.iter().step_by(step).map(|(node, near)| (*node, near))
    }

    fn clustering(&self) -> Option<f64> {
        let shares: Vec<f64> = self.sample().map(|(_, near)| self.closed_share(near)).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// How many of a node's neighbours know each other.
    fn closed_share(&self, near: &BTreeSet<u64>) -> f64 {
        if near.len() < 2 {
            return 0.0;
        }
        let closed: usize = near
            .iter()
            .filter_map(|node| self.neighbours.get(node))
            .map(|theirs| theirs.intersection(near).count())
            .sum();
        closed as f64 / (near.len() * (near.len() - 1)) as f64
    }

    fn distance(&self) -> Option<f64> {
        let near = self.by_place();
        let n_ends = near.iter().map(Vec::len).sum();
        let step = near.len().div_ceil(n_starts(n_ends)).max(1);
        let (mut total, mut n_paths) = (0_u64, 0_u64);
        for start in (0..near.len()).step_by(step) {
            let (sum, n) = distances_from(&near, start);
            total += sum;
            n_paths += n;
        }
        (0 < n_paths).then(|| total as f64 / n_paths as f64)
    }

    /// The neighbours of each node by their places, so that walking along links looks nothing up.
    fn by_place(&self) -> Vec<Vec<usize>> {
        let places: BTreeMap<u64, usize> = self.neighbours.keys().copied().zip(0..).collect();
        let placed = |node: &u64| places.get(node).copied();
        self.neighbours.values().map(|near| near.iter().filter_map(placed).collect()).collect()
    }

    /// Against the known averages of a random graph: C = k / n, L = ln n / ln k.
    fn small_worldness(&self, clustering: f64, distance: f64) -> Option<f64> {
        let n = self.neighbours.len() as f64;
        let k = self.neighbours.values().map(BTreeSet::len).sum::<usize>() as f64 / n;
        let (random_c, random_l) = (k / n, n.ln() / k.ln());
        let sigma = (clustering / random_c) / (distance / random_l);
        (1.0 < k && sigma.is_finite()).then_some(sigma)
    }

    fn rich_share(&self) -> f64 {
        let mut degrees: Vec<usize> = self.neighbours.values().map(BTreeSet::len).collect();
        degrees.sort_unstable_by(|left, right| right.cmp(left));
        let all: usize = degrees.iter().sum();
        let rich: usize = degrees.iter().take(degrees.len().div_ceil(RICH_SHARE)).sum();
        if all == 0 { 0.0 } else { rich as f64 / all as f64 }
    }
}

/// From how many nodes distances are measured: each of them walks along every link.
fn n_starts(n_ends: usize) -> usize {
    (STEPS_MAX / n_ends.max(1)).clamp(1, SAMPLED_NODES)
}

/// Adds up the distances to all that can be reached, and counts those.
fn distances_from(near: &[Vec<usize>], start: usize) -> (u64, u64) {
    let mut is_seen = vec![false; near.len()];
    if let Some(own) = is_seen.get_mut(start) {
        *own = true;
    }
    let (mut total, mut n_reached, mut n_steps) = (0, 0, 0_u64);
    let mut last = vec![start];
    while !last.is_empty() {
        n_steps += 1;
        let mut next = Vec::new();
        for node in last.iter().filter_map(|node| near.get(*node)).flatten() {
            if let Some(is_seen) = is_seen.get_mut(*node).filter(|is_seen| !**is_seen) {
                *is_seen = true;
                next.push(*node);
            }
        }
        total += n_steps * next.len() as u64;
        n_reached += next.len() as u64;
        last = next;
    }
    (total, n_reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pairs: &[(u64, u64)], c: Option<f64>, l: Option<f64>) {
        let graph = Graph::new(pairs);
        assert_eq!((graph.clustering(), graph.distance()), (c, l));
    }

    #[test]
    fn small_graphs_have_known_figures() {
        check(&[], None, None);
        check(&[(1, 2)], Some(0.0), Some(1.0));
        check(&[(1, 2), (2, 3), (3, 1)], Some(1.0), Some(1.0));
        check(&[(1, 2), (2, 3)], Some(0.0), Some(4.0 / 3.0));
        check(&[(1, 1)], None, None);
    }

    #[test]
    fn a_large_graph_is_walked_from_fewer_nodes() {
        assert_eq!([n_starts(0), n_starts(1000)], [SAMPLED_NODES; 2]);
        for n_ends in [100_000, 400_000, 10_000_000] {
            assert!(n_starts(n_ends) == 1 || n_starts(n_ends) * n_ends <= STEPS_MAX, "{n_ends}");
        }
        let ring: Vec<(u64, u64)> = (0..100).map(|n| (n, (n + 1) % 100)).collect();
        check(&ring, Some(0.0), Some(2500.0 / 99.0));
    }

    #[test]
    fn a_star_is_held_by_its_centre() {
        let pairs: Vec<(u64, u64)> = (1..10).map(|leaf| (0, leaf)).collect();
        assert!((Graph::new(&pairs).rich_share() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_regime_follows_size_and_shape() {
        assert_eq!(regime(10, None), "insufficient_data");
        assert_eq!(regime(300, Some(0.5)), "developmental");
        assert_eq!(regime(900, Some(0.5)), "mid_life_drift");
        assert_eq!(regime(300, Some(2.0)), "healthy");
    }
}
