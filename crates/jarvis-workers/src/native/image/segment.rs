//! Regions of like colour: graph-based segmentation after Felzenszwalb and Huttenlocher (2004), in CIE Lab.

use image::{DynamicImage, Rgb, RgbImage};
use imageproc::union_find::DisjointSetForest;
use jarvis_plan::TaskError;
use serde_json::{Value, json};

use super::super::Cancel;
use super::super::words::{Colour, lab};
use super::open;
use crate::draw;
use jarvis_plan::Language;

/// Regions are found in at most this many pixels a side, and stretched over the picture.
const SIDE: u32 = 400;
/// Overlays are drawn in at most this many pixels a side.
const OVERLAY_SIDE: u32 = 4096;
/// The most regions worth telling apart; the scale of observation is doubled until there are no more.
const MOST: usize = 24;
/// Neighbours whose mean colours are nearer than this, in Lab units, are one region.
const ALIKE: f64 = 5.0;

/// Which region each cell belongs to, and what the regions are, largest first.
#[derive(Debug)]
pub(super) struct Regions {
    width: u32,
    height: u32,
    cells: Vec<usize>,
    pub(super) regions: Vec<Region>,
}

/// One region: its mean colour, its share of the picture and its bounds in cells, the far edges included.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Region {
    pub(super) mean: Rgb<u8>,
    pub(super) share: f64,
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
}

pub(super) fn regions(picture: &RgbImage, cancel: &Cancel) -> Result<Regions, TaskError> {
    let (width, height) = open::fit(picture.dimensions(), SIDE);
    let small = if (width, height) == picture.dimensions() {
        picture.clone()
    } else {
        image::imageops::thumbnail(picture, width, height)
    };
    cancel.check()?;
    // A median takes noise away without leaving a rim of mixed colours along the borders.
    let smooth = imageproc::filter::median_filter(&small, 2, 2);
    let colours: Vec<[f32; 3]> = smooth.pixels().map(|pixel| lab(*pixel)).collect();
    let edges = edges(&colours, width as usize, height as usize);
    // The scale of observation in Lab units: about what 300 is for RGB levels.
    let mut scale = 60.0;
    loop {
        cancel.check()?;
        let roots = join(&edges, &colours, scale);
        let regions = measure(&small, roots);
        if regions.regions.len() <= MOST || scale > 1e5 {
            return Ok(regions);
        }
        scale *= 2.0;
    }
}

