//! Edges and straight lines, white on black.

use image::{DynamicImage, GrayImage, Luma, RgbImage};
use imageproc::drawing::draw_antialiased_line_segment_mut;
use imageproc::pixelops::interpolate;

use super::open;

/// Edges are looked for in at most this many pixels a side; larger pictures are reduced first, and the result is drawn
/// in the reduced size. It bounds memory at about 300 MB.
pub(super) const EDGE_SIDE: u32 = 4096;
/// Lines are looked for in at most this many pixels a side.
const LINE_SIDE: u32 = 1024;

/// Softening before gradients are taken, in pixels.
const SOFTEN: f32 = 1.2;
/// The weakest gradient (Sobel) that may begin an edge: a step of about ten levels in one colour channel.
const FLOOR: f32 = 26.0;
/// The strongest gradient that is asked of an edge, however busy the picture: half of a step from black to white.
const CEILING: f32 = 300.0;
/// Weak lines of fewer pixels are left out.
const SPECK: usize = 24;

/// Canny edges of the picture on white, after Canny (1986). At each pixel the colour channel with the strongest gradient
/// counts, so that colours of equal lightness part; an edge must begin at three times the median gradient of the
/// picture, so that noise and texture do not count as edges.
pub(super) fn canny(picture: &DynamicImage) -> GrayImage {
    let colours = open::flatten(open::reduced(picture, EDGE_SIDE));
    let (width, height) = colours.dimensions();
    if width < 3 || height < 3 {
        return GrayImage::new(width, height);
    }
    let soft = imageproc::filter::gaussian_blur_f32(&colours, SOFTEN);
    drop(colours);
    let gradients = Gradients::of(&soft);
    drop(soft);
    let median = gradients.median();
    let high = (3.0 * median).clamp(FLOOR, CEILING);
    let low = (0.4 * high).max(1.5 * median).min(high);
    gradients.trace(low, high)
}

/// How strong the colours change at each pixel, and in which of four directions.
struct Gradients {
    width: usize,
    height: usize,
    strength: Vec<f32>,
    /// The neighbour that the gradient points to: 0 right, 1 right below, 2 below, 3 left below.
    direction: Vec<u8>,
}

impl Gradients {
    fn of(soft: &RgbImage) -> Gradients {
        let (width, height) = (soft.width() as usize, soft.height() as usize);
        let mut strength = vec![0.0; width * height];
        let mut direction = vec![0; width * height];
        for (at, (strength, direction)) in strength.iter_mut().zip(&mut direction).enumerate() {
            let (x, y) = ((at % width) as u32, (at / width) as u32);
            if x == 0 || y == 0 || x + 1 == soft.width() || y + 1 == soft.height() {
                continue;
            }
            let row = |y: u32| [x - 1, x, x + 1].map(|x| soft.get_pixel(x, y).0.map(i32::from));
            let ([a, b, c], [d, _, e], [f, g, h]) = (row(y - 1), row(y), row(y + 1));
            let across = sum(&[(1, c), (2, e), (1, h), (-1, a), (-2, d), (-1, f)]);
            let down = sum(&[(1, f), (2, g), (1, h), (-1, a), (-2, b), (-1, c)]);
            let mut strongest = (0, 0, 0);
            for (dx, dy) in across.into_iter().zip(down) {
                strongest = strongest.max((dx * dx + dy * dy, dx, dy));
            }
            let (square, dx, dy) = strongest;
            *strength = (square as f32).sqrt();
            let angle = (dy as f32).atan2(dx as f32).rem_euclid(std::f32::consts::PI);
            *direction = ((angle / std::f32::consts::FRAC_PI_4).round() as u8) % 4;
        }
        Gradients { width, height, strength, direction }
    }

    fn at(&self, at: usize) -> f32 {
        self.strength.get(at).copied().unwrap_or(0.0)
    }

    /// The median strength, to a whole number: how much the colours change anywhere, be it noise.
    fn median(&self) -> f32 {
        let mut counts = vec![0_usize; 2048];
        for strength in &self.strength {
            if let Some(count) = counts.get_mut(strength.round() as usize) {
                *count += 1;
            }
        }
        let mut below = 0;
        let middle = counts.iter().position(|count| {
            below += count;
            below * 2 >= self.strength.len()
        });
        middle.unwrap_or(0) as f32
    }

