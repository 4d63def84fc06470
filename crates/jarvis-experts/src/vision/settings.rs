//! Reads `preprocessor_config.json`. Older files leave out what their processor's class supplied, so the defaults of each class
//! are here, and sizes have been written in four ways over the years.

use serde_json::Value;

use super::preprocess::{Frame, MAX_SIDE, Padding, Preprocessor};
use super::resample::Filter;
use super::sizes::Sizing;

/// Means and deviations of the channels that models were trained with.
const IMAGENET: ([f64; 3], [f64; 3]) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
const STANDARD: ([f64; 3], [f64; 3]) = ([0.5; 3], [0.5; 3]);
const CLIP: ([f64; 3], [f64; 3]) =
    ([0.481_454_66, 0.457_827_5, 0.408_210_73], [0.268_629_54, 0.261_302_58, 0.275_777_11]);

/// What a class of image processors does where the file says nothing.
struct Class {
    /// A size that is one number is the shorter side (else both).
    shortest: bool,
    /// The bound of the longer side where a size is one number.
    longest: Option<usize>,
    /// What sides are cut to a multiple of after resizing (YOLOS).
    multiple: usize,
    filter: Filter,
    norm: ([f64; 3], [f64; 3]),
    normalise: bool,
    crop: bool,
    pad: bool,
    /// Whether the model takes blue, green, red.
    flip: bool,
    kind: Kind,
}

/// Classes whose steps differ by more than numbers.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    /// Resizes to more than the size and crops to it.
    ConvNext,
    /// Resizes to a multiple, with or without the proportions.
    Dpt,
    /// Cuts sizes to a multiple.
    Glpn,
    /// Resizes twice and fills up about the centre, before the values are normalised.
    Donut,
    /// Pads to a multiple, and does not resize.
    Swin2sr,
}

/// The class by the name in the file (`DetrFeatureExtractor`, `DetrImageProcessor`, `DetrImageProcessorFast`), else by the type of
/// the model.
fn class(settings: &Value, model_type: &str) -> Class {
    let named = ["image_processor_type", "feature_extractor_type"].iter().find_map(|key| settings.get(key)?.as_str());
    let name = named.map_or_else(
        || model_type.replace(['_', '-'], ""),
        |name| {
            let name = name.trim_end_matches("Fast");
            name.trim_end_matches("ImageProcessor").trim_end_matches("FeatureExtractor").to_owned()
        },
    );
    let plain = Class {
        shortest: false,
        longest: None,
        multiple: 1,
        filter: Filter::Bilinear,
        norm: STANDARD,
        normalise: true,
        crop: false,
        pad: false,
        flip: false,
        kind: Kind::Plain,
    };
    match name.to_lowercase().as_str() {
        "clip" | "bit" | "dinov2" => Class { shortest: true, filter: Filter::Bicubic, norm: CLIP, crop: true, ..plain },
        "owlvit" => Class { filter: Filter::Bicubic, norm: CLIP, ..plain },
        "detr" | "conditionaldetr" | "deformabledetr" | "tabletransformer" => {
            Class { shortest: true, longest: Some(1333), pad: true, norm: IMAGENET, ..plain }
        }
        "yolos" => Class { shortest: true, longest: Some(1333), pad: true, multiple: 16, norm: IMAGENET, ..plain },
        "rtdetr" | "rtdetrv2" | "dfine" => Class { norm: IMAGENET, normalise: false, ..plain },
        "deit" | "beit" | "data2vecvision" => Class { filter: Filter::Bicubic, crop: true, ..plain },
        "siglip" => Class { filter: Filter::Bicubic, ..plain },
        "segformer" => Class { norm: IMAGENET, ..plain },
        "convnext" | "convnextv2" | "resnet" | "regnet" => Class { shortest: true, kind: Kind::ConvNext, ..plain },
        "mobilenetv1" | "mobilenetv2" => Class { shortest: true, crop: true, ..plain },
        "mobilevit" | "mobilevitv2" => Class { shortest: true, normalise: false, crop: true, flip: true, ..plain },
        "dpt" | "depthanything" => Class { filter: Filter::Bicubic, kind: Kind::Dpt, ..plain },
        "glpn" => Class { normalise: false, kind: Kind::Glpn, ..plain },
        "donut" | "donutswin" => Class { kind: Kind::Donut, ..plain },
        "swin2sr" => Class { normalise: false, pad: true, kind: Kind::Swin2sr, ..plain },
        _ => plain,
    }
}

