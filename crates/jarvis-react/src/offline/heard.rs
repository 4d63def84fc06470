//! Whether all that a question says is heard where numbers are worked out: a word that is neither an operation, nor in the
//! document, nor one that says little, may turn the answer into one to another question.

use std::collections::HashSet;
use std::ops::Range;

use jarvis_plan::{is_cyrillic, is_han};

use super::data::{Table, is_missing, is_year};
use super::matching::{Question, bare, folded, kind_words, kinds_of, words};
use super::tables::Chosen;
use super::wish::Op;
use super::{Step, conditions, wish};

/// The most of the chosen rows whose cells are looked for in a Chinese question.
const ROWS: usize = 64;

/// The most words of a question that are looked for in the document.
const WORDS: usize = 64;

/// Words that change nothing of what is asked: those that ask, those that join, and common words for rows and for being.
const ENGLISH: &str = "an the of in on at for to from by with and or is are was were be been being do does did done has have had can \
could will would shall should may might what which who whom whose when where why how much many there here this that these \
those it its he she they them their his her me my we us our you your please tell give show find say said name call called \
make made calculate compute work out only just any all each every both some as so up into file document table text data csv \
json row line column entry entries record list item product goods thing article people person employee staff worker \
member customer number figure values amounts money live come came go went get got contain exist occur order ordered stand \
total month year week day between across whole bar pie axis colour color nice entire company than then not no";
/// The same in Russian; the longer ones as beginnings of words.
const RUSSIAN: &str = "какой какая какое какие каков какого каком какую каких каким какими чей чья чье чьи было были была между а без \
бы быть в вам во вот все всё всег всех вы где да для до его ее если есть же за и из или им их к как кем ко когда кто кого кому \
ли мне мой мы на над нам нас него нее ней нет них но о об он она они оно от по под после при про с сам со так там то тот ту ты \
у уже чего чем что эт я пожалуйста скаж назов перечисл покаж дай найд посчитай вычисл подсчитай выведи работ живет живут жив \
имеет имею указан приведен содерж товар продукт позици предмет человек людей люди сотрудник работник список списк таблиц файл \
документ текст запис строк значени числ данн недел месяц год день дня дней штук получ наход денег компани столбчат круговую дни дням дней нарисуй";
/// The same in Chinese, longer ones first.
const CHINESE: &str = "请告诉我 告诉我 文件中 文件里 表格中 表格里 多少钱 多少人 多少分 几个人 什么时候 高多少 低多少 多多少 少多少 \
贵多少 大多少 小多少 长多少 重多少 便宜多少 请问 文件 文档 表格 表中 表里 数据 列表 所有 全部 一共 总共 多少 什么 哪个 哪些 哪位 \
哪种 哪里 怎么 几个 几种 几名 员工 同学 学生 商品 产品 东西 水果 项目 展示 显示 表示 列出 计算 算出 城市 部门 公司 每个 各个 分别 这份 \
柱状 折线 散点 条形 曲线 图表 这张 其中 里面 的 了 是 有 在 和 与 跟 及 或 吗 呢 吧 啊 请 给 我 你 他 她 它 们 这 那 谁 哪 几 个 名 位 项 种 条 次 本 只 件 天 人 共 各 \
每 都 中 里 上 下 把 成 来 用 出 图 画 比 多 少 最 总 为 于 从 到 之 间 叫 柱 饼 部 市 省 县 区 班 组 店 岁 分 钱 元 值 数 量 该";
/// Spans of time, and words before them that make them parts of a unit.
const TIMES: [&str; 12] =
    ["hour", "day", "week", "month", "year", "час", "день", "неделю", "месяц", "год", "hours", "quarter"];
const EACH: [&str; 6] = ["per", "a", "an", "each", "every", "в"];
/// Words for units that are written as signs.
const SIGNS: [(&str, char); 7] = [
    ("dollar", '$'),
    ("euro", '€'),
    ("pound", '£'),
    ("percent", '%'),
    ("доллар", '$'),
    ("евро", '€'),
    ("процент", '%'),
];

