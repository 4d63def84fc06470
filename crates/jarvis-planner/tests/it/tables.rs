//! Requests and their plans, from the tables in `tests/cases`.

use jarvis_plan::{DraftTask, NoteKind, Request, Tool};
use jarvis_planner::{Experience, Offline, Past, ToolIndex, Weights};

use crate::support::{check_all, compact, request, task_types, tools_of};

/// The requests of a table with their plans: a request a line, with ` | file` behind it for each attachment, and below it, indented,
/// the plan.
fn cases(table: &str) -> Vec<(String, &str)> {
    let mut lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut cases: Vec<(String, &str)> = Vec::new();
    while let Some(request) = lines.next() {
        let plan = lines.next().and_then(|line| line.strip_prefix("    ")).unwrap_or_default();
        assert!(!plan.is_empty(), "no plan below {request}");
        cases.push((request.replace("\\n", "\n"), if plan == "nothing" { "" } else { plan }));
    }
    assert!(!cases.is_empty());
    cases
}

/// Checks a table.
fn check(tools: &[Tool], table: &str) {
    let cases = cases(table);
    let requests: Vec<Vec<&str>> = cases.iter().map(|(request, _)| request.split(" | ").collect()).collect();
    let cases: Vec<(&str, &[&str], &str)> = requests
        .iter()
        .zip(&cases)
        .filter_map(|(parts, (_, plan))| parts.split_first().map(|(text, files)| (*text, files, *plan)))
        .collect();
    check_all(tools, &cases);
}

#[test]
fn english() {
    check(&task_types(), include_str!("../cases/english.txt"));
}

#[test]
fn russian() {
    check(&task_types(), include_str!("../cases/russian.txt"));
}

#[test]
fn chinese() {
    check(&task_types(), include_str!("../cases/chinese.txt"));
}

#[test]
fn everyday() {
    check(jarvis_catalogue::vocabulary().tools(), include_str!("../cases/everyday.txt"));
}

/// Requests that no rule was made for, with the tools that are wanted for them.
fn new_everyday() -> Vec<(Request, Vec<String>)> {
    let vocabulary = jarvis_catalogue::vocabulary();
    let known = |name: &&str| vocabulary.tools().iter().any(|tool| tool.name == *name);
    let case = |(asked, plan): (String, &str)| {
        let mut parts = asked.split(" | ");
        let text = parts.next().unwrap_or_default();
        // A value may hold " ; ", which no tool follows.
        let wanted = plan.split(" ; ").filter_map(|step| step.split_once('(')).map(|(name, _)| name);
        (request(text, &parts.collect::<Vec<_>>()), wanted.filter(known).map(str::to_owned).collect())
    };
    cases(include_str!("../cases/everyday_new.txt")).into_iter().map(case).collect()
}

/// How many of them get these tools, whatever their arguments.
fn served(cases: &[(Request, Vec<String>)], known: impl Fn(usize) -> Experience) -> usize {
    let index = ToolIndex::new(jarvis_catalogue::vocabulary().tools());
    let is_served = |(at, (request, wanted)): &(usize, &(Request, Vec<String>))| {
        let draft = Offline::draft_by(&index, request, &Weights::default(), &known(*at));
        draft.tasks.iter().map(|task| &task.task).eq(wanted)
    };
    cases.iter().enumerate().filter(is_served).count()
}

#[test]
fn most_of_the_new_everyday_requests_get_their_tools() {
    let cases = new_everyday();
    let served = served(&cases, |_| Experience::default());
    assert!(served >= 186, "{served} of {} get their tools", cases.len());
}

#[test]
fn other_tool_lists() {
    let sections: Vec<&str> = include_str!("../cases/foreign.txt").split("\n[").skip(1).collect();
    assert!(!sections.is_empty());
    for section in sections {
        let (lists, table) = section.split_once("]\n").expect("the lists of tools are named between brackets");
        check(&tools_of(lists), table);
    }
}

