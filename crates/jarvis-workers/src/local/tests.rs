//! Arguments to inputs and outputs to results, with a model that gives what it is told to.

use std::sync::Mutex;

use jarvis_catalogue::Host;
use jarvis_experts::{
    Detection, Entity, Input, LocalModel, LocalModelsConfig, Output, Picture, Resources, Scored, Segment, Sound,
    Transcript, TranscriptSegment,
};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::testkit::{self, job, png};

/// Gives one output, and notes what it was given.
struct Canned {
    output: Result<Output, ExpertError>,
    given: Arc<Mutex<Option<Input>>>,
}

impl std::fmt::Debug for Canned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Canned")
    }
}

impl LocalModel for Canned {
    fn memory(&self) -> u64 {
        1
    }

    fn run(&self, input: &Input, _: &Call) -> Result<Output, ExpertError> {
        *self.given.lock().unwrap() = Some(input.clone());
        self.output.clone()
    }
}

struct Bench {
    folder: TempDir,
    inputs: Arc<Inputs>,
    worker: LocalWorker,
    given: Arc<Mutex<Option<Input>>>,
}

impl Bench {
    /// A worker with the model `org/model`, which gives this.
    fn new(output: Result<Output, ExpertError>) -> Bench {
        let (folder, inputs) = testkit::inputs();
        let given = Arc::<Mutex<Option<Input>>>::default();
        let note = Arc::clone(&given);
        let open = move |_: &ModelFiles, _: &str, _: &Resources, _: &Call| {
            Ok(Box::new(Canned { output: output.clone(), given: Arc::clone(&note) }) as Box<dyn LocalModel>)
        };
        let config =
            LocalModelsConfig { max_memory: 1 << 30, keep_alive: Duration::from_secs(1), threads: 1, at_once: 1 };
        let models = LocalModels::with_open(config, Box::new(open)).unwrap();
        let files = LocalFiles::default();
        let tasks = vec!["background-removal".to_owned()];
        let ears = vec!["voice-activity-detection".to_owned()];
        files.set([
            (ModelFiles::new("org/ears", folder.path()), ears),
            (ModelFiles::new("org/model", folder.path()), Vec::new()),
            (ModelFiles::new("org/cutter", folder.path()), tasks),
        ]);
        let worker = LocalWorker::new(models, files, Arc::clone(&inputs), Programs::default(), Duration::from_secs(60));
        Bench { folder, inputs, worker, given }
    }

    async fn run(&self, task: &str, args: &[(&str, &str)]) -> Result<Value, TaskError> {
        self.worker.perform(&job(Host::Local, "org/model", task, args)).await
    }

    fn given(&self) -> Input {
        self.given.lock().unwrap().take().unwrap()
    }

