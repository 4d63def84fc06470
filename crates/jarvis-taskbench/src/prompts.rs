//! The prompts of inference and generation. Recordings and scripted servers match on their section labels.

use crate::generate::STAGE as GENERATE;
use crate::infer::{PLAN_STAGE, REFORMAT_STAGE};

jarvis_ask::prompts! {
    /// A prompt; two where the dependency type decides what the model is shown.
    pub(crate) enum Prompt in "../prompts/" {
        PlanResource = "plan_resource", PLAN_STAGE, [tools, demos, request];
        PlanTemporal = "plan_temporal", PLAN_STAGE, [tools, demos, request, data];
        Reformat = "reformat", REFORMAT_STAGE, [temporal, reply];
        GenerateResource = "generate_resource", GENERATE, [nodes, links, seed, check];
        GenerateTemporal = "generate_temporal", GENERATE, [nodes, links, seed, check];
    }
}
