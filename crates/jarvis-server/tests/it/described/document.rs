//! The document of the server, with every object closed: a member that it does not list is an error.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use crate::harness::{self, Reply};

pub(crate) struct Document {
    as_sent: Value,
    /// The components, closed.
    components: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// One document serves all tests: routes do not depend on what a test sets up.
static DOCUMENT: OnceCell<Document> = OnceCell::const_new();

impl Document {
    pub(crate) async fn get() -> &'static Document {
        let read = async || {
            let harness = harness::offline().start().await;
            let reply = harness.request(reqwest::Method::GET, "/openapi.json").send().await.expect("a reply");
            let as_sent: Value = reply.json().await.expect("JSON");
            let schemas = as_sent["components"]["schemas"].as_object().expect("schemas");
            let closed: Map<String, Value> =
                schemas.iter().map(|(name, schema)| (name.clone(), closed(schema, schemas))).collect();
            Document { components: json!({ "schemas": closed }), as_sent, validators: Mutex::default() }
        };
        DOCUMENT.get_or_init(read).await
    }

    /// A schema among the components, as it is sent.
    pub(crate) fn schema(&self, name: &str) -> &Value {
        let schema = &self.as_sent["components"]["schemas"][name];
        assert!(schema.is_object(), "there is no schema `{name}`");
        schema
    }

    /// The schema of a reply by the template of its path.
    pub(crate) fn reply_schema(&self, method: &str, template: &str, status: u16, media: &str) -> Option<&Value> {
        let replies = &self.as_sent["paths"][template][method]["responses"];
        let reply = [status.to_string(), format!("{}XX", status / 100)];
        let content = reply.iter().find_map(|status| replies.get(status))?["content"].as_object()?;
        let media = media.split(';').next().unwrap_or_default();
        let range = media.split_once('/').map(|(kind, _)| format!("{kind}/*")).unwrap_or_default();
        let found = content.iter().find(|(known, _)| [media, &range].contains(&known.split(';').next().unwrap_or("")));
        found.map(|(_, content)| &content["schema"])
    }

    /// The template of a path, unless the document does not list it.
    fn template(&self, method: &str, path: &str) -> Option<&str> {
        let path = path.split('?').next().unwrap_or_default();
        let fits = |template: &str| {
            let (mut given, mut wanted) = (path.split('/'), template.split('/'));
            let both =
                given.by_ref().zip(wanted.by_ref()).all(|(given, wanted)| wanted.starts_with('{') || given == wanted);
            both && path.split('/').count() == template.split('/').count()
        };
        let paths = self.as_sent["paths"].as_object()?;
        let fitting = paths.iter().filter(|(template, item)| fits(template) && item.get(method).is_some());
        // `/plans/run` is no plan.
        fitting.map(|(template, _)| template.as_str()).min_by_key(|template| template.matches('{').count())
    }

    /// Checks a whole reply of a documented path.
    pub(crate) fn check_reply(&self, method: &str, path: &str, reply: &Reply) {
        let Some(template) = self.template(method, path) else { return };
        let media = reply.header("content-type");
        // The original's form of errors is not described.
        if reply.text.is_empty() || reply.json["error"].is_string() {
            return;
        }
        let schema = self.reply_schema(method, template, reply.status, media);
        let told = || format!("{method} {template}: {} {media}", reply.status);
        let schema = schema.unwrap_or_else(|| panic!("{} is not described", told()));
        match media {
            media if media.starts_with("text/event-stream") => {
                let piece = self.resolved(schema);
                for (name, data) in harness::events(&reply.text) {
                    self.check_piece(piece, &name, &data);
                }
            }
            media if media.starts_with("application/json") => self.check(schema, &reply.json, &told()),
            _ => {}
        }
    }

    /// Checks an event of a run.
    pub(crate) fn check_event(&self, event: &Value) {
        self.check(&json!({"$ref": "#/components/schemas/Event"}), event, "an event");
    }

    fn check_piece(&self, piece: &Value, name: &str, data: &Value) {
        let described = &piece["properties"]["data"];
        // The last piece of a chat completion is no JSON.
        if data == "[DONE]" {
            assert_eq!(described["anyOf"][1]["enum"], json!(["[DONE]"]));
            return;
        }
        let described = described["anyOf"].get(0).unwrap_or(described);
        self.check(&described["contentSchema"], data, &format!("the event `{name}`"));
    }

    fn resolved<'d>(&'d self, schema: &'d Value) -> &'d Value {
        match schema["$ref"].as_str() {
            Some(reference) => self.schema(reference.rsplit('/').next().unwrap_or_default()),
            None => schema,
        }
    }

