//! A language model that is loaded: conversations in, replies out.

use std::fs::File;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::gguf::{Checked, Fault, Gguf};
use super::grammar::{Grammars, Guide};
use super::matrix::{loaded_size, threads_of};
use super::prefix::{Full, Lease, Prefixes};
use super::reply::Reply;
use super::sampler::Sampler;
use super::settings::Settings;
use super::template::ChatTemplate;
use super::transformer::Transformer;
use super::vocabulary::Vocabulary;
use crate::{Call, ChatInput, ChatOutput, ChatTurn, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

/// Tokens of a prompt that are computed at once. Between batches the call may end.
const BATCH: usize = 128;
/// Bytes that the keys and values of one sequence may take: the context is bounded by it.
const LONGEST: u64 = 2 << 30;
/// Bytes up to which several sequences of a model are held.
const SEVERAL: u64 = 512 << 20;
/// The shortest context that is worth loading a model for.
const SHORTEST: usize = 128;

/// What a file says of a model without its weights: enough to make and count prompts.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) settings: Settings,
    pub(super) vocabulary: Arc<Vocabulary>,
    template: ChatTemplate,
    /// Bytes that its weights take when they are loaded.
    weights: u64,
    /// Positions that it has, bounded by memory.
    pub(super) context: usize,
}

/// Opens a file, and reads its header.
pub(super) fn describe(files: &ModelFiles, name: &str, max_memory: u64) -> Result<(Gguf, Description), ExpertError> {
    let file = File::open(files.path(name)?).map_err(|error| files.bad(name, error))?;
    let gguf = Gguf::read(file).map_err(|fault| error_of(files, name, fault))?;
    let description = Description::read(&gguf).map_err(|fault| error_of(files, name, fault))?;
    let description = description.fit(max_memory).map_err(|needed| ExpertError::TooLarge {
        model: files.id.clone(),
        needed: needed >> 20,
        allowed: max_memory >> 20,
    })?;
    Ok((gguf, description))
}

pub(super) fn error_of(files: &ModelFiles, name: &str, fault: Fault) -> ExpertError {
    match fault {
        Fault::Damaged(reason) => files.bad(name, reason),
        Fault::Unsupported(what) => files.unsupported(format!("{what}: not supported")),
    }
}

impl Description {
    fn read(gguf: &Gguf) -> Checked<Description> {
        let settings = Settings::read(gguf)?;
        let vocabulary = Arc::new(Vocabulary::read(gguf)?);
        // Some models have more rows than tokens, to fill a block; fewer would be read past their end.
        if vocabulary.len() > settings.vocabulary {
            return super::gguf::damaged(format!(
                "it has {} tokens and embeddings of {}",
                vocabulary.len(),
                settings.vocabulary
            ));
        }
        let name = |key: &str| {
            let id = gguf.integer(key).and_then(|id| u32::try_from(id).ok());
            id.map_or_else(String::new, |id| vocabulary.name(id))
        };
        let (begin, end) = (name("tokenizer.ggml.bos_token_id"), name("tokenizer.ggml.eos_token_id"));
        let template = ChatTemplate::new(gguf.text("tokenizer.chat_template"), begin, end).map_err(Fault::Damaged)?;
        let context = settings.context;
        Ok(Description { settings, vocabulary, template, weights: loaded_size(gguf), context })
    }

    /// Bounds the context to the memory that the weights leave. The error is the least memory that would do.
    fn fit(mut self, max_memory: u64) -> Result<Description, u64> {
        let each = self.settings.bytes_per_token();
        let shortest = SHORTEST.min(self.settings.context) as u64;
        let least = self.weights.saturating_add(each.saturating_mul(shortest.next_multiple_of(256)));
        if least > max_memory {
            return Err(least);
        }
        let tokens = LONGEST.min(max_memory - self.weights) / each;
        self.context = self.settings.context.min(usize::try_from(tokens).unwrap_or(usize::MAX));
        if self.context < self.settings.context {
            tracing::debug!(context = self.context, of = self.settings.context, "the context is bounded by memory");
        }
        Ok(self)
    }

