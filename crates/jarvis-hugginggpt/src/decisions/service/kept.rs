//! Replies of a service, kept for a while: one call for many askers, and the last good reply when a new one fails.

use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;

use super::{Fetched, ServiceError};

const CAPACITY: u64 = 1_000;

/// How much longer a failure holds when there is an earlier reply to serve: a service that hangs must not delay every
/// request for the sake of news.
const LONGER_WHEN_STALE: u32 = 15;

enum Reply<T> {
    Fresh(Arc<T>),
    /// A failure, and the last good reply.
    Stale(Arc<T>, ServiceError),
    Failed(ServiceError),
}

// Not derived, since the value need not be cloned.
impl<T> Clone for Reply<T> {
    fn clone(&self) -> Reply<T> {
        match self {
            Reply::Fresh(value) => Reply::Fresh(Arc::clone(value)),
            Reply::Stale(value, error) => Reply::Stale(Arc::clone(value), error.clone()),
            Reply::Failed(error) => Reply::Failed(error.clone()),
        }
    }
}

pub(super) struct Kept<K, T> {
    /// What asking led to last, for as long as that holds.
    replies: Cache<K, Reply<T>>,
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
        Some(match reply {
            Reply::Fresh(_) => self.good,
            Reply::Stale(..) => self.failure * LONGER_WHEN_STALE,
            Reply::Failed(_) => self.failure,
        })
    }
}

impl<K, T> Kept<K, T>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    T: Send + Sync + 'static,
{
    pub(super) fn new(good: Duration, failure: Duration) -> Kept<K, T> {
        Kept {
            replies: Cache::builder().max_capacity(CAPACITY).expire_after(Holds { good, failure }).build(),
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
            match fetch.await {
                Ok(value) => {
                    let value = Arc::new(value);
                    self.good.insert(key.clone(), Arc::clone(&value)).await;
                    Reply::Fresh(value)
                }
                Err(error) => match self.good.get(&key).await {
                    Some(value) => {
                        tracing::warn!(%error, "using an earlier reply of the model catalogue service");
                        Reply::Stale(value, error)
                    }
                    None => Reply::Failed(error),
                },
            }
        };
        match self.replies.get_with(key.clone(), fetch).await {
            Reply::Fresh(value) => Ok(Fetched { value, stale: None }),
            Reply::Stale(value, error) => Ok(Fetched { value, stale: Some(error) }),
            Reply::Failed(error) => Err(error),
        }
    }

    pub(super) fn clear(&self) {
        self.replies.invalidate_all();
        self.good.invalidate_all();
    }
}
