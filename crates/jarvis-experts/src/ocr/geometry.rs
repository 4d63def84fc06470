//! Rectangles of any angle around lines of writing.

/// A point: x to the right, y down.
pub(super) type Point = (f32, f32);

/// A line of writing: the corners of its box from the top left one, clockwise as it is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub(super) corners: [Point; 4],
}

/// A rectangle of any angle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rectangle {
    pub(super) centre: Point,
    /// The direction of the first side, of length 1.
    pub(super) along: Point,
    /// The lengths of the first side and of the second.
    pub(super) size: (f32, f32),
}

impl Line {
    /// The line that fills a picture.
    pub(super) fn whole(width: f32, height: f32) -> Line {
        Line { corners: [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)] }
    }

    #[cfg(test)]
    pub(super) fn moved(self, x: f32, y: f32) -> Line {
        Line { corners: self.corners.map(|corner| (corner.0 + x, corner.1 + y)) }
    }

    pub(super) fn top(&self) -> f32 {
        self.corners[0].1
    }

    pub(super) fn left(&self) -> f32 {
        self.corners[0].0
    }

    /// Left, top, right and bottom of the upright box around it.
    pub(super) fn bounds(&self) -> (f32, f32, f32, f32) {
        let fold = |pick: fn(Point) -> f32, join: fn(f32, f32) -> f32| {
            self.corners.iter().map(|corner| pick(*corner)).reduce(join).unwrap_or(0.0)
        };
        (fold(|p| p.0, f32::min), fold(|p| p.1, f32::min), fold(|p| p.0, f32::max), fold(|p| p.1, f32::max))
    }

    /// Width and height in whole pixels, as the longer of the opposite sides.
    pub(super) fn size(&self) -> (usize, usize) {
        let [a, b, c, d] = self.corners;
        let length = |from: Point, to: Point| (from.0 - to.0).hypot(from.1 - to.1);
        (length(a, b).max(length(c, d)) as usize, length(a, d).max(length(b, c)) as usize)
    }
}

impl Rectangle {
    /// The smallest rectangle around these points: one of its sides lies on a side of their hull.
    pub(super) fn around(points: &mut [Point]) -> Option<Rectangle> {
        let hull = hull(points);
        let first = *hull.first()?;
        let mut best: Option<(f32, Rectangle)> = None;
        for (from, to) in hull.iter().zip(hull.iter().cycle().skip(1)) {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            let along = if length > 0.0 { ((to.0 - from.0) / length, (to.1 - from.1) / length) } else { (1.0, 0.0) };
            let range = |axis: Point| {
                let places = hull.iter().map(|point| (point.0 - first.0) * axis.0 + (point.1 - first.1) * axis.1);
                places.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
            };
            let across = (-along.1, along.0);
            let ((low, high), (near, far)) = (range(along), range(across));
            let area = (high - low) * (far - near);
            if best.as_ref().is_none_or(|(least, _)| area < *least) {
                let (u, v) = ((low + high) / 2.0, (near + far) / 2.0);
                let centre = (first.0 + along.0 * u + across.0 * v, first.1 + along.1 * u + across.1 * v);
                best = Some((area, Rectangle { centre, along, size: (high - low, far - near) }));
            }
        }
        best.map(|(_, rectangle)| rectangle)
    }

    pub(super) fn shorter_side(&self) -> f32 {
        self.size.0.min(self.size.1)
    }

    /// The rectangle moved outwards by `area × ratio / perimeter` at each side. Its corners lose their fractions before, as in
    /// the reference, which offsets polygons of whole numbers.
    pub(super) fn grown(self, ratio: f32) -> Rectangle {
        let (width, height) = self.size;
        let distance = width * height * ratio / (2.0 * (width + height)).max(f32::EPSILON);
        let whole = Rectangle::around(&mut self.line().corners.map(|corner| (corner.0.trunc(), corner.1.trunc())));
        let whole = whole.unwrap_or(self);
        Rectangle { size: (whole.size.0 + 2.0 * distance, whole.size.1 + 2.0 * distance), ..whole }
    }

