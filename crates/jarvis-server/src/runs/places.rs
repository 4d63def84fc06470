//! Places for runs: so many at once, so many waiting, and not one more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A bounded number of places, and a bounded queue before them. Places are given in the order of asking.
#[derive(Debug)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    /// Tickets given out: runs with a place, and runs that wait.
    taken: Arc<AtomicUsize>,
    running: usize,
    most: usize,
}

/// The right to wait for a place, or to have one.
#[derive(Debug)]
pub(crate) struct Ticket {
    free: Arc<Semaphore>,
    running: usize,
    held: Held,
}

/// A place; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    _place: OwnedSemaphorePermit,
    _held: Held,
}

#[derive(Debug)]
struct Held(Arc<AtomicUsize>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Places {
    pub(crate) fn new(running: usize, waiting: usize) -> Places {
        let running = running.max(1);
        Places {
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
            .map(|_| Ticket {
                free: Arc::clone(&self.free),
                running: self.running,
                held: Held(Arc::clone(&self.taken)),
            })
    }
}

impl Ticket {
    /// True when there is a place at once.
    pub(crate) fn try_now(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// How many wait before this one, as of now.
    pub(crate) fn ahead(&self) -> u64 {
        self.held.0.load(Ordering::Acquire).saturating_sub(self.running + 1) as u64
    }

    pub(crate) fn with(self, place: OwnedSemaphorePermit) -> Place {
        Place { _place: place, _held: self.held }
    }

    /// Waits for a place; `None` never comes, since places are not closed.
    pub(crate) async fn wait(self) -> Option<Place> {
        let place = Arc::clone(&self.free).acquire_owned().await.ok()?;
        Some(self.with(place))
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[tokio::test]
    async fn places_are_bounded_and_come_back() {
        let places = Places::new(1, 1);
        let first = places.ticket().unwrap();
        let place = first.try_now().unwrap();
        let running = first.with(place);
        let second = places.ticket().unwrap();
        assert!(second.try_now().is_none());
        assert_eq!(second.ahead(), 0);
        assert!(places.ticket().is_none(), "the queue is full");
        drop(running);
        let running = second.wait().await.unwrap();
        let third = places.ticket().unwrap();
        drop(third);
        drop(running);
        assert!(places.ticket().unwrap().try_now().is_some());
    }
}
