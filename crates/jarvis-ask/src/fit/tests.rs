//! Levels against a model whose tokens are about four bytes long.

use jarvis_chat::Scripted;
use jarvis_plan::Role;

use super::*;

fn trim(history: usize, demos: usize) -> Trim {
    Trim { history, demos }
}

#[test]
fn history_goes_by_two_then_demos() {
    assert_eq!(conversation_levels(0, 0), [trim(0, 0)]);
    assert_eq!(conversation_levels(3, 4), [trim(0, 0), trim(2, 0), trim(3, 0), trim(3, 2), trim(3, 4)]);
}

fn text(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// A short system text, demonstrations and history of 40 bytes each, and an input.
fn build(history: usize, demos: usize, trim: Trim) -> Vec<Message> {
    let mut messages = vec![Message::text(Role::System, text(8))];
    messages.extend((0..demos - trim.demos).map(|_| Message::text(Role::User, text(40))));
    messages.extend((trim.history..history).map(|_| Message::text(Role::User, text(40))));
    messages.push(Message::text(Role::User, "the bare input"));
    messages
}

fn tokens(messages: &[Message]) -> usize {
    count(&Scripted::new([""; 0]), "s", messages, SEPARATOR)
}

#[test]
fn the_first_level_that_fits_is_taken() {
    for (history, demos) in [(0, 0), (1, 0), (9, 4), (2, 7)] {
        let levels = conversation_levels(history, demos);
        for context in 0..300 {
            let reserve = 20;
            // The plain reading of the rule, one level after another.
            let prompts = levels.iter().map(|trim| build(history, demos, *trim)).enumerate();
            let expected = prompts.into_iter().find(|(_, messages)| tokens(messages) + reserve <= context);
            let model = Scripted::new([""; 0]).with_context(context);
            let got = fit(&model, "s", reserve, &levels, |trim| Ok(build(history, demos, *trim)));
            match expected {
                Some(expected) => assert_eq!(got, Ok(expected), "context {context}"),
                None => {
                    let shortest = tokens(&build(history, demos, Trim { history, demos }));
                    let source = TooLong { model: "scripted".into(), tokens: shortest, reserve, context };
                    assert_eq!(got, Err(AskError::TooLong { stage: "s", source }), "context {context}");
                }
            }
        }
    }
}

#[test]
fn a_level_that_cannot_be_rendered_is_an_error_and_no_empty_prompt() {
    let broken = || TemplateError::Demos { template: "t".into(), line: 1, message: "broken".into() };
    let build =
        |level: &usize| if *level == 0 { Ok(vec![Message::text(Role::User, text(9_000))]) } else { Err(broken()) };
    let model = Scripted::new([""; 0]).with_context(1_000);
    let got = fit(&model, "s", DEFAULT_RESERVE, &[0, 1], build);
    assert_eq!(got, Err(AskError::Prompt { stage: "s", source: broken() }));
}

#[test]
fn too_long_says_what_to_try() {
    let model = Scripted::new([""; 0]).with_context(10);
    let error = fit(&model, "s", DEFAULT_RESERVE, &[()], |()| Ok(build(0, 0, Trim::default()))).unwrap_err();
    insta::assert_snapshot!(error, @"the request does not fit the model scripted: its shortest prompt takes 11 tokens and 800 are kept for the reply, but the context holds 10; shorten the request, or set `context_tokens` if the model takes more");
}
