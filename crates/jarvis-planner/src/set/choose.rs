//! Which tools a request wants: a noisy-or over its segments.
//!
//! A segment speaks of one tool, or of none, with probabilities that grow with how well they fit (a softmax over linear evidence);
//! a tool is wanted unless no segment speaks of it. The same model as a noisy-or of mixture components; its weights are fitted.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::clauses::{Clause, Reading};
use crate::evidence::Evidence;
use crate::fitted::Fitted;
use crate::meaning::{self, near};
use crate::retrieval::opposed;
use crate::thesaurus::{self, SenseId};

use super::segments::{Read, Segment};
use super::tools::{SHORT, Said, SetTools, Word, words_of};
use crate::words::Token;

/// What each piece of evidence counts for a list of functions.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetWeights {
    /// The share of the name that the segment speaks.
    pub name: f32,
    /// The share of the segment that the tool's words explain.
    pub text: f32,
    /// How near the meaning of the segment is to that of the tool.
    pub near: f32,
    /// The share of the description that the segment speaks.
    pub told: f32,
    /// Agreement on what is done.
    pub action: f32,
    /// What no tool fits must be beaten by.
    pub none: f32,
    /// The same, for each e-fold of the list's length.
    pub length: f32,
    /// A word of the same sense, and one that is near in meaning, beside the word itself.
    pub sense: f32,
    pub meant: f32,
    /// From which nearness on a word is one that is near.
    pub floor: f32,
    /// A word of the same clause, of another clause, and of an earlier turn, beside one of the segment.
    pub clause: f32,
    pub request: f32,
    pub turn: f32,
    pub smooth: f32,
    /// What makes each tool of a list of ten or fewer likelier, for each e-fold below ten.
    pub short: f32,
    /// What the share of such a list that is wanted makes each of its tools likelier, and the log-odds of the share that says nothing.
    pub share: f32,
    pub usual: f32,
    /// How much better than `none` segments must fit one tool of such a list for any of them to be called; it grows with the square root of
    /// the e-folds below ten.
    pub strict: f32,
    /// How much steeper probabilities are than the model says, above 1; flatter below.
    pub steep: f32,
    /// How clearly the request must speak of one tool for any to be called.
    pub least: f32,
    /// What a giver's result, name and description say of a need.
    pub gives_result: f32,
    pub gives_name: f32,
    pub gives_told: f32,
    /// That the giver looks something up, that it speaks of the same as the taker, that the need is a reference.
    pub looks_up: f32,
    pub kin: f32,
    pub reference: f32,
    /// What a link between wanted tools must be worth, and one that adds a giver.
    pub link: f32,
    pub add: f32,
    /// How much better a giver that nobody asked for must be than one that is wanted.
    pub prefer: f32,
    /// How much a tool that acts must speak of the same as one that looks up to follow on it.
    pub kinship: f32,
    /// How near a segment is to the tool as sentences, where there is a sentence model.
    pub sentence: f32,
    /// What plans from before say of a clause.
    pub past: f32,
}

impl Default for SetWeights {
    fn default() -> SetWeights {
        Fitted::built_in().weights.set.clone()
    }
}

/// For each tool, how probable it is that the request wants it, and the segment that says most for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) tool: usize,
    pub(crate) probability: f32,
    /// The same against `strict`: what says whether anything is called.
    pub(crate) clear: f32,
    /// Whether the tool changes the world by what no word of the request orders.
    pub(crate) unordered: bool,
    pub(crate) segment: usize,
}

/// How alike two words are, 0 to 1.
pub(crate) fn alike(one: &Word, two: &Word, weights: &SetWeights) -> f32 {
    if one.key == two.key {
        return 1.0;
    }
    if one.latin.as_ref().is_some_and(|latin| is_spelled(latin, &two.key)) {
        return SPELLED;
    }
    let is_unknown = |word: &Word| word.vector.is_none() && word.senses.is_empty();
    if is_unknown(one) && is_unknown(two) && are_forms_of_one(&one.key, &two.key) {
        return BEGUN;
    }
    let telling = |sense: &SenseId| !thesaurus::sense(*sense).is_pale;
    let shares = one.senses.iter().filter(|sense| two.senses.contains(sense));
    let shared =
        shares.map(|sense| if telling(sense) { weights.sense } else { weights.sense * 0.5 }).fold(0.0, f32::max);
    let meant = match (&one.vector, &two.vector) {
        (Some(one), Some(two)) => weights.meant * ((near(one, two) - weights.floor) / (1.0 - weights.floor)).max(0.0),
        _ => 0.0,
    };
    f32::max(shared, meant)
}

