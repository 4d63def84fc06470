//! The routes that `/openapi.json` describes, in groups.
//!
//! The description is made of the same list, by the tests of this crate alone, and kept in `api/`, which is what is served: made by each
//! server as it started, it was a megabyte of the binary's code.

use axum::routing::{get, post};

use crate::ag_ui;
use crate::routes::{
    approvals, chats, decisions, events, health, local_models, me, media, model_server, models, openai, pipeline,
    plans, runs, session, tools, upload,
};

#[cfg(test)]
pub(crate) use self::described::{Routes, router};
#[cfg(not(test))]
pub(crate) use self::served::{Routes, router};
#[cfg(not(test))]
use self::served::{RoutesExt as _, routes};
#[cfg(test)]
use utoipa_axum::routes;

/// What an agent does: requests, decisions, plans, runs.
pub(crate) fn pipelines() -> Routes {
    Routes::new()
        .routes(routes!(pipeline::answer))
        .routes(routes!(pipeline::stream))
        .routes(routes!(pipeline::run_named))
        .routes(routes!(pipeline::stream_named))
        .routes(routes!(pipeline::tasks))
        .routes(routes!(pipeline::results))
        .routes(routes!(decisions::decide))
        .routes(routes!(decisions::stream))
        .routes(routes!(decisions::test))
        .routes(routes!(decisions::refresh))
        .routes(routes!(session::reload))
        .routes(routes!(plans::show))
        .routes(routes!(plans::run_saved))
        .routes(routes!(plans::run_saved_streamed))
        .routes(routes!(plans::run))
        .routes(routes!(plans::run_streamed))
        .routes(routes!(runs::list::list, runs::removal::remove_old))
        .routes(routes!(runs::show, runs::removal::remove))
        .routes(routes!(events::follow))
        .routes(routes!(runs::follow))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::retry))
        .routes(routes!(runs::rating::rate))
        .routes(routes!(approvals::decide))
        .routes(routes!(models::models))
        .routes(routes!(tools::list))
        .routes(routes!(me::show))
        .routes(routes!(me::export, me::remove))
        .routes(routes!(chats::list))
        .routes(routes!(chats::show, chats::put, chats::remove))
}

/// The models of this machine, each on its own.
pub(crate) fn models() -> Routes {
    Routes::new()
        .routes(routes!(model_server::running))
        .routes(routes!(model_server::loaded))
        .routes(routes!(local_models::list))
        .routes(routes!(local_models::plan))
        .routes(routes!(local_models::pull))
        .route("/status/{owner}/{name}", get(model_server::status_of_owner))
        .routes(routes!(model_server::status))
        .routes(routes!(openai::models))
        .routes(routes!(openai::embeddings::embed))
        .routes(routes!(openai::audio::speak))
        .routes(routes!(health::metrics))
}

/// What comes with files.
pub(crate) fn with_files() -> Routes {
    Routes::new()
        .routes(routes!(openai::complete))
        .routes(routes!(openai::images::generate))
        .routes(routes!(openai::files::list, openai::files::create))
        .routes(routes!(openai::files::show, openai::files::delete))
        .routes(routes!(openai::files::content))
        .routes(routes!(openai::responses::create))
        .routes(routes!(openai::responses::compact))
        .routes(routes!(openai::responses::show, openai::responses::delete))
        .routes(routes!(openai::responses::cancel))
        .routes(routes!(openai::responses::input_items))
        .routes(routes!(openai::audio::transcribe))
        .routes(routes!(openai::audio::translate))
        .routes(routes!(model_server::call))
        .route("/models/{owner}/{name}", post(model_server::call_of_owner))
        .routes(routes!(upload::upload))
}

/// An agent by AG-UI.
pub(crate) fn agent() -> Routes {
    Routes::new().routes(routes!(ag_ui::run))
}

/// Results, by links that are as good as a token.
pub(crate) fn files() -> Routes {
    Routes::new()
        .routes(routes!(media::picture))
        .routes(routes!(media::sound))
        .routes(routes!(media::video))
        .routes(routes!(media::table))
}

/// What needs no token.
pub(crate) fn open() -> Routes {
    Routes::new()
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(session::log_in, session::log_out))
}

/// Routes without their descriptions, which the linker then leaves out.
#[cfg(not(test))]
mod served {
    use axum::Router;
    use axum::handler::Handler;
    use axum::routing::MethodRouter;
    use utoipa::Path;
    use utoipa_axum::PathItemExt as _;

    use crate::state::Server;

    pub(crate) type Routes = Router<Server>;

    pub(crate) fn router(routes: Routes) -> Router<Server> {
        routes
    }

    pub(super) trait RoutesExt {
        /// The name is that of `OpenApiRouter`, which takes the place of the router in tests.
        fn routes(self, at: (String, MethodRouter<Server>)) -> Self;
    }

    impl RoutesExt for Routes {
        fn routes(self, (path, methods): (String, MethodRouter<Server>)) -> Routes {
            self.route(&path, methods)
        }
    }

    /// A handler at the path and by the method that its attribute names.
    pub(super) fn at<D: Path, T>(
        (_, methods): (String, MethodRouter<Server>),
        handler: impl Handler<T, Server>,
    ) -> (String, MethodRouter<Server>)
    where
        T: 'static,
    {
        let methods =
            D::methods().iter().fold(methods, |methods, method| methods.on(method.to_method_filter(), handler.clone()));
        (D::path(), methods)
    }

    /// The handlers of one path: what `utoipa_axum::routes` is, without the descriptions.
    macro_rules! routes {
        (@ $routes:expr, [$($module:ident)*] $handler:ident) => {
            pastey::paste! {
                $crate::api::served::at::<$($module::)*[<__path_ $handler>], _>($routes, $($module::)*$handler)
            }
        };
        (@ $routes:expr, [$($module:ident)*] $next:ident $($rest:ident)+) => {
            $crate::api::served::routes!(@ $routes, [$($module)* $next] $($rest)+)
        };
        ($($($part:ident)::+),+) => {{
            let routes = (String::new(), axum::routing::MethodRouter::new());
            $(let routes = $crate::api::served::routes!(@ routes, [] $($part)+);)+
            routes
        }};
    }

    pub(super) use routes;
}

#[cfg(test)]
mod described;
