//! Where everything of a chart goes, and its drawing.

use super::axis::{self, Axis};
use super::canvas::{Canvas, Colour, Pen, Place, Turn};
use super::{Chart, HEIGHT, Kind, WIDTH};

const BAR: Colour = super::BAR_COLOUR;
const INK: Colour = [38, 44, 52];
const SOFT: Colour = [92, 99, 110];
const GRID: Colour = [230, 232, 236];
const BASE: Colour = [120, 126, 136];

const TITLE_SIZE: f32 = 19.0;
const LABEL_SIZE: f32 = 14.0;
const TICK_SIZE: f32 = 12.0;
/// From one line of tick labels to the next.
const TICK_LINE: f32 = 14.0;
/// The most room that labels below the axis take.
const DEEPEST: f32 = 150.0;
const EDGE: f32 = 14.0;

#[derive(Debug, Clone, Copy)]
struct Area {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

impl Area {
    fn width(self) -> f32 {
        self.right - self.left
    }

    fn y(self, axis: &Axis, value: f64) -> f32 {
        self.bottom - (self.bottom - self.top) * axis.share(value) as f32
    }
}

/// What is written below the axis: labels at their places, all in one direction.
struct Labels {
    turn: Turn,
    /// How far they reach down.
    depth: f32,
    /// The room between them and the chart, for what is written under bars.
    gap: f32,
    shown: Vec<(f32, String)>,
}

pub(super) fn draw(chart: &Chart, pen: &mut Pen<'_>) -> Canvas {
    let values = || chart.points.iter().map(|point| point.1);
    let scale = Axis::new(values(), chart.kind == Kind::Bar || starts_low(values()), true);
    let across = chart.across();
    let ruler = across.as_ref().map(|xs| Axis::new(xs.iter().copied(), false, false));

    let widest = scale.ticks.iter().map(|tick| pen.width(&tick.1, TICK_SIZE)).fold(0.0, f32::max);
    let named = if chart.y_label.is_empty() { 0.0 } else { LABEL_SIZE + 8.0 };
    let left = (EDGE + named + widest + 8.0).ceil();
    let right = WIDTH as f32 - EDGE - if ruler.is_some() { 10.0 } else { 2.0 };
    let mut area = Area { left, top: if chart.title.is_empty() { 24.0 } else { 52.0 }, right, bottom: 0.0 };
    let mut labels = match &ruler {
        Some(ruler) => Labels {
            turn: Turn::Level,
            depth: TICK_LINE,
            gap: 0.0,
            shown: ruler
                .ticks
                .iter()
                .map(|(value, text)| (area.left + area.width() * ruler.share(*value) as f32, text.clone()))
                .collect(),
        },
        None => below(chart, area, pen),
    };
    if told(chart, area, pen) && values().any(|value| value < 0.0) {
        labels.gap = TICK_SIZE;
    }
    let footer = if chart.x_label.is_empty() { 0.0 } else { LABEL_SIZE + 8.0 };
    area.bottom = (HEIGHT as f32 - EDGE + 2.0 - footer - labels.depth - labels.gap - 8.0).floor();

    let mut canvas = Canvas::new(WIDTH as usize, HEIGHT as usize);
    frame(&mut canvas, pen, chart, area, &scale);
    let places: Vec<f32> = match (&ruler, &across) {
        (Some(ruler), Some(xs)) => {
            xs.iter().map(|value| area.left + area.width() * ruler.share(*value) as f32).collect()
        }
        _ => (0..chart.points.len()).map(|at| middle(area, at, chart.points.len())).collect(),
    };
    if ruler.is_some() {
        for (x, _) in &labels.shown {
            canvas.rect(*x as i32, area.top as i32, *x as i32 + 1, area.bottom as i32, GRID);
            canvas.rect(*x as i32, area.bottom as i32, *x as i32 + 1, area.bottom as i32 + 5, BASE);
        }
    }
    match chart.kind {
        Kind::Bar => bars(&mut canvas, pen, chart, area, &scale),
        Kind::Line => joined(&mut canvas, chart, area, &scale, &places),
        Kind::Scatter => {
            for (x, (_, value)) in places.iter().zip(&chart.points) {
                canvas.disc(*x, area.y(&scale, *value), if places.len() > 200 { 2.5 } else { 4.5 }, BAR);
            }
        }
    }
    write_below(&mut canvas, pen, &labels, area);
    canvas
}

/// Whether an axis of lines and points begins at zero: where zero is near enough to leave the differences visible.
fn starts_low(values: impl Iterator<Item = f64> + Clone) -> bool {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    least.is_sign_negative() != most.is_sign_negative()
        || least.abs().min(most.abs()) < least.abs().max(most.abs()) * 0.7
}

fn middle(area: Area, at: usize, of: usize) -> f32 {
    area.left + area.width() * (at as f32 + 0.5) / of.max(1) as f32
}

/// Title, names of the axes, grid and ticks.
fn frame(canvas: &mut Canvas, pen: &mut Pen<'_>, chart: &Chart, area: Area, scale: &Axis) {
    let centre = WIDTH as f32 / 2.0;
    let title = pen.fitted(&chart.title, TITLE_SIZE, WIDTH as f32 - 2.0 * EDGE);
    let place = Place { x: centre, y: 32.0, size: TITLE_SIZE, turn: Turn::Level, anchor: 0.5 };
    canvas.text(pen, &title, place, INK);
    for (value, text) in &scale.ticks {
        let y = area.y(scale, *value);
        let line = y.round() as i32;
        canvas.rect(area.left as i32, line, area.right as i32, line + 1, GRID);
        let place =
            Place { x: area.left - 8.0, y: y + TICK_SIZE * 0.37, size: TICK_SIZE, turn: Turn::Level, anchor: 1.0 };
        canvas.text(pen, text, place, SOFT);
    }
    let middle = (area.left + area.right) / 2.0;
    let text = pen.fitted(&chart.x_label, LABEL_SIZE, area.width());
    let place = Place { x: middle, y: HEIGHT as f32 - EDGE + 2.0, size: LABEL_SIZE, turn: Turn::Level, anchor: 0.5 };
    canvas.text(pen, &text, place, INK);
    let text = pen.fitted(&chart.y_label, LABEL_SIZE, area.bottom - area.top);
    let y = (area.top + area.bottom) / 2.0;
    let place = Place { x: EDGE + LABEL_SIZE * 0.8, y, size: LABEL_SIZE, turn: Turn::Upright, anchor: 0.5 };
    canvas.text(pen, &text, place, INK);
}

/// The line of zero, or the lower end where zero is not on the axis.
fn base(canvas: &mut Canvas, area: Area, scale: &Axis) -> i32 {
    let y = area.y(scale, 0.0).round() as i32;
    canvas.rect(area.left as i32, y, area.right as i32, y + 1, BASE);
    y
}

/// Whether there is room to write its value at each bar.
fn told(chart: &Chart, area: Area, pen: &mut Pen<'_>) -> bool {
    let room = area.width() / chart.points.len().max(1) as f32 - 4.0;
    chart.kind == Kind::Bar && chart.points.iter().all(|point| pen.width(&axis::shown(point.1), TICK_SIZE) <= room)
}

fn bars(canvas: &mut Canvas, pen: &mut Pen<'_>, chart: &Chart, area: Area, scale: &Axis) {
    let count = chart.points.len();
    let slot = area.width() / count.max(1) as f32;
    // Wide where there are few, whole pixels, and at least one pixel apart.
    let width = (slot * 0.72).min(slot - 1.0).clamp(1.0, 110.0).floor();
    let zero = base(canvas, area, scale);
    let told = told(chart, area, pen);
    for (at, (_, value)) in chart.points.iter().enumerate() {
        let centre = middle(area, at, count);
        let (left, right) = if slot < 5.0 {
            // As wide as leaves one pixel to the next.
            let edge = |at: usize| (area.left + at as f32 * slot).floor() as i32;
            (edge(at), (edge(at + 1) - 1).max(edge(at) + 1))
        } else {
            let left = (centre - width / 2.0).round() as i32;
            (left, left + width as i32)
        };
        let end = area.y(scale, *value).round() as i32;
        let (top, bottom) = if *value < 0.0 { (zero + 1, end.max(zero + 2)) } else { (end, zero) };
        if *value != 0.0 {
            canvas.rect(left, top.min(bottom - 1), right, bottom, BAR);
        }
        if told {
            let y = if *value < 0.0 { bottom as f32 + TICK_SIZE } else { top as f32 - 4.0 };
            let place = Place { x: centre, y, size: TICK_SIZE, turn: Turn::Level, anchor: 0.5 };
            canvas.text(pen, &axis::shown(*value), place, INK);
        }
    }
}

fn joined(canvas: &mut Canvas, chart: &Chart, area: Area, scale: &Axis, places: &[f32]) {
    base(canvas, area, scale);
    let spots: Vec<(f32, f32)> =
        places.iter().zip(&chart.points).map(|(x, point)| (*x, area.y(scale, point.1))).collect();
    for pair in spots.windows(2) {
        if let [from, to] = pair {
            canvas.line(*from, *to, 2.2, BAR);
        }
    }
    let radius = if spots.len() > 80 { 1.1 } else { 3.6 };
    for (x, y) in spots {
        canvas.disc(x, y, radius, BAR);
    }
}

/// Labels below the axis: level where they fit, else slanted, else upright; where there are too many for that, some of
/// them. What is too long ends with an ellipsis.
fn below(chart: &Chart, area: Area, pen: &mut Pen<'_>) -> Labels {
    let count = chart.points.len();
    let slot = area.width() / count.max(1) as f32;
    let widths: Vec<f32> = chart.points.iter().map(|point| pen.width(&point.0, TICK_SIZE)).collect();
    let widest = widths.iter().copied().fold(0.0, f32::max);
    let total = |pen: &mut Pen<'_>, every: usize, room: &dyn Fn(f32) -> f32| -> Vec<(f32, String)> {
        let places = chart.points.iter().enumerate().step_by(every);
        places
            .map(|(at, (label, _))| {
                let x = middle(area, at, count);
                (x, pen.fitted(label, TICK_SIZE, room(x)))
            })
            .collect()
    };
    let upright_every = (TICK_LINE / slot).ceil().max(1.0) as usize;
    let level_every = ((widest + 10.0) / slot).ceil().max(1.0) as usize;
    if widest <= slot - 6.0 || count == 1 {
        let room = if count == 1 { area.width() } else { slot };
        return Labels { turn: Turn::Level, depth: TICK_LINE, gap: 0.0, shown: total(pen, 1, &|_| room) };
    }
    if upright_every > 1 && widest <= 60.0 && count / level_every >= 6 {
        return Labels { turn: Turn::Level, depth: TICK_LINE, gap: 0.0, shown: total(pen, level_every, &|_| 60.0) };
    }
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let deepest = |shown: &[(f32, String)], pen: &mut Pen<'_>| {
        shown.iter().map(|label| pen.width(&label.1, TICK_SIZE)).fold(0.0, f32::max)
    };
    if slot >= TICK_LINE / half {
        let shown = total(pen, 1, &|x| ((x - EDGE / 2.0) / half).min(DEEPEST / half));
        let depth = deepest(&shown, pen) * half + TICK_SIZE;
        return Labels { turn: Turn::Slanted, depth, gap: 0.0, shown };
    }
    let shown = total(pen, upright_every, &|_| DEEPEST);
    let depth = deepest(&shown, pen) + 2.0;
    Labels { turn: Turn::Upright, depth, gap: 0.0, shown }
}

fn write_below(canvas: &mut Canvas, pen: &mut Pen<'_>, labels: &Labels, area: Area) {
    let top = area.bottom + labels.gap;
    for (x, text) in &labels.shown {
        let (x, y, anchor) = match labels.turn {
            Turn::Level => (*x, top + 6.0 + TICK_SIZE, 0.5),
            Turn::Slanted => (*x + TICK_SIZE * 0.4, top + 6.0 + TICK_SIZE * 0.7, 1.0),
            Turn::Upright => (*x + TICK_SIZE * 0.37, top + 7.0, 1.0),
        };
        let half = pen.width(text, TICK_SIZE) / 2.0;
        // A label in the middle of the last place may stick out; it is moved inside.
        let x = if labels.turn == Turn::Level {
            x.clamp(half + 2.0, (WIDTH as f32 - half - 2.0).max(half + 2.0))
        } else {
            x
        };
        canvas.text(pen, text, Place { x, y, size: TICK_SIZE, turn: labels.turn, anchor }, SOFT);
    }
}
