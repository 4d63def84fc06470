//! The offline planner: the modules of this crate, one after the other. No model, no network, no randomness.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jarvis_plan::{Draft, Kind, Note, Request, Tool};

use crate::basis::Basis;
use crate::clauses::{self, Clause, Join};
use crate::evidence::Evidence;
use crate::experience::{Experience, Similar};
use crate::fitted::Fitted;
use crate::followup;
use crate::foreign;
use crate::lattice::Lattice;
use crate::linking::Linker;
use crate::own::clauses::Part;
use crate::own::{self, Meant};
use crate::retrieval::ToolIndex;
use crate::set;
use crate::unserved::Unserved;
use crate::weights::Weights;
use crate::words::head;
use crate::{Planner, PlannerError};

/// Plans without a model. Clones share the index of the tool list used last.
#[derive(Clone)]
pub struct Offline {
    basis: Basis,
    cached: Arc<Mutex<Option<Cached>>>,
}

struct Cached {
    key: u64,
    /// The list itself, by whose place it is known without being read again.
    tools: Option<Arc<[Tool]>>,
    index: Arc<ToolIndex>,
}

impl Default for Offline {
    fn default() -> Offline {
        Offline::with(Basis::default())
    }
}

impl Offline {
    /// The planner with what is compiled in.
    pub fn new() -> Offline {
        Offline::default()
    }

    /// The planner with other weights and what was learned with them, or with a sentence model.
    pub fn with(basis: Basis) -> Offline {
        Offline { basis, cached: Arc::default() }
    }

    /// The draft for `request`. The index of `tools` is built when they differ from the last call's.
    pub fn draft(&self, request: &Request, tools: &[Tool]) -> Draft {
        let index = self.index(tools);
        Offline::draft_by(&index, request, self.basis.weights(&index), &Experience::default())
    }

    /// The draft over a list that was read before, with the weights that are built in.
    pub fn draft_with(index: &ToolIndex, request: &Request) -> Draft {
        Offline::draft_by(index, request, &Fitted::built_in().weights, &Experience::default())
    }