#[test]
fn a_long_text_alone_is_summed_up() {
    let council = "The city council met on Monday to discuss the new bridge. It was agreed that the works start in May. \
        The mayor said that the cost would be shared by three towns. Critics say that it is too expensive.";
    let mood = "The mood in the hall was good. Nobody left early, and the names of the winners were read aloud. The \
        outline of the plan had been drawn by students, who did not ask for money. The edges remain rough.";
    let russian = "Городской совет собрался в понедельник и обсудил новый мост. Работы начнутся в мае. Мэр сказал, что расходы \
        разделят три города. Критики считают, что это слишком дорого и что денег не хватит на школы.";
    let chinese = "市议会星期一开会讨论了新桥的建设问题，会议持续了三个小时。工程将于五月开始，由三座城市共同承担费用。\
        批评者认为费用太高，而且学校和医院更需要这笔钱。市长表示会认真听取大家的意见。";
    let order = format!("{council} I would like you to translate it into French.");
    let summed = [council, mood, russian, chinese].map(|text| (text, format!("summarization(text={text})")));
    let ordered = [(order.as_str(), format!("translation(text={council})"))];
    let all = summed.iter().chain(&ordered);
    let cases: Vec<(&str, &[&str], &str)> = all.map(|(text, plan)| (*text, &[][..], plan.as_str())).collect();
    check_all(&task_types(), &cases);
}

#[test]
fn what_no_tool_does_is_told() {
    let index = ToolIndex::new(&task_types());
    for (text, expected, told) in [
        ("summarise news.txt and fold the laundry", "summarization(text=news.txt)", Some("fold the laundry")),
        ("describe a.png, then water my plants", "image-to-text(image=a.png)", Some("water my plants")),
        ("Book a table for two. Describe a.png", "image-to-text(image=a.png)", Some("Book a table for two")),
        ("draw a cat and under the bed a dog", "text-to-image(text=a cat and under the bed a dog)", None),
        ("find the edges of a.png and the depth", "canny-control(image=a.png) ; depth-estimation(image=a.png)", None),
    ] {
        let draft = Offline::draft_with(&index, &Request::new(text));
        assert_eq!(compact(&draft), expected, "{text}");
        let note = draft.notes.iter().find(|note| note.kind == NoteKind::LeftOut);
        assert_eq!(note.map(|note| note.text.clone()), told.map(|told| format!("no tool fits \"{told}\"")), "{text}");
    }
}

#[test]
fn what_the_turn_before_made_is_read_out() {
    let index = ToolIndex::new(&task_types());
    let check = |before: &str, results: &[&str], text: &str, want: &str| {
        let history = vec![jarvis_plan::Turn::user(before), jarvis_plan::Turn::assistant("/images/1.png")];
        let results = results.iter().map(|text| (*text).to_owned()).collect();
        let request = Request { history, results, ..Request::new(text) };
        assert_eq!(compact(&Offline::draft_with(&index, &request)), want, "{text}");
    };
    let whole_and_short = ["It rained all week and the harbour was quiet.", "It rained."];
    let summarised = "summarise that in one sentence";
    check(summarised, &whole_and_short, "read the summary aloud", "text-to-speech(text=It rained.)");
    check("what does it say?", &["NO PARKING"], "read that aloud, slowly", "text-to-speech(text=NO PARKING)");
    check("what does it say?", &["NO PARKING"], "say that in a male voice", "text-to-speech(text=NO PARKING)");
}

#[test]
fn plans_from_before_make_everyday_requests_no_worse() {
    let cases = new_everyday();
    let past = |(at, (request, tools)): (usize, &(Request, Vec<String>))| Past {
        id: at.to_string(),
        request: request.text.clone(),
        tasks: (0..).zip(tools).map(|(id, tool)| DraftTask::new(id, tool)).collect(),
    };
    let folds: Vec<Experience> = (0..5)
        .map(|fold| {
            let others = cases.iter().enumerate().filter(|(at, _)| at % 5 != fold);
            Experience::new(others.map(past).filter(|past| !past.tasks.is_empty()).collect())
        })
        .collect();
    let (without, with) = (served(&cases, |_| Experience::default()), served(&cases, |at| folds[at % 5].clone()));
    // One request in a hundred is the noise of five folds.
    assert!(with + cases.len() / 100 >= without, "{with} served by experience, {without} without, of {}", cases.len());
}

