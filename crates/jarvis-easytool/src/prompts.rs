//! Prompts: one system and one user message for each stage, in Markdown files.

use std::sync::LazyLock;

use jarvis_ask::Prompts;
use jarvis_chat::Message;
use jarvis_plan::Role;
use jarvis_prompt::template::TemplateError;
use serde::Serialize;

jarvis_ask::prompts! {
    /// A prompt. Two prompts may belong to one stage.
    pub enum Prompt in "../prompts/" {
        DecomposeFuncqa = "task_decompose_funcqa", "task_decompose", [question, tools];
        DecomposeToolbench = "task_decompose_toolbench", "task_decompose", [question];
        Topology = "task_topology", "task_topology", [question, tasks];
        ToolCheck = "tool_check", "tool_check", [task];
        AnswerDirect = "answer_direct", "answer_direct", [task];
        ChooseTool = "choose_tool", "choose_tool", [task, tools];
        ChooseApi = "choose_api", "choose_api", [task, description, apis];
        ChooseParameter = "choose_parameter", "choose_parameter", [task, usage, log, single, second];
        /// The same where earlier answers matter.
        ChooseParameterDepend = "choose_parameter_depend", "choose_parameter_depend",
            [task, usage, log, single, second];
        AnswerGeneration = "answer_generation", "answer_generation", [task, result, log];
        AnswerGenerationDepend = "answer_generation_depend", "answer_generation_depend", [task, result, log];
        Summarize = "answer_summarize", "answer_summarize", [question, answers];
        Check = "answer_check", "answer_check", [question, answer];
        DecomposeRestbench = "restbench_decompose", "restbench_decompose", [question, service, tools, example];
        /// What is added after a reply that could not be used.
        Again = "again", "again", [reason];
        JudgeAnswer = "judge_answer", "judge_answer", [query, answer];
        JudgeAnswerDetail = "judge_answer_detail", "judge_answer_detail", [query, answer, calls];
        JudgeTask = "judge_task", "judge_task", [query, functions];
        JudgePreference = "judge_preference", "judge_preference", [query, first, second];
        DescribeTool = "describe_tool", "describe_tool", [name, count, document, fault];
        WriteScenario = "write_scenario", "write_scenario", [tool, function, purpose, required, optional, fault];
    }
}

static BUILTIN: LazyLock<Prompts<Prompt>> = LazyLock::new(|| Prompts::builtin().expect("a test parses every prompt"));

/// The messages of a prompt. With `reason`, the last message ends with what was wrong with the last reply.
pub fn messages(prompt: Prompt, context: &impl Serialize, reason: Option<&str>) -> Result<Vec<Message>, TemplateError> {
    let mut messages = BUILTIN.messages(prompt, context)?;
    if let (Some(reason), Some(last)) = (reason, messages.last_mut()) {
        let again = BUILTIN.messages(Prompt::Again, &serde_json::json!({"reason": reason}))?;
        let again: Vec<String> = again.iter().map(Message::joined_text).collect();
        *last = Message::text(Role::User, format!("{}\n\n{}", last.joined_text(), again.concat()));
    }
    Ok(messages)
}

#[cfg(test)]
mod tests;
