//! What is known of the endpoint's models, and from where.

use std::fmt;

use super::OpenAi;
use crate::config::Protocol;
use crate::discover::{Asker, CANDIDATES, ModelServer, NoServer, ServedModel, root_of};
use crate::family::{Family, UNKNOWN_CONTEXT};

/// Where a fact about a model comes from, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Configuration,
    Endpoint,
    /// The table of model families, by the model's name.
    Family,
    /// Nothing is known of the model.
    Assumption,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Configuration => "configured",
            Origin::Endpoint => "reported by the endpoint",
            Origin::Family => "from the table of model families",
            Origin::Assumption => "assumed: unknown to the endpoint and to the table of model families",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Fact<T> {
    fn new(value: T, origin: Origin) -> Fact<T> {
        Fact { value, origin }
    }
}

impl OpenAi {
    /// Asks the endpoint, once, what server it is and what its models can do. An endpoint that does not tell
    /// is no error, and is not asked again: the table of model families answers then.
    pub async fn probe(&self) {
        if self.server.get().is_some() {
            return;
        }
        let names: Vec<&str> =
            std::iter::once(&self.config.model).chain(self.config.stage_models.values()).map(String::as_str).collect();
        let asker = self.asker();
        let server = match asker.server().await {
            Ok(mut server) => {
                asker.describe_named(&mut server, &names).await;
                Some(server)
            }
            Err(reason) => {
                tracing::debug!(%reason, "the endpoint does not tell what its models can do");
                None
            }
        };
        // A concurrent probe may have been quicker, with the same result.
        let _ = self.server.set(server);
    }

    /// The server at the endpoint with its models, closely looked at.
    ///
    /// # Errors
    /// Why it does not tell them.
    pub async fn inspect(&self) -> Result<ModelServer, NoServer> {
        let asker = self.asker();
        let mut server = asker.server().await?;
        asker.describe(&mut server, CANDIDATES).await;
        Ok(server)
    }

    /// Sets the result of [`OpenAi::probe`], unless there is one.
    pub fn set_server(&self, server: ModelServer) {
        let _ = self.server.set(Some(server));
    }

    /// The result of [`OpenAi::probe`], where the endpoint told it.
    pub fn server(&self) -> Option<&ModelServer> {
        self.server.get()?.as_ref()
    }

    /// The model of a stage as the endpoint describes it.
    pub fn served(&self, stage: &str) -> Option<&ServedModel> {
        self.server()?.model(self.config.model_of(stage))
    }

    /// The context size of a stage's model, in tokens.
    pub fn context(&self, stage: &str) -> Fact<usize> {
        let family = || Family::of(self.config.model_of(stage))?.context;
        match (self.config.context_tokens, self.served(stage).and_then(|model| model.context)) {
            (Some(set), _) => Fact::new(set, Origin::Configuration),
            (None, Some(told)) => Fact::new(told, Origin::Endpoint),
            (None, None) => match family() {
                Some(known) => Fact::new(known, Origin::Family),
                None => Fact::new(UNKNOWN_CONTEXT, Origin::Assumption),
            },
        }
    }

    /// Whether a stage's model takes pictures.
    pub fn vision(&self, stage: &str) -> Fact<bool> {
        let fact = match (self.config.vision, self.served(stage).and_then(|model| model.vision)) {
            (Some(set), _) => Fact::new(set, Origin::Configuration),
            (None, Some(told)) => Fact::new(told, Origin::Endpoint),
            (None, None) => match Family::of(self.config.model_of(stage)) {
                Some(family) => Fact::new(family.sees, Origin::Family),
                None => Fact::new(false, Origin::Assumption),
            },
        };
        // The legacy protocol carries text alone.
        Fact { value: fact.value && self.config.protocol == Protocol::Chat, ..fact }
    }

    fn asker(&self) -> Asker<'_> {
        let root = root_of(self.endpoint.base());
        Asker {
            client: self.transport.client(),
            root,
            models: self.endpoint.models(),
            timeout: self.config.probe_timeout,
        }
    }
}
