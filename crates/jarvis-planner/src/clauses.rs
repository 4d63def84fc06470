//! Clauses: a request cut into the things asked for, in their order.
//!
//! Sentences end clauses. Discourse marks ("then", "затем", "然后") cut and order. Commas and "and" cut only between
//! two parts that each name an action. Quoted text, paths, addresses and text to work on are never cut.

mod borders;
mod negation;
mod payload;

use std::collections::HashSet;
use std::sync::LazyLock;

use jarvis_plan::Kind;

use borders::{Cut, Force, cuts};

use crate::lexicon::{self, Nature};
use crate::resources::{self, Pointers, Span, SpanKind};
use crate::retrieval::ToolIndex;
use crate::words::{self, Token, listed, slice};

/// How a clause follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// It is the first.
    Start,
    /// Joined by "and" or a comma.
    And,
    /// Ordered after it by a word such as "then".
    Then,
    /// A sentence of its own.
    Sentence,
}

/// One thing asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// Where it starts in the request, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
    /// How it follows the clause before.
    pub join: Join,
    /// Its words; words of spans are left out.
    pub tokens: Vec<Token>,
    /// The spans inside it.
    pub spans: Vec<Span>,
    /// What it points at.
    pub pointers: Pointers,
    /// True when it asks a question rather than gives an order.
    pub question: bool,
}

impl Clause {
    /// The quoted question that the clause asks ("answer the question 'Who is it?'").
    pub fn quoted_question(&self) -> Option<&Span> {
        let names = |token: &Token| {
            matches!(token.stem.as_str(), "question" | "answer" | "ask" | "вопрос" | "ответ" | "спрос" | "问" | "答")
        };
        let asks = |span: &&Span| {
            matches!(span.what, SpanKind::Quote | SpanKind::Payload) && span.text.trim_end().ends_with(['?', '？'])
        };
        self.tokens.iter().any(names).then(|| self.spans.iter().find(asks)).flatten()
    }

    /// True when it is a question, or hands one over.
    pub fn asks(&self) -> bool {
        self.question || self.quoted_question().is_some()
    }

    /// The clause as it stands in the request.
    pub fn text<'a>(&self, request: &'a str) -> &'a str {
        slice(request, self.start, self.end)
    }
}

/// A request as clauses, with every span in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// What is asked, in the order written.
    pub clauses: Vec<Clause>,
    /// Every span, in order.
    pub spans: Vec<Span>,
}

/// Bounds on what is read of an order, so that no request takes long. Text to work on is one span, however long.
const MOST_SPANS: usize = 200;
const MOST_WORDS: usize = 1500;
const MOST_CUTS: usize = 200;

/// Reads a request. `files` are names of attached files that the text may speak of; `index` tells which words name an
/// action.
pub fn read(request: &str, files: &[(&str, Kind)], index: &ToolIndex) -> Reading {
    let mut spans = resources::spans_with(request, files);
    spans.truncate(MOST_SPANS);
    if files.is_empty()
        && lexicon::find("summary").is_some_and(|summary| index.serves(summary))
        && let Some(article) = payload::article(request, &spans, index)
    {
        return to_summarise(article);
    }
    if let Some(payload) = payload::find(request, &spans, index) {
        spans.retain(|span| span.end <= payload.start || span.start >= payload.end);
        spans.push(payload);
        spans.sort_by_key(|span| span.start);
    }
    let tokens: Vec<Token> = words::tokens(request)
        .into_iter()
        .filter(|token| !spans.iter().any(|span| span.covers(token.start)))
        .take(MOST_WORDS)
        .collect();
    let negated = negation::find(request, &tokens, index);
    let kept = |at: usize| !negated.iter().any(|not| (not.start..not.end).contains(&at));
    let tokens: Vec<Token> = tokens.into_iter().filter(|token| kept(token.start)).collect();
    let mut cuts = cuts(request, &tokens, &spans);
    for not in &negated {
        // What is not to be done may still name what the rest is done to.
        let mut from = not.start;
        for span in spans.iter().filter(|span| span.start >= not.start && span.end <= not.end) {
            cuts.push(Cut { start: from, end: span.start, force: Force::Soft });
            from = span.end;
        }
        cuts.push(Cut { start: from, end: not.end, force: Force::Soft });
    }
    cuts.retain(|cut| cut.start < cut.end);
    cuts.sort_by_key(|cut| (cut.start, std::cmp::Reverse(cut.end)));
    let mut reached = 0;
    cuts.retain(|cut| {
        let after = cut.start >= reached;
        reached = reached.max(cut.end);
        after
    });
    cuts.truncate(MOST_CUTS);
    let mut parts: Vec<Part> = Vec::new();
    let mut from = 0;
    let mut join = Join::Start;
    for cut in cuts.iter().copied().chain([Cut { start: request.len(), end: request.len(), force: Force::Sentence }]) {
        let part = Part::new(from, cut.start, join, &tokens, &spans, index);
        if !part.is_empty() {
            parts.push(part);
            join = cut.force.join();
        } else if rank(cut.force.join()) > rank(join) {
            join = cut.force.join();
        }
        from = cut.end;
    }
    let mut merged: Vec<Part> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(before) if before.goes_on_with(&part, index) => before.extend(part, &tokens),
            Some(_) => merged.push(part),
            None => merged.push(Part { join: Join::Start, ..part }),
        }
    }
    let clauses = merged
        .into_iter()
        .map(|part| {
            let tokens = strip_order(part.tokens);
            let asked = request.get(part.end..).is_some_and(|rest| rest.trim_start().starts_with(['?', '？']));
            Clause {
                start: part.start,
                end: part.end,
                join: part.join,
                question: is_question(&tokens, asked),
                pointers: resources::pointers(&tokens),
                tokens,
                spans: part.spans,
            }
        })
        .collect();
    Reading { clauses, spans }
}

