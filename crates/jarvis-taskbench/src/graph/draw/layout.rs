//! Where the tools of a graph stand: by the lengths of the ways between them (stress majorisation, as Kamada and Kawai
//! want it), then pushed apart until no two labels touch. A graph where nearly everything is linked stands in a circle.

use std::f64::consts::TAU;

/// Share of all pairs that are linked from which on a circle says more.
const COMPLETE: f64 = 0.9;
/// Steps of the majorisation, at most.
const STEPS: usize = 300;
/// Rounds of pushing apart, at most.
const ROUNDS: usize = 600;
/// Room between two labels.
const GAP: (f64, f64) = (26.0, 20.0);

/// A place.
pub(super) type Point = (f64, f64);

/// The layout of a graph.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Layout {
    /// The centres of the labels.
    Free(Vec<Point>),
    /// All on a circle of this radius around (0, 0), the first at the top, then clockwise.
    Circle(f64),
}

/// Lays a graph out. `sizes` are the sizes of the labels, `links` are pairs of places in it.
pub(super) fn layout(sizes: &[Point], links: &[(usize, usize)]) -> Layout {
    let n = sizes.len();
    let near = neighbours(n, links);
    let pairs: usize = near.iter().map(Vec::len).sum();
    if n >= 6 && pairs as f64 >= COMPLETE * (n * (n - 1)) as f64 {
        return Layout::Circle((n as f64 * 30.0 / TAU).max(90.0));
    }
    let mut places = vec![(0.0, 0.0); n];
    let (mut left, mut top, mut row) = (0.0, 0.0, 0.0_f64);
    let mut parts = parts(&near);
    // The largest part first; parts of one tool fill the last rows.
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    let mut wide = 900.0_f64;
    for part in &parts {
        let own: Vec<Point> = part.iter().filter_map(|at| sizes.get(*at).copied()).collect();
        let mut drawn = majorise(&distances(part, &near), &own);
        push_apart(&mut drawn, &own);
        let (min, max) = extent(&drawn, &own);
        let (width, height) = (max.0 - min.0, max.1 - min.1);
        wide = wide.max(width);
        if left > 0.0 && left + width > wide {
            (left, top, row) = (0.0, top + row + 2.0 * GAP.1, 0.0);
        }
        for (at, (x, y)) in part.iter().zip(drawn) {
            if let Some(place) = places.get_mut(*at) {
                *place = (x - min.0 + left, y - min.1 + top);
            }
        }
        left += width + GAP.0;
        row = row.max(height);
    }
    Layout::Free(places)
}

/// The place of number `at` of `n` on a circle, as an angle: 0 is to the right, and a quarter turn is down.
pub(super) fn angle(at: usize, n: usize) -> f64 {
    TAU * at as f64 / n.max(1) as f64 - TAU / 4.0
}

/// The corners of everything.
pub(super) fn extent(places: &[Point], sizes: &[Point]) -> (Point, Point) {
    let mut corners = ((f64::MAX, f64::MAX), (f64::MIN, f64::MIN));
    for ((x, y), (w, h)) in places.iter().zip(sizes) {
        corners.0 = (corners.0.0.min(x - w / 2.0), corners.0.1.min(y - h / 2.0));
        corners.1 = (corners.1.0.max(x + w / 2.0), corners.1.1.max(y + h / 2.0));
    }
    if places.is_empty() { ((0.0, 0.0), (0.0, 0.0)) } else { corners }
}

/// For each tool those that a link of either direction leads to, each once, without itself.
fn neighbours(n: usize, links: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut near = vec![Vec::new(); n];
    for &(a, b) in links {
        for (at, other) in [(a, b), (b, a)] {
            if let Some(near) = near.get_mut(at).filter(|_| at != other) {
                near.push(other);
            }
        }
    }
    for near in &mut near {
        near.sort_unstable();
        near.dedup();
    }
    near
}

/// The connected parts, each in order of its places.
fn parts(near: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; near.len()];
    let mut parts = Vec::new();
    for start in 0..near.len() {
        let (mut open, mut part) = (vec![start], Vec::new());
        while let Some(at) = open.pop() {
            if let Some(seen) = seen.get_mut(at).filter(|seen| !**seen) {
                *seen = true;
                part.push(at);
                open.extend(near.get(at).into_iter().flatten());
            }
        }
        if !part.is_empty() {
            part.sort_unstable();
            parts.push(part);
        }
    }
    parts
}

