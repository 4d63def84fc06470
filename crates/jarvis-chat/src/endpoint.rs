//! Addresses of an endpoint: joined from what the user typed, and shown without what must stay secret.

use jarvis_net::policy::without_secrets;
use url::Url;

use crate::config::{Azure, OpenAiConfig, Protocol};
use crate::model::ChatError;

/// What messages call the endpoint of a chat model.
pub(crate) const CHAT_ENDPOINT: &str = "chat endpoint";

/// The base of an endpoint's addresses, checked once.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    base: Url,
    azure: Option<Azure>,
    protocol: Protocol,
}

impl Endpoint {
    /// Joins and checks what the user typed; `what` is what messages call the endpoint.
    pub(crate) fn new(config: &OpenAiConfig, what: &str) -> Result<Endpoint, ChatError> {
        let wrong = |reason: &str| {
            let shown = without_secrets(&config.base_url);
            ChatError::Config(format!("the base URL of the {what}, {shown}, cannot be used: {reason}"))
        };
        const SCHEMES: &str = "it must start with http:// or https://";
        let mut base = Url::parse(config.base_url.trim()).map_err(|error| match error {
            // `localhost:11434/v1` has the scheme `localhost`, `127.0.0.1:11434/v1` none.
            url::ParseError::RelativeUrlWithoutBase => wrong(SCHEMES),
            error => wrong(&error.to_string()),
        })?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(wrong(SCHEMES));
        }
        base.set_fragment(None);
        let mut segments: Vec<String> =
            base.path().split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let whole = segments.last().is_some_and(|last| last == "completions" || last == "embeddings");
        if whole
            && segments.pop().is_some_and(|last| last == "completions")
            && segments.last().is_some_and(|last| last == "chat")
        {
            segments.pop();
        }
        if config.azure.is_some() {
            // Some paste the address with its `/openai` part.
            if let Some(at) = segments.iter().position(|part| part == "openai") {
                segments.truncate(at);
            }
        } else if !whole && !segments.iter().any(|part| is_version(part)) {
            segments.push("v1".to_owned());
        }
        base.set_path(&segments.join("/"));
        Ok(Endpoint { base, azure: config.azure.clone(), protocol: config.protocol })
    }

    /// The address of a chat call. `deployment` is the stage's own, for Azure.
    pub(crate) fn call(&self, deployment: Option<&str>) -> Url {
        match self.protocol {
            Protocol::Chat => self.of_deployment(deployment, &["chat", "completions"]),
            Protocol::Completion => self.of_deployment(deployment, &["completions"]),
        }
    }

    pub(crate) fn embeddings(&self) -> Url {
        self.of_deployment(None, &["embeddings"])
    }

    fn of_deployment(&self, deployment: Option<&str>, tail: &[&str]) -> Url {
        match &self.azure {
            Some(azure) => {
                let deployment = deployment.unwrap_or(&azure.deployment);
                let mut url = self.join(&["openai", "deployments", deployment]);
                extend(&mut url, tail);
                self.with_version(url, azure)
            }
            None => self.join(tail),
        }
    }

    pub(crate) fn models(&self) -> Url {
        match &self.azure {
            Some(azure) => self.with_version(self.join(&["openai", "models"]), azure),
            None => self.join(&["models"]),
        }
    }

    /// What the addresses of calls begin with.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    fn join(&self, tail: &[&str]) -> Url {
        let mut url = self.base.clone();
        extend(&mut url, tail);
        url
    }

    fn with_version(&self, mut url: Url, azure: &Azure) -> Url {
        if !url.query_pairs().any(|(key, _)| key == "api-version") {
            url.query_pairs_mut().append_pair("api-version", &azure.api_version);
        }
        url
    }
}

fn extend(url: &mut Url, tail: &[&str]) {
    // Only an address that cannot have a path fails here, and http ones can.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(tail);
    }
}

/// `v1`, `v1beta`, `v4`, …
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    fn chat(base: &str) -> String {
        match Endpoint::new(&OpenAiConfig::new(base, "m"), CHAT_ENDPOINT) {
            Ok(endpoint) => endpoint.call(None).to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn addresses_are_joined() {
        for (base, expected) in rows::<(String, String)>(include_str!("cases.yaml"), "addresses") {
            assert_eq!(chat(&base), expected, "{base}");
        }
    }

    #[test]
    fn azure_addresses_have_one_slash_and_the_version() {
        for base in ["https://a.example", "https://a.example/", "https://a.example/openai/", "https://a.example//"] {
            let mut config = OpenAiConfig::new(base, "m");
            config.azure = Some(Azure { deployment: "my dep".into(), api_version: "2022-12-01".into() });
            config.protocol = Protocol::Completion;
            let endpoint = Endpoint::new(&config, CHAT_ENDPOINT).unwrap();
            assert_eq!(
                endpoint.call(None).as_str(),
                "https://a.example/openai/deployments/my%20dep/completions?api-version=2022-12-01"
            );
            assert_eq!(
                endpoint.call(Some("other")).as_str(),
                "https://a.example/openai/deployments/other/completions?api-version=2022-12-01"
            );
        }
    }
}