/// A text without any order is to be summed up.
fn to_summarise(article: Span) -> Reading {
    let at = article.start;
    let tokens = words::tokens("summarise").into_iter().map(|token| Token { start: at, end: at, ..token }).collect();
    let clause = Clause {
        start: at,
        end: at,
        join: Join::Start,
        tokens,
        spans: vec![article.clone()],
        pointers: Pointers::default(),
        question: false,
    };
    Reading { clauses: vec![clause], spans: vec![article] }
}

fn rank(join: Join) -> u8 {
    match join {
        Join::Start => 0,
        Join::And => 1,
        Join::Sentence => 2,
        Join::Then => 3,
    }
}

/// What stands between two borders.
struct Part {
    start: usize,
    end: usize,
    join: Join,
    tokens: Vec<Token>,
    spans: Vec<Span>,
    /// It names an action.
    acts: bool,
    /// It names one that a tool of the list is known for, not just some verb.
    meant: bool,
    /// It begins with an order in English.
    opens: bool,
}

impl Part {
    fn new(start: usize, end: usize, join: Join, tokens: &[Token], spans: &[Span], index: &ToolIndex) -> Part {
        let mut tokens: Vec<Token> = tokens.iter().filter(|t| t.start >= start && t.end <= end).cloned().collect();
        let spans: Vec<Span> = spans.iter().filter(|s| s.start >= start && s.end <= end).cloned().collect();
        let mut acts = names_action(&tokens, index);
        // "Sumarize news.txt": an order with a slip in it, told by the file it is about.
        if !acts
            && !spans.is_empty()
            && let Some((at, spelled)) = lexicon::corrected(&tokens, |concept| index.serves(concept))
            && at <= 1
        {
            tokens = spelled;
            acts = true;
        }
        let opens = |token: &Token| lexicon::is_question_word(token) || index.opens_a_name(token);
        let meant = acts && (means_tool(&tokens, index) || strip_polite(&tokens).first().is_some_and(opens));
        let opens = opens_with_order(&tokens) || opens_with_let(&tokens);
        Part { start, end, join, tokens, spans, acts, meant, opens }
    }

    fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.spans.is_empty()
    }

    /// True when `next` is no clause of its own.
    fn goes_on_with(&self, next: &Part, index: &ToolIndex) -> bool {
        match next.join {
            Join::Start | Join::Sentence => false,
            Join::Then | Join::And if self.meant && next.strays(index) && !self.creates(index) => false,
            // "I have a picture and I'd like to …": what is given, and what is wanted.
            Join::Then | Join::And if next.wishes() => false,
            Join::Then => !self.acts || !next.acts,
            Join::And => {
                // "Прочитай, что на картинке": the question is what the short order is about.
                let about = self.spans.is_empty() && self.tokens.len() <= 4 && next.question_opens();
                // "Find all people and dates": one verb with two objects.
                let one_verb =
                    !self.meant && !strip_polite(&next.tokens).first().is_some_and(|t| opens_action(t, index));
                (!self.acts && !(next.opens && self.tokens.len() > 2))
                    || !next.acts
                    || about
                    || one_verb
                    || self.leads_in()
                    || next.tells(index)
                    || self.same_edit(next, index)
            }
        }
    }

    fn extend(&mut self, next: Part, tokens: &[Token]) {
        self.end = next.end;
        // The word between the two is part of the clause after all.
        self.tokens = tokens.iter().filter(|t| t.start >= self.start && t.end <= self.end).cloned().collect();
        self.spans.extend(next.spans);
        self.acts |= next.acts;
        self.meant |= next.meant;
    }

    /// "… and fold the laundry": an order by its form, though no tool is known for it.
    fn strays(&self, index: &ToolIndex) -> bool {
        !self.acts && looks_like_stray(&self.tokens) && !begins_with_action(&self.tokens, index)
    }

    /// "… and I would like to …": somebody says what is wanted from here on.
    fn wishes(&self) -> bool {
        let lower = |at: usize| self.tokens.get(at).map_or("", |token| token.lower.as_str());
        let (first, second) = if matches!(lower(0), "then" | "so" | "finally") { (1, 2) } else { (0, 1) };
        matches!(
            (lower(first), lower(second)),
            ("i" | "we", "want" | "need" | "would" | "d" | "wish" | "hope" | "also")
                | ("i'd" | "we'd" | "i’d" | "we’d", "like" | "love")
                | ("can" | "could" | "would", "you")
                | ("please", _)
                | ("хочу" | "нужно" | "хотел" | "хотела", _)
        )
    }

    /// It makes something new, so that what follows may tell more of it.
    fn creates(&self, index: &ToolIndex) -> bool {
        lexicon::hits(&self.tokens, |concept| index.serves(concept))
            .iter()
            .any(|hit| hit.concepts.iter().filter_map(|id| lexicon::concept(*id)).any(|c| c.nature == Nature::Create))
    }

    /// "From the edges and a text, …": what the order to come is done with.
    fn leads_in(&self) -> bool {
        self.tokens.first().is_some_and(|token| {
            matches!(
                token.lower.as_str(),
                "from" | "with" | "using" | "given" | "based" | "considering" | "используя" | "根" | "基" | "用"
            )
        })
    }

    /// "… and her pose is that of the boy": it tells how something is and orders nothing.
    fn tells(&self, index: &ToolIndex) -> bool {
        let verb = |at: usize| {
            self.tokens
                .get(at)
                .is_some_and(|token| matches!(token.lower.as_str(), "is" | "are" | "was" | "were" | "should" | "looks"))
        };
        !self.question_opens()
            && lexicon::hits(&self.tokens, |concept| index.serves(concept))
                .iter()
                .any(|hit| hit.first() > 0 && verb(hit.last() + 1))
    }

    /// "grey and half the size": two changes to one thing are one change, unless the second names its own thing.
    fn same_edit(&self, next: &Part, index: &ToolIndex) -> bool {
        let edits = |tokens: &[Token]| {
            let hits = lexicon::hits(tokens, |concept| index.serves(concept));
            !hits.is_empty()
                && hits.iter().all(|hit| {
                    hit.concepts.iter().filter_map(|id| lexicon::concept(*id)).any(|c| c.nature == Nature::Edit)
                })
        };
        let nth = |tokens: &[Token]| resources::pointers(tokens).ordinal;
        let own_thing = (!self.spans.is_empty() && !next.spans.is_empty())
            || nth(&self.tokens).zip(nth(&next.tokens)).is_some_and(|(one, two)| one != two);
        !own_thing && !next.question_opens() && edits(&self.tokens) && edits(&next.tokens)
    }

    fn question_opens(&self) -> bool {
        self.tokens.first().is_some_and(lexicon::is_question_word)
    }
}

/// True for "translated" in "the translated text": it tells which thing is meant and orders nothing.
pub(crate) fn is_attribute(tokens: &[Token], at: usize) -> bool {
    let (Some(token), Some(next)) = (tokens.get(at), tokens.get(at + 1)) else { return false };
    let word = token.lower.as_str();
    let participle = (word.len() > 4 && word.ends_with("ed") && word.is_ascii())
        || ["нный", "нного", "нную", "нной", "нная", "нное", "нном", "нные", "нных"]
            .iter()
            .any(|end| word.ends_with(end));
    let preceded = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|before| {
        before.is_determiner()
            || matches!(
                before.lower.as_str(),
                "of" | "on"
                    | "from"
                    | "to"
                    | "in"
                    | "using"
                    | "with"
                    | "by"
                    | "for"
                    | "into"
                    | "some"
                    | "и"
                    | "в"
                    | "на"
                    | "по"
            )
    });
    participle
        && preceded
        && next.start == token.end + 1
        && !listed(SMALL, &next.lower)
        && !listed("to in by for into", &next.lower)
}

