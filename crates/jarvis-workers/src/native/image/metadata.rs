//! EXIF: when, where and with what a picture was taken, as its file says.

use std::io::Cursor;
use std::sync::LazyLock;

use exif::{Exif, Field, In, Reader, Tag, Value};
use jarvis_plan::{ErrorCode, Language, TaskError, is_path, pattern};
use regex::Regex;
use serde::Deserialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Topic {
    Taken,
    Place,
    Camera,
    Lens,
    Exposure,
    Aperture,
    Sensitivity,
    Focal,
    Flash,
    Settings,
    Everything,
}

// A test asks for each.
static TOPICS: LazyLock<Vec<(Topic, Regex)>> = LazyLock::new(|| {
    let rows = include_str!("../../../data/image_metadata.tsv").lines().filter_map(|line| line.split_once('\t'));
    let topic = |name: &str| serde_json::from_value(name.into()).expect("a topic");
    rows.map(|(name, asks)| (topic(name), pattern(asks))).collect()
});

/// What a question asks of the metadata; all of it only where nothing narrower is asked for.
pub(super) fn topics(question: &str) -> Vec<Topic> {
    let words: Vec<&str> = question.split_whitespace().filter(|word| !is_path(word)).collect();
    // The settings of a camera do not ask which camera it was.
    let plain = words.join(" ").to_lowercase().replace('ё', "е").replace("camera settings", "shooting settings");
    let asked = TOPICS.iter().filter(|(_, pattern)| pattern.is_match(&plain)).map(|(topic, _)| *topic);
    let asked: Vec<Topic> = asked.collect();
    match asked.as_slice() {
        [_, _, ..] => asked.into_iter().filter(|topic| *topic != Topic::Everything).collect(),
        _ => asked,
    }
}

/// What of a question the metadata answers, taken out: what is left may ask for something else.
pub(super) fn without(question: &str) -> String {
    let words: Vec<&str> = question.split_whitespace().filter(|word| !is_path(word)).collect();
    let plain = words.join(" ").to_lowercase().replace('ё', "е");
    TOPICS.iter().fold(plain, |plain, (_, pattern)| pattern.replace_all(&plain, " ").into_owned())
}

/// The metadata of a picture's file; `None` where it has none that can be read.
pub(super) fn read(bytes: &[u8]) -> Option<Exif> {
    let read = Reader::new().continue_on_error(true).read_from_container(&mut Cursor::new(bytes));
    // A field that breaks the rules takes the others not with it.
    read.or_else(|error| error.distill_partial_result(|_| ())).ok().filter(|exif| exif.fields().len() > 0)
}

/// The most fields that are listed, and the longest value.
const MOST: usize = 60;
const LONGEST: usize = 120;