/// The steps that these settings describe, or what is wrong with them.
pub(super) fn read(settings: &Value, model_type: &str) -> Result<Preprocessor, String> {
    let class = class(settings, model_type);
    let flag = |key: &str, otherwise: bool| settings.get(key).and_then(Value::as_bool).unwrap_or(otherwise);
    let filter = match settings.get("resample").and_then(Value::as_u64) {
        Some(code) => Filter::from_code(code).ok_or_else(|| format!("`resample` is {code}, which names no filter"))?,
        None => class.filter,
    };
    let mut sizings = Vec::new();
    if flag("do_resize", class.kind != Kind::Swin2sr) {
        sizings.push(sizing(settings, &class)?);
    }
    let mut frame = match settings.get("crop_size") {
        Some(size) if flag("do_center_crop", class.crop) => Some(Frame::Crop(both_sides("crop_size", size)?)),
        Some(_) | None => None,
    };
    let mut align = None;
    match (class.kind, sizings.as_slice()) {
        (Kind::ConvNext, &[Sizing::Shortest(side)]) => {
            // Below 384 pixels the class resizes to more and crops; from there on it squeezes to a square.
            let share = settings.get("crop_pct").and_then(Value::as_f64).unwrap_or(224.0 / 256.0);
            if !(0.1..=1.0).contains(&share) {
                return Err(format!("`crop_pct` is {share}, not between 0.1 and 1"));
            }
            sizings = vec![Sizing::Exact { width: side, height: side }];
            if side < 384 {
                sizings = vec![Sizing::Shortest((side as f64 / share) as usize)];
                frame = Some(Frame::Crop((side, side)));
            }
        }
        (Kind::Donut, &[Sizing::Exact { width, height }]) => {
            sizings = vec![Sizing::Shortest(width.min(height))];
            if flag("do_thumbnail", true) {
                sizings.push(Sizing::Thumbnail { width, height });
            }
            frame = flag("do_pad", true).then_some(Frame::Fill((width, height)));
            align = flag("do_align_long_axis", false).then_some((width, height));
        }
        _ => {}
    }
    Ok(Preprocessor {
        align,
        sizings,
        filter,
        frame,
        levels: levels(settings, &class)?,
        flip: flag("do_flip_channel_order", class.flip),
        padding: padding(settings, &class)?,
    })
}

/// One side, bounded.
fn side(key: &str, value: &Value) -> Result<usize, String> {
    let length = value.as_u64().or_else(|| value.as_f64().filter(|side| side.fract() == 0.0).map(|side| side as u64));
    match length.map(|length| usize::try_from(length).unwrap_or(usize::MAX)) {
        Some(length @ 1..=MAX_SIDE) => Ok(length),
        Some(_) | None => Err(format!("`{key}` is {value}, not a whole number from 1 to {MAX_SIDE}")),
    }
}

/// A field of a size, bounded.
fn part(key: &str, size: &Value, name: &str) -> Result<Option<usize>, String> {
    match size.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => side(&format!("{key}.{name}"), value).map(Some),
    }
}

/// (width, height) of a size that is one number, two (height first), or an object.
fn both_sides(key: &str, size: &Value) -> Result<(usize, usize), String> {
    match size {
        Value::Array(sides) => match sides.as_slice() {
            [height, width] => Ok((side(key, width)?, side(key, height)?)),
            [one] => side(key, one).map(|side| (side, side)),
            _ => Err(format!("`{key}` has {} numbers", sides.len())),
        },
        Value::Object(_) => match (part(key, size, "width")?, part(key, size, "height")?) {
            (Some(width), Some(height)) => Ok((width, height)),
            _ => part(key, size, "shortest_edge")?
                .map(|side| (side, side))
                .ok_or_else(|| format!("`{key}` has neither a width and a height nor a shortest edge")),
        },
        _ => side(key, size).map(|side| (side, side)),
    }
}

