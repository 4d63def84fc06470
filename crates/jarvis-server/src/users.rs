//! Who calls: the users that the configuration names, each known by a token, what each may do, and what belongs to whom.
//!
//! A server with one token, or none, has one user without a name, to whom everything belongs. With several, what a user started or
//! sent belongs to that user; administrators reach what belongs to others. To anybody else it does not exist.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use jarvis_engine::Account;
use jarvis_events::Used;
use jarvis_net::Secret;
use jarvis_plan::Budget;
use jarvis_store::UserUsage;

use crate::error::ApiError;
use crate::guard;
use crate::log::RequestId;
use crate::options::Options;
use crate::runs::{Line, now_ms};

/// A user of a server.
#[derive(Debug, Clone)]
pub struct User {
    /// 1 to 64 letters, digits, `-`, `_` and `.`, not `.` first.
    pub name: String,
    pub token: Secret,
    pub may: May,
    /// Runs at the same time, those that wait for a place among them.
    pub max_runs: Option<usize>,
    /// What all runs of a day (UTC) may take together.
    pub a_day: Budget,
}

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct May {
    /// Ask for runs, decisions and the work of models, send files, cancel and go on with runs.
    pub run: bool,
    /// Answer what runs wait for.
    pub approve: bool,
    /// Administer the server, and do the others with what belongs to anybody.
    pub admin: bool,
}

/// One of the rights of [`May`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    Run,
    Approve,
    Admin,
}

impl Right {
    const ALL: [Right; 3] = [Right::Run, Right::Approve, Right::Admin];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Right::Run => "run",
            Right::Approve => "approve",
            Right::Admin => "admin",
        }
    }
}

#[derive(Debug)]
struct Member {
    account: Arc<Account>,
    may: May,
    /// Whether everything belongs to them, because there are no others.
    is_only: bool,
}

/// Whoever sent a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    member: Arc<Member>,
    /// Whether the token came with the request itself, and not a cookie in its place.
    by_token: bool,
    /// The address that the request came from, where it came over a network.
    peer: Option<IpAddr>,
    /// The id of the request, where it came over a network.
    request: Option<RequestId>,
}

impl Caller {
    /// The user's name; empty for the only user of a server.
    pub(crate) fn name(&self) -> &str {
        self.member.account.name()
    }

    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.member.account
    }

    pub(crate) fn may(&self, right: Right) -> bool {
        let May { run, approve, admin } = self.member.may;
        match right {
            Right::Run => run,
            Right::Approve => approve,
            Right::Admin => admin,
        }
    }

    /// The names of the user's rights.
    pub(crate) fn rights(&self) -> Vec<&'static str> {
        Right::ALL.into_iter().filter(|right| self.may(*right)).map(Right::as_str).collect()
    }

    /// Whether the user may have models work now, in a run or not.
    ///
    /// # Errors
    /// When the user may not, or what there is for a day is used up.
    pub(crate) fn must_run(&self) -> Result<(), ApiError> {
        self.must(Right::Run)?;
        check_budget(self.account())
    }

    /// # Errors
    /// When the user does not have the right.
    pub(crate) fn must(&self, right: Right) -> Result<(), ApiError> {
        if self.may(right) {
            return Ok(());
        }
        let (name, right) = (self.name(), right.as_str());
        let message = format!("`{name}` may not do this: it takes the right `{right}`");
        Err(ApiError::new(StatusCode::FORBIDDEN, "not_allowed", message)
            .hint(format!("whoever runs the server can add `{right}` to `may` of this user in `server.tokens`")))
    }

    /// Whether all that is here belongs to the caller's one user, so that nobody need ask whose it is.
    pub(crate) fn is_only(&self) -> bool {
        self.member.is_only
    }

    /// Whether what belongs to this user can be reached.
    pub(crate) fn reaches(&self, whose: &str) -> bool {
        self.is_only() || self.may(Right::Admin) || (!whose.is_empty() && whose == self.name())
    }

    /// Whether it is reached because the caller administers the server, and not because it is the caller's own.
    pub(crate) fn reaches_as_admin(&self, whose: &str) -> bool {
        !self.is_only() && whose != self.name()
    }

    /// Whose things are listed; all things where there is none.
    pub(crate) fn lists(&self) -> Option<&str> {
        (!self.is_only() && !self.may(Right::Admin)).then(|| self.name())
    }

    /// Whether the request itself carries the token of an administrator.
    pub(crate) fn is_administrator(&self) -> bool {
        self.by_token && self.may(Right::Admin)
    }

    /// The same user, with a cookie in the place of the token.
    pub(crate) fn in_browser(&self) -> Caller {
        Caller { by_token: false, ..self.clone() }
    }

    /// The same user, who calls from this address.
    pub(crate) fn from(self, peer: Option<IpAddr>) -> Caller {
        Caller { peer, ..self }
    }

    /// The same user, with the request of this id.
    pub(crate) fn asking(self, request: Option<RequestId>) -> Caller {
        Caller { request, ..self }
    }

    /// The id of the request, where it came over a network.
    pub(crate) fn request_id(&self) -> Option<&RequestId> {
        self.request.as_ref()
    }

    /// In which line the caller's runs wait.
    pub(crate) fn line(&self) -> Line {
        Line::of(self.name(), self.peer)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Caller, ApiError> {
        let known = parts.extensions.get::<Caller>().cloned();
        known.ok_or_else(|| ApiError::internal("nobody looked who calls", &"the route is not guarded"))
    }
}

