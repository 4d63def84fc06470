//! What the settings of all services share.

use std::time::Duration;

use jarvis_net::Secret;
use url::Url;

#[test]
fn what_is_secret_in_a_setting_is_not_shown() {
    let base = Url::parse("https://user:p4ss@models.test/v1?key=p4ss").unwrap();
    let (key, proxy) = (Secret::new("p4ss"), Secret::new("http://u:p4ss@proxy.test"));
    let hub = crate::HuggingFaceConfig { proxy, ..crate::HuggingFaceConfig::new(base.clone(), key.clone()) };
    let server = crate::ModelServerConfig { token: key.clone(), ..crate::ModelServerConfig::new(base.clone()) };
    let media = crate::MediaEndpointConfig::new(base, key);
    for text in [format!("{hub:?}"), format!("{server:?}"), format!("{media:?}")] {
        assert!(!text.contains("p4ss") && text.contains("https://models.test/v1"), "{text}");
    }
}

#[test]
fn a_service_that_hangs_leaves_time_for_another() {
    // Of the 180 s that a task has unless configured otherwise.
    let base = Url::parse("http://h").unwrap();
    let hub = crate::HuggingFaceConfig::new(base.clone(), None);
    assert!(hub.timeout + hub.max_wait < Duration::from_secs(120));
    assert!(crate::ModelServerConfig::new(base.clone()).timeout < Duration::from_secs(120));
    assert!(crate::MediaEndpointConfig::new(base, None).timeout < Duration::from_secs(120));
}
