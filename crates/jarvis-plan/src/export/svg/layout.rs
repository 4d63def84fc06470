//! Where the nodes and edges of a graph go. One column for each level; an edge that skips levels runs through them in a
//! lane of its own, so that it crosses no node; the order within a column is chosen to cross few edges, the heights to
//! keep them straight.

use std::collections::HashMap;

/// Space between columns, for the curves.
const COLUMN_GAP: f64 = 64.0;
/// Space between nodes of a column.
const ROW_GAP: f64 = 22.0;
/// Height of a lane.
const LANE: f64 = 4.0;
/// A graph whose edges pass more columns than this, counted over all edges, has no lanes: its edges run straight across
/// nodes, and the drawing stays small.
const MAX_PIECES: usize = 10_000;
/// Passes over the columns, there and back, for the order and for the heights.
const PASSES: usize = 8;

/// A box of the drawing, in pixels; `x`, `y` is its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A piece of an edge, level at both ends; a straight line joins it to the next piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Curve {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
}

/// A finished layout; all coordinates are 0 or more.
pub(super) struct Layout {
    pub(super) boxes: Vec<Rect>,
    /// The curves of each edge from its start to its end; none for an edge from a node to itself.
    pub(super) edges: Vec<Vec<Curve>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A node, or a lane, in its column.
struct Cell {
    height: f64,
    /// Its centre, from the top.
    y: f64,
    before: Vec<usize>,
    after: Vec<usize>,
}

/// Lays out nodes of these widths and heights, and edges between their places in the list.
pub(super) fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Layout {
    let mut grid = Grid::new(sizes, edges);
    grid.order();
    grid.heights();
    let (left, width) = grid.columns_x(sizes);
    let top = grid.cells.iter().map(|cell| cell.y - cell.height / 2.0).fold(f64::INFINITY, f64::min);
    grid.cells.iter_mut().for_each(|cell| cell.y -= top);
    let height = grid.cells.iter().map(|cell| cell.y + cell.height / 2.0).fold(0.0, f64::max);

    let boxes: Vec<Rect> = sizes
        .iter()
        .enumerate()
        .map(|(nth, size)| {
            let (x, width) = grid.span(nth, &left);
            Rect { x, y: grid.y(nth) - size.1 / 2.0, width, height: size.1 }
        })
        .collect();
    let edges = grid.edges.iter().map(|edge| grid.curves(edge, &left)).collect();
    Layout { boxes, edges, width, height }
}

struct Grid {
    cells: Vec<Cell>,
    /// The column of each cell.
    level: Vec<usize>,
    /// The cells of each column, from the top.
    columns: Vec<Vec<usize>>,
    edges: Vec<Edge>,
}

/// An edge with the cells it passes from left to right, both ends included.
#[derive(Default)]
struct Edge {
    path: Vec<usize>,
    /// True for an edge that closes a cycle and is drawn from right to left.
    is_backward: bool,
}

impl Grid {
    fn new(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Grid {
        let level = levels(sizes.len(), edges);
        let cells =
            sizes.iter().map(|size| Cell { height: size.1, y: 0.0, before: Vec::new(), after: Vec::new() }).collect();
        let depth = level.iter().max().map_or(0, |deepest| deepest + 1);
        let mut grid = Grid { cells, level, columns: vec![Vec::new(); depth], edges: Vec::new() };
        for (cell, level) in grid.level.iter().enumerate() {
            if let Some(column) = grid.columns.get_mut(*level) {
                column.push(cell);
            }
        }
        let is_inside = |(from, to): &(usize, usize)| from != to && *from.max(to) < sizes.len();
        let pieces = edges.iter().filter(|edge| is_inside(edge));
        let pieces: usize = pieces.map(|(from, to)| grid.level_of(*from).abs_diff(grid.level_of(*to))).sum();
        let mut lanes: HashMap<(usize, usize), usize> = HashMap::new();
        for edge in edges {
            let laid = if is_inside(edge) {
                let is_backward = grid.level_of(edge.0) > grid.level_of(edge.1);
                let (left, right) = if is_backward { (edge.1, edge.0) } else { *edge };
                Edge { path: grid.path(left, right, pieces <= MAX_PIECES, &mut lanes), is_backward }
            } else {
                Edge::default()
            };
            grid.edges.push(laid);
        }
        grid
    }

    /// The cells that an edge passes. Edges that begin at the same node share its lane.
    fn path(
        &mut self,
        from: usize,
        to: usize,
        has_lanes: bool,
        lanes: &mut HashMap<(usize, usize), usize>,
    ) -> Vec<usize> {
        let (first, last) = (self.level_of(from), self.level_of(to));
        let mut path = vec![from];
        for level in (first + 1..last).filter(|_| has_lanes) {
            let lane = *lanes.entry((from, level)).or_insert_with(|| {
                let lane = self.cells.len();
                self.cells.push(Cell { height: LANE, y: 0.0, before: Vec::new(), after: Vec::new() });
                self.level.push(level);
                if let Some(column) = self.columns.get_mut(level) {
                    column.push(lane);
                }
                lane
            });
            path.push(lane);
        }
        path.push(to);
        for (a, b) in path.iter().zip(path.iter().skip(1)) {
            self.link(*a, *b);
        }
        path
    }

    fn link(&mut self, a: usize, b: usize) {
        if let Some(cell) = self.cells.get_mut(a)
            && !cell.after.contains(&b)
        {
            cell.after.push(b);
            if let Some(cell) = self.cells.get_mut(b) {
                cell.before.push(a);
            }
        }
    }

    fn level_of(&self, cell: usize) -> usize {
        *self.level.get(cell).expect("each cell has a level")
    }

    fn y(&self, cell: usize) -> f64 {
        self.cells.get(cell).map_or(0.0, |cell| cell.y)
    }

    /// Sorts each column by the mean place of what its cells hang on, there and back, and keeps the best order seen.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.columns.clone());
        for pass in 0..PASSES {
            if best.0 == 0 {
                break;
            }
            let forwards = pass % 2 == 0;
            let mut place = self.places();
            let mut turn: Vec<usize> = (0..self.columns.len()).collect();
            if !forwards {
                turn.reverse();
            }
            for level in turn {
                let Some(column) = self.columns.get_mut(level) else { continue };
                let mean = |cell: &usize| {
                    let near = self.cells.get(*cell).map(|cell| if forwards { &cell.before } else { &cell.after });
                    mean(near.into_iter().flatten().filter_map(|other| place.get(*other).copied()))
                        .or_else(|| place.get(*cell).copied())
                        .unwrap_or_default()
                };
                let mut keyed: Vec<(f64, usize)> = column.iter().map(|cell| (mean(cell), *cell)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                *column = keyed.into_iter().map(|(_, cell)| cell).collect();
                for (at, cell) in column.iter().enumerate() {
                    if let Some(place) = place.get_mut(*cell) {
                        *place = at as f64;
                    }
                }
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.columns.clone());
            }
        }
        self.columns = best.1;
    }