    /// The ridges of at least `low` that hang together with one of at least `high`.
    fn trace(&self, low: f32, high: f32) -> GrayImage {
        let mut found = GrayImage::new(self.width as u32, self.height as u32);
        let steps = [1, self.width + 1, self.width, self.width - 1];
        let inner = |at: usize| {
            let (x, y) = (at % self.width, at / self.width);
            x > 0 && y > 0 && x + 1 < self.width && y + 1 < self.height
        };
        // Of two equal neighbours one is taken, so that lines are one pixel wide.
        let ridge = |at: usize, least: f32| {
            let strength = self.at(at);
            let step = self.direction.get(at).and_then(|turn| steps.get(usize::from(*turn))).copied().unwrap_or(1);
            strength >= least && inner(at) && strength > self.at(at - step) && strength >= self.at(at + step)
        };
        let (mut queue, mut specks) = (Vec::new(), Vec::new());
        for seed in 0..self.strength.len() {
            if !ridge(seed, high) {
                continue;
            }
            queue.push(seed);
            let mut line = Vec::new();
            while let Some(at) = queue.pop() {
                let Some(pixel) = found.get_mut(at).filter(|pixel| **pixel == 0) else { continue };
                *pixel = 255;
                line.push(at);
                let around = steps.into_iter().flat_map(|step| [at - step, at + step]);
                queue.extend(around.filter(|near| ridge(*near, low)));
            }
            // Weak specks are what a JPEG leaves beside a strong edge. They stay marked until all lines are known.
            if line.len() < SPECK && line.iter().all(|at| self.at(*at) < 2.5 * high) {
                specks.append(&mut line);
            }
        }
        for speck in specks {
            if let Some(pixel) = found.get_mut(speck) {
                *pixel = 0;
            }
        }
        found
    }
}

fn sum(parts: &[(i32, [i32; 3])]) -> [i32; 3] {
    parts.iter().fold([0; 3], |[r, g, b], (weight, [r2, g2, b2])| [r + weight * r2, g + weight * g2, b + weight * b2])
}

/// A straight line between two points, in pixels of the picture it was found in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Segment {
    pub(super) from: (f32, f32),
    pub(super) to: (f32, f32),
}

impl Segment {
    pub(super) fn length(&self) -> f32 {
        (self.to.0 - self.from.0).hypot(self.to.1 - self.from.1)
    }

    pub(super) fn scaled(&self, scale: f32) -> Segment {
        let place = |(x, y): (f32, f32)| (x * scale, y * scale);
        Segment { from: place(self.from), to: place(self.to) }
    }
}

/// Straight line segments, longest first: edge points whose gradients agree are grown into regions, and a region that
/// is long and thin is a line. After the idea of the LSD detector of Grompone von Gioi et al. (2010), without its
/// statistical validation: a minimum length and density stand in for it.
pub(super) fn segments(picture: &DynamicImage) -> Vec<Segment> {
    let small = open::reduced(picture, LINE_SIDE).into_luma8();
    let (width, height) = small.dimensions();
    if width < 8 || height < 8 {
        return Vec::new();
    }
    let scale = (picture.width() as f32 / width as f32, picture.height() as f32 / height as f32);
    let shortest = (width.max(height) as f32 * 0.03).max(8.0);
    let field = Field::new(&small);
    let mut used = vec![false; field.strength.len()];
    let mut seeds: Vec<usize> = (0..field.strength.len()).filter(|at| field.is_edge(*at)).collect();
    seeds.sort_by(|a, b| field.at(*b).total_cmp(&field.at(*a)).then(a.cmp(b)));
    let mut found = Vec::new();
    for seed in seeds {
        let region = field.grow(seed, &mut used);
        if let Some(line) = field.fit(&region)
            && line.length() >= shortest
        {
            let place = |(x, y): (f32, f32)| ((x + 0.5) * scale.0 - 0.5, (y + 0.5) * scale.1 - 0.5);
            found.push(Segment { from: place(line.from), to: place(line.to) });
        }
    }
    found.sort_by(|a, b| b.length().total_cmp(&a.length()));
    found
}

/// The segments, white on black, in the size of the picture.
pub(super) fn draw(segments: &[Segment], (width, height): (u32, u32)) -> GrayImage {
    let mut canvas = GrayImage::new(width, height);
    let thick = (width.max(height) / 1500).max(1) as i32;
    for Segment { from, to } in segments {
        let point = |(x, y): (f32, f32)| (x.round() as i32, y.round() as i32);
        let ((x1, y1), (x2, y2)) = (point(*from), point(*to));
        let flat = (x2 - x1).abs() > (y2 - y1).abs();
        for offset in 0..thick {
            let (dx, dy) = if flat { (0, offset) } else { (offset, 0) };
            let (start, end) = ((x1 + dx, y1 + dy), (x2 + dx, y2 + dy));
            draw_antialiased_line_segment_mut(&mut canvas, start, end, Luma([255]), interpolate);
        }
    }
    canvas
}