/// Whether two words of a language without stems here are likely forms of one: "überweise" and "überweist".
fn are_forms_of_one(one: &str, two: &str) -> bool {
    let (short, long) = if one.len() < two.len() { (one, two) } else { (two, one) };
    let common = short.bytes().zip(long.bytes()).take_while(|(a, b)| a == b).count();
    let letters = short.bytes().chain(long.bytes()).all(|byte| byte.is_ascii_lowercase());
    letters && common >= LEAST && common * 4 >= long.len() * 3
}

/// What such a word counts.
const BEGUN: f32 = 0.8;
/// What a word counts that a name has in Latin letters.
const SPELLED: f32 = 0.9;
/// The shortest such word, and the shortest that is found inside a name.
const LEAST: usize = 4;
const INSIDE: usize = 6;

/// Whether a word of a name is another in Latin letters, begins with it, or holds it: "pogoda", "laohuangli".
fn is_spelled(latin: &str, name: &str) -> bool {
    let begins = latin.len() >= LEAST && name.starts_with(latin.trim_end_matches(['i', 'y']));
    // What looks like an English ending is cut off the name.
    let cut = name.len() >= LEAST && latin.starts_with(name);
    begins || cut || latin.len() >= INSIDE && name.contains(latin)
}

/// What is too little to count.
const LITTLE: f32 = 0.08;
/// What a word counts at least, also where it is like none of the list: a list that knows little of a segment explains little of it.
const UNKNOWN: f32 = 0.3;

pub(crate) fn wanted(
    read: &Read,
    (reading, request): (&Reading, &str),
    set: &SetTools,
    weights: &SetWeights,
    evidence: &Evidence<'_>,
) -> Vec<Wanted> {
    let count = set.tools.len();
    if count == 0 || read.segments.is_empty() {
        return Vec::new();
    }
    let compared = Compared::of(read, set, weights);
    let votes = |clause: &Clause| evidence.votes(&clause.tokens, clause.text(request)).tools;
    let shares: Vec<Vec<f32>> = reading.clauses.iter().map(votes).collect();
    let texts = read.segments.iter().map(|segment| segment.text.as_str());
    let meant = evidence.near(texts);
    let evidence = read.segments.iter().enumerate().map(|(at, segment)| {
        let weight = |word: usize| match segment.own.contains(&word) {
            true => 1.0,
            false => weights.beside(read.clause_of.get(word).copied().flatten(), segment),
        };
        let mut scores = one_segment(read, set, weights, &compared, (&weight, segment));
        let sentence = meant.get(at).map_or(&[][..], Vec::as_slice);
        for (score, near) in scores.iter_mut().zip(sentence) {
            *score += weights.sentence * near;
        }
        let shares = segment.clause.and_then(|clause| shares.get(clause)).map_or(&[][..], Vec::as_slice);
        for (score, share) in scores.iter_mut().zip(shares) {
            *score += weights.past * share;
        }
        (scores, shares)
    });
    let mut all = spoken_of(evidence, count, weights);
    lift(&mut all, weights);
    for (wanted, tool) in all.iter_mut().zip(&set.tools) {
        let orders = |segment: &Segment| {
            segment.sends && tool.sends() || segment.does.iter().any(|sense| tool.does.contains(sense))
        };
        wanted.unordered = tool.acts && !read.segments.iter().any(orders);
    }
    all.sort_by(|one, two| two.probability.total_cmp(&one.probability).then(one.tool.cmp(&two.tool)));
    all
}