#[derive(Debug)]
pub(crate) struct Users {
    /// The tokens, which may be read anew.
    known: RwLock<Arc<Known>>,
    /// Who calls without a token, where none is needed.
    open: Option<Caller>,
    several: bool,
    /// Accounts of users that are no longer named, whose runs go on.
    gone: Mutex<HashMap<String, Arc<Account>>>,
}

/// Tokens, and whose each is.
type Known = Vec<(Secret, Caller)>;

/// The tokens of options; the account of a user who was there before, and may take the same, is the same.
fn known_of(options: &Options, before: &[(Secret, Caller)]) -> (Known, Option<Caller>) {
    let several = !options.users.is_empty();
    let caller = |account: &Arc<Account>, may| {
        let member = Member { account: Arc::clone(account), may, is_only: !several };
        Caller { member: Arc::new(member), by_token: true, peer: None, request: None }
    };
    if several {
        let known = options.users.iter().map(|user| {
            let was = before.iter().map(|(_, caller)| caller.account()).find(|account| account.name() == user.name);
            let account = Account::new(&user.name, user.a_day).running(user.max_runs);
            let account = if user.may.admin { account.reaching_all() } else { account };
            let is_same = |was: &&Arc<Account>| {
                (was.a_day(), was.max_runs(), was.reaches_all()) == (user.a_day, user.max_runs, user.may.admin)
            };
            let account = was.filter(is_same).cloned().unwrap_or_else(|| {
                was.iter().for_each(|was| account.at_least(was.today(now_ms())));
                Arc::new(account)
            });
            (user.token.clone(), caller(&account, user.may))
        });
        return (known.collect(), None);
    }
    let account = before.first().map(|(_, caller)| Arc::clone(caller.account())).unwrap_or_default();
    let one = caller(&account, May { run: true, approve: true, admin: false });
    let administrator = caller(&account, May { run: true, approve: true, admin: true });
    let known = [(&options.token, &one), (&options.admin_token, &administrator)];
    let known = known.into_iter().filter_map(|(token, caller)| Some((token.clone()?, caller.clone()))).collect();
    (known, options.token.is_none().then_some(one))
}

impl Users {
    pub(crate) fn of(options: &Options) -> Users {
        let (known, open) = known_of(options, &[]);
        let known = RwLock::new(Arc::new(known));
        Users { known, open, several: !options.users.is_empty(), gone: Mutex::default() }
    }

