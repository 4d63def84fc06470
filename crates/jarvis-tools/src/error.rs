//! Why a call of a tool failed: one table for all tools, whatever they are.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A failed call.
#[derive(Debug, Clone)]
pub struct ToolError {
    /// The kind of the failure.
    pub kind: ToolErrorKind,
    /// What happened, for a model to read; never contains a key.
    pub message: String,
    /// The error behind it, where there is one. The message already says what it says.
    pub(crate) cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// A failure of a kind, in words.
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> ToolError {
        ToolError { kind, message: message.into(), cause: None }
    }

    /// A failure that is another error: its words are the message, and it stays within reach of [`ToolError::cause`].
    pub fn from_error(kind: ToolErrorKind, error: impl Error + Send + Sync + 'static) -> ToolError {
        ToolError { kind, message: error.to_string(), cause: Some(Arc::new(error)) }
    }

    /// The error behind this one, if it is of that type.
    pub fn cause<E: Error + 'static>(&self) -> Option<&E> {
        self.cause.as_ref()?.downcast_ref()
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ToolError {
    /// What caused the cause: the message has the words of the cause itself.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref()?.source()
    }
}

/// Equal when kind and message are.
impl PartialEq for ToolError {
    fn eq(&self, other: &ToolError) -> bool {
        (self.kind, &self.message) == (other.kind, &other.message)
    }
}

impl Eq for ToolError {}

/// The kinds of failed calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolErrorKind {
    /// There is no such tool, or it is not offered any more.
    UnknownTool,
    /// The arguments are not what the tool takes.
    InvalidInput,
    /// No answer came in time, or the call was cancelled.
    Timeout,
    /// The tool was reached and does not work.
    Unavailable,
    /// The key is missing or refused, or the tool is not approved.
    Unauthorized,
    /// The account has no subscription for the tool.
    Unsubscribed,
    /// A quota is used up, for now or for the month.
    TooManyRequests,
    /// Too many calls within a minute.
    RateLimited,
    /// The tool answered, with an error of its own.
    Failed,
    /// The answer did not come through, or cannot be read.
    Transport,
}

struct Row {
    /// A stable word for machines; `jarvis tools call --json` prints it.
    word: &'static str,
    /// Whether the same call may succeed a little later.
    retryable: bool,
    /// Whether a call with other arguments may succeed.
    blames_input: bool,
    /// What a model reads where the tool says nothing itself.
    sentence: &'static str,
}

impl ToolErrorKind {
    fn row(self) -> Row {
        let row = |word, retryable, blames_input, sentence| Row { word, retryable, blames_input, sentence };
        match self {
            ToolErrorKind::UnknownTool => row("NoSuchApi", false, false, "there is no such tool"),
            ToolErrorKind::InvalidInput => row("BadInput", false, true, "the service refuses the arguments"),
            ToolErrorKind::Timeout => row("Timeout", true, false, "the service gave no answer in time"),
            ToolErrorKind::Unavailable => row("NotWorking", false, false, "the service does not work"),
            ToolErrorKind::Unauthorized => row("Unauthorized", false, false, "the service does not let us in"),
            ToolErrorKind::Unsubscribed => row("Unsubscribed", false, false, "the service needs a subscription"),
            ToolErrorKind::TooManyRequests => {
                row("TooManyRequests", true, false, "the service takes no more calls now")
            }
            ToolErrorKind::RateLimited => row("RateLimit", true, false, "the service takes fewer calls a minute"),
            ToolErrorKind::Failed => row("Message", false, true, "the service answers with an error"),
            ToolErrorKind::Transport => row("Transport", true, false, "the answer of the service did not come through"),
        }
    }

    /// A stable word for machines.
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// Whether the same call may succeed a little later.
    pub fn is_retryable(self) -> bool {
        self.row().retryable
    }

    /// Whether a call with other arguments may succeed.
    pub fn blames_input(self) -> bool {
        self.row().blames_input
    }

    /// What a model reads where the tool says nothing itself.
    pub fn sentence(self) -> &'static str {
        self.row().sentence
    }
}

impl fmt::Display for ToolErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the file is damaged")]
    struct Damaged(#[source] std::io::Error);

    #[test]
    fn causes_are_kept_and_said_once() {
        let error = ToolError::from_error(ToolErrorKind::Unavailable, Damaged(std::io::Error::other("no room")));
        assert_eq!(error.to_string(), "the file is damaged");
        assert!(error.cause::<Damaged>().is_some() && error.cause::<std::io::Error>().is_none());
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("no room"));
        assert_eq!(error, ToolError::new(ToolErrorKind::Unavailable, "the file is damaged"));
    }
}
