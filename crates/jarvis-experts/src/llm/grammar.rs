//! Replies that follow a JSON Schema by construction: which tokens may come next.
//!
//! llguidance turns the schema into a grammar and says which tokens continue it. A schema without bounds lets a model write for
//! ever, so arrays and strings get bounds, and near the limit of tokens the reply is closed on the shortest way ([`Guide::pick`]).

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Map, Value, json};
use toktrie::{SimpleVob, TokEnv, TokRxInfo, TokTrie, TokenizerEnv};

use super::vocabulary::Vocabulary;

/// Elements of an array whose schema gives no bound.
const MAX_ITEMS: u64 = 32;
/// Characters of a string whose schema gives no bound.
const MAX_LENGTH: u64 = 1024;
/// Levels of arrays and objects in a value that a schema leaves open.
const DEPTH: usize = 3;
/// The largest number where a schema gives no bound: larger ones are not exact in most readers.
const LARGEST: i64 = (1 << 53) - 1;
/// Tokens beyond those that closing the reply takes, below which every token is checked for whether it can be closed after it.
const NEAR: usize = 64;
/// The same for tokens that open something: one comma may bring a whole task with it.
const FAR: usize = 1024;

/// The tokens as llguidance wants them.
struct Tokens {
    trie: TokTrie,
    vocabulary: Arc<Vocabulary>,
}

impl TokenizerEnv for Tokens {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        let encode = |text: &str| self.vocabulary.encode_part(text).unwrap_or_default();
        self.trie.tokenize_with_greedy_fallback(bytes, encode)
    }

    // SentencePiece merges across words, so that parts of a text have other tokens than the whole: nothing is forced there.
    fn tokenize_is_canonical(&self) -> bool {
        self.vocabulary.is_byte_level()
    }
}

/// Makes grammars for one vocabulary.
pub(super) struct Grammars {
    factory: ParserFactory,
    vocabulary: Arc<Vocabulary>,
}

impl Grammars {
    pub(super) fn new(vocabulary: &Arc<Vocabulary>, rows: usize) -> Result<Grammars, String> {
        let count = rows.max(vocabulary.len());
        let words: Vec<Vec<u8>> = (0..count as u32)
            .map(|token| {
                let bytes = vocabulary.bytes(token);
                if !vocabulary.is_special(token) && !vocabulary.is_control(token) {
                    return bytes.to_vec();
                }
                let mut marked = vec![TokTrie::SPECIAL_TOKEN_MARKER];
                marked.extend_from_slice(bytes);
                marked
            })
            .collect();
        let end = vocabulary.ends().first().copied().unwrap_or_default();
        let trie = TokTrie::from(&TokRxInfo::new(count as u32, end), &words);
        let tokens: TokEnv = Arc::new(Tokens { trie, vocabulary: Arc::clone(vocabulary) });
        let factory = ParserFactory::new_simple(&tokens).map_err(|error| error.to_string());
        let mut factory = factory?;
        factory.quiet();
        Ok(Grammars { factory, vocabulary: Arc::clone(vocabulary) })
    }

    /// Starts a reply by this schema.
    pub(super) fn guide(&self, schema: &Value) -> Result<Guide, String> {
        let mut schema = schema.clone();
        bound(&mut schema, 0);
        match &mut schema {
            Value::Object(root) => {
                root.insert("x-guidance".to_owned(), json!({ "whitespace_flexible": false }));
            }
            _ => return Err("the schema of the reply is no object".to_owned()),
        }
        let parser = self.factory.create_parser(TopLevelGrammar::from_json_schema(schema));
        let matcher = Matcher::new(parser);
        if let Some(error) = matcher.get_error() {
            return Err(format!("the schema of the reply cannot be followed: {error}"));
        }
        Ok(Guide {
            matcher,
            vocabulary: Arc::clone(&self.vocabulary),
            place: Place::default(),
            closing: 0,
            unchecked: 0,
        })
    }
}

impl std::fmt::Debug for Grammars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grammars").finish_non_exhaustive()
    }
}

