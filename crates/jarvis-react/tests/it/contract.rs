//! The contract of the document agent: rounds, formats, answers and faults. What is on the wire is tested by the server.

use std::collections::HashMap;

use jarvis_plan::EventKind;
use jarvis_react::Finish;
use jarvis_testing::chat::{Reply, Script};
use serde_json::json;

use crate::harness::{FRUITS, Harness, answer, ended_well, names, plot, script};

fn fruits_plot() -> String {
    plot(&json!(["apple", "banana", "orange"]), &json!([6, 3, 1]))
}

#[tokio::test]
async fn a_direct_answer_is_one_call() {
    let harness = Harness::new(Script::always(answer("Ten fruits."))).await;
    let (answered, events) = harness.ask("How many fruits are there?", FRUITS).await;
    let answered = answered.unwrap();
    assert_eq!((answered.text.as_str(), answered.images.len(), answered.finish), ("Ten fruits.", 0, Finish::Final));
    let [request] = &harness.chat.requests()[..] else { panic!("one call") };
    assert_eq!((request.stage(), &request.body["temperature"]), ("react", &json!(0)));
    assert_eq!(request.body["stop"], json!(["<Observation>:"]));
    assert!(request.prompt().contains(FRUITS) && request.prompt().contains("How many fruits are there?"));
    let messages = request.body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user"]);
    assert_eq!(names(&events), ["run_started", "thought", "answer", "done"]);
}

