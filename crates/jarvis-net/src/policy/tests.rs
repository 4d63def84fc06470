//! Addresses as data: what is public, what is not, and the spellings that hide it.

use super::*;

#[test]
fn addresses_are_classified() {
    let public = "8.8.8.8 1.1.1.1 93.184.216.34 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.167.1.1 11.0.0.1 \
        198.17.0.1 198.20.0.1 223.255.255.255 2606:4700:4700::1111 2a00:1450:4009::200e 2001:4860:4860::8888 \
        ::ffff:8.8.8.8 64:ff9b::808:808";
    for ip in public.split(' ') {
        assert_eq!(Reach::of(ip.parse().unwrap()), Reach::Public, "{ip}");
    }
    let private = "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.8.8.8 169.254.1.1 \
        172.16.0.1 172.31.255.255 192.168.0.1 :: ::1 fc00::1 fdff::1 fe80::1 febf::1 fec0::1 ::ffff:127.0.0.1 \
        ::ffff:10.0.0.1 64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::808:808";
    for ip in private.split(' ') {
        assert!(matches!(Reach::of(ip.parse().unwrap()), Reach::Private(_)), "{ip}");
    }
    let never = "169.254.169.254 100.100.100.200 192.0.0.192 192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 \
        198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 ::ffff:169.254.169.254 \
        64:ff9b::a9fe:a9fe fd00:ec2::254 ff02::1 2002:7f00:1:: 2002:a9fe:a9fe::1 2001::1 2001:10::1 \
        2001:20::1 2001:db8::1 3fff::1 ::7f00:1 100::1 5f00::1 4000::1";
    for ip in never.split(' ') {
        assert!(matches!(Reach::of(ip.parse().unwrap()), Reach::Never(_)), "{ip}");
    }
}

#[test]
fn addresses_in_urls_are_checked_in_every_spelling() {
    let strict = UrlPolicy::default();
    let refused = "http://127.0.0.1/ http://127.1/ http://2130706433/ http://0x7f000001/ http://0177.0.0.1/ \
        http://017700000001/ http://0x7f.0.0.0x1/ http://127.0.0.1./ http://[::1]/ http://[::ffff:7f00:1]/ \
        http://[::ffff:127.0.0.1]:8080/ http://[0:0:0:0:0:0:0:1]/ http://[fe80::1]/ http://0/ http://0.0.0.0/ \
        http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xa9fea9fe/ http://10.1/ \
        http://１２７.0.0.1/ http://127。0。0。1/ http://%31%32%37.0.0.1/ ftp://example.com/ file:///etc/passwd \
        gopher://example.com/ javascript:alert(1) http://user@example.com/ http://user:p4ss@example.com/ \
        http://example.com@127.0.0.1/ https://:secret@example.com/";
    for text in refused.split(' ') {
        let error = strict.check(&Url::parse(text).unwrap()).unwrap_err();
        assert!(error.is_refusal(), "{text}: {error}");
        let message = error.to_string();
        assert!(!message.contains("p4ss") && !message.contains("secret"), "{message}");
    }
    for text in
        ["http://example.com/a.png", "https://example.com:8443/x?y=z", "http://8.8.8.8/", "https://[2606:4700::1]/"]
    {
        strict.check(&Url::parse(text).unwrap()).unwrap();
    }
}

#[test]
fn each_knob_opens_what_it_says_and_no_more() {
    let private = UrlPolicy { allow_private: true, ..UrlPolicy::default() };
    let listed = UrlPolicy {
        allow_hosts: vec!["127.0.0.1".into(), "[::1]".into(), "Media.Local.".into()],
        ..UrlPolicy::default()
    };
    let check = |policy: &UrlPolicy, url: &str| policy.check(&Url::parse(url).unwrap()).is_ok();
    assert!(
        check(&private, "http://127.0.0.1:9/")
            && check(&private, "http://192.168.1.4/")
            && check(&private, "http://[fe80::1]/")
    );
    assert!(!check(&private, "http://169.254.169.254/") && !check(&private, "http://224.0.0.1/"));
    assert!(!check(&private, "file:///x") && !check(&private, "http://a:b@127.0.0.1/"));
    assert!(
        check(&listed, "http://127.0.0.1:1/")
            && check(&listed, "http://[::1]/")
            && check(&listed, "http://2130706433/")
    );
    assert!(!check(&listed, "http://127.0.0.2/") && !check(&listed, "http://10.0.0.1/"));
    assert!(
        listed.lists("media.local")
            && listed.lists("MEDIA.LOCAL.")
            && !listed.lists("xmedia.local")
            && !listed.lists("")
    );
}

#[test]
fn a_name_gives_only_its_allowed_addresses() {
    let ips = |list: &[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect::<Vec<IpAddr>>();
    let strict = UrlPolicy::default();
    assert_eq!(strict.keep("a.example", ips(&["10.0.0.1", "8.8.8.8", "::1"])).unwrap(), ips(&["8.8.8.8"]));
    assert!(strict.keep("a.example", ips(&["10.0.0.1"])).unwrap_err().is_refusal());
    assert_eq!(strict.keep("a.example", Vec::new()), Err(PolicyError::NoAddress("a.example".into())));
    let listed = UrlPolicy { allow_hosts: vec!["a.example".into()], ..UrlPolicy::default() };
    assert_eq!(listed.keep("a.example", ips(&["169.254.169.254"])).unwrap(), ips(&["169.254.169.254"]));
}

#[test]
fn shown_addresses_hold_no_secret() {
    let url = Url::parse("https://user:pw@host.example/a/b.png?sig=abc#frag").unwrap();
    assert_eq!(shown(&url), "https://host.example/a/b.png");
    assert_eq!(without_secrets("http://user:pass@h:1/p?key=s#f"), "http://h:1/p");
    assert_eq!(without_secrets("user:pass@h"), "(not an address)");
    assert_eq!(without_secrets("pass"), "(not an address)");
}

proptest::proptest! {
    /// However an IPv4 address is dressed up, it is judged as what it is.
    #[test]
    fn wrapped_addresses_are_judged_as_themselves(bits: u32) {
        let ip = Ipv4Addr::from(bits);
        let reach = Reach::of(IpAddr::V4(ip));
        let [high, low] = [(bits >> 16) as u16, bits as u16];
        assert_eq!(Reach::of(IpAddr::V6(ip.to_ipv6_mapped())), reach);
        assert_eq!(Reach::of(IpAddr::V6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low))), reach);
        assert!(Reach::of(IpAddr::V6(Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1))) != Reach::Public);
        let strict = UrlPolicy::default();
        let spellings = [
            format!("http://{ip}/"),
            format!("http://{bits}/"),
            format!("http://{bits:#x}/"),
            format!("http://[::ffff:{ip}]/"),
        ];
        for text in spellings {
            assert_eq!(strict.check(&Url::parse(&text).unwrap()).is_ok(), reach == Reach::Public, "{text}");
        }
        if reach == Reach::Public {
            let inside = ip.is_private() || ip.is_loopback() || ip.is_link_local();
            assert!(!inside && !ip.is_multicast() && !ip.is_broadcast() && !ip.is_unspecified());
        }
    }
}
