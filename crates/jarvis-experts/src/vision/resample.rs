//! Resizing of 8-bit pictures as Pillow does it: a separable filter that widens when it shrinks (antialiasing), with weights in
//! fixed point and rounding to 8 bits after each of the two passes. Models are trained on pictures resized that way, and other
//! resamplers differ from it by enough to move scores. This resizes pictures before a model; `interpolate` resizes what a model
//! gives.

use std::f64::consts::PI;

/// Bits after the point of a weight: 32, less 8 of a channel and 2 for filters that exceed 1 or go below 0.
const PRECISION: u32 = 32 - 8 - 2;

/// A resampling filter. The numbers of preprocessor configurations are Pillow's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    Nearest,
    Lanczos,
    Bilinear,
    Bicubic,
    Box,
    Hamming,
}

impl Filter {
    /// The filter that Pillow gives this number.
    pub(super) fn from_code(code: u64) -> Option<Filter> {
        Some(match code {
            0 => Filter::Nearest,
            1 => Filter::Lanczos,
            2 => Filter::Bilinear,
            3 => Filter::Bicubic,
            4 => Filter::Box,
            5 => Filter::Hamming,
            _ => return None,
        })
    }

    /// How far from its centre the filter reaches, in source pixels when nothing shrinks.
    fn support(self) -> f64 {
        match self {
            Filter::Nearest | Filter::Box => 0.5,
            Filter::Bilinear | Filter::Hamming => 1.0,
            Filter::Bicubic => 2.0,
            Filter::Lanczos => 3.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        match self {
            Filter::Nearest | Filter::Box => f64::from(u8::from(x > -0.5 && x <= 0.5)),
            Filter::Bilinear => (1.0 - x.abs()).max(0.0),
            Filter::Hamming => {
                let x = x.abs();
                if x >= 1.0 { 0.0 } else { sinc(x) * (0.54 + 0.46 * (x * PI).cos()) }
            }
            Filter::Bicubic => cubic(x.abs(), -0.5),
            Filter::Lanczos => {
                if (-3.0..3.0).contains(&x) {
                    sinc(x) * sinc(x / 3.0)
                } else {
                    0.0
                }
            }
        }
    }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { (x * PI).sin() / (x * PI) }
}

/// Keys' cubic convolution at a distance, with the free parameter `a`.
fn cubic(x: f64, a: f64) -> f64 {
    if x < 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * a
    } else {
        0.0
    }
}

/// The source pixels that one destination pixel is made of.
struct Window {
    start: usize,
    /// In fixed point; they sum to about `1 << PRECISION`.
    weights: Vec<i32>,
}

/// A window for each destination pixel of one axis.
fn windows(from: usize, to: usize, filter: Filter) -> Vec<Window> {
    let scale = from as f64 / to as f64;
    let widening = scale.max(1.0);
    let support = filter.support() * widening;
    let window = |at: usize| {
        let centre = (at as f64 + 0.5) * scale;
        let start = (centre - support + 0.5).max(0.0) as usize;
        let end = ((centre + support + 0.5) as usize).min(from);
        let weights: Vec<f64> = (start..end).map(|x| filter.weight((x as f64 - centre + 0.5) / widening)).collect();
        let sum: f64 = weights.iter().sum();
        let fixed = |weight: &f64| {
            let weight = if sum == 0.0 { *weight } else { weight / sum };
            (weight * f64::from(1 << PRECISION)).round() as i32
        };
        Window { start, weights: weights.iter().map(fixed).collect() }
    };
    (0..to).map(window).collect()
}

/// The channel that a sum of weighted channels stands for.
fn to_channel(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

/// Rounds to nearest when the bits after the point are cut.
const HALF: i32 = 1 << (PRECISION - 1);

/// Resizes RGB pixels from one (width, height) to another. Sizes are at least 1, and `pixels` has three bytes for each.
pub(super) fn resize(pixels: &[u8], from: (usize, usize), to: (usize, usize), filter: Filter) -> Vec<u8> {
    if filter == Filter::Nearest {
        return nearest(pixels, from, to);
    }
    let rows = |pixels: &[u8], height| (from.0 != to.0).then(|| resize_rows(pixels, from.0, to.0, height, filter));
    let columns = |pixels: &[u8], width| (from.1 != to.1).then(|| resize_columns(pixels, width, from.1, to.1, filter));
    // The order matters where a filter overshoots, because channels are cut to 0 to 255 in between. This is Pillow's rule since
    // version 13; older ones always begin with the rows.
    let (lost_rows, lost_columns) = (from.1 as i64 - to.1 as i64, from.0 as i64 - to.0 as i64);
    if lost_rows > 0 && lost_rows > 2 * lost_columns {
        let low = columns(pixels, from.0);
        let low = low.as_deref().unwrap_or(pixels);
        return rows(low, to.1).unwrap_or_else(|| low.to_vec());
    }
    let narrow = rows(pixels, from.1);
    let narrow = narrow.as_deref().unwrap_or(pixels);
    columns(narrow, to.0).unwrap_or_else(|| narrow.to_vec())
}

fn resize_rows(pixels: &[u8], from: usize, to: usize, height: usize, filter: Filter) -> Vec<u8> {
    let windows = windows(from, to, filter);
    let mut resized = vec![0; to * height * 3];
    for (source, row) in pixels.chunks_exact(from * 3).zip(resized.chunks_exact_mut(to * 3)) {
        for (pixel, window) in row.chunks_exact_mut(3).zip(&windows) {
            let mut sums = [HALF; 3];
            let reached = source.get(window.start * 3..).unwrap_or_default();
            for (channels, weight) in reached.chunks_exact(3).zip(&window.weights) {
                for (sum, channel) in sums.iter_mut().zip(channels) {
                    *sum += i32::from(*channel) * weight;
                }
            }
            for (channel, sum) in pixel.iter_mut().zip(sums) {
                *channel = to_channel(sum);
            }
        }
    }
    resized
}

fn resize_columns(pixels: &[u8], width: usize, from: usize, to: usize, filter: Filter) -> Vec<u8> {
    let stride = width * 3;
    let mut resized = vec![0; stride * to];
    let mut sums = vec![HALF; stride];
    for (row, window) in resized.chunks_exact_mut(stride).zip(windows(from, to, filter)) {
        sums.fill(HALF);
        let reached = pixels.get(window.start * stride..).unwrap_or_default();
        for (source, weight) in reached.chunks_exact(stride).zip(&window.weights) {
            for (sum, channel) in sums.iter_mut().zip(source) {
                *sum += i32::from(*channel) * weight;
            }
        }
        for (channel, sum) in row.iter_mut().zip(&sums) {
            *channel = to_channel(*sum);
        }
    }
    resized
}

/// Takes the source pixel under the centre of each destination pixel. Positions are added up as Pillow adds them, because its
/// rounding decides between two pixels where a centre falls on an edge.
fn nearest(pixels: &[u8], from: (usize, usize), to: (usize, usize)) -> Vec<u8> {
    let places = |from: usize, to: usize| {
        let step = from as f64 / to as f64;
        std::iter::successors(Some(step * 0.5), move |at| Some(at + step))
            .map(move |at| (at as usize).min(from - 1))
            .take(to)
    };
    let columns: Vec<usize> = places(from.0, to.0).collect();
    let mut resized = Vec::with_capacity(to.0 * to.1 * 3);
    for y in places(from.1, to.1) {
        let row = pixels.get(y * from.0 * 3..).unwrap_or_default();
        for x in &columns {
            resized.extend_from_slice(row.get(x * 3..x * 3 + 3).unwrap_or(&[0; 3]));
        }
    }
    resized
}