/// Puts bounds where a schema has none, and drops what no property asks for. What follows the result follows the schema.
fn bound(schema: &mut Value, depth: usize) {
    const SAYS_SOMETHING: [&str; 9] =
        ["type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf", "properties", "items"];
    let is_free = |schema: &Map<String, Value>| !SAYS_SOMETHING.iter().any(|key| schema.contains_key(*key));
    if *schema == Value::Bool(true) || schema.as_object().is_some_and(is_free) {
        let mut free = anything(DEPTH);
        if let (Value::Object(free), Value::Object(schema)) = (&mut free, &*schema) {
            free.extend(schema.clone());
        }
        *schema = free;
        return;
    }
    let Value::Object(schema) = schema else { return };
    if depth > 64 {
        return;
    }
    let is = |schema: &Map<String, Value>, name: &str| match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    };
    if (is(schema, "array") || schema.contains_key("items")) && !schema.contains_key("maxItems") {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let prefix = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len) as u64;
        schema.insert("maxItems".to_owned(), MAX_ITEMS.max(least).max(prefix).into());
    }
    let has_any = |schema: &Map<String, Value>, keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    let is_free = !has_any(schema, &["maxLength", "enum", "const", "pattern", "format"]);
    if is(schema, "string") && is_free {
        let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0);
        schema.insert("maxLength".to_owned(), MAX_LENGTH.max(least).into());
    }
    // A number without bounds may have any exponent, and 1e999 can be read by nobody. With bounds it is written without one.
    if (is(schema, "integer") || is(schema, "number")) && !has_any(schema, &["enum", "const", "multipleOf"]) {
        let limit = |schema: &Map<String, Value>, names: [&str; 2]| {
            names.iter().filter_map(|name| schema.get(*name)?.as_f64()).next()
        };
        let least = limit(schema, ["minimum", "exclusiveMinimum"]);
        let most = limit(schema, ["maximum", "exclusiveMaximum"]);
        if least.is_none() && most.is_none_or(|most| most > -(LARGEST as f64)) {
            schema.insert("minimum".to_owned(), (-LARGEST).into());
        }
        if most.is_none() && least.is_none_or(|least| least < LARGEST as f64) {
            schema.insert("maximum".to_owned(), LARGEST.into());
        }
    }
    let combined = has_any(schema, &["allOf", "anyOf", "oneOf", "$ref", "patternProperties"]);
    if schema.contains_key("properties") && !combined && !schema.contains_key("additionalProperties") {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    if is(schema, "object") && !combined && !has_any(schema, &["properties", "additionalProperties"]) {
        schema.insert("additionalProperties".to_owned(), anything(DEPTH - 1));
    }
    if is(schema, "array") && !has_any(schema, &["items", "prefixItems"]) {
        schema.insert("items".to_owned(), anything(DEPTH - 1));
    }
    for (key, value) in schema.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values_mut().for_each(|schema| bound(schema, depth + 1));
            }
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(several)) => {
                several.iter_mut().for_each(|schema| bound(schema, depth + 1));
            }
            ("items" | "additionalProperties", schema) => bound(schema, depth + 1),
            _ => {}
        }
    }
}

/// Any JSON value with so many levels of arrays and objects.
fn anything(levels: usize) -> Value {
    let deeper = levels.checked_sub(1).map(anything);
    let kinds: &[&str] = match deeper {
        Some(_) => &["object", "array", "string", "number", "boolean", "null"],
        None => &["string", "number", "boolean", "null"],
    };
    let mut schema = json!({ "type": kinds, "maxLength": MAX_LENGTH, "minimum": -LARGEST, "maximum": LARGEST, "maxItems": MAX_ITEMS });
    if let (Some(deeper), Value::Object(schema)) = (deeper, &mut schema) {
        schema.insert("items".to_owned(), deeper.clone());
        schema.insert("additionalProperties".to_owned(), deeper);
    }
    schema
}

/// Where in a JSON text the reply is.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    in_string: bool,
    escaped: bool,
}

impl Place {
    fn pass(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match (self.in_string, self.escaped, byte) {
                (true, true, _) => self.escaped = false,
                (true, false, b'\\') => self.escaped = true,
                (_, false, b'"') => self.in_string = !self.in_string,
                _ => {}
            }
        }
    }

    /// Whether more may have to follow a token than before it.
    fn opens(mut self, bytes: &[u8]) -> bool {
        bytes.iter().any(|&byte| {
            let opens = !self.in_string && matches!(byte, b',' | b'{' | b'[' | b':');
            self.pass(&[byte]);
            opens
        })
    }

    /// How quickly a text ends with this token next; lower is quicker.
    fn haste(self, bytes: &[u8]) -> u8 {
        let Some(&first) = bytes.first() else { return u8::MAX };
        match (self.in_string, first) {
            (true, b'"') => 0,
            (true, _) => 8,
            (false, b'}' | b']') => 0,
            (false, b'"') => 1,
            (false, b'n' | b't' | b'f' | b'0'..=b'9') => 2,
            (false, b'{' | b'[') => 3,
            (false, b',') => 9,
            (false, _) => 5,
        }
    }
}

/// One reply as it grows.
pub(super) struct Guide {
    matcher: Matcher,
    vocabulary: Arc<Vocabulary>,
    place: Place,
    /// Tokens that the quickest end took when it was last counted.
    closing: usize,
    /// Tokens since then.
    unchecked: usize,
}

impl Guide {
    /// Whether nothing can follow.
    pub(super) fn is_over(&self) -> bool {
        self.matcher.is_stopped()
    }

    /// Tokens that must come next, without a choice.
    pub(super) fn forced(&mut self) -> Result<Vec<u32>, String> {
        let forced = self.matcher.compute_ff_tokens();
        self.consume(&forced)?;
        self.unchecked += forced.len();
        Ok(forced)
    }

