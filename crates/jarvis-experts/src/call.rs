//! One use of a model: until when, whether somebody still waits, and who hears of what is written meanwhile.

use std::fmt;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::ExpertError;

/// Hears each new piece of text as it is written.
type Listener = Box<dyn Fn(&str) + Send + Sync>;

/// Given to each use of a model. Work looks at it between layers, tokens and windows.
#[derive(Default)]
pub struct Call {
    pub cancel: CancellationToken,
    pub deadline: Option<Instant>,
    pub on_text: Option<Listener>,
}

impl Call {
    /// Whether to go on.
    ///
    /// # Errors
    /// [`ExpertError::Cancelled`] or [`ExpertError::Timeout`].
    pub fn check(&self) -> Result<(), ExpertError> {
        if self.cancel.is_cancelled() {
            return Err(ExpertError::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(ExpertError::Timeout),
            Some(_) | None => Ok(()),
        }
    }

    /// Waits until the call is over, and says why it is.
    pub async fn is_over(&self) -> ExpertError {
        let late = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.cancel.cancelled() => ExpertError::Cancelled,
            () = late => ExpertError::Timeout,
        }
    }

    /// Tells the listener, if there is one, of new text.
    pub fn tell(&self, text: &str) {
        if let Some(listener) = &self.on_text {
            listener(text);
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}
