//! Tool lists and the one `check` of these tests.

use jarvis_plan::{Arg, Draft, Kind, Limits, Param, Request, Resource, Source, Tool, Vocabulary};
use jarvis_planner::{Offline, ToolIndex};

const T: Kind = Kind::Text;
const I: Kind = Kind::Image;
const A: Kind = Kind::Audio;
const J: Kind = Kind::Json;
const V: Kind = Kind::Video;

fn tool(name: &str, aliases: &[&str], description: &str, inputs: &[Kind], outputs: &[Kind]) -> Tool {
    let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
    Tool { aliases, ..Tool::typed(name, description, inputs, outputs) }
}

fn with(mut tool: Tool, param: Param) -> Tool {
    tool.params.push(param);
    tool
}

/// A list of task types such as a HuggingGPT planner is given.
pub(crate) fn task_types() -> Vec<Tool> {
    let mut tools = vec![
        tool("text-classification", &["sentiment"], "Gives a text a label such as its sentiment.", &[T], &[T, J]),
        tool("token-classification", &["ner"], "Finds names of people and places in a text.", &[T], &[T, J]),
        tool("text2text-generation", &["paraphrase"], "Turns one text into another as instructed.", &[T], &[T]),
        tool("summarization", &["summary"], "Shortens a long text to its main points.", &[T], &[T]),
        tool("translation", &["translate"], "Translates a text into another language.", &[T], &[T]),
        with(
            tool("question-answering", &["qa"], "Answers a question from a passage of text.", &[T], &[T, J]),
            Param::optional("context", T),
        ),
        tool("conversational", &["chat"], "Replies to what a person says.", &[T], &[T]),
        tool("text-generation", &[], "Writes new text from an instruction.", &[T], &[T]),
        tool("tabular-classification", &[], "Gives each row of a table a class.", &[J], &[J]),
        tool("object-detection", &["detection"], "Finds objects in a picture.", &[I], &[I, T, J]),
        tool("image-classification", &[], "Says what a picture shows as a whole.", &[I], &[T, J]),
        tool("image-to-text", &["captioning", "ocr"], "Describes a picture in words.", &[I], &[T]),
        tool("text-to-image", &["image-generation"], "Makes a picture from a description.", &[T], &[I]),
        with(tool("image-to-image", &["image-editing"], "Changes a picture.", &[I], &[I]), Param::optional("text", T)),
        tool("image-segmentation", &["segmentation"], "Divides a picture into regions.", &[I], &[I, T, J]),
        tool("depth-estimation", &["depth"], "Estimates how far away things are.", &[I], &[I]),
        tool("visual-question-answering", &["vqa"], "Answers a question about a picture.", &[I, T], &[T, J]),
        tool(
            "document-question-answering",
            &["docvqa"],
            "Answers a question about a scanned document.",
            &[I, T],
            &[T, J],
        ),
        tool("text-to-video", &[], "Makes a short video from a description.", &[T], &[V]),
        tool("text-to-speech", &["tts"], "Speaks a text aloud.", &[T], &[A]),
        tool("automatic-speech-recognition", &["asr"], "Writes down what is said.", &[A], &[T]),
        tool("audio-to-audio", &["denoise"], "Changes a recording, for example removes noise.", &[A], &[A]),
        tool("audio-classification", &[], "Says what a recording contains.", &[A], &[T, J]),
    ];
    let mut similarity = tool("sentence-similarity", &[], "Scores how close in meaning texts are.", &[], &[J]);
    similarity.params = vec![
        Param::optional("text1", T),
        Param::optional("text2", T),
        Param::optional("text", T),
        Param::optional("sentences", J),
    ];
    tools.push(similarity);
    for (name, what) in [
        ("canny", "edges"),
        ("hed", "soft outlines"),
        ("mlsd", "straight lines"),
        ("normal", "surface directions"),
        ("openpose", "poses of people"),
        ("scribble", "rough strokes"),
        ("midas", "distance"),
    ] {
        tools.push(tool(&format!("{name}-control"), &[], &format!("Draws the {what} of a picture."), &[I], &[I]));
    }
    for name in ["canny", "depth", "hed", "mlsd", "openpose", "seg", "normal", "scribble"] {
        let description = format!("Makes a picture from a description along a {name} picture.");
        tools.push(tool(&format!("{name}-text-to-image"), &[], &description, &[I, T], &[I]));
    }
    tools
}

