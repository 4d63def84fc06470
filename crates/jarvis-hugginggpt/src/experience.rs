//! Experience: plans of runs from before, kept in the journal with how they ended and found again by the words of a new request.
//!
//! [`entry`] is what is kept, with secrets and contents of files left out ([`clean`]). [`PlanMemory`] reads it once for each change.
//! Plans that were good are shown to a chat model as demonstrations, are evidence for the offline planner, and may be used again with
//! other values without asking a model ([`reuse`]).

mod clean;
mod demos;
mod entry;
mod keep;
mod reuse;
mod used;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use jarvis_events::Events;
use jarvis_net::Secret;
use jarvis_plan::{Draft, RunId};
use jarvis_planner::{Basis, Experience, Past, Similar};
use jarvis_store::{ExperienceRow, ExperienceStamp, Journal, JournalError, Verdict};

pub(crate) use demos::Demonstration;
pub use entry::{AttachedFile, Entry, EntryError, Remembered};
pub use used::{Counted, Use};

/// What was read last of each user, and at which state of the journal.
type ByUser = HashMap<String, (ExperienceStamp, Arc<Known>)>;

/// The plans of finished runs, as the planners find them. Clones share what was read.
#[derive(Debug, Clone)]
pub struct PlanMemory {
    journal: Arc<Journal>,
    secrets: Arc<[Secret]>,
    basis: Basis,
    read: Arc<Mutex<ByUser>>,
}

impl PlanMemory {
    /// The plans in a journal. Whatever is kept from now on holds none of these secrets.
    pub fn new(journal: Arc<Journal>, secrets: Vec<Secret>) -> PlanMemory {
        PlanMemory { journal, secrets: secrets.into(), basis: Basis::default(), read: Arc::default() }
    }

    /// The same found by meaning too, where the basis has a sentence model.
    pub fn read_by(self, basis: Basis) -> PlanMemory {
        PlanMemory { basis, ..self }
    }

    /// Everything that is kept of a user, the oldest first. Blocks.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn all(&self, user: &str) -> Result<Vec<Remembered>, JournalError> {
        Ok(self.journal.experience(user)?.into_iter().filter_map(|row| Remembered::of(row).ok()).collect())
    }

    /// The same, the latest first, or those alone that are like some words, the most alike first. Blocks.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn list(&self, user: &str, query: Option<&str>) -> Result<Vec<(Option<f32>, Remembered)>, JournalError> {
        let mut all = self.all(user)?;
        let Some(query) = query else {
            all.reverse();
            return Ok(all.into_iter().map(|one| (None, one)).collect());
        };
        let past =
            |one: &Remembered| Past { id: one.id.clone(), request: one.entry.request.clone(), tasks: Vec::new() };
        let index = Experience::new(all.iter().map(past).collect());
        let mut by_id: HashMap<String, Remembered> = all.into_iter().map(|one| (one.id.clone(), one)).collect();
        let found = index.similar(query, usize::MAX, |_| true).into_iter();
        Ok(found.filter_map(|similar| Some((Some(similar.likeness), by_id.remove(&similar.past.id)?))).collect())
    }

    /// Forgets what is kept of a user: one, by its id or the start of it, or all. Returns how much that was. It is gone from the disk.
    ///
    /// # Errors
    /// When several ids begin so, or the journal cannot be written.
    pub async fn forget(&self, user: &str, id: Option<&str>) -> Result<u64, JournalError> {
        let gone = self.journal.forget_experience(Some(user), id).await?;
        self.journal.scrub().await?;
        Ok(gone)
    }

    /// Adds what was kept elsewhere, all of it or nothing.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub async fn import(&self, user: &str, all: Vec<Remembered>) -> Result<(), JournalError> {
        self.journal.import_experience(user, all.iter().map(Remembered::row).collect()).await
    }

    /// What is known of the runs of the user that a run is of. Runs that ended after this one, or the one that it tries anew, had begun
    /// are not among them, so that a run that goes on in another process plans by the same.
    pub(crate) async fn of_run(&self, events: &Events) -> Result<Arc<Known>, JournalError> {
        let (memory, user) = (self.clone(), events.account().name().to_owned());
        let began = began_ms(&events.first_run());
        let read = tokio::task::spawn_blocking(move || memory.known(&user, began)).await;
        read.unwrap_or_else(|_| Ok(Arc::default()))
    }

    fn known(&self, user: &str, before_ms: Option<u64>) -> Result<Arc<Known>, JournalError> {
        let stamp = self.journal.experience_stamp(user)?;
        let cached = |read: &ByUser| read.get(user).filter(|(of, _)| *of == stamp).map(|(_, known)| Arc::clone(known));
        let known = cached(&self.read.lock().unwrap_or_else(PoisonError::into_inner));
        let known = match known {
            Some(known) => known,
            None => {
                let known = Arc::new(Known::new(self.journal.experience(user)?, &self.basis));
                let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
                // A server may have more users than are worth remembering.
                if read.len() >= MOST_USERS {
                    read.clear();
                }
                read.insert(user.to_owned(), (stamp, Arc::clone(&known)));
                known
            }
        };
        match before_ms {
            Some(before) if known.last_ms >= before => {
                let rows = self.journal.experience(user)?.into_iter();
                Ok(Arc::new(Known::new(rows.filter(|row| row.at_ms < before).collect(), &self.basis)))
            }
            Some(_) | None => Ok(known),
        }
    }
}