/// How probable it is that some segment speaks of each tool, by what each says for each and what plans from before do.
fn spoken_of<'a>(
    evidence: impl Iterator<Item = (Vec<f32>, &'a [f32])>,
    count: usize,
    weights: &SetWeights,
) -> Vec<Wanted> {
    let nothing = weights.none + weights.length * (count as f32).ln();
    // Beside few others, what is only somewhat like a segment is the most alike. What a plan from before did for it needs no such care.
    let strict = weights.strict * shortness(count).sqrt();
    let none = Wanted { tool: 0, probability: 0.0, clear: 0.0, unordered: false, segment: 0 };
    let mut all: Vec<Wanted> = (0..count).map(|tool| Wanted { tool, ..none }).collect();
    let mut best = vec![0.0_f32; count];
    for (segment, (scores, shares)) in evidence.enumerate() {
        let most = scores.iter().copied().fold(nothing, f32::max);
        let spoken: f32 = scores.iter().map(|score| (score - most).exp()).sum();
        let known = shares.iter().copied().chain(std::iter::repeat(0.0));
        for (((score, wanted), best), known) in scores.iter().zip(&mut all).zip(&mut best).zip(known) {
            let fits = (score - most).exp();
            let probability = fits / (spoken + (nothing - most).exp());
            wanted.probability = 1.0 - (1.0 - wanted.probability) * (1.0 - probability);
            let clear = fits / (spoken + (nothing + strict * (1.0 - known) - most).exp());
            wanted.clear = 1.0 - (1.0 - wanted.clear) * (1.0 - clear);
            if probability > *best {
                (*best, wanted.segment) = (probability, segment);
            }
        }
    }
    all
}

/// The e-folds by which a list is short.
fn shortness(count: usize) -> f32 {
    (SHORT as f32 / count as f32).ln().max(0.0)
}

/// Makes tools of a short list likelier, where few stand that are not meant: all the more, the larger the share of it that is wanted.
fn lift(all: &mut [Wanted], weights: &SetWeights) {
    let log_odds = |share: f32| (share / (1.0 - share)).ln();
    let logistic = |odds: f32| 1.0 / (1.0 + (-odds).exp());
    let (count, short) = (all.len() as f32, shortness(all.len()));
    let usual = logistic(weights.usual);
    let alone: Vec<f32> = all
        .iter()
        .map(|wanted| weights.steep * log_odds(wanted.probability.clamp(1e-6, 1.0 - 1e-6)) + weights.short * short)
        .collect();
    for _ in 0..ROUNDS {
        let wanted: f32 = all.iter().map(|wanted| wanted.probability).sum();
        let share = (wanted + PSEUDO * usual) / (count + PSEUDO);
        let shared = weights.share * short * (log_odds(share) - weights.usual);
        for (wanted, alone) in all.iter_mut().zip(&alone) {
            wanted.probability = logistic(alone + shared);
        }
    }
}

/// So many tools the usual share counts for.
const PSEUDO: f32 = 1.0;

/// How often the share that is wanted is estimated anew.
const ROUNDS: usize = 3;

/// So many of the likeliest that the F1 to be expected is the greatest (Lewis, 1995); none where the request clearly speaks of none.
pub(crate) fn best(mut all: Vec<Wanted>, weights: &SetWeights) -> Vec<Wanted> {
    let whole: f32 = all.iter().map(|wanted| wanted.probability).filter(|probability| *probability > 0.02).sum();
    let (mut sum, mut best, mut keep) = (0.0, 0.0, 0);
    for (at, wanted) in all.iter().enumerate() {
        sum += wanted.probability;
        let expected = 2.0 * sum / (at as f32 + 1.0 + whole);
        if expected > best {
            (best, keep) = (expected, at + 1);
        }
    }
    if all.iter().all(|wanted| wanted.clear < weights.least) {
        keep = 0;
    }
    all.truncate(keep);
    // What is only likelier since the list is short is no order to change the world.
    all.retain(|wanted| !wanted.unordered || wanted.clear >= ORDERED);
    all
}

/// How clearly the request must speak of what changes the world where no word orders it.
const ORDERED: f32 = 0.3;

