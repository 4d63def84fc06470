//! Translation with encoder-decoder models: pairs (Marian), pairs by prefix (T5), many languages by code (NLLB, M2M100, mBART).
//!
//! Lines stay lines. A line that is longer than the encoder reads is translated in pieces, and so is one whose translation did
//! not end below the length limit: nothing is silently lost.

use std::collections::VecDeque;

use crate::generate::GenerationConfig;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Resources};

use super::config::TextConfig;
use super::languages::{Codes, three_letters};
use super::sentences::{halves, pieces};
use super::seq2seq::{Seq2Seq, generation};
use super::{require_text, wrong_input};

/// A translation model.
#[derive(Debug)]
pub(super) struct Translator {
    model: Seq2Seq,
    generation: GenerationConfig,
    languages: Languages,
}

/// How a model is told of languages.
#[derive(Debug)]
enum Languages {
    /// It knows one pair; its languages where its name tells them.
    Pair(Option<(String, String)>),
    /// A token such as `>>fra<<` before the text.
    Targets,
    /// A phrase before the text, with settings of its own.
    Prefixes(Vec<Prefix>),
    /// A token for each language.
    Codes { codes: Codes, source_last: bool },
}

#[derive(Debug)]
struct Prefix {
    from: String,
    to: String,
    text: String,
    generation: GenerationConfig,
}

/// One call's way through the model.
struct Route<'a> {
    generation: std::borrow::Cow<'a, GenerationConfig>,
    /// Put before the text.
    prefix: String,
    /// The token of the source language, or Marian's of the target.
    tag: Option<u32>,
}

impl Translator {
    pub(super) fn open(
        files: &ModelFiles,
        config: &TextConfig,
        resources: &Resources,
    ) -> Result<Translator, ExpertError> {
        let model = Seq2Seq::open(files, config, resources)?;
        let has = |token: &str| model.tokenizer.id(token).is_some();
        let languages = if let Some(codes) = Codes::of(has) {
            let legacy =
                model.tokenizer.setting("legacy_behaviour").and_then(serde_json::Value::as_bool).unwrap_or(false);
            // The first mBART puts the language last, as NLLB's tokenizer did at first.
            let source_last =
                if codes == Codes::Regions { config.model_type == "mbart" && !is_mbart50(&model) } else { legacy };
            Languages::Codes { codes, source_last }
        } else if let Some(prefixes) = prefixes(files, config)? {
            Languages::Prefixes(prefixes)
        } else if has_targets(&model) {
            Languages::Targets
        } else {
            Languages::Pair(pair_of(&files.id))
        };
        Ok(Translator { model, generation: generation(files, &["translation"])?, languages })
    }