    /// The place of each cell in its column.
    fn places(&self) -> Vec<f64> {
        let mut place = vec![0.0; self.cells.len()];
        for (at, cell) in self.columns.iter().flat_map(|column| column.iter().enumerate()) {
            if let Some(place) = place.get_mut(*cell) {
                *place = at as f64;
            }
        }
        place
    }

    /// How many pairs of links cross between neighbouring columns.
    fn crossings(&self) -> usize {
        let place = self.places();
        let at = |cell: &usize| place.get(*cell).map_or(0, |place| *place as usize);
        let mut count = 0;
        for column in &self.columns {
            // Sorted by where they start, two links cross when their ends stand the other way round.
            let mut ends = Ends::new(self.cells.len());
            for cell in column {
                let after = self.cells.get(*cell).map(|cell| &cell.after).expect("columns hold cells of the grid");
                count += after.iter().map(|cell| ends.beyond(at(cell))).sum::<usize>();
                after.iter().for_each(|cell| ends.add(at(cell)));
            }
        }
        count
    }

    /// Moves each cell as near to the mean height of its neighbours as the order and the gaps allow.
    fn heights(&mut self) {
        for level in 0..self.columns.len() {
            self.place(level, |_, _| None);
        }
        for pass in 0..PASSES {
            let mut turn: Vec<usize> = (0..self.columns.len()).collect();
            if pass % 2 == 1 {
                turn.reverse();
            }
            for level in turn {
                self.place(level, |grid, cell| {
                    let cell = grid.cells.get(cell)?;
                    // What is before counts double: an edge is read from its start.
                    let near = cell.before.iter().chain(&cell.before).chain(&cell.after);
                    mean(near.map(|other| grid.y(*other)))
                });
            }
        }
    }

    /// Places one column: the least squares fit to the preferred heights that keeps the order and the gaps, by pooling
    /// neighbours whose preferences are in the wrong order.
    fn place(&mut self, level: usize, prefer: impl Fn(&Grid, usize) -> Option<f64>) {
        let column = self.columns.get(level).cloned().expect("the levels are places in the columns");
        let mut offset = 0.0;
        let mut last: Option<f64> = None;
        // A block: the sum of its preferred heights less their offsets, and how many cells it has.
        let mut blocks: Vec<(f64, usize)> = Vec::new();
        let mut offsets = Vec::with_capacity(column.len());
        for cell in &column {
            let height = self.cells.get(*cell).map_or(0.0, |cell| cell.height);
            if let Some(last) = last {
                offset += f64::midpoint(last, height) + ROW_GAP;
            }
            last = Some(height);
            offsets.push(offset);
            let mut block = (prefer(self, *cell).unwrap_or_else(|| self.y(*cell)) - offset, 1);
            while let Some(above) = blocks.pop_if(|above| above.0 / above.1 as f64 >= block.0 / block.1 as f64) {
                block = (block.0 + above.0, block.1 + above.1);
            }
            blocks.push(block);
        }
        let heights = blocks.iter().flat_map(|(sum, n)| std::iter::repeat_n(sum / *n as f64, *n));
        for ((cell, offset), base) in column.iter().zip(offsets).zip(heights) {
            if let Some(cell) = self.cells.get_mut(*cell) {
                cell.y = base + offset;
            }
        }
    }

