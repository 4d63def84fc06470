//! Entries for methods of gRPC services.

use std::sync::Arc;

use jarvis_plan::Effect;
use serde_json::Value;

use super::{OpenError, Opening, blocking, complete, spec_of, timeout_of};
use crate::approvals::{ApprovalsError, Guard, Verdict, changed, grpc_source, sha256};
use crate::config::{GrpcEntry, ToolEntry};
use crate::grpc::{GrpcEndpoint, GrpcError, GrpcTool, MethodName, effect_of, example_of, load_descriptors, schema_of};
use crate::untrusted::{self, Found};
use crate::{ToolSource, ToolSpec};
use jarvis_catalogue::openapi::Schema;
use jarvis_net::causes::in_one;

/// A service that several entries may share: address, variable of the token and certificates make it the same.
pub(super) struct Shared {
    key: (String, Option<String>, Option<std::path::PathBuf>),
    endpoint: Arc<GrpcEndpoint>,
}

impl Opening {
    pub(super) async fn add_grpc(
        &mut self,
        called: &str,
        entry: &ToolEntry,
        grpc: &GrpcEntry,
    ) -> Result<(), OpenError> {
        let failed = |source: GrpcError| OpenError::Grpc { entry: called.to_owned(), source };
        let timeout = timeout_of(called, entry.timeout_s)?;
        if grpc.endpoint.trim().is_empty() || grpc.method.trim().is_empty() {
            let missing = if grpc.endpoint.trim().is_empty() { "`grpc.endpoint`" } else { "`grpc.method`" };
            return Err(OpenError::Missing { entry: called.to_owned(), missing: missing.into() });
        }
        let name = MethodName::parse(&grpc.method).map_err(failed)?;
        let endpoint = self.endpoint(called, grpc).await?;
        let pool = match &grpc.descriptor {
            Some(path) => {
                let path = self.path(path);
                Some(blocking(called, move || load_descriptors(&path), failed).await?)
            }
            None => None,
        };
        let mut spec = spec_of(entry, ToolSource::Grpc);
        let mut guard = None;
        match &pool {
            Some(pool) => {
                let method = name.find(pool).map_err(failed)?;
                let input = method.input();
                spec.effect = entry.effect.unwrap_or_else(|| effect_of(&method));
                spec.output_schema = Some(schema_of(&method.output()));
                fill(&mut spec, entry, || schema_of(&input), || example_of(&input));
            }
            // What the operator says of the input needs nobody's word, and must be said to the end.
            None if entry.input_schema.is_some() => {}
            None => {
                let placeholder = ToolSpec { input_schema: serde_json::json!({}), ..spec.clone() };
                let example = entry.example.clone().unwrap_or_else(|| serde_json::json!({}));
                complete(called, &ToolSpec { example, ..placeholder })?;
                if self.unusable.is_some() {
                    self.left_out.push(format!("`{}`", spec.name));
                    return Ok(());
                }
                let Some(made) = self.asked(called, entry, &name, &endpoint, &mut spec).await? else { return Ok(()) };
                guard = Some(made);
            }
        }
        complete(called, &spec)?;
        let named = grpc.idempotency_metadata.as_deref().map(str::parse).transpose();
        let key_metadata = named.map_err(|_| OpenError::Invalid {
            entry: called.to_owned(),
            reason: "its `idempotency_metadata` is not the name of metadata: lower-case letters, digits, `-`, `_`, `.`"
                .into(),
        })?;
        let tool = GrpcTool::new(spec, endpoint, name, pool)
            .key_metadata(key_metadata)
            .observation(entry.observation.clone())
            .timeout(timeout)
            .guard(guard);
        // The tool's own limit names the service; the registry's stands behind it.
        self.take(called, Arc::new(tool), timeout + std::time::Duration::from_secs(1), entry.serves.clone())
    }

