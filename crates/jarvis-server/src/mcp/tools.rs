//! Descriptions of the tools, as clients list them.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// The tools, always in this order. `pipelines` are those that `run` may choose.
pub(super) fn all(pipelines: &[&str]) -> Vec<Tool> {
    vec![run(pipelines), plan(), ask()]
}

fn run(pipelines: &[&str]) -> Tool {
    let about = "Does a whole request with expert models: plans it into tasks, chooses a model for each, runs them in \
        parallel, and answers. For pictures, sounds, videos and texts: describe, segment, detect, edges, depth, \
        generate, transcribe, read aloud, summarise, translate, classify, extract. Say everything in one request; \
        pictures and sounds that are made come back with the answer.";
    let results = json!({
        "type": "object",
        "properties": {
            "run_id": {"type": "string"},
            "request": {"type": "string"},
            "planner": {"type": "string", "description": "offline, or llm"},
            "model": {"type": "string", "description": "The chat model, or offline"},
            "language": {"type": "string"},
            "plan": {"type": "object"},
            "outcomes": {"type": "array", "items": {"type": "object"}, "description": "How each task ended, and with which model"},
            "results": {"type": "object"},
            "answer": {"type": "object", "properties": {"text": {"type": "string"}, "resources": {"type": "array"}}, "required": ["text"]},
            "usage": {"type": "object"},
            "ms": {"type": "integer"}
        },
        "required": ["run_id", "plan", "outcomes", "answer"]
    });
    let mut input = request("What you want, in your own words");
    if let [default, _, ..] = pipelines {
        let about = format!("How the request is done; `{default}` unless given");
        let properties = input.pointer_mut("/properties").and_then(Value::as_object_mut).expect("it has properties");
        let pipeline = json!({"type": "string", "enum": pipelines, "description": about});
        properties.insert("pipeline".to_owned(), pipeline);
    }
    tool("run", "Do a request with expert models", about, input, results).with_annotations(
        ToolAnnotations::with_title("Do a request with expert models")
            .read_only(false)
            .destructive(false)
            .idempotent(false)
            .open_world(true),
    )
}

fn plan() -> Tool {
    let about = "Decides how a request would be done, and carries nothing out: the tasks, the model chosen for each with \
        alternatives, and their order. Use it to see what `run` would do.";
    let results = json!({
        "type": "object",
        "properties": {
            "plan_id": {"type": "string"},
            "execution_config": {
                "type": "object",
                "properties": {
                    "user_request": {"type": "string"},
                    "total_tasks": {"type": "integer"},
                    "tasks": {"type": "array", "items": {"type": "object"}},
                    "dag": {"type": "object"},
                    "execution_order": {"type": "array", "items": {"type": "object"}}
                },
                "required": ["total_tasks", "tasks"]
            }
        },
        "required": ["execution_config"]
    });
    tool("plan", "Plan a request", about, request("What would be done, in your own words"), results)
        .with_annotations(ToolAnnotations::with_title("Plan a request").read_only(true).open_world(true))
}

fn ask() -> Tool {
    let about = "Answers a question about one document by thought, action and observation: searches and counts in it, \
        calculates, and draws charts, which come back as pictures. Give the document as text, or as the bytes of a \
        text, PDF, office or HTML file.";
    let input = json!({
        "type": "object",
        "properties": {
            "question": {"type": "string", "description": "What you want to know, in any language", "examples": ["Which fruit is most frequent? Draw a bar chart."]},
            "document": {"type": "string", "description": "The document's text", "examples": ["apple\npear\napple\n"]},
            "document_base64": {"type": "string", "contentEncoding": "base64", "description": "Instead of `document`: the bytes of a text file in any encoding, or of a PDF file, as base64"},
            "language": {"type": "string", "enum": ["en", "ru", "zh"], "description": "The language to think in; that of the question unless given"},
            "max_steps": {"type": "integer", "minimum": 1, "description": "The most rounds of thought and action"}
        },
        "required": ["question"],
        "additionalProperties": false
    });
    let results = json!({
        "type": "object",
        "properties": {
            "text_answer": {"type": "string"},
            "finish_reason": {"type": "string", "description": "final, not_found, max_steps, no_format, or not_done"},
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "thought": {"type": "string"},
                        "action": {"type": "string"},
                        "action_input": {"type": "string"},
                        "observation": {"type": "string"}
                    }
                }
            },
            "images": {"type": "array", "items": {"type": "string"}, "description": "The charts, by their paths"},
            "warnings": {"type": "array", "items": {"type": "string"}}
        },
        "required": ["text_answer", "finish_reason", "steps", "warnings"]
    });
    tool("ask", "Ask about a document", about, input, results)
        .with_annotations(ToolAnnotations::with_title("Ask about a document").read_only(true).open_world(true))
}

fn request(about: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            "request": {
                "type": "string",
                "description": about,
                "examples": ["Tell the mood of this text: I love it", "Find the edges of photo.jpg, and describe the result"]
            },
            "files": {
                "type": "array",
                "description": "Files that the request is about: each a name with `data` or `text`, or an address with its kind. The request names them by their names",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "Its name, with the extension", "examples": ["photo.jpg"]},
                        "data": {"type": "string", "contentEncoding": "base64", "description": "Its bytes, as base64"},
                        "text": {"type": "string", "description": "Its text, where it is a text"},
                        "url": {"type": "string", "description": "Its web address; fetched if the rules here allow"},
                        "kind": {"type": "string", "enum": ["text", "image", "audio", "video", "json"], "description": "What it is; needed with `url` alone"}
                    },
                    "additionalProperties": false
                }
            }
        },
        "required": ["request"],
        "additionalProperties": false
    })
}

fn tool(name: &'static str, title: &str, about: &'static str, input: Value, output: Value) -> Tool {
    Tool::new(name, about, object(input)).with_title(title).with_raw_output_schema(object(output).into())
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}