/// Pairs of neighbours (eight a cell) with the distance of their colours, nearest first.
fn edges(colours: &[[f32; 3]], width: usize, height: usize) -> Vec<(f32, u32, u32)> {
    let mut edges = Vec::with_capacity(colours.len() * 4);
    let mut add = |from: usize, to: usize| {
        if let (Some(a), Some(b)) = (colours.get(from), colours.get(to)) {
            let distance = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt();
            edges.push((distance, from as u32, to as u32));
        }
    };
    for y in 0..height {
        for x in 0..width {
            let at = y * width + x;
            if x + 1 < width {
                add(at, at + 1);
            }
            if y + 1 < height {
                add(at, at + width);
                if x + 1 < width {
                    add(at, at + width + 1);
                }
                if x > 0 {
                    add(at, at + width - 1);
                }
            }
        }
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    edges
}

/// Joins cells whose difference is not larger than the differences within their regions, then joins regions of less
/// than a two-hundredth of the picture with their nearest neighbour, then neighbours of nearly the same mean colour.
/// Returns each cell's root.
fn join(edges: &[(f32, u32, u32)], colours: &[[f32; 3]], scale: f32) -> Vec<usize> {
    let cells = colours.len();
    let mut forest = DisjointSetForest::new(cells);
    let mut size = vec![1_usize; cells];
    let mut most = vec![scale; cells];
    let merge = |forest: &mut DisjointSetForest, size: &mut [usize], from: usize, to: usize| {
        let joined = size.get(from).copied().unwrap_or(0) + size.get(to).copied().unwrap_or(0);
        forest.union(from, to);
        let root = forest.root(from);
        if let Some(size) = size.get_mut(root) {
            *size = joined;
        }
        (root, joined)
    };
    for (weight, from, to) in edges {
        let (from, to) = (forest.root(*from as usize), forest.root(*to as usize));
        let allowed = |root: usize| most.get(root).is_some_and(|most| weight <= most);
        if from != to && allowed(from) && allowed(to) {
            let (root, joined) = merge(&mut forest, &mut size, from, to);
            if let Some(most) = most.get_mut(root) {
                *most = weight + scale / joined as f32;
            }
        }
    }
    let smallest = (cells / 200).max(2);
    for (_, from, to) in edges {
        let (from, to) = (forest.root(*from as usize), forest.root(*to as usize));
        let small = |root: usize| size.get(root).is_some_and(|size| *size < smallest);
        if from != to && (small(from) || small(to)) {
            merge(&mut forest, &mut size, from, to);
        }
    }
    let mut sums = vec![[0.0_f64; 4]; cells];
    for (cell, [l, a, b]) in colours.iter().enumerate() {
        if let Some(sum) = sums.get_mut(forest.root(cell)) {
            let cell = [f64::from(*l), f64::from(*a), f64::from(*b), 1.0];
            sum.iter_mut().zip(cell).for_each(|(sum, part)| *sum += part);
        }
    }
    for (_, from, to) in edges {
        let (from, to) = (forest.root(*from as usize), forest.root(*to as usize));
        if from == to {
            continue;
        }
        let (Some(one), Some(other)) = (sums.get(from).copied(), sums.get(to).copied()) else { continue };
        let [l, a, b, count] = one;
        let [l2, a2, b2, count2] = other;
        let apart = [(l, l2), (a, a2), (b, b2)].map(|(x, y)| (x / count - y / count2).powi(2));
        if apart.iter().sum::<f64>().sqrt() < ALIKE {
            let (root, _) = merge(&mut forest, &mut size, from, to);
            if let Some(sum) = sums.get_mut(root) {
                *sum = [l + l2, a + a2, b + b2, count + count2];
            }
        }
    }
    (0..cells).map(|cell| forest.root(cell)).collect()
}

/// Numbers the regions, largest first, and measures them.
fn measure(small: &RgbImage, roots: Vec<usize>) -> Regions {
    #[derive(Clone)]
    struct Sum {
        root: usize,
        count: u64,
        rgb: [u64; 3],
        bounds: [u32; 4],
    }
    let empty = Sum { root: 0, count: 0, rgb: [0; 3], bounds: [u32::MAX, u32::MAX, 0, 0] };
    let mut sums = vec![empty; roots.len()];
    for ((x, y, pixel), root) in small.enumerate_pixels().zip(&roots) {
        if let Some(sum) = sums.get_mut(*root) {
            sum.root = *root;
            sum.count += 1;
            for (sum, channel) in sum.rgb.iter_mut().zip(pixel.0) {
                *sum += u64::from(channel);
            }
            let [left, top, right, bottom] = sum.bounds;
            sum.bounds = [left.min(x), top.min(y), right.max(x), bottom.max(y)];
        }
    }
    sums.retain(|sum| sum.count > 0);
    sums.sort_by(|a, b| b.count.cmp(&a.count).then(a.root.cmp(&b.root)));
    let mut number = vec![0; roots.len()];
    for (nth, sum) in sums.iter().enumerate() {
        if let Some(number) = number.get_mut(sum.root) {
            *number = nth;
        }
    }
    let cells = roots.iter().map(|root| number.get(*root).copied().unwrap_or(0)).collect();
    let regions = sums
        .into_iter()
        .map(|Sum { count, rgb, bounds: [left, top, right, bottom], .. }| Region {
            mean: Rgb(rgb.map(|sum| (sum / count) as u8)),
            share: count as f64 / roots.len() as f64,
            left,
            top,
            right,
            bottom,
        })
        .collect();
    Regions { width: small.width(), height: small.height(), cells, regions }
}

impl Regions {
    /// Lays the regions over the picture, each in a colour of its own.
    pub(super) fn overlay(&self, picture: &mut RgbImage) {
        let tints: Vec<Rgb<u8>> = (1..=self.regions.len()).map(|nth| draw::colour(&format!("region {nth}"))).collect();
        let (width, height) = picture.dimensions();
        let cell = |at: u32, cells: u32, pixels: u32| (u64::from(at) * u64::from(cells) / u64::from(pixels)) as usize;
        let columns: Vec<usize> = (0..width).map(|x| cell(x, self.width, width)).collect();
        for (y, line) in picture.rows_mut().enumerate() {
            let row = cell(y as u32, self.height, height) * self.width as usize;
            let cells = self.cells.get(row..row + self.width as usize).unwrap_or(&[]);
            for (pixel, column) in line.zip(&columns) {
                if let Some(tint) = cells.get(*column).and_then(|region| tints.get(*region)) {
                    draw::blend(pixel, *tint, draw::OVERLAY_ALPHA);
                }
            }
        }
    }

    /// The regions as a list of `{label, score, box}`: the score is the share of the picture, the box in pixels of the
    /// picture of this size.
    pub(super) fn list(&self, (width, height): (u32, u32), lang: Language) -> Value {
        let across = |cell: u32| (f64::from(cell) * f64::from(width) / f64::from(self.width)).round() as u32;
        let down = |cell: u32| (f64::from(cell) * f64::from(height) / f64::from(self.height)).round() as u32;
        let word = lang.pick("region", "область", "区域");
        let rows = self.regions.iter().enumerate().map(|(nth, region)| {
            let colour = Colour::nearest(region.mean).name(lang);
            json!({
                "label": format!("{word} {} ({colour})", nth + 1),
                "score": (region.share * 1e4).round() / 1e4,
                "box": {
                    "xmin": across(region.left), "ymin": down(region.top),
                    "xmax": across(region.right + 1), "ymax": down(region.bottom + 1),
                },
            })
        });
        Value::Array(rows.collect())
    }
}

/// The overlay, at most `OVERLAY_SIDE` pixels a side, and the list of regions, whose boxes are in pixels of the picture
/// as it came.
pub(super) fn segment(picture: DynamicImage, lang: Language, cancel: &Cancel) -> Result<(RgbImage, Value), TaskError> {
    let size = (picture.width(), picture.height());
    let picture = if size.0.max(size.1) > OVERLAY_SIDE { open::reduced(&picture, OVERLAY_SIDE) } else { picture };
    let mut picture = open::flatten(picture);
    let regions = regions(&picture, cancel)?;
    regions.overlay(&mut picture);
    Ok((picture, regions.list(size, lang)))
}