/// How near the meaning of words is to that of each tool, 0 to 1.
pub(crate) fn nearness(tokens: &[Token], set: &SetTools) -> Vec<f32> {
    let words = words_of(tokens);
    let weigh = |word: &Word| {
        let at = set.place(&word.key);
        0.3 + at.and_then(|at| set.rarity.get(at)).copied().unwrap_or(1.0)
    };
    let meant = meaning::together(words.iter().filter_map(|(_, word)| Some((weigh(word), word.vector.as_ref()?))));
    let near = |tool: &Said| match (&meant, &tool.vector) {
        (Some(one), Some(two)) => near(one, two).max(0.0),
        _ => 0.0,
    };
    set.tools.iter().map(near).collect()
}

/// Places, each with how much.
type Parts = Rc<[(usize, f32)]>;

/// How the words of a request compare with a list; what is of a word is in its place.
struct Compared {
    /// The words of the list that it is like, with how much.
    likes: Vec<Parts>,
    /// The tools that explain it, with how much of it.
    explains: Vec<Parts>,
    /// How much it tells: as much as what it is like, most of all itself.
    tells: Vec<f32>,
    /// How much of the words of each clause, and of earlier turns, each tool explains.
    of_clause: BTreeMap<Option<usize>, Vec<f32>>,
}

impl Compared {
    fn of(read: &Read, set: &SetTools, weights: &SetWeights) -> Compared {
        // A word that is said again and again is compared once.
        let mut known: FxHashMap<&str, (&Word, Parts, Parts)> = FxHashMap::default();
        let mut compared =
            Compared { likes: Vec::new(), explains: Vec::new(), tells: Vec::new(), of_clause: BTreeMap::new() };
        for (word, clause) in read.words.iter().zip(&read.clause_of) {
            let before = known.get(word.key.as_str()).filter(|(same, _, _)| *same == word);
            let (likes, explains) = match before {
                Some((_, likes, explains)) => (Rc::clone(likes), Rc::clone(explains)),
                None => {
                    let others = set.words.iter().enumerate().map(|(at, other)| (at, alike(word, other, weights)));
                    let likes: Parts = others.filter(|(_, like)| *like > LITTLE).collect();
                    let explains: Parts = explains(&likes, set).into();
                    known.insert(&word.key, (word, Rc::clone(&likes), Rc::clone(&explains)));
                    (likes, explains)
                }
            };
            let best = likes.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            let tells = best.map_or(0.0, |(at, like)| like * set.rarity.get(*at).copied().unwrap_or_default());
            let sums = compared.of_clause.entry(*clause).or_insert_with(|| vec![0.0; set.tools.len()]);
            add(sums, &explains, 1.0);
            compared.tells.push(tells);
            compared.likes.push(likes);
            compared.explains.push(explains);
        }
        compared
    }

    /// How much each tool explains of what a segment says, its clause and the rest of the request beside it.
    fn explained(&self, read: &Read, segment: &Segment, weights: &SetWeights, count: usize) -> Vec<f32> {
        let mut explained = vec![0.0; count];
        for (clause, sums) in &self.of_clause {
            let weight = weights.beside(*clause, segment);
            explained.iter_mut().zip(sums).for_each(|(explained, sum)| *explained += weight * sum);
        }
        for word in &segment.own {
            let clause = read.clause_of.get(*word).copied().flatten();
            if let Some(explains) = self.explains.get(*word) {
                add(&mut explained, explains, 1.0 - weights.beside(clause, segment));
            }
        }
        explained
    }
}

fn add(sums: &mut [f32], parts: &[(usize, f32)], weight: f32) {
    for (tool, part) in parts {
        if let Some(sum) = sums.get_mut(*tool) {
            *sum += weight * part;
        }
    }
}

impl SetWeights {
    /// What a word counts that stands beside a segment in this clause, or in an earlier turn.
    fn beside(&self, clause: Option<usize>, segment: &Segment) -> f32 {
        match clause {
            Some(_) if clause == segment.clause => self.clause,
            Some(_) => self.request,
            None => self.turn,
        }
    }
}

