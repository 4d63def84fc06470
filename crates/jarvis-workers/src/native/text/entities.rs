//! Names, dates and figures by rules: patterns for what has a form, capitals and word lists for names in English and
//! Russian, surnames and endings in Chinese. Scores say how sure a rule is, not a probability.

mod names;
mod patterns;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::language::language;

/// What an entity is; `as_str` gives the usual label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Group {
    Person,
    Organisation,
    Location,
    /// A name of another kind, or of a kind that the rules cannot tell.
    Other,
    Date,
    Time,
    Money,
    Percent,
    Number,
    Email,
    Url,
    Phone,
}

impl Group {
    pub(super) const ALL: [Group; 12] = [
        Group::Person,
        Group::Organisation,
        Group::Location,
        Group::Other,
        Group::Date,
        Group::Time,
        Group::Money,
        Group::Percent,
        Group::Number,
        Group::Email,
        Group::Url,
        Group::Phone,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Group::Person => "PER",
            Group::Organisation => "ORG",
            Group::Location => "LOC",
            Group::Other => "MISC",
            Group::Date => "DATE",
            Group::Time => "TIME",
            Group::Money => "MONEY",
            Group::Percent => "PERCENT",
            Group::Number => "NUMBER",
            Group::Email => "EMAIL",
            Group::Url => "URL",
            Group::Phone => "PHONE",
        }
    }

    /// The group in words: English, Russian, Chinese.
    fn words(self) -> [&'static str; 3] {
        match self {
            Group::Person => ["people", "люди", "人物"],
            Group::Organisation => ["organisations", "организации", "机构"],
            Group::Location => ["places", "места", "地点"],
            Group::Other => ["other names", "другие названия", "其他名称"],
            Group::Date => ["dates", "даты", "日期"],
            Group::Time => ["times", "время", "时间"],
            Group::Money => ["amounts of money", "суммы", "金额"],
            Group::Percent => ["percentages", "проценты", "百分比"],
            Group::Number => ["numbers", "числа", "数字"],
            Group::Email => ["e-mail addresses", "электронная почта", "电子邮箱"],
            Group::Url => ["web addresses", "адреса в сети", "网址"],
            Group::Phone => ["phone numbers", "телефоны", "电话"],
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entity {
    pub(super) group: Group,
    /// Where it stands, in bytes.
    pub(super) range: Range<usize>,
    /// From 0 to 1.
    pub(super) score: f64,
}

impl Entity {
    /// The entity as written in the text it was found in.
    pub(super) fn word<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.range.clone()).expect("an entity lies in the text it was found in")
    }
}

pub(super) fn find(text: &str) -> Vec<Entity> {
    let mut page = Page { text, taken: vec![false; text.len()], found: Vec::new() };
    patterns::find(&mut page);
    names::chinese(&mut page);
    names::capitalised(&mut page, language(text));
    let mut found = page.found;
    found.sort_by_key(|entity| entity.range.start);
    found
}

/// The text, and which of its bytes belong to an entity already.
struct Page<'a> {
    text: &'a str,
    taken: Vec<bool>,
    found: Vec<Entity>,
}

impl Page<'_> {
    fn add(&mut self, group: Group, range: Range<usize>, score: f64) {
        let Some(place) = self.taken.get_mut(range.clone()).filter(|place| !place.is_empty()) else { return };
        if place.contains(&true) {
            return;
        }
        place.fill(true);
        self.found.push(Entity { group, range, score });
    }

    fn is_taken(&self, at: usize) -> bool {
        self.taken.get(at).copied().unwrap_or(true)
    }
}

/// The entities of these groups in words, in the text's language: `people: …; dates: …`, each name once.
pub(super) fn describe(text: &str, found: &[Entity], wanted: &[Group]) -> String {
    let language = match language(text) {
        "ru" | "uk" => 1,
        "zh" => 2,
        _ => 0,
    };
    let mut parts: Vec<String> = Vec::new();
    for group in Group::ALL.into_iter().filter(|group| wanted.contains(group)) {
        let mut words: Vec<&str> = Vec::new();
        for entity in found.iter().filter(|entity| entity.group == group) {
            let word = entity.word(text);
            // "Keller" is the Maria Keller before.
            let is_part = group == Group::Person
                && words.iter().any(|known| known.split(' ').any(|part| part == word) && known.contains(' '));
            // A long list helps nobody who reads; all are in the data.
            if words.len() < 50 && !words.contains(&word) && !is_part {
                words.push(word);
            }
        }
        if let (false, Some(name)) = (words.is_empty(), group.words().get(language)) {
            parts.push(format!("{name}: {}", words.join(", ")));
        }
    }
    if parts.is_empty() {
        let pick = |words: [&'static str; 3]| *words.get(language).expect("there is a text for each language");
        if wanted.len() == Group::ALL.len() {
            return pick(["no names, dates or numbers", "нет имён, дат и чисел", "没有人名、日期或数字"]).to_owned();
        }
        let named: Vec<&str> = wanted.iter().map(|group| pick(group.words())).collect();
        return format!("{}{}", pick(["found none: ", "не найдено: ", "没有找到："]), named.join(", "));
    }
    parts.join("; ")
}
