//! Finds communities: local moving and aggregation (Louvain) under the constant Potts model.
//!
//! A community is worth the nearness inside it minus a price for each pair of its members, near or
//! not. The price bounds how large a community gets, whatever the size of the graph; modularity
//! would make topics larger the more is remembered. Nodes are visited in order and ties go to the
//! smaller name, so that equal graphs give equal communities.

/// The price of a pair. A memory has some ten neighbours at about 0.4 each, so that topics end
/// between one and two hundred members.
const PAIR_PRICE: f32 = 0.03;
/// Nodes stop moving long before this.
const SWEEPS_MAX: usize = 32;
/// Each level has far fewer nodes than the one before.
const LEVELS_MAX: usize = 16;
/// Nodes between two looks at who goes first; a few tens of microseconds.
const NODES_PER_LOOK: usize = 256;

/// An undirected weighted graph: neighbours of node `n` stand from `starts[n]` to `starts[n + 1]`.
pub(super) struct Graph {
    starts: Vec<usize>,
    ends: Vec<(u32, f32)>,
    /// How many memories each node stands for.
    sizes: Vec<f32>,
}

impl Graph {
    /// Makes a graph of `n_nodes`; of several edges between two nodes the heaviest counts. `None`
    /// when `may_go_on` said no on the way.
    pub(super) fn new(
        n_nodes: usize,
        edges: &[(u32, u32, f32)],
        may_go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        Self::of(vec![1.0; n_nodes], edges, f32::max, may_go_on)
    }

    /// Puts edges behind the node they begin at, then joins those that end at the same one.
    fn of(
        sizes: Vec<f32>,
        edges: &[(u32, u32, f32)],
        join: fn(f32, f32) -> f32,
        may_go_on: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let both = || {
            edges
                .iter()
                .filter(|(a, b, _)| a != b)
                .flat_map(|(a, b, w)| [(*a as usize, *b, *w), (*b as usize, *a, *w)])
        };
        let mut places = vec![0_usize; sizes.len() + 1];
        for (a, _, _) in both() {
            *places.get_mut(a + 1)? += 1;
        }
        for node in 0..sizes.len() {
            let before = *places.get(node)?;
            *places.get_mut(node + 1)? += before;
        }
        let mut raw = vec![(0_u32, 0.0_f32); *places.last()?];
        let mut free = places.clone();
        for (a, b, weight) in both() {
            let place = free.get_mut(a)?;
            *raw.get_mut(*place)? = (b, weight);
            *place += 1;
        }
        let mut starts = Vec::with_capacity(places.len());
        let mut ends: Vec<(u32, f32)> = Vec::with_capacity(raw.len());
        for node in 0..sizes.len() {
            if node % NODES_PER_LOOK == 0 && !may_go_on() {
                return None;
            }
            starts.push(ends.len());
            let near = raw.get_mut(*places.get(node)?..*places.get(node + 1)?)?;
            near.sort_unstable_by(|x, y| x.0.cmp(&y.0).then(x.1.total_cmp(&y.1)));
            let mut last_end = None;
            for (other, weight) in near.iter().copied() {
                if last_end == Some(other)
                    && let Some(last) = ends.last_mut()
                {
                    last.1 = join(last.1, weight);
                } else {
                    ends.push((other, weight));
                }
                last_end = Some(other);
            }
        }
        starts.push(ends.len());
        Some(Self { starts, ends, sizes })
    }

    fn len(&self) -> usize {
        self.sizes.len()
    }

