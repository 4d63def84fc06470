//! Turns are fair, bounds hold, and places are what they are said to be, whoever comes and goes.

use std::collections::{HashMap, VecDeque};

use proptest::prelude::*;

use super::{Bounds, Entry, Full, Line, Queue, network};

fn user(name: u8) -> Line {
    Line::User(name.to_string())
}

/// Somebody comes, a run of somebody ends, or one who waits leaves.
#[derive(Debug, Clone)]
enum Step {
    Comes(u8),
    Ends(u8),
    Leaves(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..5_u8).prop_map(Step::Comes),
        3 => (0..5_u8).prop_map(Step::Ends),
        1 => (0..60_u8).prop_map(Step::Leaves),
    ];
    prop::collection::vec(step, 0..200)
}

/// What the queue should be like, written down plainly.
#[derive(Default)]
struct Model {
    running: HashMap<Line, usize>,
    waiting: Vec<(u64, Line)>,
}

impl Model {
    fn has(&self, line: &Line) -> usize {
        self.running.get(line).copied().unwrap_or(0)
    }

    fn in_all(&self) -> usize {
        self.running.values().sum()
    }

    fn waits(&self, line: &Line) -> usize {
        self.waiting.iter().filter(|(_, other)| other == line).count()
    }

    fn got(&mut self, queue: &mut Queue<()>, line: Line) {
        // The oldest of its line.
        let at = self.waiting.iter().position(|(_, other)| *other == line).expect("somebody of it waits");
        self.waiting.remove(at);
        *self.running.entry(line).or_default() += 1;
        assert!(queue.running <= queue.bounds.running);
    }
}

proptest! {
    #[test]
    fn bounds_hold_and_no_slot_is_idle_that_somebody_may_have(
        steps in steps(), running in 1..6_usize, each in 1..6_usize, waiting in 0..20_usize, waiting_each in 1..8_usize,
    ) {
        let bounds = Bounds { running, running_each: each, waiting, waiting_each };
        let mut queue = Queue::new(bounds);
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Comes(name) => {
                    let line = user(name);
                    let may = model.in_all() < running && model.has(&line) < each && model.waits(&line) == 0;
                    match queue.enter(&line, false, || ()) {
                        Ok(Entry::Slot) => {
                            prop_assert!(may);
                            *model.running.entry(line).or_default() += 1;
                        }
                        Ok(Entry::Waits { id, .. }) => {
                            prop_assert!(!may && model.waiting.len() < waiting && model.waits(&line) < waiting_each);
                            model.waiting.push((id, line));
                        }
                        Err(Full::Whole) => prop_assert!(!may && model.waiting.len() >= waiting),
                        Err(Full::Line) => prop_assert!(!may && model.waits(&line) >= waiting_each),
                    }
                }
                Step::Ends(name) if model.has(&user(name)) > 0 => {
                    *model.running.entry(user(name)).or_default() -= 1;
                    if let Some((line, ())) = queue.free(&user(name)) {
                        model.got(&mut queue, line);
                    }
                }
                Step::Leaves(at) if usize::from(at) < model.waiting.len() => {
                    let (id, line) = model.waiting.remove(usize::from(at));
                    queue.leave(&line, id);
                }
                Step::Ends(_) | Step::Leaves(_) => {}
            }
            prop_assert_eq!((queue.running, queue.waiting), (model.in_all(), model.waiting.len()));
            let idle = |line: &Line| model.in_all() < running && model.has(line) < each;
            prop_assert!(!model.waiting.iter().any(|(_, line)| idle(line)), "somebody waits for nothing");
        }
        // Nothing is remembered of whoever is gone.
        let known = |line: &Line| model.has(line) > 0 || model.waits(line) > 0;
        prop_assert!(queue.lines.keys().all(known) && queue.turns.len() <= queue.lines.len());
    }

    #[test]
    fn a_place_is_how_many_get_a_slot_before(came in prop::collection::vec(0..6_u8, 1..60), freed in 1..40_usize) {
        let bounds = Bounds { running: 1, running_each: 1, waiting: 100, waiting_each: 100 };
        let mut queue = Queue::new(bounds);
        let mut has = user(9);
        queue.enter(&has, false, || usize::MAX).expect("there is a slot");
        let mut next = |queue: &mut Queue<usize>| {
            let (line, who) = queue.free(&has)?;
            has = line;
            Some(who)
        };
        let mut order = VecDeque::new();
        for (who, name) in came.iter().enumerate() {
            // Some have had their turn by then.
            if who == freed && let Some(first) = next(&mut queue) {
                order.push_back(first);
            }
            let Ok(Entry::Waits { ahead, .. }) = queue.enter(&user(*name), false, || who) else { panic!("it waits") };
            let mut rest = Queue { lines: HashMap::new(), turns: queue.turns.clone(), ..Queue::new(bounds) };
            for (line, members) in &queue.lines {
                let waiting = members.waiting.clone();
                rest.lines.insert(line.clone(), super::Members { running: members.running, waiting });
            }
            (rest.running, rest.waiting) = (queue.running, queue.waiting);
            let mut at = has_of(&rest);
            let before = std::iter::from_fn(|| {
                let (line, got) = rest.free(&at)?;
                at = line;
                Some(got)
            });
            prop_assert_eq!(before.take_while(|got| *got != who).count(), ahead);
        }
    }

    #[test]
    fn whoever_comes_waits_for_one_run_of_each_other_however_many_these_have(
        others in prop::collection::vec(1..130_usize, 1..6), running in 1..8_usize,
    ) {
        let bounds = Bounds { running, running_each: running, waiting: 2000, waiting_each: 2000 };
        let mut queue = Queue::new(bounds);
        let mut slots = VecDeque::new();
        for (name, runs) in others.iter().enumerate() {
            for _ in 0..*runs {
                if queue.enter(&user(name as u8), false, || false) == Ok(Entry::Slot) {
                    slots.push_back(user(name as u8));
                }
            }
        }
        let entry = queue.enter(&user(99), false, || true).expect("there is room");
        let Entry::Waits { ahead, .. } = entry else { return Ok(()) };
        prop_assert!(ahead <= others.len());
        for _ in 0..ahead {
            let ends = slots.pop_front().expect("somebody has a slot");
            let (line, is_mine) = queue.free(&ends).expect("somebody waits");
            prop_assert!(!is_mine);
            slots.push_back(line);
        }
        let ends = slots.pop_front().expect("somebody has a slot");
        prop_assert_eq!(queue.free(&ends).map(|(line, _)| line), Some(user(99)));
    }
}