    /// Chooses the next token among those that the grammar allows. `choose` is given them and chooses as the model would; where
    /// the reply could not be closed within `budget` tokens after that, the quickest end is taken instead.
    pub(super) fn pick(
        &mut self,
        budget: usize,
        choose: impl FnOnce(&SimpleVob) -> Result<u32, String>,
    ) -> Result<u32, String> {
        let allowed = self.allowed()?;
        let chosen = choose(&allowed)?;
        self.unchecked += 1;
        let slack = budget.saturating_sub(self.closing + self.unchecked);
        let near = if self.place.opens(self.vocabulary.bytes(chosen)) { FAR } else { NEAR };
        let picked = if slack >= near || self.leaves_room(chosen, budget)? {
            chosen
        } else {
            self.quickest(&allowed).unwrap_or(chosen)
        };
        self.consume(&[picked])?;
        Ok(picked)
    }

    fn allowed(&mut self) -> Result<SimpleVob, String> {
        self.matcher.compute_mask_or_eos().map_err(|error| error.to_string())
    }

    fn consume(&mut self, tokens: &[u32]) -> Result<(), String> {
        self.matcher.consume_tokens(tokens).map_err(|error| error.to_string())?;
        for &token in tokens {
            self.place.pass(self.vocabulary.shown(token));
        }
        Ok(())
    }

    /// The allowed token that ends the reply soonest.
    fn quickest(&self, allowed: &SimpleVob) -> Option<u32> {
        let ends = self.vocabulary.ends();
        let key = |token: u32| {
            let bytes = self.vocabulary.bytes(token);
            // A token with several closing marks is quicker than the first of them alone; of other tokens, the shortest.
            let closes = bytes.iter().filter(|byte| matches!(byte, b'}' | b']')).count();
            let length = if closes > 0 { bytes.len().abs_diff(64) } else { bytes.len() };
            (!ends.contains(&token), self.place.haste(bytes), length, token)
        };
        let mut tokens = Vec::new();
        allowed.iter_set_entries(|token| tokens.push(token as u32));
        tokens.into_iter().min_by_key(|&token| key(token))
    }

    /// Whether the reply can be closed within the budget if this token comes next.
    fn leaves_room(&mut self, token: u32, budget: usize) -> Result<bool, String> {
        let mut trial = Guide { matcher: self.matcher.clone(), vocabulary: Arc::clone(&self.vocabulary), ..*self };
        trial.consume(&[token])?;
        let mut taken = 1;
        while taken <= budget && !trial.is_over() {
            let forced = trial.matcher.compute_ff_tokens();
            if !forced.is_empty() {
                trial.consume(&forced)?;
                taken += forced.len();
                continue;
            }
            let allowed = trial.allowed()?;
            let Some(token) = trial.quickest(&allowed) else { break };
            trial.consume(&[token])?;
            taken += 1;
        }
        self.closing = taken;
        self.unchecked = 0;
        Ok(taken <= budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_added_where_there_are_none() {
        let cases = [
            (json!({"type": "string"}), json!({"type": "string", "maxLength": 1024})),
            (json!({"type": "string", "enum": ["a"]}), json!({"type": "string", "enum": ["a"]})),
            (json!({"type": "string", "maxLength": 3}), json!({"type": "string", "maxLength": 3})),
            (
                json!({"type": "string", "minLength": 2000}),
                json!({"type": "string", "minLength": 2000, "maxLength": 2000}),
            ),
            (
                json!({"type": "array", "items": {"type": ["string", "null"]}}),
                json!({"type": "array", "items": {"type": ["string", "null"], "maxLength": 1024}, "maxItems": 32}),
            ),
            (json!({"type": "number", "minimum": 0}), json!({"type": "number", "minimum": 0, "maximum": LARGEST})),
            (
                json!({"type": "integer", "exclusiveMaximum": 9}),
                json!({"type": "integer", "exclusiveMaximum": 9, "minimum": -LARGEST}),
            ),
            (json!({"type": "number", "minimum": 1e30}), json!({"type": "number", "minimum": 1e30})),
            (json!({"description": "x"}), {
                let mut schema = anything(3);
                schema["description"] = "x".into();
                schema
            }),
            (json!({"type": "object"}), json!({"type": "object", "additionalProperties": anything(2)})),
            (json!({"type": "array"}), json!({"type": "array", "maxItems": 32, "items": anything(2)})),
            (
                json!({"type": "object", "properties": {"type": {"type": "string"}, "items": {"type": "boolean"}}}),
                json!({"type": "object", "additionalProperties": false,
                    "properties": {"type": {"type": "string", "maxLength": 1024}, "items": {"type": "boolean"}}}),
            ),
            (
                json!({"anyOf": [{"type": "string"}], "$defs": {"x": {"items": {"const": 1}}}, "default": {"type": "string"}}),
                json!({"anyOf": [{"type": "string", "maxLength": 1024}], "$defs": {"x": {"items": {"const": 1}, "maxItems": 32}},
                    "default": {"type": "string"}}),
            ),
        ];
        for (mut schema, expected) in cases {
            bound(&mut schema, 0);
            assert_eq!(schema, expected);
        }
    }
}
