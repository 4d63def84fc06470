//! What those might do who configured nothing: use a local model server that answers, or pull local models.

use std::sync::{Arc, Mutex, PoisonError};

use jarvis_chat::ModelServer;

use crate::config::Config;
use crate::printer::Printer;
use crate::wiring::{LocalRuntime, RUNS_LOCAL_MODELS, discovery};

/// Looks while a run goes on, and tells when it has ended: nobody waits for it.
#[derive(Debug, Default)]
pub(crate) struct Hint {
    found: Arc<Mutex<Option<String>>>,
    /// What is told where no server was found.
    otherwise: Option<&'static str>,
}

/// For a machine without local models.
const PULL: &str =
    "no local models are on this machine; `jarvis models suggest` says which would see, hear, translate and talk here";

impl Hint {
    /// Looks unless a model or `offline` is configured, or nobody reads the terminal.
    pub(crate) fn look(config: &Config, local: Option<&LocalRuntime>, printer: Printer) -> Hint {
        if config.llm.model.is_some() || !printer.draws() {
            return Hint::default();
        }
        let has_none = RUNS_LOCAL_MODELS && local.is_some_and(|local| local.kept().is_empty());
        Hint { otherwise: has_none.then_some(PULL), ..Hint::start(config) }
    }

    fn start(config: &Config) -> Hint {
        let hint = Hint::default();
        if let Ok(discovery) = discovery(config) {
            let found = Arc::clone(&hint.found);
            tokio::spawn(async move {
                let sentence = discovery.all().await.iter().find_map(sentence);
                *found.lock().unwrap_or_else(PoisonError::into_inner) = sentence;
            });
        }
        hint
    }

    /// Tells what was found by now, once.
    pub(crate) fn tell(&self, printer: Printer) {
        let sentence = self.take();
        if let Some(sentence) = sentence.as_deref().or(self.otherwise) {
            printer.progress(&format!("note: {sentence}"));
        }
    }

    fn take(&self) -> Option<String> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// `Ollama answers at http://127.0.0.1:11434 with 3 models`, and how to use it; nothing for a server without a chat model.
fn sentence(server: &ModelServer) -> Option<String> {
    let found = answers(server)?;
    Some(format!("{found}; use it with `--llm auto`"))
}

/// `Ollama answers at http://127.0.0.1:11434 with 3 models`; nothing for a server without a chat model.
pub(crate) fn answers(server: &ModelServer) -> Option<String> {
    let models = server.models.iter().filter(|model| model.chats).count();
    let models = match models {
        0 => return None,
        1 => "1 model".to_owned(),
        models => format!("{models} models"),
    };
    Some(format!("{} answers at {} with {models}", server.kind, server.shown_address()))
}

#[cfg(test)]
mod tests {
    use jarvis_testing::chat::{FakeChat, Host, Hosted, Make, Script};

    use super::*;

    fn host(make: Make, names: &[&str]) -> FakeChat {
        let model = |name: &&str| Hosted { name: (*name).to_owned(), context: 8192, ..Hosted::default() };
        FakeChat::hosted(Host::new(make, names.iter().map(model)), Script::new())
    }

    #[tokio::test]
    async fn a_server_that_answers_is_told_once_and_nobody_waits_for_it() {
        let ollama = host(Make::Ollama, &["qwen3:8b", "gemma3:4b", "nomic-embed-text"]);
        let studio = host(Make::LmStudio, &["one"]);
        let embedder = host(Make::Vllm, &["all-minilm"]);
        let (at, beside) = (ollama.origin(), studio.origin());
        for (servers, want) in [
            (vec![&ollama], Some(format!("Ollama answers at {at} with 2 models; use it with `--llm auto`"))),
            (
                vec![&embedder, &studio, &ollama],
                Some(format!("LM Studio answers at {beside} with 1 model; use it with `--llm auto`")),
            ),
            (vec![&embedder], None),
            (vec![], None),
        ] {
            let mut config = Config::default();
            config.llm.probe_timeout_s = 60;
            config.llm.local_servers = servers.iter().map(|server| server.origin()).collect();
            let hint = Hint::start(&config);
            assert_eq!(hint.take(), None, "it is still looking");
            // The only other owner is what looks.
            while Arc::strong_count(&hint.found) > 1 {
                tokio::task::yield_now().await;
            }
            assert_eq!((hint.take(), hint.take()), (want, None));
        }
    }

    #[tokio::test]
    async fn nothing_is_looked_for_when_something_is_configured_or_nobody_reads() {
        let ollama = host(Make::Ollama, &["qwen3:8b"]);
        let mut config = Config::default();
        config.llm.local_servers = vec![ollama.origin()];
        // The tests' stderr may be a terminal, but a quiet printer draws nowhere.
        let hint = Hint::look(&config, None, Printer::new(true, 0));
        assert_eq!(Arc::strong_count(&hint.found), 1);
        config.llm.model = Some("offline".into());
        let hint = Hint::look(&config, None, Printer::new(false, 0));
        assert_eq!((Arc::strong_count(&hint.found), ollama.lookups().len()), (1, 0));
    }
}