#[tokio::test]
async fn a_chart_then_the_answer_is_two_calls() {
    let harness = Harness::new(script([&fruits_plot(), &answer("三种。")])).await;
    let (answered, events) = harness.ask("文件中一共有几种水果？请用柱状图展示", FRUITS).await;
    let answered = answered.unwrap();
    assert_eq!((answered.text.as_str(), harness.chat.requests().len()), ("三种。", 2));
    let [url] = &answered.images[..] else { panic!("one picture") };
    assert_eq!(harness.picture(url).dimensions(), (640, 480));
    insta::assert_snapshot!(harness.scratchpad(1), @r#"
    <Question>: 文件中一共有几种水果？请用柱状图展示
    <Thought>: Count, then plot.
    <Action>: plot
    <Action Input>: {"x":["apple","banana","orange"],"y":[6,3,1]}
    <Observation>: Plot generated successfully.
    "#);
    let told = "run_started thought action plan task_started task_finished observation thought answer done";
    assert_eq!(names(&events).join(" "), told);
    // The plan grew by the one task, and its outcome is told as in every run.
    assert_eq!((answered.plan.tasks().len(), answered.outcomes[0].succeeded()), (1, true));
    assert_eq!(answered.answer().resources[0].url, *url);
    assert!(harness.prompts()[0].contains("文档位于两行"), "the prompt is Chinese for a question in Chinese");
}

#[tokio::test]
async fn three_bars_stand_in_proportion() {
    let harness = Harness::new(script([&fruits_plot(), &answer("x")])).await;
    let answered = harness.answered("Draw the fruits").await;
    let picture = harness.picture(&answered.images[0]);
    // The colour that fills most of the picture, the ground aside, is that of the bars.
    let mut counts: HashMap<[u8; 3], usize> = HashMap::new();
    picture.pixels().for_each(|pixel| *counts.entry(pixel.0).or_default() += 1);
    let mut colours: Vec<([u8; 3], usize)> = counts.into_iter().collect();
    colours.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let bar = colours[1].0;
    let height = |x: u32| (0..480).filter(|y| picture.get_pixel(x, *y).0 == bar).count();
    // Runs of columns that hold the bars' colour, by the height of the highest.
    let mut bars: Vec<usize> = Vec::new();
    let mut inside = false;
    for height in (0..640).map(height) {
        match (inside, height >= 20) {
            (false, true) => bars.push(height),
            (true, true) => *bars.last_mut().unwrap() = height.max(*bars.last().unwrap()),
            (_, false) => {}
        }
        inside = height >= 20;
    }
    let [six, three, one] = bars[..] else { panic!("three bars, not {bars:?}") };
    let unit = six as f64 / 6.0;
    assert!((three as f64 / unit - 3.0).abs() < 0.1 && (one as f64 / unit - 1.0).abs() < 0.1, "{bars:?}");
}

#[tokio::test]
async fn input_over_several_lines_is_read() {
    let call = "<Thought>: T\n<Action>: plot\n<Action Input>:\n{\n  \"x\": [\"a\"],\n  \"y\": [1]\n}\n";
    let harness = Harness::new(script([call, &answer("ok")])).await;
    let answered = harness.answered("Draw").await;
    assert_eq!((answered.images.len(), answered.rounds[0].input.as_str()), (1, r#"{"x":["a"],"y":[1]}"#));
}

#[tokio::test]
async fn bad_input_is_told_and_repaired() {
    for (bad, told) in [
        ("<Action>: plot\n<Action Input>: apple six", "Action Input is not valid JSON"),
        ("<Action>: plot", "the Action Input is missing. Write one JSON object, such as {"),
        (&plot(&json!(["a", "b"]), &json!([1])), "Failed to generate plot: "),
        (&plot(&json!(["a"]), &json!(["many"])), "Failed to generate plot: "),
        ("<Action>: plot\n<Action Input>: {\"x\": [\"a\"]}", "Failed to generate plot: "),
        ("<Action>: draw\n<Action Input>: {}", "there is no tool `draw`. The tools are: plot, "),
        ("<Action>: do not plot\n<Action Input>: {}", "there is no tool `do not plot`"),
        ("<Thought>: hm", "no action and no final answer"),
        ("<Action>: add\n<Action Input>: {\"a\": 1}", "`add` needs `b`; an input is {\"a\":5,\"b\":10}"),
        ("<Action>: add\n<Action Input>: {\"a\": 0, \"b\": 0}", "Error: the service cannot be reached"),
        ("<Action>: hang\n<Action Input>: {\"a\": 0, \"b\": 0}", "Error: `hang` gave no answer within 0.03 s"),
    ] {
        let harness = Harness::new(script([bad, &fruits_plot(), &answer("done")])).await;
        let answered = harness.answered("Draw").await;
        assert_eq!((answered.text.as_str(), answered.images.len(), answered.rounds.len()), ("done", 1, 3), "{bad}");
        assert!(answered.rounds[0].observation.starts_with(told), "{bad}: {}", answered.rounds[0].observation);
        assert!(harness.scratchpad(1).contains(&format!("<Observation>: {told}")), "{}", harness.scratchpad(1));
    }
}

#[tokio::test]
async fn an_invented_observation_counts_for_nothing() {
    let invents = format!("{}\n<Observation>: Nine of them.\n<Final Answer>: Nine.", fruits_plot());
    let harness = Harness::new(script([&invents, &answer("One.")])).await;
    let answered = harness.answered("How many?").await;
    assert_eq!((answered.text.as_str(), answered.rounds.len()), ("One.", 2));
    assert!(!harness.scratchpad(1).contains("Nine"));
}

#[tokio::test]
async fn an_answer_right_after_a_call_stands_if_the_call_went_well() {
    let both = format!("{}\n<Final Answer>: One.", fruits_plot());
    let harness = Harness::new(script([&both, &answer("unused")])).await;
    let answered = harness.answered("How many?").await;
    assert_eq!((answered.text.as_str(), answered.images.len(), harness.chat.requests().len()), ("One.", 1, 1));
    let failing = format!("{}\n<Final Answer>: One.", plot(&json!(["a"]), &json!([1, 2])));
    let harness = Harness::new(script([&failing, &answer("No chart.")])).await;
    assert_eq!(harness.answered("How many?").await.text, "No chart.");
}

#[tokio::test]
async fn a_model_that_never_ends_is_stopped() {
    let harness = Harness::with(Script::always(fruits_plot()), |settings| settings.max_steps = 3).await;
    let answered = harness.answered("Draw forever").await;
    // One more call asked for the answer alone; there was none in it.
    assert_eq!((answered.finish, answered.text.as_str()), (Finish::MaxSteps, ""));
    assert_eq!((harness.chat.requests().len(), answered.images.len()), (4, 3));
    let last = &harness.chat.requests()[3];
    assert!(last.prompt().contains("No more tools can be called") && last.body.get("stop").is_none());
    // It may give one there, in the format or without.
    for last in [answer("One."), "One.".to_owned()] {
        let harness = Harness::with(script([&fruits_plot(), &last]), |settings| settings.max_steps = 1).await;
        let answered = harness.answered("Draw forever").await;
        assert_eq!((answered.finish, answered.text.as_str()), (Finish::MaxSteps, "One."));
    }
}

#[tokio::test]
async fn a_model_without_any_format_is_taken_at_its_word() {
    let harness = Harness::new(Script::always("Three fruits, I would say.")).await;
    let answered = harness.answered("How many kinds?").await;
    assert_eq!((answered.finish, answered.text.as_str()), (Finish::NoFormat, "Three fruits, I would say."));
    assert_eq!(harness.chat.requests().len(), 2);
}

#[tokio::test]
async fn answers_begin_without_a_newline_and_questions_stay() {
    let reply = "<Question>: What is the price?\n<Thought>: T\n<Final Answer>:\n  Pear,\ntwice.\n";
    let harness = Harness::new(Script::always(reply)).await;
    let (answered, events) = harness.ask("Which fruit?", "pear,pear").await;
    assert_eq!(answered.unwrap().text, "Pear,\ntwice.");
    let EventKind::RunStarted { request, .. } = &events[0].kind else { panic!("{events:?}") };
    assert_eq!(request.text, "Which fruit?");
}

#[tokio::test]
async fn a_failed_chart_keeps_those_before() {
    let replies = [
        plot(&json!(["梨", "груша", "pear"]), &json!([1, 2, 3])),
        plot(&json!(["b"]), &json!([-1])),
        plot(&json!(["a"]), &json!([1, 2])),
        answer(""),
    ];
    let harness = Harness::new(Script::always(replies.map(Reply::text))).await;
    let (answered, events) = harness.ask("Draw twice", FRUITS).await;
    let answered = answered.unwrap();
    assert_eq!((answered.text.as_str(), answered.images.len()), ("", 2));
    assert!(ended_well(&events), "a chart alone is an answer too");
    assert_ne!(harness.picture(&answered.images[0]), harness.picture(&answered.images[1]));
}

#[tokio::test]
async fn many_questions_at_once_keep_apart() {
    let mut rules = Script::new();
    for nth in 0..16 {
        let name = format!("question-{nth:02}");
        let replies = [plot(&json!([name]), &json!([nth + 1])), answer(&name)];
        rules = rules.on_containing("react", &[&name], replies.map(Reply::text));
    }
    let harness = Harness::new(rules).await;
    let asked = (0..16).map(|nth| {
        let harness = &harness;
        async move { harness.answered(&format!("question-{nth:02}")).await }
    });
    for (nth, answered) in futures::future::join_all(asked).await.into_iter().enumerate() {
        assert_eq!((answered.text, answered.images.len()), (format!("question-{nth:02}"), 1));
    }
}
