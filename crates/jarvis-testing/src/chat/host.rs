//! What local model servers tell of themselves, in their own protocols: Ollama's `/api/…`, llama-server's `/props`, LM Studio's
//! `/api/v0/…`, vLLM's `/v1/models`; and how each refuses a path that it does not have.

use serde::Deserialize;
use serde_json::{Value, json};

use super::script::Raw;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Make {
    Ollama,
    LmStudio,
    LlamaServer,
    Vllm,
}

/// A model server.
#[derive(Debug, Clone, Deserialize)]
pub struct Host {
    pub make: Make,
    #[serde(default)]
    pub models: Vec<Hosted>,
    /// llama-server answers nothing else until its model is loaded.
    #[serde(default)]
    pub loading: bool,
}

/// A model on such a server.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Hosted {
    pub name: String,
    pub embeds: bool,
    pub vision: bool,
    pub loaded: bool,
    /// The context size it was made for.
    pub context: u64,
    /// The context size it is loaded with.
    pub loaded_context: Option<u64>,
    /// Ollama: `PARAMETER num_ctx` of its Modelfile.
    pub num_ctx: Option<u64>,
    /// Ollama: its parameters, such as `8.0B`.
    pub parameters: String,
    /// Ollama: it runs at ollama.com.
    pub remote: bool,
    /// Ollama: the server is of a time before capabilities.
    pub old: bool,
}

impl Host {
    pub fn new(make: Make, models: impl IntoIterator<Item = Hosted>) -> Host {
        Host { make, models: models.into_iter().collect(), loading: false }
    }

