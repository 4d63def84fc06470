//! The catalogue's pins: made from the Hub, and held against it.

use jarvis_models::{Catalogue, ModelError, Reference, Store, pin};
use jarvis_testing::weights::sha256;

use crate::machine::{CATALOGUE, DECODER, ENCODER, Machine, caption, chat, weights};

#[tokio::test]
async fn a_catalogue_is_pinned_and_holds_the_hub_to_it() {
    let machine = Machine::new(vec![caption(), chat()]);
    let catalogue = Catalogue::read(CATALOGUE).unwrap();
    let (pinned, failures) = pin(&machine.client(), &catalogue, &|_| {}).await.unwrap();
    assert_eq!(failures, [""; 0]);
    let entry = pinned.find("caption").unwrap();
    assert_eq!(entry.revision.as_ref().unwrap().as_str(), caption().main());
    assert_eq!((entry.license.as_deref(), entry.pins.len()), (Some("mit"), 5));
    let pin_of = |path: &str| entry.pins.iter().find(|(name, _)| name.as_str() == path).unwrap().1;
    assert_eq!((pin_of(ENCODER).size, pin_of(ENCODER).sha256.clone()), (50_000, Some(sha256(&weights(1)))));
    assert_eq!(pin_of("config.json").sha256, None);
    assert_eq!(entry.weight(), Some((100_000, false)));
    assert_eq!(Catalogue::read(&pinned.to_json()).unwrap(), pinned);

    // A pinned revision is pulled whatever `main` is by then.
    machine.hub.set(vec![caption().next("later").large(DECODER, weights(20)), chat()]);
    let store = Store::with_catalogue(&machine.environment, &machine.data(), pinned.clone());
    let plan = async |store: &Store, name: &str| {
        store.plan(&machine.client(), &Reference::parse(name, store.catalogue()).unwrap(), None).await
    };
    let found = plan(&store, "caption").await.unwrap();
    assert!(found.is_pinned && found.commit.as_str() == caption().main());
    store.pull(&machine.client(), &found, &|_| {}).await.unwrap();
    assert!(!machine.cached("models--org--caption/refs/main").exists(), "nobody asked what `main` is");
    assert!(store.resolve("caption").is_some());

    // What the Hub has at that commit must be what it had.
    for (from, to) in [(sha256(&weights(1)), "0".repeat(64)), ("50000".to_owned(), "50001".to_owned())] {
        let other = Catalogue::read(&pinned.to_json().replace(&from, &to)).unwrap();
        let store = Store::with_catalogue(&machine.environment, &machine.data(), other);
        let error = plan(&store, "caption").await.unwrap_err();
        assert!(matches!(error, ModelError::PinMismatch { .. }) && error.to_string().contains(&to), "{error}");
    }
}

#[tokio::test]
async fn what_cannot_be_pinned_stays_and_is_told() {
    let machine = Machine::new(vec![caption()]);
    let catalogue = Catalogue::read(CATALOGUE).unwrap();
    let (pinned, failures) = pin(&machine.client(), &catalogue, &|_| {}).await.unwrap();
    assert_eq!(pinned.find("chat"), catalogue.find("chat"));
    assert!(failures.len() == 1 && failures[0].starts_with("chat: `org/chat-GGUF` does not exist"), "{failures:?}");
}
