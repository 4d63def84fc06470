//! Whether a question speaks of something: words compared without their endings, Chinese by containment.

use std::collections::HashSet;

use jarvis_plan::{is_cyrillic, is_han};
use jarvis_tools::local::narrow;

/// A question as it is compared.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// As it was asked, shortened.
    pub(super) raw: String,
    /// In small letters and plain forms.
    pub(super) lower: String,
    words: Vec<String>,
    forms: Forms,
    /// Its words that are written as names are, the first left out.
    names: Forms,
    /// Its words of a single letter that name something.
    letters: HashSet<char>,
}

/// Words in whatever form, made ready to be compared with many others.
#[derive(Debug, Clone, Default)]
struct Forms {
    words: HashSet<String>,
    /// English words without their endings.
    stems: HashSet<String>,
    cyrillic: Vec<String>,
}

impl Forms {
    fn of<'a>(words: impl Iterator<Item = &'a str>) -> Forms {
        let mut forms = Forms::default();
        for word in words {
            if !forms.words.insert(word.to_owned()) {
                continue;
            }
            if word.is_ascii() {
                forms.stems.insert(stem(word));
            } else if word.chars().all(is_cyrillic) {
                forms.cyrillic.push(word.to_owned());
            }
        }
        forms
    }

    /// Whether one of them and this word are forms of one.
    fn hold(&self, word: &str) -> bool {
        if word.is_ascii() {
            return self.stems.contains(&stem(word));
        }
        self.words.contains(word)
            || (word.chars().all(is_cyrillic) && self.cyrillic.iter().any(|known| same(known, word)))
    }
}

/// The most of a question that is read, in characters.
const LONGEST: usize = 2_000;

impl Question {
    pub(super) fn new(question: &str) -> Question {
        let raw: String = question.chars().take(LONGEST).collect();
        let lower = folded(&raw);
        let words = words(&lower);
        let forms = Forms::of(words.iter().map(String::as_str));
        let written = || raw.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let capitals = written().skip(1).filter(|word| word.starts_with(char::is_uppercase)).map(folded);
        let capitals: Vec<String> = capitals.collect();
        let names = Forms::of(capitals.iter().map(String::as_str));
        // Single letters are words of the language too; only capitals name something.
        let single = |word: &str| Some(word.chars().next()?).filter(|_| word.chars().nth(1).is_none());
        let letters = written().filter_map(single).filter(|c| c.is_uppercase() || c.is_numeric()).collect();
        Question { words, forms, names, letters, raw, lower }
    }

    /// How much of a phrase the question speaks of: 1 for all its words, 0 for none.
    pub(super) fn mentions(&self, phrase: &str) -> f64 {
        if phrase.len() > 200 {
            return 0.0;
        }
        let mut single = phrase.trim().chars();
        if let (Some(letter), None) = (single.next(), single.next())
            && !is_han(letter)
        {
            return if self.letters.contains(&letter) { 1.0 } else { 0.0 };
        }
        let parts = words(&folded(phrase));
        let known = parts.iter().filter(|part| self.says(part)).count();
        if parts.is_empty() { 0.0 } else { known as f64 / parts.len() as f64 }
    }

    /// How much the question names something: all its words, or one of them as names are written.
    pub(super) fn names(&self, phrase: &str) -> f64 {
        let said = self.mentions(phrase);
        if said == 1.0 || said == 0.0 {
            return said;
        }
        if words(&folded(phrase)).iter().any(|part| self.names.hold(part)) { said } else { 0.0 }
    }

    /// Where the question first speaks of a phrase that it mentions.
    pub(super) fn place(&self, phrase: &str) -> usize {
        let parts = words(&folded(phrase));
        let first = parts.first().map_or("", String::as_str);
        let at = self.words.iter().position(|word| same(word, first));
        self.lower.find(first).or(at.and_then(|at| self.lower.find(self.words.get(at)?.as_str()))).unwrap_or(usize::MAX)
    }

    fn says(&self, part: &str) -> bool {
        if part.chars().any(is_han) { self.lower.contains(part) } else { self.holds(part) }
    }

    /// Whether a folded word is one of its words, in whatever form.
    pub(super) fn holds(&self, word: &str) -> bool {
        self.forms.hold(word)
    }

    /// Its words, folded.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether the question and a phrase speak of the same kind of quantity, in whatever language.
    pub(super) fn shares_kind(&self, phrase: &str) -> bool {
        let phrase = folded(phrase);
        let phrase_words = words(&phrase);
        KINDS.iter().any(|kind| named(kind, &self.lower, &self.words) && named(kind, &phrase, &phrase_words))
    }
}

/// Whether a column holds numbers of things.
pub(super) fn is_quantity(name: &str) -> bool {
    let name = folded(name);
    named(
        "qty quantity count units number pieces stock amount количеств штук остат кол 数量 件数 个数 人数 库存",
        &name,
        &words(&name),
    )
}

/// Whether sums of a column say something.
pub(super) fn is_additive(name: &str) -> bool {
    let folded = folded(name);
    is_quantity(name)
        || named(
            "revenue sales sold turnover income spent spend expense cost amount profit visitor guest headcount выручк \
             продаж доход оборот сумм трат расход прибыл посетител гост 销售 收入 营收 营业额 金额 花费 支出 费用 利润 游客 访客",
            &folded,
            &words(&folded),
        )
}

fn named(kind: &str, lower: &str, words: &[String]) -> bool {
    kind.split_whitespace().any(|stem| {
        if stem.chars().any(is_han) { lower.contains(stem) } else { words.iter().any(|word| word.starts_with(stem)) }
    })
}

