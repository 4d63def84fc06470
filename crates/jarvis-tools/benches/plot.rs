//! How long charts and the search of a long document take.

use std::hint::black_box;

use divan::Bencher;
use jarvis_tools::local::passages::PassageIndex;
use jarvis_tools::local::plot::{Chart, Kind, render};

fn main() {
    divan::main();
}

fn chart(kind: Kind, label: &str, count: usize) -> Chart {
    let points = (0..count).map(|at| (format!("{label} {at}"), (at * 37 % 101) as f64 - 20.0)).collect();
    Chart { kind, title: label.to_owned(), x_label: label.to_owned(), y_label: label.to_owned(), points }
}

#[divan::bench(args = [("fruit", 3), ("Сентябрь", 12), ("人民币汇率", 12), ("a long label of many words", 40), ("bar", 200)])]
fn bars(bencher: Bencher, (label, count): (&str, usize)) {
    let chart = chart(Kind::Bar, label, count);
    bencher.bench(|| render(black_box(&chart)));
}

#[divan::bench(args = [12, 200, 2000])]
fn line(bencher: Bencher, count: usize) {
    let chart = chart(Kind::Line, "day", count);
    bencher.bench(|| render(black_box(&chart)));
}

#[divan::bench(args = [200, 2000])]
fn scatter(bencher: Bencher, count: usize) {
    let chart = chart(Kind::Scatter, "day", count);
    bencher.bench(|| render(black_box(&chart)));
}

#[divan::bench(args = [1, 10], sample_count = 3, sample_size = 1)]
fn index_of_megabytes(bencher: Bencher, megabytes: usize) {
    let mut text = String::new();
    let mut seed = 7_u32;
    while text.len() < megabytes << 20 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(&format!("word{} ", seed >> 18));
        if seed.is_multiple_of(13) {
            text.push_str("ends here. ");
        }
    }
    bencher.bench(|| PassageIndex::build(black_box(&text)).passages().len());
}
