//! Whether a sentence says plainly what is picked out of it: not as a plan or a guess, not of former times, not as a bound,
//! and not of who did it where the question turns the names about.

use std::collections::HashSet;

use super::heard::says_little;
use super::matching::{Question, bare, folded, words};
use super::rules::{Rule, fits};

rule!(
    HEDGED,
    r"\b(?:might|could|should|would|if|unless|perhaps|possibly|probably|likely|planned|plans to|plan to|expect\w*|reported\w*|alleged\w*|estimated|forecast|proposed|hopes?|intends?|rumou?r\w*|claim\w*|unclear)\b|возможно|вероятно|может|могут|планиру|ожида|предпол|намер|\bесли\b|якобы|собира[ею]|по слухам|可能|也许|或许|预计|计划|打算|拟于|如果|据说|有望|传闻"
);
rule!(
    FORMER,
    r"\b(?:until|till|former\w*|previous\w*|ex-|used to|no longer)\b|бывш|прежн|ранее|раньше|\bдо \d{4}|曾|前任|以前|此前|直到|不再"
);
rule!(WAS, r"\b(?:was|were|had)\b|\bбыл[аои]?\b");
rule!(IS, r"\bwho(?: is| are|['’]s)\b|\bкто\b");
rule!(
    BEFORE,
    r"(?:\b(?:than|over|about|up to|at least|at most|nearly|almost|under|around|approximately|roughly|above|below|before|after|until|since|between|from|более|менее|больше|меньше|чем|около|до|почти|свыше|примерно|порядка|после|от|между)|超过|约|近|不到|至少|至多|最多|多达|不足|逾)[\s$€£¥(]*$"
);
rule!(
    BEHIND,
    r"^\s*(?:or (?:more|less|so|later|earlier)\b|at (?:most|least)\b|и более|и менее|[+–-]\s*\d|之?[前后]|以[上下前后]|多|余|左右)"
);

rule!(CLAUSES, r"[;；]|,? (?:but|while|whereas|although)\b|, (?:а|но|однако|зато)\b|，(?:而|但)");

/// Whether what is picked out of a sentence may be another thing than the question asks for.
pub(super) fn is_doubtful(question: &Question, sentence: &str, answer: &str) -> bool {
    let text = folded(sentence);
    let asked = question.lower.as_str();
    let only_there = |rule: &Rule| fits(rule, &text) && !fits(rule, asked);
    // In small letters, for there is a month of that name.
    let may =
        sentence.split_whitespace().any(|word| word == "may") && !asked.split_whitespace().any(|word| word == "may");
    let was = fits(&IS, asked) && only_there(&WAS);
    let (before, behind) = sentence.split_once(answer).unwrap_or_default();
    let bound = answer.contains(|c: char| c.is_ascii_digit())
        && (fits(&BEFORE, &folded(before)) || fits(&BEHIND, &folded(behind)));
    let apart = apart(question, sentence, answer);
    may || was || bound || apart || only_there(&HEDGED) || only_there(&FORMER) || turned(question, sentence)
}

/// Whether a word of the question stands only in another clause than what is picked.
fn apart(question: &Question, sentence: &str, answer: &str) -> bool {
    let Some(rule) = CLAUSES.as_ref() else { return false };
    let clauses: Vec<&str> = rule.split(sentence).collect();
    let own = clauses.iter().position(|clause| clause.contains(answer));
    let said = |clause: &str| {
        let said = words(&folded(clause)).into_iter().filter(|word| question.holds(word) && !says_little(word));
        said.map(|word| bare(&word).to_owned()).collect::<HashSet<_>>()
    };
    let here = own.and_then(|own| clauses.get(own)).map(|clause| said(clause)).unwrap_or_default();
    clauses.len() > 1 && clauses.iter().any(|clause| said(clause).difference(&here).next().is_some())
}

/// Whether the names of a question stand in another order in a sentence.
fn turned(question: &Question, sentence: &str) -> bool {
    let parts = question.raw.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).skip(1);
    let names = parts.filter(|word| word.starts_with(char::is_uppercase));
    let places: Vec<usize> = names.filter_map(|name| sentence.find(name)).collect();
    !places.is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_are_raised() {
        for (question, sentence, answer, expected) in [
            ("How much do boys pay?", "Girls pay 5 euros; boys enter free.", "5 euros", true),
            ("How much do girls pay?", "Girls pay 5 euros; boys enter free.", "5 euros", false),
            ("When was it signed?", "It was signed on 12 May 2022.", "12 May 2022", false),
            ("When does it open?", "It may open in 2031.", "2031", true),
            ("Who is the head?", "The head is Ann Lee.", "Ann Lee", false),
            ("Who is the head?", "Formerly the head was Ann Lee.", "Ann Lee", true),
            ("Who was the head?", "The head was Ann Lee.", "Ann Lee", false),
            ("How many are there?", "There are over 40.", "40", true),
            ("Who founded it?", "It was founded by Ann Lee.", "Ann Lee", false),
            ("When did Bo pay Al?", "Al paid Bo in 2010.", "2010", true),
            ("When did Bo pay Al?", "Bo paid Al in 2010.", "2010", false),
            ("Сколько там людей?", "Там до 40 людей.", "40", true),
            ("有多少人？", "有40人以上。", "40", false),
            ("有多少人？", "有超过40人。", "40", true),
        ] {
            assert_eq!(is_doubtful(&Question::new(question), sentence, answer), expected, "{sentence}");
        }
        assert!([&HEDGED, &FORMER, &WAS, &IS, &BEFORE, &BEHIND, &CLAUSES].iter().all(|rule| rule.is_some()));
    }
}