    /// Takes the tokens of other options from now on. Whether there are several users, and whether a token is needed, stays as it is:
    /// false where it would not.
    pub(crate) fn reload(&self, options: &Options) -> bool {
        let needs_token = !options.users.is_empty() || options.token.is_some();
        if options.users.is_empty() == self.several || needs_token != self.need_token() {
            return false;
        }
        let known = known_of(options, &self.known()).0;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        true
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same user as now, where the token is still good that a browser logged in with.
    pub(crate) fn still(&self, token: &Secret) -> Option<Caller> {
        self.with_token(token.expose())
    }

    /// Whether there are several, so that things belong to somebody.
    pub(crate) fn are_several(&self) -> bool {
        self.several
    }

    /// Whether any token is known.
    pub(crate) fn have_tokens(&self) -> bool {
        !self.known().is_empty()
    }

    pub(crate) fn need_token(&self) -> bool {
        self.open.is_none()
    }

    pub(crate) fn have_administrator(&self) -> bool {
        self.known().iter().any(|(_, caller)| caller.may(Right::Admin))
    }

    /// Who has this token. Every known one is compared, so that the time tells nothing.
    pub(crate) fn with_token(&self, given: &str) -> Option<Caller> {
        let matching = |found, (token, caller): &(Secret, Caller)| {
            if guard::is_token(token, given) { Some(caller.clone()) } else { found }
        };
        self.known().iter().fold(None, matching)
    }

    /// Who calls without a token, where none is needed.
    pub(crate) fn without_token(&self) -> Option<Caller> {
        self.open.clone()
    }

    /// The caller of a program on this machine that started this server for itself.
    pub(crate) fn at_home(&self) -> Caller {
        self.open.clone().expect("such a server needs no token")
    }

    /// The account of the user of this name, who may no longer be named.
    pub(crate) fn account(&self, name: &str) -> Arc<Account> {
        let all = self.known();
        let mut known = all.iter().map(|(_, caller)| caller).chain(&self.open);
        if let Some(caller) = known.find(|caller| caller.name() == name) {
            return Arc::clone(caller.account());
        }
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gone.entry(name.to_owned()).or_insert_with(|| Arc::new(Account::new(name, Budget::default()))))
    }

    /// Whether anybody's runs are bounded together.
    pub(crate) fn are_bounded(&self) -> bool {
        self.known().iter().any(|(_, caller)| caller.account().is_bounded())
    }

    /// Learns what the journal has of a day, which is counted from the Unix epoch.
    pub(crate) fn learn(&self, day: u64, used: &[UserUsage]) {
        for used in used {
            let seen = Used { day, calls: used.calls, tokens: used.tokens, cost: used.cost, unpriced: false };
            self.account(&used.user).at_least(seen);
        }
    }
}

/// Whether there is something left of the day.
pub(crate) fn check_budget(account: &Account) -> Result<(), ApiError> {
    let now = now_ms();
    match account.spent(now) {
        None => Ok(()),
        Some(spent) => Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "budget_used", spent.to_string())
            .hint("the next day begins at midnight UTC")
            .retry_after(account.today(now).seconds_left(now))),
    }
}

