//! The text models on small texts in three languages, and on any text at all.

use jarvis_catalogue::TaskOutput;
use jarvis_plan::ErrorCode;
use jarvis_testing::rows;
use proptest::prelude::*;
use serde_json::json;

use super::summary::SummaryOptions;
use super::*;
use crate::testkit::native_job as job;

const CASES: &str = include_str!("tests.json");

const BRIDGE: &str = "The old bridge in Portland will close for repairs in March. Engineers found rust in the bridge's main \
cables last autumn. Repairs to the bridge will take eight months and cost 12 million dollars. Drivers will have to use \
the tunnel while the bridge is closed. A bakery near the river sells very good rolls. City engineers say the bridge \
will be safer after the repairs. The mayor hopes that ferries will help drivers. Cyclists asked for a wider lane. \
The lane will be ready when the bridge opens again.";

const RIVER: &str = "Река Волга течёт через весь запад России. Весной вода в реке поднимается и заливает луга. Рыбаки ждут весны, \
потому что рыба в реке идёт на нерест. Один рыбак завёл себе попугая. Летом река мелеет, и суда ходят осторожно. \
Зимой река замерзает, и по льду реки ездят машины. Учёные следят за уровнем воды в реке Волге.";

const TEA: &str = "茶是中国最古老的饮料之一。中国南方的茶园在春天采茶。绿茶不发酵，红茶经过发酵。老王家的猫很胖。喝茶的人认为绿茶有益健康。\
茶园的工人每天早上采茶。红茶和绿茶都来自同一种茶树。";

#[test]
fn languages_are_told_apart() {
    for (text, expected) in rows::<(String, String)>(CASES, "languages") {
        assert_eq!(language(&text), expected, "{text}");
    }
}

