//! `jarvis completions` and `jarvis man`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::harness::Harness;

#[test]
fn completions_are_installed_where_the_shell_looks_for_them() {
    for (shell, path, first, advice) in [
        ("/bin/bash", ".local/share/bash-completion/completions/jarvis", "_jarvis()", None),
        ("/usr/bin/zsh", ".local/share/zsh/site-functions/_jarvis", "#compdef jarvis\n", Some("fpath=(")),
        ("/usr/bin/fish", ".config/fish/completions/jarvis.fish", "# Print an optspec", None),
    ] {
        let harness = Harness::new().env("SHELL", shell);
        let path = harness.data().join(path);
        let done = harness.run(&["completions", "--install"]);
        assert_eq!((done.code, done.stdout), (0, format!("wrote {}\n", path.display())), "{}", done.stderr);
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert!(text.starts_with(first) && text.contains("completions"), "{shell}");
        assert!(advice.is_none_or(|advice| done.stderr.contains(advice)), "{}", done.stderr);
        let again = harness.run(&["completions", "--install"]);
        assert_eq!((again.code, again.stdout), (0, format!("already up to date: {}\n", path.display())));
        let removed = harness.run(&["completions", "--uninstall"]);
        assert_eq!((removed.code, removed.stdout), (0, format!("removed {}\n", path.display())));
        assert!(!path.exists());
        assert_eq!(harness.run(&["completions", "--uninstall"]).stdout, "");
    }
}

#[test]
fn what_cannot_be_installed_is_told() {
    for (shell, args, why) in [
        ("", &["completions", "--install"][..], "SHELL is not set"),
        ("/bin/tcsh", &["completions", "--install"], "no completions for the shell `/bin/tcsh`"),
        ("/bin/bash", &["completions", "elvish", "--install"], "printed and not installed"),
        ("/bin/bash", &["completions"], "required"),
    ] {
        let harness = Harness::new().env("SHELL", shell);
        let refused = harness.run(args);
        assert!(refused.code == 2 && refused.stderr.contains(why), "{args:?}: {}", refused.stderr);
    }
    let harness = Harness::new().env("SHELL", "/bin/bash").env("XDG_DATA_HOME", "/proc/none");
    let refused = harness.run(&["completions", "--install"]);
    assert!(refused.code == 1 && refused.stderr.contains("/proc/none"), "{}", refused.stderr);
}

fn pages(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries
        .map(|entry| (entry.file_name().into_string().expect("a name"), std::fs::read(entry.path()).expect("a page")))
        .collect()
}

#[test]
fn each_command_has_a_page_and_the_same_one_every_time() {
    let harness = Harness::new();
    let done = harness.run(&["man", "--out", "new/one"]);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
    // What the environment says is not in them.
    let elsewhere = Harness::new().env("JARVIS_CONFIG", "/very/own.yaml").env("COLUMNS", "40");
    elsewhere.run(&["man", "--out", "two"]);
    let (one, two) = (pages(&harness.work().join("new/one")), pages(&elsewhere.work().join("two")));
    assert_eq!(one, two);
    for name in ["jarvis.1", "jarvis-run.1", "jarvis-models-pull.1", "jarvis-setup.1", "jarvis-doctor.1"] {
        let page = String::from_utf8(one[name].clone()).expect("UTF-8");
        assert!(page.contains(".TH") && !page.contains("/very/own.yaml"), "{name}");
    }
    assert!(
        !one.contains_key("jarvis-local-model.1") && !one.contains_key("jarvis-man.1"),
        "hidden commands have none"
    );
    let refused = harness.run(&["man", "--out", "/proc/none"]);
    assert!(refused.code == 1 && refused.stderr.contains("/proc/none"), "{}", refused.stderr);
}