/// "Have it delivered", "let the car drive".
fn opens_with_let(tokens: &[Token]) -> bool {
    tokens.len() > 2 && tokens.first().is_some_and(|token| matches!(token.lower.as_str(), "have" | "let"))
}

/// True when the words name something to be done that a tool of the list might do.
pub(crate) fn names_action(tokens: &[Token], index: &ToolIndex) -> bool {
    let core = strip_polite(tokens);
    opens_with_let(tokens)
        || core.first().is_some_and(|token| opens_action(token, index) || lexicon::is_question_word(token))
        || means_tool(tokens, index)
}

/// True when the words name something that a tool of the list is known for.
fn means_tool(tokens: &[Token], index: &ToolIndex) -> bool {
    // "… and a picture of a cat" asks for a picture, weak as the words are elsewhere.
    let start = tokens.iter().position(|token| !token.is_determiner()).unwrap_or_default();
    let creates = |hit: &lexicon::Hit| {
        hit.first() == start
            && hit.concepts.iter().filter_map(|id| lexicon::concept(*id)).any(|c| c.nature == Nature::Create)
    };
    lexicon::hits(tokens, |concept| index.serves(concept)).iter().any(|hit| hit.strong || creates(hit))
        || index.names_a_tool(tokens)
}

/// True when the first word, politeness aside, is an order in English.
pub(crate) fn opens_with_order(tokens: &[Token]) -> bool {
    strip_polite(tokens).first().is_some_and(|token| VERB_STEMS.contains(&token.stem))
}

/// True when the words begin with something to be done.
pub(crate) fn begins_with_action(tokens: &[Token], index: &ToolIndex) -> bool {
    let core = strip_polite(tokens);
    let Some(first) = core.first() else { return false };
    lexicon::hits(core, |concept| index.serves(concept)).iter().any(|hit| hit.strong && hit.first() <= 2)
        || lexicon::is_question_word(first)
        || opens_action(first, index)
}

/// True for a word in front of "the", "my", "it" that is no small word: an order in English, whatever the verb.
pub(crate) fn looks_like_stray(tokens: &[Token]) -> bool {
    let [verb, object, rest @ ..] = strip_polite(tokens) else { return false };
    let word = verb.lower.len() > 2 && verb.lower.bytes().all(|byte| byte.is_ascii_lowercase());
    let article = matches!(object.lower.as_str(), "the" | "my" | "our" | "a" | "an") && !rest.is_empty();
    word && !listed(SMALL, &verb.lower)
        && !verb.lower.ends_with("ing")
        && !verb.lower.ends_with("ly")
        && !verb.lower.ends_with("ed")
        && (article || matches!(object.lower.as_str(), "it" | "them"))
}

/// Words before "the" that are no verbs.
const SMALL: &str = "and but for from with without about above across after against along among around before behind below \
    beneath beside between beyond during except inside into like near off onto out outside over past per plus since \
    than through till toward towards under underneath unlike until upon via within all both half then than also \
    only just not nor yet even such what which who whose where when while because although though if whether as is \
    are was were has have had be been does did do maybe perhaps possible instead say says said more less most twice \
    once that this these those there here any some each every";

fn opens_action(token: &Token, index: &ToolIndex) -> bool {
    VERB_STEMS.contains(&token.stem) || index.opens_a_name(token)
}

static VERB_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| VERBS.split_whitespace().map(words::stem).collect());

/// Verbs that begin an order in English whatever the tools are.
const VERBS: &str = "add analyse analyze apply book buy calculate call cancel change check classify combine compare compute \
    convert create cut delete detect download edit estimate extract fetch find generate identify list look \
    make merge open order pay play post produce record remove rename replace reserve retrieve schedule \
    search sell send share show sort split stitch submit synchronise synchronize take turn update upload \
    verify watch attend borrow consult enroll enrol register deliver drive print install uninstall organize organise \
    arrange join set summarize summarise paraphrase translate colorize colourise adjust visualize simplify \
    expand rewrite transcribe perform enhance improve see inform notify remind query inquire modify reschedule \
    log transfer withdraw withdraw invite activate turn write append publish provide give get obtain plan \
    recommend suggest evaluate examine determine discover reduce apply confirm rent hire complain exchange \
    purchase select choose compress archive stabilize regenerate recreate rebook repay deposit repair combine clean tidy instruct \
    alter decode measure assess caption label tag crop resize rotate blur sharpen brighten trim slow speed synthesize \
    render illustrate depict sketch design correct proofread fix spin shorten elaborate highlight insert store save \
    sync align separate isolate restore upscale respond reply explain clarify count rank filter review rate verify \
    validate solve predict forecast track locate navigate paint draw speak narrate describe detect segment";

