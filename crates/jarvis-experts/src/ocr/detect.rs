//! Where the lines are: a network gives each pixel the probability of writing, and connected ones are boxed (differentiable
//! binarisation). Thresholds are those of PP-OCRv4 as published for ONNX.

use std::path::Path;

use rten::ValueOrView;

use super::geometry::{Line, Point, Rectangle};
use super::pixels::Pixels;
use crate::onnx::{Session, floats, numbers};
use crate::{Call, ExpertError, ModelFiles, Picture, Resources};

/// The shorter side is enlarged to this, as long as the longer one stays within the limit.
const SHORTER_SIDE: f32 = 736.0;
const LONGER_SIDE: f32 = 2_000.0;
/// The network halves its input five times.
const MULTIPLE: f32 = 32.0;
/// Probability from which a pixel is writing, and mean probability from which a box is a line.
const PIXEL: f32 = 0.3;
const BOX: f32 = 0.5;
/// How far a box is widened: the network marks the core of a line.
const WIDEN: f32 = 1.6;
const MAX_LINES: usize = 1_000;
/// Pixels of the map that a box must have, before and after it is widened.
const MIN_SIDE: f32 = 3.0;

/// The detector.
#[derive(Debug)]
pub(super) struct Detector {
    files: ModelFiles,
    session: Session,
}

impl Detector {
    pub(super) fn open(files: &ModelFiles, path: &Path, resources: &Resources) -> Result<Detector, ExpertError> {
        Ok(Detector { files: files.clone(), session: Session::open_file(files, path, resources)? })
    }

    pub(super) fn memory(&self) -> u64 {
        self.session.memory()
    }

    /// The lines of a picture in its pixels, in no order.
    pub(super) fn lines(&self, picture: &Picture, call: &Call) -> Result<Vec<Line>, ExpertError> {
        call.check()?;
        let (width, height) = (picture.width as usize, picture.height as usize);
        let (to_width, to_height) = input_size(width as f32, height as f32);
        let resized = Pixels::resized(&picture.pixels, (width, height), (to_width, to_height));
        let mut planes = vec![0.0; 3 * to_width * to_height];
        resized.write(&mut planes, to_width);
        let input = floats(&[1, 3, to_height, to_width], planes);
        let name = self.session.inputs().first().map(|port| port.name.clone()).unwrap_or_default();
        let (shape, map) = numbers(&self.files, &self.session.run_first(vec![(&name, ValueOrView::from(input))])?)?;
        let [1, 1, rows, columns] = shape.as_slice() else {
            return Err(self.files.unsupported(format!("its detector gives a tensor of shape {shape:?}")));
        };
        call.check()?;
        let scale = (width as f32 / *columns as f32, height as f32 / *rows as f32);
        let (right, bottom) = (width as f32 - 1.0, height as f32 - 1.0);
        let place = |(x, y): Point| ((x * scale.0).round().clamp(0.0, right), (y * scale.1).round().clamp(0.0, bottom));
        let lines = boxes(&map, *columns).into_iter().map(|line| Line { corners: line.corners.map(place) });
        Ok(lines.filter(|line| line.size().0 > 3 && line.size().1 > 3).collect())
    }
}

/// Width and height of the network's input for a picture.
fn input_size(width: f32, height: f32) -> (usize, usize) {
    let scale = (SHORTER_SIDE / width.min(height)).max(1.0).min(LONGER_SIDE / width.max(height));
    let side = |side: f32| ((((side * scale).floor() / MULTIPLE).round_ties_even()) * MULTIPLE).max(MULTIPLE) as usize;
    (side(width), side(height))
}

