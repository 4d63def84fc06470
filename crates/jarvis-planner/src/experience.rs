//! Experience: requests that were served well, with their plans, found again by the words of a new request ([`crate::bags`]), and by its
//! meaning where there is a sentence model ([`crate::sentences`]).
//!
//! Where plans are kept, and which of them are good, is not said here.

use std::sync::{Arc, OnceLock};

use jarvis_plan::DraftTask;
use rustc_hash::FxHashSet;

use crate::bags::{Bags, telling};
use crate::basis::Basis;
use crate::sentences::{Encoder, Texts, cosine, encode};
use crate::words::{self, Token};

/// A request and the plan that served it well.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// What it is called where it is kept, such as the id of a run.
    pub id: String,
    /// What was asked.
    pub request: String,
    /// What was done, in its order; an id is one's place in the list.
    pub tasks: Vec<DraftTask>,
}

/// A plan from before, and how alike its request is to a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar<'a> {
    /// 0 for nothing in common, 1 for the same words.
    pub likeness: f32,
    pub past: &'a Past,
}

/// Plans from before, read once so that they are found fast. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Experience {
    known: Arc<Known>,
    reader: Option<Reader>,
}

/// Who reads requests as sentences, and what that counts for beside their words, 0 to 1.
#[derive(Debug, Clone)]
struct Reader {
    encoder: Arc<dyn Encoder>,
    share: f32,
}

#[derive(Debug, Default)]
struct Known {
    pasts: Vec<Past>,
    requests: Bags,
    /// Vectors of the newest requests, once a sentence model has read them.
    vectors: OnceLock<Vec<Vec<f32>>>,
    tools: FxHashSet<String>,
}

/// So much of a request is compared.
const MOST: usize = 4096;
/// So many bytes of a request are read as a sentence.
const MOST_OF_A_SENTENCE: usize = 600;
/// So many requests are read as sentences, the newest: each takes a model some milliseconds, the first time.
const READ: usize = 200;
/// The cosine of requests that have nothing to do with each other.
const STRANGE: f32 = 0.3;

impl Experience {
    /// The plans, the oldest first.
    pub fn new(pasts: Vec<Past>) -> Experience {
        let requests = Bags::new(pasts.iter().map(|past| telling(&read(&past.request))));
        let tools = pasts.iter().flat_map(|past| &past.tasks).map(|task| task.task.clone()).collect();
        Experience { known: Arc::new(Known { pasts, requests, tools, vectors: OnceLock::new() }), reader: None }
    }

    /// The same found by meaning too, where the basis has a sentence model.
    pub fn read_by(self, basis: &Basis) -> Experience {
        let share = basis.fitted.with_sentences.past_sentence;
        let reader = basis.encoder.clone().map(|encoder| Reader { encoder, share });
        Experience { reader, ..self }
    }

    /// Whether a sentence model reads them: [`Experience::nearest`] may block.
    pub fn reads_sentences(&self) -> bool {
        self.reader.is_some() && !self.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.known.pasts.is_empty()
    }

    pub fn len(&self) -> usize {
        self.known.pasts.len()
    }

    /// Whether some plan took the tool.
    pub(crate) fn took(&self, tool: &str) -> bool {
        self.known.tools.contains(tool)
    }

    /// The plans, the oldest first.
    pub fn pasts(&self) -> &[Past] {
        &self.known.pasts
    }

