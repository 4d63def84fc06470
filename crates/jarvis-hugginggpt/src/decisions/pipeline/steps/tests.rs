//! Models in the reply of the one call for all, checked.

use super::*;

#[track_caller]
fn check(said: &str, models: &[&str], want: &str, odd: bool) {
    let models: Vec<ServiceModel> =
        models.iter().map(|id| ServiceModel { id: (*id).to_owned(), ..ServiceModel::default() }).collect();
    let mut task = PipelineTask { id: "a".to_owned(), model_id: said.to_owned(), ..PipelineTask::default() };
    let note = checked(&mut task, &models);
    assert_eq!((task.model_id.as_str(), note.is_some()), (want, odd), "{said}: {note:?}");
}

#[test]
fn a_model_is_one_of_those_offered() {
    check("org/m1", &["org/m1", "org/m2"], "org/m1", false);
    check("ORG/M2", &["org/m1", "org/m2"], "org/m2", true);
    check("m2", &["org/m1", "org/m2"], "org/m2", true);
    check("invented", &["org/m1", "org/m2"], "org/m1", true);
    check("none", &["org/m1"], "org/m1", true);
    check("none", &[], "none", true);
    check("invented", &[], "none", true);
}

#[test]
fn tasks_are_renamed_with_their_links() {
    let mut tasks = read::reply(
        r#"[{"id":"finder","downstreams":["b"],"sample-reasoning":{"b":"why"}},{"id":"b","upstreams":["Finder"]}]"#,
    )
    .unwrap()
    .tasks;
    rename(&mut tasks, &[("finder".to_owned(), "face-detection".to_owned()), ("b".to_owned(), "age".to_owned())]);
    assert_eq!(tasks[0].id, "face-detection");
    assert_eq!(tasks[0].downstreams, ["age"]);
    assert_eq!(tasks[0].sample_reasoning["age"], "why");
    assert_eq!(tasks[1].upstreams, ["face-detection"]);
}
