//! Replies of models from bad to worse, and what is read from each: `cargo run -p jarvis-prompt --example read_reply`.
//!
//! ```text
//! {"city":"Graz","days":3}
//! {"city":"Graz","days":3}
//!   the JSON stood in a fenced block
//! {"city":"Graz","days":3}
//!   the reasoning before the answer was left out
//! {"city":"Graz","days":3,"hotel":null}
//!   quotes were mended
//!   literals of another language were rewritten
//!   commas or colons were mended
//! {"city":"Graz","days":3}
//!   the reply ends too early; its incomplete last part was left out
//! the reply holds no JSON; a JSON object is wanted
//! {"id":123456789012345678901234567890}
//! ```
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use jarvis_prompt::literal::Literal;
use jarvis_prompt::reader::{Want, read_json};

/// All but the last stand for one object.
const REPLIES: [&str; 6] = [
    r#"{"city": "Graz", "days": 3}"#,
    "Of course!\n```json\n{\"city\": \"Graz\", \"days\": 3}\n```\nAnything else?",
    "<think>Vienna? {\"city\": \"Vienna\"} No.</think> {\"city\": \"Graz\", \"days\": 3}",
    "{'city': 'Graz', 'days': 3, 'hotel': None,}",
    r#"{"city": "Graz", "days": 3, "hotel": {"name": "Post"#,
    "I would go to Graz for three days.",
];

fn main() {
    for reply in REPLIES {
        match read_json(reply, Want::Object) {
            Ok(read) => {
                println!("{}", read.value);
                for mend in read.mended {
                    println!("  {mend}");
                }
            }
            // In words that the model can be asked again with; `error.reply` keeps what it wrote.
            Err(error) => println!("{error}"),
        }
    }
    // JSON libraries round this integer; a literal keeps each digit.
    match Literal::parse("{'id': 123456789012345678901234567890}") {
        Ok(literal) => println!("{literal}"),
        Err(error) => println!("{error}"),
    }
}
