//! Parts: what stands between two borders of a request, and whether the next part goes on with it or is a clause of its own.

use std::ops::Range;

use super::Join;
use super::orders::{
    begins_with_action, means_tool, names_action, opens_action, opens_with_let, orders_by_form, points_back,
};
use crate::data;
use crate::lexicon::{self, Nature};
use crate::resources::{self, Span};
use crate::retrieval::ToolIndex;
use crate::thesaurus;
use crate::words::Token;
use crate::words::grammar::{is_question_word, opens_with_order, strip_polite};

pub(super) struct Part {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) join: Join,
    pub(super) tokens: Vec<Token>,
    pub(super) spans: Vec<Span>,
    acts: bool,
    /// It names one that a tool of the list is known for, not just some verb.
    meant: bool,
    opens: bool,
    /// It is an order by its form, though no tool is known for it.
    strays: bool,
}

impl Part {
    pub(super) fn new(
        request: &str,
        Range { start, end }: Range<usize>,
        join: Join,
        tokens: &[Token],
        spans: &[Span],
        index: &ToolIndex,
    ) -> Part {
        let mut tokens: Vec<Token> = tokens.iter().filter(|t| t.start >= start && t.end <= end).cloned().collect();
        let all = spans;
        let spans: Vec<Span> = all.iter().filter(|s| s.start >= start && s.end <= end).cloned().collect();
        // "… and tell me the weather" asks, whatever for.
        let asks = tokens.len() > 2 && tokens.first().is_some_and(|token| data::TELLING_VERBS.has(&token.lower));
        let mut acts = asks || names_action(&tokens, index);
        // "Sumarize news.txt": an order with a slip in it, told by the file it is about.
        if !acts
            && !spans.is_empty()
            && let Some((at, spelled)) = lexicon::corrected(&tokens, |concept| index.serves(concept))
            && at <= 1
        {
            tokens = spelled;
            acts = true;
        }
        let opens = |token: &Token| is_question_word(token) || index.opens_a_name(token);
        let meant = acts && (means_tool(&tokens, index) || strip_polite(&tokens).first().is_some_and(opens));
        let foreign = tokens
            .first()
            .is_some_and(|first| !first.lower.is_ascii() && !first.is_han() && thesaurus::is_action(first));
        let opens = opens_with_order(&tokens) || opens_with_let(&tokens) || foreign;
        // "… and fold the laundry".
        let strays = !acts && orders_by_form(&tokens, all, request) && !begins_with_action(&tokens, index);
        Part { start, end, join, tokens, spans, acts, meant, opens, strays }
    }

    /// "Before you describe it, …": what follows is done first.
    pub(super) fn comes_after_next(&self) -> bool {
        let lower = |at: usize| self.tokens.get(at).map_or("", |token| token.lower.as_str());
        self.acts
            && (lower(0) == "before"
                || matches!((lower(0), lower(1)), ("прежде", "чем") | ("перед", "тем"))
                || self
                    .tokens
                    .windows(2)
                    .last()
                    .is_some_and(|end| matches!(end, [one, two] if one.lower == "之" && two.lower == "前")))
    }

    /// "… after translating it": it is done before what stands before it.
    pub(super) fn comes_before_last(&self) -> bool {
        let lower = |at: usize| self.tokens.get(at).map_or("", |token| token.lower.as_str());
        let at = usize::from(matches!(lower(0), "only" | "but")) + usize::from((lower(0), lower(1)) == ("but", "only"));
        self.acts && lower(at) == "after" && lower(at + 1).ends_with("ing")
    }

    pub(super) fn first(self) -> Part {
        Part { join: Join::Start, ..self }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.spans.is_empty()
    }

