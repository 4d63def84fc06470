//! Results as decimal texts, never with an exponent.

use jarvis_prompt::number::Number;

/// All digits of a whole number; of a float the fewest that read back as the same float.
pub(super) fn exact(value: &Number) -> String {
    match value {
        Number::Int(int) => int.to_string(),
        Number::Float(float) => plain(*float),
    }
}

/// Whole numbers in full, floats rounded as the original rounds.
pub(super) fn rounded(value: &Number) -> String {
    match value {
        Number::Int(int) => int.to_string(),
        Number::Float(float) => plain(places(*float)),
    }
}

/// A float with at most 12 significant digits.
pub(crate) fn significant(float: f64) -> String {
    plain(format!("{float:.11e}").parse().unwrap_or(float))
}

/// A float rounded to two places; below a tenth, as its first ten places show, to two significant digits.
fn places(float: f64) -> f64 {
    let shown = format!("{:.10}", float.abs());
    let zeros =
        shown.strip_prefix("0.").map_or(0, |fraction| fraction.bytes().take_while(|byte| *byte == b'0').count());
    let places = zeros + 2;
    // Formatting rounds the exact binary value, ties to even.
    format!("{float:.places$}").parse().unwrap_or(float)
}

/// The fewest digits that read back as the same float; of two that are equally near, the even one.
fn plain(float: f64) -> String {
    if float == 0.0 {
        return "0".to_owned();
    }
    let shortest = float.to_string();
    let places = shortest.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    if places == 0 {
        return shortest;
    }
    // The standard library takes the odd one; formatting to a number of places takes the even one.
    let even = format!("{float:.places$}");
    if even.parse() == Ok(float) { even } else { shortest }
}
