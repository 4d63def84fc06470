//! Whose run it is, and what all runs of one user may take together in a day.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jarvis_plan::{Budget, DAILY, Money, Spent, Tokens};

/// A day in milliseconds. Days are those of UTC.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A user for whom runs are carried out. All their runs of a process share one account.
///
/// Each model call counts as it ends, so calls that are on their way may go over a bound; nothing starts after that.
#[derive(Debug, Default)]
pub struct Account {
    name: String,
    a_day: Budget,
    max_runs: Option<usize>,
    reaches_all: bool,
    used: Mutex<Used>,
}

/// What the runs of a user took in one day.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Used {
    /// Days since the Unix epoch.
    pub day: u64,
    /// Model calls.
    pub calls: u64,
    /// Tokens sent and received.
    pub tokens: u64,
    /// What the calls cost, as far as it is known.
    pub cost: f64,
    /// Whether it is not known what some of them cost.
    pub unpriced: bool,
}

impl Used {
    /// How many seconds are left of its day at this time, in milliseconds since the Unix epoch; the last one counts as a whole.
    pub fn seconds_left(&self, at_ms: u64) -> u64 {
        let next = self.day.saturating_add(1).saturating_mul(DAY_MS);
        next.saturating_sub(at_ms).div_ceil(1000)
    }
}

impl Account {
    /// An account of the user of this name, whose runs may take so much together in a day. Time is not bounded.
    pub fn new(name: impl Into<String>, a_day: Budget) -> Account {
        Account { name: name.into(), a_day: Budget { max_time_s: None, ..a_day }, ..Account::default() }
    }

    /// The same with so many runs at one time.
    #[must_use]
    pub fn running(self, max_runs: Option<usize>) -> Account {
        Account { max_runs, ..self }
    }

    /// The same with what belongs to others in reach.
    #[must_use]
    pub fn reaching_all(self) -> Account {
        Account { reaches_all: true, ..self }
    }

    /// Runs at one time, those that wait among them.
    pub fn max_runs(&self) -> Option<usize> {
        self.max_runs
    }

    /// Whether what belongs to others is in reach.
    pub fn reaches_all(&self) -> bool {
        self.reaches_all
    }

    /// The user; empty where there are no several users.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The most that the user's runs may take together in a day.
    pub fn a_day(&self) -> Budget {
        self.a_day
    }

    /// Whether anything bounds the user's runs together.
    pub fn is_bounded(&self) -> bool {
        self.a_day != Budget::default()
    }

    /// Learns what was used at least, such as by other processes. What belongs to an earlier day than what is known is forgotten.
    pub fn at_least(&self, seen: Used) {
        let mut used = self.used(seen.day);
        if seen.day == used.day {
            used.calls = used.calls.max(seen.calls);
            used.tokens = used.tokens.max(seen.tokens);
            used.cost = used.cost.max(seen.cost);
        }
    }

    /// Counts a model call that ended at this time, in milliseconds since the Unix epoch.
    pub(crate) fn add(&self, at_ms: u64, tokens: Tokens, cost: Option<&Money>) {
        let mut used = self.used(at_ms / DAY_MS);
        used.calls += 1;
        used.tokens = used.tokens.saturating_add(tokens.prompt).saturating_add(tokens.completion);
        used.cost += cost.map_or(0.0, |cost| cost.amount);
        used.unpriced |= cost.is_none();
    }

    /// The bound that is used up at this time, in milliseconds since the Unix epoch, if one is.
    pub fn spent(&self, at_ms: u64) -> Option<Spent> {
        if !self.is_bounded() {
            return None;
        }
        let used = *self.used(at_ms / DAY_MS);
        let Budget { max_tokens, max_calls, max_cost, .. } = self.a_day;
        let bound = |bound: &str, unit: &str, used: f64, most: Option<f64>| {
            let most = most.filter(|most| used >= *most)?;
            let most = format!("{most}{unit} of `{}`", self.name);
            Some(Spent { bound: format!("{bound}{DAILY}"), most, used: ((used * 1e6).round() / 1e6).to_string() })
        };
        if let Some(most) = max_cost.filter(|_| used.unpriced) {
            let most = format!("{most} of `{}`", self.name);
            return Some(Spent {
                bound: format!("cost{DAILY}"),
                most,
                used: "what a model costs is not known".to_owned(),
            });
        }
        bound("calls", " model calls", used.calls as f64, max_calls.map(f64::from))
            .or_else(|| bound("tokens", " tokens", used.tokens as f64, max_tokens.map(|most| most as f64)))
            .or_else(|| bound("cost", "", used.cost, max_cost))
    }

