//! Measures a language model: `cargo run --release -p jarvis-experts --features llm --example llm_speed -- FOLDER [THREADS]`.
//!
//! Loading, a prompt of about 512 tokens, 128 tokens of reply, and the same prompt again with another end. Speeds are in tokens a
//! second, and on Linux also in tokens a second of processor time, which other programs disturb less.
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

use std::time::{Duration, Instant};

use jarvis_experts::{
    Call, ChatInput, ChatOutput, ChatTurn, ExpertError, Input, LocalModels, LocalModelsConfig, ModelFiles, Output,
};

#[tokio::main]
async fn main() -> Result<(), ExpertError> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".".to_owned());
    let threads = arguments.next().and_then(|threads| threads.parse().ok()).unwrap_or(1);
    let keep_alive = Duration::from_secs(600);
    let models = LocalModels::new(LocalModelsConfig { max_memory: 8 << 30, keep_alive, threads, at_once: 1 })?;
    let files = ModelFiles::new("model", folder);

    let start = Instant::now();
    models.load(&files, "conversational", &Call::default()).await?;
    let memory = models.loaded().first().map_or(0, |loaded| loaded.memory);
    println!("load: {:.2} s, at most {} MB", start.elapsed().as_secs_f64(), memory >> 20);

    let words = "The harvest festival moved into the old barn because of the rain, and some people came. ".repeat(26);
    let (output, first, all) = ask(&models, &files, &format!("{words} Tell a long story about it."), 128).await?;
    let fresh = output.prompt_tokens - output.cached_tokens;
    println!("prompt: {fresh} tokens, {}", speed(fresh, first));
    println!("reply: {} tokens, {}", output.completion_tokens, speed(output.completion_tokens - 1, all - first));

    let (output, first, _) = ask(&models, &files, &format!("{words} Who came to it?"), 1).await?;
    let ChatOutput { prompt_tokens, cached_tokens, .. } = output;
    println!("again: {prompt_tokens} tokens, {cached_tokens} of them known, {:.3} s to the first token", first.wall);
    Ok(())
}

/// A moment: of the clock, and of the processor time of this process.
#[derive(Clone, Copy)]
struct Moment {
    wall: f64,
    /// Seconds; 0 where it is not known.
    processor: f64,
}

impl Moment {
    fn since(start: Instant) -> Moment {
        // Fields 14 and 15 of proc_pid_stat(5), in hundredths; the second field may hold spaces, and ends in a parenthesis.
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        let hundredths: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
        Moment { wall: start.elapsed().as_secs_f64(), processor: hundredths / 100.0 }
    }
}

impl std::ops::Sub for Moment {
    type Output = Moment;

    fn sub(self, other: Moment) -> Moment {
        Moment { wall: self.wall - other.wall, processor: self.processor - other.processor }
    }
}

fn speed(tokens: u64, time: Moment) -> String {
    let per = |seconds: f64| tokens as f64 / seconds;
    format!("{:.1} tokens/s, {:.1} tokens a second of processor time", per(time.wall), per(time.processor))
}

/// The reply, the time to its first token, and the time in all.
async fn ask(
    models: &LocalModels,
    files: &ModelFiles,
    text: &str,
    most: u32,
) -> Result<(ChatOutput, Moment, Moment), ExpertError> {
    let input = ChatInput {
        turns: vec![ChatTurn { role: "user".to_owned(), text: text.to_owned() }],
        temperature: Some(0.0),
        max_tokens: Some(most),
        ..ChatInput::default()
    };
    let start = Instant::now();
    let before = Moment::since(start);
    let (sender, receiver) = std::sync::mpsc::channel();
    let listener = move |_: &str| {
        let _ = sender.send(Moment::since(start));
    };
    let call = Call { on_text: Some(Box::new(listener)), ..Call::default() };
    match models.run(files, "conversational", Input::Chat(input), call).await? {
        Output::Chat(output) => {
            let all = Moment::since(start) - before;
            let first = receiver.try_iter().next().map_or(all, |first| first - before);
            Ok((output, first, all))
        }
        _ => Err(ExpertError::BadInput("the model is no language model".to_owned())),
    }
}
