//! Lists of tools and schemas over them that are the same for every request, kept while what they are made of stays.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jarvis_catalogue::Available;
use jarvis_plan::{Tool, Vocabulary};
use serde_json::Value;

use crate::source::Sources;

/// Lists of tools made once. Clones share them; whoever has other sources or another vocabulary makes others.
#[derive(Clone, Default)]
pub struct ToolCache(Arc<Mutex<Lists>>);

#[derive(Default)]
struct Lists {
    plannable: Option<(Arc<Vocabulary>, Arc<[Tool]>)>,
    offered: Option<Offered>,
    /// By their names and the list of tools that they are made from.
    schemas: HashMap<&'static str, (Arc<[Tool]>, Arc<Value>)>,
}

struct Offered {
    vocabulary: Arc<Vocabulary>,
    /// Told apart by its place: it is not changed once a pipeline has it.
    sources: Arc<Sources>,
    chat_model: bool,
    local: Arc<[Available]>,
    tools: Arc<[Tool]>,
}

impl ToolCache {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tools of a vocabulary that the offline planner knows.
    pub(crate) fn plannable(&self, vocabulary: &Arc<Vocabulary>, sources: &Sources) -> Arc<[Tool]> {
        let known = |(of, _): &&(Arc<Vocabulary>, _)| Arc::ptr_eq(of, vocabulary);
        if let Some((_, tools)) = self.lists().plannable.as_ref().filter(known) {
            return Arc::clone(tools);
        }
        let is_plannable = |tool: &&Tool| sources.native_tools.iter().all(|native| native.name != tool.name);
        let tools: Arc<[Tool]> = vocabulary.tools().iter().filter(is_plannable).cloned().collect();
        self.lists().plannable = Some((Arc::clone(vocabulary), Arc::clone(&tools)));
        tools
    }

    /// The schema of a reply over these tools, made by `make` where it is not known.
    pub(crate) fn schema(&self, name: &'static str, tools: &Arc<[Tool]>, make: impl FnOnce() -> Value) -> Arc<Value> {
        let is_known = |(of, _): &&(Arc<[Tool]>, _)| Arc::ptr_eq(of, tools);
        if let Some((_, schema)) = self.lists().schemas.get(name).filter(is_known) {
            return Arc::clone(schema);
        }
        let schema = Arc::new(make());
        self.lists().schemas.insert(name, (Arc::clone(tools), Arc::clone(&schema)));
        schema
    }

    /// The tools that a chat model is offered.
    pub(crate) fn offered(
        &self,
        vocabulary: &Arc<Vocabulary>,
        sources: &Arc<Sources>,
        chat_model: bool,
    ) -> Arc<[Tool]> {
        let local = (sources.local)();
        let is_known = |offered: &&Offered| {
            Arc::ptr_eq(&offered.vocabulary, vocabulary)
                && Arc::ptr_eq(&offered.sources, sources)
                && offered.chat_model == chat_model
                && offered.local == local
        };
        if let Some(known) = self.lists().offered.as_ref().filter(is_known) {
            return Arc::clone(&known.tools);
        }
        let mut tools = sources.offered(chat_model);
        tools.retain(|tool| vocabulary.find(&tool.name).is_some());
        let tools: Arc<[Tool]> = tools.into();
        self.lists().offered = Some(Offered {
            vocabulary: Arc::clone(vocabulary),
            sources: Arc::clone(sources),
            chat_model,
            local,
            tools: Arc::clone(&tools),
        });
        tools
    }
}
