//! Files of predictions: one line `{"id", "user_request", "result"}` for each request, in the order of completion.

use std::collections::HashMap;
use std::sync::Arc;

use jiter::JsonValue;
use rayon::prelude::*;

use crate::data::{BadLine, Lines, SampleId};
use crate::json::{Json, Look, parse};

#[derive(Debug)]
pub struct Predictions<'a> {
    pub lines: Vec<Prediction<'a>>,
    /// Lines that are not JSON objects with an id.
    pub bad: Vec<BadLine>,
    /// For each id its last line, which is the one that counts.
    last: HashMap<SampleId, usize>,
}

#[derive(Debug, Clone)]
pub struct Prediction<'a> {
    pub line: usize,
    pub id: SampleId,
    /// The request that it answers, where the line says so.
    pub request: Option<String>,
    /// What the model gave: the value of `result`, or the line itself where that is missing but `task_nodes` is there
    /// (as GNN4TaskPlan writes). `None` when there is neither.
    pub result: Option<Json<'a>>,
    /// Whether the plan stood under `result`, as the original's evaluator demands.
    pub nested: bool,
}

impl<'a> Predictions<'a> {
    pub fn of(lines: &'a Lines) -> Predictions<'a> {
        let texts: Vec<(usize, &[u8])> = lines.iter().collect();
        let parsed: Vec<Result<Prediction<'a>, BadLine>> =
            texts.into_par_iter().map(|(line, text)| Prediction::read(line, text)).collect();
        let mut read = Predictions { lines: Vec::with_capacity(parsed.len()), bad: Vec::new(), last: HashMap::new() };
        for prediction in parsed {
            match prediction {
                Ok(prediction) => {
                    read.last.insert(prediction.id.clone(), read.lines.len());
                    read.lines.push(prediction);
                }
                Err(bad) => read.bad.push(bad),
            }
        }
        read
    }

    pub fn get(&self, id: &SampleId) -> Option<&Prediction<'a>> {
        self.lines.get(*self.last.get(id)?)
    }

    pub fn ids(&self) -> usize {
        self.last.len()
    }
}

impl<'a> Prediction<'a> {
    fn read(line: usize, text: &'a [u8]) -> Result<Prediction<'a>, BadLine> {
        let bad = |reason: String| BadLine { line, reason };
        let value = parse(text).map_err(|error| bad(format!("not JSON: {error}")))?;
        if value.pairs().is_none() {
            return Err(bad(format!("it is {}, not an object", value.what())));
        }
        let id = value.look("id").and_then(SampleId::of).ok_or_else(|| bad("it has no `id`".into()))?;
        let request = value.look("user_request").and_then(Look::text).map(str::to_owned);
        if value.look("result").is_none() {
            let result = value.look("task_nodes").is_some().then_some(value);
            return Ok(Prediction { line, id, request, result, nested: false });
        }
        let JsonValue::Object(pairs) = value else { return Err(bad("it is not an object".into())) };
        let result =
            Arc::unwrap_or_clone(pairs).into_iter().rev().find(|(key, _)| key == "result").map(|(_, value)| value);
        Ok(Prediction { line, id, request, result, nested: true })
    }
}