/// How much of one word of the request each tool's words explain: the best of its name, and the best of what it tells of itself.
fn explains(likes: &[(usize, f32)], set: &SetTools) -> Vec<(usize, f32)> {
    let mut best: FxHashMap<usize, (f32, f32)> = FxHashMap::default();
    for (word, like) in likes {
        for holder in set.holders.get(*word).into_iter().flatten() {
            let (name, told) = best.entry(holder.tool).or_default();
            *name = name.max(like * holder.name);
            *told = told.max(like * holder.told);
        }
    }
    let mut best: Vec<(usize, f32)> = best.into_iter().map(|(tool, (name, told))| (tool, name + 0.7 * told)).collect();
    best.sort_by_key(|(tool, _)| *tool);
    best
}

/// What one segment says for each tool.
fn one_segment(
    read: &Read,
    set: &SetTools,
    weights: &SetWeights,
    compared: &Compared,
    (weight, segment): (&dyn Fn(usize) -> f32, &Segment),
) -> Vec<f32> {
    // The best that the segment says for each word of the list.
    let mut spoken = vec![0.0_f32; set.words.len()];
    let mut whole = weights.smooth;
    for (at, (likes, tells)) in compared.likes.iter().zip(&compared.tells).enumerate() {
        let weight = weight(at);
        whole += weight * tells.max(UNKNOWN);
        for (other, like) in likes.iter() {
            if let Some(most) = spoken.get_mut(*other) {
                *most = most.max(weight * like);
            }
        }
    }
    let explained = compared.explained(read, segment, weights, set.tools.len());
    let meant = read.words.iter().enumerate().zip(&compared.tells);
    let meant = meaning::together(
        meant.filter_map(|((at, word), tells)| Some((weight(at) * (0.3 + tells), word.vector.as_ref()?))),
    );
    let looks = |does: &[SenseId]| does.iter().any(|sense| matches!(thesaurus::sense(*sense).name, "search" | "check"));
    let does = segment.does.as_slice();
    let looks_up = looks(does);
    let send = thesaurus::named("send").filter(|_| segment.sends);
    let send = send.filter(|send| set.tools.iter().any(|tool| tool.does.contains(send)));
    let searches = does.iter().any(|sense| thesaurus::sense(*sense).name == "search");
    let undoes = does.iter().any(|sense| thesaurus::sense(*sense).name == "cancel") && !looks_up;
    let said = |at: &usize| spoken.get(*at).copied().unwrap_or_default();
    set.tools
        .iter()
        .zip(explained)
        .map(|(tool, explained)| {
            let share = |words: &[(usize, f32)]| {
                let whole: f32 = words.iter().map(|(_, weight)| weight).sum();
                let part: f32 = words.iter().map(|(at, weight)| weight * said(at)).sum();
                if whole > 0.0 { part / whole } else { 0.0 }
            };
            let (name, told) = (share(&tool.name), share(&tool.told));
            let explained = explained / whole;
            let near = match (&meant, &tool.vector) {
                (Some(one), Some(two)) => near(one, two).max(0.0),
                _ => 0.0,
            };
            let action =
                match (does.is_empty() || tool.does.is_empty(), tool.does.iter().any(|sense| does.contains(sense))) {
                    (true, _) => 0.0,
                    (false, true) => 1.0,
                    (false, false) if looks_up && looks(&tool.does) => 0.0,
                    (false, false) => -1.0,
                };
            // What is to be undone is not looked up instead, nor is what is searched for booked.
            let undone = undoes && tool.looks_up || searches && tool.acts;
            let strange = name < 0.1 && explained < 0.25;
            if let Some(send) = send {
                // Whatever else is spoken of is what is sent.
                if !tool.does.contains(&send) {
                    return f32::MIN / 2.0;
                }
            } else if action < 0.0 && (strange || undone || opposed(does, &tool.does)) {
                return f32::MIN / 2.0;
            }
            weights.name * name
                + weights.text * explained.min(1.5)
                + weights.told * told
                + weights.near * near
                + weights.action * if send.is_some() { 1.0 } else { action }
        })
        .collect()
}
