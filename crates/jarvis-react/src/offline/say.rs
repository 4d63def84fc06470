//! What the offline agent says, in the language of the question.

use Language::{Chinese, English, Russian};
use jarvis_plan::Language;

/// Words in a language.
#[derive(Debug, Clone, Copy)]
pub(super) struct Say(pub(super) Language);

/// How a number was worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Sum,
    Mean,
    Median,
    Most,
    Least,
    Difference,
}

impl Figure {
    /// The name of the function of `calculator`.
    pub(super) fn function(self) -> &'static str {
        match self {
            Figure::Sum => "sum",
            Figure::Mean => "mean",
            Figure::Median => "median",
            Figure::Most => "max",
            Figure::Least => "min",
            Figure::Difference => "abs",
        }
    }
}

impl Say {
    fn pick(self, english: String, russian: String, chinese: String) -> String {
        match self.0 {
            English => english,
            Russian => russian,
            Chinese => chinese,
        }
    }

    fn one(self, english: &str, russian: &str, chinese: &str) -> String {
        match self.0 {
            English => english,
            Russian => russian,
            Chinese => chinese,
        }
        .to_owned()
    }

    fn figure(self, figure: Figure) -> &'static str {
        let (english, russian, chinese) = match figure {
            Figure::Sum => ("sum", "сумма", "总和"),
            Figure::Mean => ("average", "среднее", "平均值"),
            Figure::Median => ("median", "медиана", "中位数"),
            Figure::Most => ("maximum", "максимум", "最大值"),
            Figure::Least => ("minimum", "минимум", "最小值"),
            Figure::Difference => ("difference", "разница", "差"),
        };
        match self.0 {
            English => english,
            Russian => russian,
            Chinese => chinese,
        }
    }

    /// `sum, Revenue`: the name of a figure of a column.
    pub(super) fn figure_of(self, figure: Figure, of: &str) -> String {
        if of.is_empty() { self.figure(figure).to_owned() } else { format!("{}, {of}", self.figure(figure)) }
    }

    pub(super) fn known(self) -> String {
        self.one("I know what can be said.", "Я знаю, что ответить.", "我已知道能回答什么。")
    }

    pub(super) fn empty(self) -> String {
        self.one("The document is empty.", "Документ пуст.", "文件是空的。")
    }

    pub(super) fn nothing_to_draw(self) -> String {
        self.one(
            "I cannot draw a chart: the document holds no table, list or pairs of labels and numbers that fit the question.",
            "Построить график нельзя: в документе нет подходящей таблицы, списка или пар «название — число».",
            "无法画图：文件中没有与问题相符的表格、列表或“名称—数值”数据。",
        )
    }

    pub(super) fn not_found(self) -> String {
        self.one(
            "I could not find an answer to this in the document. Without a language model I only count, calculate, draw and \
             quote what it holds.",
            "Ответа на этот вопрос в документе нет, насколько можно найти без языковой модели: она не подключена, и я \
             только считаю, рисую и цитирую.",
            "文件中没有找到这个问题的答案。现在没有语言模型，只能计数、计算、画图和引用原文。",
        )
    }

    pub(super) fn failed(self, why: &str) -> String {
        self.pick(format!("That could not be done: {why}"), format!("Не удалось: {why}"), format!("未能完成：{why}"))
    }

    pub(super) fn units_differ(self) -> String {
        self.one(
            "The values are in different units, so they cannot be put together.",
            "Значения даны в разных единицах, поэтому их нельзя объединить.",
            "这些数值的单位不同，不能合并计算。",
        )
    }

    // Thoughts.

    pub(super) fn will_count(self) -> String {
        self.one("The items must be counted.", "Нужно посчитать.", "需要逐项计数。")
    }

    pub(super) fn will_calculate(self, figure: Figure, of: &str) -> String {
        let name = self.figure(figure);
        let of = self.of(of);
        self.pick(
            format!("The document holds the values{of}; their {name} must be calculated."),
            format!("В документе есть значения{of}; нужно вычислить: {name}."),
            format!("文件中有{of}数值，需要计算{name}。"),
        )
    }

    pub(super) fn will_plot(self) -> String {
        self.one(
            "The values are known; they can be drawn.",
            "Значения известны; можно рисовать.",
            "数值已知，可以画图。",
        )
    }

    pub(super) fn will_search(self) -> String {
        self.one(
            "A passage of the document may answer this.",
            "Ответ может быть в тексте; нужно найти место.",
            "答案可能在原文中，先检索。",
        )
    }

    // Answers.

    /// ` of Revenue`, or nothing.
    fn of(self, name: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        self.pick(format!(" of “{name}”"), format!(" «{name}»"), format!("“{name}”的"))
    }

    /// A number that was worked out of so many values.
    pub(super) fn number(self, figure: Figure, of: &str, result: &str, count: usize) -> String {
        let (name, of) = (self.figure(figure), self.of(of));
        let values = if count == 1 { "value" } else { "values" };
        self.pick(
            format!("The {name}{of} is {result} ({count} {values})."),
            format!("{}{of}: {result} (значений: {count}).", capital(name)),
            format!("{of}{name}是 {result}（共 {count} 个数值）。"),
        )
    }

    /// That rows were left out of a number, behind an answer.
    pub(super) fn left_out(self, count: usize) -> String {
        match count {
            0 => String::new(),
            1 => self.one(
                " 1 row without a value was left out.",
                " Одна строка без значения не учтена.",
                "另有 1 行没有数值，未计入。",
            ),
            more => self.pick(
                format!(" {more} rows without a value were left out."),
                format!(" Строк без значения не учтено: {more}."),
                format!("另有 {more} 行没有数值，未计入。"),
            ),
        }
    }

    /// The figure of each group: a heading, and the pairs behind it.
    pub(super) fn of_each(self, figure: Figure, of: &str, by: &str, pairs: &str) -> String {
        let (name, of) = (self.figure(figure), self.of(of));
        self.pick(
            format!("The {name}{of} for each “{by}”: {pairs}"),
            format!("{}{of} по «{by}»: {pairs}", capital(name)),
            format!("按“{by}”计算的{of}{name}：{pairs}"),
        )
    }

    /// The group with the greatest or least figure.
    pub(super) fn best_group(
        self,
        most: bool,
        figure: Figure,
        (of, by): (&str, &str),
        labels: &[&str],
        result: &str,
    ) -> String {
        let labels = self.list(labels.iter().map(|label| (*label).to_owned()));
        let (name, of) = (self.figure(figure), self.of(of));
        self.pick(
            format!("{labels}: {result}, the {} {name}{of} for each “{by}”.", if most { "highest" } else { "lowest" }),
            format!(
                "{labels}: {result} — {} из значений «{name}»{of} по «{by}».",
                if most { "больше всего" } else { "меньше всего" }
            ),
            format!("{labels}：{result}，按“{by}”计算的{of}{name}中{}。", if most { "最大" } else { "最小" }),
        )
    }

    /// What stands at a place in the order of the values.
    pub(super) fn ranked(self, rank: usize, most: bool, of: &str, pairs: &[(String, String)]) -> String {
        let (pairs, of) = (self.pairs(pairs), self.of(of));
        let pairs = pairs.trim_end_matches(['.', '。']);
        self.pick(
            format!("{pairs} — number {rank} from the {} value{of}.", if most { "highest" } else { "lowest" }),
            format!(
                "{pairs} — место {rank}, считая от {} значения{of}.",
                if most { "наибольшего" } else { "наименьшего" }
            ),
            format!("{pairs}，{of}数值从{}排第 {rank}。", if most { "大到小" } else { "小到大" }),
        )
    }

    /// That something is beyond the agent, with the rows that it is about.
    pub(super) fn beyond(self, rows: &str) -> String {
        let plain = self.one(
            "This cannot be worked out without a language model.",
            "Без языковой модели это вычислить нельзя.",
            "没有语言模型，无法计算这个问题。",
        );
        if rows.is_empty() {
            return plain;
        }
        self.pick(
            format!("{plain} The document has: {rows}"),
            format!("{plain} В документе есть: {rows}"),
            format!("{plain}文件中有：{rows}"),
        )
    }

    /// That the document has nothing of a name or a year.
    pub(super) fn no_such(self, name: &str) -> String {
        self.pick(
            format!("I found nothing about “{name}” in the document."),
            format!("В документе ничего нет о «{name}»."),
            format!("文件中没有关于“{name}”的内容。"),
        )
    }

    /// That a word of the question is nowhere in the document, and thus nothing is worked out.
    pub(super) fn unheard(self, word: &str) -> String {
        self.pick(
            format!("I cannot find “{word}” in the document, so I work nothing out."),
            format!("В документе не нашлось «{word}», поэтому я ничего не вычисляю."),
            format!("文件中没有找到“{word}”，因此不作计算。"),
        )
    }

    /// That a word of the question is nowhere in the document, behind a count of all.
    pub(super) fn absent(self, word: &str) -> String {
        self.pick(
            format!(" I cannot find “{word}” in the document."),
            format!(" В документе не нашлось «{word}»."),
            format!("文件中没有找到“{word}”。"),
        )
    }

    /// That a chart takes no account of a word that is nowhere in the document, behind an answer.
    pub(super) fn not_regarded(self, word: &str) -> String {
        self.pick(
            format!(" I cannot find “{word}” in the document; the chart takes no account of it."),
            format!(" В документе не нашлось «{word}»; на графике это не учтено."),
            format!("文件中没有找到“{word}”，图中未作考虑。"),
        )
    }

    /// That no row fits all that is asked.
    pub(super) fn no_row(self) -> String {
        self.one(
            "No row of the document fits all of the question's conditions.",
            "Ни одна строка документа не отвечает всем условиям вопроса.",
            "文件中没有一行符合问题的全部条件。",
        )
    }

    /// The greatest or least value with the labels that have it.
    pub(super) fn extreme(self, most: bool, of: &str, labels: &[&str], result: &str) -> String {
        let labels = self.list(labels.iter().map(|label| (*label).to_owned()));
        let column = if of.is_empty() { String::new() } else { self.of(of) };
        self.pick(
            format!("{labels}: {result}, the {} value{column}.", if most { "highest" } else { "lowest" }),
            format!("{labels}: {result} — {} значение{column}.", if most { "наибольшее" } else { "наименьшее" }),
            format!("{labels}：{result}，是{column}{}。", if most { "最大值" } else { "最小值" }),
        )
    }

    pub(super) fn difference(self, of: &str, one: (&str, &str), other: (&str, &str), result: &str) -> String {
        let column = self.of(of).replacen(" of ", " in ", 1);
        let ((a, x), (b, y)) = (one, other);
        self.pick(
            format!("The difference{column} between {a} ({x}) and {b} ({y}) is {result}."),
            format!("Разница{column} между {a} ({x}) и {b} ({y}): {result}."),
            format!("{a}（{x}）与{b}（{y}）{column}相差 {result}。"),
        )
    }

    /// Pairs of labels and values: `a: 1; b: 2.`
    pub(super) fn pairs(self, pairs: &[(String, String)]) -> String {
        let shown = pairs.iter().take(SHOWN);
        let colon = if self.0 == Chinese { "：" } else { ": " };
        let gap = if self.0 == Chinese { "；" } else { "; " };
        let text: Vec<String> = shown.map(|(label, value)| format!("{label}{colon}{value}")).collect();
        let more = pairs.len().saturating_sub(SHOWN);
        let rest = match more {
            0 => String::new(),
            more => self.pick(format!("; and {more} more"), format!("; и ещё {more}"), format!("；另有 {more} 项")),
        };
        self.ended(format!("{}{rest}", text.join(gap)))
    }

    /// How many there are, with their names where they are few.
    pub(super) fn rows(self, count: usize, names: &[String]) -> String {
        let names = match names.len() {
            0 => String::new(),
            more if more > SHOWN => String::new(),
            _ if self.0 == Chinese => format!("：{}", names.join("、")),
            _ => format!(": {}", names.join(", ")),
        };
        self.ended(self.pick(
            format!("There are {count}{names}"),
            format!("Всего {count}{names}"),
            format!("共 {count} 个{names}"),
        ))
    }

    /// A sentence with a full stop at its end, unless it has one.
    fn ended(self, text: String) -> String {
        match self.0 {
            Chinese => format!("{text}。"),
            English | Russian if text.ends_with('.') => text,
            English | Russian => format!("{text}."),
        }
    }

    /// The value of a row in a column: `February, Revenue`.
    pub(super) fn cell(self, label: &str, column: &str) -> String {
        match (label.is_empty(), column.is_empty()) {
            (_, true) => label.to_owned(),
            (true, false) => column.to_owned(),
            (false, false) => {
                self.pick(format!("{label}, {column}"), format!("{label}, {column}"), format!("{label}的{column}"))
            }
        }
    }

    pub(super) fn counts(self, kinds: usize, total: usize, pairs: &[(String, String)]) -> String {
        let pairs = self.pairs(pairs);
        self.pick(
            format!("There are {kinds} kinds, {total} items in all. {pairs}"),
            format!("Видов: {kinds}, всего элементов: {total}. {pairs}"),
            format!("共有 {kinds} 种，总计 {total} 个。{pairs}"),
        )
    }

    pub(super) fn frequent(self, most: bool, labels: &[&str], count: &str) -> String {
        let labels = self.list(labels.iter().map(|label| (*label).to_owned()));
        self.pick(
            format!("The {} frequent: {labels}, {}.", if most { "most" } else { "least" }, times(count)),
            format!("{} всего: {labels}, раз: {count}.", if most { "Чаще" } else { "Реже" }),
            format!("出现最{}的是{labels}，{count} 次。", if most { "多" } else { "少" }),
        )
    }

    pub(super) fn times(self, of: &str, count: &str) -> String {
        self.pick(
            format!("“{of}” occurs {} in the document.", times(count)),
            format!("«{of}» встречается в документе {count} раз(а)."),
            format!("“{of}”在文件中出现了 {count} 次。"),
        )
    }

    pub(super) fn how_many(self, of: &str, count: &str) -> String {
        self.pick(format!("{of}: {count}."), format!("{of}: {count}."), format!("{of}：{count}。"))
    }

    pub(super) fn drawn(self) -> String {
        self.one("The chart shows it.", "Это показано на графике.", "图中已展示。")
    }

    pub(super) fn not_drawn(self, why: &str) -> String {
        self.pick(
            format!("The chart could not be drawn: {why}"),
            format!("График построить не удалось: {why}"),
            format!("图未能画出：{why}"),
        )
    }

    /// An answer with the passage that it stands in.
    pub(super) fn quoted(self, answer: &str, sentence: &str) -> String {
        if answer == sentence {
            return self.passage(sentence);
        }
        self.pick(
            format!("{answer}. The document says: “{sentence}”"),
            format!("{answer}. В документе: «{sentence}»"),
            format!("{answer}。原文：“{sentence}”"),
        )
    }

    pub(super) fn passage(self, sentence: &str) -> String {
        self.pick(
            format!("The document says: “{sentence}”"),
            format!("В документе: «{sentence}»"),
            format!("原文：“{sentence}”"),
        )
    }

    pub(super) fn nearest(self, sentence: &str) -> String {
        self.pick(
            format!("The document does not say this plainly. The nearest passage: “{sentence}”"),
            format!("Прямого ответа в документе нет. Ближайшее место: «{sentence}»"),
            format!("文件中没有直接的答案。最接近的原文：“{sentence}”"),
        )
    }

    pub(super) fn title_of_counts(self) -> String {
        self.one("Count of each kind", "Количество по видам", "各种类的数量")
    }

    pub(super) fn count_label(self) -> String {
        self.one("count", "количество", "数量")
    }

    /// The title of a chart of a column by another; empty where nothing is known.
    pub(super) fn title(self, value: &str, label: &str) -> String {
        match (value.is_empty(), label.is_empty()) {
            (true, _) => String::new(),
            (false, true) => value.to_owned(),
            (false, false) => {
                self.pick(format!("{value} by {label}"), format!("{value}: {label}"), format!("各{label}的{value}"))
            }
        }
    }

    /// A number that is not exact.
    pub(super) fn about(self, number: &str) -> String {
        self.pick(format!("about {number}"), format!("около {number}"), format!("约 {number}"))
    }

    fn list(self, items: impl Iterator<Item = String>) -> String {
        let items: Vec<String> = items.take(SHOWN).collect();
        items.join(if self.0 == Chinese { "、" } else { ", " })
    }
}

/// The most things that are named in an answer.
const SHOWN: usize = 12;

/// `1 time`, `2 times`.
fn times(count: &str) -> String {
    format!("{count} {}", if count == "1" { "time" } else { "times" })
}

/// A number as it is told: no more than six decimals, and whether some were cut off.
pub(super) fn rounded(number: &str) -> (String, bool) {
    let Some((_, decimals)) = number.split_once('.').filter(|_| !number.contains(['e', 'E'])) else {
        return (number.to_owned(), false);
    };
    // Small numbers keep their first digits.
    let zeros = if number.trim_start_matches('-').starts_with("0.") {
        decimals.bytes().take_while(|digit| *digit == b'0').count()
    } else {
        0
    };
    let places = if zeros > 3 { zeros + 4 } else { 6 };
    match number.parse::<f64>() {
        Ok(size) if decimals.len() > places => {
            let places = if zeros > 3 { places } else { 4 };
            (format!("{size:.places$}").trim_end_matches('0').trim_end_matches('.').to_owned(), true)
        }
        Ok(_) | Err(_) => (number.to_owned(), false),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