    /// True when `next` is no clause of its own.
    pub(super) fn goes_on_with(&self, next: &Part, index: &ToolIndex) -> bool {
        match next.join {
            Join::Start | Join::Sentence => false,
            // What is to be done then is another order, unless it may be told within something new: "a story in which …, then eat it".
            Join::Then if self.acts && next.strays && !(self.creates(index) && self.tells_more()) => false,
            // What a question or "how" is about may well be an order by its form: "describe how they hold it and drink the tea".
            Join::And
                if self.acts
                    && next.strays
                    && !self.creates(index)
                    && (!self.tokens.iter().any(is_question_word) || points_back(&next.tokens)) =>
            {
                false
            }
            // "I have a picture and I'd like to …": what is given, and what is wanted.
            Join::Then | Join::And if next.states_want() => false,
            Join::Then => (!self.acts && !next.opens) || !next.acts,
            Join::And => {
                // "Прочитай, что на картинке": the question is what the short order is about.
                let about = self.spans.is_empty() && self.tokens.len() <= 4 && next.question_opens();
                // "Find all people and dates": one verb with two objects.
                let one_verb = !self.meant
                    && !next.opens
                    && !strip_polite(&next.tokens).first().is_some_and(|t| opens_action(t, index));
                !(self.acts || next.opens && self.tokens.len() > 2)
                    || !next.acts
                    || about
                    || one_verb
                    || self.leads_in()
                    || next.tells(index)
                    || next.ends_a_list()
                    || self.same_edit(next, index)
            }
        }
    }

    pub(super) fn extend(&mut self, next: Part, tokens: &[Token]) {
        self.end = next.end;
        // The word between the two is part of the clause after all.
        self.tokens = tokens.iter().filter(|t| t.start >= self.start && t.end <= self.end).cloned().collect();
        self.spans.extend(next.spans);
        self.acts |= next.acts;
        self.meant |= next.meant;
    }

    /// "… and b.wav with a second of silence between them": the last of several things, and what parts them all.
    fn ends_a_list(&self) -> bool {
        let first = self.tokens.first();
        let named_first = self.spans.first().zip(first).is_some_and(|(span, first)| span.end <= first.start);
        let parts = |token: &Token| matches!(token.lower.as_str(), "between" | "gap" | "gaps" | "spacing" | "apart");
        named_first && first.is_some_and(|first| first.lower == "with") && self.tokens.iter().any(parts)
    }

    /// "… and I would like to …": somebody says what is wanted from here on.
    fn states_want(&self) -> bool {
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
            .any(|hit| hit.concepts.iter().map(|id| lexicon::concept(*id)).any(|c| c.nature == Nature::Create))
    }

    /// Whether something is told of what it is about: "a knight who must find the ring".
    fn tells_more(&self) -> bool {
        let tells = |token: &Token| is_question_word(token) || data::DESCRIBING.has(&token.lower);
        self.tokens.iter().any(tells)
    }

    /// "From the edges and a text, …": what the order to come is done with.
    fn leads_in(&self) -> bool {
        let lower = |at: usize| self.tokens.get(at).map_or("", |token| token.lower.as_str());
        let for_each = matches!(
            (lower(0), lower(1)),
            ("for", "each" | "every" | "all" | "both")
                | ("для", "каждого" | "каждой" | "всех" | "обоих")
                | ("对", "每")
        );
        for_each || data::MEANS_OPENERS.has(lower(0))
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
                && hits
                    .iter()
                    .all(|hit| hit.concepts.iter().map(|id| lexicon::concept(*id)).any(|c| c.nature == Nature::Edit))
        };
        let nth = |tokens: &[Token]| resources::pointers(tokens).ordinal;
        let own_thing = (!self.spans.is_empty() && !next.spans.is_empty())
            || nth(&self.tokens).zip(nth(&next.tokens)).is_some_and(|(one, two)| one != two);
        !own_thing && !next.question_opens() && edits(&self.tokens) && edits(&next.tokens)
    }

    fn question_opens(&self) -> bool {
        self.tokens.first().is_some_and(is_question_word)
    }
}
