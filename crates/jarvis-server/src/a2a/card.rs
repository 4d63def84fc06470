//! The agent card: what this server is, can do, and where it is reached. Whoever calls without a token that is needed sees the pipelines
//! alone; the extended card has the tools too.

use std::collections::HashMap;

use jarvis_proto::a2a::security_scheme::Scheme;
use jarvis_proto::a2a::{
    AgentCapabilities, AgentCard, AgentInterface, AgentSkill, GetExtendedAgentCardRequest, HttpAuthSecurityScheme,
    SecurityRequirement, SecurityScheme, StringList,
};

use super::fault::{Fault, Wrong};
use super::tasks::Client;
use super::{PATH, VERSION};
use crate::state::Server;

/// What messages may be made of.
const INPUTS: [&str; 17] = [
    "text/plain",
    "text/markdown",
    "text/csv",
    "application/json",
    "application/pdf",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/bmp",
    "image/tiff",
    "audio/wav",
    "audio/mpeg",
    "audio/flac",
    "audio/ogg",
    "video/mp4",
    "video/webm",
];

/// What results and answers may be made of.
const OUTPUTS: [&str; 7] =
    ["text/plain", "application/json", "text/csv", "image/png", "image/gif", "audio/wav", "video/mp4"];

/// Characters of the description of a tool.
const DESCRIPTION: usize = 300;

/// The card as whoever calls by this address sees it.
pub(super) fn card(server: &Server, base: &str, is_extended: bool) -> AgentCard {
    let need_token = server.users.need_token();
    let interface = |url: String, binding: &str| AgentInterface {
        url,
        protocol_binding: binding.to_owned(),
        tenant: String::new(),
        protocol_version: VERSION.to_owned(),
    };
    let http = format!("{base}{PATH}");
    let mut supported_interfaces = vec![interface(http.clone(), "JSONRPC"), interface(http, "HTTP+JSON")];
    if let Some(port) = server.listens.get().and_then(|at| at.grpc).map(|at| at.port()) {
        let host = url::Url::parse(base).ok().and_then(|url| url.host_str().map(str::to_owned));
        let host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
        supported_interfaces.push(interface(format!("{host}:{port}"), "GRPC"));
    }
    let scheme = HttpAuthSecurityScheme {
        description: "The token of the server, or your own where it has several users".to_owned(),
        scheme: "Bearer".to_owned(),
        bearer_format: String::new(),
    };
    let scheme = SecurityScheme { scheme: Some(Scheme::HttpAuthSecurityScheme(scheme)) };
    let requirement = SecurityRequirement { schemes: HashMap::from([("token".to_owned(), StringList::default())]) };
    let mut skills: Vec<AgentSkill> = server.working_pipelines().into_iter().map(pipeline).collect();
    if is_extended || !need_token {
        skills.extend(server.setup().pipeline.offered().iter().map(|tool| AgentSkill {
            id: tool.name.clone(),
            name: tool.name.replace(['-', '_'], " "),
            description: jarvis_net::text::cut(&tool.description, DESCRIPTION, "…"),
            tags: vec!["tool".to_owned()],
            ..AgentSkill::default()
        }));
    }
    AgentCard {
        name: "jarvis".to_owned(),
        description: "Plans a request into a graph of tasks, chooses a model or tool for each, carries them out in \
                      parallel and answers. Pictures, sounds, videos and texts go in and out."
            .to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        supported_interfaces,
        capabilities: Some(AgentCapabilities {
            streaming: Some(true),
            push_notifications: Some(server.parts.journal.is_some()),
            extended_agent_card: Some(need_token),
            extensions: Vec::new(),
        }),
        security_schemes: if need_token { HashMap::from([("token".to_owned(), scheme)]) } else { HashMap::new() },
        security_requirements: if need_token { vec![requirement] } else { Vec::new() },
        default_input_modes: INPUTS.map(str::to_owned).to_vec(),
        default_output_modes: OUTPUTS.map(str::to_owned).to_vec(),
        skills,
        ..AgentCard::default()
    }
}

/// A pipeline as a skill: a message whose metadata names it by `skillId` is given to it.
fn pipeline(name: &str) -> AgentSkill {
    let (title, description, example) = match name {
        "hugginggpt" => (
            "Plan and carry out",
            "Plans the whole request into a graph of tasks, chooses a model for each, runs what can run at once, and answers.",
            "find the edges of this picture and describe it",
        ),
        "rewoo" => (
            "Plan with evidence",
            "Writes down a plan of tool calls that build on each other, carries them out, and solves the request with what came of them.",
            "who wrote the attached text, and when was that person born",
        ),
        "react" => (
            "Think and act",
            "An agent that thinks, calls a tool, looks at what came of it, and goes on until it can answer.",
            "how many fruits does the attached table name",
        ),
        _ => ("Carry out", "A way to carry out a request.", "what is in this picture"),
    };
    AgentSkill {
        id: name.to_owned(),
        name: title.to_owned(),
        description: description.to_owned(),
        tags: vec!["pipeline".to_owned()],
        examples: vec![example.to_owned()],
        ..AgentSkill::default()
    }
}

impl Client {
    /// The card for whoever has a token.
    pub(super) fn extended_card(&self, _: GetExtendedAgentCardRequest) -> Result<AgentCard, Fault> {
        if !self.server.users.need_token() {
            let message = "without a token there is one card, and it has everything";
            return Err(Fault::new(Wrong::Unsupported, message).hint("read /.well-known/agent-card.json"));
        }
        Ok(card(&self.server, &self.base, true))
    }
}