/// Whether a user can have this name: it becomes a folder's.
pub(crate) fn is_name(name: &str) -> bool {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    (1..=64).contains(&name.len()) && is_plain && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, may: May) -> User {
        let token = Secret::new(format!("token of {name}").as_str()).expect("a token");
        User { name: name.into(), token, may, max_runs: None, a_day: Budget::default() }
    }

    const RUN: May = May { run: true, approve: false, admin: false };
    const ALL: May = May { run: true, approve: true, admin: true };

    #[test]
    fn a_user_reaches_what_is_their_own_and_an_administrator_all() {
        let users = Users::of(&Options { users: vec![user("ada", RUN), user("root", ALL)], ..Options::default() });
        let [ada, root] =
            ["ada", "root"].map(|name| users.with_token(&format!("token of {name}")).expect("it is known"));
        for (whose, adas) in [("ada", true), ("root", false), ("", false), ("gone", false)] {
            assert_eq!((ada.reaches(whose), root.reaches(whose)), (adas, true), "{whose}");
        }
        assert_eq!((ada.lists(), root.lists()), (Some("ada"), None));
        assert!(root.reaches_as_admin("ada") && !root.reaches_as_admin("root"));
        assert_eq!((ada.rights(), root.rights()), (vec!["run"], vec!["run", "approve", "admin"]));
        assert!(users.with_token("token of eve").is_none() && users.without_token().is_none());
        assert!(root.is_administrator() && !root.in_browser().is_administrator());
    }

    #[test]
    fn the_only_user_reaches_everything() {
        for (token, admin) in [(None, None), (Some("t"), None), (Some("t"), Some("a")), (None, Some("a"))] {
            let secret = |text: Option<&str>| text.and_then(Secret::new);
            let users = Users::of(&Options { token: secret(token), admin_token: secret(admin), ..Options::default() });
            let one =
                token.map_or_else(|| users.without_token(), |token| users.with_token(token)).expect("it is known");
            assert!(one.reaches("") && one.reaches("ada") && one.may(Right::Approve) && !one.may(Right::Admin));
            assert_eq!((one.lists(), one.name(), one.reaches_as_admin("ada")), (None, "", false));
            assert_eq!(users.need_token(), token.is_some());
            assert_eq!(users.have_administrator(), admin.is_some());
            assert_eq!(
                admin.is_some_and(|admin| users.with_token(admin).is_some_and(|a| a.is_administrator())),
                admin.is_some()
            );
        }
    }

    #[test]
    fn whoever_is_no_longer_named_has_one_account_still() {
        let users = Users::of(&Options { users: vec![user("ada", RUN)], ..Options::default() });
        assert!(Arc::ptr_eq(&users.account("eve"), &users.account("eve")));
        assert_eq!(users.account("eve").name(), "eve");
    }

    #[test]
    fn tokens_are_read_anew_and_accounts_stay() {
        let options = |users: &[(&str, May)]| {
            let users = users.iter().map(|(name, may)| user(name, *may)).collect();
            Options { users, ..Options::default() }
        };
        let users = Users::of(&options(&[("ada", RUN), ("bob", RUN)]));
        let account =
            |name: &str| users.with_token(&format!("token of {name}")).map(|caller| Arc::clone(caller.account()));
        let (ada, bob) = (account("ada").expect("it is known"), account("bob").expect("it is known"));
        assert!(users.reload(&options(&[("ada", RUN), ("bob", ALL), ("eve", RUN)])));
        assert!(Arc::ptr_eq(&ada, &account("ada").expect("it is known")));
        assert!(!Arc::ptr_eq(&bob, &account("bob").expect("it is known")) && account("eve").is_some());
        assert!(users.reload(&options(&[("eve", RUN)])) && account("ada").is_none());
        // What is one user's does not become several's.
        let one = Options { token: Secret::new("x"), ..Options::default() };
        assert!(!users.reload(&one) && !users.reload(&Options::default()) && account("eve").is_some());
        let single = Users::of(&one);
        assert!(single.reload(&Options { token: Secret::new("y"), ..Options::default() }));
        assert!(single.with_token("x").is_none() && single.with_token("y").is_some());
        assert!(!single.reload(&Options::default()));
    }

    #[test]
    fn names_can_be_folders() {
        for (name, fits) in [("ada", true), ("a.b-c_9", true), ("", false), ("..", false), ("a/b", false), ("ä", false)]
        {
            assert_eq!(is_name(name), fits, "{name}");
        }
        assert!(!is_name(&"a".repeat(65)));
    }
}
