//! Context of the prompts of one question, and the observations that stand in for a call that cannot be made.

use std::sync::Arc;

use jarvis_ask::{Ask, TemplateError};
use jarvis_chat::{Message, Part, ToolOffer, ToolUse};
use jarvis_plan::{Language, Role, Turn};
use serde_json::Value;

use super::many::Offer;
use super::{Agent, AskError, Asked};
use crate::budget::{self, Budget, Whole, without_middle};
use crate::native::WireNames;
use crate::prompt::{self, Filling, Prompts, Which};
use crate::rounds::{Round, json_scratchpad, said, scratchpad, tame};
use crate::settings::{Format, PromptLanguage};

pub(super) struct Context {
    prompts: Arc<Prompts>,
    /// Empty where there is none.
    document: Arc<str>,
    has_document: bool,
    history: Vec<Turn>,
    question: String,
    fence: String,
    wire_names: WireNames,
    offer: Offer,
    pub(super) format: Format,
    language: PromptLanguage,
    reserve: usize,
    max_document_tokens: Option<usize>,
}

/// The tools as a prompt lists them.
struct Listed {
    list: String,
    names: String,
}

impl Context {
    pub(super) fn new(agent: &Agent, offer: Offer, asked: &Asked) -> Context {
        let settings = &agent.settings;
        let question = asked.language.unwrap_or_else(|| Language::of(&asked.question));
        let language = settings.prompt_language.of(question);
        let document = asked.documents.text().cloned().unwrap_or_default();
        let wire_names = WireNames::of(&agent.registry);
        Context {
            prompts: Arc::clone(&agent.prompts),
            has_document: asked.documents.text().is_some(),
            history: asked.history.clone(),
            question: asked.question.trim().to_owned(),
            fence: prompt::fence(&document),
            document,
            wire_names,
            offer,
            format: settings.format,
            language,
            reserve: settings.reserve_tokens,
            max_document_tokens: settings.max_document_tokens,
        }
    }

    /// The messages of a call, within the model's context, and what had to be cut.
    ///
    /// # Errors
    /// When not even the shortest prompt fits.
    pub(super) async fn fitting(
        self: &Arc<Context>,
        ask: &Ask,
        which: Which,
        rounds: &[Round],
        mut budget: Budget,
    ) -> Result<(Budget, Vec<Message>), AskError> {
        // What is surely short enough need not be counted.
        let counted =
            self.max_document_tokens.is_some_and(|most| budget.document.is_none() && self.document.len() > most);
        let context = ask.model().context_tokens(super::STAGE).saturating_sub(self.reserve);
        let shown = budget.document.unwrap_or(self.document.len());
        let tools = self.listed();
        if !counted && shown <= context {
            let messages = self.messages(which, &tools, budget, rounds)?;
            if messages.iter().map(|message| message.joined_text().len()).sum::<usize>() <= context {
                return Ok((budget, messages));
            }
        }
        let (this, ask, rounds) = (Arc::clone(self), ask.clone(), rounds.to_vec());
        let fitted = tokio::task::spawn_blocking(move || {
            if let Some(most) = this.max_document_tokens.filter(|_| counted) {
                budget.document = budget::of_tokens(ask.model(), &this.document, most);
            }
            let build = |budget: Budget| this.messages(which, &tools, budget, &rounds);
            let whole = Whole { turns: this.history.len(), document: this.document.len(), rounds: rounds.len() };
            budget::fit(&ask, this.reserve, whole, budget, build)
        });
        match fitted.await {
            Ok(fitted) => fitted.map_err(AskError::from),
            Err(_) => Err(AskError::Prompt("counting tokens was interrupted".to_owned())),
        }
    }

    fn listed(&self) -> Listed {
        let tools = self.offer.listed();
        Listed { list: prompt::tools(&tools, self.language), names: prompt::names(&tools) }
    }

    fn messages(
        &self,
        which: Which,
        tools: &Listed,
        budget: Budget,
        rounds: &[Round],
    ) -> Result<Vec<Message>, TemplateError> {
        let document = match budget.document {
            Some(keep) => without_middle(&self.document, keep),
            None => (&*self.document).into(),
        };
        let scratchpad = match which {
            Which::Round(Format::Json) => json_scratchpad(rounds, budget.skip),
            Which::Round(Format::NativeTools) => String::new(),
            Which::Round(Format::Tags) | Which::Last => scratchpad(rounds, budget.skip),
        };
        let filling = Filling {
            fence: &self.fence,
            document: &document,
            has_document: self.has_document,
            empty: document.trim().is_empty(),
            tools: &tools.list,
            names: &tools.names,
            question: &self.question,
            scratchpad: &scratchpad,
        };
        let mut messages = self.prompts.messages(which, self.language, &filling)?;
        let history = budget.turns.kept(&self.history);
        let last = messages.len().saturating_sub(1);
        messages.splice(last..last, history.iter().cloned().map(Message::from));
        if which == Which::Round(Format::NativeTools) {
            // Calls made in one breath stay or go together: an endpoint takes no result without its call.
            let begins = (budget.skip..rounds.len()).find(|at| rounds.get(*at).is_some_and(|round| !round.follows));
            messages.extend(self.exchange(begins.and_then(|at| rounds.get(at..)).unwrap_or_default()));
        }
        Ok(messages)
    }

