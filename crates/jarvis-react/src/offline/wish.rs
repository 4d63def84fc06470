//! What a question asks for: a chart, a number worked out of others, a count, or words of the document.

use std::ops::Range;

use super::conditions::Conditions;
use super::matching::Question;
use super::rules::fits;

/// What is to be found out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    /// How many kinds of items there are, and which.
    Kinds,
    /// How often something occurs; what, where the question says it.
    Times(Option<String>),
    /// The most frequent item, or the least.
    Frequent { most: bool },
    /// How many of something there are.
    Count,
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The middle value.
    Median,
    /// The greatest value, or the least.
    Extreme { most: bool },
    /// How far two values are apart.
    Difference,
    /// None of these.
    Words,
}

/// A bound for values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    /// The number.
    pub(super) number: f64,
    /// Whether values above it are wanted, or below.
    pub(super) above: bool,
    /// Whether the number itself is wanted too.
    pub(super) itself: bool,
    /// The word that sets it.
    pub(super) word: String,
}

/// What a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wish {
    /// The kind of chart, as `plot` names it.
    pub(super) chart: Option<&'static str>,
    /// What is to be found out.
    pub(super) op: Op,
    /// Which values are wanted.
    pub(super) bound: Option<Bound>,
    /// Whether the bound is in a unit such as millions.
    pub(super) scaled: bool,
    /// Whether the sum of each group is wanted.
    pub(super) grouped: bool,
    /// Whether the greatest is asked for, or the least.
    pub(super) most: Option<bool>,
    /// Whether a sum is asked for.
    pub(super) sum: bool,
    /// Whether a mean is asked for.
    pub(super) mean: bool,
    /// What else is asked.
    pub(super) conditions: Conditions,
}

