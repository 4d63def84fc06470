//! Wrong tokens, by the address that they came from: who sends many is slowed, and others are not.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::log::SECURITY;
use crate::runs::network;

/// Wrong tokens that an address may send at once.
const AT_ONCE: u32 = 10;
/// After how long it may send one more.
const EACH: Duration = Duration::from_secs(1);
/// The most addresses that are remembered; beyond, those go that sent the fewest.
const MOST: usize = 4096;

/// When each address may send as many as one that never sent any.
#[derive(Debug, Default)]
pub(crate) struct WrongTokens(Mutex<HashMap<IpAddr, Instant>>);

impl WrongTokens {
    /// For how many seconds no token of an address is looked at; `None` where it is. Those of this machine are always looked at, since
    /// behind a proxy on it they are everybody's.
    pub(crate) fn blocked(&self, address: IpAddr, now: Instant) -> Option<u64> {
        let address = network(address);
        if address.is_loopback() { None } else { self.wait(address, now) }
    }

    /// Counts a wrong token. After how many seconds the next may be sent, when there were too many.
    pub(crate) fn count(&self, address: IpAddr, now: Instant) -> Option<u64> {
        let address = network(address);
        if let Some(wait) = self.wait(address, now) {
            return Some(wait);
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&address) {
            known.retain(|_, until| *until > now);
            let fewest = known.iter().min_by_key(|(_, until)| **until).map(|(address, _)| *address);
            if let Some(fewest) = fewest.filter(|_| known.len() >= MOST) {
                known.remove(&fewest);
            }
        }
        let until = known.entry(address).or_insert(now);
        *until = (*until).max(now) + EACH;
        if *until > now + EACH * (AT_ONCE - 1) {
            tracing::warn!(target: SECURITY, %address, "many wrong tokens; it is slowed");
        }
        None
    }

    fn wait(&self, address: IpAddr, now: Instant) -> Option<u64> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // As many as may be at once are those of the last seconds.
        let over = (*known.get(&address)? + EACH).checked_duration_since(now + EACH * AT_ONCE)?;
        (!over.is_zero()).then(|| over.as_secs_f64().ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_sends_many_is_slowed_and_no_other() {
        let (wrong, now) = (WrongTokens::default(), Instant::now());
        let at = |text: &str| text.parse::<IpAddr>().expect("an address");
        let (theirs, other, here) = (at("192.0.2.1"), at("192.0.2.2"), at("127.0.0.1"));
        for address in [theirs, here] {
            let told: Vec<Option<u64>> = (0..12).map(|_| wrong.count(address, now)).collect();
            assert_eq!(told.iter().filter(|told| told.is_none()).count(), 10, "{told:?}");
            assert_eq!(told[10..], [Some(1), Some(1)], "what is not looked at does not count");
        }
        assert_eq!(
            (wrong.blocked(theirs, now), wrong.blocked(other, now), wrong.blocked(here, now)),
            (Some(1), None, None)
        );
        // One a second is free.
        let later = now + Duration::from_secs(1);
        assert_eq!(wrong.blocked(theirs, later), None);
        assert_eq!((wrong.count(theirs, later), wrong.count(theirs, later)), (None, Some(1)));
        assert_eq!((wrong.blocked(theirs, now + Duration::from_secs(60)), wrong.count(other, now)), (None, None));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_worst_stay() {
        let (wrong, now) = (WrongTokens::default(), Instant::now());
        let worst: IpAddr = [192, 0, 2, 1].into();
        while wrong.count(worst, now).is_none() {}
        for at in 0..10_000_u32 {
            wrong.count(IpAddr::V4((0x0a00_0000 + at).into()), now);
        }
        assert_eq!(wrong.0.lock().expect("no panic").len(), MOST);
        assert!(wrong.blocked(worst, now).is_some());
    }
}
