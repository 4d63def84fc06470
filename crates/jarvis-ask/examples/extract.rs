//! A reply that does not fit its type is sent back with the reason: `cargo run -p jarvis-ask --example extract`.
//!
//! ```text
//! Huber & Co. gets 1200 cents
//! asked 2 times, last with:
//! Your reply could not be used: the JSON is not what is wanted: invalid type: string "twelve euros", expected u64. Send it again in full as a JSON object: valid JSON, nothing before or after it.
//! 14 tokens sent, 4 received
//! ```
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use jarvis_ask::{Ask, Events, Prompt, Scripted, Template};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Invoice {
    /// Who is paid.
    payee: String,
    /// In cents.
    cents: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In place of a model at an endpoint (`jarvis_chat`): the first reply has a text where a number is wanted.
    let model = Arc::new(Scripted::new([
        r#"{"payee": "Huber & Co.", "cents": "twelve euros"}"#,
        r#"{"payee": "Huber & Co.", "cents": 1200}"#,
    ]));
    let events = Events::unread();
    let ask = Ask::new(model.clone(), &events);
    let template = Template::parse(
        "invoice",
        "## system\nRead the invoice. Answer with one JSON object.\n## user\n{{invoice}}",
        &["invoice"],
    )?;
    let context = serde_json::json!({"invoice": "Huber & Co. Total: EUR 12"});
    let invoice: Invoice = ask.ask(Prompt::new("invoice", &template), &context).await?;
    println!("{} gets {} cents", invoice.payee, invoice.cents);

    let requests = model.requests();
    let again = requests.last().and_then(|request| request.messages.last()).ok_or("no second request")?;
    println!("asked {} times, last with:\n{}", requests.len(), again.joined_text());
    let usage = events.usage();
    println!("{} tokens sent, {} received", usage.prompt_tokens, usage.completion_tokens);
    Ok(())
}