    /// The rounds as messages with calls of tools and what they gave.
    fn exchange(&self, rounds: &[Round]) -> Vec<Message> {
        let mut messages: Vec<Message> = Vec::new();
        let mut results: Vec<Message> = Vec::new();
        for round in rounds {
            match &round.call_id {
                Some(id) => {
                    let call = ToolUse {
                        id: id.clone(),
                        name: self.wire_names.wire(&round.action),
                        arguments: round.input.clone(),
                    };
                    let result = Part::ToolResult { id: id.clone(), text: round.observation.clone() };
                    if !round.follows {
                        messages.append(&mut results);
                        messages.push(Message::text(Role::Assistant, round.thought.clone()));
                    }
                    if let Some(said) = messages.last_mut() {
                        said.parts.push(Part::ToolUse(call));
                    }
                    results.push(Message { role: Role::User, parts: vec![result] });
                }
                // A call that was written out, or none.
                None => {
                    messages.append(&mut results);
                    messages.push(Message::text(Role::Assistant, said(round)));
                    messages.push(Message::text(Role::User, format!("<Observation>: {}", tame(&round.observation))));
                }
            }
        }
        messages.append(&mut results);
        messages
    }

    /// A result of a step as the prompts show it.
    pub(super) fn result(&self, step: u32, text: String) -> String {
        self.offer.result(step, text, self.language)
    }

    pub(super) fn offers(&self) -> Vec<ToolOffer> {
        self.wire_names.offers(&self.offer.now())
    }

    pub(super) fn registered(&self, wire: &str) -> String {
        self.wire_names.registered(wire)
    }

    pub(super) fn cut(&self, keep: usize) -> String {
        let share = keep as f64 / self.document.len().max(1) as f64 * 100.0;
        format!("the document is longer than the model can take; its middle was left out, {share:.0} % of it was read")
    }

    pub(super) fn aimless(&self) -> String {
        match (self.format, self.language) {
            (Format::Tags | Format::NativeTools, PromptLanguage::Zh) => {
                "既没有行动也没有最终答案：请写出 <Action> 和 <Action Input>，或者写出 <Final Answer>。"
            }
            (Format::Tags | Format::NativeTools, _) => {
                "no action and no final answer: write <Action> with <Action Input>, or write <Final Answer>."
            }
            (Format::Json, PromptLanguage::Zh) => {
                "既没有行动也没有最终答案：请回复一个含有 action 和 action_input、或者含有 final_answer 的 JSON 对象。"
            }
            (Format::Json, _) => {
                "no action and no final answer: reply with one JSON object with action and action_input, or with final_answer."
            }
        }
        .to_owned()
    }

    pub(super) fn unknown(&self, tool: &str) -> String {
        let tool: String = tool.chars().filter(|c| !c.is_control()).take(80).collect();
        let names = self.listed().names;
        match self.language {
            PromptLanguage::Zh if names.is_empty() => format!("没有名为“{tool}”的工具；没有可用的工具，请直接回答。"),
            PromptLanguage::Zh => format!("没有名为“{tool}”的工具。可用的工具：{names}。"),
            _ if names.is_empty() => format!("there is no tool `{tool}`; there are no tools at all: answer without."),
            _ => format!("there is no tool `{tool}`. The tools are: {names}."),
        }
    }

    pub(super) fn missing(&self, example: &Value) -> String {
        match self.language {
            PromptLanguage::Zh => format!("缺少 Action Input。请写出一个 JSON 对象，例如 {example}。"),
            _ => format!("the Action Input is missing. Write one JSON object, such as {example}."),
        }
    }

    pub(super) fn bad_input(&self, reason: &str, example: &Value) -> String {
        match self.language {
            PromptLanguage::Zh => {
                format!("Action Input 不是有效的 JSON（{reason}）。请写出一个 JSON 对象，例如 {example}。")
            }
            _ => format!("Action Input is not valid JSON ({reason}). Write one JSON object, such as {example}."),
        }
    }
}