    /// The `most` plans whose requests are most alike by their words, best first, of those that `fits` lets pass; of equals the later
    /// one. Plans that share no word with the request are none of them.
    pub fn similar(&self, request: &str, most: usize, fits: impl Fn(&Past) -> bool) -> Vec<Similar<'_>> {
        self.alike(&telling(&read(request)), most, fits)
    }

    /// The same by words and meaning. Blocks for as long as the sentence model needs, the first time longest: the last [`READ`] requests
    /// are read then.
    ///
    /// # Errors
    /// Why the sentence model gave no vectors, for people to read.
    pub fn nearest(
        &self,
        request: &str,
        most: usize,
        fits: impl Fn(&Past) -> bool,
    ) -> Result<Vec<Similar<'_>>, String> {
        self.nearest_to(&telling(&read(request)), request, most, fits)
    }

    /// The same for the words of a part of a request, and its text.
    pub(crate) fn nearest_to(
        &self,
        words: &[String],
        text: &str,
        most: usize,
        fits: impl Fn(&Past) -> bool,
    ) -> Result<Vec<Similar<'_>>, String> {
        let Known { pasts, requests, .. } = &*self.known;
        let alike = requests.alike(words);
        let Some(Reader { encoder, share }) = self.reader.as_ref().filter(|_| !pasts.is_empty()) else {
            return Ok(self.found(alike, most, fits));
        };
        let vectors = self.vectors(encoder.as_ref())?;
        let text = words::head(text, MOST_OF_A_SENTENCE).to_owned();
        let own = encode(encoder.as_ref(), &[text], Texts::Requests)?.pop().unwrap_or_default();
        let mut likeness = vec![0.0; pasts.len()];
        for (at, likes) in alike {
            if let Some(likeness) = likeness.get_mut(at) {
                *likeness = likes;
            }
        }
        let unread = pasts.len() - vectors.len();
        for (likeness, other) in likeness.iter_mut().skip(unread).zip(vectors) {
            let near = ((cosine(&own, other) - STRANGE) / (1.0 - STRANGE)).max(0.0);
            *likeness += (share * (near - *likeness)).max(0.0);
        }
        let mut both: Vec<(usize, f32)> =
            likeness.into_iter().enumerate().filter(|(_, likeness)| *likeness > 0.0).collect();
        both.sort_by(|one, two| two.1.total_cmp(&one.1).then(two.0.cmp(&one.0)));
        Ok(self.found(both, most, fits))
    }

    /// By these words alone.
    pub(crate) fn alike(&self, words: &[String], most: usize, fits: impl Fn(&Past) -> bool) -> Vec<Similar<'_>> {
        self.found(self.known.requests.alike(words), most, fits)
    }

    fn found(&self, alike: Vec<(usize, f32)>, most: usize, fits: impl Fn(&Past) -> bool) -> Vec<Similar<'_>> {
        let past = |(at, likeness): (usize, f32)| Some(Similar { likeness, past: self.known.pasts.get(at)? });
        alike.into_iter().filter_map(past).filter(|similar| fits(similar.past)).take(most).collect()
    }

    /// Vectors of the requests, the last [`READ`] of them.
    fn vectors(&self, encoder: &dyn Encoder) -> Result<&[Vec<f32>], String> {
        let Known { pasts, vectors, .. } = &*self.known;
        if let Some(vectors) = vectors.get() {
            return Ok(vectors);
        }
        let newest = pasts.iter().skip(pasts.len().saturating_sub(READ));
        let texts: Vec<String> = newest.map(|past| words::head(&past.request, MOST_OF_A_SENTENCE).to_owned()).collect();
        let read = encode(encoder, &texts, Texts::Requests)?;
        Ok(vectors.get_or_init(|| read))
    }
}

fn read(request: &str) -> Vec<Token> {
    words::tokens(words::head(request, MOST))
}

#[cfg(test)]
mod tests {
    use jarvis_plan::DraftTask;

    use super::{Experience, Past};

    fn known(requests: &[&str]) -> Experience {
        let past = |(at, request): (usize, &&str)| Past {
            id: at.to_string(),
            request: (*request).to_owned(),
            tasks: vec![DraftTask::new(0, "t")],
        };
        Experience::new(requests.iter().enumerate().map(past).collect())
    }

    #[test]
    fn the_most_alike_are_found_first() {
        let known = known(&[
            "Book a flight to Rome",
            "What is the weather in Rome?",
            "查一下明天的天气",
            "Book a flight to Oslo",
            "book the FLIGHTS to Rome",
        ]);
        let check = |request: &str, most: usize, expected: &[&str]| {
            let found: Vec<&str> =
                known.similar(request, most, |_| true).iter().map(|similar| similar.past.id.as_str()).collect();
            assert_eq!(found, expected, "{request}");
        };
        check("a flight to Rome, book it", 3, &["4", "0", "3"]);
        check("the weather", 5, &["1"]);
        check("天气", 5, &["2"]);
        check("zebra", 5, &[]);
        check("", 5, &[]);
        let one = known.similar("book a flight to rome", 1, |past| past.id != "4");
        assert!(one.first().is_some_and(|one| one.past.id == "0" && one.likeness > 0.99), "{one:?}");
    }

    #[test]
    fn nothing_is_known_at_first() {
        assert!(Experience::default().is_empty());
        assert_eq!(Experience::default().similar("book", 3, |_| true), []);
    }
}
