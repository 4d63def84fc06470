//! The models on this machine as an administrator sees them: what is kept, what would help, and how it is pulled.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::served::LoadedModel;

/// A model on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeptModel {
    /// By which it is called in a request.
    #[schema(example = "Xenova/detr-resnet-50")]
    pub id: String,
    /// By which `jarvis models` knows it.
    #[schema(example = "detect")]
    pub name: String,
    /// The task types that it serves.
    pub tasks: Vec<String>,
    /// Bytes of its files.
    pub bytes: u64,
    /// As its repository states it.
    pub license: Option<String>,
    /// Where it is in memory now.
    pub loaded: Option<LoadedModel>,
}

/// A model that would serve what nothing serves yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SuggestedModel {
    /// What to pull.
    #[schema(example = "caption")]
    pub name: String,
    /// What it does.
    pub about: String,
    /// Its repository.
    pub repo: String,
    /// As the catalogue knows it; the plan of a pull says what the repository states.
    pub license: Option<String>,
    /// The task types that it would serve.
    pub tasks: Vec<String>,
    /// Bytes to download, where they are known.
    pub bytes: Option<u64>,
    /// Whether that is an estimate.
    pub is_estimate: bool,
    /// Whether it fits into the memory that models may take.
    pub fits: bool,
}

/// What a pull would fetch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PlannedPull {
    /// What it will be called.
    pub name: String,
    /// Its repository.
    pub repo: String,
    /// The commit.
    pub commit: String,
    /// Whether the catalogue names this commit.
    pub is_pinned: bool,
    /// As the repository states it.
    pub license: Option<String>,
    /// Whether the repository asks for its conditions to be accepted.
    pub is_gated: bool,
    /// The task types that it will serve.
    pub tasks: Vec<String>,
    /// Bytes in all.
    pub total: u64,
    /// Bytes that are not here yet.
    pub missing: u64,
    /// Bytes that are free on the disk, where the system says.
    pub free: Option<u64>,
}

/// What is to be pulled.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct PullRequest {
    /// A name of the catalogue, a task type, or a repository.
    #[schema(example = "caption")]
    pub name: String,
    /// The commit of the plan that was shown; another one is not pulled.
    pub commit: Option<String>,
}

/// Why a model cannot be pulled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullFailure {
    pub kind: PullFault,
    pub message: String,
    pub hint: Option<String>,
}

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullFault {
    /// The name stands for nothing.
    Name,
    /// The repository is not there, or may not be read.
    Repository,
    /// The repository has another commit now than was agreed to.
    Changed,
    /// No connection may be opened.
    Offline,
    /// It is being removed, or too many pulls go on.
    Busy,
    /// The disk has no room.
    Space,
    /// The Hub or the disk failed.
    Failed,
}

/// The models of this machine, and where more come from.
#[async_trait]
pub trait ModelStore: Send + Sync {
    fn kept(&self) -> Vec<KeptModel>;

    /// One for each task type that nothing serves.
    fn suggested(&self) -> Vec<SuggestedModel>;

    /// Asks the Hub what a pull would fetch.
    async fn plan(&self, name: &str) -> Result<PlannedPull, PullFailure>;

    /// Pulls, and tells of it in the words of Ollama (`{"status": …}`). When the future is dropped, what has come is kept.
    async fn pull(&self, request: &PullRequest, tell: &(dyn Fn(Value) + Send + Sync)) -> Result<(), PullFailure>;
}
