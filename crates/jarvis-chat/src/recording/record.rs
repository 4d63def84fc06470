//! Writes down the calls of another model, one line each, as soon as a reply is whole.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use jarvis_plan::Role;

use super::{Line, LineModel, LineUsage, request_sha256};
use crate::model::{ChatError, ChatModel, ChatReply, ChatRequest, ChatStream, Message};

/// The most stretches of a request by which its line is found again.
const LANDMARKS: usize = 4;

/// The longest text that a line asks for, in characters.
const LONGEST_LANDMARK: usize = 2000;

/// Wraps a model and appends each of its replies to a recording. Failed and abandoned calls are not written. A reply that
/// cannot be written is an error, so that no recording is silently incomplete.
pub struct Recorder<M> {
    model: M,
    output: Arc<Output>,
}

impl<M: ChatModel> Recorder<M> {
    /// Opens the recording for appending, making it if need be. Errors are [`ChatError::Recording`].
    pub fn open(model: M, path: impl AsRef<Path>) -> Result<Recorder<M>, ChatError> {
        let path = path.as_ref();
        let failed = |error: std::io::Error| failure(path, &error);
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(failed)?;
        end_last_line(&mut file).map_err(failed)?;
        let output = Output { path: path.display().to_string(), file: Mutex::new(file) };
        Ok(Recorder { model, output: Arc::new(output) })
    }

    fn line(&self, request: &ChatRequest) -> Line {
        let stage = &request.stage;
        let model = LineModel {
            name: self.model.model_name(stage),
            context_tokens: self.model.context_tokens(stage),
            can_see: self.model.can_see(stage),
        };
        Line {
            stage: stage.clone(),
            contains: landmarks(&request.messages),
            request_sha256: Some(request_sha256(request)),
            model: Some(model),
            ..Line::default()
        }
    }
}

#[async_trait]
impl<M: ChatModel> ChatModel for Recorder<M> {
    crate::model_facts_of!(self => self.model);

    fn provider(&self, stage: &str, model: &str) -> String {
        self.model.provider(stage, model)
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.model.complete(request).await?;
        let mut line = self.line(request);
        line.fill(reply.clone());
        self.output.clone().append(line).await?;
        Ok(reply)
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        let chunks = self.model.stream(request).await?;
        let state = Some((chunks, ChatReply::default(), self.line(request), self.output.clone()));
        let watched = stream::unfold(state, |state| async move {
            let (mut chunks, mut reply, mut line, output) = state?;
            match chunks.next().await {
                Some(Ok(chunk)) => {
                    chunk.clone().add_to(&mut reply);
                    Some((Ok(chunk), Some((chunks, reply, line, output))))
                }
                Some(Err(error)) => Some((Err(error), None)),
                None => {
                    line.fill(reply);
                    // The stream ends here unless the line cannot be written.
                    output.append(line).await.err().map(|error| (Err(error), None))
                }
            }
        });
        Ok(watched.boxed())
    }
}

impl Line {
    fn fill(&mut self, reply: ChatReply) {
        let usage = LineUsage { prompt_tokens: reply.usage.prompt, completion_tokens: reply.usage.completion };
        self.usage = Some(usage);
        self.finish_reason = Some(reply.finish_reason);
        self.reply = reply.text;
        self.tool_uses = reply.tool_uses;
    }
}

/// What distinguishes this request from others and stays the same from run to run: the longest stretches of the last message
/// a person wrote, between words that may differ, namely numbers, paths and ids. The hash finds the line of an equal
/// request; these find it when only such words differ.
fn landmarks(messages: &[Message]) -> Vec<String> {
    let last = messages.iter().rfind(|message| message.role == Role::User).or(messages.last());
    let text = last.map(Message::joined_text).unwrap_or_default();
    let of_word = |c: char| c.is_ascii_alphanumeric() || "/\\._-:%~+".contains(c);
    let mut stretches: Vec<(usize, &str)> = Vec::new();
    // Where the stretch and the word being read began.
    let (mut stretch, mut word) = (0, 0);
    let mut close = |from: usize, to: usize| {
        let piece = text.get(from..to).unwrap_or_default().trim();
        if !piece.is_empty() {
            stretches.push((from, piece));
        }
    };
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if of_word(c) {
            continue;
        }
        let read = text.get(word..at).unwrap_or_default();
        if read.contains(|c: char| c.is_ascii_digit() || c == '/' || c == '\\') {
            close(stretch, word);
            stretch = at;
        }
        word = at + c.len_utf8();
    }
    close(stretch, text.len());
    stretches.sort_by_key(|(_, piece)| std::cmp::Reverse(piece.len()));
    stretches.truncate(LANDMARKS);
    stretches.sort_by_key(|(from, _)| *from);
    stretches.into_iter().map(|(_, piece)| piece.chars().take(LONGEST_LANDMARK).collect()).collect()
}

struct Output {
    path: String,
    file: Mutex<File>,
}

impl Output {
    /// Appends one line in one write, so that lines of several writers never mix.
    async fn append(self: Arc<Output>, line: Line) -> Result<(), ChatError> {
        let path = self.path.clone();
        let write = move || {
            let mut text = serde_json::to_string(&line)?;
            text.push('\n');
            self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes())
        };
        match tokio::task::spawn_blocking(write).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(failure(Path::new(&path), &error)),
            Err(_) => Err(ChatError::Recording { path, reason: "writing it was interrupted".to_owned() }),
        }
    }
}

/// Ends a last line that was written by hand without its newline.
fn end_last_line(file: &mut File) -> std::io::Result<()> {
    if file.metadata()?.len() == 0 {
        return Ok(());
    }
    let mut last = [0u8];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

fn failure(path: &Path, error: &std::io::Error) -> ChatError {
    ChatError::Recording { path: path.display().to_string(), reason: format!("it cannot be written: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn landmarks_pass_over_what_differs_from_run_to_run() {
        for (text, expected) in
            jarvis_testing::rows::<(String, Vec<String>)>(include_str!("../cases.yaml"), "landmarks")
        {
            let messages = [Message::text(Role::User, &text), Message::text(Role::Assistant, "Well,")];
            let got = landmarks(&messages);
            assert_eq!(got, expected, "{text}");
            assert!(got.iter().all(|piece| text.contains(piece)), "{text}");
        }
    }
}