impl Step<'_> {
    /// A word of the question that nothing in the table, the operations or the rest of the document takes up.
    pub(super) fn unheard(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> Option<String> {
        let lower = self.question.lower.as_str();
        let mut known = Known::new(lower);
        wish::spans(lower).into_iter().for_each(|span| known.mark(span));
        conditions::spans(lower).into_iter().for_each(|span| known.mark(span));
        for name in table.header.iter().map(|name| folded(name)) {
            known.mark_all(&name);
        }
        let mut numbers: HashSet<String> = table.header.iter().flat_map(|name| words(&folded(name))).collect();
        for row in chosen.rows.iter().filter(|_| chosen.named).take(ROWS) {
            for cell in chosen.by.iter().filter_map(|by| row.get(*by)).map(|cell| folded(cell.trim())) {
                known.mark_all(&cell);
                numbers.extend(words(&cell));
            }
        }
        // `The four cities` are all of them.
        let all = |number: Option<usize>| number == Some(table.rows.len()) && !chosen.named;
        // A column that is named, and of no known kind, may be of any; so may one without a name.
        let mut kinds: HashSet<usize> = table.header.iter().flat_map(|name| kinds_of(&folded(name))).collect();
        let name = table.name(chosen.column);
        let any = name.is_empty() || (self.question.mentions(name) > 0.5 && kinds_of(&folded(name)).next().is_none());
        if any {
            kinds.extend(kind_words().map(|(_, kind)| kind));
        }
        if let Some(sign) = self.foreign_sign() {
            return Some(sign.to_string());
        }
        let mut text = None;
        let mut before = "";
        let mut seen = HashSet::new();
        for (range, word) in tokens(lower) {
            // What stands behind a bound is its unit.
            let before = std::mem::replace(&mut before, word);
            let unit = self.is_bound(before);
            // A month is as good as its name, but so much a month is another number.
            let each = EACH.contains(&before) || (before == "за" && !name.is_empty());
            if TIMES.contains(&word) && each && !self.document.contains(word) {
                return Some(word.to_owned());
            }
            let han = word.starts_with(is_han);
            if unit
                || known.holds(&range)
                || (!han && (self.is_plain(word, table) || kinds_of(word).any(|kind| kinds.contains(&kind))))
            {
                continue;
            }
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                if numbers.contains(word) || self.is_bound(word) || is_year(word) || all(word.parse().ok()) {
                    continue;
                }
                return Some(word.to_owned());
            }
            // Each word is looked for once, in a document that may be long.
            if !seen.insert(word) || seen.len() > WORDS {
                continue;
            }
            let text = text.get_or_insert_with(|| folded(self.document));
            if han {
                let left = known.left(&range, &kinds);
                if let Some(left) =
                    left.into_iter().take(WORDS).find(|left| !is_told(left, lower, text) && !all(numeral(left)))
                {
                    return Some(left);
                }
            } else if !stands(text, bare(word))
                && !SIGNS.iter().any(|(name, sign)| word.starts_with(name) && text.contains(*sign))
            {
                return Some(word.to_owned());
            }
        }
        None
    }

    /// A sign of a unit in the question that the document does not use.
    fn foreign_sign(&self) -> Option<char> {
        let signs = ['$', '€', '£', '¥', '₽'];
        let asked = |sign: &char| self.question.lower.contains(*sign) && !self.document.contains(*sign);
        let other = || self.document.contains(signs);
        Some('%').filter(asked).or_else(|| signs.into_iter().find(asked).filter(|_| other()))
    }

    /// Whether a word changes nothing of what is asked.
    fn is_plain(&self, word: &str, table: &Table<'_>) -> bool {
        let mut letters = word.chars();
        let single = letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
        // The value of things is their price and their number, where there are both.
        if single || word == "value" {
            return single || table.numeric.len() == 1;
        }
        says_little(word)
    }

    fn is_bound(&self, word: &str) -> bool {
        self.wish.bound.as_ref().is_some_and(|bound| word.parse() == Ok(bound.number))
    }

    /// Whether the question speaks of several columns of amounts, or of one that says yes or no, where one number is
    /// worked out.
    pub(super) fn divided(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> bool {
        let said = |column: &usize| self.question.mentions(table.name(*column)) > 0.5;
        let flags = |column| !chosen.by.contains(&column) && is_flag(table, column);
        if matches!(self.wish.op, Op::Words | Op::Kinds | Op::Times(_) | Op::Difference) {
            return false;
        }
        if table.texts().filter(said).any(flags) {
            return true;
        }
        if self.wish.bound.is_some() {
            return false;
        }
        // Words that name a column are spent; what is left may speak of another by its kind.
        let named: Vec<usize> = table.numeric.iter().copied().filter(said).collect();
        let mut rest = self.question.lower.clone();
        for column in &named {
            for word in words(&folded(table.name(*column))) {
                rest = rest.replace(bare(&word), " ");
            }
        }
        let rest = Question::new(&rest);
        let meant = |column: &&usize| !named.contains(column) && rest.shares_kind(table.name(**column));
        let kinds: usize = table.numeric.iter().filter(meant).count();
        named.len() > 1 || (named.len() == 1 && kinds > 0 && self.wish.op != Op::Count)
    }

    /// Whether spans of time are to be counted, and not what the column that is named holds.
    pub(super) fn counts_times(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> bool {
        let words = self.question.words();
        let mut heads = words.windows(2).filter_map(|pair| match pair {
            [how, head] if how == "many" || how == "сколько" => Some(head),
            _ => None,
        });
        let time = |head: &String| {
            TIMES.iter().any(|time| bare(time) == bare(head))
                || ["дней", "недель", "месяцев", "лет", "раз"].contains(&head.as_str())
        };
        self.wish.op == Op::Count
            && self.wish.bound.is_none()
            && chosen.column_said
            && heads.any(|head| time(head) && !table.header.iter().any(|name| Question::new(name).holds(head)))
    }

    /// Whether the most of something is asked for that no column of amounts tells, such as the oldest where there are no
    /// ages.
    pub(super) fn unmeasured(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> bool {
        let headed = table.numeric.iter().any(|column| !table.name(*column).is_empty());
        let extreme = matches!(self.wish.op, Op::Extreme { .. });
        let asked = kinds_of(&self.question.lower).next().is_some();
        let told = table.header.iter().any(|name| self.question.shares_kind(name));
        headed && extreme && !chosen.column_said && asked && !told
    }
}

/// Whether a folded word, English or Russian, changes nothing of what is asked.
pub(super) fn says_little(word: &str) -> bool {
    if word.is_ascii() {
        return ENGLISH.split_whitespace().any(|known| known == word || bare(known) == bare(word));
    }
    let begins = |known: &str| known.chars().count() > 3 && word.starts_with(known);
    word.chars().all(is_cyrillic) && RUSSIAN.split_whitespace().any(|known| known == word || begins(known))
}

/// Whether a column of words says yes or no.
fn is_flag(table: &Table<'_>, column: usize) -> bool {
    let known = ["yes", "no", "y", "n", "true", "false", "да", "нет", "是", "否", "有", "无", "+", "-", "x", "1", "0"];
    let mut cells = table.rows.iter().take(200).filter_map(|row| row.get(column)).map(|cell| folded(cell.trim()));
    cells.all(|cell| known.contains(&cell.as_str()) || is_missing(&cell))
}

/// Which bytes of a question are taken up.
struct Known<'q> {
    text: &'q str,
    taken: Vec<bool>,
}

impl<'q> Known<'q> {
    fn new(text: &'q str) -> Known<'q> {
        Known { text, taken: vec![false; text.len()] }
    }

    fn mark(&mut self, range: Range<usize>) {
        if let Some(place) = self.taken.get_mut(range) {
            place.fill(true);
        }
    }

    /// Marks a phrase wherever it stands; phrases of letters by their words.
    fn mark_all(&mut self, phrase: &str) {
        if phrase.chars().any(is_han) {
            let found: Vec<Range<usize>> =
                self.text.match_indices(phrase).map(|(at, found)| at..at + found.len()).collect();
            found.into_iter().for_each(|range| self.mark(range));
        }
    }

    /// Whether a part of a word of letters, or the whole of a Chinese one, is taken up.
    fn holds(&self, range: &Range<usize>) -> bool {
        let han = self.text.get(range.clone()).is_some_and(|word| word.starts_with(is_han));
        let mut taken = self.taken.get(range.clone()).unwrap_or_default().iter();
        if han { taken.all(|taken| *taken) } else { taken.any(|taken| *taken) }
    }

    /// What is left of a run of Chinese characters.
    fn left(&mut self, range: &Range<usize>, kinds: &HashSet<usize>) -> Vec<String> {
        for piece in kind_words().filter(|piece| piece.0.starts_with(is_han)) {
            if kinds.contains(&piece.1) {
                self.mark_free(piece.0);
            }
        }
        CHINESE.split_whitespace().for_each(|piece| self.mark_free(piece));
        let run = self.text.get(range.clone()).unwrap_or_default();
        let mut left = vec![String::new()];
        for (at, c) in run.char_indices() {
            let free = !self.taken.get(range.start + at).copied().unwrap_or(true);
            match left.last_mut() {
                Some(last) if free => last.push(c),
                Some(last) if !last.is_empty() => left.push(String::new()),
                Some(_) | None => {}
            }
        }
        left.retain(|left| !left.is_empty());
        left
    }

    /// Marks a phrase wherever none of it is taken up.
    fn mark_free(&mut self, phrase: &str) {
        for (at, found) in self.text.match_indices(phrase) {
            if let Some(place) = self.taken.get_mut(at..at + found.len())
                && !place.contains(&true)
            {
                place.fill(true);
            }
        }
    }
}

/// Runs of letters and digits with their places; Chinese apart from others.
fn tokens(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut before = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let kind = if is_han(c) { Some(true) } else { c.is_alphanumeric().then_some(false) };
        match ranges.last_mut() {
            Some(last) if kind.is_some() && kind == before => last.end = end,
            _ if kind.is_some() => ranges.push(at..end),
            _ => {}
        }
        before = kind;
    }
    ranges.into_iter().filter_map(|range| Some((range.clone(), text.get(range)?))).collect()
}

/// Whether a text has what is left of a Chinese question; a single character only beside one that it stands by.
fn is_told(left: &str, question: &str, text: &str) -> bool {
    if left.chars().nth(1).is_some() {
        return text.contains(left);
    }
    let beside = |at: usize| {
        let before = question.get(..at).and_then(|before| before.chars().next_back());
        let after = question.get(at + left.len()..).and_then(|after| after.chars().next());
        let pairs = [before.map(|c| format!("{c}{left}")), after.map(|c| format!("{left}{c}"))];
        pairs.into_iter().flatten().any(|pair| text.contains(&pair))
    };
    question.match_indices(left).take(4).any(|(at, _)| beside(at))
}

/// The number that a Chinese numeral is.
fn numeral(word: &str) -> Option<usize> {
    let mut letters = word.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
    let letter = if letter == '两' { '二' } else { letter };
    "一二三四五六七八九十".chars().zip(1..).find(|(known, _)| *known == letter).map(|(_, number)| number)
}

/// Whether a word of a text begins so.
fn stands(text: &str, beginning: &str) -> bool {
    text.match_indices(beginning)
        .any(|(at, _)| !text.get(..at).and_then(|before| before.chars().next_back()).is_some_and(char::is_alphanumeric))
}