    fn route(&self, from: Option<&str>, to: Option<&str>) -> Result<Route<'_>, ExpertError> {
        let id = &self.model.files.id;
        let unknown = |what: String| ExpertError::BadInput(format!("the model `{id}` {what}"));
        let shared = std::borrow::Cow::Borrowed(&self.generation);
        match &self.languages {
            Languages::Pair(pair) => {
                if let Some((source, target)) = pair
                    && (from.is_some_and(|from| !is_same(from, source)) || to.is_some_and(|to| !is_same(to, target)))
                {
                    return Err(unknown(format!("translates from {source} to {target} only")));
                }
                Ok(Route { generation: shared, prefix: String::new(), tag: None })
            }
            Languages::Targets => {
                let to = to.ok_or_else(|| unknown("needs to know the language to translate to".to_owned()))?;
                let lowered = to.to_lowercase();
                let base = lowered.split(['-', '_']).next().unwrap_or_default();
                let names = [Some(to), Some(base), three_letters(base)].into_iter().flatten();
                let tag = names.filter_map(|name| self.model.tokenizer.id(&format!(">>{name}<<"))).next();
                let tag = tag.ok_or_else(|| unknown(format!("does not translate to `{to}`")))?;
                Ok(Route { generation: shared, prefix: String::new(), tag: Some(tag) })
            }
            Languages::Prefixes(prefixes) => {
                let one_target = |target: &str| prefixes.iter().all(|prefix| prefix.to == target);
                if to.is_none() && !prefixes.first().is_some_and(|prefix| one_target(&prefix.to)) {
                    return Err(unknown("needs to know the language to translate to".to_owned()));
                }
                let fits = |prefix: &&Prefix| {
                    from.is_none_or(|from| is_same(from, &prefix.from)) && to.is_none_or(|to| is_same(to, &prefix.to))
                };
                let prefix = prefixes.iter().find(fits).ok_or_else(|| {
                    let pairs: Vec<String> =
                        prefixes.iter().map(|prefix| format!("{} to {}", prefix.from, prefix.to)).collect();
                    unknown(format!("translates from {} only", pairs.join(", ")))
                })?;
                let generation = std::borrow::Cow::Borrowed(&prefix.generation);
                Ok(Route { generation, prefix: prefix.text.clone(), tag: None })
            }
            Languages::Codes { codes, .. } => {
                let added = self.model.tokenizer.added();
                let setting = |name: &str| self.model.tokenizer.setting(name).and_then(|value| value.as_str());
                let token = |language: &str| {
                    let tokens = codes.candidates(language, &added).into_iter();
                    let id = tokens.filter_map(|token| self.model.tokenizer.id(&token)).next();
                    id.ok_or_else(|| unknown(format!("does not know the language `{language}`")))
                };
                let source = token(from.or_else(|| setting("src_lang")).unwrap_or("en"))?;
                let mut generation = self.generation.clone();
                if let Some(to) = to.or_else(|| setting("tgt_lang")) {
                    generation.forced_bos_token_id = Some(token(to)?);
                } else if generation.forced_bos_token_id.is_none() {
                    return Err(unknown("needs to know the language to translate to".to_owned()));
                }
                generation.decoder_start_token_id =
                    generation.decoder_start_token_id.or(generation.forced_bos_token_id);
                Ok(Route { generation: std::borrow::Cow::Owned(generation), prefix: String::new(), tag: Some(source) })
            }
        }
    }

    fn ids(&self, text: &str, route: &Route<'_>) -> Result<Vec<u32>, ExpertError> {
        let tokenizer = &self.model.tokenizer;
        let Some(tag) = route.tag else { return self.model.ids(&format!("{}{text}", route.prefix)) };
        let Languages::Codes { source_last, .. } = &self.languages else {
            // A piece of the vocabulary that the tokenizer would not find in a text.
            return Ok(std::iter::once(tag).chain(self.model.ids(text)?).collect());
        };
        let plain = tokenizer.encode_plain(text)?;
        let end = tokenizer.special_id("eos_token").or_else(|| self.generation.eos_token_id.first().copied());
        let plain = plain.get_ids().iter().copied();
        Ok(if *source_last {
            plain.chain(end).chain([tag]).collect()
        } else {
            std::iter::once(tag).chain(plain).chain(end).collect()
        })
    }

    fn translate(&self, text: &str, route: &Route<'_>, call: &Call) -> Result<String, ExpertError> {
        let start = route.generation.start(&self.model.files)?;
        let limit = self.model.tokenizer.window;
        let count = |piece: &str| Ok(self.ids(piece, route)?.len());
        // Each piece with the number of its line.
        let mut waiting: VecDeque<(usize, &str)> = VecDeque::new();
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            if !line.trim().is_empty() {
                waiting.extend(pieces(line.trim(), limit, &count, call)?.into_iter().map(|piece| (number, piece)));
            }
        }
        let mut translated: Vec<String> = vec![String::new(); lines.len()];
        let mut told = 0;
        while !waiting.is_empty() {
            // Up to a batch at a time, so that what did not end can be tried again in its place.
            let batch: Vec<(usize, &str)> = waiting.drain(..waiting.len().min(8)).collect();
            let inputs =
                batch.iter().map(|(_, piece)| self.ids(piece, route)).collect::<Result<Vec<_>, ExpertError>>()?;
            let mut results = vec![None; batch.len()];
            self.model.write(&inputs, start, &route.generation, call, |number, generated| {
                if let Some(place) = results.get_mut(number) {
                    *place = Some(generated);
                }
                Ok(())
            })?;
            for (index, ((line, piece), generated)) in batch.iter().zip(results).enumerate() {
                let Some(generated) = generated else { continue };
                if !generated.is_complete
                    && let Some((one, other)) = parts(piece)
                {
                    for rest in batch.iter().skip(index + 1).rev() {
                        waiting.push_front(*rest);
                    }
                    waiting.push_front((*line, other));
                    waiting.push_front((*line, one));
                    break;
                }
                let forced = route.generation.forced_bos_token_id;
                let tokens = match generated.tokens.split_first() {
                    Some((first, rest)) if Some(*first) == forced => rest,
                    _ => &generated.tokens,
                };
                let text = self.model.tokenizer.decode(tokens)?;
                if let Some(place) = translated.get_mut(*line) {
                    let is_first = place.is_empty();
                    let between = if is_first { "" } else { " " };
                    call.tell(&format!("{}{between}{}", "\n".repeat(line.saturating_sub(told)), text.trim()));
                    told = *line;
                    place.push_str(between);
                    place.push_str(text.trim());
                }
            }
        }
        Ok(translated.join("\n"))
    }
}

