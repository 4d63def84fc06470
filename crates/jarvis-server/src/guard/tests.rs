//! Hosts without their ports, and tokens.

use super::{is_this_machine, is_token, without_port};

#[test]
fn ports_are_cut_off() {
    for (host, want) in [
        ("localhost", "localhost"),
        ("localhost:8004", "localhost"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("[::1]:8004", "[::1]"),
        ("", ""),
    ] {
        assert_eq!(without_port(host), want, "{host}");
    }
}

#[test]
fn this_machine_is_known_by_its_own_names_only() {
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]"] {
        assert!(is_this_machine(host), "{host}");
    }
    for host in ["", "example.org", "localhost.example.org", "127.0.0.1.example.org", "0.0.0.0", "10.0.0.1", "[::2]"] {
        assert!(!is_this_machine(host), "{host}");
    }
}

#[test]
fn tokens_are_compared_whole() {
    let token = jarvis_net::Secret::new("secret").unwrap();
    assert!(is_token(&token, "secret"));
    for wrong in ["", "secre", "secrets", "Secret"] {
        assert!(!is_token(&token, wrong), "{wrong}");
    }
}
