//! Names of people, organisations and places: by capitals in English and Russian, by surnames and endings in Chinese.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::super::language::{CHINESE_JOINTS, is_function_word};
use super::super::lists::list;
use super::super::segment::{Stemmers, fold, sentences};
use super::{Group, Page};
use jarvis_plan::{is_cyrillic, is_han, pattern};

static STEMMERS: LazyLock<Stemmers> = LazyLock::new(|| Stemmers::new("en"));

/// The word lists, each word stemmed, so that Russian cases are met, or just folded.
static LISTS: LazyLock<HashMap<&str, HashSet<String>>> = LazyLock::new(|| {
    let stemmed =
        |word: &str| word.split(['_', '-']).map(|word| STEMMERS.stem(&fold(word))).collect::<Vec<_>>().join(" ");
    let by_stem = "places given organisations organisation_words place_words titles offices work_words".split(' ');
    let plain = "speaking place_before peoples calendar openers".split(' ');
    let by_stem = by_stem.map(|name| (name, list(name).map(stemmed).collect()));
    by_stem.chain(plain.map(|name| (name, list(name).map(fold).collect()))).collect()
});

fn is_in(list: &str, word: &str) -> bool {
    LISTS.get(list).expect("a list named in the code is read").contains(word)
}

struct Word {
    range: Range<usize>,
    folded: String,
    stem: String,
    is_capital: bool,
    /// One capital letter, as in `A. Smith`.
    is_initial: bool,
    /// All capitals, two or more.
    is_acronym: bool,
    /// It opens a sentence or a quotation, where capitals say nothing.
    opens: bool,
    is_function: bool,
}

/// Names by capitals. German writes all nouns so, and scripts without capitals have none: nothing is found there.
pub(super) fn capitalised(page: &mut Page<'_>, language: &str) {
    if language == "de" {
        return;
    }
    let mut rows: Vec<Vec<Word>> = Vec::new();
    // Words that are capitalised where nothing but being a name asks for it.
    let mut surely: HashSet<String> = HashSet::new();
    for range in sentences(page.text) {
        let words = words(page, range);
        let letters = words.iter().filter(|word| !word.folded.starts_with(|c: char| c.is_numeric()));
        let shouted = words.len() > 3 && letters.clone().all(|word| word.is_acronym || word.is_initial);
        if shouted {
            continue;
        }
        surely.extend(words.iter().filter(|word| word.is_capital && !word.opens).map(|word| word.stem.clone()));
        rows.push(words);
    }
    for words in &rows {
        let mut at = 0;
        while at < words.len() {
            let end = run(page, words, at, &surely);
            if end == at {
                at += 1;
                continue;
            }
            if let Some((group, range, score)) = classify(page.text, words, at..end) {
                page.add(group, range, score);
            }
            at = end;
        }
    }
}

fn words(page: &Page<'_>, range: Range<usize>) -> Vec<Word> {
    let sentence = page.text.get(range.clone()).expect("sentences lie in the text");
    let mut first = true;
    sentence
        .unicode_word_indices()
        .map(|(at, text)| {
            let start = range.start + at;
            let before = page.text.get(..start).expect("a word starts at a character").trim_end().chars().next_back();
            let quoted = before.is_some_and(|letter| "\"“«„'‘:-—–•*".contains(letter));
            // A possessive ending is not part of the name.
            let name = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text);
            let folded = fold(name);
            let letters = name.chars().count();
            let is_capital = name.starts_with(char::is_uppercase);
            let upper = is_capital && name.chars().all(|letter| letter.is_uppercase() || letter.is_ascii_digit());
            let language = if folded.chars().any(is_cyrillic) { "ru" } else { "en" };
            let word = Word {
                range: start..start + name.len(),
                stem: STEMMERS.stem(&folded),
                is_capital,
                is_initial: upper && letters == 1,
                is_acronym: upper && letters > 1,
                opens: first || quoted,
                is_function: is_function_word(language, &folded),
                folded,
            };
            first = false;
            word
        })
        .collect()
}

