//! Which of several pictures is larger, brighter, sharper: measured, each as a whole.

use std::sync::LazyLock;

use jarvis_catalogue::TaskOutput;
use jarvis_engine::Job;
use jarvis_plan::{ErrorCode, Kind, Language, TaskError};
use regex::Regex;
use serde_json::json;

use super::super::Native;
use super::super::compare::{Measured, most_so};
use super::measure::{Measures, measure};
use super::open;
use super::reading::{named, plain};
use super::same;

// A test runs both.
static SAME: LazyLock<Regex> = LazyLock::new(|| named("SAME"));
static WHICH: LazyLock<Regex> = LazyLock::new(|| named("WHICH"));

/// The most pictures that are compared.
const MOST: usize = 12;

/// What is compared, and whether the most of it is asked for.
fn property(question: &str) -> Option<(Property, bool)> {
    let plain = plain(question);
    let found = WHICH.captures(&plain)?;
    let word = found.iter().skip(1).flatten().next()?.as_str();
    Some(match word {
        "larger" | "largest" | "bigger" | "biggest" | "больше" | "大" => (Property::Size, true),
        "smaller" | "smallest" | "меньше" | "小" => (Property::Size, false),
        "wider" | "widest" | "шире" | "宽" => (Property::Width, true),
        "narrower" | "уже" | "窄" => (Property::Width, false),
        "taller" | "tallest" | "higher" | "выше" | "高" => (Property::Height, true),
        "darker" | "darkest" | "темнее" | "暗" => (Property::Light, false),
        "sharper" | "sharpest" | "резче" | "четче" | "清晰" => (Property::Sharpness, true),
        "blurrier" | "模糊" => (Property::Sharpness, false),
        "цветнее" | "鲜艳" => (Property::Colour, true),
        word if word.starts_with("more") => (Property::Colour, true),
        _ => (Property::Light, true),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Property {
    Size,
    Width,
    Height,
    Light,
    Sharpness,
    Colour,
}

impl Property {
    fn of(self, measures: &Measures) -> f64 {
        let (width, height) = (f64::from(measures.size.0), f64::from(measures.size.1));
        match self {
            Property::Size => width * height,
            Property::Width => width,
            Property::Height => height,
            Property::Light => measures.brightness * 100.0,
            Property::Sharpness => measures.sharpness,
            Property::Colour => measures.colourfulness * 100.0,
        }
    }

    fn shown(self, measures: &Measures) -> String {
        match self {
            Property::Size => format!("{} x {}", measures.size.0, measures.size.1),
            Property::Width | Property::Height => format!("{} px", self.of(measures)),
            Property::Light | Property::Colour => format!("{:.1}%", self.of(measures)),
            Property::Sharpness => format!("{:.0}", self.of(measures)),
        }
    }
}

/// True when the question is which of several pictures is most so.
pub(super) fn asked(question: &str) -> bool {
    property(question).is_some()
}

/// True when the question is whether two pictures are the same.
pub(super) fn asks_same(question: &str) -> bool {
    SAME.is_match(&plain(question))
}

/// Whether the two pictures of a request are the same, pixel by pixel.
pub(super) async fn same(native: &Native, job: &Job) -> Result<TaskOutput, TaskError> {
    let pictures: Vec<_> = job.request.attachments.iter().filter(|file| file.kind == Kind::Image).collect();
    let [one, other] = pictures.as_slice() else {
        let message = format!("two pictures are compared with each other here, and the request has {}", pictures.len());
        return Err(TaskError::new(ErrorCode::InvalidInput, message).hint("name the two files in the request"));
    };
    let bytes = native.inputs.bytes(one.as_arg(), Kind::Image).await?;
    let other_bytes = native.inputs.bytes(other.as_arg(), Kind::Image).await?;
    let name = |file: &jarvis_plan::Resource| file.name.clone().unwrap_or_else(|| file.as_arg().to_owned());
    let (name, other_name) = (name(one), name(other));
    let (lang, max_pixels) = (Language::of(&job.request.text), native.inputs.limits().max_pixels);
    let work = move |cancel: &super::Cancel| {
        let picture = open::open(&bytes, max_pixels)?.picture;
        cancel.check()?;
        let other = open::open(&other_bytes, max_pixels)?.picture;
        Ok(same::tell((&name, &picture), (&other_name, &other), lang))
    };
    let told = native.inputs.heavy().run(&job.cancel, work).await?;
    Ok(TaskOutput(json!([{"answer": told, "score": 1.0}])))
}

/// The name of the picture that is most so, and the measures of all.
pub(super) async fn answer(native: &Native, job: &Job, question: &str) -> Result<TaskOutput, TaskError> {
    let too_few = || {
        TaskError::new(ErrorCode::MissingArgument, "there are no two pictures to compare")
            .hint("name the files in the request, or attach them")
    };
    let (property, most) = property(question).ok_or_else(too_few)?;
    let pictures = job.request.attachments.iter().filter(|file| file.kind == Kind::Image);
    let mut measured: Vec<(String, Measures)> = Vec::new();
    let max_pixels = native.inputs.limits().max_pixels;
    for picture in pictures.take(MOST) {
        let bytes = native.inputs.bytes(picture.as_arg(), Kind::Image).await?;
        let work = move |_: &super::Cancel| Ok(measure(&open::open(&bytes, max_pixels)?.picture));
        let name = picture.name.clone().unwrap_or_else(|| picture.as_arg().to_owned());
        measured.push((name, native.inputs.heavy().run(&job.cancel, work).await?));
    }
    if measured.len() < 2 {
        return Err(too_few());
    }
    let told = tell(&measured, property, most, Language::of(&job.request.text));
    Ok(TaskOutput(json!([{"answer": told, "score": 0.9}])))
}

fn tell(measured: &[(String, Measures)], property: Property, most: bool, lang: Language) -> String {
    let row = |(name, measures): &(String, Measures)| Measured {
        name: name.clone(),
        value: property.of(measures),
        told: property.shown(measures),
    };
    most_so(&measured.iter().map(row).collect::<Vec<_>>(), most, lang)
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage};

    use super::*;

    #[test]
    fn what_is_compared_is_read() {
        let check = |question: &str, want: Option<(Property, bool)>| assert_eq!(property(question), want, "{question}");
        check("which of the two pictures is larger?", Some((Property::Size, true)));
        check("which one is brighter?", Some((Property::Light, true)));
        check("which picture is darker", Some((Property::Light, false)));
        check("какая из них больше?", Some((Property::Size, true)));
        check("哪张更亮？", Some((Property::Light, true)));
        check("which picture has the bigger house?", None);
        check("which house is bigger?", None);
        check("is it larger?", None);
    }

    #[test]
    fn sameness_is_asked_of_whole_pictures() {
        let check = |question: &str, want: bool| assert_eq!(asks_same(question), want, "{question}");
        check("are the same picture?", true);
        check("are a.png and b.png identical?", true);
        check("are these two photos exactly the same", true);
        check("одинаковы ли эти картинки?", false);
        check("картинки одинаковые?", true);
        check("两张图片一样吗？", true);
        check("do they show the same man?", false);
        check("are the two men the same?", false);
        check("is the colour the same?", false);
    }

    #[test]
    fn the_one_that_is_most_so_is_named() {
        let plain = |width, level| measure(&RgbImage::from_pixel(width, 20, Rgb([level; 3])).into());
        let two = [("a.jpg".to_owned(), plain(30, 200)), ("b.jpg".to_owned(), plain(40, 50))];
        let say = |property, most| tell(&two, property, most, Language::English);
        assert_eq!(say(Property::Size, true), "b.jpg (a.jpg: 30 x 20; b.jpg: 40 x 20)");
        assert!(say(Property::Light, true).starts_with("a.jpg") && say(Property::Light, false).starts_with("b.jpg"));
        assert!(say(Property::Height, true).starts_with("they are equal"));
    }
}
