//! The prompts of inference and generation. Recordings and scripted servers match on their section labels.

use crate::generate::STAGE as GENERATE;
use crate::infer::{PLAN_STAGE, REFORMAT_STAGE};

jarvis_ask::prompts! {
    /// A prompt; two where the dependency type decides what the model is shown.
    pub(crate) enum Prompt in "../prompts/" {
        /// A plan from typed tools.
        PlanResource = "plan_resource", PLAN_STAGE, [tools, demos, request];
        /// A plan from tools with parameters.
        PlanTemporal = "plan_temporal", PLAN_STAGE, [tools, demos, request];
        /// A reply put into strict JSON.
        Reformat = "reformat", REFORMAT_STAGE, [temporal, reply];
        /// A sample from typed tools.
        GenerateResource = "generate_resource", GENERATE, [nodes, links, seed, check];
        /// A sample from tools with parameters.
        GenerateTemporal = "generate_temporal", GENERATE, [nodes, links, seed, check];
    }
}
