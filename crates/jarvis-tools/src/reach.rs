//! What to look at when something on the network cannot be reached: the likely reason, read off the chain of causes.

use std::error::Error;
use std::io;

use jarvis_net::causes::chain;

/// A question or a piece of advice, to be put behind the cause; empty when nothing is likely.
pub(crate) fn hint(error: &(dyn Error + 'static)) -> &'static str {
    // The innermost cause knows best.
    chain(error).filter_map(hint_of).last().unwrap_or_default()
}

/// A cause in plain words, where its own message is cryptic.
pub(crate) fn plain(cause: String) -> String {
    if cause.contains("InvalidContentType") { "what answers speaks no TLS".to_owned() } else { cause }
}

fn hint_of(error: &(dyn Error + 'static)) -> Option<&'static str> {
    const FAR: &str = "; is it running, and can this machine reach it?";
    if let Some(error) = error.downcast_ref::<io::Error>() {
        match error.kind() {
            io::ErrorKind::ConnectionRefused => return Some("; is it running?"),
            io::ErrorKind::TimedOut | io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
                return Some(FAR);
            }
            _ => {}
        }
    }
    if error.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_timeout) {
        return Some(FAR);
    }
    let text = error.to_string();
    [
        ("dns error", "; is the name in its address right?"),
        ("deadline has elapsed", FAR),
        ("certificate", "; its certificate must be one that this machine trusts"),
        ("InvalidContentType", "; is its address one of http://?"),
    ]
    .into_iter()
    .find_map(|(part, hint)| text.contains(part).then_some(hint))
}
