//! Processor time of ONNX graphs on one thread, for `docs/local-models.md`: `onnx_speed ROUNDS FILE NAME=SIZES[:i] …` gives each
//! named input random numbers (or ones, with `:i`) of these sizes and prints the best and the median round in milliseconds.
//! `tests/models/speed.py` runs the same with onnxruntime.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a program that measures")]

use std::sync::Arc;
use std::time::Instant;

use rten::{ModelOptions, RunOptions, ThreadPool, Value};

fn main() {
    let mut args = std::env::args().skip(1);
    let rounds: usize = args.next().and_then(|text| text.parse().ok()).expect("ROUNDS");
    let file = args.next().expect("FILE");
    let threads = std::env::var("THREADS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let began = Instant::now();
    let is_set = |name| std::env::var_os(name).is_some();
    let mut options = ModelOptions::with_all_ops();
    let model = options.prepack_weights(is_set("PREPACK")).load_file(&file).expect("an ONNX file");
    let loaded = began.elapsed();
    let inputs: Vec<(String, Value)> = args.map(|given| input(&given)).collect();
    let outputs = model.output_ids().to_vec();
    let pool = Arc::new(ThreadPool::with_num_threads(threads));
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let given = inputs
                .iter()
                .map(|(name, value)| (model.node_id(name).expect("an input of this name"), value.as_view().into()));
            let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&pool))).with_timing(is_set("TIMING"));
            let began = Instant::now();
            let given = given.collect();
            pool.run(|| model.run(given, &outputs, Some(options))).expect("it runs");
            began.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let best = times.first().copied().unwrap_or_default();
    println!("{file}: load {:.0} ms, best {best:.2} ms, median {median:.2} ms", loaded.as_secs_f64() * 1000.0);
}

/// `pixel_values=1x3x224x224`, or `input_ids=1x16:i`.
fn input(text: &str) -> (String, Value) {
    let (name, sizes) = text.split_once('=').expect("NAME=SIZES");
    let (sizes, is_whole) = match sizes.strip_suffix(":i") {
        Some(sizes) => (sizes, true),
        None => (sizes, false),
    };
    let shape: Vec<usize> = sizes.split('x').map(|size| size.parse().expect("a size")).collect();
    let count = shape.iter().product();
    let value = if is_whole {
        Value::from_shape(shape, vec![1_i32; count]).expect("as many")
    } else {
        // Any numbers do; the same every time.
        let numbers = (0..count).map(|at| ((at * 2_654_435_761_usize) % 1000) as f32 / 500.0 - 1.0);
        Value::from_shape(shape, numbers.collect::<Vec<f32>>()).expect("as many")
    };
    (name.to_owned(), value)
}
