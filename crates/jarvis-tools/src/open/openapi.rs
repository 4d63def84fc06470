//! Entries for operations of HTTP APIs.

use std::sync::Arc;
use std::time::Duration;

use jarvis_catalogue::openapi::{ApiDocument, Operation};
use reqwest::header::HeaderName;
use serde_json::{Map, json};
use url::Url;

use super::{OpenError, Opening, blocking, complete, spec_of, timeout_of};
use crate::config::{OpenApiEntry, ToolEntry};
use crate::openapi::{
    OpenApiCaller, OpenApiConfig, OpenApiTool, about, effect_of, example, id_of, input_schema, output_schema,
};
use crate::untrusted::{self, Found, MAX_DESCRIPTION};
use crate::{ToolSource, ToolSpec};

impl Opening {
    pub(super) async fn add_openapi(
        &mut self,
        called: &str,
        entry: &ToolEntry,
        api: &OpenApiEntry,
    ) -> Result<(), OpenError> {
        let invalid = |reason: String| OpenError::Invalid { entry: called.to_owned(), reason };
        let timeout = timeout_of(called, entry.timeout_s)?;
        let document = match &api.document {
            Some(path) => {
                let path = self.path(path);
                let shown = path.clone();
                let failed = |source| OpenError::Document { entry: called.to_owned(), path: shown, source };
                Some(Arc::new(blocking(called, move || ApiDocument::read(&path), failed).await?))
            }
            None => None,
        };
        let base = match &api.base_url {
            Some(address) => Url::parse(address)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
                .ok_or_else(|| invalid("its `base_url` is not a web address".into()))?,
            None => document
                .as_deref()
                .and_then(OpenApiCaller::address)
                .ok_or_else(|| OpenError::Missing { entry: called.to_owned(), missing: "`openapi.base_url`".into() })?,
        };
        let key = self.token(called, api.api_key_env.as_deref());
        let named = api.idempotency_header.as_deref().map(HeaderName::try_from).transpose();
        let key_header = named.map_err(|_| invalid("its `idempotency_header` is not the name of a header".into()))?;
        let config = OpenApiConfig { key, timeout, key_header, ..OpenApiConfig::new(base) };
        let caller = Arc::new(OpenApiCaller::new(document.clone(), config));
        let tool = |spec: ToolSpec, api: String| {
            Arc::new(OpenApiTool::new(spec, Arc::clone(&caller), api, entry.observation.clone()))
        };
        let whole = timeout + Duration::from_secs(1);
        match (&document, &api.operation) {
            (None, None) => {
                let missing = "`openapi.document` or `openapi.operation`".to_owned();
                Err(OpenError::Missing { entry: called.to_owned(), missing })
            }
            (None, Some(operation)) => {
                let mut spec = spec_of(entry, ToolSource::OpenApi);
                let method = operation.split_whitespace().next().unwrap_or_default();
                spec.effect = entry.effect.unwrap_or_else(|| effect_of(method));
                complete(called, &spec)?;
                self.take(called, tool(spec, operation.clone()), whole, entry.serves.clone())
            }
            (Some(document), Some(wanted)) => {
                let operation = document.operation(wanted).ok_or_else(|| {
                    let wanted = jarvis_net::text::shorten(wanted, 120);
                    invalid(format!("the document has no operation `{wanted}`"))
                })?;
                let mut spec = spec_of(entry, ToolSource::OpenApi);
                self.describe(&mut spec, entry, document, operation);
                complete(called, &spec)?;
                self.take(called, tool(spec, operation.usage()), whole, entry.serves.clone())
            }
            (Some(document), None) => {
                if entry.input_schema.is_some() || entry.example.is_some() {
                    return Err(invalid("`input_schema` and `example` need one `openapi.operation`".into()));
                }
                for operation in &document.operations {
                    let mut spec = spec_of(entry, ToolSource::OpenApi);
                    let about = about(operation);
                    if !spec.name.is_empty() {
                        spec.name = format!("{}.{}", spec.name, id_of(operation));
                    }
                    if !spec.when.trim().is_empty() {
                        spec.when = format!("{}; this one: {about}", spec.when.trim_end_matches(['.', ' ']));
                    }
                    // The entry's description is of the whole API.
                    spec.description.clear();
                    self.describe(&mut spec, entry, document, operation);
                    if spec.description.is_empty() {
                        spec.description = about;
                    }
                    let name = spec.name.clone();
                    let added = complete(called, &spec)
                        .and_then(|()| self.take(called, tool(spec, operation.usage()), whole, entry.serves.clone()));
                    if let Err(error) = added {
                        self.leave_out(&name, &error);
                    }
                }
                Ok(())
            }
        }
    }

    /// Puts what the document says where the configuration says nothing.
    fn describe(&mut self, spec: &mut ToolSpec, entry: &ToolEntry, document: &ApiDocument, operation: &Operation) {
        let mut found = Found::default();
        spec.output_schema =
            output_schema(document, operation).and_then(|schema| untrusted::clean_schema(&schema, &mut found));
        spec.effect = entry.effect.unwrap_or_else(|| effect_of(&operation.method));
        if spec.description.trim().is_empty() {
            let text = if operation.summary.is_empty() { &operation.description } else { &operation.summary };
            spec.description = untrusted::clean(text, MAX_DESCRIPTION, &mut found);
        }
        if entry.input_schema.is_none() {
            let schema = input_schema(operation);
            spec.input_schema = untrusted::clean_schema(&schema, &mut found).unwrap_or_else(|| {
                // The names at least: what they may be is checked when the tool is called.
                let names = operation.parameters.iter().map(|one| (one.name.clone(), json!({})));
                json!({"type": "object", "properties": names.collect::<Map<_, _>>()})
            });
        }
        if entry.example.is_none() {
            spec.example = example(operation);
        }
        if let Some(words) = found.words() {
            self.warnings.push(format!("`{}`: {words}", spec.name));
        }
    }
}
