//! The life of one run, from its place in the queue to its end.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures::FutureExt;
use jarvis_engine::Events;
use jarvis_plan::EventKind;

use super::slots::Ticket;
use super::{Ended, Lease, Live, Lost, Work};
use crate::desk::Seat;
use crate::metrics::Metrics;

/// The life of a run: it waits for its slot, works, and says how it ended if nothing else did.
pub(super) async fn live_on<T>(
    live: &Live,
    ticket: Ticket,
    lease: &Lease,
    seat: Option<Seat>,
    events: Events,
    work: Work<T>,
    metrics: &Metrics,
) -> Ended<T> {
    let came = Instant::now();
    // A run that is not cancelled while it waits gets a slot in the end.
    if let Some(ahead) = ticket.ahead() {
        events.emit(EventKind::Queued { ahead });
    }
    let slot = match ticket {
        Ticket::Slot(slot) => Some(slot),
        waits @ Ticket::Waits(_) => tokio::select! {
            biased;
            () = live.cancel.cancelled() => None,
            slot = waits.wait() => slot,
        },
    };
    live.leaves_queue();
    let began = Instant::now();
    let result = match slot {
        None => Err(Lost::Cancelled),
        Some(slot) => {
            metrics.waited(came.elapsed());
            lease.hold(slot);
            let _seat = seat;
            let worked = AssertUnwindSafe(work(events.clone(), live.cancel.clone())).catch_unwind();
            tokio::select! {
                biased;
                () = live.suspend.cancelled() => Err(Lost::Suspended),
                ended = worked => ended.map_err(|_| Lost::Broken),
            }
        }
    };
    match &result {
        // Nothing is said, so that the journal has it as going on.
        Ok(_) | Err(Lost::Suspended) => {}
        Err(lost) => {
            let ms = began.elapsed().as_millis() as u64;
            events.emit(EventKind::Error { code: lost.code().into(), message: lost.message().into(), hint: None, ms });
        }
    }
    lease.give_back();
    Ended { result, usage: events.usage(), ms: began.elapsed().as_millis() as u64 }
}