    fn check(&self, schema: &Value, value: &Value, told: &str) {
        let wrong = self.faults(schema, value);
        assert!(wrong.is_empty(), "{told} is not as described by {schema}: {wrong:#?}\n{value:#}");
    }

    /// What is wrong with a value by a schema; by the meant one of a union that a member tells apart, since a union does not say why none
    /// fits.
    pub(crate) fn faults(&self, schema: &Value, value: &Value) -> Vec<String> {
        let union = &self.resolved(schema)["discriminator"];
        let meant = union["propertyName"].as_str().and_then(|member| value[member].as_str());
        let schema = match meant.and_then(|word| union["mapping"].get(word)) {
            Some(reference) => json!({ "$ref": reference }),
            None => schema.clone(),
        };
        let validator = self.validator(&schema);
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().expect("no panic");
        let made = validators.entry(schema.to_string()).or_insert_with(|| {
            let mut whole = closed(schema, &Map::new());
            whole["components"] = self.components.clone();
            let options = jsonschema::options().with_draft(Draft::Draft202012);
            Arc::new(options.build(&whole).expect("a schema"))
        });
        Arc::clone(made)
    }

    /// The places of schemas that say nothing of their values.
    pub(crate) fn untyped(&self) -> Vec<String> {
        let mut untyped = Vec::new();
        for (name, schema) in self.as_sent["components"]["schemas"].as_object().expect("schemas") {
            untyped_in(schema, name, &mut untyped);
        }
        for (path, item) in self.as_sent["paths"].as_object().expect("paths") {
            for (method, operation) in item.as_object().expect("operations") {
                let place = format!("{method} {path}");
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                for parameter in parameters {
                    untyped_in(&parameter["schema"], &place, &mut untyped);
                }
                let replies = operation["responses"].as_object().into_iter().flat_map(Map::values);
                let bodies = std::iter::once(&operation["requestBody"]).chain(replies);
                for content in bodies.filter_map(|body| body["content"].as_object()).flat_map(Map::values) {
                    untyped_in(&content["schema"], &place, &mut untyped);
                }
            }
        }
        untyped
    }
}

const SAYS: [&str; 6] = ["type", "$ref", "oneOf", "anyOf", "allOf", "enum"];

fn untyped_in(schema: &Value, place: &str, untyped: &mut Vec<String>) {
    let is_open = schema["type"] == "object" && schema.get("properties").is_none();
    if !SAYS.iter().any(|word| schema.get(word).is_some()) || is_open && schema.get("additionalProperties").is_none() {
        untyped.push(place.to_owned());
    }
    for (name, inner) in inner_schemas(schema) {
        untyped_in(inner, &format!("{place}/{name}"), untyped);
    }
}

/// The schemas inside a schema, with what they are of.
fn inner_schemas(schema: &Value) -> Vec<(String, &Value)> {
    let mut inner = Vec::new();
    for word in ["items", "contentSchema", "additionalProperties"] {
        inner.extend(schema.get(word).filter(|schema| schema.is_object()).map(|schema| (word.to_owned(), schema)));
    }
    for word in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        let all = schema[word].as_array().into_iter().flatten().enumerate();
        inner.extend(all.map(|(at, schema)| (format!("{word}/{at}"), schema)));
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    inner.extend(properties.map(|(name, schema)| (name.clone(), schema)));
    inner
}

/// The schema with nothing allowed in objects but what they list. What is composed of several is put together, so that each allows what the
/// others list.
fn closed(schema: &Value, all: &Map<String, Value>) -> Value {
    let mut schema = match schema.get("allOf").and_then(Value::as_array) {
        Some(parts) => composed(schema, parts, all),
        None => schema.clone(),
    };
    let Some(fields) = schema.as_object_mut() else { return schema };
    for word in ["items", "contentSchema", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(word).filter(|inner| inner.is_object()) {
            *inner = closed(inner, all);
        }
    }
    for word in ["oneOf", "anyOf", "prefixItems"] {
        for inner in fields.get_mut(word).and_then(Value::as_array_mut).into_iter().flatten() {
            *inner = closed(inner, all);
        }
    }
    for (_, inner) in fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        *inner = closed(inner, all);
    }
    if fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
        fields.insert("additionalProperties".to_owned(), false.into());
    }
    schema
}

/// One object of those that a schema is composed of.
fn composed(schema: &Value, parts: &[Value], all: &Map<String, Value>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let mut add = |part: &Value| {
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
    };
    add(schema);
    for part in parts {
        let part = match part["$ref"].as_str() {
            Some(reference) => &all[reference.rsplit('/').next().unwrap_or_default()],
            None => part,
        };
        match part.get("allOf").and_then(Value::as_array) {
            Some(inner) => add(&composed(part, inner, all)),
            None => add(part),
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}