/// The boxes of a map of probabilities with so many columns.
fn boxes(map: &[f32], columns: usize) -> Vec<Line> {
    let rows = map.len() / columns.max(1);
    let at = |x: usize, y: usize| map.get(y * columns + x).copied().unwrap_or(0.0);
    // Widened by one pixel to the right and down, so that thin gaps close.
    let mut mask: Vec<bool> = (0..rows * columns)
        .map(|nth| {
            let (x, y) = (nth % columns, nth / columns);
            [(0, 0), (1, 0), (0, 1), (1, 1)].iter().any(|(dx, dy)| x >= *dx && y >= *dy && at(x - dx, y - dy) > PIXEL)
        })
        .collect();
    let mut lines = Vec::new();
    let mut regions = 0;
    for start in 0..mask.len() {
        if !mask.get(start).copied().unwrap_or(false) {
            continue;
        }
        let mut points = region(&mut mask, columns, start);
        regions += 1;
        if regions > MAX_LINES {
            break;
        }
        let Some(rectangle) = Rectangle::around(&mut points) else { continue };
        if rectangle.shorter_side() < MIN_SIDE || score(&rectangle, columns, rows, at) < BOX {
            continue;
        }
        let widened = rectangle.grown(WIDEN);
        if widened.shorter_side() >= MIN_SIDE + 2.0 {
            lines.push(widened.line());
        }
    }
    lines
}

/// Takes the connected pixels (diagonals count) out of the mask, and gives the leftmost and rightmost one of each row.
fn region(mask: &mut [bool], columns: usize, start: usize) -> Vec<Point> {
    let rows = mask.len() / columns;
    let mut ends: std::collections::BTreeMap<usize, (usize, usize)> = std::collections::BTreeMap::new();
    let mut open = vec![start];
    if let Some(place) = mask.get_mut(start) {
        *place = false;
    }
    while let Some(at) = open.pop() {
        let (x, y) = (at % columns, at / columns);
        let (left, right) = ends.entry(y).or_insert((x, x));
        (*left, *right) = ((*left).min(x), (*right).max(x));
        for y in y.saturating_sub(1)..=(y + 1).min(rows - 1) {
            for x in x.saturating_sub(1)..=(x + 1).min(columns - 1) {
                let next = y * columns + x;
                if let Some(place) = mask.get_mut(next)
                    && std::mem::take(place)
                {
                    open.push(next);
                }
            }
        }
    }
    let point = |x: usize, y: usize| (x as f32, y as f32);
    ends.into_iter().flat_map(|(y, (left, right))| [point(left, y), point(right, y)]).collect()
}

/// The mean probability within a rectangle.
fn score(rectangle: &Rectangle, columns: usize, rows: usize, at: impl Fn(usize, usize) -> f32) -> f32 {
    let (left, top, right, bottom) = rectangle.line().bounds();
    let (mut total, mut count) = (0.0_f64, 0_u32);
    for y in top.floor().max(0.0) as usize..=(bottom.ceil().max(0.0) as usize).min(rows.saturating_sub(1)) {
        for x in left.floor().max(0.0) as usize..=(right.ceil().max(0.0) as usize).min(columns.saturating_sub(1)) {
            if rectangle.contains((x as f32, y as f32)) {
                total += f64::from(at(x, y));
                count += 1;
            }
        }
    }
    (total / f64::from(count.max(1))) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_any_shape_fit_the_network() {
        for (width, height, expected) in [
            (800.0, 600.0, (992, 736)),
            (1_000.0, 1_000.0, (992, 992)),
            (5_000.0, 4_000.0, (1_984, 1_600)),
            (300.0, 30.0, (1_984, 192)),
            (100_000.0, 1.0, (1_984, 32)),
            (1.0, 1.0, (736, 736)),
        ] {
            assert_eq!(input_size(width, height), expected, "{width} × {height}");
        }
    }

    #[test]
    fn maps_become_boxes() {
        let columns = 60;
        let mut map = vec![0.0; columns * 40];
        let mut paint = |left: usize, top: usize, width: usize, height: usize, value: f32| {
            for y in top..top + height {
                map[y * columns + left..y * columns + left + width].fill(value);
            }
        };
        paint(5, 5, 30, 6, 0.9);
        // Unsure on the whole, and too small.
        paint(5, 20, 30, 6, 0.4);
        paint(50, 30, 2, 2, 1.0);
        let lines = boxes(&map, columns);
        assert_eq!(lines.len(), 1);
        // 30 × 6 pixels after widening by one: 30 × 6 between centres, grown by 30 × 6 × 1.6 / 72 = 4.
        assert_eq!(lines[0].bounds(), (1.0, 1.0, 39.0, 15.0));
        assert!(boxes(&[0.0; 60], 60).is_empty());
        assert_eq!(boxes(&vec![1.0; 60 * 40], 60).len(), 1);
    }
}