fn sizing(settings: &Value, class: &Class) -> Result<Sizing, String> {
    if class.kind == Kind::Glpn {
        let multiple = settings.get("size_divisor").map_or(Ok(32), |value| side("size_divisor", value))?;
        return Ok(Sizing::Multiple(multiple));
    }
    let size = settings.get("size").unwrap_or(&Value::Null);
    if size.is_null() {
        return Err("it has no `size`".to_owned());
    }
    let shortest = match size {
        Value::Object(_) => part("size", size, "shortest_edge")?,
        Value::Number(_) if class.shortest => Some(side("size", size)?),
        _ => None,
    };
    if let Some(shortest) = shortest {
        let outer = settings.get("max_size").filter(|value| !value.is_null());
        let longest = match (part("size", size, "longest_edge")?, outer) {
            (Some(longest), _) => Some(longest),
            (None, Some(outer)) => Some(side("max_size", outer)?),
            (None, None) => class.longest.filter(|_| size.is_number()),
        };
        // MODNet's file, which no class of transformers reads.
        let multiple = match settings.get("size_divisibility").filter(|value| !value.is_null()) {
            Some(value) => side("size_divisibility", value)?,
            None => class.multiple,
        };
        return Ok(match longest {
            None if multiple == 1 => Sizing::Shortest(shortest),
            longest => Sizing::Between { shortest, longest, multiple },
        });
    }
    if let (Some(width), Some(height)) = (part("size", size, "max_width")?, part("size", size, "max_height")?) {
        return Ok(Sizing::Inside { width, height });
    }
    let (width, height) = both_sides("size", size)?;
    if class.kind == Kind::Dpt {
        let keep_ratio = settings.get("keep_aspect_ratio").and_then(Value::as_bool).unwrap_or(false);
        let multiple = match settings.get("ensure_multiple_of").filter(|value| !value.is_null()) {
            Some(value) => side("ensure_multiple_of", value)?,
            None => 1,
        };
        return Ok(Sizing::Near { width, height, keep_ratio, multiple });
    }
    Ok(Sizing::Exact { width, height })
}

fn padding(settings: &Value, class: &Class) -> Result<Padding, String> {
    let on = settings.get("do_pad").and_then(Value::as_bool).unwrap_or(class.pad);
    if !on {
        return Ok(Padding::None);
    }
    let divisor = settings.get("size_divisor").filter(|value| !value.is_null());
    match class.kind {
        Kind::Swin2sr => {
            let divisor = divisor.or_else(|| settings.get("pad_size").filter(|value| !value.is_null()));
            Ok(Padding::Mirrored(divisor.map_or(Ok(8), |value| side("size_divisor", value))?))
        }
        Kind::Dpt => Ok(match divisor {
            Some(value) => Padding::Centred(side("size_divisor", value)?),
            None => Padding::None,
        }),
        Kind::Donut => Ok(Padding::None),
        Kind::Plain | Kind::ConvNext | Kind::Glpn => {
            Ok(match settings.get("pad_size").filter(|value| !value.is_null()) {
                Some(size) => {
                    let (width, height) = both_sides("pad_size", size)?;
                    Padding::To { width, height }
                }
                None => Padding::None,
            })
        }
    }
}

/// The value of each of 256 levels for each channel: rescaled in double precision, then normalised in single, as the reference
/// does, so that the values are the same bits.
fn levels(settings: &Value, class: &Class) -> Result<[Vec<f32>; 3], String> {
    let flag = |key: &str, otherwise: bool| settings.get(key).and_then(Value::as_bool).unwrap_or(otherwise);
    let normalise = flag("do_normalize", class.normalise);
    let factor = match settings.get("rescale_factor") {
        Some(factor) if !factor.is_null() => factor.as_f64().ok_or("`rescale_factor` is not a number")?,
        Some(_) | None => 1.0 / 255.0,
    };
    let factor = if flag("do_rescale", true) { factor } else { 1.0 };
    let mean = channels(settings, "image_mean", class.norm.0)?;
    let deviation = channels(settings, "image_std", class.norm.1)?;
    let ramp = |mean: f32, deviation: f32| -> Vec<f32> {
        (0..=255_u8)
            .map(|level| {
                let value = (f64::from(level) * factor) as f32;
                if normalise { (value - mean) / deviation } else { value }
            })
            .collect()
    };
    let [r, g, b] = mean;
    let [dr, dg, db] = deviation;
    let levels = [ramp(r, dr), ramp(g, dg), ramp(b, db)];
    if levels.iter().flatten().all(|value| value.is_finite()) {
        Ok(levels)
    } else {
        Err("`rescale_factor`, `image_mean` or `image_std` gives values that are no numbers".to_owned())
    }
}

/// A value for each channel, from one for all or three.
fn channels(settings: &Value, key: &str, otherwise: [f64; 3]) -> Result<[f32; 3], String> {
    let values = match settings.get(key) {
        None | Some(Value::Null) => Some(otherwise),
        Some(Value::Array(values)) => {
            let values: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
            <[f64; 3]>::try_from(values).ok()
        }
        Some(value) => value.as_f64().map(|value| [value; 3]),
    };
    Ok(values.ok_or_else(|| format!("`{key}` is not one number or three"))?.map(|value| value as f32))
}
