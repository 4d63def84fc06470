//! The prompts, kept as Markdown.

jarvis_ask::prompts! {
    pub enum Prompt in "../prompts/" {
        Plan = "rewoo_plan", "rewoo_plan", [question, files, tools];
        /// The planner again, after a plan with faults.
        Again = "rewoo_again", "rewoo_plan", [error];
        /// A step that the model carries out.
        Llm = "rewoo_llm", "rewoo_llm", [input];
        Solve = "rewoo_solve", "rewoo_solve", [question, steps];
    }
}

pub type Prompts = jarvis_ask::Prompts<Prompt>;
