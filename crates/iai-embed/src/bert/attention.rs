//! One head of attention over a ragged batch: each text's rows look at each other and at no others.

use std::ops::Range;

use crate::kernels::{self, Kernel, LANES, Rows};

/// The projections of one head.
pub(super) struct Attention {
    pub(super) kernel: Kernel,
    pub(super) query: Vec<f32>,
    pub(super) key: Vec<f32>,
    pub(super) value: Vec<f32>,
    pub(super) n_rows: usize,
}

/// Working space of one head.
#[derive(Default)]
pub(super) struct Space {
    keys: Vec<f32>,
    scores: Vec<f32>,
}

impl Attention {
    /// Lets the rows of one text look at each other; what they gather is added to `gathered`.
    pub(super) fn gather(&self, span: &Range<usize>, space: &mut Space, gathered: &mut [f32]) {
        let (n_here, stride) = (span.len(), self.n_rows * LANES);
        let width = self.query.len() / self.n_rows.max(1);
        let lanes = span.start * LANES..span.end * LANES;
        self.turn_keys(span, width, &mut space.keys);
        space.scores.clear();
        space.scores.resize(n_here * n_here.next_multiple_of(LANES), 0.0);
        let queries = self.query.get(lanes.start..).unwrap_or_default();
        let queries = Rows { values: queries, stride, n_rows: n_here, n_columns: width };
        let blocks = space.keys.chunks(width * LANES).zip(space.scores.chunks_mut(n_here * LANES));
        for (keys, scores) in blocks {
            kernels::multiply(self.kernel, queries, keys, scores);
        }
        #[expect(clippy::cast_precision_loss, reason = "a head is at most 4096 wide")]
        let factor = 1.0 / (width as f32).sqrt();
        kernels::softmax(self.kernel, &mut space.scores, n_here, n_here, factor);
        let shares = Rows {
            values: &space.scores,
            stride: n_here * LANES,
            n_rows: n_here,
            n_columns: n_here,
        };
        for (values, gathered) in self.value.chunks(stride).zip(gathered.chunks_mut(stride)) {
            let values = values.get(lanes.clone()).unwrap_or_default();
            let gathered = gathered.get_mut(lanes.clone()).unwrap_or_default();
            kernels::multiply(self.kernel, shares, values, gathered);
        }
    }

    /// Turns the keys of one text so that they can be multiplied with: for every [`LANES`] rows,
    /// a row for each of the head's columns.
    fn turn_keys(&self, span: &Range<usize>, width: usize, keys: &mut Vec<f32>) {
        keys.clear();
        keys.resize(span.len().next_multiple_of(LANES) * width, 0.0);
        for (at, panel) in self.key.chunks(self.n_rows * LANES).enumerate() {
            let panel = panel.as_chunks::<LANES>().0.get(span.clone()).unwrap_or_default();
            for (block, rows) in keys.chunks_mut(width * LANES).zip(panel.chunks(LANES)) {
                let columns = block.as_chunks_mut::<LANES>().0.iter_mut().skip(at * LANES);
                for (column, turned) in columns.take(LANES).enumerate() {
                    for (place, row) in turned.iter_mut().zip(rows) {
                        *place = row.get(column).copied().unwrap_or_default();
                    }
                }
            }
        }
    }
}