rule!(
    CHART,
    r"\b(chart|graph|plot|diagram|histogram|draw|visuali[sz]e|trend)|график|диаграмм|гистограмм|нарису|построй|построить|изобраз|начерти|визуализ|[柱条折线散点饼曲形状]图|图表|画图|画出|画.{0,6}图|绘制|作图|画一|画个|画张|可视化|走势"
);
rule!(
    NO_CHART,
    r"\b(no|without|don'?t|do not|not)\s+(\w+\s+)?(a |any )?(chart|graph|plot|diagram|draw)|без (график|диаграмм)|не (рису|строй|черти)|(不要|不用|不需要|无需|别)(画|绘|作|图)"
);
rule!(LINE, r"\bline\b|\btrend|over time|\bcurve|линейн|линия|линией|тренд|динамик|кривая|折线|曲线|趋势|走势|线图");
rule!(SCATTER, r"\bscatter|точечн|рассеян|散点");
rule!(TIMES, r"how (many times|often)|сколько раз|как часто|多少次|几次|出现次数");
rule!(
    TIMES_OF,
    r"how (?:many times|often) (?:does|do|did|is|are|was|were|has|have) (?:the )?(?:words? |names? |phrase |term )?(.+?) (?:appear|occur|mention|used|repeat|come|found|been|in the)|сколько раз (?:в \w+ )?(?:встречается|встретилось|упоминается|упомянут\w*|повторяется|используется) ?(?:слово |имя |фраза )?(.+?)(?: в (?:тексте|файле|документе|этом).*)?[?.]*$|(?:文[件中本档章]中?|里面?|中)?(.+?)(?:这个词|这个字|一词|一共|总共)*(?:出现|提到|提及)了?(?:多少|几)次"
);
rule!(QUOTED, r#"["“«「『'‘]([^"”»」』'’]{1,60})["”»」』'’]"#);
rule!(
    KINDS,
    r"how many (different|distinct|unique|kinds?|types?|sorts?|varieties)|number of (different|distinct|unique|kinds|types)|\bwhat (kinds?|types?|sorts?)|which (kinds?|types?|sorts?)|\bwhat \w+ (are|occur|appear) (there|in|listed)|\bwhich \w+ (are|occur) (there|listed)|сколько (видов|разных|различных|типов|сортов|уникальных|наименований)|как(ие|их) (виды|типы|сорта)|(几|多少|哪些|哪几)(种|类)|种类|有哪些"
);
rule!(
    FREQUENT,
    r"most (frequent|common|often|popular)|(appears?|occurs?) (the )?most|чаще (всего|всех|других)|сам(ый|ая|ое|ые) част|наиболее част|出现(次数)?最多|最常|频率最高|次数最多"
);
rule!(
    RARE,
    r"least (frequent|common|often|popular)|rarest|(appears?|occurs?) (the )?least|реже (всего|всех|других)|сам(ый|ая|ое|ые) редк|наименее част|出现(次数)?最少|最不常|次数最少"
);
rule!(MEAN, r"\b(average|mean|avg)\b|средн|平均|均值|均价");
rule!(MEDIAN, r"\bmedian|медиан|中位");
rule!(
    DIFFERENCE,
    r"\bdifference|how (much|many) (more|less|fewer|higher|lower|cheaper|older|bigger|larger|greater)|разниц|на сколько|насколько|相差|差(多少|距|值|额|几)|比.+(多|高|低|少|贵|便宜|大|小|重|长)(了)?(多少|几)"
);
rule!(
    LEAST,
    r"\b(min|minimum|lowest|smallest|least|worst|fewest|shortest|lightest|youngest|cheapest|coldest|slowest|weakest)\b|\bминим|наименьш|худш|меньше (всего|всех)|дешевле (всего|всех)|ниже (всего|всех)|сам(ый|ая|ое|ые|ой|ую|ого|ым|ом)\s+(дешев|дешёв|низк|маленьк|мал|плох|коротк|молод|холодн|слаб|легк|лёгк)|最(低|小|少|便宜|差|短|轻|冷|弱|慢|年轻)|倒数第一"
);
rule!(
    MOST,
    r"\b(max|maximum|highest|largest|biggest|greatest|best|top|most|longest|tallest|heaviest|oldest|warmest|hottest|fastest|peak|priciest)\b|\bмакс|наибольш|лучш|(больше|дороже|выше) (всего|всех)|сам(ый|ая|ое|ые|ой|ую|ого|ым|ом)\s|最(高|大|多|贵|好|长|重|热|强|快|老)|冠军|第一名|排名第一"
);
rule!(
    SUM,
    r"\b(total|sum|altogether|together|combined|overall|in all)\b|\badd (up|all)|сумм|итого|всего|общ(ая|ий|ее|ую|ей|ие|его)|вместе|总(和|计|共|额|量|收入|销售|数|分|价|成本|支出|利润|库存|人口)|合计|一共|共计|加起来|之和|求和|总的"
);
rule!(
    COUNT,
    r"\bhow (many|much)\b|\bnumber of\b|\bcount\b|сколько|количеств|число|多少|几[个名位人本次条只件天]|哪些|数量"
);
rule!(
    LOW,
    r"\b(low|small|cheap|bottom|worst|few|short|young|light)|низк|мал|дешев|худш|снизу|с конца|第.(低|小|少|便宜|短|轻)|后[二两三四五十\d]"
);
rule!(
    GREAT,
    r"сам(?:ый|ая|ое|ые|ой|ую|ого|ым|ом)\s+(?:больш|высок|крупн|велик|хорош)\w*|\b(?:больше|меньше|выше|ниже|дороже|дешевле|старше|младше)\b|(?:[高低多少贵大小长重短轻]|便宜)了?(?:多少|几)|(?:多少|几)[家辆台座张块只条件个名位人本次项种头匹架艘部篇页门支枝双套盒瓶袋箱岁元分天年月周届]"
);
rule!(SCALED, r"\d ?(million|billion|thousand|mln|bn|k|m|тыс|млн|млрд|万|亿|千)(\b|\.|$|[^a-z])");
rule!(
    WHICH,
    r"^\s*(?:in |on |at )?(which|what|list|who)\b|^\s*(?:в |на )?(каких|какие|кто|что|у кого|перечисли)|哪些|谁"
);
rule!(GROUPED, r"\b(by|per|for each|each|every)\b|\bпо\b|кажд|按|各|每");
rule!(
    BOUND,
    r"(above|over|more than|[a-z]+er than|more \w+ than|less \w+ than|exceed\w*|at least|below|under|less than|fewer than|lower than|at most|больше|более|выше|свыше|старше|тяжелее|длиннее|дороже|не менее|не меньше|меньше|менее|ниже|дешевле|моложе|младше|легче|короче|не более|超过|大于|高于|多于|不低于|不少于|至少|低于|小于|少于|不足|不超过|至多)\s*(?:чем\s*|than\s*|of\s*)?[$€£¥]?(-?\d[\d ,]*(?:\.\d+)?)|(-?\d[\d,]*(?:\.\d+)?)[^\d\s,，。]{0,3}(以上|以下|及以上)"
);

impl Wish {
    /// What a question asks for.
    pub(super) fn read(question: &Question) -> Wish {
        let text = question.lower.as_str();
        let drawn = fits(&CHART, text) && !fits(&NO_CHART, text);
        let chart = drawn.then(|| {
            if fits(&SCATTER, text) {
                "scatter"
            } else if fits(&LINE, text) {
                "line"
            } else {
                "bar"
            }
        });
        let bound = bound(text);
        // `at least 5` asks for no least value.
        let rest = match (&*BOUND, &bound) {
            (Some(rule), Some(_)) => rule.replace_all(text, " ").into_owned(),
            _ => text.to_owned(),
        };
        let rest = rest.as_str();
        let mut conditions = Conditions::read(&without_no_chart(rest), bound.is_some());
        conditions.unclear |= bounds_are_unclear(text);
        let ranked = conditions.rank.is_some() || conditions.top.is_some();
        let low = fits(&LOW, rest);
        let most = if fits(&LEAST, rest) || (ranked && low) {
            Some(false)
        } else {
            (fits(&MOST, rest) || ranked).then_some(true)
        };
        let op = if fits(&TIMES, rest) {
            Op::Times(of(question))
        } else if fits(&KINDS, rest) && bound.is_none() {
            Op::Kinds
        } else if fits(&FREQUENT, rest) {
            Op::Frequent { most: true }
        } else if fits(&RARE, rest) {
            Op::Frequent { most: false }
        } else if fits(&MEAN, rest) {
            Op::Mean
        } else if fits(&MEDIAN, rest) {
            Op::Median
        } else if fits(&DIFFERENCE, rest) {
            Op::Difference
        } else if let Some(most) = most {
            Op::Extreme { most }
        } else if fits(&SUM, rest) {
            Op::Sum
        } else if fits(&COUNT, rest) || ((bound.is_some() || conditions.negated) && fits(&WHICH, rest)) {
            Op::Count
        } else {
            Op::Words
        };
        let scaled = bound.is_some();
        Wish {
            chart,
            op,
            bound,
            scaled: scaled && fits(&SCALED, text),
            grouped: fits(&GROUPED, text),
            most,
            sum: fits(&SUM, rest),
            mean: fits(&MEAN, rest),
            conditions,
        }
    }
}

/// Where a question says what is to be found out, as ranges of bytes.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let rules = [
        &CHART, &NO_CHART, &LINE, &SCATTER, &KINDS, &FREQUENT, &RARE, &MEAN, &MEDIAN, &LEAST, &MOST, &SUM, &COUNT,
        &WHICH, &GROUPED, &BOUND, &GREAT,
    ];
    let mut spans: Vec<Range<usize>> = Vec::new();
    for rule in rules.into_iter().filter_map(|rule| rule.as_ref()) {
        spans.extend(rule.find_iter(text).map(|found| found.range()));
    }
    // What stands between the parts of a comparison is no part of it.
    let compared = DIFFERENCE.as_ref().into_iter().flat_map(|rule| rule.find_iter(text));
    spans.extend(compared.map(|found| found.range()).filter(|range| !text.get(range.clone()).is_some_and(is_long)));
    spans
}