    /// The left edge and the width of each column, and the width of all.
    fn columns_x(&self, sizes: &[(f64, f64)]) -> (Vec<(f64, f64)>, f64) {
        let mut x = 0.0;
        let mut spans = Vec::with_capacity(self.columns.len());
        for (level, column) in self.columns.iter().enumerate() {
            let width = column.iter().filter_map(|cell| sizes.get(*cell)).map(|size| size.0).fold(0.0, f64::max);
            // The more edges change their height in a gap, the more space their curves need.
            let crowd =
                column.iter().filter_map(|cell| self.cells.get(*cell)).map(|cell| cell.after.len()).sum::<usize>();
            spans.push((x, width));
            x += width;
            if level + 1 < self.columns.len() {
                x += COLUMN_GAP + (crowd as f64 * 3.0).min(60.0);
            }
        }
        (spans, x)
    }

    /// The left edge and the width of a cell: all cells of a column are as wide as the widest.
    fn span(&self, cell: usize, columns: &[(f64, f64)]) -> (f64, f64) {
        *columns.get(self.level_of(cell)).expect("each level is a column")
    }

    fn curves(&self, edge: &Edge, columns: &[(f64, f64)]) -> Vec<Curve> {
        let pieces = edge.path.iter().zip(edge.path.iter().skip(1)).map(|(a, b)| {
            let (left, width) = self.span(*a, columns);
            Curve { from: (left + width, self.y(*a)), to: (self.span(*b, columns).0, self.y(*b)) }
        });
        if edge.is_backward {
            return pieces.rev().map(|Curve { from, to }| Curve { from: to, to: from }).collect();
        }
        pieces.collect()
    }
}

/// The column of each node: one more than the last column among the nodes that lead to it. Where every node left is in or
/// behind a cycle, the one with the fewest open edges into it comes next; edges back to it go from right to left.
fn levels(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut open = vec![0_usize; count];
    // The nodes beside each node, and whether the edge leads to them.
    let mut beside: Vec<Vec<(usize, bool)>> = vec![Vec::new(); count];
    for &(from, to) in edges.iter().filter(|(from, to)| from != to && *from.max(to) < count) {
        for (node, other, leads) in [(from, to, true), (to, from, false)] {
            if let (Some(beside), Some(open)) = (beside.get_mut(node), open.get_mut(node)) {
                beside.push((other, leads));
                *open += usize::from(!leads);
            }
        }
    }
    let mut levels: Vec<Option<usize>> = vec![None; count];
    let level_of = |levels: &[Option<usize>], node: usize| levels.get(node).copied().flatten();
    let next = |levels: &[Option<usize>], open: &[usize]| {
        let waiting = levels.iter().zip(open).enumerate().filter(|(_, (level, _))| level.is_none());
        waiting.min_by_key(|(_, (_, open))| **open).map(|(node, _)| node)
    };
    while let Some(node) = next(&levels, &open) {
        let beside = beside.get(node).expect("a waiting node is one of the graph");
        let before = beside.iter().filter_map(|(other, _)| level_of(&levels, *other)).max();
        if let Some(level) = levels.get_mut(node) {
            *level = Some(before.map_or(0, |level| level + 1));
        }
        for (other, _) in beside.iter().filter(|(_, leads)| *leads) {
            if let Some(open) = open.get_mut(*other) {
                *open = open.saturating_sub(1);
            }
        }
    }
    levels.into_iter().map(|level| level.expect("the loop above gives every node a level")).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// How many ends lie beyond a place: a Fenwick tree, so that a gap of many edges stays cheap.
struct Ends {
    tree: Vec<usize>,
    total: usize,
}

impl Ends {
    fn new(places: usize) -> Ends {
        Ends { tree: vec![0; places + 1], total: 0 }
    }

    fn add(&mut self, place: usize) {
        self.total += 1;
        let mut at = place + 1;
        while let Some(sum) = self.tree.get_mut(at) {
            *sum += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn beyond(&self, place: usize) -> usize {
        let mut at = place + 1;
        let mut upto = 0;
        while at > 0 {
            upto += self.tree.get(at).copied().unwrap_or_default();
            at &= at - 1;
        }
        self.total - upto
    }
}