    fn file(&self, output: &Value, key: &str) -> image::DynamicImage {
        let path = self.folder.path().join(output[key].as_str().unwrap().trim_start_matches('/'));
        image::open(path).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_become_inputs() {
    let check = async |task: &str, args: &[(&str, &str)], wanted: Input| {
        let bench = Bench::new(Ok(Output::Text("done".to_owned())));
        bench.run(task, args).await.unwrap();
        assert_eq!(bench.given(), wanted, "{task} {args:?}");
    };
    check("summarization", &[("text", "long")], Input::Text("long".to_owned())).await;
    let question = Input::Question { question: "who?".to_owned(), context: "Ann did".to_owned() };
    check("question-answering", &[("text", "who?"), ("context", "Ann did")], question).await;
    let translate =
        Input::Translate { text: "good morning".to_owned(), from: Some("en".to_owned()), to: Some("fr".to_owned()) };
    check("translation", &[("text", "translate into French: good morning")], translate).await;
    let texts = Input::Texts(["a", "b", "c"].map(str::to_owned).to_vec());
    check("sentence-similarity", &[("text", "a"), ("sentences", r#"["b", "c"]"#)], texts).await;
    let choices =
        Input::Choices { text: "goal!".to_owned(), labels: vec!["sport".to_owned(), "art".to_owned()], several: false };
    check("zero-shot-classification", &[("text", "goal!"), ("labels", "sport, art")], choices).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn media_are_decoded_for_the_model() {
    let bench = Bench::new(Ok(Output::Text("a square".to_owned())));
    let path = bench.inputs.store(jarvis_plan::Kind::Image, "png", png(4, 3)).await.unwrap();
    let output = bench.run("image-to-text", &[("image", &path)]).await.unwrap();
    assert_eq!(output, json!({"generated text": "a square"}));
    let Input::Picture(Picture { width: 4, height: 3, pixels }) = bench.given() else { panic!() };
    assert_eq!((pixels.len(), &pixels[..3]), (36, &[40, 40, 200][..]));

    let question = bench.run("visual-question-answering", &[("image", &path), ("text", "what?")]).await;
    assert_eq!(question.unwrap(), json!([{"answer": "a square"}]));
    assert!(matches!(bench.given(), Input::PictureQuestion { question, .. } if question == "what?"));

    let wav = crate::native::sound::encode(8000, vec![0.5, -0.5]).unwrap();
    let path = bench.inputs.store(jarvis_plan::Kind::Audio, "wav", wav).await.unwrap();
    bench.run("automatic-speech-recognition", &[("audio", &path)]).await.unwrap();
    let Input::Sound { sound: Sound { rate: 8000, samples }, language: None, translate: false } = bench.given() else {
        panic!()
    };
    assert!((samples[0] - 0.5).abs() < 1e-3 && (samples[1] + 0.5).abs() < 1e-3);
    bench.run("zero-shot-audio-classification", &[("audio", &path), ("labels", "rain, a dog")]).await.unwrap();
    let Input::SoundChoices { sound: Sound { rate: 8000, .. }, labels } = bench.given() else { panic!() };
    assert_eq!(labels, ["rain", "a dog"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn outputs_have_the_shape_of_results() {
    let check = async |task: &str, args: &[(&str, &str)], output: Output, wanted: Value| {
        let found = Bench::new(Ok(output)).run(task, args).await.unwrap();
        assert_eq!(found, wanted, "{task}");
    };
    let text: &[(&str, &str)] = &[("text", "x")];
    let labels = Output::Labels(vec![Scored { label: "POSITIVE".to_owned(), score: 0.5 }]);
    check("text-classification", text, labels, json!([{"label": "POSITIVE", "score": 0.5}])).await;
    let entity = Entity { label: "PER".to_owned(), text: "Ann".to_owned(), score: 0.5, start: 0, end: 3 };
    let row = json!([{"entity_group": "PER", "word": "Ann", "score": 0.5, "start": 0, "end": 3}]);
    check("token-classification", text, Output::Entities(vec![entity]), row).await;
    let answer = Output::Answer { text: "Ann".to_owned(), score: 0.25, start: 0, end: 3 };
    let row = json!({"answer": "Ann", "score": 0.25, "start": 0, "end": 3});
    check("question-answering", &[("text", "who?"), ("context", "Ann")], answer, row).await;
    let vectors = Output::Vectors(vec![vec![1.0, 0.0], vec![0.0, 2.0], vec![3.0, 0.0], vec![0.0, 0.0]]);
    let args: &[(&str, &str)] = &[("text", "a"), ("sentences", r#"["b","c","d"]"#)];
    check("sentence-similarity", args, vectors, json!([0.0, 1.0, 0.0])).await;
    let part = |start, end, text: &str| TranscriptSegment { start, end, text: text.to_owned() };
    let activity = Transcript { segments: vec![part(0.5, 2.0, "")], ..Transcript::default() };
    check("text-generation", text, Output::Transcript(activity), json!([{"timestamp": [0.5, 2.0]}])).await;
    let late = Transcript { segments: vec![part(59.97, 125.04, "")], ..Transcript::default() };
    let times = json!({"generated text": "1:00.0 to 2:05.0", "chunks": [{"timestamp": [59.97_f32, 125.04_f32]}]});
    check("audio-classification", text, Output::Transcript(late), times).await;
    let heard = Output::Transcript(Transcript {
        text: "one two".to_owned(),
        language: Some("en".to_owned()),
        segments: vec![part(0.0, 1.0, "one"), part(1.0, 2.5, "two")],
    });
    let chunks = json!([{"timestamp": [0.0, 1.0], "text": "one"}, {"timestamp": [1.0, 2.5], "text": "two"}]);
    check("text-generation", text, heard, json!({"generated text": "one two", "language": "en", "chunks": chunks}))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_are_drawn_on_as_those_of_other_workers() {
    let run = async |task: &str, output: Output| {
        let bench = Bench::new(Ok(output));
        let path = bench.inputs.store(jarvis_plan::Kind::Image, "png", png(40, 30)).await.unwrap();
        let output = bench.run(task, &[("image", &path)]).await.unwrap();
        let image = bench.file(&output, "generated image");
        (output, image.into_rgb8())
    };
    let cat = Detection { label: "cat".to_owned(), score: 0.75, xmin: 4.0, ymin: 20.0, xmax: 30.0, ymax: 28.0 };
    let (output, image) = run("object-detection", Output::Boxes(vec![cat])).await;
    let corners = json!({"xmin": 4.0, "ymin": 20.0, "xmax": 30.0, "ymax": 28.0});
    assert_eq!(output["predicted"], json!([{"label": "cat", "score": 0.75, "box": corners}]));
    assert_eq!(image.dimensions(), (40, 30));

    let mask: Vec<u8> = (0..40 * 30).map(|at| if at < 600 { 255 } else { 0 }).collect();
    let segment = Segment { label: "sky".to_owned(), score: None, mask };
    let (output, image) = run("image-segmentation", Output::Segments(vec![segment])).await;
    assert_eq!(output["predicted"], json!([{"label": "sky", "score": null}]));
    let differs = |x, y| image.get_pixel(x, y).0.iter().zip([40, 40, 200]).any(|(a, b)| a.abs_diff(b) > 20);
    assert!(differs(20, 3) && !differs(20, 27), "the upper half is covered");

    let values = (0..1200).map(|at| at as f32).collect();
    let (_, image) = run("depth-estimation", Output::Depth { width: 40, height: 30, values }).await;
    assert_eq!((image.get_pixel(0, 0).0, image.get_pixel(39, 29).0), ([0, 0, 0], [255, 255, 255]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cut_out_is_see_through() {
    let run = async |width: u32, height: u32, alpha: Vec<u8>| {
        let bench = Bench::new(Ok(Output::Matte { width, height, alpha }));
        let path = bench.inputs.store(jarvis_plan::Kind::Image, "png", png(2, 2)).await.unwrap();
        let output = bench.run("background-removal", &[("image", &path)]).await?;
        Ok::<_, TaskError>(bench.file(&output, "generated image"))
    };
    let image = run(2, 2, vec![0, 255, 128, 1]).await.unwrap().into_rgba8();
    let pixels: Vec<[u8; 4]> = image.pixels().map(|pixel| pixel.0).collect();
    assert_eq!(pixels, [0, 255, 128, 1].map(|alpha| [40, 40, 200, alpha]));
    for (width, height, alpha) in [(2, 2, vec![0; 3]), (3, 2, vec![0; 6])] {
        assert_eq!(run(width, height, alpha).await.unwrap_err().code, ErrorCode::Internal);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_said() {
    let check = async |error: ExpertError, code: ErrorCode| {
        let found = Bench::new(Err(error)).run("summarization", &[("text", "x")]).await.unwrap_err();
        assert_eq!(found.code, code, "{found:?}");
    };
    let model = || "org/model".to_owned();
    check(ExpertError::TooLarge { model: model(), needed: 9, allowed: 1 }, ErrorCode::NotConfigured).await;
    check(ExpertError::Unsupported { model: model(), reason: "no".to_owned() }, ErrorCode::CannotDo).await;
    check(ExpertError::Failed { model: model(), reason: "no".to_owned() }, ErrorCode::Upstream).await;
    check(ExpertError::Timeout, ErrorCode::Timeout).await;
    check(ExpertError::BadInput("no mask".to_owned()), ErrorCode::InvalidInput).await;

    let bench = Bench::new(Ok(Output::Text("  ".to_owned())));
    assert_eq!(bench.run("summarization", &[("text", "x")]).await.unwrap_err().code, ErrorCode::NoOutput);
    for (task, args) in
        [("summarization", &[][..]), ("question-answering", &[("text", "who?")]), ("image-to-text", &[])]
    {
        assert_eq!(bench.run(task, args).await.unwrap_err().code, ErrorCode::MissingArgument, "{task}");
    }
    let other =
        bench.worker.perform(&job(Host::Local, "org/other", "summarization", &[("text", "x")])).await.unwrap_err();
    assert_eq!(
        (other.code, other.message.as_str()),
        (ErrorCode::NotConfigured, "the model `org/other` is not on this machine")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_model_reads_for_native_models() {
    let line = |text: &str, xmin: f32, ymin: f32| {
        let ymax = ymin + 10.0;
        Detection { label: text.to_owned(), score: 0.9, xmin, ymin, xmax: xmin + 40.0, ymax }
    };
    // The parts of a line come in the order in which they were found.
    let lines = vec![
        line("Village Hall", 0.0, 0.0),
        line("42 EUR", 50.0, 12.0),
        line("Total:", 0.0, 14.0),
        line("  ", 0.0, 26.0),
        line("Thank you", 0.0, 60.0),
    ];
    let check = async |lines: Vec<Detection>, model: &str, request: &str, wanted: Result<Value, ErrorCode>| {
        let bench = Bench::new(Ok(Output::Lines(lines)));
        let files = LocalFiles::default();
        files.set([(ModelFiles::new("org/ocr", bench.folder.path()), vec![OCR.to_owned()])]);
        let reader = LocalReader::new(bench.worker.models.clone(), files, Duration::from_secs(60));
        let native =
            crate::native::Native::new(Arc::clone(&bench.inputs), Programs::default()).with_reader(Arc::new(reader));
        assert_eq!(native.available(model), Ok(()));
        let path = bench.inputs.store(jarvis_plan::Kind::Image, "png", png(90, 80)).await.unwrap();
        let args = [("image", path.as_str()), ("text", request)];
        let mut job = testkit::native_job(model, request, &args);
        // The picture is that of the request, of which it may name a part.
        job.task = Arc::new(jarvis_plan::Task { dep: Vec::new(), ..(*job.task).clone() });
        let output = native.perform(&job).await;
        assert_eq!(output.map_err(|error| error.code), wanted, "{request}");
        bench.given()
    };
    let size = |given: Input| match given {
        Input::Picture(Picture { width, height, .. }) => (width, height),
        other => panic!("{other:?}"),
    };
    let text = json!({"generated text": "Village Hall\nTotal: 42 EUR\n\nThank you"});
    let given = check(lines.clone(), "native/ocr", "read the text in the picture", Ok(text.clone())).await;
    assert_eq!(size(given), (90, 80));
    let given =
        check(lines.clone(), "native/ocr", "read the text in the top half of the picture", Ok(text.clone())).await;
    assert_eq!(size(given), (90, 40));
    // Without tesseract it reads for Russian requests too.
    check(lines.clone(), "native/ocr", "прочитай текст на картинке", Ok(text)).await;
    let answer = json!([{"answer": "42 EUR", "score": 0.78}]);
    check(lines, "native/ocr-qa", "what is the total?", Ok(answer)).await;
    check(Vec::new(), "native/ocr", "read the text in the picture", Err(ErrorCode::CannotDo)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_description_is_no_reading() {
    let bench = Bench::new(Ok(Output::Text("a house".to_owned())));
    let path = bench.inputs.store(jarvis_plan::Kind::Image, "png", png(4, 3)).await.unwrap();
    let name = path.rsplit('/').next().unwrap();
    for (request, describes) in [
        ("what is in this picture?".to_owned(), true),
        (format!("describe {name}"), true),
        (format!("describe {name} and read it aloud"), true),
        (format!("describe {name}, and read the text in sign.png"), true),
        (format!("read the text in {name}"), false),
        ("read the sign in this picture".to_owned(), false),
        (format!("describe photo.jpg and read the text in {name}"), false),
        ("прочитай надпись на картинке".to_owned(), false),
    ] {
        let mut job = job(Host::Local, "org/model", "image-to-text", &[("image", &path)]);
        job.request = Arc::new(jarvis_plan::Request::new(request.as_str()));
        let output = bench.worker.perform(&job).await.map_err(|error| error.code);
        let wanted = if describes { Ok(json!({"generated text": "a house"})) } else { Err(ErrorCode::CannotDo) };
        assert_eq!(output, wanted, "{request}");
    }
}

/// An expert does one thing: what asks for more, or for something else, goes to the next candidate.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_expert_cannot_mind_is_not_asked_of_it() {
    let bench = Bench::new(Ok(Output::Text("done".to_owned())));
    let path = bench.inputs.store(jarvis_plan::Kind::Image, "png", png(4, 3)).await.unwrap();
    let long =
        "The festival moved into the barn. The choir sang twice. Ann came from Oslo on 3 May. Everybody was glad.";
    let check = async |task: &str, request: &str, does: bool| {
        let text = match task {
            "image-to-image" => request,
            _ => long,
        };
        let args = [("image", path.as_str()), ("text", text)];
        let args = if task == "image-to-image" { &args[..] } else { &args[1..] };
        let id = if task == "audio-classification" { "org/ears" } else { "org/model" };
        let mut job = job(Host::Local, id, task, args);
        let request = request.replace("TEXT", long).replace("PICTURE", &path);
        job.request = Arc::new(jarvis_plan::Request::new(request.as_str()));
        let output = bench.worker.perform(&job).await;
        let error = output.as_ref().err().map(|error| error.code);
        assert_eq!(error, (!does).then_some(ErrorCode::CannotDo), "{task}: {request}: {output:?}");
    };
    for (task, request, does) in [
        ("summarization", "summarize: TEXT", true),
        ("summarization", "give me a summary of this text: TEXT", true),
        ("summarization", "fasse zusammen: TEXT", true),
        ("summarization", "summarize in one sentence: TEXT", false),
        ("summarization", "summarize as bullet points: TEXT", false),
        ("summarization", "summarise notes.txt as a poem", false),
        ("summarization", "кратко перескажи в двух предложениях: TEXT", false),
        ("text-classification", "is this positive or negative: TEXT", true),
        ("text-classification", "what is the mood of this text? TEXT", true),
        ("text-classification", "is this spam? TEXT", false),
        ("text-classification", "what is the topic of this text? TEXT", false),
        ("token-classification", "which names are in this text? TEXT", true),
        ("token-classification", "find all entities in: TEXT", true),
        ("token-classification", "find the people and places in: TEXT", true),
        ("token-classification", "find the dates in: TEXT", false),
        ("token-classification", "which e-mail addresses are in: TEXT", false),
        ("audio-classification", "when does somebody speak in a.wav?", true),
        ("audio-classification", "when does Ann speak in a.wav?", false),
        ("audio-classification", "when does someone talk about prices in a.wav?", false),
        ("audio-classification", "when does someone first speak in a.wav?", false),
        ("audio-classification", "find the speech segments in a.wav", true),
        ("audio-classification", "когда здесь говорят?", true),
        ("audio-classification", "is this music or speech?", false),
        ("audio-classification", "what kind of sound is it?", false),
        ("text-to-speech", "read aloud: TEXT", true),
        ("text-to-speech", "read this slowly: TEXT", false),
        ("text-to-speech", "read this in a deep voice: TEXT", false),
        ("image-to-image", "upscale PICTURE", true),
        ("image-to-image", "increase the resolution of PICTURE", true),
        ("image-to-image", "enlarge PICTURE 4 times", false),
        ("image-to-image", "upscale PICTURE by 3x", false),
        ("image-to-image", "upscale PICTURE to 4000x3000", false),
        ("image-to-image", "upscale PICTURE to half its size", false),
        ("image-to-image", "enlarge the left half of PICTURE", false),
        ("image-to-image", "make PICTURE grey", false),
        ("image-to-image", "upscale PICTURE and make it grey", false),
        ("image-to-image", "remove the background of PICTURE", false),
        ("image-to-image", "put a white border around PICTURE", false),
    ] {
        check(task, request, does).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_picture_may_be_one_without_its_background() {
    let matte = Output::Matte { width: 2, height: 1, alpha: vec![255, 0] };
    let bench = Bench::new(Ok(matte));
    let path = bench.inputs.store(jarvis_plan::Kind::Image, "png", png(2, 1)).await.unwrap();
    for (order, does) in [
        ("remove the background", true),
        ("cut the background out", true),
        ("make the background transparent", true),
        ("убери фон", true),
        ("去掉背景", true),
        ("make it grey", false),
        ("replace the background with a beach", false),
        ("remove the background and make it grey", false),
        ("blur the background", false),
    ] {
        let job = job(Host::Local, "org/cutter", "image-to-image", &[("image", &path), ("text", order)]);
        let output = bench.worker.perform(&job).await;
        assert_eq!(
            output.as_ref().map(|_| ()).map_err(|error| error.code),
            if does { Ok(()) } else { Err(ErrorCode::CannotDo) },
            "{order}: {output:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn times_of_speech_are_told_where_they_are_wanted() {
    let part = |start, end, text: &str| TranscriptSegment { start, end, text: text.to_owned() };
    let segments = vec![part(0.0, 2.5, " one"), part(61.25, 125.0, "two ")];
    let heard = Transcript { text: "one two".to_owned(), language: None, segments };
    let bench = Bench::new(Ok(Output::Transcript(heard)));
    let wav = crate::native::sound::encode(8000, vec![0.5, -0.5]).unwrap();
    let path = bench.inputs.store(jarvis_plan::Kind::Audio, "wav", wav).await.unwrap();
    for (request, text) in [
        ("transcribe it", "one two"),
        ("transcribe it with timestamps", "0:00.0 to 0:02.5  one\n1:01.3 to 2:05.0  two"),
        ("сделай субтитры", "0:00.0 to 0:02.5  one\n1:01.3 to 2:05.0  two"),
    ] {
        let mut job = job(Host::Local, "org/model", "automatic-speech-recognition", &[("audio", &path)]);
        job.request = Arc::new(jarvis_plan::Request::new(request));
        let output = bench.worker.perform(&job).await.unwrap();
        assert_eq!((&output["generated text"], &output["duration"]), (&json!(text), &json!(0.00025)), "{request}");
    }
    let silent = Bench::new(Ok(Output::Transcript(Transcript::default())));
    let wav = crate::native::sound::encode(8000, vec![0.0, 0.0]).unwrap();
    let path = silent.inputs.store(jarvis_plan::Kind::Audio, "wav", wav).await.unwrap();
    let job = job(Host::Local, "org/model", "automatic-speech-recognition", &[("audio", &path)]);
    assert_eq!(silent.worker.perform(&job).await.unwrap_err().code, ErrorCode::NoOutput);
    let mut job = super::tests::job(Host::Local, "org/ears", "audio-classification", &[("audio", &path)]);
    job.request = Arc::new(jarvis_plan::Request::new("when does somebody speak?"));
    assert_eq!(silent.worker.perform(&job).await.unwrap()["generated text"], "nobody speaks");
}