    /// Puts what the service says of its input into the specification: what is known of it or, where nothing is, what it says
    /// now. `None` when neither can be had.
    async fn asked(
        &mut self,
        called: &str,
        entry: &ToolEntry,
        name: &MethodName,
        endpoint: &Arc<GrpcEndpoint>,
        spec: &mut ToolSpec,
    ) -> Result<Option<Guard>, OpenError> {
        let source = grpc_source(&spec.name);
        let origin = sha256(format!("{} {}", endpoint.address(), name.path()).as_bytes());
        let guard = Guard {
            approvals: Arc::clone(&self.approvals),
            source: source.clone(),
            origin: origin.clone(),
            name: spec.name.clone(),
            description: spec.description.clone(),
        };
        let known = self.approvals.known(&source, &origin).and_then(|mut tools| tools.pop()).map(|(_, known)| known);
        // Words of the configuration are the operator's: only the schema is the service's.
        let fits = known.filter(|known| known.approved.description == spec.description);
        if let (Some(known), false) = (&fits, self.options.refresh) {
            let schema = known.approved.schema.clone();
            spec.effect = entry.effect.or(known.approved.effect).unwrap_or(Effect::Writes);
            fill(spec, entry, || schema.clone(), || example_from(&schema));
            if known.offered.is_some() {
                self.warnings.push(changed(&spec.name).message);
            }
            return Ok(Some(guard));
        }
        let method = match endpoint.reflect(&name.service).await {
            Ok(pool) => name.find(&pool).map_err(|source| OpenError::Grpc { entry: called.to_owned(), source })?,
            Err(error) => {
                let Some(known) = fits else {
                    self.warnings.push(format!("`{}` is left out: {error}", spec.name));
                    return Ok(None);
                };
                self.warnings.push(error.message);
                spec.effect = entry.effect.or(known.approved.effect).unwrap_or(Effect::Writes);
                let schema = known.approved.schema;
                fill(spec, entry, || schema.clone(), || example_from(&schema));
                return Ok(Some(guard));
            }
        };
        let input = method.input();
        spec.effect = entry.effect.unwrap_or_else(|| effect_of(&method));
        let mut found = Found::default();
        let offered = schema_of(&input);
        let Some(schema) = untrusted::clean_schema(&offered, &mut found) else {
            let reason = "the service's own description of the input is too large; give `input_schema`".to_owned();
            return Err(OpenError::Invalid { entry: called.to_owned(), reason });
        };
        // The configuration's own description may have been changed by the operator: that is no change to approve.
        let verdict = match guard.look(&schema, effect_of(&method)).await {
            Ok(verdict) => verdict,
            Err(error) => return Ok(self.without(spec, &error)),
        };
        let approved = match (verdict, self.approvals.get(&source, &spec.name)) {
            (Verdict::Changed, Some(known)) if known.approved.schema == schema => {
                let changes = self.approvals.changes(&source, Some(&spec.name));
                match changes.and_then(|changes| self.approvals.accept(&changes.unwrap_or_default())) {
                    Ok(_) => schema,
                    Err(error) => return Ok(self.without(spec, &error)),
                }
            }
            (Verdict::Changed, Some(known)) => {
                self.warnings.push(changed(&spec.name).message);
                known.approved.schema
            }
            (Verdict::New | Verdict::Added, _) => {
                self.notes.push(format!("`{}` is approved as {} describes it", spec.name, endpoint.address()));
                schema
            }
            (Verdict::Known | Verdict::Changed, _) => schema,
        };
        fill(spec, entry, || approved.clone(), || example_of(&input));
        Ok(Some(guard))
    }

    /// Leaves out a tool whose approval cannot be read or written.
    fn without(&mut self, spec: &ToolSpec, error: &ApprovalsError) -> Option<Guard> {
        self.warnings.push(format!("`{}` is left out: {}", spec.name, in_one(error)));
        None
    }

    async fn endpoint(&mut self, called: &str, grpc: &GrpcEntry) -> Result<Arc<GrpcEndpoint>, OpenError> {
        let key = (grpc.endpoint.trim().to_owned(), grpc.token_env.clone(), grpc.ca_file.clone());
        if let Some(shared) = self.endpoints.iter().find(|shared| shared.key == key) {
            return Ok(Arc::clone(&shared.endpoint));
        }
        let token = self.token(called, grpc.token_env.as_deref());
        let ca = match &grpc.ca_file {
            Some(path) => {
                let path = self.path(path);
                let shown = path.clone();
                let failed = |source| OpenError::Grpc {
                    entry: called.to_owned(),
                    source: GrpcError::Read { path: shown, source },
                };
                Some(blocking(called, move || std::fs::read(path), failed).await?)
            }
            None => None,
        };
        let with_token = token.is_some();
        let endpoint = GrpcEndpoint::new(&grpc.endpoint, token, ca.as_deref())
            .map_err(|source| OpenError::Grpc { entry: called.to_owned(), source })?;
        let plain = url::Url::parse(endpoint.address())
            .is_ok_and(|url| url.scheme() == "http" && !jarvis_net::http::is_loopback(&url));
        if with_token && plain {
            self.warnings.push(format!("{called}: its token is sent unencrypted to {}", endpoint.address()));
        }
        let endpoint = Arc::new(endpoint);
        self.endpoints.push(Shared { key, endpoint: Arc::clone(&endpoint) });
        Ok(endpoint)
    }
}

/// Puts what a service describes where the configuration says nothing.
fn fill(spec: &mut ToolSpec, entry: &ToolEntry, schema: impl FnOnce() -> Value, example: impl FnOnce() -> Value) {
    if entry.input_schema.is_none() {
        spec.input_schema = schema();
    }
    if entry.example.is_none() {
        spec.example = example();
    }
}

/// An input made up after a schema.
fn example_from(schema: &Value) -> Value {
    Schema::of_json_schema(schema).full_sample("")
}
