//! Runs that have no end of their own, and how their callers are told.

use axum::http::StatusCode;
use jarvis_plan::INTERRUPTED;

use crate::error::ApiError;

/// Why a run has no end of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It was cancelled while it waited for its slot.
    Cancelled,
    /// The server stopped under it.
    Interrupted,
    Broken,
    /// The server stops; it goes on with the next one.
    Suspended,
}

impl Lost {
    pub(super) fn code(self) -> &'static str {
        match self {
            Lost::Cancelled => "cancelled",
            Lost::Interrupted => INTERRUPTED,
            Lost::Broken => "internal",
            Lost::Suspended => "stopping",
        }
    }

    pub(crate) fn message(self) -> &'static str {
        match self {
            Lost::Cancelled => "the run was cancelled",
            Lost::Interrupted => "the server stopped before the run ended",
            Lost::Broken => "a part of jarvis failed; its log says where",
            Lost::Suspended => "the server stops; the run goes on when it is back",
        }
    }
}

impl From<Lost> for ApiError {
    fn from(lost: Lost) -> ApiError {
        let status = match lost {
            Lost::Cancelled => StatusCode::CONFLICT,
            Lost::Broken => StatusCode::INTERNAL_SERVER_ERROR,
            Lost::Interrupted | Lost::Suspended => StatusCode::SERVICE_UNAVAILABLE,
        };
        ApiError::new(status, lost.code(), lost.message())
    }
}
