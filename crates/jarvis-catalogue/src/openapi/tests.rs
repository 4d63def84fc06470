//! Documents as they should be, as they are found, and as they must not be.

use jarvis_testing::rows;
use serde_json::{Map, Value, json};

use super::*;

const CASES: &str = include_str!("tests.json");

fn library() -> ApiDocument {
    ApiDocument::parse(include_str!("../../../../examples/easytool/library.yaml")).unwrap()
}

fn document(path: &str, item: Value) -> ApiDocument {
    ApiDocument::from_value(json!({"openapi": "3.1.0", "paths": {path: item}})).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn a_yaml_document_is_read() {
    let library = library();
    assert_eq!(library.title, "Town Library");
    assert_eq!(library.servers, ["http://localhost:8090/v1"]);
    assert_eq!(library.keys, [KeyPlace::Header("X-Library-Card".into())]);
    assert_eq!(library.operations.len(), 12);

    let search = library.operation("GET /search/book").unwrap();
    let names: Vec<&str> = search.parameters.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["query", "page", "language"]);
    // Norwegian stays Norwegian.
    assert_eq!(search.parameter("language").unwrap().schema.enumeration, [json!("en"), json!("no"), json!("ru")]);
    assert_eq!(search.parameter("page").unwrap().schema.default, Some(json!(1)));

    let review = library.operation("addReview").unwrap();
    let required: Vec<(&str, Location, bool)> =
        review.parameters.iter().map(|one| (one.name.as_str(), one.location, one.required)).collect();
    assert_eq!(
        required,
        [
            ("book_id", Location::Path, true),
            ("text", Location::Body, true),
            ("stars", Location::Body, true),
            ("anonymous", Location::Body, false)
        ]
    );
    assert!(library.operation("getOpeningHours").unwrap().public);
    assert!(!library.operation("getReviews").unwrap().parameter("stars").unwrap().explode);
    for (name, id) in [
        ("GET /book/{id}", "getBook"),
        ("get  /book/{book_id}", "getBook"),
        (" DELETE /loans/{loan_id} ", "returnBook"),
    ] {
        assert_eq!(library.operation(name).unwrap().id, id, "{name}");
    }
    assert!(library.operation("GET /nothing").is_none() && library.operation("").is_none());
}

#[test]
fn what_is_no_openapi_document_is_refused() {
    for (text, part) in rows::<(String, String)>(CASES, "refused") {
        let error = ApiDocument::parse(&text).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(&part), "{text:?}: {error}");
    }
    let paths: Map<String, Value> = (0..=MAX_OPERATIONS).map(|at| (format!("/{at}"), json!({"get": {}}))).collect();
    let many = ApiDocument::from_value(json!({"openapi": "3.0.0", "paths": paths}));
    assert!(matches!(many, Err(ApiError::TooMany)));
}

#[test]
fn files_are_taken_as_they_are_found() {
    let document = document(
        "/a/{kind}",
        json!({
            "x-note": "no method",
            "parameters": [
                {"in": "query", "name": "limit", "schema": {"type": "integer"}},
                {"in": "query", "name": "api", "content": {"application/json": {"schema": {"type": "object"}}}},
                {"in": "query", "name": "far", "schema": {"$ref": "https://evil.test/x.json"}},
                {"in": "header", "name": "Accept", "schema": {"type": "string"}},
            ],
            "get": {"summary": 7, "parameters": [
                {"in": "query", "name": "limit", "required": "true",
                 "schema": {"type": ["integer", "null"], "default": "20", "maximum": "50"}},
                {"$ref": "#/nowhere"}, {"$ref": "#/paths/~1a~1{kind}/get/parameters/2"}, 5,
            ]},
        }),
    );
    let operation = &document.operations[0];
    let names: Vec<&str> = operation.parameters.iter().map(|one| one.name.as_str()).collect();
    // The undeclared placeholder is there, what leads nowhere is not.
    assert_eq!(names, ["limit", "api", "far", "kind"]);
    let limit = operation.parameter("limit").unwrap();
    assert!(limit.required && limit.schema.nullable);
    assert_eq!((&limit.schema.default, limit.schema.maximum), (&Some(json!(20)), Some(50.0)));
    assert_eq!(operation.parameter("api").unwrap().schema.kind, SchemaKind::Object);
    assert_eq!(operation.parameter("far").unwrap().schema.kind, SchemaKind::Any);
    assert_eq!(operation.summary, "7");
    assert!(operation.parameter("kind").unwrap().required);
}

