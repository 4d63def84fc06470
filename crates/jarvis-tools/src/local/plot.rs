//! `plot`: bars, lines and points as a PNG picture, in the embedded font.
//!
//! Pure: the same chart gives the same bytes on every machine and thread, and needs no display.

mod axis;
mod canvas;
mod draw;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use jarvis_net::text::{shorten, visible};
use serde_json::{Value, json};

use super::numbers::number;
use super::{NativeTool, Work, native};
use crate::{Artifact, Observation, Scope, ToolError, ToolErrorKind, font};

/// The name of the tool.
pub const NAME: &str = "plot";

/// The width of every chart in pixels.
pub const WIDTH: u32 = 640;
/// The height of every chart in pixels.
pub const HEIGHT: u32 = 480;
/// What a chart without a title is titled.
pub const DEFAULT_TITLE: &str = "Generated Plot";
/// What is observed when a chart was drawn.
pub const DONE: &str = "Plot generated successfully.";
/// The most bars.
pub const MAX_BARS: usize = 200;
/// The most points of lines and scatters.
pub const MAX_POINTS: usize = 2_000;
/// The colour of bars, lines and points: red, green, blue.
pub const BAR_COLOUR: [u8; 3] = [59, 117, 175];

/// The most characters of a label or title that are kept; no picture shows more.
const MAX_LABEL: usize = 400;

/// How values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A bar for each value, from zero.
    #[default]
    Bar,
    /// Values joined by a line, in their order.
    Line,
    /// A point for each value.
    Scatter,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Bar => "bar",
            Kind::Line => "line",
            Kind::Scatter => "scatter",
        })
    }
}

impl FromStr for Kind {
    type Err = PlotError;

    fn from_str(text: &str) -> Result<Kind, PlotError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "bar" => Ok(Kind::Bar),
            "line" => Ok(Kind::Line),
            "scatter" => Ok(Kind::Scatter),
            _ => Err(PlotError::Kind(shorten(text, 40))),
        }
    }
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chart {
    /// How.
    pub kind: Kind,
    /// The line above; none is drawn where it is empty.
    pub title: String,
    /// The label of the horizontal axis; may be empty.
    pub x_label: String,
    /// The label of the value axis; may be empty.
    pub y_label: String,
    /// Labels with their values, in order. Equal labels stay apart.
    pub points: Vec<(String, f64)>,
}

/// Why there is no chart.
#[allow(missing_docs, reason = "each message says what its variant is")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlotError {
    #[error("the input lacks {0}; it must be like {{\"x\": [\"a\", \"b\"], \"y\": [5, 3]}}")]
    Missing(&'static str),
    #[error("`{0}` must be a list")]
    NotList(&'static str),
    #[error("`x` has {x} entries and `y` has {y}; both must have as many")]
    Lengths { x: usize, y: usize },
    #[error("`x` and `y` are empty; at least one value is needed")]
    Empty,
    #[error("`y` must hold numbers, and entry {at} is {value}")]
    NotNumber {
        /// Its place, counted from 1.
        at: usize,
        value: String,
    },
    #[error("entry {at} of `y` is not a finite number: {value}")]
    NotFinite {
        /// Its place, counted from 1.
        at: usize,
        value: String,
    },
    #[error("`x` must hold texts or numbers, and entry {at} is {value}")]
    Label {
        /// Its place, counted from 1.
        at: usize,
        value: String,
    },
    #[error("`{0}` must be a text")]
    NotText(&'static str),
    #[error("there are {given} values, and at most {most} can be drawn; draw the most important ones or sum some up")]
    TooMany { given: usize, most: usize },
    #[error("`{0}` is no kind of chart; there are bar, line and scatter")]
    Kind(String),
    /// The picture could not be made; not the input's fault.
    #[error("the picture could not be made: {0}")]
    Broken(String),
}

impl Chart {
    /// The chart described by a call's input.
    ///
    /// # Errors
    /// When it is not what the tool takes.
    pub fn from_input(input: &Value) -> Result<Chart, PlotError> {
        let kind = match input.get("kind") {
            None | Some(Value::Null) => Kind::Bar,
            Some(Value::String(kind)) => kind.parse()?,
            Some(_) => return Err(PlotError::NotText("kind")),
        };
        let (x, y) = match (input.get("x"), input.get("y")) {
            (Some(x), Some(y)) => (x, y),
            (None, Some(_)) => return Err(PlotError::Missing("`x`")),
            (Some(_), None) => return Err(PlotError::Missing("`y`")),
            (None, None) => return Err(PlotError::Missing("`x` and `y`")),
        };
        let x = x.as_array().ok_or(PlotError::NotList("x"))?;
        let y = y.as_array().ok_or(PlotError::NotList("y"))?;
        if x.len() != y.len() {
            return Err(PlotError::Lengths { x: x.len(), y: y.len() });
        }
        check_count(kind, x.len())?;
        let text = |key: &'static str, default: &str| match input.get(key) {
            None | Some(Value::Null) => Ok(default.to_owned()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => Err(PlotError::NotText(key)),
        };
        let mut points = Vec::with_capacity(x.len());
        for (at, (x, y)) in (1..).zip(x.iter().zip(y)) {
            points.push((label(at, x)?, value(at, y)?));
        }
        let title = text("title", DEFAULT_TITLE)?;
        Ok(Chart { kind, title, x_label: text("x_label", "")?, y_label: text("y_label", "")?, points })
    }

    /// The places along the axis below, where labels are numbers that have their place there.
    fn across(&self) -> Option<Vec<f64>> {
        let numbers = || -> Option<Vec<f64>> {
            self.points.iter().map(|point| number(&point.0)?.to_f64().ok()).collect::<Option<Vec<f64>>>()
        };
        match self.kind {
            Kind::Bar => None,
            Kind::Scatter => numbers(),
            Kind::Line => numbers().filter(|xs| xs.len() > 1 && xs.is_sorted_by(|a, b| a < b)),
        }
    }

    /// The same chart with its texts on one line and without hidden characters.
    fn cleaned(&self) -> Chart {
        let clean = |text: &str| shorten(&visible(text), MAX_LABEL);
        Chart {
            kind: self.kind,
            title: clean(&self.title),
            x_label: clean(&self.x_label),
            y_label: clean(&self.y_label),
            points: self.points.iter().map(|(label, value)| (clean(label), *value)).collect(),
        }
    }
}

fn check_count(kind: Kind, count: usize) -> Result<(), PlotError> {
    let most = match kind {
        Kind::Bar => MAX_BARS,
        Kind::Line | Kind::Scatter => MAX_POINTS,
    };
    match count {
        0 => Err(PlotError::Empty),
        given if given > most => Err(PlotError::TooMany { given, most }),
        _ => Ok(()),
    }
}

fn label(at: usize, value: &Value) -> Result<String, PlotError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(PlotError::Label { at, value: shorten(&value.to_string(), 60) })
        }
    }
}