/// A request with files attached: images and sounds by path, other things as text.
pub(crate) fn request(text: &str, attachments: &[&str]) -> Request {
    let attachments = attachments
        .iter()
        .map(|given| match Kind::of_name(given).filter(|kind| kind.is_media() && !given.contains(' ')) {
            Some(kind) => Resource { kind, source: Source::Public((*given).to_owned()), name: None },
            None => Resource { kind: T, source: Source::Inline((*given).to_owned()), name: None },
        })
        .collect();
    Request { attachments, ..Request::new(text) }
}

/// `tool(arg=value,…) ; …` with `@k` for the output of task `k` and `<…>` for dependencies that no argument shows.
pub(crate) fn compact(draft: &Draft) -> String {
    let task = |task: &jarvis_plan::DraftTask| {
        let args: Vec<String> = task
            .args
            .iter()
            .map(|(name, arg)| format!("{name}={}", arg.to_string().replace("<GENERATED>-", "@")))
            .collect();
        let shown: Vec<i64> = task.args.values().flat_map(Arg::references).filter_map(|of| of.0).collect();
        let hidden: Vec<String> =
            task.dep.iter().filter(|dep| !shown.contains(dep)).map(|dep| format!("<{dep}>")).collect();
        format!("{}({}){}", task.task, args.join(","), hidden.join(""))
    };
    draft.tasks.iter().map(task).collect::<Vec<_>>().join(" ; ")
}

/// True when `found` is what `expected` says; `~word` in `expected` stands for any value that holds the word.
fn matches(found: &str, expected: &str) -> bool {
    let mut rest = found;
    for (at, piece) in expected.split('~').enumerate() {
        if at == 0 {
            match rest.strip_prefix(piece) {
                Some(after) => rest = after,
                None => return false,
            }
            continue;
        }
        let (word, tail) = piece.find([',', ')']).map_or((piece, ""), |end| piece.split_at(end));
        let end = if tail.is_empty() { Some(rest.len()) } else { find_tail(rest, word, tail) };
        let Some(end) = end else { return false };
        if !rest[..end].to_lowercase().contains(&word.to_lowercase()) {
            return false;
        }
        rest = &rest[end + tail.len()..];
    }
    rest.is_empty()
}

/// Where `tail` stands for the first time after `word`.
fn find_tail(rest: &str, word: &str, tail: &str) -> Option<usize> {
    let lower = rest.to_lowercase();
    let at = lower.find(&word.to_lowercase())? + word.len();
    Some(at + rest.get(at..)?.find(tail)?)
}

/// Checks every case of a table; tells all that differ at once.
pub(crate) fn check_all(tools: &[Tool], cases: &[(&str, &[&str], &str)]) {
    let index = ToolIndex::new(tools);
    let vocabulary = Vocabulary::new(tools.to_vec());
    let mut wrong = Vec::new();
    for (text, attachments, expected) in cases {
        let draft = Offline::draft_with(&index, &request(text, attachments));
        let found = compact(&draft);
        if !matches(&found, expected) {
            wrong.push(format!("request:  {text}\nexpected: {expected}\nfound:    {found}"));
        }
        let plan = jarvis_plan::check(&draft, &vocabulary, Limits::default());
        assert!(plan.tasks().iter().all(|task| task.fault.is_none()), "{text}: {plan:?}");
        assert_eq!(draft.tasks.is_empty(), !draft.notes.is_empty() && draft.tasks.is_empty(), "{text}");
    }
    assert!(wrong.is_empty(), "{} of {} differ\n\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

#[test]
fn the_comparison_can_fail() {
    assert!(matches("a(x=make it gray,y=1)", "a(x=~gray,y=1)"));
    assert!(matches("a(x=gray) ; b()", "a(x=~gray) ; b()"));
    assert!(!matches("a(x=red,y=1)", "a(x=~gray,y=1)"));
    assert!(!matches("a(x=gray) ; b()", "a(x=~gray)"));
    assert!(!matches("a()", "b()"));
}
