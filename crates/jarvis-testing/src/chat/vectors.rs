//! Vectors that the fake endpoint makes of texts: equal words make them alike.

use serde_json::{Map, Value, json};

/// The length of the vectors unless the request says another.
pub const DIMENSION: usize = 64;

/// How often each word of a text occurs, at a place that follows from the word.
pub fn fake_vector(text: &str, dimension: usize) -> Vec<f64> {
    let mut vector = vec![0.0; dimension];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = word
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let places = u64::try_from(dimension).unwrap_or(1).max(1);
        if let Some(place) = usize::try_from(hash % places).ok().and_then(|at| vector.get_mut(at)) {
            *place += 1.0;
        }
    }
    vector
}

/// The reply to an embeddings call, the vectors in reverse order: a client must look at `index`.
pub(super) fn reply(body: &Map<String, Value>) -> Value {
    let inputs = body.get("input").and_then(Value::as_array).cloned().unwrap_or_default();
    let asked = body.get("dimensions").and_then(Value::as_u64).and_then(|asked| usize::try_from(asked).ok());
    let row = |(index, text): (usize, &Value)| {
        let vector = fake_vector(text.as_str().unwrap_or_default(), asked.unwrap_or(DIMENSION));
        json!({"object": "embedding", "index": index, "embedding": vector})
    };
    let rows: Vec<Value> = inputs.iter().enumerate().map(row).rev().collect();
    let usage = json!({"prompt_tokens": inputs.len(), "total_tokens": inputs.len()});
    json!({"object": "list", "model": body.get("model"), "data": rows, "usage": usage})
}