/// The halves of a text that is long enough to be worth cutting: several words on both sides.
fn parts(text: &str) -> Option<(&str, &str)> {
    let (one, other) = halves(text)?;
    let is_enough = |part: &str| part.split_whitespace().count() > 3;
    (is_enough(one) && is_enough(other)).then_some((one.trim(), other.trim()))
}

fn is_mbart50(model: &Seq2Seq) -> bool {
    let class = model.tokenizer.setting("tokenizer_class").and_then(|class| class.as_str()).unwrap_or_default();
    class.starts_with("MBart50") || model.files.id.to_lowercase().contains("mbart-large-50")
}

fn has_targets(model: &Seq2Seq) -> bool {
    let vocabulary = ["fra", "fr", "deu", "de", "spa", "es", "eng", "en"];
    vocabulary.iter().any(|language| model.tokenizer.id(&format!(">>{language}<<")).is_some())
}

/// The pairs of `task_specific_params`, where there are any.
fn prefixes(files: &ModelFiles, config: &TextConfig) -> Result<Option<Vec<Prefix>>, ExpertError> {
    let Some(tasks) = config.fields.get("task_specific_params").and_then(|tasks| tasks.as_object()) else {
        return Ok(None);
    };
    let mut prefixes = Vec::new();
    for (task, settings) in tasks {
        let pair = task.strip_prefix("translation_").and_then(|pair| pair.split_once("_to_"));
        let prefix = settings.get("prefix").and_then(|prefix| prefix.as_str());
        if let (Some((from, to)), Some(text)) = (pair, prefix) {
            let generation = generation(files, &[task])?;
            prefixes.push(Prefix { from: from.to_owned(), to: to.to_owned(), text: text.to_owned(), generation });
        }
    }
    Ok(if prefixes.is_empty() { None } else { Some(prefixes) })
}

/// The languages of `opus-mt-en-de` and `opus-mt-tc-big-en-fr`.
fn pair_of(id: &str) -> Option<(String, String)> {
    let (_, names) = id.rsplit_once("opus-mt-")?;
    let mut names = names.rsplit('-');
    let (to, from) = (names.next()?, names.next()?);
    let is_code = |name: &str| (2..=3).contains(&name.len()) && name.chars().all(|letter| letter.is_ascii_lowercase());
    (is_code(from) && is_code(to)).then(|| (from.to_owned(), to.to_owned()))
}

/// Whether two names mean one language, whatever its region and length of code.
fn is_same(one: &str, other: &str) -> bool {
    let base = |name: &str| name.to_lowercase().split(['-', '_']).next().unwrap_or_default().to_owned();
    let (one, other) = (base(one), base(other));
    one == other || three_letters(&one) == Some(&other) || three_letters(&other) == Some(&one)
}

impl LocalModel for Translator {
    fn memory(&self) -> u64 {
        self.model.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let Input::Translate { text, from, to } = input else {
            return Err(wrong_input("translation", "a text and languages"));
        };
        require_text(text, "text")?;
        let route = self.route(from.as_deref(), to.as_deref())?;
        self.translate(text, &route, call).map(Output::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_models_tell_pairs() {
        let pair = |from: &str, to: &str| Some((from.to_owned(), to.to_owned()));
        assert_eq!(pair_of("Xenova/opus-mt-en-de"), pair("en", "de"));
        assert_eq!(pair_of("Helsinki-NLP/opus-mt-tc-big-en-fr"), pair("en", "fr"));
        assert_eq!(pair_of("Helsinki-NLP/opus-mt-en-ROMANCE"), None);
        assert_eq!(pair_of("t5-small"), None);
    }

    #[test]
    fn languages_are_compared_by_their_base() {
        for (one, other) in [("pt", "pt-BR"), ("de", "deu"), ("EN", "en")] {
            assert!(is_same(one, other) && is_same(other, one), "{one} {other}");
        }
        assert!(!is_same("de", "en"));
    }
}
