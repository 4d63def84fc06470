//! Answers to questions about the picture of a page, by Donut: the question is the beginning of what the decoder writes, and the
//! answer stands between two marks after it. Nothing is read first.

use super::config::ModelConfig;
use super::picture::checked;
use super::writer::Writer;
use crate::{Call, ExpertError, Input, LocalModel, ModelFiles, Output, Picture, Resources};

/// The mark that a question begins after, without which a model was trained for another task.
const TASK: &str = "<s_docvqa>";

/// The mark that an answer ends before.
const END: &str = "</s_answer>";

#[derive(Debug)]
struct DocumentReader {
    writer: Writer,
}

pub(super) fn open(
    files: &ModelFiles,
    config: &ModelConfig,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if config.model_type != "vision-encoder-decoder" || config.encoder.model_type != "donut-swin" {
        return Ok(None);
    }
    let writer = Writer::open(files, config, "document-question-answering", resources)?;
    if let Some(mark) = [TASK, END].iter().find(|mark| writer.tokenizer.token_to_id(mark).is_none()) {
        return Err(files.unsupported(format!("it does not answer questions: its tokenizer has no `{mark}`")));
    }
    Ok(Some(Box::new(DocumentReader { writer })))
}

impl DocumentReader {
    /// The tokens that a question begins the text with.
    fn prompt(&self, question: &str) -> Result<Vec<u32>, ExpertError> {
        let text = format!("{TASK}<s_question>{question}</s_question><s_answer>");
        let encoding = self.writer.tokenizer.encode(text, false).map_err(|error| self.writer.files.failed(error))?;
        Ok(encoding.get_ids().to_vec())
    }
}

/// A picture and a question about it that says something.
fn asked(input: &Input) -> Result<(&Picture, &str), ExpertError> {
    let Input::PictureQuestion { picture, question } = input else {
        return Err(ExpertError::BadInput("this model takes a picture and a question".to_owned()));
    };
    if question.trim().is_empty() {
        return Err(ExpertError::BadInput("this model needs a question".to_owned()));
    }
    Ok((checked(picture)?, question))
}

impl LocalModel for DocumentReader {
    fn memory(&self) -> u64 {
        self.writer.memory()
    }

    fn run(&self, input: &Input, call: &Call) -> Result<Output, ExpertError> {
        let (picture, question) = asked(input)?;
        let tokens = self.writer.write(picture, self.prompt(question)?, call)?;
        let text = self.writer.text(&tokens, false)?;
        // As in the reference, a text that reaches its longest length before the mark is no answer.
        let (answer, _) = text.rsplit_once(END).ok_or_else(|| self.writer.files.failed("it found no answer"))?;
        Ok(Output::Text(answer.trim().to_owned()))
    }
}
