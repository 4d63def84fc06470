//! Resizing of what models give (masks, depth, scores of classes) as PyTorch's `interpolate` does it: no antialiasing, edges repeated. Rows are made one at a time, so that a hundred masks of a large
//! picture never lie in memory at once.

/// How values between the given ones are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Bilinear,
    Bicubic,
}

/// What the corners of the two planes have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Corners {
    /// The outer edges of their pixels (`align_corners=False`).
    Edges,
    /// The centres of their pixels (`align_corners=True`).
    Centres,
}

/// Up to four source positions and their weights.
type Taps = [(usize, f32); 4];

/// Makes planes of one size from planes of another.
pub(crate) struct Interpolation {
    width: usize,
    columns: Vec<Taps>,
    rows: Vec<Taps>,
    /// One row of the source's width: the vertical half of the work is done first, on the smaller side.
    blended: Vec<f32>,
}

impl Interpolation {
    /// From and to are (width, height), all at least 1.
    pub(crate) fn new(from: (usize, usize), to: (usize, usize), mode: Mode) -> Interpolation {
        Interpolation::aligned(from, to, mode, Corners::Edges)
    }

    /// As [`Interpolation::new`], with corners of either kind.
    pub(crate) fn aligned(from: (usize, usize), to: (usize, usize), mode: Mode, corners: Corners) -> Interpolation {
        Interpolation {
            width: from.0,
            columns: taps(from.0, to.0, mode, corners),
            rows: taps(from.1, to.1, mode, corners),
            blended: vec![0.0; from.0],
        }
    }

    /// Row `y` of the resized plane. A row beyond the last is left as it is.
    pub(crate) fn row(&mut self, plane: &[f32], y: usize, row: &mut [f32]) {
        let Some(taps) = self.rows.get(y) else { return };
        self.blended.fill(0.0);
        for (at, weight) in taps.iter().filter(|(_, weight)| *weight != 0.0) {
            let source = plane.get(at * self.width..).unwrap_or_default();
            for (sum, value) in self.blended.iter_mut().zip(source) {
                *sum += value * weight;
            }
        }
        for (value, taps) in row.iter_mut().zip(&self.columns) {
            *value = taps.iter().map(|(at, weight)| self.blended.get(*at).copied().unwrap_or_default() * weight).sum();
        }
    }

    /// The whole resized plane.
    pub(crate) fn plane(&mut self, plane: &[f32]) -> Vec<f32> {
        let width = self.columns.len();
        let mut resized = vec![0.0; width * self.rows.len()];
        for (y, row) in resized.chunks_exact_mut(width).enumerate() {
            self.row(plane, y, row);
        }
        resized
    }
}

fn taps(from: usize, to: usize, mode: Mode, corners: Corners) -> Vec<Taps> {
    let scale = match corners {
        Corners::Edges => from as f32 / to as f32,
        Corners::Centres => from.saturating_sub(1) as f32 / to.saturating_sub(1).max(1) as f32,
    };
    let last = from.saturating_sub(1);
    let at = |index: usize| {
        let place = match corners {
            Corners::Edges => scale * (index as f32 + 0.5) - 0.5,
            Corners::Centres => scale * index as f32,
        };
        match mode {
            Mode::Bilinear => {
                let place = place.max(0.0);
                let left = (place as usize).min(last);
                let share = (place - left as f32).clamp(0.0, 1.0);
                [(left, 1.0 - share), ((left + 1).min(last), share), (0, 0.0), (0, 0.0)]
            }
            Mode::Bicubic => {
                let floor = place.floor();
                let share = place - floor;
                let source = |offset: f32| ((floor + offset).max(0.0) as usize).min(last);
                [
                    (source(-1.0), outer(share + 1.0)),
                    (source(0.0), inner(share)),
                    (source(1.0), inner(1.0 - share)),
                    (source(2.0), outer(2.0 - share)),
                ]
            }
        }
    };
    (0..to).map(at).collect()
}

/// The free parameter of PyTorch's cubic convolution (Pillow's is −0.5).
const A: f32 = -0.75;

fn inner(x: f32) -> f32 {
    ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
}

fn outer(x: f32) -> f32 {
    ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A
}