/// What the metadata says about a topic.
///
/// # Errors
/// `CannotDo` where it says nothing about it.
pub(super) fn answer(exif: Option<&Exif>, topic: Topic, language: Language) -> Result<String, TaskError> {
    let unknown = |what: &str| {
        TaskError::new(ErrorCode::CannotDo, format!("the picture's file does not say {what}"))
            .hint("many programs and web sites remove EXIF metadata; ask the original file")
    };
    let Some(exif) = exif else {
        return Err(unknown("when, where or with what it was taken: it has no EXIF metadata"));
    };
    let first = |tags: &[Tag]| tags.iter().find_map(|tag| text(exif, exif.get_field(*tag, In::PRIMARY)?));
    // Those of the fields that are there, by their names.
    let named = |tags: &[Tag], what: &str| {
        let fields = tags.iter().filter_map(|tag| Some(format!("{tag}: {}", first(&[*tag])?)));
        let fields: Vec<String> = fields.collect();
        if fields.is_empty() { Err(unknown(what)) } else { Ok(fields.join(", ")) }
    };
    match topic {
        Topic::Taken => first(&[Tag::DateTimeOriginal, Tag::DateTimeDigitized, Tag::DateTime])
            .ok_or_else(|| unknown("when it was taken")),
        Topic::Place => {
            let latitude = degrees(exif, Tag::GPSLatitude, Tag::GPSLatitudeRef, 'S');
            let longitude = degrees(exif, Tag::GPSLongitude, Tag::GPSLongitudeRef, 'W');
            let (Some(latitude), Some(longitude)) = (latitude, longitude) else {
                return Err(unknown("where it was taken"));
            };
            let words = language.pick("latitude and longitude", "широта и долгота", "纬度和经度");
            Ok(format!("{latitude:.5}, {longitude:.5} ({words})"))
        }
        Topic::Camera => {
            let camera = match (first(&[Tag::Make]), first(&[Tag::Model])) {
                (Some(make), Some(model)) if !model.to_lowercase().starts_with(&make.to_lowercase()) => {
                    Some(format!("{make} {model}"))
                }
                (make, model) => model.or(make),
            };
            let parts: Vec<String> = [camera, first(&[Tag::LensModel])].into_iter().flatten().collect();
            if parts.is_empty() { Err(unknown("with what it was taken")) } else { Ok(parts.join(", ")) }
        }
        Topic::Lens => named(&[Tag::LensModel], "with which lens it was taken"),
        Topic::Exposure => named(&[Tag::ExposureTime], "its exposure time"),
        Topic::Aperture => named(&[Tag::FNumber], "its aperture"),
        Topic::Sensitivity => named(&[Tag::PhotographicSensitivity], "its ISO sensitivity"),
        Topic::Focal => named(&[Tag::FocalLength], "its focal length"),
        Topic::Flash => named(&[Tag::Flash], "whether a flash was used"),
        Topic::Settings => {
            let tags = [Tag::ExposureTime, Tag::FNumber, Tag::PhotographicSensitivity, Tag::FocalLength];
            named(&tags, "its exposure")
        }
        Topic::Everything => {
            let fields = exif.fields().filter(|field| field.ifd_num == In::PRIMARY && is_telling(field));
            let lines = fields.filter_map(|field| Some(format!("{}: {}", field.tag, text(exif, field)?)));
            let lines: Vec<String> = lines.take(MOST).collect();
            match lines.is_empty() {
                true => first(&[Tag::Software]).ok_or_else(|| unknown("anything about it")),
                false => Ok(lines.join("\n")),
            }
        }
    }
}

/// Fields for people: no offsets, no blocks of a maker's own.
fn is_telling(field: &Field) -> bool {
    let is_block = matches!(field.value, Value::Undefined(..) | Value::Unknown(..));
    let is_known = field.tag.description().is_some();
    is_known && (!is_block || field.tag == Tag::ExifVersion) && field.tag != Tag::MakerNote
}

/// A field's value in words, without what would drive a terminal.
fn text(exif: &Exif, field: &Field) -> Option<String> {
    let shown = match &field.value {
        Value::Ascii(_) => {
            let shown = field.display_value().to_string();
            shown.trim_matches('"').trim().to_owned()
        }
        _ => field.display_value().with_unit(exif).to_string(),
    };
    let shown: String = shown.chars().filter(|ch| !ch.is_control()).take(LONGEST).collect();
    (!shown.trim().is_empty()).then_some(shown)
}

