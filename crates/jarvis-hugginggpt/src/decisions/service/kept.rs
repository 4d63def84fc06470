//! Replies of a service, kept for a while: one call for many askers, and the last good reply when a new one fails.

use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;

use super::{Fetched, ServiceError};

/// The most replies of one kind that are kept.
const CAPACITY: u64 = 1_000;

type Reply<T> = Result<Arc<T>, ServiceError>;

/// Replies by question.
pub(super) struct Kept<K, T> {
    /// What the service said last, good or bad, for as long as that holds.
    fresh: Cache<K, Reply<T>>,
    /// The last good reply, for when there is no better.
    good: Cache<K, Arc<T>>,
}

impl<K, T> fmt::Debug for Kept<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

struct Holds {
    good: Duration,
    failure: Duration,
}

impl<K, T> Expiry<K, Reply<T>> for Holds {
    fn expire_after_create(&self, _key: &K, reply: &Reply<T>, _at: Instant) -> Option<Duration> {
        Some(if reply.is_ok() { self.good } else { self.failure })
    }
}

impl<K, T> Kept<K, T>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    T: Send + Sync + 'static,
{
    pub(super) fn new(good: Duration, failure: Duration) -> Kept<K, T> {
        Kept {
            fresh: Cache::builder().max_capacity(CAPACITY).expire_after(Holds { good, failure }).build(),
            good: Cache::new(CAPACITY),
        }
    }

    /// The reply to a question: kept, or fetched now. Askers of the same question wait for one fetch.
    pub(super) async fn get(
        &self,
        key: K,
        fetch: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<Fetched<T>, ServiceError> {
        let fetch = async {
            let value = Arc::new(fetch.await?);
            self.good.insert(key.clone(), Arc::clone(&value)).await;
            Ok(value)
        };
        match self.fresh.get_with(key.clone(), fetch).await {
            Ok(value) => Ok(Fetched { value, stale: None }),
            Err(error) => match self.good.get(&key).await {
                Some(value) => {
                    tracing::warn!(%error, "using an earlier reply of the model catalogue service");
                    Ok(Fetched { value, stale: Some(error) })
                }
                None => Err(error),
            },
        }
    }

    pub(super) fn clear(&self) {
        self.fresh.invalidate_all();
        self.good.invalidate_all();
    }
}
