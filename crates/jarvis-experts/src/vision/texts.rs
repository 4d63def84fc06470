//! Labels to token ids, for models that compare pictures or sounds with texts.

use serde_json::Value;
use tokenizers::Tokenizer;

use crate::{ExpertError, ModelFiles};

/// The most tokens of a label where the model does not say.
const MAX_TOKENS: usize = 77;

/// A tokenizer that makes rows of one length.
#[derive(Debug)]
pub(crate) struct LabelTokenizer {
    files: ModelFiles,
    tokenizer: Tokenizer,
    padding: u32,
    /// Longer texts lose what is before their last token, which ends them.
    longest: usize,
}

/// Rows of token ids, and 1 where a token is no padding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) ids: Vec<i32>,
    pub(crate) mask: Vec<i32>,
    /// (rows, tokens).
    pub(crate) shape: [usize; 2],
}

impl LabelTokenizer {
    /// Reads `tokenizer.json`, and the padding from the files beside it.
    ///
    /// # Errors
    /// When it is not there or no tokenizer.
    pub(crate) fn open(files: &ModelFiles, longest: Option<usize>) -> Result<LabelTokenizer, ExpertError> {
        let mut tokenizer = read_tokenizer(files)?;
        let token = |settings: &Value| match settings.get("pad_token")? {
            Value::String(token) => Some(token.clone()),
            token => token.get("content")?.as_str().map(str::to_owned),
        };
        let settings = [files.json_if_there("tokenizer_config.json")?, files.json_if_there("special_tokens_map.json")?];
        let named = settings.iter().flatten().find_map(token).and_then(|token| tokenizer.token_to_id(&token));
        let padding = named.or(tokenizer.get_padding().map(|padding| padding.pad_id)).unwrap_or(0);
        // Lengths are bounded here, whatever the file asks for.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| files.bad("tokenizer.json", error))?;
        let longest = longest.unwrap_or(MAX_TOKENS).clamp(2, 512);
        Ok(LabelTokenizer { files: files.clone(), tokenizer, padding, longest })
    }

    /// Rows as long as the longest text, for graphs that take a mask.
    ///
    /// Models find the end of a text as the first of the largest ids, or the first end token; the engine finds the last. So where
    /// texts are padded with the token that ends them, another is taken. The mask hides it.
    ///
    /// # Errors
    /// When a text is one that the tokenizer cannot take.
    pub(super) fn masked_rows(&self, texts: &[String]) -> Result<Rows, ExpertError> {
        let mut rows = self.rows(texts, None)?;
        let end = rows.ids.chunks_exact(rows.shape[1]).zip(rows.mask.chunks_exact(rows.shape[1]));
        let ends: Vec<i32> = end
            .filter_map(|(ids, mask)| ids.iter().zip(mask).rfind(|(_, mask)| **mask == 1).map(|(id, _)| *id))
            .collect();
        if ends.contains(&self.padding.cast_signed()) {
            let other = (0..).find(|id| !ends.contains(id)).unwrap_or_default();
            for (id, _) in rows.ids.iter_mut().zip(&rows.mask).filter(|(_, mask)| **mask == 0) {
                *id = other;
            }
        }
        Ok(rows)
    }

    /// Rows as long as the longest text, or of exactly `length` tokens, padded with the model's own token.
    ///
    /// # Errors
    /// When a text is one that the tokenizer cannot take.
    pub(crate) fn rows(&self, texts: &[String], length: Option<usize>) -> Result<Rows, ExpertError> {
        let rows = texts.iter().map(|text| self.ids(text)).collect::<Result<Vec<Vec<u32>>, ExpertError>>()?;
        let longest = rows.iter().map(Vec::len).max().unwrap_or_default();
        let length = length.map_or(longest, |length| length.min(self.longest)).max(1);
        let mut all = Rows { ids: Vec::new(), mask: Vec::new(), shape: [rows.len(), length] };
        for row in rows {
            let padding = length.saturating_sub(row.len());
            all.mask.extend(std::iter::repeat_n(1, length - padding).chain(std::iter::repeat_n(0, padding)));
            let row = row.into_iter().take(length).chain(std::iter::repeat_n(self.padding, padding));
            all.ids.extend(row.map(u32::cast_signed));
        }
        Ok(all)
    }

    fn ids(&self, text: &str) -> Result<Vec<u32>, ExpertError> {
        let encoding = self.tokenizer.encode(text, true).map_err(|error| self.files.failed(error))?;
        let mut ids = encoding.get_ids().to_vec();
        if ids.len() > self.longest
            && let Some(last) = ids.last().copied()
        {
            ids.truncate(self.longest - 1);
            ids.push(last);
        }
        Ok(ids)
    }
}

/// Reads `tokenizer.json`.
///
/// # Errors
/// When it is not there or no tokenizer.
pub(super) fn read_tokenizer(files: &ModelFiles) -> Result<Tokenizer, ExpertError> {
    let name = "tokenizer.json";
    let text = files.text(name)?;
    // A vocabulary of another form than its model has makes the library panic.
    match std::panic::catch_unwind(|| Tokenizer::from_bytes(text.as_bytes())) {
        Ok(Ok(tokenizer)) => Ok(tokenizer),
        Ok(Err(error)) => Err(files.bad(name, error)),
        Err(_) => Err(files.bad(name, "it is not consistent")),
    }
}