/// The number of links on the shortest way between every two tools of a part.
fn distances(part: &[usize], near: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let from = |start: usize| -> Vec<f64> {
        let mut far: Vec<Option<u32>> = vec![None; near.len()];
        let (mut level, mut steps) = (vec![start], 0);
        while !level.is_empty() {
            let mut next = Vec::new();
            for at in level {
                if let Some(far) = far.get_mut(at).filter(|far| far.is_none()) {
                    *far = Some(steps);
                    next.extend(near.get(at).into_iter().flatten());
                }
            }
            (level, steps) = (next, steps + 1);
        }
        part.iter().map(|at| f64::from(far.get(*at).copied().flatten().unwrap_or(1))).collect()
    };
    part.iter().map(|start| from(*start)).collect()
}

/// Places whose distances are as near to the wanted ones as can be, starting from a circle.
fn majorise(wanted: &[Vec<f64>], sizes: &[Point]) -> Vec<Point> {
    let n = wanted.len();
    let room: f64 = sizes.iter().map(|(w, h)| (w + GAP.0) * (h + GAP.1)).sum();
    let mean = wanted.iter().flatten().sum::<f64>() / ((n * n).max(2) - n).max(1) as f64;
    // A disc with room for all labels has this radius; its mean distance is about nine tenths of it.
    let unit = (1.5 * (room / 3.0).sqrt() / mean.max(1.0)).max(60.0);
    let start = |at| (angle(at, n).cos() * unit, angle(at, n).sin() * unit);
    let mut places: Vec<Point> = (0..n).map(start).collect();
    for _ in 0..STEPS {
        let next: Vec<Point> = places
            .iter()
            .zip(wanted)
            .map(|(&(x, y), row)| {
                let (mut sum, mut weight) = ((0.0, 0.0), 0.0);
                for (&(other_x, other_y), &links) in places.iter().zip(row) {
                    if links == 0.0 {
                        continue;
                    }
                    let (dx, dy) = (x - other_x, y - other_y);
                    let far = dx.hypot(dy).max(1e-6);
                    let share = links * unit / far;
                    let heavy = 1.0 / (links * links);
                    sum.0 += heavy * (other_x + dx * share);
                    sum.1 += heavy * (other_y + dy * share);
                    weight += heavy;
                }
                if weight > 0.0 { (sum.0 / weight, sum.1 / weight) } else { (x, y) }
            })
            .collect();
        let moved = places.iter().zip(&next).map(|(a, b)| (a.0 - b.0).hypot(a.1 - b.1)).fold(0.0, f64::max);
        places = next;
        if moved < unit / 500.0 {
            break;
        }
    }
    // Labels are wide, so the picture may be.
    places.iter().map(|(x, y)| (x * 1.35, y * 0.85)).collect()
}

/// Moves labels that touch away from each other, the shorter way.
fn push_apart(places: &mut [Point], sizes: &[Point]) {
    for _ in 0..ROUNDS {
        let mut moves = vec![(0.0, 0.0); places.len()];
        let mut touching = false;
        for (at, (&(x, y), &(w, h))) in places.iter().zip(sizes).enumerate() {
            for (other, (&(x2, y2), &(w2, h2))) in places.iter().zip(sizes).enumerate().skip(at + 1) {
                let over = ((w + w2) / 2.0 + GAP.0 - (x - x2).abs(), (h + h2) / 2.0 + GAP.1 - (y - y2).abs());
                if over.0 <= 0.01 || over.1 <= 0.01 {
                    continue;
                }
                touching = true;
                // Where two stand on one spot, the first goes up.
                let step = if over.0 < over.1 {
                    (over.0 / 2.0 * if x < x2 { -1.0 } else { 1.0 }, 0.0)
                } else {
                    (0.0, over.1 / 2.0 * if y <= y2 { -1.0 } else { 1.0 })
                };
                for (at, sign) in [(at, 1.0), (other, -1.0)] {
                    if let Some(total) = moves.get_mut(at) {
                        *total = (total.0 + sign * step.0, total.1 + sign * step.1);
                    }
                }
            }
        }
        if !touching {
            return;
        }
        for (place, step) in places.iter_mut().zip(moves) {
            *place = (place.0 + step.0 * 0.6, place.1 + step.1 * 0.6);
        }
    }
}

#[cfg(test)]
mod tests;