/// Where the run of capitalised words from `at` ends; `at` itself when none starts there.
fn run(page: &Page<'_>, words: &[Word], at: usize, surely: &HashSet<String>) -> usize {
    let Some(first) = words.get(at) else { return at };
    let dotted = first.is_initial && page.text.get(first.range.end..).is_some_and(|rest| rest.starts_with('.'));
    let pronoun = first.folded == "i" || first.folded.starts_with("i'");
    if !first.is_capital || page.is_taken(first.range.start) || (pronoun && !dotted) {
        return at;
    }
    if first.is_function && !first.is_acronym && !dotted {
        return at;
    }
    let joins = |left: &Word, right: &Word| {
        let gap = page.text.get(left.range.end..right.range.start).unwrap_or("?");
        let dotted = matches!(gap, ". " | ".") && (left.is_initial || is_in("titles", &left.stem));
        matches!(gap, " " | "-" | " & " | "\u{a0}") || dotted
    };
    let mut end = at + 1;
    while let (Some(last), Some(next)) = (words.get(end - 1), words.get(end)) {
        // `Apple CEO Tim Cook`: the office parts the company from the person; `президент Франции Шарль Делон`: the
        // country from the person.
        let titled = end.checked_sub(2).and_then(|at| words.get(at)).is_some_and(|word| is_in("titles", &word.stem));
        let place = last.folded.chars().any(is_cyrillic) && is_in("places", &last.stem);
        let parted = is_in("offices", &next.stem) || (titled && place);
        if parted {
            break;
        }
        if next.is_capital && !page.is_taken(next.range.start) && joins(last, next) {
            end += 1;
            continue;
        }
        // `University of Oxford`, `Leonardo da Vinci`, `Ростов-на-Дону`.
        let through = match next.folded.as_str() {
            "of" => is_in("organisation_words", &last.stem) || is_in("place_words", &last.stem),
            "de" | "da" | "del" | "van" | "von" | "der" | "la" | "bin" | "ibn" | "di" => true,
            "на" => page.text.get(last.range.end..next.range.start) == Some("-"),
            _ => false,
        };
        match words.get(end + 1) {
            Some(after) if through && after.is_capital && joins(last, next) && joins(next, after) => end += 2,
            _ => break,
        }
    }
    if first.opens {
        let known = is_in("places", &first.stem)
            || is_in("given", &first.stem)
            || is_in("organisations", &first.stem)
            || is_in("titles", &first.stem)
            || surely.contains(&first.stem)
            || first.is_acronym
            || at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|kind| {
                // `Компания «Ромашка»`
                is_in("organisation_words", &kind.stem) && is_next(page.text, kind, first)
            });
        let opener = is_in("openers", &first.folded) && !surely.contains(&first.stem);
        let known = known || (end == at + 1 && institution(page.text, words, at).is_some());
        let speaks = words.get(end).is_some_and(|next| is_in("speaking", &next.folded));
        if opener {
            // What follows may be a name of its own.
            return at;
        }
        if end == at + 1 && !known && !speaks {
            return at;
        }
    }
    end
}

static SURNAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?:ов|ев|ин|ын)(?:а|у|ым|ой|е|ых)?$|ск(?:ий|ого|ому|им|ом|ая|ую|ой)$|(?:енко|чук|дзе|швили)$")
});
static PATRONYMIC: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:ович|евич|ьич)(?:а|у|ем|е)?$|(?:овн|евн|иничн)(?:а|ы|е|у|ой)$"));

static ADJECTIVE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:ск|цк)(?:ий|ого|ому|им|ом|ая|ую|ой|ое|ие|их)$"));