/// Kinds of quantities: the beginnings of the words for each, in three languages.
const KINDS: [&str; 12] = [
    "revenue sales sold turnover income выручк продаж доход оборот 销售 收入 营收 营业额",
    "price cost expensive cheap pric цен стои стоят стоимост дорог дорож дешев 价格 价钱 价 贵 便宜 多少钱",
    "score grade mark point балл оценк 成绩 分数 得分 多少分",
    "quantity qty unit amount piece stock count количеств штук остат 数量 件数 个数 库存 存货",
    "amount spent spend expense sum сумм трат расход 金额 花费 支出 费用",
    "age old young возраст старш младш лет 年龄 岁",
    "population populous people inhabitant населени жител 人口",
    "people headcount persons человек 人数 多少人 几个人 几人",
    "salary wage pay paid earn зарплат оклад зараб 工资 薪",
    "profit прибыл 利润 盈利",
    "temp cold warm hot температур холодн тепл 气温 温度 冷 热",
    "visitor guest посетител гост 游客 访客",
];

/// The kinds of quantities that a folded text speaks of, by their places.
pub(super) fn kinds_of(text: &str) -> std::vec::IntoIter<usize> {
    let words = words(text);
    let named: Vec<usize> =
        (0..KINDS.len()).filter(|at| named(KINDS.get(*at).copied().unwrap_or_default(), text, &words)).collect();
    named.into_iter()
}

/// Whether a column holds prices of single things.
pub(super) fn is_price(name: &str) -> bool {
    kinds_of(&folded(name)).any(|kind| kind == 1)
}

/// Words of the kinds, each with the place of its kind.
pub(super) fn kind_words() -> impl Iterator<Item = (&'static str, usize)> {
    let mut found: Vec<(&str, usize)> =
        KINDS.iter().zip(0..).flat_map(|(kind, at)| kind.split_whitespace().map(move |word| (word, at))).collect();
    found.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    found.into_iter()
}

/// A folded word without the endings of its forms, as far as they are told without a dictionary.
pub(super) fn bare(word: &str) -> &str {
    let count = word.chars().count();
    if word.is_ascii() {
        let endings: &[&str] = &["ies", "ing", "ed", "es", "s", "e", "y"];
        let cut = endings.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() > 2));
        return if word.starts_with(|c: char| c.is_ascii_digit()) { word } else { cut.unwrap_or(word) };
    }
    if !word.chars().all(is_cyrillic) {
        return word;
    }
    let keep = match count {
        0..=3 => count,
        4..=5 => count - 1,
        6..=7 => count - 2,
        _ => count - 3,
    };
    word.char_indices().nth(keep).and_then(|(end, _)| word.get(..end)).unwrap_or(word)
}

/// Small letters, `ё` as `е`, full-width forms as plain ones.
pub(super) fn folded(text: &str) -> String {
    let plain = |c: char| match narrow(c) {
        'ё' | 'Ё' => 'е',
        c => c,
    };
    text.chars().map(plain).flat_map(char::to_lowercase).collect()
}

/// Runs of letters and digits; Chinese apart from others.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for c in text.chars() {
        let kind = if is_han(c) { Some(true) } else { c.is_alphanumeric().then_some(false) };
        match (kind, words.last_mut()) {
            (Some(_), Some(word)) if before == kind => word.push(c),
            (Some(_), _) => words.push(c.to_string()),
            (None, _) => {}
        }
        before = kind;
    }
    words
}

/// Whether two words are forms of one.
fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    if one.chars().all(is_cyrillic) && other.chars().all(is_cyrillic) {
        let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        let longest = one.chars().count().max(other.chars().count());
        let least = if longest <= 5 { longest.saturating_sub(2) } else { longest.saturating_sub(3) };
        return common >= 3 && common >= least;
    }
    one.is_ascii() && other.is_ascii() && stem(one) == stem(other)
}

/// An English word without the ending of plurals.
fn stem(word: &str) -> String {
    if word.len() < 4 || word.ends_with("ss") || word.starts_with(|c: char| c.is_ascii_digit()) {
        return word.to_owned();
    }
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => match word.strip_suffix("es") {
            Some(stem) if stem.ends_with(['s', 'x', 'z', 'h', 'o']) => stem.to_owned(),
            Some(_) | None => word.strip_suffix('s').unwrap_or(word).to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one() {
        for (one, other, expected) in [
            ("city", "cities", true),
            ("box", "boxes", true),
            ("price", "prices", true),
            ("company", "compare", false),
            ("выручка", "выручку", true),
            ("сентябрь", "сентябре", true),
            ("петрова", "петровой", true),
            ("кот", "который", false),
            ("груша", "груш", true),
            ("2019", "2018", false),
        ] {
            assert_eq!(same(one, other), expected, "{one} {other}");
        }
        let question = Question::new("Какая выручка у Иванова, А не B？张三的数学");
        for (phrase, expected) in [
            ("Выручка", 1.0),
            ("Иванов", 1.0),
            ("а", 0.0),
            ("B", 1.0),
            ("张三", 1.0),
            ("语文", 0.0),
            ("выручка (тыс)", 0.5),
        ] {
            assert_eq!(question.mentions(phrase), expected, "{phrase}");
        }
        assert!(question.place("Иванов") < question.place("张三"));
        assert!(Question::new("哪个最贵").shares_kind("Price, USD") && !Question::new("how tall").shares_kind("price"));
    }
}