/// Gradients of a picture: how strong and which way, at each pixel.
struct Field {
    width: usize,
    strength: Vec<f32>,
    angle: Vec<f32>,
}

/// The weakest gradient that counts as an edge, in grey levels across two pixels.
const WEAKEST: f32 = 12.0;
/// How far a gradient may turn from its region's, in radians (22.5°).
const TOLERANCE: f32 = std::f32::consts::PI / 8.0;

impl Field {
    fn new(grey: &GrayImage) -> Field {
        let smooth = imageproc::filter::gaussian_blur_f32(grey, 0.8);
        let (width, height) = smooth.dimensions();
        let level = |x: u32, y: u32| f32::from(smooth.get_pixel(x, y).0[0]);
        let mut strength = vec![0.0; (width * height) as usize];
        let mut angle = vec![0.0; (width * height) as usize];
        let cells = strength.iter_mut().zip(angle.iter_mut()).enumerate();
        for (at, (strength, angle)) in cells {
            let (x, y) = (at as u32 % width, at as u32 / width);
            if x == 0 || y == 0 || x + 1 == width || y + 1 == height {
                continue;
            }
            let (dx, dy) = (level(x + 1, y) - level(x - 1, y), level(x, y + 1) - level(x, y - 1));
            *strength = dx.hypot(dy);
            *angle = dy.atan2(dx);
        }
        Field { width: width as usize, strength, angle }
    }

    fn at(&self, at: usize) -> f32 {
        self.strength.get(at).copied().unwrap_or(0.0)
    }

    fn is_edge(&self, at: usize) -> bool {
        self.at(at) >= WEAKEST
    }

    fn angle(&self, at: usize) -> f32 {
        self.angle.get(at).copied().unwrap_or(0.0)
    }

    /// The connected edge points around a seed whose gradients agree with their running mean.
    fn grow(&self, seed: usize, used: &mut [bool]) -> Vec<usize> {
        let mut region = Vec::new();
        let mut queue = vec![seed];
        let (mut sin, mut cos) = (self.angle(seed).sin(), self.angle(seed).cos());
        while let Some(at) = queue.pop() {
            let turn = (self.angle(at) - sin.atan2(cos)).rem_euclid(std::f32::consts::TAU);
            let agrees = turn.min(std::f32::consts::TAU - turn) <= TOLERANCE;
            let Some(taken) = used.get_mut(at) else { continue };
            if *taken || !self.is_edge(at) || !agrees {
                continue;
            }
            *taken = true;
            region.push(at);
            sin += self.angle(at).sin();
            cos += self.angle(at).cos();
            // The border has no gradient, so a neighbour never wraps around to the next row.
            let wide = self.width;
            let around = [at + 1, at + wide, at + wide + 1, (at + wide).saturating_sub(1)];
            let before = [1, wide, wide + 1, wide.saturating_sub(1)].map(|back| at.saturating_sub(back));
            queue.extend(around.into_iter().chain(before));
        }
        region
    }

    /// The line through a region along its main axis, when the region is thin and dense enough to be one.
    fn fit(&self, region: &[usize]) -> Option<Segment> {
        if region.len() < 8 {
            return None;
        }
        let points = || region.iter().map(|at| ((at % self.width) as f32, (at / self.width) as f32, self.at(*at)));
        let mass: f32 = points().map(|(_, _, weight)| weight).sum();
        let cx = points().map(|(x, _, weight)| x * weight).sum::<f32>() / mass;
        let cy = points().map(|(_, y, weight)| y * weight).sum::<f32>() / mass;
        let (mut xx, mut xy, mut yy) = (0.0_f32, 0.0_f32, 0.0_f32);
        for (x, y, weight) in points() {
            xx += weight * (x - cx).powi(2);
            xy += weight * (x - cx) * (y - cy);
            yy += weight * (y - cy).powi(2);
        }
        let axis = 0.5 * (2.0 * xy).atan2(xx - yy);
        let (dx, dy) = (axis.cos(), axis.sin());
        let (mut low, mut high, mut left, mut right) = (f32::MAX, f32::MIN, f32::MAX, f32::MIN);
        for (x, y, _) in points() {
            let along = (x - cx) * dx + (y - cy) * dy;
            let across = (y - cy) * dx - (x - cx) * dy;
            (low, high) = (low.min(along), high.max(along));
            (left, right) = (left.min(across), right.max(across));
        }
        let (length, thickness) = (high - low + 1.0, right - left + 1.0);
        let dense = region.len() as f32 / (length * thickness) >= 0.5;
        let line = Segment { from: (cx + dx * low, cy + dy * low), to: (cx + dx * high, cy + dy * high) };
        (dense && length >= 3.0 * thickness).then_some(line)
    }
}
