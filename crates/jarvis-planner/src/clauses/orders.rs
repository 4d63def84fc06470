//! Orders: which words give an order or ask a question, and which are only polite or tell which thing is meant. Where a
//! request is cut is not decided here.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::lexicon::{self, Nature};
use crate::resources;
use crate::retrieval::ToolIndex;
use crate::thesaurus;
use crate::words::{self, Token, WordSet, listed};

/// True when the words name something to be done that a tool of the list might do.
pub(crate) fn names_action(tokens: &[Token], index: &ToolIndex) -> bool {
    let core = strip_polite(tokens);
    opens_with_let(tokens)
        || core.first().is_some_and(|token| opens_action(token, index) || lexicon::is_question_word(token))
        || means_tool(tokens, index)
}

/// True when the words name something that a tool of the list is known for.
pub(super) fn means_tool(tokens: &[Token], index: &ToolIndex) -> bool {
    // "… and a picture of a cat" asks for a picture, weak as the words are elsewhere.
    let start = tokens.iter().position(|token| !token.is_determiner()).unwrap_or_default();
    let creates = |hit: &lexicon::Hit| {
        hit.first() == start
            && hit.concepts.iter().filter_map(|id| lexicon::concept(*id)).any(|c| c.nature == Nature::Create)
    };
    lexicon::hits(tokens, |concept| index.serves(concept)).iter().any(|hit| hit.strong || creates(hit))
        || index.names_a_tool(tokens)
}

/// True when some word is an order in English as it stands: "after lunch, draw a dog", but not "after the drawing".
pub(crate) fn gives_order(tokens: &[Token]) -> bool {
    let noun = |at: usize| at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(Token::is_determiner);
    tokens.iter().enumerate().skip(1).any(|(at, token)| VERB_FORMS.contains(token.lower.as_str()) && !noun(at))
}

/// True when the first word, politeness aside, is an order in English.
pub(crate) fn opens_with_order(tokens: &[Token]) -> bool {
    strip_polite(tokens).first().is_some_and(|token| VERB_STEMS.contains(&token.stem))
}

/// True for "translation" in "speak the translation": what an action makes, not the action.
pub(crate) fn is_outcome(tokens: &[Token], at: usize) -> bool {
    let (Some(token), Some(before)) = (tokens.get(at), at.checked_sub(1).and_then(|before| tokens.get(before))) else {
        return false;
    };
    let formed = ["tion", "sion", "ment", "summary", "transcript", "перевод", "описание", "пересказ"];
    matches!(before.lower.as_str(), "the" | "this" | "that" | "its")
        && formed.iter().any(|end| token.lower.ends_with(end))
        && at > 1
}

/// "Have it delivered", "let the car drive".
pub(super) fn opens_with_let(tokens: &[Token]) -> bool {
    tokens.len() > 2 && tokens.first().is_some_and(|token| matches!(token.lower.as_str(), "have" | "let"))
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
    // "… и отправь маме": an order in another script.
    if !verb.lower.is_ascii() && !verb.is_han() && thesaurus::is_action(verb) {
        return true;
    }
    let word = verb.lower.len() > 2 && verb.lower.bytes().all(|byte| byte.is_ascii_lowercase());
    let article = matches!(object.lower.as_str(), "the" | "my" | "our" | "a" | "an") && !rest.is_empty();
    word && !SMALL.has(&verb.lower)
        && !verb.lower.ends_with("ing")
        && !verb.lower.ends_with("ly")
        && !verb.lower.ends_with("ed")
        && (article || matches!(object.lower.as_str(), "it" | "them"))
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
        && !SMALL.has(&next.lower)
        && !listed("to in by for into", &next.lower)
}

pub(super) fn opens_action(token: &Token, index: &ToolIndex) -> bool {
    VERB_STEMS.contains(&token.stem) || index.opens_a_name(token)
}

static VERB_FORMS: LazyLock<HashSet<&str>> = LazyLock::new(|| VERBS.split_whitespace().collect());
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
    purchase select choose compress archive stabilize say voice animate pronounce rephrase sum spell dub regenerate recreate rebook repay deposit repair combine clean tidy instruct \
    alter decode measure assess caption label tag crop resize rotate blur sharpen brighten trim slow speed synthesize \
    render illustrate depict sketch design correct proofread fix spin shorten elaborate highlight insert store save \
    sync align separate isolate restore upscale respond reply explain clarify count rank filter review rate verify \
    validate solve predict forecast track locate navigate paint draw speak narrate describe detect segment";

/// Words before "the" that are no verbs.
static SMALL: WordSet = WordSet::new(
    "and but for from with without about above across after against along among around before behind below \
    beneath beside between beyond during except inside into like near off onto out outside over past per plus since \
    than through till toward towards under underneath unlike until upon via within all both half then than also \
    only just not nor yet even such what which who whose where when while because although though if whether as is \
    are was were has have had be been does did do maybe perhaps possible instead say says said more less most twice \
    once that this these those there here any some each every",
);

/// Words before the order itself.
static POLITE: WordSet = WordSet::new(
    "please kindly can could would will you i want need like to d i'd me for just also now help let us let's \
    then finally proceed hi hello hey jarvis пожалуйста можешь можете мне нужно надо хочу чтобы ты вы не мог могли \
    бы давай а ещё еще также 请 帮 我 你 能 可 以 想 要 给 麻 烦 tell know скажи подскажи узнать 告 诉 问 知 道 answer \
    question ответь вопрос 回 答",
);

/// The words without what is said before the order or question itself.
pub(crate) fn strip_polite(tokens: &[Token]) -> &[Token] {
    let polite = |at: usize| {
        let lower = |at: usize| tokens.get(at).map_or("", |token: &Token| token.lower.as_str());
        POLITE.has(lower(at))
            || (lower(at) == "the" && lower(at + 1) == "question")
            || (lower(at) == "на" && lower(at + 1) == "вопрос")
    };
    let start = (0..tokens.len()).find(|at| !polite(*at)).unwrap_or(tokens.len());
    tokens.get(start..).unwrap_or_default()
}

/// Drops "first," and the like at the start of a clause: they order and name nothing.
pub(super) fn strip_order(mut tokens: Vec<Token>) -> Vec<Token> {
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

pub(super) fn is_question(tokens: &[Token], mark: bool) -> bool {
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
    let text = text.replace("成几", "成").replace("为几", "为").replace("好几", "好");
    let asks = [
        "什么",
        "谁",
        "哪",
        "多少",
        "几",
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