    /// The answer to a request; `None` for a call of a model.
    pub(super) fn answer(&self, method: &str, path: &str, body: &Value) -> Option<Raw> {
        if self.loading {
            let error = json!({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}});
            return Some(Raw::json(503, &error));
        }
        if method == "POST" && path.starts_with("/v1/") {
            return None;
        }
        let told = match self.make {
            Make::Ollama => self.ollama(method, path, body),
            Make::LmStudio => self.lm_studio(path),
            Make::LlamaServer => self.llama_server(method, path),
            Make::Vllm => self.vllm(path),
        };
        Some(told.unwrap_or_else(|| self.refusal(method, path)))
    }

    fn refusal(&self, method: &str, path: &str) -> Raw {
        match self.make {
            Make::Ollama => Raw::new(404, "text/plain", "404 page not found"),
            // With status 200, as it really does.
            Make::LmStudio => {
                Raw::json(200, &json!({ "error": format!("Unexpected endpoint or method. ({method} {path})") }))
            }
            Make::LlamaServer => {
                let error = json!({"code": 404, "message": "File Not Found", "type": "not_found_error"});
                Raw::json(404, &json!({ "error": error }))
            }
            Make::Vllm => Raw::json(404, &json!({"detail": "Not Found"})),
        }
    }

    fn ollama(&self, method: &str, path: &str, body: &Value) -> Option<Raw> {
        let details = |model: &Hosted| {
            let family = if model.embeds { "nomic-bert" } else { "llama" };
            json!({
                "parent_model": "", "format": "gguf", "family": family, "families": [family],
                "parameter_size": model.parameters, "quantization_level": "Q4_K_M",
            })
        };
        let listed = |model: &Hosted| {
            let mut listed = json!({
                "name": model.name, "model": model.name, "modified_at": "2025-05-04T17:37:44.7-07:00",
                "size": 3_825_819_519_u64, "digest": "fe938a131f40e6f6d40083c9f0f430a5", "details": details(model),
            });
            if let (true, Some(listed)) = (model.remote, listed.as_object_mut()) {
                listed.insert("remote_model".into(), model.name.clone().into());
                listed.insert("remote_host".into(), "https://ollama.com:443".into());
            }
            listed
        };
        Some(match (method, path) {
            ("GET", "/api/version") => Raw::json(200, &json!({"version": "0.12.6"})),
            ("GET", "/api/tags") => Raw::json(200, &json!({"models": each(&self.models, listed)})),
            ("GET", "/api/ps") => {
                let running = self.models.iter().filter(|model| model.loaded).map(|model| {
                    let mut running = listed(model);
                    if let (Some(context), Some(running)) = (model.loaded_context, running.as_object_mut()) {
                        running.insert("context_length".into(), context.into());
                    }
                    running
                });
                Raw::json(200, &json!({"models": running.collect::<Vec<Value>>()}))
            }
            ("POST", "/api/show") => match self.models.iter().find(|model| body["model"] == model.name) {
                Some(model) => Raw::json(200, &shown(model, &details(model))),
                None => Raw::json(404, &json!({"error": format!("model '{}' not found", body["model"])})),
            },
            ("GET", "/v1/models") => Raw::json(200, &self.openai_list(|_| json!({"owned_by": "library"}))),
            _ => return None,
        })
    }

    fn lm_studio(&self, path: &str) -> Option<Raw> {
        let listed = |model: &Hosted| {
            let kind = match (model.embeds, model.vision) {
                (true, _) => "embeddings",
                (false, true) => "vlm",
                (false, false) => "llm",
            };
            let mut listed = json!({
                "id": model.name, "object": "model", "type": kind, "publisher": "lmstudio-community", "arch": "llama",
                "compatibility_type": "gguf", "quantization": "Q4_K_M",
                "state": if model.loaded { "loaded" } else { "not-loaded" }, "max_context_length": model.context,
            });
            if let (Some(context), Some(listed)) = (model.loaded_context, listed.as_object_mut()) {
                listed.insert("loaded_context_length".into(), context.into());
            }
            listed
        };
        Some(match path {
            "/api/v0/models" => Raw::json(200, &json!({"object": "list", "data": each(&self.models, listed)})),
            "/v1/models" => Raw::json(200, &self.openai_list(|_| json!({"owned_by": "organization_owner"}))),
            _ => return None,
        })
    }

    fn llama_server(&self, method: &str, path: &str) -> Option<Raw> {
        let model = self.models.first().cloned().unwrap_or_default();
        let list = || {
            let mut list = self.openai_list(
                |model| json!({"owned_by": "llamacpp", "meta": {"vocab_type": 2, "n_ctx_train": model.context}}),
            );
            if let Some(list) = list.as_object_mut() {
                // For clients of Ollama.
                let named = |model: &Hosted| json!({"name": model.name, "model": model.name, "type": "model"});
                list.insert("models".into(), each(&self.models, named).into());
            }
            Raw::json(200, &list)
        };
        Some(match (method, path) {
            ("GET", "/health") => Raw::json(200, &json!({"status": "ok"})),
            ("GET", "/v1/models" | "/models" | "/api/tags") => list(),
            ("GET", "/props") => {
                let settings = json!({
                    "id": 0, "id_task": -1, "n_ctx": model.loaded_context.unwrap_or(model.context),
                    "is_processing": false, "params": {"temperature": 0.8, "top_k": 40},
                });
                let modalities = json!({"vision": model.vision, "audio": false});
                Raw::json(
                    200,
                    &json!({
                        "default_generation_settings": settings, "total_slots": 1, "modalities": modalities,
                        "model_path": "/models/m.gguf", "chat_template": "…", "build_info": "b6123-79c1160b",
                    }),
                )
            }
            _ => return None,
        })
    }

    fn vllm(&self, path: &str) -> Option<Raw> {
        Some(match path {
            "/health" => Raw::new(200, "text/plain", ""),
            "/version" => Raw::json(200, &json!({"version": "0.11.0"})),
            "/v1/models" => {
                let more = |model: &Hosted| {
                    let max = model.loaded_context.unwrap_or(model.context);
                    json!({"owned_by": "vllm", "root": model.name, "parent": null, "max_model_len": max, "permission": []})
                };
                Raw::json(200, &self.openai_list(more))
            }
            _ => return None,
        })
    }

    fn openai_list(&self, more: impl Fn(&Hosted) -> Value) -> Value {
        let entry = |model: &Hosted| {
            let mut entry = json!({"id": model.name, "object": "model", "created": 1_700_000_000});
            if let (Some(entry), Value::Object(more)) = (entry.as_object_mut(), more(model)) {
                entry.extend(more);
            }
            entry
        };
        json!({"object": "list", "data": each(&self.models, entry)})
    }
}

/// Ollama's description of a model.
fn shown(model: &Hosted, details: &Value) -> Value {
    let mut lines = vec!["stop                           \"<|eot_id|>\"".to_owned()];
    lines.extend(model.num_ctx.map(|tokens| format!("num_ctx                        {tokens}")));
    let mut shown = json!({
        "modelfile": "# Modelfile generated by \"ollama show\"", "parameters": lines.join("\n"),
        "template": "{{ .Prompt }}", "details": details,
        "model_info": {"general.architecture": "llama", "general.parameter_count": 8_030_261_248_u64,
            "llama.context_length": model.context, "llama.embedding_length": 4096},
        "modified_at": "2025-05-04T17:37:44.7-07:00",
    });
    if let (false, Some(shown)) = (model.old, shown.as_object_mut()) {
        let capabilities: &[&str] = match (model.embeds, model.vision) {
            (true, _) => &["embedding"],
            (false, true) => &["completion", "vision"],
            (false, false) => &["completion", "tools"],
        };
        shown.insert("capabilities".into(), json!(capabilities));
    }
    shown
}

fn each(models: &[Hosted], entry: impl Fn(&Hosted) -> Value) -> Vec<Value> {
    models.iter().map(entry).collect()
}
