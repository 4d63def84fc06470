//! Sentences: how near parts of a request are in meaning to the tools of a list, by the vectors of a sentence model, where somebody has
//! one. Which model that is, and where it runs, is not known here; without one, [`crate::meaning`] knows words.

use std::fmt;
use std::sync::Arc;

use jarvis_plan::Tool;

use crate::words;

/// A model that gives texts vectors: the nearer two are in meaning, the smaller the angle between them.
pub trait Encoder: Send + Sync {
    /// Which model it is: equal ids mean equal vectors.
    fn id(&self) -> String;

    /// One vector for each text, all of one length. May block.
    ///
    /// # Errors
    /// Why there are none, for people to read.
    fn encode(&self, texts: &[String], of: Texts) -> Result<Vec<Vec<f32>>, String>;
}

impl fmt::Debug for dyn Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id())
    }
}

/// What texts are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// The tools of a list, which are asked for again and again.
    Tools,
    /// Requests and parts of them, which are somebody's own.
    Requests,
}

/// The tools of a list as sentences.
pub(crate) struct Sentences {
    encoder: Arc<dyn Encoder>,
    tools: Vec<Vec<f32>>,
}

impl Sentences {
    /// Encodes what the tools say of themselves.
    pub(crate) fn new(encoder: Arc<dyn Encoder>, tools: &[Tool]) -> Result<Sentences, String> {
        let said: Vec<String> = tools.iter().map(said).collect();
        let tools = encode(encoder.as_ref(), &said, Texts::Tools)?;
        Ok(Sentences { encoder, tools })
    }

    /// For each text, how near it is to each tool, -1 to 1.
    pub(crate) fn near(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let vectors = encode(self.encoder.as_ref(), texts, Texts::Requests)?;
        Ok(vectors.iter().map(|vector| self.tools.iter().map(|tool| cosine(vector, tool)).collect()).collect())
    }
}

/// A tool in a sentence.
fn said(tool: &Tool) -> String {
    let name = words::spell_out(&tool.name);
    match tool.description.trim() {
        "" => name,
        description => format!("{name}: {description}"),
    }
}

/// Vectors of length one, as many as there are texts.
pub(crate) fn encode(encoder: &dyn Encoder, texts: &[String], of: Texts) -> Result<Vec<Vec<f32>>, String> {
    let mut vectors = encoder.encode(texts, of)?;
    let length = vectors.first().map_or(0, Vec::len);
    if vectors.len() != texts.len() || vectors.iter().any(|vector| vector.len() != length) {
        return Err(format!("the sentence model gave {} vectors, not {} of one length", vectors.len(), texts.len()));
    }
    for vector in &mut vectors {
        let length = f32::max(cosine(vector, vector).sqrt(), f32::EPSILON);
        vector.iter_mut().for_each(|number| *number /= length);
    }
    Ok(vectors)
}