    /// What was used so far of the day of this time, in milliseconds since the Unix epoch.
    pub fn today(&self, at_ms: u64) -> Used {
        *self.used(at_ms / DAY_MS)
    }

    /// What was used on a day, or on a later one that is known.
    fn used(&self, day: u64) -> MutexGuard<'_, Used> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.day < day {
            *used = Used { day, ..Used::default() };
        }
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Account {
        Account::new(
            "ada",
            Budget { max_calls: Some(3), max_tokens: Some(100), max_cost: Some(1.0), max_time_s: Some(1.0) },
        )
    }

    fn tokens(prompt: u64, completion: u64) -> Tokens {
        Tokens { prompt, completion, ..Tokens::default() }
    }

    #[test]
    fn each_bound_holds_for_a_day() {
        let at = 20_000 * DAY_MS;
        let money = |amount| Money { amount, currency: "USD".into() };
        let (free, dear) = (money(0.0), money(1.0));
        type Add<'m> = (u64, u64, Option<&'m Money>);
        let cases: [(&[Add<'_>], Option<&str>); 6] = [
            (&[], None),
            (&[(10, 10, Some(&free)); 2], None),
            (&[(1, 1, Some(&free)); 3], Some("3 of 3 model calls of `ada`")),
            (&[(60, 40, Some(&free))], Some("100 of 100 tokens of `ada`")),
            (&[(1, 1, Some(&dear))], Some("1 of 1 of `ada`")),
            (&[(1, 1, None)], Some("what a model costs is not known of 1 of `ada`")),
        ];
        for (calls, want) in cases {
            let account = account();
            for (prompt, completion, cost) in calls {
                account.add(at, tokens(*prompt, *completion), *cost);
            }
            let spent = account.spent(at + DAY_MS - 1).map(|spent| format!("{} of {}", spent.used, spent.most));
            assert_eq!(spent.as_deref(), want);
            assert_eq!(account.spent(at + DAY_MS), None, "the next day");
        }
    }

    #[test]
    fn a_day_ends_at_midnight() {
        let at = 20_000 * DAY_MS;
        for (at_ms, left) in [(at, 86_400), (at + 1, 86_400), (at + DAY_MS - 1_000, 1), (at + DAY_MS - 1, 1)] {
            let account = account();
            account.add(at_ms, tokens(1, 2), None);
            let used = account.today(at_ms);
            assert_eq!(
                (used.calls, used.tokens, used.unpriced, used.seconds_left(at_ms)),
                (1, 3, true, left),
                "{at_ms}"
            );
            assert_eq!(account.today(at + DAY_MS), Used { day: 20_001, ..Used::default() });
        }
    }

    #[test]
    fn what_others_used_counts_and_never_less() {
        let account = account();
        let day = 20_000;
        account.at_least(Used { day, calls: 2, ..Used::default() });
        account.at_least(Used { day, calls: 1, ..Used::default() });
        account.at_least(Used { day: day - 1, calls: 9, ..Used::default() });
        assert_eq!(account.spent(day * DAY_MS), None);
        account.add(day * DAY_MS, tokens(1, 1), Some(&Money { amount: 0.0, currency: "USD".into() }));
        assert!(account.spent(day * DAY_MS).is_some());
    }

    #[test]
    fn without_bounds_nothing_is_used_up() {
        let account = Account::default();
        account.add(1, tokens(u64::MAX, u64::MAX), None);
        assert_eq!((account.spent(1), account.is_bounded(), account.name()), (None, false, ""));
    }
}