fn classify(text: &str, words: &[Word], run: Range<usize>) -> Option<(Group, Range<usize>, f64)> {
    let before = run.start.checked_sub(1).and_then(|at| words.get(at));
    let run_end = run.end;
    let after = words.get(run_end);
    let mut names = words.get(run)?;
    let mut titled = before.is_some_and(|word| {
        is_in("titles", &word.stem)
            && names.first().is_some_and(|name| {
                text.get(word.range.end..name.range.start).is_some_and(|gap| gap == " " || gap == ". ")
            })
    });
    let has = |names: &[Word], list: &str| names.iter().any(|word| is_in(list, &word.stem));
    let organisation = has(names, "organisation_words");
    // `President Lincoln` names Lincoln; a title alone is not a name.
    while let Some((first, rest)) = names.split_first() {
        if organisation || !is_in("titles", &first.stem) {
            break;
        }
        names = rest;
        titled = true;
    }
    // `Компания Яндекс` names Яндекс.
    if let [first, _, ..] = names
        && first.opens
        && list("kinds").any(|kind| kind == first.folded)
    {
        names = names.get(1..)?;
    }
    let (first, last) = (names.first()?, names.last()?);
    let range = first.range.start..last.range.end;
    let found = |group, score| Some((group, range.clone(), score));
    let joined = names.iter().map(|word| word.stem.as_str()).collect::<Vec<_>>().join(" ");
    if is_in("organisations", &joined) {
        return found(Group::Organisation, 0.9);
    }
    // `AS` is a legal form, `as` is none.
    let is_firm = || text.get(last.range.clone()).is_some_and(|word| list("legal_forms").any(|form| form == word));
    if names.len() > 1 && (organisation || is_firm()) {
        return found(Group::Organisation, 0.85);
    }
    let cyrillic = last.folded.chars().any(is_cyrillic);
    if is_in("places", &joined) && (!titled || cyrillic) {
        return found(Group::Location, 0.9);
    }
    // A word before a quoted title says what it is: `Роман «Идиот»`.
    if names.len() == 1 && text.get(last.range.end..).is_some_and(|rest| rest.starts_with(" «")) {
        return None;
    }
    if names.len() > 1 && is_in("work_words", &last.stem) {
        return found(Group::Other, 0.6);
    }
    if names.len() > 1 && has(names, "place_words") {
        return found(Group::Location, 0.8);
    }
    if titled {
        return found(Group::Person, 0.85);
    }
    let says = after.is_some_and(|word| is_in("speaking", &word.folded));
    let initials =
        names.len() > 1 && names.iter().any(|word| word.is_initial) && !names.iter().all(|word| word.is_initial);
    let patronymic = names.iter().any(|word| PATRONYMIC.is_match(&word.folded)) && names.len() > 1;
    if is_in("given", &first.stem) || initials || patronymic {
        return found(Group::Person, if names.len() > 1 { 0.9 } else { 0.75 });
    }
    if names.len() == 1
        && let Some(range) = institution(text, words, run_end - 1)
    {
        return Some((Group::Organisation, range, 0.75));
    }
    if names.len() == 1 {
        if is_in("organisation_words", &first.stem) || is_in("place_words", &first.stem) {
            return None;
        }
        if is_in("calendar", &first.folded) {
            return None;
        }
        if is_in("peoples", &first.folded) {
            return found(Group::Other, 0.6);
        }
    }
    if let Some(street) = before.filter(|word| is_in("place_words", &word.stem) && is_next(text, word, first)) {
        // `река Нева`, `город Кострома`: the word before says it.
        if street.folded.chars().any(is_cyrillic) {
            return found(Group::Location, 0.8);
        }
    }
    if let Some(kind) = before.filter(|word| is_in("organisation_words", &word.stem))
        && kind.folded.chars().any(is_cyrillic)
    {
        return found(Group::Organisation, 0.75);
    }
    if says && !names.iter().all(|word| word.is_acronym) {
        return found(Group::Person, 0.7);
    }
    if names.len() == 1 && first.is_acronym && (2..=6).contains(&first.folded.chars().count()) {
        return found(Group::Organisation, 0.5);
    }
    if before.is_some_and(|word| is_in("place_before", &word.folded) && is_next(text, word, first)) {
        return found(Group::Location, 0.6);
    }
    if cyrillic && last.folded.chars().count() > 4 && SURNAME.is_match(&last.folded) {
        return found(Group::Person, if names.len() > 1 { 0.7 } else { 0.5 });
    }
    if names.iter().any(|word| is_in("peoples", &word.folded)) {
        return found(Group::Other, 0.5);
    }
    match names.len() {
        2 | 3 => found(Group::Person, if cyrillic { 0.45 } else { 0.5 }),
        _ => found(Group::Other, 0.35),
    }
}

/// `Московский государственный университет`: only the first word has a capital.
fn institution(text: &str, words: &[Word], at: usize) -> Option<Range<usize>> {
    let first = words.get(at).filter(|word| ADJECTIVE.is_match(&word.folded))?;
    let mut next = words.iter().skip(at + 1).take(3).take_while(|word| !word.is_capital);
    let kind = next.find(|word| is_in("organisation_words", &word.stem))?;
    let range = first.range.start..kind.range.end;
    text.get(range.clone()).is_some_and(|name| !name.contains([',', '.', '(', '«', '\n'])).then_some(range)
}

/// Whether nothing but a blank (or a dot and a blank) stands between the words.
fn is_next(text: &str, word: &Word, name: &Word) -> bool {
    text.get(word.range.end..name.range.start).is_some_and(|gap| matches!(gap, " " | ". " | " «" | " \""))
}

