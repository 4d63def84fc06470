//! A picture that is drawn on: rectangles, filled outlines, lines, and text at any angle in the embedded font.
//!
//! The same calls give the same bytes on every machine. What would lie outside the picture is left out.

use std::collections::HashMap;

use ab_glyph::{
    Font, FontRef, Glyph, GlyphId, Outline, OutlineCurve, OutlinedGlyph, Point, PxScaleFactor, Rect, point,
};

pub(super) type Colour = [u8; 3];

#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The anchor, in pixels from the left.
    pub(super) x: f32,
    /// The line that letters stand on, in pixels from the top.
    pub(super) y: f32,
    /// The size of an em in pixels.
    pub(super) size: f32,
    pub(super) turn: Turn,
    /// Which part of the text is at the anchor: 0 its beginning, 0.5 its middle, 1 its end.
    pub(super) anchor: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// To the right.
    Level,
    /// To the right and upwards.
    Slanted,
    /// Upwards.
    Upright,
}

impl Turn {
    /// Cosine and sine of the angle, counted clockwise as the picture's axes lie.
    fn parts(self) -> (f32, f32) {
        match self {
            Turn::Level => (1.0, 0.0),
            Turn::Slanted => (std::f32::consts::FRAC_1_SQRT_2, -std::f32::consts::FRAC_1_SQRT_2),
            Turn::Upright => (0.0, -1.0),
        }
    }
}

/// Text measured and drawn with one font; each glyph's outline is read once.
pub(super) struct Pen<'f> {
    font: &'f FontRef<'f>,
    em: f32,
    glyphs: HashMap<char, (f32, Option<Outline>)>,
}

impl<'f> Pen<'f> {
    pub(super) fn new(font: &'f FontRef<'f>) -> Pen<'f> {
        Pen { font, em: font.units_per_em().unwrap_or(1000.0), glyphs: HashMap::new() }
    }

    fn glyph(&mut self, c: char) -> &(f32, Option<Outline>) {
        let font = self.font;
        self.glyphs.entry(c).or_insert_with(|| {
            let id = font.glyph_id(c);
            (font.h_advance_unscaled(id), font.outline(id))
        })
    }

    /// How long a text is, in pixels.
    pub(super) fn width(&mut self, text: &str, size: f32) -> f32 {
        let units: f32 = text.chars().map(|c| self.glyph(c).0).sum();
        units * size / self.em
    }

    /// The text, or as much of its beginning as fits with an ellipsis after it.
    pub(super) fn fitted(&mut self, text: &str, size: f32, room: f32) -> String {
        if self.width(text, size) <= room {
            return text.to_owned();
        }
        let mut left = room - self.width("…", size);
        let mut short = String::new();
        for c in text.chars() {
            left -= self.glyph(c).0 * size / self.em;
            if left < 0.0 {
                break;
            }
            short.push(c);
        }
        short.truncate(short.trim_end().len());
        short.push('…');
        short
    }
}

