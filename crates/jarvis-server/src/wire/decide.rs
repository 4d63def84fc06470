//! What callers ask to be decided, and the plans they bring.

use jarvis_hugginggpt::decisions::Format;
use jarvis_hugginggpt::decisions::examples::Scenario;
use jarvis_plan::{Request, Turn};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::options::Options;
use crate::wire::ask::{Ask, Attachment, Message};
use crate::wire::openai::OneOrMany;
use crate::wire::plan::GivenPlan;

/// A request for a decision: `messages`, as for an answer, or a `scenario`.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct DecideAsk {
    /// The conversation; the last message is the request.
    #[schema(value_type = Option<Vec<Message>>)]
    pub(crate) messages: Option<Vec<Turn>>,
    /// What is seen, to be planned as a vision pipeline.
    #[schema(value_type = Option<ScenarioAsk>)]
    pub(crate) scenario: Option<Value>,
    /// How the decision is written.
    #[schema(value_type = Option<DecisionFormat>)]
    pub(crate) format: Option<Format>,
    /// Files that the request is about.
    #[serde(default)]
    pub(crate) attachments: Vec<Attachment>,
    /// `false` plans without the plans of earlier runs.
    pub(crate) experience: Option<bool>,
    /// A chat endpoint of the caller's own; refused unless the server allows it.
    pub(crate) api_endpoint: Option<String>,
    /// A key for it; refused unless the server allows it.
    #[schema(write_only)]
    pub(crate) api_key: Option<String>,
}

/// How a decision is written.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum DecisionFormat {
    /// `decisions`, `raw_results` and the execution plan.
    Config,
    /// `tasks` with the fields of a vision pipeline.
    Pipeline,
}

#[derive(Debug)]
pub(crate) enum Subject {
    Request(Request),
    Scenario(Scenario),
}

impl DecideAsk {
    /// What is to be decided, and with which endpoint and key.
    ///
    /// # Errors
    /// When neither messages nor a scenario are given, or a field is wrong.
    pub(crate) fn read(self, options: &Options, unpriced: Option<&str>) -> Result<(Subject, Ask), ApiError> {
        let scenario = self.scenario.filter(|scenario| !scenario.is_null());
        let missing = || {
            ApiError::invalid("neither `messages` nor `scenario` is given")
                .param("messages")
                .hint(r#"send {"messages": [{"role": "user", "content": "what you want"}]}"#)
        };
        let mut ask = Ask {
            messages: self.messages.unwrap_or_default(),
            attachments: self.attachments,
            experience: self.experience,
            api_endpoint: self.api_endpoint,
            api_key: self.api_key,
            ..Ask::default()
        };
        let subject = match scenario {
            Some(scenario) => {
                let wrong = |reason: String| ApiError::invalid(reason).param("scenario");
                Subject::Scenario(Scenario::read(&scenario).map_err(wrong)?)
            }
            None if ask.messages.is_empty() => return Err(missing()),
            None => Subject::Request(ask.request(options, unpriced)?),
        };
        ask.messages.clear();
        Ok((subject, ask))
    }
}

/// What is seen.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct ScenarioAsk {
    /// Names of the objects.
    #[schema(rename = "objects-seen")]
    objects_seen: Option<OneOrMany>,
    /// What happens.
    #[schema(rename = "sample-description")]
    sample_description: String,
}

/// A plan to be carried out that was never saved.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct NewPlanAsk {
    execution_config: GivenPlan,
    /// The request's words; those of the plan unless given.
    request: Option<String>,
    /// Texts and files that the plan names.
    attachments: Option<Vec<Attachment>>,
    /// Let a streamed run go on when the connection closes.
    detached: Option<bool>,
}

/// What to try of the planning prompt.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) struct TrialAsk {
    /// The categories that examples are taken from.
    few_shot_categories: Option<Vec<u32>>,
    /// How many of each; 1 unless given.
    num_few_shot_examples_per_category: Option<u32>,
    /// The category of the tested example.
    test_category_index: u32,
    /// Its place in the category; 0 unless given.
    test_example_index: Option<u32>,
}

/// A plan to be carried out, as it was saved or edited.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub(crate) struct PlanAsk {
    /// The plan: what `POST /decisions` gave under this name, edited at will. Levels, edges and order are worked out anew.
    #[schema(value_type = Option<GivenPlan>)]
    pub(crate) execution_config: Option<Value>,
    /// The request's words; those of the plan unless given.
    pub(crate) request: Option<String>,
    /// Texts and files that the plan names.
    #[serde(default)]
    pub(crate) attachments: Vec<Attachment>,
    /// Let a streamed run go on when the connection closes.
    #[serde(default)]
    pub(crate) detached: bool,
}