    /// Tokens for which all sequences together may hold memory.
    fn budget(&self, max_memory: u64) -> usize {
        let each = self.settings.bytes_per_token();
        let bytes = SEVERAL.min(max_memory.saturating_sub(self.weights));
        // One whole context, and more sequences where that is little.
        let most = self.context.saturating_mul(8).next_multiple_of(256);
        usize::try_from(bytes / each).unwrap_or(usize::MAX).clamp(self.context, most)
    }

    /// Bytes of the weights, and of the tokens that all sequences together may hold.
    pub(super) fn memory(&self, max_memory: u64) -> u64 {
        self.weights.saturating_add(self.budget(max_memory) as u64 * self.settings.bytes_per_token())
    }

    /// The tokens of a conversation, up to where the model's reply begins.
    pub(super) fn prompt(&self, turns: &[ChatTurn]) -> Result<Vec<u32>, String> {
        let disarmed = |turn: &ChatTurn| ChatTurn { role: turn.role.clone(), text: self.vocabulary.disarm(&turn.text) };
        let turns: Vec<ChatTurn> = turns.iter().map(disarmed).collect();
        let mut tokens = self.vocabulary.encode(&self.template.render(&turns)?)?;
        self.vocabulary.begin(&mut tokens);
        Ok(tokens)
    }
}

/// See [`crate::open`].
#[derive(Debug)]
pub(super) struct LanguageModel {
    files: ModelFiles,
    description: Description,
    transformer: Transformer,
    prefixes: Prefixes,
    /// Made when the first schema comes.
    grammars: OnceLock<Result<Grammars, String>>,
    memory: u64,
}

impl LanguageModel {
    pub(super) fn load(files: &ModelFiles, name: &str, resources: &Resources) -> Result<LanguageModel, ExpertError> {
        let max_memory = resources.max_memory;
        let (gguf, description) = describe(files, name, max_memory)?;
        let threads = threads_of(resources.pool_run(rayon::current_num_threads));
        let load = || Transformer::load(&gguf, description.settings.clone(), threads);
        let transformer = resources.pool_run(load);
        let transformer = transformer.map_err(|fault| error_of(files, name, fault))?;
        let (budget, memory) = (description.budget(max_memory), description.memory(max_memory));
        let (prefixes, grammars) = (Prefixes::new(budget), OnceLock::new());
        Ok(LanguageModel { files: files.clone(), description, transformer, prefixes, grammars, memory })
    }

    fn failed(&self, reason: impl ToString) -> ExpertError {
        self.files.failed(reason)
    }

    fn full(&self, full: Full) -> ExpertError {
        match full {
            Full::Busy => self.failed("other conversations hold its memory; try again later"),
            Full::Engine(error) => self.failed(error),
        }
    }

    fn guide(&self, schema: &Value) -> Result<Guide, ExpertError> {
        let make = || Grammars::new(&self.description.vocabulary, self.transformer.settings.vocabulary);
        let grammars = self.grammars.get_or_init(make).as_ref().map_err(|error| self.failed(error))?;
        grammars.guide(schema).map_err(ExpertError::BadInput)
    }

    fn chat(&self, input: &ChatInput, call: &Call) -> Result<ChatOutput, ExpertError> {
        let prompt = self.description.prompt(&input.turns).map_err(ExpertError::BadInput)?;
        if prompt.is_empty() {
            return Err(ExpertError::BadInput("there is nothing to reply to".to_owned()));
        }
        let context = self.description.context;
        if prompt.len() >= context {
            return Err(ExpertError::BadInput(format!(
                "the prompt has {} tokens, and the context of the model `{}` has {context}",
                prompt.len(),
                self.files.id
            )));
        }
        let room = context - prompt.len();
        let limit = input.max_tokens.map_or(room, |most| room.min(most as usize));
        let guide = input.schema.as_ref().map(|schema| self.guide(schema)).transpose()?;
        let lease = self.prefixes.lease(&self.transformer, &prompt).map_err(|full| self.full(full))?;
        let cached = lease.length();
        let mut run = Run { model: self, call, lease, tokens: prompt.clone(), guide, sampler: Sampler::new(input) };
        let mut reply = Reply::new(&input.stop);
        let result = run.write(limit, &mut reply);
        let completion = run.tokens.len() - prompt.len();
        let tokens = std::mem::take(&mut run.tokens);
        run.lease.keep(tokens);
        let finish_reason = result?;
        Ok(ChatOutput {
            text: reply.finish(|text| call.tell(text)),
            finish_reason: finish_reason.to_owned(),
            prompt_tokens: prompt.len() as u64,
            cached_tokens: cached as u64,
            completion_tokens: completion as u64,
        })
    }

