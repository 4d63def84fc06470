//! Which of several files has the most or the least of a measure. What is measured is the business of those who ask.

use jarvis_plan::Language;

/// A file with its measure, and the measure in words.
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) value: f64,
    pub(super) told: String,
}

/// The name of the file with the most, or the least, and the measures of all.
pub(super) fn most_so(measured: &[Measured], most: bool, language: Language) -> String {
    let sign = if most { 1.0 } else { -1.0 };
    let best = measured.iter().map(|one| one.value * sign).fold(f64::NEG_INFINITY, f64::max);
    // Two that differ by less than is shown are alike.
    let winners = measured.iter().filter(|one| (one.value * sign - best).abs() < 0.05);
    let names: Vec<&str> = winners.map(|one| one.name.as_str()).collect();
    let all = measured.iter().map(|one| format!("{}: {}", one.name, one.told)).collect::<Vec<_>>().join("; ");
    match names.as_slice() {
        [one] => format!("{one} ({all})"),
        _ => format!("{} ({all})", language.pick("they are equal", "одинаково", "一样")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_is_most_so_is_named() {
        let row = |name: &str, value| Measured { name: name.to_owned(), value, told: format!("{value} s") };
        let two = [row("a.wav", 2.5), row("b.wav", 8.0)];
        assert_eq!(most_so(&two, true, Language::English), "b.wav (a.wav: 2.5 s; b.wav: 8 s)");
        assert!(most_so(&two, false, Language::English).starts_with("a.wav"));
        let alike = [row("a.wav", 2.5), row("b.wav", 2.51)];
        assert!(most_so(&alike, true, Language::English).starts_with("they are equal"));
    }
}