    /// The same with other weights, and plans from before as evidence.
    pub fn draft_by(index: &ToolIndex, request: &Request, weights: &Weights, experience: &Experience) -> Draft {
        let text = head(&request.text, LONGEST);
        if text.len() < request.text.len() {
            let cut = Request { text: text.to_owned(), ..request.clone() };
            let mut draft = Offline::draft_by(index, &cut, weights, experience);
            let note = format!("only the first {LONGEST} bytes of the request were read; attach longer texts as files");
            draft.notes.push(Note::left_out(note));
            return draft;
        }
        let speaks = |tool: &Tool| tool.gives(Kind::Audio) && tool.params.iter().all(|param| param.kind == Kind::Text);
        let has_sound = || request.attachments.iter().any(|resource| resource.kind == Kind::Audio);
        if index.tools.iter().any(speaks)
            && !has_sound()
            && let Some(text) = crate::result_names::without_sound_name(text)
        {
            return Offline::draft_by(index, &Request { text, ..request.clone() }, weights, experience);
        }
        if let Some(text) = crate::result_names::without_text_name(text) {
            return Offline::draft_by(index, &Request { text, ..request.clone() }, weights, experience);
        }
        if let Some(some) = clauses::picked(request) {
            let note = Note::left_out(format!("which files \"{some}\" means cannot be told here; name them"));
            return Draft { tasks: Vec::new(), notes: vec![note], ..Draft::default() };
        }
        if !request.attachments.is_empty()
            && let Some(request) = crate::resources::without_each(request)
        {
            return Offline::draft_by(index, &request, weights, experience);
        }
        let unread = foreign::language(text).filter(|_| index.own.is_empty()).map(|language| {
            let note = format!("{language} is not read without a language model; English, Russian and Chinese are");
            Note::left_out(note)
        });
        if let Some(note) = unread.clone().filter(|_| !index.is_set()) {
            return Draft { tasks: Vec::new(), notes: vec![note], ..Draft::default() };
        }
        if let Some(file) = clauses::taken_out(request) {
            let note = Note::left_out(format!("all but {file} is not planned here; name the files that are meant"));
            return Draft { tasks: Vec::new(), notes: vec![note], ..Draft::default() };
        }
        let resolved = followup::resolved(request);
        let (request, text) = (resolved.as_ref(), head(&resolved.text, LONGEST));
        let files: Vec<(&str, Kind)> = request
            .attachments
            .iter()
            .filter_map(|resource| Some((resource.name.as_deref()?, resource.kind)))
            .collect();
        let mut reading = clauses::read(text, &files, index);
        let evidence = Evidence::new(index, experience, weights);
        if index.is_set() {
            let mut draft = set::draft::draft(&reading, request, index, weights, &evidence);
            // Functions may well be described in that language.
            if let Some(note) = unread.filter(|_| draft.tasks.is_empty()) {
                draft.notes = vec![note];
            }
            return draft;
        }
        let steps = Lattice::new(&mut reading, request, index, weights, &evidence).decode(index, weights);
        let mut linker = Linker::new(request, &reading, index);
        let mut unserved = Unserved::default();
        let served: Vec<bool> = steps.iter().map(|steps| !steps.is_empty()).collect();
        let own = own::clauses::meanings(text, &reading.clauses, &served, &index.own, &index.tools);
        for ((at, clause), steps) in reading.clauses.iter().enumerate().zip(&steps) {
            if own.get(at).is_some_and(|part| linker.own(at, steps, part)) {
                continue;
            }
            linker.clause(at, steps);
            let next = reading.clauses.get(at + 1);
            let in_one =
                at > 0 && clause.join != Join::Sentence || next.is_some_and(|next| next.join != Join::Sentence);
            unserved.read(clause, steps, in_one, text);
        }
        let (tasks, mut notes) = (linker.tasks, linker.notes);
        if tasks.is_empty() {
            notes.push(match (index.tools.is_empty(), reading.clauses.is_empty()) {
                (true, _) => Note::left_out("there are no tools to plan with"),
                (false, true) => "the request holds no words".into(),
                (false, false) => Note::left_out(NO_TOOL),
            });
        } else {
            let calls = own.iter().any(|part| matches!(part, Part::Own(Meant::Call(_) | Meant::Equal(_))));
            notes.extend(unserved.told(calls, index).into_iter().map(Note::left_out));
        }
        notes.extend(evidence.unread());
        Draft { tasks, notes, ..Draft::default() }
    }

    /// What each clause of a request may mean, the likeliest first, for people to read.
    pub fn explain(index: &ToolIndex, request: &Request, weights: &Weights, experience: &Experience) -> String {
        let mut reading = clauses::read(&request.text, &[], index);
        let evidence = Evidence::new(index, experience, weights);
        if index.is_set() {
            return set::draft::explain(&reading, request, index, weights, &evidence);
        }
        Lattice::new(&mut reading, request, index, weights, &evidence).explain(&reading, &request.text, index)
    }

    /// The index of a list of tools, where it was the last one read.
    fn known(&self, tools: &Arc<[Tool]>) -> Option<Arc<ToolIndex>> {
        let cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |cached: &&Cached| cached.tools.as_ref().is_some_and(|known| Arc::ptr_eq(known, tools));
        cached.as_ref().filter(is_same).map(|cached| Arc::clone(&cached.index))
    }

    /// The index of a list of tools, which is known by its place from then on.
    fn learned(&self, tools: &Arc<[Tool]>) -> Arc<ToolIndex> {
        let index = self.index(tools);
        if let Some(cached) = self.cached.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
            && Arc::ptr_eq(&cached.index, &index)
        {
            cached.tools = Some(Arc::clone(tools));
        }
        index
    }

    fn index(&self, tools: &[Tool]) -> Arc<ToolIndex> {
        let key = key(tools);
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        match cached.as_ref() {
            Some(cached) if cached.key == key => cached.index.clone(),
            Some(_) | None => {
                let index = Arc::new(self.basis.index(tools));
                *cached = Some(Cached { key, tools: None, index: index.clone() });
                index
            }
        }
    }
}