fn is_long(compared: &str) -> bool {
    compared.starts_with('比')
}

/// Whether a question asks for the number of things in all.
pub(super) fn in_all(question: &Question) -> bool {
    fits(&SUM, &question.lower)
}

fn without_no_chart(text: &str) -> String {
    NO_CHART.as_ref().map_or_else(|| text.to_owned(), |rule| rule.replace_all(text, " ").into_owned())
}

/// Whether there are several bounds, or one is turned about.
fn bounds_are_unclear(text: &str) -> bool {
    let Some(rule) = BOUND.as_ref() else { return false };
    let mut found = rule.find_iter(text);
    let turned = |at: usize| text.get(..at).is_some_and(|before| before.trim_end().ends_with(" no"));
    found.next().is_some_and(|first| turned(first.start())) || found.next().is_some()
}

fn bound(text: &str) -> Option<Bound> {
    let found = BOUND.as_ref()?.captures(text)?;
    let word = found.get(1).or(found.get(4))?.as_str();
    let number = found.get(2).or(found.get(3))?.as_str().replace([' ', ','], "").parse().ok()?;
    let below = [
        "below",
        "under",
        "less",
        "fewer",
        "lower",
        "at most",
        "younger",
        "cheaper",
        "smaller",
        "shorter",
        "lighter",
        "slower",
        "colder",
        "earlier",
        "меньше",
        "менее",
        "ниже",
        "дешевле",
        "не более",
        "моложе",
        "младше",
        "легче",
        "короче",
    ];
    let below_zh = ["低于", "小于", "少于", "不足", "不超过", "至多", "以下"];
    let not_less = ["at least", "не менее", "не меньше", "不低于", "不少于", "至少", "以上", "及以上"];
    let itself = not_less.contains(&word) || ["at most", "не более", "不超过", "至多", "以下"].contains(&word);
    let above =
        not_less.contains(&word) || !(below.iter().any(|known| word.starts_with(known)) || below_zh.contains(&word));
    Some(Bound { number, above, itself, word: word.to_owned() })
}

