//! A sentence model that reads no request twice: each is compared with tools and with plans from before, in parts and whole.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::sentences::{Encoder, Texts};

/// Keeps vectors of requests in memory.
pub struct Memo {
    encoder: Arc<dyn Encoder>,
    most: usize,
    known: RwLock<HashMap<String, Vec<f32>>>,
}

impl Memo {
    /// Asks this model for what it was not asked before, and keeps at most so many vectors.
    pub fn new(encoder: Arc<dyn Encoder>, most: usize) -> Memo {
        Memo { encoder, most, known: RwLock::default() }
    }
}

impl Encoder for Memo {
    fn id(&self) -> String {
        self.encoder.id()
    }

    fn encode(&self, texts: &[String], of: Texts) -> Result<Vec<Vec<f32>>, String> {
        if of == Texts::Tools {
            return self.encoder.encode(texts, of);
        }
        let mut found: Vec<Option<Vec<f32>>> = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            texts.iter().map(|text| known.get(text).cloned()).collect()
        };
        let is_missing = |(_, vector): &(&String, &Option<Vec<f32>>)| vector.is_none();
        let missing: Vec<String> = texts.iter().zip(&found).filter(is_missing).map(|(text, _)| text.clone()).collect();
        if !missing.is_empty() {
            let read = self.encoder.encode(&missing, of)?;
            let mut next = read.iter().cloned();
            for vector in found.iter_mut().filter(|vector| vector.is_none()) {
                *vector = next.next();
            }
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() + read.len() > self.most {
                known.clear();
            }
            known.extend(missing.into_iter().zip(read));
        }
        let all: Option<Vec<Vec<f32>>> = found.into_iter().collect();
        all.ok_or_else(|| "the sentence model gave too few vectors".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::Memo;
    use crate::{Encoder, Texts};

    /// Gives each text its length, and remembers what it was asked.
    #[derive(Default)]
    struct Lengths(Mutex<Vec<String>>);

    impl Encoder for Lengths {
        fn id(&self) -> String {
            "lengths".to_owned()
        }

        fn encode(&self, texts: &[String], _: Texts) -> Result<Vec<Vec<f32>>, String> {
            if texts.iter().any(String::is_empty) {
                return Err("nothing to read".to_owned());
            }
            self.0.lock().unwrap().extend(texts.iter().cloned());
            Ok(texts.iter().map(|text| vec![text.len() as f32]).collect())
        }
    }

    #[test]
    fn no_request_is_read_twice() {
        let lengths = Arc::new(Lengths::default());
        let memo = Memo::new(lengths.clone(), 3);
        let check = |texts: &[&str], want: Result<&[f32], &str>| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            let found = memo.encode(&texts, Texts::Requests).map(|vectors| vectors.concat());
            assert_eq!(found.as_deref().map_err(String::as_str), want, "{texts:?}");
        };
        check(&["a", "bb"], Ok(&[1.0, 2.0]));
        check(&["bb", "ccc", "a"], Ok(&[2.0, 3.0, 1.0]));
        check(&["", "a"], Err("nothing to read"));
        assert_eq!(*lengths.0.lock().unwrap(), ["a", "bb", "ccc"]);
        // Where there is no more room, what was known before goes.
        check(&["bb", "dddd"], Ok(&[2.0, 4.0]));
        check(&["dddd", "a"], Ok(&[4.0, 1.0]));
        assert_eq!(*lengths.0.lock().unwrap(), ["a", "bb", "ccc", "dddd", "a"]);
    }
}