    /// Asks the model to do a task of text that other models do without being asked.
    fn ask(&self, text: String, call: &Call) -> Result<Output, ExpertError> {
        let turns = vec![ChatTurn { role: "user".to_owned(), text }];
        let input = ChatInput { turns, temperature: Some(0.0), ..ChatInput::default() };
        Ok(Output::Text(self.chat(&input, call)?.text))
    }
}

impl LocalModel for LanguageModel {
    fn memory(&self) -> u64 {
        self.memory
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        match input {
            Input::Chat(input) => Ok(Output::Chat(self.chat(input, call)?)),
            Input::Text(text) => self.ask(text.clone(), call),
            Input::Question { question, context } => self.ask(format!("{context}\n\n{question}"), call),
            Input::Translate { text, from, to } => {
                let to = to.as_deref().unwrap_or("en");
                let from = from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
                let order = format!("Translate the following text{from} to {to}. Reply with the translation only.");
                self.ask(format!("{order}\n\n{text}"), call)
            }
            _ => Err(ExpertError::BadInput("a language model takes a conversation or a text".to_owned())),
        }
    }
}

/// One reply as it is written.
struct Run<'a> {
    model: &'a LanguageModel,
    call: &'a Call,
    lease: Lease<'a>,
    /// Of the prompt and the reply.
    tokens: Vec<u32>,
    guide: Option<Guide>,
    sampler: Sampler,
}

impl Run<'_> {
    /// Writes until the reply ends. Why it ended comes back: `stop` or `length`.
    fn write(&mut self, limit: usize, reply: &mut Reply) -> Result<&'static str, ExpertError> {
        let vocabulary = &self.model.description.vocabulary;
        let mut left = limit;
        while left > 0 {
            if let Some(guide) = &mut self.guide {
                let mut forced = guide.forced().map_err(|error| self.model.failed(error))?;
                let is_over = guide.is_over() && forced.len() <= left;
                forced.truncate(left);
                left -= forced.len();
                for token in forced {
                    self.tokens.push(token);
                    reply.push(vocabulary.shown(token), |text| self.call.tell(text));
                }
                if is_over || reply.is_stopped() {
                    return Ok("stop");
                }
                if left == 0 {
                    break;
                }
            }
            let mut logits = self.advance()?;
            // Rows beyond the vocabulary stand for nothing.
            logits.truncate(vocabulary.len());
            let chosen = match &mut self.guide {
                Some(guide) => guide.pick(left, |allowed| self.sampler.choose(&mut logits, Some(allowed))),
                None => self.sampler.choose(&mut logits, None),
            };
            let token = chosen.map_err(|error| self.model.failed(error))?;
            if vocabulary.ends().contains(&token) {
                return Ok("stop");
            }
            self.tokens.push(token);
            left -= 1;
            reply.push(vocabulary.shown(token), |text| self.call.tell(text));
            if reply.is_stopped() || self.guide.as_ref().is_some_and(Guide::is_over) {
                return Ok("stop");
            }
        }
        Ok("length")
    }

    /// Computes the tokens that the sequence does not have yet, and the logits of the next.
    fn advance(&mut self) -> Result<Vec<f32>, ExpertError> {
        self.lease.reserve(self.tokens.len()).map_err(|full| self.model.full(full))?;
        loop {
            self.call.check()?;
            let known = self.lease.length();
            let rest = self.tokens.get(known..).unwrap_or_default();
            let batch = rest.get(..BATCH).unwrap_or(rest);
            let is_last = batch.len() == rest.len();
            let computed = self.model.transformer.append(self.lease.sequence(), batch, is_last);
            if let Some(logits) = computed.map_err(|error| self.model.failed(error))? {
                return Ok(logits);
            }
        }
    }
}
