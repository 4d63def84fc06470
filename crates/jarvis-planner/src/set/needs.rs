//! Needs: what a tool must be given and another gives, so that the one follows the other; and tools that nobody asked for by name
//! and that give what is missing.

use super::choose::{SetWeights, alike};
use super::tools::{Need, Said, SetTools, Sort};

/// A tool that gives what another needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Giver {
    pub(crate) tool: usize,
    pub(crate) score: f32,
    /// How much of the need its result says, 0 to 1.
    pub(crate) result: f32,
}

/// How well each tool gives what a parameter of `taker` needs, the best first. What needs the same itself does not give it.
pub(crate) fn givers(taker: usize, need: &Need, set: &SetTools, weights: &SetWeights) -> Vec<Giver> {
    let Some(own) = set.tools.get(taker) else { return Vec::new() };
    let whole: f32 = need.words.iter().map(|(at, weight)| weight * rarity(set, *at)).sum();
    let mut found: Vec<Giver> = Vec::new();
    for (at, giver) in set.tools.iter().enumerate() {
        let same = |other: &Need| other.required && other.name == need.name;
        if at == taker || giver.needs.iter().any(same) {
            continue;
        }
        let fits = |words: &[usize]| -> f32 {
            let part = |(need, weight): &(usize, f32)| {
                let like = |other: &usize| match (set.words.get(*need), set.words.get(*other)) {
                    (Some(one), Some(two)) => alike(one, two, weights),
                    _ => 0.0,
                };
                weight * rarity(set, *need) * words.iter().map(like).fold(0.0, f32::max)
            };
            if whole > 0.0 { need.words.iter().map(part).sum::<f32>() / whole } else { 0.0 }
        };
        let [result, name, told] = &giver.gives;
        let reference = if need.sort == Sort::Reference { weights.reference } else { 0.0 };
        let result = fits(result);
        let score = weights.gives_result * result
            + weights.gives_name * fits(name)
            + weights.gives_told * fits(told)
            + weights.looks_up * f32::from(u8::from(giver.looks_up))
            + weights.kin * kinship(own, giver, set)
            + reference;
        found.push(Giver { tool: at, score, result });
    }
    found.sort_by(|one, two| two.score.total_cmp(&one.score).then(one.tool.cmp(&two.tool)));
    found
}

fn rarity(set: &SetTools, word: usize) -> f32 {
    0.3 + set.rarity.get(word).copied().unwrap_or_default()
}

/// How much two tools speak of the same: the share of the taker's name that the giver says.
pub(crate) fn kinship(taker: &Said, giver: &Said, set: &SetTools) -> f32 {
    let says = |word: usize| giver.name.iter().chain(&giver.told).any(|(other, _)| *other == word);
    let whole: f32 = taker.name.iter().map(|(at, _)| rarity(set, *at)).sum();
    let part: f32 = taker.name.iter().filter(|(at, _)| says(*at)).map(|(at, _)| rarity(set, *at)).sum();
    if whole > 0.0 { part / whole } else { 0.0 }
}
