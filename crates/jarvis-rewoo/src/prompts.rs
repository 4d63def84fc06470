//! The prompts, kept as Markdown.

jarvis_ask::prompts! {
    /// A prompt of this pipeline.
    pub enum Prompt in "../prompts/" {
        /// The planner.
        Plan = "rewoo_plan", "rewoo_plan", [question, files, tools];
        /// The planner again, after a plan with faults.
        Again = "rewoo_again", "rewoo_plan", [error];
        /// A step that the model carries out.
        Llm = "rewoo_llm", "rewoo_llm", [input];
        /// The solver.
        Solve = "rewoo_solve", "rewoo_solve", [question, steps];
    }
}

/// The prompts, parsed.
pub type Prompts = jarvis_ask::Prompts<Prompt>;
