//! The prompts: one system and one user message for each stage, kept as Markdown.
//!
//! A test holds what each must say.

use jarvis_chat::Message;
use jarvis_plan::Role;
use jarvis_prompt::template::{Template, TemplateError};
use serde::Serialize;

macro_rules! prompts {
    ($($(#[$doc:meta])* $name:ident = $file:literal, $stage:literal, [$($slot:literal),*];)*) => {
        /// A prompt. Two prompts may belong to one stage.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Prompt {
            $($(#[$doc])* $name,)*
        }

        impl Prompt {
            /// Every prompt.
            pub const ALL: &[Prompt] = &[$(Prompt::$name),*];

            /// The label of its stage.
            pub fn stage(self) -> &'static str {
                match self { $(Prompt::$name => $stage,)* }
            }

            /// Its file in `prompts/`, without the ending.
            pub fn file(self) -> &'static str {
                match self { $(Prompt::$name => $file,)* }
            }

            fn source(self) -> &'static str {
                match self { $(Prompt::$name => include_str!(concat!("../prompts/", $file, ".md")),)* }
            }

            fn slots(self) -> &'static [&'static str] {
                match self { $(Prompt::$name => &[$($slot),*],)* }
            }
        }
    };
}

prompts! {
    /// FuncQA: the question into subtasks.
    DecomposeFuncqa = "task_decompose_funcqa", "task_decompose", ["question", "tools"];
    /// ToolBench: the request into subtasks.
    DecomposeToolbench = "task_decompose_toolbench", "task_decompose", ["question"];
    /// What each subtask waits for.
    Topology = "task_topology", "task_topology", ["question", "tasks"];
    /// Whether a subtask needs a tool.
    ToolCheck = "tool_check", "tool_check", ["task"];
    /// A subtask without a tool.
    AnswerDirect = "answer_direct", "answer_direct", ["task"];
    /// Which tool.
    ChooseTool = "choose_tool", "choose_tool", ["task", "tools"];
    /// Which APIs of it.
    ChooseApi = "choose_api", "choose_api", ["task", "description", "apis"];
    /// Parameters of one API.
    ChooseParameter = "choose_parameter", "choose_parameter", ["task", "usage", "single", "second"];
    /// The same where earlier answers matter.
    ChooseParameterDepend = "choose_parameter_depend", "choose_parameter_depend",
        ["task", "usage", "log", "single", "second"];
    /// The answer from what the calls gave.
    AnswerGeneration = "answer_generation", "answer_generation", ["task", "result"];
    /// The same where earlier answers matter.
    AnswerGenerationDepend = "answer_generation_depend", "answer_generation_depend", ["task", "result", "log"];
    /// The final answer.
    Summarize = "answer_summarize", "answer_summarize", ["question", "answers"];
    /// Whether an answer is one.
    Check = "answer_check", "answer_check", ["question", "answer"];
    /// RestBench: the question into steps with endpoints.
    DecomposeRestbench = "restbench_decompose", "restbench_decompose", ["question", "service", "tools", "example"];
    /// What is added after a reply that could not be used.
    Again = "again", "again", ["reason"];
}

/// The prompts, parsed.
#[derive(Debug, Clone)]
pub struct Prompts {
    templates: Vec<(Prompt, Template)>,
}

impl Prompts {
    /// The prompts that come with the crate.
    ///
    /// # Errors
    /// Only when one of them is broken.
    pub fn load() -> Result<Prompts, TemplateError> {
        let parse = |prompt: &Prompt| Ok((*prompt, Template::parse(prompt.file(), prompt.source(), prompt.slots())?));
        Ok(Prompts { templates: Prompt::ALL.iter().map(parse).collect::<Result<_, TemplateError>>()? })
    }

    /// The messages of a prompt. With `reason`, the last message ends with what was wrong with the last reply.
    ///
    /// # Errors
    /// Only when the context lacks a slot.
    pub fn messages(
        &self,
        prompt: Prompt,
        context: &impl Serialize,
        reason: Option<&str>,
    ) -> Result<Vec<Message>, TemplateError> {
        #[derive(Serialize)]
        struct Again<'a> {
            reason: &'a str,
        }
        let mut messages = self.render(prompt, context)?;
        if let Some(reason) = reason {
            let again = self.render(Prompt::Again, &Again { reason })?;
            let again = again.first().map(Message::joined_text).unwrap_or_default();
            if let Some(last) = messages.last_mut() {
                *last = Message::text(Role::User, format!("{}\n\n{again}", last.joined_text()));
            }
        }
        Ok(messages)
    }

    fn render(&self, prompt: Prompt, context: &impl Serialize) -> Result<Vec<Message>, TemplateError> {
        // Every prompt is loaded, so there is always one.
        let turns = match self.templates.iter().find(|(name, _)| *name == prompt) {
            Some((_, template)) => template.render(context)?,
            None => Vec::new(),
        };
        Ok(turns.into_iter().map(Message::from).collect())
    }
}

#[cfg(test)]
mod tests;
