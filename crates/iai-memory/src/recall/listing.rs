//! Lists hits that come in an order of their own, as many as the budget takes.

use super::cue::Cue;
use super::pack::{cost, cut_to_fit, least, n_chars};
use super::pointing::Pointing;
use super::{HITS_MAX, Hit};

const CHARS_PER_TOKEN: usize = 4;
/// What every answer may cost beside its budget, less what the protocol and the answer's own fields
/// take of it.
const FREE_CHARS: usize = 50;

/// How a budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spending {
    /// On whole hits, the best first; one that does not fit is passed over, the first is cut.
    Whole,
    /// On all of them alike; what is longer than its share is shown in part.
    Shared,
}

/// Hits that fit.
pub(super) struct Listed {
    pub(super) hits: Vec<Hit>,
    /// What they cost, at four characters a token.
    pub(super) budget_used: u64,
}

/// Takes hits in order while they fit; a part is the one with most of the cue's words.
pub(super) fn list(cue: &Cue, hits: Vec<Hit>, budget_tokens: u64, spending: Spending) -> Listed {
    let budget = usize::try_from(budget_tokens).unwrap_or(usize::MAX);
    let budget = budget.saturating_mul(CHARS_PER_TOKEN).saturating_add(FREE_CHARS);
    let pointing = Pointing::by_words(cue);
    let mut left = budget;
    let mut listed = Vec::new();
    let n_hits = hits.len().min(HITS_MAX);
    for (place, hit) in hits.into_iter().take(HITS_MAX).enumerate() {
        let share = match spending {
            Spending::Whole => left,
            Spending::Shared => left / (n_hits - place).max(1),
        };
        let may_be_cut = spending == Spending::Shared || listed.is_empty();
        let n_chars = cost(&hit);
        let share = match spending {
            Spending::Whole => share,
            Spending::Shared => share.max(n_chars.min(least(&hit))).min(left),
        };
        let fitted = if n_chars <= share {
            Some((hit, n_chars))
        } else if may_be_cut {
            cut_to_fit(hit, &pointing, share)
        } else {
            None
        };
        match fitted {
            Some((hit, n_chars)) => {
                left -= n_chars;
                listed.push(hit);
            }
            // What comes later must not stand where what comes first had no room.
            None if spending == Spending::Shared => break,
            None => {}
        }
    }
    let n_lines: usize = listed.iter().map(cost).sum::<usize>().max(n_chars(&listed));
    Listed { hits: listed, budget_used: n_lines.div_ceil(CHARS_PER_TOKEN) as u64 }
}
