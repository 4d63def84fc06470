//! Configuration from files and the environment, and its warnings.

use super::{Loaded, load};

fn with(yaml: &str, env: &[(&str, &str)]) -> Result<Loaded, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.yaml");
    std::fs::write(&path, yaml).expect("writable");
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    load(Some(&path), None, env, |_| Vec::new()).map_err(|error| error.to_string())
}

#[test]
fn environment_wins_over_file_and_file_over_default() {
    let loaded = with(
        "llm: {model: a, base_url: http://one}\nlimits: {concurrency: 3}\n",
        &[("JARVIS_LLM", "b"), ("JARVIS_LIMITS__TASK_TIMEOUT_S", "7"), ("JARVIS_LLM__VISION", "true")],
    )
    .expect("valid");
    assert_eq!(loaded.config.llm.name(), "b");
    assert_eq!(loaded.config.llm.base_url.as_deref(), Some("http://one"));
    assert_eq!(loaded.config.limits.concurrency, 3);
    assert_eq!(loaded.config.limits.task_timeout_s, 7);
    assert_eq!(loaded.config.limits.run_timeout_s, 600);
    assert_eq!((loaded.config.llm.vision.get(), loaded.config.llm.context_tokens.get()), (Some(true), None));
    assert_eq!(loaded.warnings, Vec::<String>::new());
}

#[test]
fn a_media_store_needs_a_bucket_and_has_usual_values_for_the_rest() {
    let store = with("media_store: {bucket: shared}", &[("JARVIS_MEDIA_STORE__ENDPOINT", "http://minio:9000")]);
    let store = store.expect("valid").config.media_store.expect("a store");
    assert_eq!((store.bucket.as_str(), store.endpoint.as_deref()), ("shared", Some("http://minio:9000")));
    assert_eq!((store.region.as_str(), store.access_key_env.as_str()), ("us-east-1", "AWS_ACCESS_KEY_ID"));
    assert_eq!((store.cache_bytes, store.timeout_s), (20 << 30, 60));
    let error = with("media_store: {endpoint: x}", &[]).expect_err("no bucket");
    assert!(error.contains("media_store") && error.contains("bucket"), "{error}");
    assert_eq!(with("", &[]).expect("valid").config.media_store, None);
}

#[test]
fn variables_are_typed_by_what_they_set() {
    let loaded = with("", &[("JARVIS_LLM", "1234"), ("JARVIS_LLM__BASE_URL", ""), ("JARVIS_INFERENCE_MODE", "local")])
        .expect("valid");
    assert_eq!((loaded.config.llm.name(), loaded.config.llm.base_url.clone()), ("1234", None));
    let loaded =
        with("", &[("JARVIS_LOGIT_BIAS__PARSE_TASK", "0.5"), ("JARVIS_URLS__ALLOW_HOSTS", "[a.example, b.example]")])
            .expect("valid");
    assert_eq!(loaded.config.logit_bias.parse_task, 0.5);
    assert_eq!(loaded.config.urls.allow_hosts, ["a.example", "b.example"]);
}

#[test]
fn an_address_in_the_environment_wins_over_azure_in_the_file() {
    let yaml = "llm: {azure: {base_url: https://x.example, deployment_name: d}}";
    assert!(with(yaml, &[]).expect("valid").config.llm.azure.is_some());
    assert!(with(yaml, &[("OPENAI_BASE_URL", "http://localhost/v1")]).expect("valid").config.llm.azure.is_none());
}

#[test]
fn facts_of_the_model_are_set_or_auto() {
    for (yaml, vision, context) in [
        ("", None, None),
        ("llm: {vision: auto, context_tokens: auto}", None, None),
        ("llm: {vision: false, context_tokens: 4096}", Some(false), Some(4096)),
    ] {
        let llm = with(yaml, &[]).expect("valid").config.llm;
        assert_eq!((llm.vision.get(), llm.context_tokens.get()), (vision, context), "{yaml}");
    }
    let set = [("JARVIS_LLM__VISION", "auto"), ("JARVIS_LLM__LOCAL_SERVERS", "[]")];
    let llm = with("llm: {vision: true}", &set).expect("valid").config.llm;
    assert_eq!((llm.vision.get(), llm.local_servers.len(), llm.is_offline()), (None, 0, true));
}

#[test]
fn unknown_keys_give_warnings() {
    let loaded = with("llm: {modle: a}\nnonsense: 1\n", &[("JARVIS_LIMITS__WIDTH", "7")]).expect("valid");
    let mut warnings = loaded.warnings;
    warnings.sort();
    assert_eq!(
        warnings,
        [
            "unknown configuration key `limits.width`",
            "unknown configuration key `llm.modle`",
            "unknown configuration key `nonsense`",
        ]
    );
}

#[test]
fn what_cannot_be_used_says_why() {
    for (yaml, want) in [
        ("llm: [", "not valid YAML"),
        ("- a\n- b\n", "the top level is not a mapping"),
        ("limits: {concurrency: many}", "`limits.concurrency`"),
        ("inference_mode: everywhere", "everywhere"),
        ("llm: {vision: perhaps}", "`llm.vision` is wrong: expected `auto` or a value"),
    ] {
        let error = with(yaml, &[]).expect_err(yaml);
        assert!(error.contains(want), "{error}");
    }
    assert!(with("", &[]).is_ok());
}

#[test]
fn the_original_form_of_the_model_server_is_read() {
    let loaded = with("local_inference_endpoint: {host: localhost, port: 8005}", &[]).expect("valid");
    assert_eq!(loaded.config.local_inference_endpoint.expect("set").url(), "http://localhost:8005");
}

#[test]
fn a_file_of_the_decision_only_fork_is_understood() {
    let loaded = with(
        "model_api_base_url: http://models.example:8081\nlocal: {endpoint: 'http://localhost:8006'}\n\
         model: qwen-2.5-7b-instruct\nmethod: paper2\nuse_completion: false\nnum_candidate_models: 7\n\
         logit_bias: {parse_task: 0.1, choose_model: 5}\nsave_prompts: true\n",
        &[],
    )
    .expect("valid");
    let config = loaded.config;
    assert_eq!(config.llm.base_url.as_deref(), Some("http://localhost:8006"));
    assert_eq!(config.llm.name(), "qwen-2.5-7b-instruct");
    assert_eq!(config.decisions.model_api_base_url.as_deref(), Some("http://models.example:8081"));
    assert_eq!(config.decisions.method, jarvis_hugginggpt::decisions::Method::Unified);
    assert!(config.decisions.save_prompts);
    assert_eq!(loaded.warnings, Vec::<String>::new());

    // Our key wins where both are set, and a key unknown here gives a warning.
    let loaded =
        with("model: a\nllm: {model: b}\ndev: true\nlocal: {endpoint: 'http://x', other: 1}\n", &[]).expect("valid");
    assert_eq!(loaded.config.llm.name(), "b");
    assert_eq!(loaded.warnings.len(), 2, "{:?}", loaded.warnings);
    assert_eq!(with("model: a\n", &[("JARVIS_LLM", "c")]).expect("valid").config.llm.name(), "c");
    let error = with("method: guess\n", &[]).expect_err("it is no method");
    assert!(error.contains("decisions.method"), "{error}");
}