const SURNAMES: &str = "张王李赵刘陈杨黄吴周徐孙朱马胡郭何林罗高郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁沈任姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤";
/// Surnames that seldom begin another word.
const CLEAR_SURNAMES: &str =
    "张王李赵刘陈杨吴徐孙朱胡郭林罗郑梁谢宋唐韩冯邓曹彭肖董袁潘蒋蔡杜苏魏吕丁沈姚卢姜崔钟谭汪廖贾邹孟秦邱尹薛闫龚邵";
/// What a name is, how sure the rule is, and whether its pattern may begin too early.
static CHINESE: LazyLock<Vec<(Group, f64, bool, Regex)>> = LazyLock::new(|| {
    let alternatives = |name: &str| {
        let mut words: Vec<&str> = list(name).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.join("|")
    };
    let titles = "先生|女士|小姐|教授|博士|老师|医生|总统|主席|总理|经理|部长|省长|市长|校长|院长|院士|律师|记者|工程师|同学|同志";
    let verbs = "说|表示|认为|指出|告诉|宣布|写道|强调|出生|毕业|创办|创立|来到|发明|发表|获得|担任|成为|参加|接受|住|去|是|在|和|于|与|的";
    let letters = format!(r"[\p{{Han}}A-Za-z0-9&&[^{CHINESE_JOINTS}]]");
    let ends = "有限责任公司|有限公司|公司|大学|银行|集团|医院|学院|研究院|研究所|委员会|协会|法院|出版社|博物馆|电视台|基金会|实验室|中学|小学";
    vec![
        (Group::Organisation, 0.85, true, pattern(&format!(r"({letters}{{1,12}}?(?:{ends}))"))),
        (Group::Organisation, 0.9, false, pattern(&format!("({})", alternatives("chinese_organisations")))),
        (
            Group::Location,
            0.9,
            false,
            pattern(&format!("((?:{})(?:省|市|自治区|特别行政区)?)", alternatives("chinese_places"))),
        ),
        (
            Group::Person,
            0.85,
            false,
            pattern(&format!(
                r"((?:欧阳|司马|诸葛|上官|[{SURNAMES}])[\p{{Han}}&&[^{CHINESE_JOINTS}]]{{1,2}}?)(?:{titles})"
            )),
        ),
        (Group::Person, 0.8, false, pattern(&format!(r"([{SURNAMES}](?:{titles}))"))),
        (
            Group::Person,
            0.6,
            false,
            pattern(&format!(
                r"(?:^|[\s，。！？；：、“”（）(),.]|的|是|和|在|与|叫|人员|朋友|记者|同学|演员|歌手|作家|诗人|教授|医生|老师|校长|经理|专家|丈夫|妻子|儿子|女儿|学者)((?:欧阳|司马|诸葛|[{CLEAR_SURNAMES}])[\p{{Han}}&&[^{CHINESE_JOINTS}]]{{1,2}}?)(?:{verbs}|[，。、！？\s]|$)"
            )),
        ),
        (Group::Location, 0.7, true, pattern(&format!(r"({letters}{{2,4}}?(?:自治区|省|市|县|镇|州|岛))"))),
    ]
});

pub(super) fn chinese(page: &mut Page<'_>) {
    if !page.text.chars().any(is_han) {
        return;
    }
    for (group, score, open, regex) in CHINESE.iter() {
        let mut at = 0;
        // Searched on from each name's end, so that the sign between two names serves both.
        while let Some(found) = regex.captures_at(page.text, at).and_then(|found| found.get(1)) {
            at = found.end();
            let mut name = found.as_str();
            if *open {
                let before = page.text.get(..found.start()).expect("a match starts at a character");
                if before.ends_with(['这', '那', '某', '每', '几', '各']) {
                    name = name.strip_prefix(['家', '所']).unwrap_or(name);
                }
                while let Some(rest) = list("chinese_before_names").find_map(|word| name.strip_prefix(word))
                    && !list("chinese_places").any(|place| name.starts_with(place))
                {
                    name = rest;
                }
            }
            let start = found.end() - name.len();
            let is_name = match group {
                Group::Person => !list("chinese_no_names").any(|word| name.starts_with(word)),
                Group::Location => {
                    name.chars().count() > 1 && !list("chinese_no_places").any(|word| name.ends_with(word))
                }
                _ => name.chars().count() > 2 || *score > 0.85,
            };
            if is_name {
                page.add(*group, start..found.end(), *score);
            }
        }
    }
}
