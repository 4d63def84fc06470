//! From a candidate's host to the worker that is there.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use jarvis_catalogue::{Host, UnknownWord};
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, TaskError};
use serde_json::Value;

use crate::MediaEndpoint;

#[derive(Clone, Default)]
pub struct Workers {
    pub native: Option<Arc<dyn Worker>>,
    pub local: Option<Arc<dyn Worker>>,
    pub huggingface: Option<Arc<dyn Worker>>,
    /// For pictures and sound at an OpenAI-compatible endpoint. It takes the tasks that it has a model for; the rest of
    /// the host is the chat model's.
    pub media: Option<Arc<MediaEndpoint>>,
    pub chat: Option<Arc<dyn Worker>>,
    pub tool: Option<Arc<dyn Worker>>,
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers")
            .field("native", &self.native.is_some())
            .field("local", &self.local.is_some())
            .field("huggingface", &self.huggingface.is_some())
            .field("media", &self.media)
            .field("chat", &self.chat.is_some())
            .field("tool", &self.tool.is_some())
            .finish()
    }
}

impl Workers {
    pub fn find(&self, host: Host, task: &str) -> Option<&dyn Worker> {
        let found = match host {
            Host::Native => &self.native,
            Host::Local => &self.local,
            Host::Huggingface => &self.huggingface,
            Host::Tool => &self.tool,
            Host::Api => return None,
            Host::Llm => match &self.media {
                Some(media) if media.model(task).is_some() => return Some(media.as_ref()),
                Some(_) | None => &self.chat,
            },
        };
        found.as_deref()
    }
}

#[async_trait]
impl Worker for Workers {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        let candidate = &job.candidate;
        let host: Host = candidate.host.parse().map_err(|error: UnknownWord| {
            TaskError::new(ErrorCode::Internal, format!("`{}` is at the host {error}", candidate.id))
        })?;
        match self.find(host, &candidate.effective_task) {
            Some(worker) => worker.perform(job).await,
            None => {
                let message = format!("`{}` needs the host `{host}`, which is not configured", candidate.id);
                Err(TaskError::new(ErrorCode::NotConfigured, message).hint(hint(host)))
            }
        }
    }
}

fn hint(host: Host) -> &'static str {
    match host {
        Host::Native => "Choose another model; this build has no native models",
        Host::Local => "Pull a model with `jarvis models pull`, or set `local_inference_endpoint` to a model server",
        Host::Huggingface => "Set HUGGINGFACE_ACCESS_TOKEN, and an inference mode other than `local`",
        Host::Llm => "Configure a chat model (`llm.model`), and a media endpoint for pictures and sound",
        Host::Tool => "Add the tool to `tools` or `mcp_servers` in the configuration",
        Host::Api => {
            "Models of a catalogue service are called by whoever executes the plan; choose another model to run it here"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MediaEndpointConfig;
    use crate::testkit::{inputs, job};

    struct Named(&'static str);

    #[async_trait]
    impl Worker for Named {
        async fn perform(&self, _job: &Job) -> Result<Value, TaskError> {
            Ok(self.0.into())
        }
    }

    #[tokio::test]
    async fn each_host_has_its_worker() {
        let named = |name| Some(Arc::new(Named(name)) as Arc<dyn Worker>);
        let workers = Workers {
            native: named("native"),
            local: named("local"),
            huggingface: named("huggingface"),
            media: None,
            chat: named("chat"),
            tool: named("tool"),
        };
        let hosts = [
            (Host::Native, "native"),
            (Host::Local, "local"),
            (Host::Huggingface, "huggingface"),
            (Host::Llm, "chat"),
            (Host::Tool, "tool"),
        ];
        for (host, name) in hosts {
            let job = job(host, "m", "text-to-image", &[]);
            assert_eq!(workers.perform(&job).await.unwrap(), name);
            let error = Workers::default().perform(&job).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::NotConfigured);
            assert!(error.message.contains(host.as_str()) && error.hint.is_some(), "{error:?}");
        }
        // Those of a catalogue service are for others to call.
        let error = workers.perform(&job(Host::Api, "m", "text-to-image", &[])).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::NotConfigured);

        let (_folder, inputs) = inputs();
        let mut config = MediaEndpointConfig::new("http://127.0.0.1:9/v1".parse().unwrap(), None);
        config.image_model = Some("painter".to_owned());
        let workers = Workers { media: Some(Arc::new(MediaEndpoint::new(config, inputs))), ..workers };
        // The media endpoint gets what it has a model for (and misses the text), the chat model gets the rest.
        let error = workers.perform(&job(Host::Llm, "painter", "text-to-image", &[])).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::MissingArgument);
        let speech = workers.perform(&job(Host::Llm, "m", "text-to-speech", &[])).await.unwrap();
        assert_eq!(speech, "chat");
    }
}
