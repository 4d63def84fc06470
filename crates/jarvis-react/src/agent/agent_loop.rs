//! The rounds of one question: think, call, observe, until there is an answer.

use std::sync::Arc;
use std::time::Instant;

use jarvis_ask::{Ask, Events};
use jarvis_chat::Message;
use jarvis_engine::GrowingPlan;
use jarvis_plan::{Arg, Draft, DraftTask, EventKind, Limits, Outcome, TaskId, Vocabulary};
use jarvis_prompt::reader::without_reasoning;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::calls::{VALUE, images, observed};
use super::context::Context;
use super::many::Offer;
use super::{Agent, AgentAnswer, AskError, Asked, Finish, STAGE};
use crate::budget::Budget;
use crate::parse::{Action, Parsed, parse_json, parse_tags};
use crate::prompt::Which;
use crate::rounds::Round;
use crate::settings::Format;
use crate::trace::Trace;

/// The rounds of one question, up to now.
pub(super) struct AgentLoop<'a> {
    agent: &'a Agent,
    asked: &'a Asked,
    events: &'a Events,
    plan: GrowingPlan,
    vocabulary: Vocabulary,
    outcomes: UnboundedReceiver<Outcome>,
    settled: Vec<Outcome>,
    context: Arc<Context>,
    budget: Budget,
    rounds: Vec<Round>,
    warnings: Vec<String>,
}

struct Thought {
    parsed: Parsed,
    output: String,
    prompt: Vec<Message>,
    ms: u64,
}