/// Degrees, minutes and seconds as one number, negative on the side of `negative`.
fn degrees(exif: &Exif, tag: Tag, side: Tag, negative: char) -> Option<f64> {
    let Value::Rational(parts) = &exif.get_field(tag, In::PRIMARY)?.value else { return None };
    let [degrees, minutes, seconds, ..] = parts.as_slice() else { return None };
    let value = degrees.to_f64() + minutes.to_f64() / 60.0 + seconds.to_f64() / 3600.0;
    let side = exif.get_field(side, In::PRIMARY)?.display_value().to_string();
    let value = if side.contains(negative) { -value } else { value };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use exif::experimental::Writer;
    use exif::{Rational, Value};
    use image::ImageFormat;

    use super::*;

    /// A JPEG that was taken in Lisbon.
    fn photograph() -> Vec<u8> {
        let ascii =
            |tag, text: &str| Field { tag, ifd_num: In::PRIMARY, value: Value::Ascii(vec![text.as_bytes().to_vec()]) };
        let ratio = |num, denom| Rational { num, denom };
        let place = |tag, parts| Field { tag, ifd_num: In::PRIMARY, value: Value::Rational(parts) };
        let fields = [
            ascii(Tag::DateTimeOriginal, "2024:05:03 07:30:00"),
            ascii(Tag::Make, "Acme"),
            ascii(Tag::Model, "Snap 3"),
            ascii(Tag::GPSLatitudeRef, "N"),
            place(Tag::GPSLatitude, vec![ratio(38, 1), ratio(42, 1), ratio(30, 1)]),
            ascii(Tag::GPSLongitudeRef, "W"),
            place(Tag::GPSLongitude, vec![ratio(9, 1), ratio(8, 1), ratio(0, 1)]),
            place(Tag::ExposureTime, vec![ratio(1, 250)]),
        ];
        let mut writer = Writer::new();
        fields.iter().for_each(|field| writer.push_field(field));
        let mut block = Cursor::new(Vec::new());
        writer.write(&mut block, false).unwrap();
        let block = block.into_inner();
        let plain = crate::testkit::jpeg(8, 8);
        let mut bytes = plain[..2].to_vec();
        bytes.extend([0xff, 0xe1]);
        bytes.extend(u16::try_from(block.len() + 8).unwrap().to_be_bytes());
        bytes.extend(b"Exif\0\0");
        bytes.extend(block);
        bytes.extend(&plain[2..]);
        bytes
    }

    #[test]
    fn questions_about_the_taking_are_answered_from_the_file() {
        let bytes = photograph();
        assert_eq!(image::guess_format(&bytes).unwrap(), ImageFormat::Jpeg);
        let exif = read(&bytes);
        let check = |question: &str, want: Option<&str>| {
            let topic = topics(question).first().copied();
            let found = topic.map(|topic| answer(exif.as_ref(), topic, Language::of(question)).unwrap());
            assert_eq!(found.as_deref(), want, "{question}");
        };
        for question in [
            "when was b.jpg taken?",
            "когда сделано это фото?",
            "b.jpg 是什么时候拍的？",
            "what date was this photo taken",
        ] {
            check(question, Some("2024-05-03 07:30:00"));
        }
        for question in ["what camera was b.jpg taken with?", "какой камерой снято b.jpg?", "b.jpg 用什么相机拍的？"]
        {
            check(question, Some("Acme Snap 3"));
        }
        check("where was it taken?", Some("38.70833, -9.13333 (latitude and longitude)"));
        check("где снято b.jpg?", Some("38.70833, -9.13333 (широта и долгота)"));
        check("what is the exposure time?", Some("ExposureTime: 1/250 s"));
        check("with which camera settings was it taken?", Some("ExposureTime: 1/250 s"));
        for (question, missing) in [
            ("which ISO was used for b.jpg?", "ISO"),
            ("какая диафрагма?", "aperture"),
            ("b.jpg 的焦距是多少？", "focal length"),
            ("what lens was used?", "lens"),
            ("was the flash on?", "flash"),
        ] {
            let said = answer(exif.as_ref(), topics(question)[0], Language::English).unwrap_err();
            assert!(said.message.contains(missing), "{question}: {}", said.message);
        }
        assert_eq!(topics("when and with which camera was it taken?"), [Topic::Taken, Topic::Camera]);
        assert_eq!(
            topics("when was b.jpg taken, where, and with what camera?"),
            [Topic::Taken, Topic::Place, Topic::Camera]
        );
        assert_eq!(topics("каким фотоаппаратом и где снято"), [Topic::Place, Topic::Camera]);
        assert!(without("when was b.jpg taken and is it bright?").contains("is it bright"));
        check("what is in the picture?", None);
        check("how many cars are there?", None);
        let all = answer(exif.as_ref(), topics("show the EXIF data of b.jpg")[0], Language::English).unwrap();
        assert!(all.contains("Model: Snap 3") && all.lines().count() >= 6, "{all}");
    }

    #[test]
    fn what_the_file_does_not_say_is_an_error() {
        let exif = read(&crate::testkit::jpeg(8, 8));
        assert!(exif.is_none());
        let error = answer(None, Topic::Taken, Language::English).unwrap_err();
        assert_eq!((error.code, error.hint.is_some()), (ErrorCode::CannotDo, true));
        assert!(read(b"no picture").is_none() && read(&photograph()[..60]).is_none());
    }
}
