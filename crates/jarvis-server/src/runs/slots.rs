//! Slots for runs: so many at once, so many waiting, and not one more. Who is next is said by `queue.rs`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::queue::{Bounds, Entry, Full, Line, Queue};

/// A bounded number of slots, and bounded lines before them. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Slots(Arc<Mutex<Queue<oneshot::Sender<Slot>>>>);

/// A slot; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Slots,
    line: Line,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.free(&self.line);
    }
}

/// A slot, or a place in a line.
#[derive(Debug)]
pub(crate) enum Ticket {
    Slot(Slot),
    Waits(Place),
}

/// A place in a line; it is left when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    slots: Slots,
    line: Line,
    id: u64,
    ahead: usize,
    given: oneshot::Receiver<Slot>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.slots.lock().leave(&self.line, self.id);
    }
}

impl Slots {
    pub(crate) fn new(bounds: Bounds) -> Slots {
        Slots(Arc::new(Mutex::new(Queue::new(bounds))))
    }

    /// A ticket, unless too many wait.
    pub(crate) fn ticket(&self, line: &Line) -> Result<Ticket, Full> {
        self.enter(line, false)
    }

    /// A ticket for a run that had one before, however many wait.
    pub(crate) fn another_ticket(&self, line: &Line) -> Ticket {
        self.enter(line, true).expect("who had a slot may wait")
    }

    fn enter(&self, line: &Line, again: bool) -> Result<Ticket, Full> {
        let (sender, given) = oneshot::channel();
        let entered = self.lock().enter(line, again, || sender)?;
        let (slots, line) = (self.clone(), line.clone());
        Ok(match entered {
            Entry::Slot => Ticket::Slot(Slot { slots, line }),
            Entry::Waits { id, ahead } => Ticket::Waits(Place { slots, line, id, ahead, given }),
        })
    }

    fn free(&self, line: &Line) {
        let next = self.lock().free(line);
        if let Some((line, waiter)) = next {
            // Whoever left this moment drops it, and the next one has it.
            let _ = waiter.send(Slot { slots: self.clone(), line });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue<oneshot::Sender<Slot>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of a run, which it gives back while it waits for a person.
#[derive(Debug)]
pub(crate) struct Lease {
    slots: Slots,
    line: Line,
    slot: Mutex<Option<Slot>>,
}

impl Lease {
    pub(crate) fn new(slots: Slots, line: Line) -> Lease {
        Lease { slots, line, slot: Mutex::default() }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Slot>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn hold(&self, slot: Slot) {
        *self.slot() = Some(slot);
    }

    pub(crate) fn give_back(&self) {
        *self.slot() = None;
    }

    /// Waits for a slot; who had one before does not queue up for the right to wait.
    pub(crate) async fn take_again(&self) {
        if let Some(slot) = self.slots.another_ticket(&self.line).wait().await {
            self.hold(slot);
        }
    }
}

impl Ticket {
    /// How many wait before this one, as it came; `None` for a slot.
    pub(crate) fn ahead(&self) -> Option<u64> {
        match self {
            Ticket::Slot(_) => None,
            Ticket::Waits(place) => Some(place.ahead as u64),
        }
    }

    /// Waits for a slot; `None` never comes, since whoever waits in a line gets one.
    pub(crate) async fn wait(self) -> Option<Slot> {
        match self {
            Ticket::Slot(slot) => Some(slot),
            Ticket::Waits(mut place) => (&mut place.given).await.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Full, Line, Slots};

    #[tokio::test]
    async fn slots_are_bounded_and_come_back() {
        let slots = Slots::new(Bounds { running: 1, running_each: 1, waiting: 1, waiting_each: 1 });
        let running = slots.ticket(&Line::Here).unwrap();
        assert_eq!(running.ahead(), None);
        let second = slots.ticket(&Line::Here).unwrap();
        assert_eq!(second.ahead(), Some(0));
        assert_eq!(slots.ticket(&Line::Here).unwrap_err(), Full::Whole);
        // Who had a slot may wait all the same, and leave.
        drop(slots.another_ticket(&Line::Here));
        drop(running);
        let running = second.wait().await.unwrap();
        let third = slots.ticket(&Line::Here).unwrap();
        drop(third);
        drop(running);
        assert_eq!(slots.ticket(&Line::Here).unwrap().ahead(), None);
    }

    #[tokio::test]
    async fn a_slot_that_comes_to_one_who_left_goes_on_to_the_next() {
        let slots = Slots::new(Bounds { running: 1, running_each: 1, waiting: 9, waiting_each: 9 });
        let running = slots.ticket(&Line::Here).unwrap();
        let [left, stays] = [0, 1].map(|_| slots.ticket(&Line::Here).unwrap());
        drop(running);
        // It has the slot by now, and never looked.
        drop(left);
        assert!(stays.wait().await.is_some());
    }
}