/// What is counted: what stands in quotes, or where the question names it.
fn of(question: &Question) -> Option<String> {
    let quoted = QUOTED.as_ref()?.captures(&question.raw).and_then(|found| found.get(1));
    let named = || {
        let found = TIMES_OF.as_ref()?.captures(&question.lower)?;
        found.get(1).or(found.get(2)).or(found.get(3))
    };
    let found = quoted.or_else(named)?.as_str().trim();
    let found = found.trim_start_matches("the ").trim_matches(|c: char| !c.is_alphanumeric());
    (!found.is_empty() && found.chars().count() <= 60).then(|| found.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_understood() {
        for (question, op, chart) in [
            ("文件中一共有几种水果？请用柱状图展示每种水果的数量", Op::Kinds, Some("bar")),
            ("Show the trend of sales", Op::Words, Some("line")),
            ("How many kinds? Don't draw a chart", Op::Kinds, None),
            ("不要画图，一共多少钱？", Op::Sum, None),
            ("Нарисуй линейный график продаж", Op::Words, Some("line")),
            ("用散点图表示", Op::Words, Some("scatter")),
            ("Сколько раз встречается слово кот?", Op::Times(Some("кот".into())), None),
            ("“北京”出现了几次？", Op::Times(Some("北京".into())), None),
            ("How often does Anna appear?", Op::Times(Some("anna".into())), None),
            ("средняя цена", Op::Mean, None),
            ("Какая разница между A и B?", Op::Difference, None),
            ("самый дешёвый товар", Op::Extreme { most: false }, None),
            ("最贵的是哪个", Op::Extreme { most: true }, None),
            ("Who is the author?", Op::Words, None),
        ] {
            let wish = Wish::read(&Question::new(question));
            assert_eq!((wish.op, wish.chart), (op, chart), "{question}");
        }
        for (question, number, above, itself) in [
            ("Which are above 80?", 80.0, true, false),
            ("at least 5", 5.0, true, true),
            ("哪些超过85分", 85.0, true, false),
            ("60分以下的有几个", 60.0, false, true),
            ("у кого больше 60 000", 60_000.0, true, false),
            ("cheaper items, less than $2.50", 2.5, false, false),
        ] {
            let bound = Wish::read(&Question::new(question)).bound.unwrap();
            assert_eq!((bound.number, bound.above, bound.itself), (number, above, itself), "{question}");
        }
        let rules = [
            &CHART,
            &NO_CHART,
            &LINE,
            &SCATTER,
            &TIMES,
            &TIMES_OF,
            &QUOTED,
            &KINDS,
            &FREQUENT,
            &RARE,
            &MEAN,
            &MEDIAN,
            &DIFFERENCE,
            &LEAST,
            &MOST,
            &SUM,
            &COUNT,
            &WHICH,
            &LOW,
            &SCALED,
            &GROUPED,
            &BOUND,
            &GREAT,
        ];
        assert!(rules.iter().all(|rule| rule.is_some()));
    }
}