#[test]
fn no_part_of_a_request_is_dropped_without_a_word() {
    let index = ToolIndex::new(jarvis_catalogue::vocabulary().tools());
    let mut wrong = Vec::new();
    for (request, wanted) in cases(include_str!("../cases/left_out.txt")) {
        let draft = Offline::draft_with(&index, &Request::new(request.as_str()));
        let notes = draft.notes.iter().filter(|note| note.kind == NoteKind::LeftOut);
        let parts: Vec<String> = notes
            .map(|note| {
                let quoted = note.text.split('"').nth(1).unwrap_or(&note.text);
                format!("{quoted}{}", if note.text.contains("waited for") { " (later)" } else { "" })
            })
            .collect();
        let found = if draft.tasks.is_empty() { "no plan".to_owned() } else { parts.join(" ; ") };
        if found != wanted {
            wrong.push(format!("{request}\n    wanted: {wanted}\n    found:  {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whatever can be done, and whatever cannot behind it: what cannot is told.
#[test]
fn what_is_to_be_done_then_is_done_or_told() {
    let index = ToolIndex::new(jarvis_catalogue::vocabulary().tools());
    let served = [
        "describe a.jpg",
        "make a.jpg grey",
        "summarise notes.txt",
        "transcribe talk.wav",
        "translate notes.txt into French",
        "read notes.txt aloud",
        "write a poem about rain",
        "draw a castle",
        "list the names in notes.txt",
        "join a.wav and b.wav",
        "what is on a.jpg",
    ];
    let unserved = [
        "fax it to Anna",
        "post it on my blog",
        "phone Ben",
        "email it to ann@example.org",
        "order a pizza",
        "book a room for two",
        "turn off the lights",
        "upload it",
        "delete the original",
        "lock the door",
        "play some jazz",
        "pay the bill",
    ];
    let pairs = served.iter().flat_map(|one| unserved.iter().map(move |two| (one, two)));
    let joined = pairs.flat_map(|(one, two)| {
        [", then ", ". Then ", "; ", ", and after that "].map(|joint| (format!("{one}{joint}{two}"), two))
    });
    let is_told = |request: &str, two: &str| {
        let draft = Offline::draft_with(&index, &Request::new(request));
        let tells = |note: &jarvis_plan::Note| note.kind == NoteKind::LeftOut && note.text.contains(two);
        !draft.tasks.is_empty() && draft.notes.iter().any(tells)
    };
    let silent: Vec<String> =
        joined.filter(|(request, two)| !is_told(request, two)).map(|(request, _)| request).collect();
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// Files stand under other names once they are taken in, and are spoken of by those that they came with.
#[test]
fn which_comes_first_is_said_by_the_names_that_people_gave() {
    let index = ToolIndex::new(jarvis_catalogue::vocabulary().tools());
    let file = |path: &str, name: &str| jarvis_plan::Resource {
        kind: jarvis_plan::Kind::Audio,
        source: jarvis_plan::Source::Public(path.to_owned()),
        name: Some(name.to_owned()),
    };
    let attachments = vec![file("/audios/5f.wav", "tone.wav"), file("/audios/81.wav", "hum.wav")];
    let text = "glue /audios/5f.wav and /audios/81.wav together, hum first";
    let draft = Offline::draft_with(&index, &Request { attachments, ..Request::new(text) });
    assert_eq!(compact(&draft), "audio-joining(audio1=/audios/81.wav,audio2=/audios/5f.wav)");
}