/// Whoever has the only slot.
fn has_of<W>(queue: &Queue<W>) -> Line {
    queue.lines.iter().find(|(_, members)| members.running > 0).map(|(line, _)| line.clone()).expect("one has it")
}

#[test]
fn one_caller_leaves_slots_to_others() {
    let bounds = Bounds { running: 4, running_each: 3, waiting: 9, waiting_each: 2 };
    let mut queue = Queue::new(bounds);
    let came: Vec<_> = (0..6).map(|_| queue.enter(&user(0), false, || ())).collect();
    let waits = |id, ahead| Ok(Entry::Waits { id, ahead });
    assert_eq!(came, [Ok(Entry::Slot), Ok(Entry::Slot), Ok(Entry::Slot), waits(1, 0), waits(2, 1), Err(Full::Line)]);
    assert_eq!(queue.enter(&user(1), false, || ()), Ok(Entry::Slot));
    // This machine is not one caller.
    let mut queue = Queue::new(bounds);
    assert!((0..4).all(|_| queue.enter(&Line::Here, false, || ()) == Ok(Entry::Slot)));
    assert!((0..9).all(|_| queue.enter(&Line::Here, false, || ()).is_ok()));
    assert_eq!(queue.enter(&Line::Here, false, || ()), Err(Full::Whole));
}

#[test]
fn a_line_is_a_user_or_else_an_address() {
    let at = |text: &str| Some(text.parse().expect("an address"));
    for (name, peer, want) in [
        ("ada", at("192.0.2.7"), Line::User("ada".into())),
        ("", at("192.0.2.7"), Line::Address("192.0.2.7".parse().expect("an address"))),
        ("", at("::ffff:192.0.2.7"), Line::Address("192.0.2.7".parse().expect("an address"))),
        ("", at("2001:db8:1:2:3:4:5:6"), Line::Address("2001:db8:1:2::".parse().expect("an address"))),
        ("", at("127.0.0.1"), Line::Here),
        ("", at("::1"), Line::Here),
        ("", None, Line::Here),
    ] {
        assert_eq!(Line::of(name, peer), want, "{name} {peer:?}");
    }
    assert_eq!(network("::ffff:127.0.0.1".parse().expect("an address")).to_string(), "127.0.0.1");
}