/// The cosine of the angle between vectors of length one.
pub(crate) fn cosine(one: &[f32], two: &[f32]) -> f32 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jarvis_plan::{DraftTask, NoteKind, Request, Tool};

    use super::{Encoder, Texts};
    use crate::basis::Basis;
    use crate::experience::{Experience, Past};
    use crate::fitted::Fitted;
    use crate::offline::Offline;
    use crate::retrieval::ToolIndex;

    /// Knows two things, by a few words each in two languages; asked for "broken", it fails.
    struct Two;

    impl Encoder for Two {
        fn id(&self) -> String {
            "two".to_owned()
        }

        fn encode(&self, texts: &[String], of: Texts) -> Result<Vec<Vec<f32>>, String> {
            if of == Texts::Requests && texts.iter().any(|text| text.contains("broken")) {
                return Err("the model is gone".to_owned());
            }
            let has = |text: &str, words: [&str; 4]| words.iter().any(|word| text.contains(word)) as u8 as f32;
            let vector = |text: &String| {
                vec![has(text, ["ferry", "crossing", "gangway", "渡轮"]), has(text, ["loaf", "dough", "oven", "面包"])]
            };
            Ok(texts.iter().map(vector).collect())
        }
    }

    fn basis(encoder: Option<Arc<dyn Encoder>>) -> Basis {
        let mut fitted = Fitted::built_in().as_ref().clone();
        // Whatever was fitted last, sentences count here.
        let weights = &mut fitted.with_sentences;
        (weights.sentence, weights.sentence_to, weights.past_sentence) = (3.0, 0.5, 0.6);
        (weights.set.sentence, weights.set.past, weights.set.least) = (8.0, 3.0, 0.4);
        Basis { fitted: Arc::new(fitted), encoder }
    }

    fn planned(basis: &Basis, index: &ToolIndex, request: &str, experience: &Experience) -> (String, Vec<String>) {
        let draft = Offline::draft_by(index, &Request::new(request), basis.weights(index), experience);
        let tools: Vec<String> = draft.tasks.into_iter().map(|task| task.task).collect();
        let notes = draft.notes.into_iter().filter(|note| note.kind == NoteKind::Mended).map(|note| note.text);
        (tools.join(" "), notes.collect())
    }

    #[test]
    fn what_no_word_says_is_found_by_meaning() {
        let tools = ["ferry_times", "bake_loaf", "sharpen"].map(|name| Tool::typed(name, "", &[], &[]));
        // As a set of functions, and as tools that follow each other.
        for graph in [&[][..], &[("ferry_times", "bake_loaf"), ("bake_loaf", "sharpen")]] {
            let check = |request: &str, by_words: &str, by_meaning: &str| {
                for (encoder, want) in [(None, by_words), (Some(Arc::new(Two) as Arc<dyn Encoder>), by_meaning)] {
                    let basis = basis(encoder);
                    let index = basis.index(&tools).with_graph(graph.iter().copied());
                    let (planned, _) = planned(&basis, &index, request, &Experience::default());
                    assert_eq!(planned, want, "{request} {graph:?}");
                }
            };
            check("the gangway, quick", "", "ferry_times");
            check("dough for ten", "", "bake_loaf");
            check("zebras", "", "");
        }
    }

    #[test]
    fn descriptions_in_another_language_are_found_by_meaning() {
        let tools =
            [("q1", "渡轮"), ("q2", "面包"), ("q3", "刀")].map(|(name, told)| Tool::typed(name, told, &[], &[]));
        for (request, want) in [("the gangway, quick", "q1"), ("dough for ten", "q2")] {
            for (encoder, want) in [(None, ""), (Some(Arc::new(Two) as Arc<dyn Encoder>), want)] {
                let basis = basis(encoder);
                let (planned, _) = planned(&basis, &basis.index(&tools), request, &Experience::default());
                assert_eq!(planned, want, "{request}");
            }
        }
    }

    #[test]
    fn plans_from_before_are_found_by_meaning() {
        let past = |id: &str, request: &str| Past {
            id: id.to_owned(),
            request: request.to_owned(),
            tasks: vec![DraftTask::new(0, "wave")],
        };
        let pasts = || vec![past("boat", "when does the ferry leave"), past("bread", "put the loaf away")];
        let basis = basis(Some(Arc::new(Two)));
        let known = Experience::new(pasts()).read_by(&basis);
        assert!(known.reads_sentences() && !Experience::new(pasts()).reads_sentences());
        let found = |request: &str| -> Vec<String> {
            let found = known.nearest(request, 5, |_| true).unwrap();
            found.iter().map(|similar| similar.past.id.clone()).collect()
        };
        assert_eq!(found("which gangway"), ["boat"]);
        assert_eq!(found("is there dough? put it away"), ["bread"]);
        assert!(found("zebras").is_empty() && known.similar("which gangway", 5, |_| true).is_empty());
        assert_eq!(known.nearest("broken", 5, |_| true), Err("the model is gone".to_owned()));
        // The plan that is found counts.
        let tools = [Tool::typed("wave", "", &[], &[]), Tool::typed("nod", "", &[], &[])];
        let index = basis.index(&tools);
        assert_eq!(planned(&basis, &index, "which gangway", &known).0, "wave");
        assert_eq!(planned(&basis, &index, "which gangway", &Experience::new(pasts())).0, "");
    }

    #[test]
    fn a_model_that_fails_is_told_and_words_count() {
        let tools = ["ferry_times", "bake_loaf"].map(|name| Tool::typed(name, "", &[], &[]));
        let basis = basis(Some(Arc::new(Two)));
        let (planned, notes) = planned(&basis, &basis.index(&tools), "ferry times, broken", &Experience::default());
        assert_eq!(planned, "ferry_times");
        assert_eq!(notes, ["planned by words alone, without the sentence model: the model is gone"]);
    }
}
