//! The description of the routes, and that the one which is kept and served is this.

use std::path::Path;

use axum::Router;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{Components, ContactBuilder, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;

use super::{agent, files, models, open, pipelines, with_files};
use crate::state::Server;

pub(crate) type Routes = OpenApiRouter<Server>;

pub(crate) fn router(routes: Routes) -> Router<Server> {
    routes.split_for_parts().0
}

/// What an agent's server describes, or one of models alone.
fn description(is_agent: bool) -> OpenApi {
    let routes = OpenApiRouter::with_openapi(about()).merge(models());
    let routes = if is_agent { routes.merge(pipelines()).merge(agent()) } else { routes };
    routes.merge(with_files()).merge(files()).merge(open()).split_for_parts().1
}

#[test]
fn what_is_served_is_the_description_of_the_routes() {
    for (name, is_agent) in [("openapi.json", true), ("openapi.models.json", false)] {
        let made = description(is_agent).to_pretty_json().expect("names and texts alone, which JSON can hold") + "\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("api").join(name);
        if std::env::var_os("JARVIS_UPDATE_DOCS").is_some() {
            std::fs::write(&path, &made).expect("the file is written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == made, "api/{name} is not of these routes; run this test with JARVIS_UPDATE_DOCS=1");
    }
}

/// The groups of routes, in the order in which they are shown.
const TAGS: [(&str, &str); 9] = [
    ("pipeline", "Run requests"),
    ("decisions", "Plan and choose models; execute plans"),
    ("runs", "Current and past runs"),
    ("chats", "Conversations of the page"),
    ("me", "The caller's own data"),
    ("media", "Files in and out"),
    ("openai", "jarvis as a chat model"),
    ("models", "The models of this machine, each on its own"),
    ("server", "State of the server"),
];

/// The head of the API's description.
fn about() -> OpenApi {
    let mut components = Components::new();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    components
        .add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("jarvis_session"))));
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("jarvis")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(
                    "Plans a request into a task graph, chooses a model for each task, runs the graph in parallel, and \
                     answers. Where the server has a token, every route but the state of the server and the log-in \
                     needs it.",
                ))
                .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").build()))
                .contact(None::<ContactBuilder>.map(ContactBuilder::build))
                .build(),
        )
        .components(Some(components))
        .security(Some([
            SecurityRequirement::default(),
            SecurityRequirement::new("token", Vec::<String>::new()),
            SecurityRequirement::new("session", Vec::<String>::new()),
        ]))
        .tags(Some(TAGS.map(|(name, about)| TagBuilder::new().name(name).description(Some(about)).build())))
        .build()
}
