//! What local models are given and give, whatever the engine.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A picture: 8-bit RGB, row by row from the top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// Three bytes a pixel.
    #[serde(with = "serde_bytes")]
    pub pixels: Vec<u8>,
}

/// A sound: one channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sound {
    /// Samples a second.
    pub rate: u32,
    /// −1 to 1.
    pub samples: Vec<f32>,
}

/// What a model is to work on. Each model takes the forms of its task type and refuses the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// A text to judge, shorten, fill in (`[MASK]`), rewrite or continue.
    Text(String),
    /// Texts to make vectors of, or a text and others to compare it with.
    Texts(Vec<String>),
    /// A text, and labels of which some fit (zero-shot classification).
    Choices {
        text: String,
        labels: Vec<String>,
        several: bool,
    },
    Question {
        question: String,
        context: String,
    },
    /// A text to translate. Languages are codes of ISO 639-1 or what the model calls them; none where the model knows one pair or tells.
    Translate {
        text: String,
        from: Option<String>,
        to: Option<String>,
    },
    Picture(Picture),
    /// A picture, and labels of which some fit or are to be found in it.
    PictureChoices {
        picture: Picture,
        labels: Vec<String>,
    },
    PictureQuestion {
        picture: Picture,
        question: String,
    },
    /// Speech to write down, or a sound to classify. With `translate` the speech is written in English.
    Sound {
        sound: Sound,
        language: Option<String>,
        translate: bool,
    },
    /// A sound, and labels of which one fits.
    SoundChoices {
        sound: Sound,
        labels: Vec<String>,
    },
    /// A text to say.
    Speak {
        text: String,
        voice: Option<String>,
        language: Option<String>,
        speed: f32,
    },
    Chat(ChatInput),
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatTurn {
    /// `system`, `user` or `assistant`.
    pub role: String,
    pub text: String,
}

/// A call of a language model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ChatInput {
    pub turns: Vec<ChatTurn>,
    /// A JSON Schema that the reply follows by construction.
    pub schema: Option<Value>,
    pub max_tokens: Option<u32>,
    pub temperature: Option<f32>,
    pub top_p: Option<f32>,
    pub stop: Vec<String>,
    pub seed: Option<u64>,
    /// Added to the logits of these tokens.
    pub logit_bias: BTreeMap<u32, f32>,
}

/// What a language model replied.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChatOutput {
    pub text: String,
    /// `stop` or `length`.
    pub finish_reason: String,
    pub prompt_tokens: u64,
    /// Tokens of the prompt that were known from an earlier call.
    pub cached_tokens: u64,
    pub completion_tokens: u64,
}

/// A label and how sure it is, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    pub label: String,
    pub score: f32,
}

/// A thing in a picture, in pixels from the top left corner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    pub label: String,
    /// 0 to 1.
    pub score: f32,
    pub xmin: f32,
    pub ymin: f32,
    pub xmax: f32,
    pub ymax: f32,
}

/// A region of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    pub label: String,
    /// 0 to 1; none where the model gives none.
    pub score: Option<f32>,
    /// One byte a pixel of the picture: 255 within, 0 outside.
    #[serde(with = "serde_bytes")]
    pub mask: Vec<u8>,
}

/// A name or another kind of words in a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    /// Its kind, such as `PER`.
    pub label: String,
    pub text: String,
    /// 0 to 1.
    pub score: f32,
    /// In characters of the text.
    pub start: usize,
    pub end: usize,
}

/// A piece of speech.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TranscriptSegment {
    /// Seconds from the start of the sound.
    pub start: f32,
    pub end: f32,
    pub text: String,
}

/// What was heard.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transcript {
    pub text: String,
    /// The code of the language, where the model told it.
    pub language: Option<String>,
    /// Empty where the model gives no times.
    pub segments: Vec<TranscriptSegment>,
}

/// What a model gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Output {
    Text(String),
    /// Best first.
    Labels(Vec<Scored>),
    /// Best first.
    Boxes(Vec<Detection>),
    /// Largest first.
    Segments(Vec<Segment>),
    /// One value a pixel of the picture, larger nearer (or, where the model says so, farther), row by row.
    Depth {
        width: u32,
        height: u32,
        values: Vec<f32>,
    },
    Picture(Picture),
    /// How much of each pixel of the picture belongs to the foreground, 0 to 255, row by row.
    Matte {
        width: u32,
        height: u32,
        #[serde(with = "serde_bytes")]
        alpha: Vec<u8>,
    },
    Transcript(Transcript),
    Entities(Vec<Entity>),
    /// The answer as it stands in the context, in characters.
    Answer {
        text: String,
        score: f32,
        start: usize,
        end: usize,
    },
    /// One a text.
    Vectors(Vec<Vec<f32>>),
    Sound(Sound),
    /// Lines of writing, as they are read.
    Lines(Vec<Detection>),
    Chat(ChatOutput),
}
