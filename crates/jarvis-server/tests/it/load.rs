//! Many at once: a thousand streams, and more requests than places.

use futures::StreamExt;
use futures::future::join_all;
use reqwest::Method;

use crate::harness::{self, Does, MOOD, ask};
use jarvis_testing::chat::Script;

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_follow_one_run_and_all_see_all_of_it() {
    let script = Script::new().on("parse_task", MOOD).on("response_results", "Here you are.");
    let harness = harness::with_chat(script).does("text-classification", Does::Waits).start().await;
    rlimit::increase_nofile_limit(8192).expect("files");
    let own = harness.open("/hugginggpt/stream", ask("x")).await;
    let id = own.headers()["x-run-id"].to_str().expect("text").to_owned();
    harness.worker.started.reach(1).await;
    let path = format!("/runs/{id}/events");
    let followers = join_all((0..1000).map(|_| harness.request(Method::GET, &path).send())).await;
    let metrics = harness.get("/metrics").await;
    assert!(metrics.text.contains("jarvis_streams_open 1001"), "every stream is open at once");
    harness.go.add_permits(1);
    let own = own.text().await.expect("a whole stream");
    let texts =
        join_all(followers.into_iter().map(|reply| async { reply.expect("a reply").text().await.expect("text") }));
    for text in texts.await {
        assert_eq!(text, own);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn past_the_limit_requests_are_refused_and_the_others_served() {
    let harness = harness::offline()
        .does("text-classification", Does::Waits)
        .options(|options| (options.max_running, options.max_waiting) = (4, 8))
        .start()
        .await;
    let asked = (0..40).map(|_| harness.post("/hugginggpt", ask("tell the mood of: I love it")));
    let mut replies = Box::pin(futures::stream::iter(asked).buffer_unordered(40));
    // Nothing ends until it is let go, so the first replies are the refusals.
    for _ in 0..28 {
        assert_eq!(replies.next().await.expect("a reply").told(), "503 overloaded");
    }
    harness.go.add_permits(12);
    let served: Vec<u16> = replies.map(|reply| reply.status).collect().await;
    assert_eq!(served, [200; 12]);
}