fn value(at: usize, value: &Value) -> Result<f64, PlotError> {
    let shown = || shorten(&value.to_string(), 60);
    match value {
        Value::Number(number) => number.as_f64().ok_or_else(|| PlotError::NotFinite { at, value: shown() }),
        Value::String(text) => match number(text).map(|number| number.to_f64()) {
            Some(Ok(number)) => Ok(number),
            Some(Err(_)) => Err(PlotError::NotFinite { at, value: shown() }),
            // `NaN`, `inf` and numbers beyond floats are read by the standard library, if by anyone.
            None if text.trim().parse::<f64>().is_ok_and(|number| !number.is_finite()) => {
                Err(PlotError::NotFinite { at, value: shown() })
            }
            None => Err(PlotError::NotNumber { at, value: shown() }),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(PlotError::NotNumber { at, value: shown() })
        }
    }
}

/// Draws a chart, as a PNG of 640 × 480.
///
/// # Errors
/// When there is nothing to draw, too much, or a value is not finite.
pub fn render(chart: &Chart) -> Result<Bytes, PlotError> {
    check_count(chart.kind, chart.points.len())?;
    if let Some((at, point)) = (1..).zip(&chart.points).find(|(_, point)| !point.1.is_finite()) {
        return Err(PlotError::NotFinite { at, value: point.1.to_string() });
    }
    let font = font::font().ok_or_else(|| PlotError::Broken("the embedded font is not readable".to_owned()))?;
    let canvas = draw::draw(&chart.cleaned(), &mut canvas::Pen::new(font));
    let mut png = Vec::with_capacity(32 << 10);
    PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Up)
        .write_image(canvas.pixels(), WIDTH, HEIGHT, ExtendedColorType::Rgb8)
        .map_err(|error| PlotError::Broken(error.to_string()))?;
    Ok(Bytes::from(png))
}

/// The tool `plot`.
pub(super) fn tool() -> NativeTool {
    let spec = native(
        NAME,
        "Draws a chart of labels and values as a picture: bars, a line, or points. The picture is given to the user \
         with the answer.",
        "the user asks for a chart, graph, plot or diagram, and the values are known",
        json!({
            "type": "object",
            "properties": {
                "x": {"type": "array", "items": {"type": ["string", "number"]}, "description": "labels, in order"},
                "y": {"type": "array", "items": {"type": ["number", "string"]}, "description": "a value for each label"},
                "title": {"type": "string", "default": DEFAULT_TITLE},
                "x_label": {"type": "string", "description": "what the labels are"},
                "y_label": {"type": "string", "description": "what the values are"},
                "kind": {"type": "string", "enum": ["bar", "line", "scatter"], "default": "bar"},
            },
            "required": ["x", "y"],
        }),
        json!({"x": ["pear", "fig"], "y": [2, 1], "title": "Fruit"}),
    );
    let failed = |error: PlotError| {
        let kind = match error {
            PlotError::Broken(_) => ToolErrorKind::Unavailable,
            _ => ToolErrorKind::InvalidInput,
        };
        ToolError::new(kind, format!("Failed to generate plot: {error}"))
    };
    let prepare = move |input: &Value, _: &Scope| {
        let chart = Chart::from_input(input).map_err(failed)?;
        let work = move || {
            let media = vec![Artifact { mime: "image/png".to_owned(), bytes: render(&chart).map_err(failed)? }];
            Ok(Observation { media, ..Observation::text(DONE) })
        };
        Ok(Box::new(work) as Work)
    };
    NativeTool { spec, prepare: Box::new(prepare) }
}