    fn near(&self, node: usize) -> &[(u32, f32)] {
        match (self.starts.get(node), self.starts.get(node + 1)) {
            (Some(from), Some(to)) => self.ends.get(*from..*to).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Returns the community of each node, numbered by its first member; `None` when `may_go_on` said
/// no on the way.
pub(super) fn communities(
    mut graph: Graph,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<u32>> {
    let mut of_node: Vec<u32> = (0..u32::try_from(graph.len()).ok()?).collect();
    for _ in 0..LEVELS_MAX {
        let moved = local_moving(&graph, may_go_on)?;
        let (names, n_names) = renumbered(&moved);
        for community in &mut of_node {
            *community = names.get(*community as usize).copied().unwrap_or(*community);
        }
        if n_names == graph.len() {
            break;
        }
        graph = aggregated(&graph, &names, n_names, may_go_on)?;
    }
    Some(of_node)
}

/// Moves each node to the community where it is worth most, until none moves.
fn local_moving(graph: &Graph, may_go_on: &mut dyn FnMut() -> bool) -> Option<Vec<u32>> {
    let mut community: Vec<u32> = (0..u32::try_from(graph.len()).ok()?).collect();
    let mut sizes = graph.sizes.clone();
    // The weight to each community, and which ones were touched: cleared after each node.
    let mut weights = vec![0.0_f32; graph.len()];
    let mut touched: Vec<u32> = Vec::new();
    for _ in 0..SWEEPS_MAX {
        let mut n_moved = 0_usize;
        for node in 0..graph.len() {
            if node % NODES_PER_LOOK == 0 && !may_go_on() {
                return None;
            }
            let own = *community.get(node)?;
            let size = *graph.sizes.get(node)?;
            *sizes.get_mut(own as usize)? -= size;
            touched.push(own);
            for (other, weight) in graph.near(node) {
                let theirs = *community.get(*other as usize)?;
                *weights.get_mut(theirs as usize)? += weight;
                touched.push(theirs);
            }
            let worth = |name: u32| {
                let weight = weights.get(name as usize).copied().unwrap_or(0.0);
                weight - PAIR_PRICE * size * sizes.get(name as usize).copied().unwrap_or(0.0)
            };
            let mut best = (own, worth(own));
            for name in &touched {
                let value = worth(*name);
                // Rounding must not make a node go to and fro.
                let is_better = best.1 + 1e-6 < value;
                if is_better || (best.1 <= value && *name < best.0 && best.0 != own) {
                    best = (*name, value);
                }
            }
            for name in touched.drain(..) {
                *weights.get_mut(name as usize)? = 0.0;
            }
            *sizes.get_mut(best.0 as usize)? += size;
            *community.get_mut(node)? = best.0;
            n_moved += usize::from(best.0 != own);
        }
        if n_moved == 0 {
            break;
        }
    }
    Some(community)
}

/// Gives communities numbers from 0 on, in order of their first members.
fn renumbered(community: &[u32]) -> (Vec<u32>, usize) {
    let mut names: Vec<Option<u32>> = vec![None; community.len()];
    let mut n_names = 0_u32;
    let mut renamed = Vec::with_capacity(community.len());
    for old in community {
        let Some(name) = names.get_mut(*old as usize) else { continue };
        renamed.push(*name.get_or_insert_with(|| {
            n_names += 1;
            n_names - 1
        }));
    }
    (renamed, n_names as usize)
}

/// Makes one node of each community.
fn aggregated(
    graph: &Graph,
    names: &[u32],
    n_names: usize,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Option<Graph> {
    let mut sizes = vec![0.0; n_names];
    let mut edges = Vec::with_capacity(graph.ends.len() / 2);
    for (node, name) in names.iter().enumerate() {
        if let (Some(sum), Some(size)) = (sizes.get_mut(*name as usize), graph.sizes.get(node)) {
            *sum += size;
        }
        for (other, weight) in graph.near(node) {
            let theirs = names.get(*other as usize).copied().unwrap_or(*name);
            if *name < theirs {
                edges.push((*name, theirs, *weight));
            }
        }
    }
    Graph::of(sizes, &edges, |one, other| one + other, may_go_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(n_nodes: usize, edges: &[(u32, u32, f32)]) -> Vec<u32> {
        let graph = Graph::new(n_nodes, edges, &mut || true).unwrap();
        communities(graph, &mut || true).unwrap()
    }

    /// Every node near every other from `from` to `to`.
    fn clique(from: u32, to: u32) -> Vec<(u32, u32, f32)> {
        (from..to).flat_map(|a| (a + 1..to).map(move |b| (a, b, 0.5))).collect()
    }

    #[test]
    fn two_groups_with_a_bridge_are_two_communities() {
        let mut edges = clique(0, 5);
        edges.extend(clique(5, 9));
        edges.push((4, 5, 0.3));
        assert_eq!(found(10, &edges), [0, 0, 0, 0, 0, 1, 1, 1, 1, 2]);
    }

    #[test]
    fn the_order_of_edges_makes_no_difference() {
        let mut edges = clique(0, 6);
        edges.extend(clique(6, 12));
        edges.extend([(0, 6, 0.4), (1, 7, 0.4), (3, 11, 0.2)]);
        let one = found(12, &edges);
        edges.reverse();
        assert_eq!(found(12, &edges), one);
    }

    #[test]
    fn a_long_chain_is_no_single_topic() {
        let chain: Vec<(u32, u32, f32)> = (0..2000).map(|n| (n, n + 1, 0.5)).collect();
        let community = found(2001, &chain);
        let mut sizes = vec![0; 2001];
        community.iter().for_each(|name| sizes[*name as usize] += 1);
        assert!(*sizes.iter().max().unwrap() <= 64, "{:?}", sizes.iter().max());
    }

    #[test]
    fn nothing_and_loops_are_taken() {
        assert_eq!(found(0, &[]), [0; 0]);
        assert_eq!(found(2, &[(0, 0, 1.0)]), [0, 1]);
    }

    #[test]
    fn it_can_be_sent_away() {
        assert!(Graph::new(3, &clique(0, 3), &mut || false).is_none());
        let graph = Graph::new(3, &clique(0, 3), &mut || true).unwrap();
        assert_eq!(communities(graph, &mut || false), None);
    }
}
