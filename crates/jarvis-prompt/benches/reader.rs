//! How fast replies are read, in bytes a second: clean, in prose, broken, garbage.

use std::hint::black_box;

use divan::Bencher;
use divan::counter::BytesCount;
use jarvis_prompt::reader::{Want, read_json};

fn main() {
    divan::main();
}

const TASK: &str = r#"{"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/images/a.jpg","text":"don't stop"}}"#;

fn clean() -> String {
    format!("[{}]", vec![TASK; 10_000].join(", "))
}

fn input(kind: &str) -> String {
    match kind {
        "plan" => format!("[{}]", [TASK; 4].join(", ")),
        "clean" => clean(),
        "prose" => format!("Here is the plan [1] that you asked for:\n{}\nHope it helps!", clean()),
        "fence" => format!("The plan:\n```json\n{}\n```\n", clean()),
        "single quotes" => clean().replace('"', "'"),
        "trailing commas" => clean().replace("}}", ",},}"),
        "cut" => clean().trim_end_matches("}]").to_owned(),
        "lines" => vec![TASK; 10_000].join("\n"),
        "general repair" => clean().replace("\"id\":0", "\"id\":0 \"x\" 1"),
        garbage => garbage.repeat((1 << 20) / garbage.len()),
    }
}

#[divan::bench(sample_count = 20, args = [
    "plan", "clean", "prose", "fence", "single quotes", "trailing commas", "cut", "lines", "general repair",
    "[", "{", "[{\"", "[1,", "{'a': 'b'c', ", "words [and] {braces} ",
])]
fn read(bencher: Bencher, kind: &str) {
    let reply = input(kind);
    bencher.counter(BytesCount::of_str(&reply)).bench(|| black_box(read_json(black_box(&reply), Want::Array)));
}
