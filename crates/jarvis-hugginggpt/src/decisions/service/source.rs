//! A model catalogue service as a source of tasks and models. Every model it names counts as available.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_catalogue::Host;
use jarvis_catalogue::{Available, Family, Model};
use jarvis_plan::{ErrorCode, Kind, Param, Task, TaskError, Tool, Vocabulary};

use super::{Service, ServiceError, ServiceModel, ServiceTask, fallback_tasks};
use crate::decisions::examples::Examples;
use crate::source::{CHAT_MODEL_ID, Candidates, Found, ModelSource, Records, Tasks, chat_model};

#[derive(Debug, Clone)]
pub struct ServiceSource {
    service: Service,
    shown: usize,
    /// Examples of one's own, which take the place of the service's.
    pub examples: Option<Arc<Examples>>,
    /// The tasks that the chat model serves; those of the registry unless set.
    pub served: Option<Vec<String>>,
}

impl ServiceSource {
    /// Of this service, with the first `shown` models of a task shown to the model that chooses.
    pub fn new(service: Service, shown: usize) -> ServiceSource {
        ServiceSource { service, shown, examples: None, served: None }
    }

    fn is_served(&self, task: &str) -> bool {
        match &self.served {
            Some(served) => served.iter().any(|name| name == task),
            None => jarvis_catalogue::find(task).is_some_and(|kind| kind.name == task && kind.is_chat_served()),
        }
    }

    async fn available(&self, task: &str) -> Result<(Vec<Available>, Option<String>), TaskError> {
        let models = self.service.models(task).await.map_err(|error| failed(&error))?;
        let available = models.value.iter().map(|model| {
            let mut entry = Model::new(&model.id, task, Host::Api, &model.description);
            entry.likes = model.likes;
            entry.tags.clone_from(&model.tags);
            Available { model: Arc::new(entry), host: Host::Api }
        });
        Ok((available.collect(), models.stale.as_ref().map(stale)))
    }
}

fn stale(error: &ServiceError) -> String {
    format!("{error}; an earlier reply was used")
}

fn failed(error: &ServiceError) -> TaskError {
    let code = match error {
        ServiceError::Call { .. } if error.is_timeout() => ErrorCode::Timeout,
        ServiceError::Call { .. } => ErrorCode::Unavailable,
        ServiceError::Shape { .. } => ErrorCode::BadReply,
        ServiceError::NoTasks { .. } => ErrorCode::NotFound,
    };
    TaskError::new(code, error.to_string()).hint(error.hint())
}

/// A service's task as a planner sees it: as the registry knows it, or something that looks at a picture.
fn tool(task: &ServiceTask) -> Tool {
    let mut tool = match jarvis_catalogue::find(&task.id).filter(|kind| kind.name == task.id) {
        Some(kind) => kind.tool(),
        None => Tool {
            params: [("image", Kind::Image), ("text", Kind::Text)]
                .map(|(name, kind)| Param { required: false, ..Param::required(name, kind) })
                .to_vec(),
            ..Tool::typed(&task.id, "", &[], &[Kind::Json])
        },
    };
    if !task.description.is_empty() {
        tool.description.clone_from(&task.description);
    }
    if !task.name.is_empty() && task.name != task.id {
        tool.aliases.push(task.name.clone());
    }
    tool
}

#[async_trait]
impl ModelSource for ServiceSource {
    async fn tasks(&self) -> Result<Tasks, TaskError> {
        let tasks = self.service.tasks().await.map_err(|error| failed(&error))?;
        let offered: Vec<Tool> = tasks.value.iter().map(tool).collect();
        let listed = |name: &str| offered.iter().any(|tool| tool.name == name);
        // The chat model and the model server serve these, whatever the service lists.
        let besides = jarvis_catalogue::task_types()
            .iter()
            .filter(|kind| kind.family != Family::Ordinary && !listed(kind.name))
            .map(jarvis_catalogue::TaskType::tool);
        let all = offered.iter().cloned().chain(besides).collect();
        Ok(Tasks { vocabulary: Arc::new(Vocabulary::new(all)), offered })
    }

    async fn find(&self, task: &Task, effective: &str) -> Result<Found, TaskError> {
        let family = jarvis_catalogue::find(effective).filter(|kind| kind.name == effective).map(|kind| kind.family);
        match family {
            Some(Family::Control | Family::ControlGeneration) => {
                return Err(TaskError::new(
                    ErrorCode::NoModel,
                    format!("`{effective}` needs a model server of one's own, which a catalogue service does not have"),
                )
                .hint("leave `decisions.model_api_base_url` out and set `local_inference_endpoint` to plan with control models"));
            }
            _ if self.is_served(effective) => {
                return Ok(Found::Fixed {
                    chosen: chat_model(CHAT_MODEL_ID, Host::Api, effective),
                    fallbacks: Vec::new(),
                    reason: "the chat model serves this task itself".into(),
                });
            }
            Some(Family::Ordinary | Family::ChatServed) | None => {}
        }
        let (mut models, note) = self.available(effective).await?;
        if models.is_empty() {
            return Err(TaskError::new(ErrorCode::NoModel, format!("no models available for task {}", task.task)));
        }
        let count = models.len();
        models.truncate(self.shown.max(1));
        Ok(Found::Among(Candidates { models, count, note, ..Candidates::default() }))
    }

    fn replaces_images(&self) -> bool {
        true
    }

    async fn records(&self) -> Result<Records, TaskError> {
        Ok(match self.service.tasks().await {
            Ok(tasks) => Records {
                tasks: tasks.value.as_ref().clone(),
                notes: tasks.stale.as_ref().map(stale).into_iter().collect(),
            },
            Err(error) => Records {
                tasks: fallback_tasks(),
                notes: vec![format!("{error}; the built-in list of tasks was used")],
            },
        })
    }

    async fn models_of(&self, task: &str) -> Result<Vec<ServiceModel>, TaskError> {
        let models = self.service.models(task).await.map_err(|error| failed(&error))?;
        Ok(models.value.as_ref().clone())
    }

    async fn examples(&self) -> Arc<Examples> {
        if let Some(own) = &self.examples {
            return Arc::clone(own);
        }
        match self.service.examples("", "", super::MAX_EXAMPLES).await {
            Ok(examples) => Arc::new(Examples::new(examples.value.as_ref().clone())),
            // Planning goes on without them.
            Err(error) => {
                tracing::warn!(%error, "there are no examples");
                Arc::default()
            }
        }
    }

    fn refresh(&self) {
        self.service.refresh();
    }
}
