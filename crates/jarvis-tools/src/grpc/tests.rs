//! Names, addresses, descriptors, and JSON as messages.

use jarvis_testing::rows;
use prost_reflect::prost::Message;
use serde_json::json;

use super::*;

const CASES: &str = include_str!("tests.json");

const RICH: &str = r#"
syntax = "proto3";
package rich;
import "google/protobuf/timestamp.proto";
import "google/protobuf/struct.proto";
import "other.proto";
service Rich { rpc Do (Input) returns (Input); rpc Watch (Input) returns (stream Input); }
enum Colour { UNKNOWN = 0; RED = 1; }
message Input {
  // How many.
  int64 count = 1;
  repeated string some_names = 2;
  map<string, double> weights = 3;
  Colour colour = 4;
  google.protobuf.Timestamp at = 5;
  oneof choice { string text = 6; bytes raw = 7; }
  Input again = 8;
  google.protobuf.Struct free = 9;
  optional bool maybe = 10;
  Other other = 11;
}
"#;

const OTHER: &str = "syntax = \"proto3\"; package rich; message Other { uint32 size = 1; }";

fn rich() -> DescriptorPool {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rich.proto"), RICH).unwrap();
    std::fs::write(folder.path().join("other.proto"), OTHER).unwrap();
    load_descriptors(&folder.path().join("rich.proto")).unwrap()
}

fn method() -> MethodDescriptor {
    MethodName::parse("rich.Rich/Do").unwrap().find(&rich()).unwrap()
}

#[test]
fn methods_are_named_as_people_write_them() {
    for (text, path) in rows::<(String, Option<String>)>(CASES, "methods") {
        assert_eq!(MethodName::parse(&text).ok().map(|name| name.path()), path, "{text}");
    }
}

#[test]
fn addresses_are_checked() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _within = runtime.enter();
    for (address, shown) in [
        ("127.0.0.1:50052", Some("http://127.0.0.1:50052")),
        ("http://localhost:1/", Some("http://localhost:1")),
        ("https://rpc.example.org", Some("https://rpc.example.org")),
        ("[::1]:5", Some("http://[::1]:5")),
        ("http://127.0.0.1", Some("http://127.0.0.1")),
        (" 127.0.0.1:80 ", Some("http://127.0.0.1")),
        ("HTTPS://rpc.example.org:444", Some("https://rpc.example.org:444")),
        ("example.org:50051/", Some("http://example.org:50051")),
    ] {
        let endpoint = GrpcEndpoint::new(address, None, None);
        assert_eq!(endpoint.ok().as_ref().map(GrpcEndpoint::address), shown, "{address}");
    }
    for (address, told, reason) in rows::<(String, String, String)>(CASES, "addresses") {
        let error = GrpcEndpoint::new(&address, None, None).unwrap_err().to_string();
        let words = format!(
            "`{told}` is not the address of a gRPC service: it {reason}; write HOST:PORT or http(s)://HOST:PORT"
        );
        assert_eq!(error, words, "{address}");
    }
}

#[test]
fn descriptors_are_read_from_files_of_either_form() {
    let pool = rich();
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("rich.bin");
    std::fs::write(&set, pool.encode_to_vec()).unwrap();
    assert!(load_descriptors(&set).unwrap().get_service_by_name("rich.Rich").is_some());
    let bad = folder.path().join("bad.proto");
    std::fs::write(&bad, "import \"missing.proto\"; nonsense").unwrap();
    for (path, words) in [(&bad, "bad.proto"), (&folder.path().join("none.bin"), "none.bin")] {
        assert!(load_descriptors(path).unwrap_err().to_string().contains(words));
    }
    std::fs::write(&set, "nonsense").unwrap();
    assert!(matches!(load_descriptors(&set), Err(GrpcError::Descriptors { .. })));
    let streams = MethodName::parse("rich.Rich/Watch").unwrap().find(&pool).unwrap_err();
    assert!(streams.to_string().contains("streams"), "{streams}");
}

#[test]
fn a_message_has_a_schema_and_an_example() {
    let input = method().input();
    let schema = schema_of(&input);
    insta::assert_json_snapshot!(schema);
    let example = example_of(&input);
    assert!(example["count"].is_number() && example["some_names"].is_array(), "{example}");
    assert!(example.get("raw").is_none() && example["again"] == json!({}), "{example}");
    message_of(&method(), &example).unwrap();
}

#[test]
fn json_becomes_a_message_and_back() {
    let input = json!({
        "count": "9007199254740993", "some_names": ["x"], "weights": {"a": 0.5}, "colour": "RED",
        "at": "2026-01-31T12:00:00Z", "raw": "AAE=", "free": {"any": [1, null]}, "other": {"size": 3}
    });
    let message = message_of(&method(), &input).unwrap();
    let back = json_of(&DynamicMessage::decode(method().input(), message.encode_to_vec().as_slice()).unwrap()).unwrap();
    assert_eq!(back["count"], "9007199254740993");
    assert_eq!((&back["at"], &back["raw"], &back["colour"]), (&input["at"], &input["raw"], &input["colour"]));
    // The other spelling of names is taken too.
    assert!(message_of(&method(), &json!({"someNames": ["x"]})).is_ok());
    for (bad, words) in [
        (json!({"other": {"size": -1}}), "`other.size`"),
        (json!({"other": {"weight": 1}}), "'weight'"),
        (json!({"some_names": ["a", 5]}), "`some_names[1]`"),
        (json!({"colour": "PINK"}), "`colour`"),
        (json!({"text": "a", "raw": "AAE="}), "raw"),
    ] {
        let error = message_of(&method(), &bad).unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::InvalidInput);
        assert!(error.message.contains(words), "{bad}: {error}");
    }
}