pub(super) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Canvas {
        Canvas { width, height, pixels: vec![255; width * height * 3] }
    }

    /// The pixels, three bytes each, line by line.
    pub(super) fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    fn row(&mut self, y: usize, from: usize, to: usize) -> &mut [u8] {
        let line = y * self.width;
        self.pixels.get_mut((line + from) * 3..(line + to) * 3).unwrap_or_default()
    }

    /// Fills whole pixels from the left top one up to, and without, the right bottom one.
    pub(super) fn rect(&mut self, left: i32, top: i32, right: i32, bottom: i32, colour: Colour) {
        let within = |at: i32, end: usize| usize::try_from(at).unwrap_or(0).min(end);
        let (left, right) = (within(left, self.width), within(right, self.width));
        for y in within(top, self.height)..within(bottom, self.height) {
            if left < right {
                for pixel in self.row(y, left, right).chunks_exact_mut(3) {
                    pixel.copy_from_slice(&colour);
                }
            }
        }
    }

    /// Fills a closed outline whose points are pixels, with soft edges.
    fn fill(&mut self, curves: Vec<OutlineCurve>, colour: Colour) {
        let mut bounds = Rect { min: point(f32::MAX, f32::MAX), max: point(f32::MIN, f32::MIN) };
        let mut widen = |at: Point| {
            bounds.min = point(bounds.min.x.min(at.x), bounds.min.y.min(at.y));
            bounds.max = point(bounds.max.x.max(at.x), bounds.max.y.max(at.y));
        };
        for curve in &curves {
            match *curve {
                OutlineCurve::Line(a, b) => [a, b].into_iter().for_each(&mut widen),
                OutlineCurve::Quad(a, b, c) => [a, b, c].into_iter().for_each(&mut widen),
                OutlineCurve::Cubic(a, b, c, d) => [a, b, c, d].into_iter().for_each(&mut widen),
            }
        }
        let inside = bounds.min.x >= 0.0
            && bounds.min.y >= 0.0
            && bounds.max.x <= self.width as f32
            && bounds.max.y <= self.height as f32;
        if curves.is_empty() || !inside {
            return;
        }
        // The rasteriser takes outlines whose y grows upwards.
        let flip = |at: Point| point(at.x, -at.y);
        let curves = curves.into_iter().map(|curve| turned(&curve, flip)).collect();
        let bounds = Rect { min: flip(bounds.min), max: flip(bounds.max) };
        let shape = OutlinedGlyph::new(
            Glyph { id: GlyphId(0), scale: 1.0.into(), position: point(0.0, 0.0) },
            Outline { bounds, curves },
            PxScaleFactor { horizontal: 1.0, vertical: 1.0 },
        );
        let origin = shape.px_bounds().min;
        let (left, top) = (origin.x as usize, origin.y as usize);
        let (width, height) = (self.width, self.height);
        let pixels = &mut self.pixels;
        shape.draw(|x, y, coverage| {
            let (x, y) = (left + x as usize, top + y as usize);
            if coverage <= 0.0 || x >= width || y >= height {
                return;
            }
            let at = (y * width + x) * 3;
            for (under, over) in pixels.get_mut(at..at + 3).unwrap_or_default().iter_mut().zip(colour) {
                let mixed = f32::from(*under) + (f32::from(over) - f32::from(*under)) * coverage.min(1.0);
                *under = mixed.round() as u8;
            }
        });
    }

    fn polygon(&mut self, corners: &[Point], colour: Colour) {
        let next = corners.iter().cycle().skip(1);
        self.fill(corners.iter().zip(next).map(|(a, b)| OutlineCurve::Line(*a, *b)).collect(), colour);
    }

    pub(super) fn line(&mut self, from: (f32, f32), to: (f32, f32), thickness: f32, colour: Colour) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        if length < f32::EPSILON {
            return;
        }
        let (nx, ny) = (-dy / length * thickness / 2.0, dx / length * thickness / 2.0);
        let corners = [
            point(from.0 + nx, from.1 + ny),
            point(to.0 + nx, to.1 + ny),
            point(to.0 - nx, to.1 - ny),
            point(from.0 - nx, from.1 - ny),
        ];
        self.polygon(&corners, colour);
    }

    pub(super) fn disc(&mut self, x: f32, y: f32, radius: f32, colour: Colour) {
        let corners: [Point; 20] = std::array::from_fn(|step| {
            let (sin, cos) = (step as f32 * std::f32::consts::TAU / 20.0).sin_cos();
            point(x + radius * cos, y + radius * sin)
        });
        self.polygon(&corners, colour);
    }

    pub(super) fn text(&mut self, pen: &mut Pen<'_>, text: &str, place: Place, colour: Colour) {
        let scale = place.size / pen.em;
        let (cos, sin) = place.turn.parts();
        let mut along = -place.anchor * pen.width(text, place.size);
        for c in text.chars() {
            let (advance, outline) = pen.glyph(c);
            let shift = along;
            along += advance * scale;
            let Some(outline) = outline else { continue };
            let to_pixels = |at: Point| {
                let (x, y) = (at.x * scale + shift, -at.y * scale);
                point(place.x + x * cos - y * sin, place.y + x * sin + y * cos)
            };
            let curves = outline.curves.iter().map(|curve| turned(curve, to_pixels)).collect();
            self.fill(curves, colour);
        }
    }
}

/// A curve whose points were moved.
fn turned(curve: &OutlineCurve, to: impl Fn(Point) -> Point) -> OutlineCurve {
    match *curve {
        OutlineCurve::Line(a, b) => OutlineCurve::Line(to(a), to(b)),
        OutlineCurve::Quad(a, b, c) => OutlineCurve::Quad(to(a), to(b), to(c)),
        OutlineCurve::Cubic(a, b, c, d) => OutlineCurve::Cubic(to(a), to(b), to(c), to(d)),
    }
}