/// The note of a draft without tasks whose request nothing is known against: it may be conversation.
pub const NO_TOOL: &str = "no tool fits the request";

/// A plan whose request is less alike counts for next to nothing, and is not told of.
const LEAST: f32 = 0.1;

/// The part of a request that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// The most bytes of a request that is planned on the thread that asks: it takes a fraction of a millisecond, less than
/// a copy of the tools and two changes of threads.
const SHORT: usize = 1024;
/// The most plans from before that are looked through there.
const FEW: usize = 200;

/// Tells tool lists apart by everything the index reads.
fn key(tools: &[Tool]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for tool in tools {
        tool.name.hash(&mut hasher);
        tool.aliases.hash(&mut hasher);
        tool.description.hash(&mut hasher);
        tool.outputs.hash(&mut hasher);
        tool.example.as_ref().map(|example| &example.scenario).hash(&mut hasher);
        for param in &tool.params {
            (&param.name, param.kind, param.required, &param.description).hash(&mut hasher);
            param.schema.as_ref().map(ToString::to_string).hash(&mut hasher);
        }
        0xFFu8.hash(&mut hasher);
    }
    hasher.finish()
}

#[async_trait]
impl Planner for Offline {
    async fn plan(&self, request: &Request, tools: &Arc<[Tool]>) -> Result<Draft, PlannerError> {
        self.plan_by(request, tools, &Experience::default()).await
    }

    async fn plan_by(
        &self,
        request: &Request,
        tools: &Arc<[Tool]>,
        experience: &Experience,
    ) -> Result<Draft, PlannerError> {
        let broken = |source| PlannerError::Unavailable {
            message: "the offline planner stopped before it had an answer".to_owned(),
            source,
        };
        if request.text.len() <= SHORT
            && experience.len() <= FEW
            && self.basis.encoder.is_none()
            && let Some(index) = self.known(tools)
        {
            let draft = || Offline::draft_by(&index, request, self.basis.weights(&index), experience);
            let draft = std::panic::catch_unwind(AssertUnwindSafe(draft));
            return draft.map_err(|_| broken(None));
        }
        let (planner, request, tools, experience) =
            (self.clone(), request.clone(), Arc::clone(tools), experience.clone());
        // Reading a long list of tools takes milliseconds.
        let draft = move || {
            let index = planner.learned(&tools);
            Offline::draft_by(&index, &request, planner.basis.weights(&index), &experience)
        };
        let work = tokio::task::spawn_blocking(draft);
        work.await.map_err(|error| broken(Some(Box::new(error))))
    }

    fn explained(&self, request: &Request, tools: &[Tool], experience: &Experience) -> Option<String> {
        let index = self.index(tools);
        Some(Offline::explain(&index, request, self.basis.weights(&index), experience))
    }

    fn counted<'e>(
        &self,
        request: &Request,
        tools: &[Tool],
        experience: &'e Experience,
        most: usize,
    ) -> Vec<Similar<'e>> {
        let index = self.index(tools);
        let evidence = Evidence::new(&index, experience, self.basis.weights(&index));
        let clauses = clauses::read(&request.text, &[], &index).clauses;
        let similar = |clause: &Clause| evidence.similar(&clause.tokens, clause.text(&request.text));
        let mut found: Vec<Similar<'_>> = clauses.iter().flat_map(similar).collect();
        found.sort_by(|one, two| two.likeness.total_cmp(&one.likeness));
        let mut seen = HashSet::new();
        found.retain(|similar| similar.likeness >= LEAST && seen.insert(similar.past.id.as_str()));
        let counts = |similar: &Similar<'_>| {
            let past = experience.pasts().iter().find(|past| past.id == similar.past.id)?;
            Some(Similar { likeness: similar.likeness, past })
        };
        found.iter().take(most).filter_map(counts).collect()
    }

    fn name(&self) -> &str {
        "offline"
    }
}