#[test]
fn circles_and_bombs_end() {
    let mut schemas = json!({"Node": {"type": "object", "properties": {
        "name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}}}});
    // Each holds the next ten times: read out, it would be 10^30 schemas.
    for at in 0..30 {
        let next = json!({"$ref": format!("#/components/schemas/B{}", at + 1)});
        let properties: Map<String, Value> = (0..10).map(|field| (format!("f{field}"), next.clone())).collect();
        schemas[format!("B{at}")] = json!({"type": "object", "properties": properties});
    }
    let body = |name: &str| {
        let schema = json!({"$ref": format!("#/components/schemas/{name}")});
        json!({"post": {"requestBody": {"content": {"application/json": {"schema": schema}}}}})
    };
    let document = ApiDocument::from_value(json!({
        "openapi": "3.0.3",
        "paths": {"/node": body("Node"), "/bomb": body("B0"), "/self": {"$ref": "#/paths/~1self"}},
        "components": {"schemas": schemas},
    }))
    .unwrap();
    assert_eq!(document.operations.len(), 2);
    let next = &document.operations[0].parameter("next").unwrap().schema;
    assert_eq!(next.kind, SchemaKind::Any);
    assert_eq!(document.operations[1].parameters.len(), 10);
}

#[test]
fn values_are_accepted_where_they_can_be_converted() {
    // A schema, a value, and what becomes of it; nothing where it is refused.
    for row in rows::<Vec<Value>>(CASES, "accepted") {
        let found = Schema::read(&Value::Null, &row[0]).accept(&row[1]).ok();
        assert_eq!(found.as_ref(), row.get(2), "{} as {}", row[1], row[0]);
    }
}

#[test]
fn faults_of_arguments_are_named() {
    let library = library();
    for (name, arguments, wanted) in rows::<(String, Value, Vec<String>)>(CASES, "faults") {
        let faults = library.operation(&name).unwrap().faults(&object(arguments));
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(faults, wanted, "{name}");
    }
}

#[test]
fn requests_find_their_operation() {
    let library = library();
    for (method, path, wanted) in rows::<(String, String, String)>(CASES, "found") {
        let found = match library.find(&method, &path) {
            Found::Operation(operation, values) => {
                let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("{} {}", operation.id, values.join(" "))
            }
            Found::OtherMethods(methods) => methods.join(","),
            Found::Nothing => "nothing".into(),
        };
        assert_eq!(found.trim(), wanted, "{method} {path}");
    }

    let document = ApiDocument::from_value(json!({"openapi": "3.0.0", "paths": {
        "/m/{id}": {"get": {"operationId": "one"}}, "/m/latest": {"get": {"operationId": "latest"}},
        "/f/{name}.{kind}": {"get": {"operationId": "file"}},
    }}))
    .unwrap();
    let id = |path: &str| match document.find("GET", path) {
        Found::Operation(operation, values) => format!("{} {values:?}", operation.id),
        Found::OtherMethods(_) | Found::Nothing => "nothing".into(),
    };
    assert_eq!(id("/m/latest"), "latest []");
    assert_eq!(id("/m/7"), "one [(\"id\", \"7\")]");
    assert_eq!(id("/f/a.json"), "file [(\"name\", \"a\"), (\"kind\", \"json\")]");
}

#[test]
fn answers_are_described_and_made_up() {
    let library = library();
    let response = |name: &str| library.response(library.operation(name).unwrap());
    let search = response("searchBook");
    assert_eq!((search.status, search.media_type.as_str()), (200, "application/json"));
    assert_eq!(
        search.schema.unwrap().full_sample("").to_string(),
        "{\"page\":1,\"results\":[{\"id\":456,\"title\":\"Gösta Berlings saga\",\"year\":2020,\"language\":\"en\",\
         \"author_id\":456,\"sequel\":{}}]}"
    );
    assert_eq!(response("searchAuthor").example.unwrap()["results"][0]["id"], 31);
    assert_eq!((response("returnBook").status, response("returnBook").media_type.as_str()), (204, ""));
    assert_eq!(response("getCover").media_type, "image/png");
}

#[test]
fn what_is_made_up_fits() {
    for operation in &library().operations {
        let arguments: Map<String, Value> =
            operation.parameters.iter().map(|one| (one.name.clone(), one.schema.sample(&one.name))).collect();
        assert_eq!(operation.faults(&arguments), [], "{}", operation.usage());
    }
}

#[test]
fn arguments_become_requests() {
    let library = library();
    type Row = (String, Value, Result<(String, Value), String>);
    for (name, arguments, wanted) in rows::<Row>(CASES, "targets") {
        let target = library.operation(&name).unwrap().target(&object(arguments));
        let target = match &target {
            Ok(target) => Ok((target.path_and_query(), target.body.clone().map_or(Value::Null, |(_, body)| body))),
            Err(faults) => Err(faults[0].to_string()),
        };
        assert_eq!(target, wanted, "{name}");
    }

    let document = document(
        "/a",
        json!({"get": {"parameters": [
        {"in": "query", "name": "many", "schema": {"type": "array"}}, {"in": "header", "name": "X-A", "schema": {}},
        {"in": "cookie", "name": "c", "schema": {}}]}}),
    );
    let arguments = object(json!({"many": ["1", "2"], "X-A": "a\r\nX-Evil: 1", "c": "1; d=2"}));
    let target = document.operations[0].target(&arguments).unwrap();
    assert_eq!(target.query, "many=1&many=2");
    assert_eq!(target.headers, [("X-A".into(), "a  X-Evil: 1".into()), ("Cookie".into(), "c=1%3B%20d%3D2".to_owned())]);
}
