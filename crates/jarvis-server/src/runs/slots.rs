//! Slots for runs: so many at once, so many waiting, and not one more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A bounded number of slots, and a bounded queue before them. Slots are given in the order of asking.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    free: Arc<Semaphore>,
    /// Tickets given out: runs with a slot, and runs that wait.
    taken: Arc<AtomicUsize>,
    running: usize,
    most: usize,
}

/// The right to wait for a slot, or to have one.
#[derive(Debug)]
pub(crate) struct Ticket {
    free: Arc<Semaphore>,
    running: usize,
    held: Held,
}

/// A slot; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _slot: OwnedSemaphorePermit,
    _held: Held,
}

#[derive(Debug)]
struct Held(Arc<AtomicUsize>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Slots {
    pub(crate) fn new(running: usize, waiting: usize) -> Slots {
        let running = running.max(1);
        Slots {
            free: Arc::new(Semaphore::new(running.min(Semaphore::MAX_PERMITS))),
            taken: Arc::default(),
            running,
            most: running.saturating_add(waiting),
        }
    }

    /// A ticket, unless the queue is full.
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        let most = self.most;
        self.taken
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| (taken < most).then_some(taken + 1))
            .ok()
            .map(|_| self.taken_ticket())
    }

    /// A ticket for a run that had one before, whether or not the queue is full.
    pub(crate) fn another_ticket(&self) -> Ticket {
        self.taken.fetch_add(1, Ordering::AcqRel);
        self.taken_ticket()
    }

    fn taken_ticket(&self) -> Ticket {
        Ticket { free: Arc::clone(&self.free), running: self.running, held: Held(Arc::clone(&self.taken)) }
    }
}

/// The slot of a run, which it gives back while it waits for a person.
#[derive(Debug)]
pub(crate) struct Lease {
    slots: Slots,
    slot: Mutex<Option<Slot>>,
}

impl Lease {
    pub(crate) fn new(slots: Slots) -> Lease {
        Lease { slots, slot: Mutex::default() }
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
        if let Some(slot) = self.slots.another_ticket().wait().await {
            self.hold(slot);
        }
    }
}

impl Ticket {
    pub(crate) fn try_now(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// How many wait before this one, as of now.
    pub(crate) fn ahead(&self) -> u64 {
        self.held.0.load(Ordering::Acquire).saturating_sub(self.running + 1) as u64
    }

    pub(crate) fn with(self, slot: OwnedSemaphorePermit) -> Slot {
        Slot { _slot: slot, _held: self.held }
    }

    /// Waits for a slot; `None` never comes, since slots are not closed.
    pub(crate) async fn wait(self) -> Option<Slot> {
        let slot = Arc::clone(&self.free).acquire_owned().await.ok()?;
        Some(self.with(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[tokio::test]
    async fn slots_are_bounded_and_come_back() {
        let slots = Slots::new(1, 1);
        let first = slots.ticket().unwrap();
        let slot = first.try_now().unwrap();
        let running = first.with(slot);
        let second = slots.ticket().unwrap();
        assert!(second.try_now().is_none());
        assert_eq!(second.ahead(), 0);
        assert!(slots.ticket().is_none(), "the queue is full");
        drop(running);
        let running = second.wait().await.unwrap();
        let third = slots.ticket().unwrap();
        drop(third);
        drop(running);
        assert!(slots.ticket().unwrap().try_now().is_some());
    }
}
