//! Crates for crates.io say what they are and depend on their like alone, and the compiler that tests them is the oldest that they
//! promise to build with.

use serde_json::Value;

use super::Finding;

const SAYS: &str = "a crate with `publish = true` says what it is";
const DEPENDS: &str = "a crate with `publish = true` depends on such crates alone, by the workspace's version";
const COMPILER: &str = "`rust-version` is the toolchain of rust-toolchain.toml, which tests it";

/// What a package page shows, and docs.rs reads, in the JSON of `cargo metadata`.
const FIELDS: [&str; 10] = [
    "/description",
    "/license",
    "/repository",
    "/documentation",
    "/readme",
    "/rust_version",
    "/keywords/0",
    "/categories/0",
    "/metadata/docs",
    "/authors/0",
];

/// The most keywords and the most categories that crates.io takes.
const MOST: usize = 5;

/// A package as `cargo metadata` tells of it, and the path of its manifest.
pub(super) struct Package<'a> {
    pub(super) path: &'a str,
    pub(super) json: &'a Value,
}

impl Package<'_> {
    fn name(&self) -> &str {
        self.json.get("name").and_then(Value::as_str).unwrap_or_default()
    }
}

/// Whether a package may be published; `publish = false` is told as an empty list.
pub(super) fn is_published(package: &Value) -> bool {
    package.get("publish").is_none_or(Value::is_null)
}

pub(super) fn check(packages: &[Package<'_>], channel: &str) -> Vec<Finding> {
    let published: Vec<&Package<'_>> = packages.iter().filter(|package| is_published(package.json)).collect();
    let names: Vec<&str> = published.iter().map(|package| package.name()).collect();
    let mut findings = Vec::new();
    for package in published {
        let mut find = |what: String, rule| findings.push(Finding::new(package.path, 0, what, rule));
        for field in FIELDS.iter().filter(|field| package.json.pointer(field).is_none_or(Value::is_null)) {
            find(format!("no `{}`", field.trim_start_matches('/').trim_end_matches("/0").replace('/', ".")), SAYS);
        }
        for field in ["keywords", "categories"] {
            let count = package.json.get(field).and_then(Value::as_array).map_or(0, Vec::len);
            if count > MOST {
                find(format!("{count} {field}, and crates.io takes {MOST}"), SAYS);
            }
        }
        let oldest = package.json.get("rust_version").and_then(Value::as_str).unwrap_or_default();
        if !is_same(oldest, channel) {
            find(format!("`rust-version` is {oldest}, and the toolchain is {channel}"), COMPILER);
        }
        let version = package.json.get("version").and_then(Value::as_str).unwrap_or_default();
        for dependency in package.json.get("dependencies").and_then(Value::as_array).into_iter().flatten() {
            let text = |key| dependency.get(key).and_then(Value::as_str);
            // Packaging leaves out what only tests need, where it has no version.
            if text("path").is_none() || text("kind") == Some("dev") && text("req") == Some("*") {
                continue;
            }
            let name = text("name").unwrap_or_default();
            if !names.contains(&name) {
                find(format!("`{name}` is not published"), DEPENDS);
            } else if text("req") != Some(&format!("^{version}")) {
                let req = text("req").unwrap_or_default();
                find(format!("`{name}` is wanted as `{req}`, and the version is {version}"), DEPENDS);
            }
        }
    }
    findings
}

/// Whether `1.95` and `1.95.0` are the same.
fn is_same(oldest: &str, channel: &str) -> bool {
    !oldest.is_empty() && (channel == oldest || channel.strip_suffix(".0") == Some(oldest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good() -> Value {
        json!({
            "name": "a", "version": "0.1.0", "publish": null, "description": "A.", "license": "MIT", "repository": "r",
            "documentation": "d", "readme": "README.md", "rust_version": "1.95", "keywords": ["k"], "categories": ["c"],
            "authors": ["n"], "metadata": {"docs": {"rs": {}}},
            "dependencies": [
                {"name": "serde", "req": "^1", "kind": null},
                {"name": "a", "req": "^0.1.0", "kind": null, "path": "/a"},
                {"name": "testing", "req": "*", "kind": "dev", "path": "/testing"},
            ],
        })
    }

    #[test]
    fn what_a_published_crate_lacks_is_told() {
        let cases = [
            ("/readme", Value::Null, "no `readme`"),
            ("/keywords", json!([]), "no `keywords`"),
            ("/keywords", json!(["a", "b", "c", "d", "e", "f"]), "6 keywords, and crates.io takes 5"),
            ("/metadata", json!({"jarvis": {}}), "no `metadata.docs`"),
            ("/rust_version", json!("1.94"), "`rust-version` is 1.94, and the toolchain is 1.95.0"),
            ("/dependencies/1/name", json!("b"), "`b` is not published"),
            ("/dependencies/1/req", json!("*"), "`a` is wanted as `*`, and the version is 0.1.0"),
            ("/dependencies/2/req", json!("^0.1.0"), "`testing` is not published"),
            ("/version", json!("0.2.0"), "`a` is wanted as `^0.1.0`, and the version is 0.2.0"),
        ];
        let found = |json: &Value| check(&[Package { path: "a/Cargo.toml", json }], "1.95.0");
        assert_eq!(found(&good()), []);
        for (field, value, expected) in cases {
            let mut json = good();
            *json.pointer_mut(field).unwrap() = value;
            assert_eq!(found(&json).iter().map(|finding| finding.what.as_str()).collect::<Vec<_>>(), [expected]);
            *json.pointer_mut("/publish").unwrap() = json!([]);
            assert_eq!(found(&json), [], "it is not published");
        }
    }

    #[test]
    fn compilers_are_compared_by_version() {
        for (oldest, channel, same) in
            [("1.95", "1.95.0", true), ("1.95.0", "1.95.0", true), ("1.9", "1.95.0", false), ("", "stable", false)]
        {
            assert_eq!(is_same(oldest, channel), same, "{oldest} {channel}");
        }
    }
}