    /// Whether a point lies in it or on its edge.
    pub(super) fn contains(&self, point: Point) -> bool {
        let (x, y) = (point.0 - self.centre.0, point.1 - self.centre.1);
        let (u, v) = (x * self.along.0 + y * self.along.1, y * self.along.0 - x * self.along.1);
        u.abs() <= self.size.0 / 2.0 + 1e-3 && v.abs() <= self.size.1 / 2.0 + 1e-3
    }

    /// Its corners as a line is read: of the two on the left the upper one first, then clockwise.
    pub(super) fn line(&self) -> Line {
        let (x, y) = (self.along.0 * self.size.0 / 2.0, self.along.1 * self.size.0 / 2.0);
        let (u, v) = (-self.along.1 * self.size.1 / 2.0, self.along.0 * self.size.1 / 2.0);
        let mut corners = [(-x - u, -y - v), (x - u, y - v), (x + u, y + v), (-x + u, -y + v)]
            .map(|at| (self.centre.0 + at.0, self.centre.1 + at.1));
        corners.sort_by(|a, b| a.0.total_cmp(&b.0));
        let [a, b, c, d] = corners;
        let upper_first = |a: Point, b: Point| if b.1 > a.1 { (a, b) } else { (b, a) };
        let ((top_left, bottom_left), (top_right, bottom_right)) = (upper_first(a, b), upper_first(c, d));
        Line { corners: [top_left, top_right, bottom_right, bottom_left] }
    }
}

/// The convex hull, by Andrew's monotone chain.
fn hull(points: &mut [Point]) -> Vec<Point> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let turn = |o: Point, a: Point, b: Point| (a.0 - o.0) * (b.1 - o.1) - (a.1 - o.1) * (b.0 - o.0);
    let half = |points: &mut dyn Iterator<Item = &Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for point in points {
            while let [.., before, last] = chain.as_slice()
                && turn(*before, *last, *point) <= 0.0
            {
                chain.pop();
            }
            chain.push(*point);
        }
        chain.pop();
        chain
    };
    let mut hull = half(&mut points.iter());
    hull.extend(half(&mut points.iter().rev()));
    if hull.is_empty() {
        hull.extend(points.first());
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_fit_their_points() {
        let check = |points: &[Point], size: (f32, f32), corners: [Point; 4]| {
            let rectangle = Rectangle::around(&mut points.to_vec()).unwrap();
            let (long, short) = (rectangle.size.0.max(rectangle.size.1), rectangle.shorter_side());
            assert!((long - size.0).abs() < 1e-3 && (short - size.1).abs() < 1e-3, "{rectangle:?}");
            for (found, wanted) in rectangle.line().corners.iter().zip(corners) {
                assert!((found.0 - wanted.0).hypot(found.1 - wanted.1) < 1e-3, "{:?}", rectangle.line());
            }
            assert!(points.iter().all(|point| rectangle.contains(*point)));
        };
        check(&[(2.0, 3.0)], (0.0, 0.0), [(2.0, 3.0); 4]);
        check(&[(0.0, 0.0), (4.0, 0.0), (2.0, 0.0)], (4.0, 0.0), [(0.0, 0.0), (4.0, 0.0), (4.0, 0.0), (0.0, 0.0)]);
        let upright = [(0.0, 0.0), (8.0, 0.0), (8.0, 3.0), (0.0, 3.0)];
        check(&[(0.0, 0.0), (8.0, 3.0), (4.0, 1.0), (0.0, 3.0), (8.0, 0.0)], (8.0, 3.0), upright);
        // A square on its corner, stretched.
        let slanted = [(0.0, 4.0), (4.0, 0.0), (6.0, 2.0), (2.0, 6.0)];
        check(&slanted, (32.0_f32.sqrt(), 8.0_f32.sqrt()), slanted);
    }

    #[test]
    fn grown_by_area_over_perimeter() {
        let rectangle = Rectangle { centre: (5.25, 5.0), along: (1.0, 0.0), size: (10.0, 2.0) };
        // 10 × 2 × 1.6 / 24 = 4/3 at each side.
        let grown = rectangle.grown(1.6).size;
        assert!((grown.0 - 12.666_667).abs() < 1e-4 && (grown.1 - 4.666_667).abs() < 1e-4, "{grown:?}");
    }
}
