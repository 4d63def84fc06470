//! Judging by a scripted model.

use std::sync::Arc;

use jarvis_ask::{Ask, Events};
use jarvis_chat::Replay;

use super::*;

fn answer(id: &str, text: &str) -> LoggedAnswer {
    LoggedAnswer {
        query_id: Some(id.to_owned()),
        question: format!("question {id}"),
        final_answer: text.to_owned(),
        finished: true,
        ..LoggedAnswer::default()
    }
}

fn line(stage: &str, contains: &str, reply: &str, sticky: bool) -> String {
    serde_json::json!({"stage": stage, "contains": [contains], "reply": reply, "sticky": sticky}).to_string()
}

async fn judged(
    log: &[LoggedAnswer],
    reference: Option<&[LoggedAnswer]>,
    repeats: u32,
    script: &[String],
) -> Result<(JudgedScore, usize), AskError> {
    let replay = Arc::new(Replay::parse("script", &script.join("\n")).unwrap());
    let judge = Judge(Ask::new(replay.clone(), &Events::unread()));
    let judging = Judging { judge: &judge, repeats, seed: Seed(7), parallel: 1 };
    let score = score(None, log, reference, Some(&judging)).await?;
    Ok((score.judged.unwrap(), replay.unused()))
}

#[tokio::test]
async fn repeats_are_counted_and_what_is_open_is_told() {
    let log = [
        answer("solved", "it is 7"),
        // Nobody looks at these two.
        LoggedAnswer { finished: false, ..answer("broken", "") },
        answer("empty", " "),
        answer("unsure", "perhaps 8"),
    ];
    let script = [
        // Three repeats: solved, unsolved and solvable, solved after a second look; the first reply is of no use.
        line("judge_answer", "question solved", "I think so.", false),
        line("judge_answer", "cannot be used", r#"{"reason":"r","status":"Solved"}"#, false),
        line("judge_answer", "question solved", r#"{"reason":"r","status":"Unsolved"}"#, false),
        line(
            "judge_task",
            "question solved",
            r#"```json
{"reason":"r","status":"Solvable"}
```"#,
            false,
        ),
        line("judge_answer", "question solved", r#"{"status":"unsure"}"#, false),
        line("judge_answer_detail", "question solved", r#"{"status":"Solved"}"#, false),
        // No answer: unsolved without a look; twice unsolvable, once solvable.
        line("judge_task", "question empty", r#"{"status":"Unsolvable"}"#, false),
        line("judge_task", "question empty", r#"{"status":"Unsolvable"}"#, false),
        line("judge_task", "question empty", r#"{"status":"Solvable"}"#, false),
        // Never anything that can be read.
        line("judge_answer", "question unsure", "?", true),
        line("judge_answer_detail", "question unsure", "?", true),
        line("judge_task", "question unsure", "?", true),
    ];
    let (score, unused) = judged(&log, None, 3, &script).await.unwrap();
    assert_eq!(unused, 0);
    let told: Vec<(bool, bool, u32)> = score
        .questions
        .iter()
        .map(|question| {
            let Outcome { passed, solved, undecided, .. } = question.outcome;
            (passed, solved, undecided)
        })
        .collect();
    assert_eq!(told[..3], [(true, true, 0), (false, false, 0), (true, false, 0)]);
    assert_eq!(told[3].2, 3);
    assert_eq!((score.undecided.count, score.undecided.n), (3, 12));
    assert_eq!((score.success.count, score.success_by), (1, "judge"));
    assert_eq!((score.pass.count, score.pass.n), (2 + usize::from(told[3].0), 4));
    // The same again.
    let (again, _) = judged(&log, None, 3, &script).await.unwrap();
    assert_eq!(again, score);
}

#[tokio::test]
async fn an_even_vote_is_a_tie_that_the_seed_decides() {
    let script = [
        line("judge_answer", "question a", r#"{"status":"Solved"}"#, false),
        line("judge_answer", "question a", r#"{"status":"Unsolved"}"#, false),
        line("judge_task", "question a", r#"{"status":"Solvable"}"#, false),
    ];
    let (score, _) = judged(&[answer("a", "x")], None, 2, &script).await.unwrap();
    assert_eq!((score.tied.count, score.undecided.count), (1, 0));
    assert_eq!(score.questions[0].outcome.passed, Seed(7).decides("a", "pass", 2));
    assert_eq!(score.success.count, 0);
}

#[tokio::test]
async fn runs_are_compared() {
    let solved = |id: &str| line("judge_answer", &format!("question {id}"), r#"{"status":"Solved"}"#, true);
    let failed = |id: &str, text: &str| {
        [
            serde_json::json!({"stage":"judge_answer","contains":[format!("question {id}"),text],"reply":"{\"status\":\"Unsolved\"}","sticky":true})
                .to_string(),
            line("judge_task", &format!("question {id}"), r#"{"status":"Solvable"}"#, true),
        ]
    };
    let log = [
        answer("one", "good"),
        answer("two", "ours"),
        answer("three", "same"),
        answer("four", "ours"),
        answer("five", "x"),
    ];
    let reference = [answer("one", "bad"), answer("two", "theirs"), answer("three", "same "), answer("four", "theirs")];
    let mut script: Vec<String> = failed("one", "bad").into();
    script.extend(["one", "two", "three", "four", "five"].map(solved));
    script.extend([
        // Ours is first, then second: it wins both.
        line("judge_preference", "question two", r#"{"reason":"r","better":1}"#, false),
        line("judge_preference", "question two", r#"{"reason":"r","better":"2"}"#, false),
        // Whatever comes first wins: a tie.
        line("judge_preference", "question four", r#"{"better":1}"#, true),
    ]);
    let (score, unused) = judged(&log, Some(&reference), 2, &script).await.unwrap();
    assert_eq!(unused, 0);
    let standings: Vec<_> = score.questions.iter().map(|question| question.standing.unwrap()).collect();
    let by_seed = if Seed(7).decides("three", "identical", 0) { Standing::Win } else { Standing::Lose };
    assert_eq!(standings, [Standing::Win, Standing::Win, by_seed, Standing::Tie, Standing::Win]);
    assert_eq!((score.tie.unwrap().count, score.identical), (1, Some(1)));
    assert_eq!((score.reference_pass.unwrap().count, score.pass.count), (3, 5));
}

#[tokio::test]
async fn a_judge_that_cannot_be_asked_is_an_error() {
    let error = judged(&[answer("a", "x")], None, 1, &[]).await.unwrap_err();
    assert!(error.to_string().contains("judge_answer"), "{error}");
}

#[test]
fn rows_are_aligned_by_query_id() {
    let items: Vec<ToolbenchItem> = serde_json::from_str(
        r#"[{"query":"question a","query_id":5},{"query":"question b","query_id":"6"},{"query":"question c","query_id":7}]"#,
    )
    .unwrap();
    let log = [
        LoggedAnswer { query_id: Some("6".into()), ..answer("b", "x") },
        LoggedAnswer { query_id: None, number: Some(1), ..answer("a", "x") },
        LoggedAnswer { query_id: Some("9".into()), ..answer("z", "x") },
    ];
    let aligned = align(Some(&items), &log, &log[..1]);
    assert_eq!(aligned.keys, ["5", "6", "7"]);
    assert_eq!(aligned.log.rows, [Some(1), Some(0), None]);
    assert_eq!(aligned.log.unmatched.len(), 1);
    assert_eq!(aligned.reference.rows, [None, Some(0), None]);
}
