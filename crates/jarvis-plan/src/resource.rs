//! Resources: what requests carry, tools take and tools give.

use serde::{Deserialize, Serialize};

/// What kind of thing a resource is.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum Kind {
    /// Plain text.
    Text,
    /// A still picture.
    Image,
    /// A sound.
    Audio,
    /// A moving picture.
    Video,
    /// Structured data: tables, scores, lists of labels.
    Json,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 5] = [Kind::Text, Kind::Image, Kind::Audio, Kind::Video, Kind::Json];

    /// The lower-case word used in plans and results.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// True for kinds kept as files: image, audio, video.
    pub fn is_media(self) -> bool {
        matches!(self, Kind::Image | Kind::Audio | Kind::Video)
    }

    /// The folder under the public root that holds files of this kind; `None` for text, which is no file.
    pub fn folder(self) -> Option<&'static str> {
        match self {
            Kind::Image => Some("images"),
            Kind::Audio => Some("audios"),
            Kind::Video => Some("videos"),
            Kind::Json => Some("tables"),
            Kind::Text => None,
        }
    }

    /// The kind a file name or URL suggests by its extension; `None` when the extension says nothing.
    pub fn of_name(name: &str) -> Option<Kind> {
        let name = name.split(['?', '#']).next().unwrap_or(name);
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "tif" | "tiff" | "heic" | "avif" | "svg" => {
                Some(Kind::Image)
            }
            "wav" | "mp3" | "flac" | "ogg" | "oga" | "m4a" | "aac" | "opus" | "wma" => Some(Kind::Audio),
            "mp4" | "mov" | "avi" | "mkv" | "webm" | "m4v" | "mpg" | "mpeg" => Some(Kind::Video),
            "txt" | "md" | "rst" | "log" | "html" | "htm" | "pdf" | "docx" | "pptx" | "rtf" | "srt" | "tex" => {
                Some(Kind::Text)
            }
            "json" | "jsonl" | "csv" | "tsv" | "yaml" | "yml" | "xlsx" | "xlsb" | "xls" | "ods" => Some(Kind::Json),
            _ => None,
        }
    }
}

/// Where a resource is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The text itself.
    Inline(String),
    /// A file under the public root, in its display form, such as `/images/ab12.png`.
    Public(String),
    /// A web address; fetched only under the URL policy.
    Url(String),
}

/// A text, image, audio, video or data: inline, a file under an allowed root, or a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub source: Source,
    /// What the person called it, when that differs from where it is (a file name before it was taken in).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Resource {
    /// The string that stands for this resource in a task's arguments.
    pub fn as_arg(&self) -> &str {
        match &self.source {
            Source::Inline(text) => text,
            Source::Public(path) => path,
            Source::Url(url) => url,
        }
    }
}
