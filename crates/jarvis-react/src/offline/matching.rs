//! Whether a question speaks of something: words compared without their endings, Chinese by containment.

use jarvis_plan::{is_cyrillic, is_han};

/// A question as it is compared.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// As it was asked, shortened.
    pub(super) raw: String,
    /// In small letters and plain forms.
    pub(super) lower: String,
    words: Vec<String>,
}

/// The most of a question that is read, in characters.
const LONGEST: usize = 2_000;

impl Question {
    pub(super) fn new(question: &str) -> Question {
        let raw: String = question.chars().take(LONGEST).collect();
        let lower = folded(&raw);
        Question { words: words(&lower), raw, lower }
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
            // Single letters are words of the language too; only capitals name something.
            let named = |word: &str| word.chars().eq([letter]) && (letter.is_uppercase() || letter.is_numeric());
            let said = self.raw.split(|c: char| !c.is_alphanumeric()).any(named);
            return if said { 1.0 } else { 0.0 };
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
        let parts = words(&folded(phrase));
        let mut rest = self.raw.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).skip(1);
        let named =
            rest.any(|word| word.starts_with(char::is_uppercase) && parts.iter().any(|part| same(part, &folded(word))));
        if named { said } else { 0.0 }
    }

    /// Where the question first speaks of a phrase that it mentions.
    pub(super) fn place(&self, phrase: &str) -> usize {
        let parts = words(&folded(phrase));
        let first = parts.first().map_or("", String::as_str);
        let at = self.words.iter().position(|word| same(word, first));
        self.lower.find(first).or(at.and_then(|at| self.lower.find(self.words.get(at)?.as_str()))).unwrap_or(usize::MAX)
    }

    fn says(&self, part: &str) -> bool {
        if part.chars().any(is_han) {
            self.lower.contains(part)
        } else {
            self.words.iter().any(|word| same(word, part))
        }
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
    "price cost expensive cheap pric цен стои стоимост дорог дешев 价 贵 便宜 多少钱",
    "score grade mark point балл оценк 成绩 分数 得分 多少分",
    "quantity qty unit amount piece stock count количеств штук остат 数量 件数 个数 库存 存货",
    "amount spent spend expense sum сумм трат расход 金额 花费 支出 费用",
    "age old young возраст старш младш лет 年龄 岁",
    "population people inhabitant населени жител 人口",
    "people headcount persons человек 人数 多少人 几个人 几人",
    "salary wage pay earn зарплат оклад зараб 工资 薪",
    "profit прибыл 利润 盈利",
    "temperature cold warm hot температур холодн тепл 气温 温度 冷 热",
    "visitor guest посетител гост 游客 访客",
];

/// Small letters, `ё` as `е`, full-width forms as plain ones.
pub(super) fn folded(text: &str) -> String {
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        'ё' | 'Ё' => 'е',
        c => c,
    };
    text.chars().map(narrow).flat_map(char::to_lowercase).collect()
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
pub(super) fn same(one: &str, other: &str) -> bool {
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
