//! The budget against a model whose tokens are words.

use async_trait::async_trait;
use futures::stream::BoxStream;
use jarvis_plan::Role;

use super::*;
use crate::model::{ChatChunk, ChatReply, ChatRequest};

/// Counts words; the separator holds none that stands alone, so it joins two words into one.
struct Words(usize);

#[async_trait]
impl ChatModel for Words {
    fn model_name(&self, _: &str) -> String {
        "words".into()
    }

    fn context_tokens(&self, _: &str) -> usize {
        self.0
    }

    fn count_tokens(&self, _: &str, text: &str) -> usize {
        text.replace(SEPARATOR, " ").split_whitespace().count()
    }

    fn token_ids(&self, _: &str, _: &str) -> Vec<u32> {
        Vec::new()
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        Err(ChatError::Config("only counts".into()))
    }

    async fn stream(&self, _: &ChatRequest) -> Result<BoxStream<'static, Result<ChatChunk, ChatError>>, ChatError> {
        Err(ChatError::Config("only counts".into()))
    }
}

fn trim(history: usize, demos: usize) -> Trim {
    Trim { history, demos }
}

#[test]
fn history_goes_by_two_then_demos() {
    assert_eq!(steps(0, 0), [trim(0, 0)]);
    assert_eq!(steps(3, 4), [trim(0, 0), trim(2, 0), trim(3, 0), trim(3, 2), trim(3, 4)]);
}

/// A system text of 2 words, demos and history of 10 words each, an input of 3 words.
fn build(history: usize, demos: usize, trim: Trim) -> Vec<Message> {
    let mut messages = vec![Message::text(Role::System, "be brief")];
    for at in 0..demos - trim.demos {
        messages.push(Message::text(Role::User, format!("demo{at} b c d e f g h i j")));
    }
    for at in trim.history..history {
        messages.push(Message::text(Role::User, format!("turn{at} b c d e f g h i j")));
    }
    messages.push(Message::text(Role::User, "the bare input"));
    messages
}

#[test]
fn the_first_level_that_fits_is_taken() {
    let (history, demos) = (9, 4);
    let steps = steps(history, demos);
    for context in 0..200 {
        let reserve = 20;
        // The plain reading of the rule, one level after another.
        let expected = steps.iter().map(|trim| build(history, demos, *trim)).enumerate().find(|(_, messages)| {
            let words: usize = messages.iter().map(|message| message.joined_text().split_whitespace().count()).sum();
            words + reserve <= context
        });
        let got =
            fit_level(&Words(context), "s", reserve, steps.len() - 1, |level| build(history, demos, steps[level]));
        match expected {
            Some((level, messages)) => {
                assert_eq!(messages.last().map(Message::joined_text).as_deref(), Some("the bare input"));
                assert_eq!(got, Ok((level, messages)), "context {context}");
            }
            None => {
                let error = TooLong { model: "words".into(), tokens: 5, reserve, context };
                assert_eq!(got, Err(error), "context {context}");
            }
        }
    }
}

#[test]
fn too_long_says_what_to_try() {
    let error = fit(&Words(10), "s", DEFAULT_RESERVE, 0, |_| build(0, 0, Trim::default())).unwrap_err();
    insta::assert_snapshot!(error, @"the request does not fit the model words: its shortest prompt takes 5 tokens and 800 are kept for the reply, but the context holds 10; shorten the request, or set `context_tokens` if the model takes more");
}