#[test]
fn texts_are_cut_into_sentences() {
    for (text, expected) in rows::<(String, Vec<String>)>(CASES, "sentences") {
        let found: Vec<&str> = segment::sentences(&text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{text}");
    }
    let endless = "word ".repeat(2_000);
    assert!(segment::sentences(&endless).len() > 20);
}

#[test]
fn terms_are_stems_or_pairs() {
    for (text, language, expected) in rows::<(String, String, Vec<String>)>(CASES, "terms") {
        let found: Vec<String> = segment::terms(&text, &language).into_iter().map(|term| term.stem).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn options_are_read_from_requests() {
    type Row = (String, Option<usize>, Option<String>, Option<usize>, bool);
    for (request, sentences, length, words, points) in rows::<Row>(CASES, "options") {
        let found = SummaryOptions::read(&request);
        let shown = (found.sentences, found.length.map(|length| format!("{length:?}")), found.words, found.points);
        assert_eq!(shown, (sentences, length, words.map(summary::Bound::Most), points), "{request}");
    }
}

#[test]
fn lengths_that_whole_sentences_miss_are_told() {
    let check = |request: &str, want: Option<&str>| {
        let options = SummaryOptions::read(request);
        let summary =
            summary::summarize("The old bridge over the river is closed. Trains go round. Nobody knows why.", &options);
        let unmet = summary::unmet(&summary, &options);
        assert_eq!(
            unmet.as_deref().map(|unmet| unmet.split(':').next().unwrap_or(unmet)),
            want,
            "{request}: {summary}"
        );
    };
    check("summarise in at most three words", None);
    check("summarise in 2 words", Some("at most 2 words"));
    check("summarise in exactly 4 words", Some("exactly 4 words"));
    check("summarise in at least 100 words", Some("at least 100 words"));
    check("in no more than 20 characters", None);
    check("in under 10 characters", Some("at most 10 characters"));
    check("不超过5个字符", Some("at most 5 characters"));
}

#[test]
fn summaries_keep_what_the_text_is_about() {
    // The text, what must be said, and what is beside the point.
    let cases = [(BRIDGE, "bridge", "rolls"), (RIVER, "рек", "попугая"), (TEA, "绿茶", "猫")];
    for (text, about, beside) in cases {
        for sentences in 1..=3 {
            let options = SummaryOptions { sentences: Some(sentences), ..SummaryOptions::default() };
            let summary = summary::summarize(text, &options);
            assert_eq!(segment::sentences(&summary).len(), sentences, "{summary}");
            assert!(!summary.contains(beside), "{summary}");
        }
        let usual = summary::summarize(text, &SummaryOptions::default());
        assert!(usual.contains(about) && !usual.contains(beside), "{usual}");
        assert!(usual.len() < text.len() * 2 / 3, "{usual}");
        let all = summary::summarize(text, &SummaryOptions { sentences: Some(99), ..SummaryOptions::default() });
        assert_eq!(all, text);
        let points =
            summary::summarize(text, &SummaryOptions { sentences: Some(2), points: true, ..SummaryOptions::default() });
        assert_eq!(points.lines().filter(|line| line.starts_with("- ")).count(), 2, "{points}");
    }
    let few = summary::summarize(
        BRIDGE,
        &SummaryOptions { words: Some(summary::Bound::Most(20)), ..SummaryOptions::default() },
    );
    assert!(few.split_whitespace().count() <= 20, "{few}");
}

#[test]
fn keywords_are_what_texts_come_back_to() {
    assert_eq!(keywords(BRIDGE, 1), ["bridge"]);
    assert!(keywords(RIVER, 2).iter().any(|word| word.starts_with("рек")), "{:?}", keywords(RIVER, 2));
    assert!(keywords(TEA, 3).iter().any(|word| word.contains("绿茶")), "{:?}", keywords(TEA, 3));
    let phrase = "Machine learning is fun. We teach machine learning. Machine learning needs data.";
    assert_eq!(keywords(phrase, 2), ["machine learning", "fun"]);
    assert!(keywords("", 5).is_empty());
    assert!(keywords("the of and", 5).is_empty());
}

#[test]
fn feelings_are_read() {
    for (text, expected) in rows::<(String, String)>(CASES, "feelings") {
        let rows = sentiment::classify(&text).expect("a language that is read").rows;
        assert_eq!(rows[0].0, expected, "{text}: {rows:?}");
        assert!((rows.iter().map(|row| row.1).sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(rows[0].1 >= rows[1].1 && rows[1].1 >= rows[2].1);
    }
    for (text, doubt) in rows::<(String, Option<String>)>(CASES, "doubts") {
        let mood = sentiment::classify(&text).expect("a language that is read");
        assert_eq!(mood.doubt.map(|doubt| format!("{doubt:?}")), doubt, "{text}: {mood:?}");
        assert!(mood.doubt.is_none() || mood.rows[0].1 < 0.9, "{text}: {mood:?}");
    }
    let refused = sentiment::classify("Das ist ein sehr schöner Tag und ich bin froh").expect_err("German");
    assert_eq!(refused.code, ErrorCode::CannotDo);
}

#[test]
fn likeness_is_ordered() {
    // A text, one that is near, one that is far.
    let cases = [
        ("A dog runs in the park", "Dogs were running through the park", "The bank raised its rates"),
        ("Собака бежит по парку", "В парке бегала собака", "Банк поднял ставку"),
        ("狗在公园里跑步", "公园里有一只狗在跑", "银行提高了利率"),
    ];
    for (text, near, far) in cases {
        let scores = similarity::compare(text, &[text.to_owned(), near.to_owned(), far.to_owned()]);
        assert_eq!(rounded(scores[0]), 1.0, "{text}");
        assert!(scores[1] > 0.3 && scores[1] < 1.0, "{text}: {scores:?}");
        assert!(scores[2] < 0.2, "{text}: {scores:?}");
        let back = similarity::compare(near, &[text.to_owned()]);
        let there = similarity::compare(text, &[near.to_owned()]);
        assert_eq!(rounded(back[0]), rounded(there[0]), "{text}");
    }
    let nothing = similarity::compare("a", &["б".to_owned(), String::new()]);
    assert_eq!(nothing, [0.0, 0.0]);
    assert!(nothing.iter().all(|score| score.is_sign_positive()));
}

async fn done(id: &str, request: &str, args: &[(&str, &str)]) -> Result<TaskOutput, TaskError> {
    perform(&job(id, request, args)).await.expect("an id of this module")
}

#[tokio::test]
async fn every_model_gives_its_shape() {
    let found = done("native/textrank", &format!("Summarize in one sentence: {BRIDGE}"), &[("text", BRIDGE)]).await;
    let found = found.expect("a summary");
    assert_eq!(segment::sentences(&found.as_text().expect("a text")).len(), 1);
    assert_eq!(found.0["language"], "en");
    assert_eq!(found.0["keywords"][0], "bridge");

    let found = done("native/vader", "", &[("text", "I love it")]).await.expect("labels");
    assert_eq!(found.0[0]["label"], "POSITIVE");
    assert_eq!(found.0.as_array().map(Vec::len), Some(3));

    let text = "Привет! Иван живёт в Москве.";
    let found = done("native/entity-rules", "", &[("text", text)]).await.expect("entities");
    assert_eq!(found.as_text().as_deref(), Some("люди: Иван; места: Москве"));
    let row = &found.0["predicted"][0];
    assert_eq!(
        (&row["entity_group"], &row["word"], &row["start"], &row["end"]),
        (&json!("PER"), &json!("Иван"), &json!(8), &json!(12))
    );

    let args = [("text", "When was it built?"), ("context", "Ось. It was built in 1887.")];
    let found = done("native/passage-qa", "", &args).await.expect("an answer");
    let sentence = "It was built in 1887.";
    assert_eq!((&found.0["answer"], &found.0["start"], &found.0["end"]), (&json!(sentence), &json!(5), &json!(26)));
    assert_eq!(found.as_text().as_deref(), Some(sentence));

    let found = done("native/tfidf-similarity", "", &[("text1", "a cat"), ("text2", "a cat")]).await.expect("scores");
    assert_eq!(found.0, json!([1.0]));
    let args = [("text", "a cat"), ("sentences", r#"["a cat", "ein Hund"]"#)];
    let found = done("native/tfidf-similarity", "", &args).await.expect("scores");
    assert_eq!(found.0[0], json!(1.0));
    assert_eq!(found.0.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn what_the_request_asks_of_a_text_is_told_or_refused() {
    for (id, request, args, expected) in rows::<(String, String, Vec<(String, String)>, String)>(CASES, "told") {
        let args: Vec<_> = args.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let found = match done(&id, &request, &args).await {
            Ok(found) => found.as_text().unwrap_or_default(),
            Err(error) => format!("! {:?}", error.code),
        };
        assert_eq!(found, expected, "{id}: {request} {args:?}");
    }
}

#[tokio::test]
async fn wrong_use_is_told_by_code() {
    let huge = "a ".repeat(MAX_BYTES);
    for (id, args, expected) in rows::<(String, Vec<(String, String)>, String)>(CASES, "refusals") {
        let huge = |value| if value == "HUGE" { huge.as_str() } else { value };
        let args: Vec<_> = args.iter().map(|(name, value)| (name.as_str(), huge(value.as_str()))).collect();
        let error = done(&id, "", &args).await.expect_err("a refusal");
        assert_eq!(format!("{:?}", error.code), expected, "{id}: {error}");
        assert!(!error.message.ends_with('.'), "{error}");
    }
    assert!(perform(&job("native/canny", "", &[])).await.is_none());
    let stopped = job("native/vader", "", &[("text", "fine")]);
    stopped.cancel.cancel();
    // Either end of the race is right: the work is short.
    let result = perform(&stopped).await.expect("an id of this module");
    assert!(result.map_or_else(|error| error.code == ErrorCode::Cancelled, |_| true));
}

#[test]
fn every_pattern_compiles() {
    // Each of these touches its patterns.
    entities::find("张先生 Alice Иванов 1");
    SummaryOptions::read("in two sentences");
    sentiment::classify("нет").expect("Russian");
    sentiment::classify("好").expect("Chinese");
}

/// Texts with the letters, marks and breaks that the rules look at.
fn texts() -> impl Strategy<Value = String> {
    let pieces = "The|Alice|Иван|в|Москве|王小明|先生|北京|大学|市|5|1.5|2024|-|:|%|$|@|a@b.co|http://x|.|。|!|?|\n|\n\n| |е\u{301}|👩‍👩‍👧|'s|Dr.|«|»|не|不|好|плохо|of|на|\u{a0}|\r\n|ß|İ|ё|的";
    let pieces = prop::sample::select(pieces.split('|').collect::<Vec<_>>());
    prop_oneof![any::<String>(), prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())]
}

/// Nothing here may take a time that grows faster than the text; a text of this size would then never end.
#[test]
fn long_and_odd_texts_do_not_panic() {
    for piece in ["a\n", "A. ", "Dr. A. B. ", "张公司", "«", "1.5,", "не ", "x@", "?！"] {
        let text = piece.repeat(20_000 / piece.len());
        summary::summarize(&text, &SummaryOptions::default());
        entities::describe(&text, &entities::find(&text), &entities::Group::ALL);
        let _ = passage::quote(&text, &text);
        similarity::compare(&text, std::slice::from_ref(&text));
        keywords(&text, 5);
        let _ = sentiment::classify(&text);
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn offsets_hold_in_any_text(text in texts()) {
        let found = entities::find(&text);
        let letters: Vec<char> = text.chars().collect();
        let mut last = 0;
        for (entity, start, end) in offsets(&text, &found) {
            prop_assert!(last <= start && start < end && end <= letters.len());
            prop_assert_eq!(letters[start..end].iter().collect::<String>(), entity.word(&text));
            last = end;
        }
        entities::describe(&text, &found, &entities::Group::ALL);
    }

    #[test]
    fn summaries_are_sentences_of_the_text(text in texts(), count in 1usize..5) {
        let options = SummaryOptions { sentences: Some(count), points: true, ..SummaryOptions::default() };
        let summary = summary::summarize(&text, &options);
        let whole = squeezed(&text);
        for line in summary.lines() {
            let line = line.strip_prefix("- ").unwrap_or(line);
            prop_assert!(whole.contains(&squeezed(line)), "{:?} is not in {:?}", line, whole);
        }
        let plain = summary::summarize(&text, &SummaryOptions::default());
        prop_assert!(plain.chars().count() <= text.chars().count());
    }

    #[test]
    fn sentences_cover_all_that_is_not_blank(text in texts()) {
        let mut at = 0;
        for range in segment::sentences(&text) {
            prop_assert!(at <= range.start && range.start < range.end);
            prop_assert!(text[at..range.start].trim().is_empty());
            at = range.end;
        }
        prop_assert!(text[at..].trim().is_empty());
    }

    #[test]
    fn nothing_panics_and_scores_stay_in_range(text in texts(), other in texts()) {
        language(&text);
        keywords(&text, 5);
        SummaryOptions::read(&text);
        if let Ok(mood) = sentiment::classify(&text) {
            prop_assert!(mood.rows.iter().all(|(_, score)| (0.0..=1.0).contains(score)));
        }
        if let Ok(found) = passage::quote(&other, &text) {
            prop_assert!((0.0..=1.0).contains(&found.score) && text.get(found.range).is_some());
        }
        passage::split(&text);
        for score in similarity::compare(&text, &[other, text.clone()]) {
            prop_assert!((0.0..=1.0).contains(&score));
        }
    }
}
