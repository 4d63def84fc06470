//! The connections that are open: how many there may be, of one address and in all, and which goes when there is no room.
//!
//! A connection that carries no request is idle, whether it never sent one or is kept for the next. When there is no room, the one
//! that has been idle for longest makes room: whoever holds many open and asks nothing keeps nobody out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::runs::network;

/// The connections of one listener. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Connections(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    of_one_address: Option<usize>,
    state: Mutex<State>,
    /// Tells whoever waits that one is gone, or has become idle.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<u64, Open>,
    by_address: HashMap<IpAddr, usize>,
    /// Those of which it was told that they have too many.
    told: HashSet<IpAddr>,
    /// The idle ones, that which has been for longest first.
    idle: BTreeSet<(u64, u64)>,
    /// Counts connections and changes.
    serial: u64,
}

#[derive(Debug)]
struct Open {
    address: IpAddr,
    /// Since which change it is idle; `None` while it carries requests.
    idle: Option<u64>,
    requests: usize,
    cut: CancellationToken,
}

/// One connection. When it is dropped, its place is free.
#[derive(Debug)]
pub(crate) struct Held {
    connections: Connections,
    id: u64,
    /// Cancelled when it must make room.
    pub(crate) cut: CancellationToken,
}

/// A request of a connection, which is not idle until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy {
    connections: Connections,
    id: u64,
}

/// Why there is no place for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Full {
    /// Its address has as many as one may have.
    Address,
    /// All of them carry requests.
    Whole,
}

impl Connections {
    /// At most `most` connections, and of one address so many. Unless that is said, an address of another machine may have a quarter,
    /// and those of this machine all, since a proxy on it speaks for everybody.
    pub(crate) fn new(most: usize, of_one_address: Option<usize>) -> Connections {
        let (state, changed) = (Mutex::default(), Notify::new());
        Connections(Arc::new(Shared { most: most.max(1), of_one_address, state, changed }))
    }

    /// A place for a connection, waited for while all carry requests; `None` when its address has too many.
    pub(crate) async fn admit(&self, address: IpAddr) -> Option<Held> {
        loop {
            let changed = self.0.changed.notified();
            match self.try_admit(address) {
                Ok(held) => return Some(held),
                Err(Full::Address) => return None,
                Err(Full::Whole) => changed.await,
            }
        }
    }

    /// Whether it is to be told that an address has too many: once until one of its connections ends.
    pub(crate) fn is_to_be_told(&self, address: IpAddr) -> bool {
        self.lock().told.insert(network(address))
    }

    fn try_admit(&self, address: IpAddr) -> Result<Held, Full> {
        let address = network(address);
        let most_of_one = match self.0.of_one_address {
            Some(most) => most,
            None if address.is_loopback() => usize::MAX,
            None => self.0.most.div_ceil(4),
        };
        let mut state = self.lock();
        if state.by_address.get(&address).is_some_and(|open| *open >= most_of_one) {
            return Err(Full::Address);
        }
        if state.open.len() >= self.0.most {
            let (_, id) = state.idle.first().copied().ok_or(Full::Whole)?;
            if let Some(open) = state.remove(id) {
                open.cut.cancel();
            }
        }
        state.serial += 1;
        let (id, cut) = (state.serial, CancellationToken::new());
        state.open.insert(id, Open { address, idle: Some(id), requests: 0, cut: cut.clone() });
        state.idle.insert((id, id));
        *state.by_address.entry(address).or_default() += 1;
        Ok(Held { connections: self.clone(), id, cut })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, id: u64) -> Option<Open> {
        let open = self.open.remove(&id)?;
        if let Some(since) = open.idle {
            self.idle.remove(&(since, id));
        }
        self.told.remove(&open.address);
        if let Some(count) = self.by_address.get_mut(&open.address) {
            *count -= 1;
            if *count == 0 {
                self.by_address.remove(&open.address);
            }
        }
        Some(open)
    }
}

impl Held {
    /// Says that the connection carries a request.
    pub(crate) fn busy(&self) -> Busy {
        let mut state = self.connections.lock();
        if let Some(open) = state.open.get_mut(&self.id) {
            open.requests += 1;
            if let Some(since) = open.idle.take() {
                state.idle.remove(&(since, self.id));
            }
        }
        drop(state);
        Busy { connections: self.connections.clone(), id: self.id }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.connections.lock();
        state.serial += 1;
        let serial = state.serial;
        if let Some(open) = state.open.get_mut(&self.id) {
            open.requests -= 1;
            if open.requests == 0 {
                open.idle = Some(serial);
                state.idle.insert((serial, self.id));
                drop(state);
                self.connections.0.changed.notify_one();
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.connections.lock().remove(self.id);
        self.connections.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[tokio::test]
    async fn the_one_that_is_idle_for_longest_makes_room_and_none_that_works() {
        let connections = Connections::new(3, None);
        let here = address("127.0.0.1");
        let [first, second, third] = [0, 1, 2].map(|_| connections.try_admit(here).expect("there is room"));
        let asks = first.busy();
        let fourth = connections.try_admit(here).expect("an idle one goes");
        assert_eq!([&first, &second, &third].map(|held| held.cut.is_cancelled()), [false, true, false]);
        drop(second);
        // What was answered is idle from then on.
        drop(asks);
        let fifth = connections.try_admit(here).expect("an idle one goes");
        assert!(third.cut.is_cancelled() && !first.cut.is_cancelled());
        let all = [first.busy(), fourth.busy(), fifth.busy(), fifth.busy()];
        assert_eq!(connections.try_admit(here).err(), Some(Full::Whole));
        let waits = connections.admit(here);
        tokio::pin!(waits);
        assert!(futures::poll!(&mut waits).is_pending());
        drop(all);
        assert!(waits.await.is_some());
    }

    #[test]
    fn one_address_has_a_share() {
        for (most, each, from, room) in [
            (8, None, "192.0.2.1", 2),
            (8, None, "::ffff:192.0.2.1", 2),
            (8, None, "127.0.0.1", 8),
            (8, None, "::1", 8),
            (8, Some(3), "127.0.0.1", 3),
            (8, Some(3), "2001:db8::1", 3),
        ] {
            let connections = Connections::new(most, each);
            let held: Vec<Held> =
                (0..room).map(|_| connections.try_admit(address(from)).expect("there is room")).collect();
            let next = connections.try_admit(address(from));
            // Of this machine, the oldest goes.
            assert_eq!(next.err(), (room < most).then_some(Full::Address), "{from}");
            assert!(connections.try_admit(address("198.51.100.1")).is_ok(), "{from}");
            drop(held);
            assert!(connections.lock().by_address.is_empty(), "{from}");
        }
        // One that has a network has as many addresses as it wants.
        let connections = Connections::new(4, Some(1));
        let _held = connections.try_admit(address("2001:db8::1")).expect("there is room");
        assert_eq!(connections.try_admit(address("2001:db8::2")).err(), Some(Full::Address));
        assert!(connections.try_admit(address("2001:db8:0:1::2")).is_ok());
    }
}
