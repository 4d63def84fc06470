//! Lifetimes of models, shown with models that echo, wait or break down.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use tokio_util::sync::CancellationToken;

use super::*;

const MB: u64 = 1 << 20;

/// What the fake models of a test did.
#[derive(Default)]
struct Log {
    loads: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
}

/// Echoes a text. `wait` runs until the call is over, `panic` breaks down.
#[derive(Debug)]
struct Fake {
    memory: u64,
    log: Arc<Log>,
    started: Mutex<mpsc::Sender<()>>,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl LocalModel for Fake {
    fn memory(&self) -> u64 {
        self.memory
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Text(text) = input else { return Err(ExpertError::BadInput("it takes texts".to_owned())) };
        self.log.most.fetch_max(self.log.running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let _ = self.started.lock().unwrap().send(());
        let result = loop {
            match text.as_str() {
                "wait" => {
                    if let Err(over) = call.check() {
                        break Err(over);
                    }
                    std::thread::yield_now();
                }
                "panic" => {
                    self.log.running.fetch_sub(1, Ordering::SeqCst);
                    panic!("as asked");
                }
                other => break Ok(Output::Text(other.to_owned())),
            }
        };
        self.log.running.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

struct Bench {
    models: LocalModels,
    log: Arc<Log>,
    started: mpsc::Receiver<()>,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new(max_mb: u64, keep_alive: Duration) -> Bench {
        let log = Arc::<Log>::default();
        let (sender, started) = mpsc::channel();
        let config = LocalModelsConfig { max_memory: max_mb * MB, keep_alive, threads: 1, at_once: 4 };
        let loads = Arc::clone(&log);
        let open = move |files: &ModelFiles, task: &str, _: &Resources, _: &Call| {
            if task == "broken" {
                return Err(files.bad("model.onnx", "it is cut"));
            }
            loads.loads.fetch_add(1, Ordering::SeqCst);
            let started = Mutex::new(sender.clone());
            Ok(Box::new(Fake { memory: files.weight(), log: Arc::clone(&loads), started }) as Box<dyn LocalModel>)
        };
        let models = LocalModels::with_open(config, Box::new(open)).unwrap();
        Bench { models, log, started, folder: tempfile::tempdir().unwrap() }
    }

    /// A model of so many megabytes.
    fn files(&self, name: &str, mb: u64) -> ModelFiles {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        sparse(&folder.join("model.onnx"), mb * MB);
        ModelFiles::new(name, folder)
    }

    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.models.loaded().into_iter().map(|model| model.id).collect();
        ids.sort();
        ids
    }

    async fn say(&self, files: &ModelFiles, text: &str) -> Result<Output, ExpertError> {
        self.models.run(files, "echo", Input::Text(text.to_owned()), Call::default()).await
    }
}

fn sparse(path: &Path, bytes: u64) {
    std::fs::File::create(path).unwrap().set_len(bytes).unwrap();
}

fn text(output: Result<Output, ExpertError>) -> String {
    match output.unwrap() {
        Output::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_loaded_once_however_many_want_it() {
    let bench = Bench::new(100, Duration::from_secs(300));
    let files = bench.files("a", 10);
    let uses = (0..16).map(|n| {
        let (models, files) = (bench.models.clone(), files.clone());
        tokio::spawn(async move { models.run(&files, "echo", Input::Text(n.to_string()), Call::default()).await })
    });
    for (n, one) in uses.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(text(one.await.unwrap()), n.to_string());
    }
    assert_eq!(bench.log.loads.load(Ordering::SeqCst), 1);
    assert!(bench.log.most.load(Ordering::SeqCst) <= 4);
    // A second call finds it loaded.
    bench.say(&files, "again").await.unwrap();
    assert_eq!((bench.log.loads.load(Ordering::SeqCst), bench.ids()), (1, vec!["a".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_bound_holds_under_many_tasks_over_many_models() {
    let bench = Bench::new(100, Duration::from_secs(300));
    let all: Vec<ModelFiles> = (0..5).map(|n| bench.files(&format!("m{n}"), 40)).collect();
    let tasks = (0..40).map(|n| {
        let (models, files) = (bench.models.clone(), all[n % 5].clone());
        tokio::spawn(async move {
            let said = models.run(&files, "echo", Input::Text(n.to_string()), Call::default()).await;
            let taken: u64 = models.loaded().iter().map(|model| model.memory).sum();
            (said, taken)
        })
    });
    for (n, task) in tasks.collect::<Vec<_>>().into_iter().enumerate() {
        let (said, taken) = task.await.unwrap();
        assert_eq!(text(said), n.to_string());
        assert!(taken <= 100 * MB, "{taken}");
    }
}

#[tokio::test]
async fn the_longest_unused_model_makes_room() {
    let bench = Bench::new(100, Duration::from_secs(300));
    let [a, b, c] = ["a", "b", "c"].map(|name| bench.files(name, 40));
    for files in [&a, &b, &a, &c] {
        bench.say(files, "x").await.unwrap();
    }
    assert_eq!(bench.ids(), ["a", "c"]);
    assert_eq!(bench.log.loads.load(Ordering::SeqCst), 3);
    assert!(bench.models.unload("a") && !bench.models.unload("a"));
    assert_eq!(bench.ids(), ["c"]);
}

#[tokio::test]
async fn what_never_fits_is_refused_with_the_figures() {
    let bench = Bench::new(100, Duration::from_secs(300));
    let files = bench.files("huge", 4096);
    let error = bench.say(&files, "x").await.unwrap_err();
    assert_eq!(error.to_string(), "the model `huge` needs 4096 MB of memory, and local models may take 100 MB");
    assert_eq!(bench.log.loads.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_model_goes_when_its_time_is_over() {
    let bench = Bench::new(100, Duration::from_secs(300));
    let files = bench.files("a", 10);
    bench.say(&files, "x").await.unwrap();
    tokio::time::sleep(Duration::from_secs(299)).await;
    assert_eq!(bench.ids(), ["a"]);
    bench.say(&files, "x").await.unwrap();
    tokio::time::sleep(Duration::from_secs(299)).await;
    assert_eq!(bench.ids(), ["a"], "its last use counts");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(bench.ids().is_empty());
    // And it comes back.
    bench.say(&files, "x").await.unwrap();
    assert_eq!(bench.log.loads.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn work_ends_with_whoever_waits_for_it() {
    let bench = Bench::new(100, Duration::from_secs(300));
    let files = bench.files("a", 10);
    let wait = |call: Call| {
        let (models, files) = (bench.models.clone(), files.clone());
        tokio::spawn(async move { models.run(&files, "echo", Input::Text("wait".to_owned()), call).await })
    };
    let started = || tokio::task::block_in_place(|| bench.started.recv().unwrap());

    let cancel = CancellationToken::new();
    let cancelled = wait(Call { cancel: cancel.clone(), ..Call::default() });
    started();
    cancel.cancel();
    assert_eq!(cancelled.await.unwrap().unwrap_err(), ExpertError::Cancelled);

    let deadline = Some(std::time::Instant::now() + Duration::from_millis(20));
    let late = wait(Call { deadline, ..Call::default() });
    assert_eq!(late.await.unwrap().unwrap_err(), ExpertError::Timeout);
    while bench.started.try_recv().is_ok() {}

    // Dropped in the middle.
    let dropped = wait(Call::default());
    started();
    dropped.abort();
    // Its place is free again once the thread has seen it: another use of the same model goes on meanwhile.
    assert_eq!(text(bench.say(&files, "x").await), "x");
    while bench.models.loaded().iter().any(|model| model.users > 0) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_cannot_be_loaded_or_breaks_down_is_an_error_and_takes_no_room() {
    let bench = Bench::new(100, Duration::from_secs(300));
    let files = bench.files("a", 90);
    let broken = bench.models.run(&files, "broken", Input::Text("x".to_owned()), Call::default()).await;
    assert_eq!(broken.unwrap_err().to_string(), "model.onnx of the model `a` cannot be used: it is cut");
    assert!(bench.ids().is_empty());
    assert_eq!(text(bench.say(&bench.files("b", 90), "x").await), "x");
    let failed = bench.say(&files, "panic").await.unwrap_err();
    assert_eq!(failed.to_string(), "the model `a` failed: the engine broke down on it");
    assert_eq!(text(bench.say(&files, "x").await), "x");
}
