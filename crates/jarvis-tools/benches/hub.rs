//! How long calls of the function hub take: typical ones, long numbers, and the refusal of what would never end.

use std::hint::black_box;

use divan::Bencher;
use jarvis_prompt::literal::Literal;
use jarvis_tools::hub::{Function, Mode, call};

fn main() {
    divan::main();
}

#[divan::bench(args = [
    ("multiply_", "[535323, 0.03]"),
    ("divide_", "[52143, 78628]"),
    ("log_", "[2187, 3]"),
    ("power_", "[3, 108]"),
    ("power_", "[3, 640]"),
    ("choose_", "[56, 25]"),
    ("choose_", "[1000, 500]"),
    ("power_", "[778899, 3456789]"),
    ("choose_", "[1000000000, 500000000]"),
    ("permutate_", "[1000000000, 999999999]"),
    ("power_", "[3, 600000]"),
])]
fn one_call(bencher: Bencher, (name, input): (&str, &str)) {
    let Ok(function) = Function::parse(name) else { return };
    let Ok(Literal::List(input)) = Literal::parse(input) else { return };
    bencher.bench(|| black_box(call(function, black_box(&input), Mode::Precise)));
}
