//! What can be set about the pipeline. `docs/configuration.md` explains the keys that set it.

use jarvis_engine::Limits as EngineLimits;
use jarvis_plan::Limits as PlanLimits;

#[derive(Debug, Clone)]
pub struct Settings {
    /// Ask once more when the planner's reply cannot be read or has faults, quoting what is wrong.
    pub reask: bool,
    /// Let the offline planner plan when no plan of the chat model can run.
    pub last_resort: bool,
    /// Start tasks while the plan is still being written.
    pub stream_plan: bool,
    /// When what came of a plan is looked at, and planned on.
    pub replan: Look,
    /// How often a plan is planned on, at most.
    pub max_rounds: u32,
    pub plan: PlanLimits,
    pub engine: EngineLimits,
    /// The most calls of a task that runs once for each element of a list.
    pub max_each: usize,
    /// Tokens left free for the model's reply in every prompt.
    pub reserve_tokens: usize,
    /// Bias on the words of the plan format, −100 to 100; `None` sends none.
    pub parse_bias: Option<f32>,
    /// Bias on the words of the choice format, −100 to 100; `None` sends none.
    pub choose_bias: Option<f32>,
    /// Ask the endpoint for structured output where a stage answers in JSON.
    pub structured: bool,
    /// Start tasks that only read with the model that is ranked best while the chat model chooses.
    pub speculate: bool,
    /// How many available models are shown to the model that chooses.
    pub num_candidates: usize,
    /// Characters of a model's description that are shown.
    pub max_description: usize,
    pub stream_answer: bool,
    /// What becomes of the plans of finished runs.
    pub experience: ExperienceUse,
    /// How many of them are shown to a chat model in the place of built-in demonstrations.
    pub experience_demos: usize,
}

/// What becomes of the plans of finished runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExperienceUse {
    /// They are neither kept nor used.
    Off,
    /// They are kept.
    Keep,
    /// They are kept, and requests are planned by them.
    #[default]
    Use,
    /// The same; a request that differs from an earlier one in its values alone is planned without a model.
    Reuse,
}

/// When what came of a plan is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Look {
    /// Never.
    Never,
    /// When a task failed, or the plan says that it is a first part.
    #[default]
    Failures,
    /// After every plan.
    Always,
}

impl<'de> serde::Deserialize<'de> for ExperienceUse {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ExperienceUse, D::Error> {
        use serde::de::Error as _;
        let written = serde_json::Value::deserialize(deserializer)?;
        // YAML reads `off` as a switch.
        match (written.as_bool(), written.as_str()) {
            (Some(false), _) | (_, Some("off")) => Ok(ExperienceUse::Off),
            (_, Some("keep")) => Ok(ExperienceUse::Keep),
            (Some(true), _) | (_, Some("use")) => Ok(ExperienceUse::Use),
            (_, Some("reuse")) => Ok(ExperienceUse::Reuse),
            _ => Err(D::Error::custom(format!("{written} is none of `off`, `keep`, `use`, `reuse`"))),
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            reask: true,
            last_resort: true,
            stream_plan: true,
            replan: Look::default(),
            max_rounds: 4,
            plan: PlanLimits::default(),
            engine: EngineLimits::default(),
            max_each: 32,
            reserve_tokens: 800,
            parse_bias: Some(0.1),
            choose_bias: Some(5.0),
            structured: true,
            speculate: false,
            num_candidates: 5,
            max_description: 100,
            stream_answer: true,
            experience: ExperienceUse::default(),
            experience_demos: 3,
        }
    }
}