/// Words before the order itself.
const POLITE: &str = "please kindly can could would will you i want need like to d i'd me for just also now help let us let's \
    then finally proceed hi hello hey jarvis пожалуйста можешь можете мне нужно надо хочу чтобы ты вы не мог могли \
    бы давай а ещё еще также 请 帮 我 你 能 可 以 想 要 给 麻 烦 tell say know скажи подскажи узнать 告 诉 问 知 道 answer \
    question ответь вопрос 回 答";

/// The words without what is said before the order or question itself.
pub(crate) fn strip_polite(tokens: &[Token]) -> &[Token] {
    let polite = |at: usize| {
        let lower = |at: usize| tokens.get(at).map_or("", |token: &Token| token.lower.as_str());
        listed(POLITE, lower(at))
            || (lower(at) == "the" && lower(at + 1) == "question")
            || (lower(at) == "на" && lower(at + 1) == "вопрос")
    };
    let start = (0..tokens.len()).find(|at| !polite(*at)).unwrap_or(tokens.len());
    tokens.get(start..).unwrap_or_default()
}

/// Drops "first," and the like at the start of a clause: they order and name nothing.
fn strip_order(mut tokens: Vec<Token>) -> Vec<Token> {
    let lower = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let count = match (lower(0), lower(1), lower(2)) {
        ("first", "of", "all") => 3,
        ("to", "begin", "with") => 3,
        ("прежде", "всего", _) | ("首", "先", _) | ("в", "начале", _) => 2,
        ("first", next, _)
            if resources::pointers(tokens.get(..2).unwrap_or_default()).ordinal.is_none() && !next.is_empty() =>
        {
            1
        }
        ("firstly" | "сначала" | "сперва" | "先" | "вначале", _, _) => 1,
        _ => 0,
    };
    tokens.drain(..count);
    tokens
}

fn is_question(tokens: &[Token], mark: bool) -> bool {
    let core = strip_polite(tokens);
    let Some(first) = core.first() else { return false };
    let opens = lexicon::is_question_word(first)
        // "In which year …", "Of what colour …", "В каком году …".
        || (tokens.iter().take(2).all(|token| token.lower.len() <= 4) && core.get(1).is_some_and(lexicon::is_question_word));
    if opens || core.get(1).is_some_and(|token| token.lower == "ли") {
        return true;
    }
    if matches!(
        first.lower.as_str(),
        "is" | "are"
            | "was"
            | "were"
            | "does"
            | "did"
            | "do"
            | "has"
            | "have"
            | "whether"
            | "if"
            | "есть"
            | "верно"
            | "правда"
    ) {
        return mark || matches!(first.lower.as_str(), "whether" | "is" | "are" | "was" | "were" | "does" | "did");
    }
    let text: String = core.iter().filter(|token| token.is_han()).map(|token| token.lower.as_str()).collect();
    // "Cut into a few parts" asks for no number.
    let text = text.replace("成几个", "成").replace("为几个", "为");
    let asks = [
        "什么",
        "谁",
        "哪",
        "多少",
        "几个",
        "几只",
        "几张",
        "几人",
        "是否",
        "为何",
        "怎么",
        "有没有",
        "是不是",
        "多大",
        "多高",
        "多长",
        "多宽",
        "多远",
        "好评还是差评",
        "差评还是好评",
        "正面还是负面",
    ];
    // "亮不亮": a character, "not", and the same character.
    let or_not = |window: &[Token]| matches!(window, [one, not, two] if not.lower == "不" && one.is_han() && one.lower == two.lower);
    let chooses = |token: &Token| matches!(token.lower.as_str(), "или" | "or");
    asks.iter().any(|word| text.contains(word))
        || core.windows(3).any(or_not)
        || (mark && (text.contains("还是") || core.iter().any(chooses)))
        || (text.ends_with('吗') && !text.starts_with('能'))
        || (mark && core.iter().any(lexicon::is_question_word))
}

#[cfg(test)]
mod tests;