impl<'a> AgentLoop<'a> {
    pub(super) fn new(
        agent: &'a Agent,
        offer: Offer,
        asked: &'a Asked,
        events: &'a Events,
        plan: GrowingPlan,
        outcomes: UnboundedReceiver<Outcome>,
    ) -> AgentLoop<'a> {
        AgentLoop {
            agent,
            asked,
            events,
            plan,
            vocabulary: Vocabulary::named(agent.registry.specs().map(|spec| spec.name.as_str())),
            outcomes,
            settled: Vec::new(),
            context: Arc::new(Context::new(agent, offer, asked)),
            budget: Budget::default(),
            rounds: Vec::new(),
            warnings: asked.warnings.clone(),
        }
    }

    /// Goes on until there is an answer.
    pub(super) async fn run(mut self) -> Result<AgentAnswer, AskError> {
        let granted = self.agent.settings.max_steps.max(1);
        let steps = self.asked.max_steps.filter(|own| *own > 0).map_or(granted, |own| own.min(granted));
        let mut aimless = 0;
        for step in 1..=steps {
            let thought = self.think().await?;
            let Parsed { actions, answer, .. } = &thought.parsed;
            if !thought.parsed.thought.is_empty() {
                self.events.emit(EventKind::Thought { step, text: thought.parsed.thought.clone() });
            }
            if !actions.is_empty() {
                aimless = 0;
                let began = Instant::now();
                let well = self.act(step, &thought).await?;
                self.trace(step, &thought, millis(began));
                // An answer that followed the call at once did not wait for it: it stands if the call went well.
                if let Some(answer) = answer.as_ref().filter(|_| well) {
                    return Ok(self.end(answer.clone(), Finish::Final));
                }
                continue;
            }
            aimless += 1;
            let ended = match answer {
                Some(answer) if thought.parsed.nothing_found => Some((answer.clone(), Finish::NotFound)),
                Some(answer) => Some((answer.clone(), Finish::Final)),
                None if aimless == 2 => Some((without_reasoning(&thought.output).trim().to_owned(), Finish::NoFormat)),
                None => None,
            };
            let observation = if ended.is_some() { String::new() } else { self.context.aimless() };
            if ended.is_none() {
                self.events.emit(EventKind::Observation { step, text: observation.clone(), images: Vec::new() });
            }
            self.rounds.push(Round { thought: thought.parsed.thought.clone(), observation, ..Round::default() });
            self.trace(step, &thought, 0);
            if let Some((text, finish)) = ended {
                return Ok(self.end(text, finish));
            }
        }
        let text = self.last(steps + 1).await?;
        Ok(self.end(text, Finish::MaxSteps))
    }

    fn end(self, text: String, finish: Finish) -> AgentAnswer {
        let images = self.rounds.iter().flat_map(|round| round.images.iter().cloned()).collect();
        let AgentLoop { rounds, warnings, plan, settled: mut outcomes, .. } = self;
        outcomes.sort_by_key(|outcome| outcome.id);
        let plan = plan.plan().clone();
        AgentAnswer { text, images, rounds, finish, warnings, plan, outcomes, not_done: Vec::new() }
    }

    async fn think(&mut self) -> Result<Thought, AskError> {
        let Some(ask) = self.model() else {
            let began = Instant::now();
            let parsed = crate::offline::think(self.asked, &self.rounds).await?;
            let output = parsed.answer.clone().unwrap_or_default();
            return Ok(Thought { parsed, output, prompt: Vec::new(), ms: millis(began) });
        };
        let format = self.context.format;
        let mut thought = self.ask(&ask, Which::Round(format)).await?;
        let Thought { parsed, output, .. } = &mut thought;
        match format {
            Format::Tags => *parsed = parse_tags(output),
            Format::Json => *parsed = parse_json(output),
            Format::NativeTools if parsed.actions.is_empty() => {
                // Some models write what they call; what is neither is the answer.
                let written = parse_tags(output);
                let written_call = !written.actions.is_empty() || written.answer.is_some();
                let answer = without_reasoning(output).trim().to_owned();
                *parsed = match written_call {
                    true => written,
                    false => Parsed { answer: (!answer.is_empty()).then_some(answer), ..Parsed::default() },
                };
            }
            Format::NativeTools => parsed.thought = without_reasoning(output).trim().to_owned(),
        }
        Ok(thought)
    }

    /// The call after the last round: the answer alone, without tools. What fails here loses nothing that was found.
    async fn last(&mut self, step: u32) -> Result<String, AskError> {
        let Some(ask) = self.model() else { return Ok(String::new()) };
        let thought = match self.ask(&ask, Which::Last).await {
            Ok(thought) => thought,
            Err(error @ (AskError::Model { .. } | AskError::Unreadable { .. })) => {
                self.warnings.push(format!("the rounds were used up, and there is no last answer: {}", error.whole()));
                return Ok(String::new());
            }
            Err(error) => return Err(error),
        };
        self.trace(step, &thought, 0);
        let in_json = Some(parse_json(&thought.output)).filter(|read| read.answer.is_some());
        let parsed = in_json.unwrap_or_else(|| parse_tags(&thought.output));
        let plain = parsed.actions.is_empty().then(|| without_reasoning(&thought.output).trim().to_owned());
        Ok(parsed.answer.or(plain).unwrap_or_default())
    }

    fn model(&self) -> Option<Ask> {
        let chat = self.agent.chat.clone()?;
        Some(Ask::new(chat, self.events).reserving(self.agent.settings.reserve_tokens))
    }

    async fn ask(&mut self, ask: &Ask, which: Which) -> Result<Thought, AskError> {
        let (budget, messages) = self.context.fitting(ask, which, &self.rounds, self.budget).await?;
        if let Some(keep) = budget.document
            && self.budget.document.is_none()
        {
            self.warnings.push(self.context.cut(keep));
        }
        self.budget = budget;
        let question = ask.stage(STAGE).messages(messages.clone()).request(|request| {
            request.max_tokens = self.agent.settings.max_reply_tokens;
            match which {
                Which::Round(Format::Tags) => request.stop = vec!["<Observation>:".to_owned()],
                Which::Round(Format::NativeTools) => request.tools = self.context.offers(),
                Which::Round(Format::Json) | Which::Last => {}
            }
        });
        let began = Instant::now();
        let reply = question.call().await?;
        let call = |call: jarvis_chat::ToolUse| Action {
            tool: self.context.registered(&call.name),
            input: Some(call.arguments).filter(|input| !input.trim().is_empty()),
            id: Some(call.id),
        };
        let parsed = Parsed { actions: reply.tool_uses.into_iter().map(call).collect(), ..Parsed::default() };
        Ok(Thought { parsed, output: reply.text, prompt: messages, ms: millis(began) })
    }

    /// Makes the calls of a round, at once where there are several; each becomes a task of the plan. True when all went
    /// well.
    async fn act(&mut self, step: u32, thought: &Thought) -> Result<bool, AskError> {
        let before = self.plan.plan().tasks().len();
        let mut rows: Vec<(Round, Option<TaskId>)> = Vec::new();
        let mut draft = Draft::default();
        for (at, action) in thought.parsed.actions.iter().enumerate() {
            let ready = self.ready(action);
            let (name, input) = match &ready {
                Ok((name, input)) => (name.clone(), Value::Object(input.clone()).to_string()),
                Err(_) => (action.tool.clone(), one_line(action.input.as_deref().unwrap_or_default())),
            };
            self.events.emit(EventKind::Action { step, tool: name.clone(), input: input.clone() });
            let said = if at == 0 { thought.parsed.thought.clone() } else { String::new() };
            let mut round = Round {
                thought: said,
                action: name.clone(),
                input: input.clone(),
                call_id: action.id.clone(),
                follows: at > 0,
                ..Round::default()
            };
            let id = match ready {
                Ok((_, input)) => {
                    let id = before + draft.tasks.len();
                    let args = input.into_iter().map(|(name, value)| (name, Arg::Value(value))).collect();
                    let dep = before.checked_sub(1).map(|last| last as i64).into_iter().collect();
                    draft.tasks.push(DraftTask { dep, args, ..DraftTask::new(id as i64, name) });
                    Some(TaskId(u32::try_from(id).expect("rounds are few")))
                }
                Err(told) => {
                    round.observation = told;
                    None
                }
            };
            rows.push((round, id));
        }
        let mut open = draft.tasks.len();
        let mut well = open > 0 && rows.iter().all(|(_, id)| id.is_some());
        if open > 0 {
            // The engine ends only when this end of the plan does, or when it is cancelled.
            let limits = Limits { max_tasks: usize::MAX };
            self.plan.grow(&draft, &self.vocabulary, limits).map_err(|_| AskError::Cancelled)?;
            self.events.emit(EventKind::Plan { plan: self.plan.plan().clone() });
            while open > 0 {
                let outcome = self.outcomes.recv().await.ok_or(AskError::Cancelled)?;
                open -= 1;
                well &= outcome.succeeded();
                let of = rows.iter_mut().find(|(_, id)| *id == Some(outcome.id));
                if let Some((round, _)) = of {
                    round.observation = self.context.result(step, observed(&outcome));
                    round.value = outcome.output.as_ref().and_then(|output| output.get(VALUE).cloned());
                    round.images = images(&outcome);
                    round.ms = outcome.ms;
                }
                self.settled.push(outcome);
            }
        }
        for (round, _) in rows {
            let (text, images) = (round.observation.clone(), round.images.clone());
            self.events.emit(EventKind::Observation { step, text, images });
            self.rounds.push(round);
        }
        Ok(well)
    }

    /// The tool's name and its input, or what the model is told instead of a call.
    fn ready(&self, action: &Action) -> Result<(String, Map<String, Value>), String> {
        let spec = self.agent.registry.meant(&action.tool).ok_or_else(|| self.context.unknown(&action.tool))?;
        match (&action.input, action.object()) {
            (_, Ok(input)) => Ok((spec.name.clone(), input)),
            // A tool that needs nothing may be called with nothing.
            (None, Err(_)) if action.id.is_some() || needs_nothing(&spec.input_schema) => {
                Ok((spec.name.clone(), Map::new()))
            }
            (None, Err(_)) => Err(self.context.missing(&spec.example)),
            (Some(_), Err(reason)) => Err(self.context.bad_input(&reason, &spec.example)),
        }
    }

    fn trace(&self, step: u32, thought: &Thought, tools_ms: u64) {
        let Some(tracer) = &self.agent.tracer else { return };
        let shown = |message: &Message| json!({"role": message.role, "content": message.joined_text()});
        tracer(&Trace {
            run_id: self.events.run_id().to_string(),
            step,
            prompt: thought.prompt.iter().map(shown).collect(),
            output: thought.output.clone(),
            parsed: json!(thought.parsed),
            observation: self.rounds.last().map(|round| round.observation.clone()).filter(|told| !told.is_empty()),
            model_ms: thought.ms,
            tools_ms,
        });
    }
}

fn needs_nothing(schema: &Value) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_none_or(Vec::is_empty)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
