//! Who gets the next slot. No clock and no I/O: what waits is whatever the caller puts in.
//!
//! Each caller has a line of its own, and the lines take turns. So whoever comes with one run waits for one run of each of the others,
//! however many these have waiting.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// Whose runs share a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Line {
    /// Those of a user.
    User(String),
    /// Those that come from an address.
    Address(IpAddr),
    /// Those that come from this machine, or from nobody who calls now. Behind a proxy on this machine these are everybody's, so they
    /// are bounded by the whole alone.
    Here,
}

impl Line {
    /// That of a user, or of whoever has no name and calls from there.
    pub(crate) fn of(user: &str, peer: Option<IpAddr>) -> Line {
        match peer.map(|peer| peer.to_canonical()) {
            _ if !user.is_empty() => Line::User(user.to_owned()),
            Some(peer) if !peer.is_loopback() => Line::Address(network(peer)),
            _ => Line::Here,
        }
    }

    fn is_bounded(&self) -> bool {
        *self != Line::Here
    }
}

/// The address that stands for a caller: of IPv6 the network, since whoever has one address there has 2^64.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into())
        }
        address => address,
    }
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Runs that have a slot.
    pub(crate) running: usize,
    /// Of these, the most of one line.
    pub(crate) running_each: usize,
    /// Runs that wait.
    pub(crate) waiting: usize,
    /// Of these, the most of one line.
    pub(crate) waiting_each: usize,
}

/// Why a run may not even wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// Too many wait.
    Whole,
    /// Too many of this line wait.
    Line,
}

/// What came of asking for a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Slot,
    Waits {
        /// By which it leaves.
        id: u64,
        /// How many get a slot before it, if nobody comes or leaves.
        ahead: usize,
    },
}

/// Slots, those who have one, and those who wait. `W` is what is told that there is one.
#[derive(Debug)]
pub(crate) struct Queue<W> {
    bounds: Bounds,
    running: usize,
    waiting: usize,
    lines: HashMap<Line, Members<W>>,
    /// The lines in which somebody waits, in the order of their turns.
    turns: VecDeque<Line>,
    /// Counts those who waited.
    ids: u64,
}

#[derive(Debug)]
struct Members<W> {
    running: usize,
    waiting: VecDeque<(u64, W)>,
}

impl<W> Default for Members<W> {
    fn default() -> Members<W> {
        Members { running: 0, waiting: VecDeque::new() }
    }
}

impl<W> Queue<W> {
    pub(crate) fn new(bounds: Bounds) -> Queue<W> {
        let bounds = Bounds { running: bounds.running.max(1), running_each: bounds.running_each.max(1), ..bounds };
        Queue { bounds, running: 0, waiting: 0, lines: HashMap::new(), turns: VecDeque::new(), ids: 0 }
    }

    /// Takes a slot, or a place in a line. Who had a slot before (`again`) may always wait.
    pub(crate) fn enter(&mut self, line: &Line, again: bool, waiter: impl FnOnce() -> W) -> Result<Entry, Full> {
        let bounds = self.bounds;
        let members = self.lines.entry(line.clone()).or_default();
        // Whoever waits while a slot is free waits for one of their own line.
        if self.running < bounds.running && members.waiting.is_empty() && may_run(line, members, bounds) {
            members.running += 1;
            self.running += 1;
            return Ok(Entry::Slot);
        }
        let refused = match again {
            true => None,
            false if self.waiting >= bounds.waiting => Some(Full::Whole),
            false => (line.is_bounded() && members.waiting.len() >= bounds.waiting_each).then_some(Full::Line),
        };
        if let Some(full) = refused {
            self.forget_if_empty(line);
            return Err(full);
        }
        self.ids += 1;
        if members.waiting.is_empty() {
            self.turns.push_back(line.clone());
        }
        members.waiting.push_back((self.ids, waiter()));
        self.waiting += 1;
        Ok(Entry::Waits { id: self.ids, ahead: self.ahead(line) })
    }

    /// How many get a slot before the last one of a line.
    fn ahead(&self, line: &Line) -> usize {
        let length = |line: &Line| self.lines.get(line).map_or(0, |members| members.waiting.len());
        let own = length(line).saturating_sub(1);
        let mut is_before = true;
        let mut others = 0;
        for other in &self.turns {
            if other == line {
                is_before = false;
            } else {
                others += length(other).min(own + usize::from(is_before));
            }
        }
        own + others
    }

    /// Gives a slot of a line back; whoever gets it has it.
    pub(crate) fn free(&mut self, line: &Line) -> Option<(Line, W)> {
        if let Some(members) = self.lines.get_mut(line) {
            members.running = members.running.saturating_sub(1);
            self.running = self.running.saturating_sub(1);
        }
        let next = self.next();
        self.forget_if_empty(line);
        next
    }

    /// Gives a free slot to the first whose turn it is and whose line may have one more.
    fn next(&mut self) -> Option<(Line, W)> {
        if self.running >= self.bounds.running {
            return None;
        }
        let may = |line: &Line| self.lines.get(line).is_some_and(|members| may_run(line, members, self.bounds));
        let at = self.turns.iter().position(may)?;
        let line = self.turns.remove(at)?;
        let members = self.lines.get_mut(&line)?;
        let (_, waiter) = members.waiting.pop_front()?;
        members.running += 1;
        self.running += 1;
        self.waiting -= 1;
        if !members.waiting.is_empty() {
            self.turns.push_back(line.clone());
        }
        Some((line, waiter))
    }

    /// Takes one who waits out of the line; nothing when a slot was given meanwhile.
    pub(crate) fn leave(&mut self, line: &Line, id: u64) {
        let Some(members) = self.lines.get_mut(line) else { return };
        let Ok(at) = members.waiting.binary_search_by_key(&id, |(id, _)| *id) else { return };
        members.waiting.remove(at);
        self.waiting -= 1;
        if members.waiting.is_empty() {
            self.turns.retain(|other| other != line);
            self.forget_if_empty(line);
        }
    }

    fn forget_if_empty(&mut self, line: &Line) {
        if self.lines.get(line).is_some_and(|members| members.running == 0 && members.waiting.is_empty()) {
            self.lines.remove(line);
        }
    }
}

fn may_run<W>(line: &Line, members: &Members<W>, bounds: Bounds) -> bool {
    !line.is_bounded() || members.running < bounds.running_each
}

#[cfg(test)]
mod tests;
