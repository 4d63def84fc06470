//! Takes keys out of texts that came from outside: some servers quote them.

use jarvis_net::Secret;

use crate::config::OpenAiConfig;
use crate::model::ChatError;

#[derive(Clone)]
pub(crate) struct Redactor(Vec<Secret>);

impl Redactor {
    /// Shorter values are no secrets, and removing them would mangle messages.
    const SHORTEST: usize = 6;

    pub(crate) fn new(config: &OpenAiConfig) -> Redactor {
        let headers = config.headers.values().filter_map(|value| Secret::new(value));
        let secrets = config.api_key.iter().cloned().chain(headers);
        Redactor(secrets.filter(|secret| secret.expose().len() >= Redactor::SHORTEST).collect())
    }

    pub(crate) fn error(&self, error: ChatError) -> ChatError {
        let redact = |text: String| self.0.iter().fold(text, |text, secret| secret.redact(&text));
        match error {
            ChatError::Unreachable { url, reason } => ChatError::Unreachable { url, reason: redact(reason) },
            ChatError::Unauthorized { message } => ChatError::Unauthorized { message: redact(message) },
            ChatError::RateLimited { message } => ChatError::RateLimited { message: redact(message) },
            ChatError::Api { status, message } => ChatError::Api { status, message: redact(message) },
            ChatError::BadReply { reason, body } => ChatError::BadReply { reason: redact(reason), body: redact(body) },
            ChatError::Config(reason) => ChatError::Config(redact(reason)),
            error @ (ChatError::Timeout { .. }
            | ChatError::ReplayMiss { .. }
            | ChatError::Recording { .. }
            | ChatError::Budget(_)
            | ChatError::Stopped(_)) => error,
        }
    }
}