/// The most users whose plans are kept in memory.
const MOST_USERS: usize = 64;

/// What is known of the runs of a user.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The good plans, in the order of `index`.
    good: Vec<Remembered>,
    /// Where a plan is among them, by its id.
    places: HashMap<String, usize>,
    /// Those that a person rated as bad.
    bad: Vec<Remembered>,
    index: Experience,
    last_ms: u64,
}

impl Known {
    fn new(rows: Vec<ExperienceRow>, basis: &Basis) -> Known {
        let last_ms = rows.iter().map(|row| row.at_ms).max().unwrap_or(0);
        // What a later version wrote and this one cannot read is left alone.
        let read = rows.into_iter().filter_map(|row| Remembered::of(row).ok());
        let (mut good, others): (Vec<Remembered>, Vec<Remembered>) = read.partition(|one| one.good);
        let bad: Vec<Remembered> = others.into_iter().filter(|one| one.verdict == Verdict::Rated).collect();
        // The same plan for the same request may have been rated in one run and not in another.
        let refused: HashSet<String> = bad.iter().map(|one| one.entry.same()).collect();
        if !refused.is_empty() {
            good.retain(|one| one.verdict == Verdict::Rated || !refused.contains(&one.entry.same()));
        }
        // What followed on other turns says little by its own words.
        good.retain(|one| !one.entry.follows);
        let past = |one: &Remembered| Past {
            id: one.id.clone(),
            request: one.entry.request.clone(),
            tasks: Draft::from(&one.entry.plan).tasks,
        };
        let index = Experience::new(good.iter().map(past).collect()).read_by(basis);
        let places = good.iter().enumerate().map(|(at, one)| (one.id.clone(), at)).collect();
        Known { good, places, bad, index, last_ms }
    }

    /// The good plans, for a planner that finds its own way in them.
    pub(crate) fn evidence(&self) -> &Experience {
        &self.index
    }

    /// The good plans whose requests are most alike by their words, best first.
    fn similar(&self, request: &str, most: usize, fits: impl Fn(&Remembered) -> bool) -> Vec<(f32, &Remembered)> {
        self.remembered(self.index.similar(request, most, |past| self.place(&past.id).is_some_and(&fits)))
    }

    /// The same by their meaning too, where there is a sentence model, which may block.
    ///
    /// # Errors
    /// Why the sentence model gave no vectors.
    fn nearest(
        &self,
        request: &str,
        most: usize,
        fits: impl Fn(&Remembered) -> bool,
    ) -> Result<Vec<(f32, &Remembered)>, String> {
        let found = self.index.nearest(request, most, |past| self.place(&past.id).is_some_and(&fits))?;
        Ok(self.remembered(found))
    }

    fn place(&self, id: &str) -> Option<&Remembered> {
        self.good.get(*self.places.get(id)?)
    }

    fn remembered(&self, found: Vec<Similar<'_>>) -> Vec<(f32, &Remembered)> {
        found.into_iter().filter_map(|similar| Some((similar.likeness, self.place(&similar.past.id)?))).collect()
    }
}

/// When a run began by its id, a UUID of version 7, in milliseconds since the Unix epoch.
fn began_ms(run: &RunId) -> Option<u64> {
    let digits: String = run.0.chars().filter(|digit| *digit != '-').collect();
    let is_uuid = run.0.len() == 36 && digits.len() == 32 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    let is_timed = is_uuid && digits.get(12..13) == Some("7");
    digits.get(..12).filter(|_| is_timed).and_then(|time| u64::from_str_radix(time, 16).ok())
}

#[cfg(test)]
mod tests;
