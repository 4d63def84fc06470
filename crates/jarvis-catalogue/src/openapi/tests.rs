//! Documents as they should be, as they are found, and as they must not be.

use serde_json::{Map, Value, json};

use super::*;

fn library() -> ApiDocument {
    ApiDocument::parse(include_str!("../../../../examples/easytool/library.yaml")).unwrap()
}

/// A document with one path item.
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
    for (text, part) in [
        ("", "`openapi`"),
        ("[1, 2]", "`openapi`"),
        ("just words", "`openapi`"),
        ("{\"openapi\": ", "neither JSON nor YAML"),
        ("a: [", "neither JSON nor YAML"),
        ("swagger: '2.0'\npaths: {}", "Swagger 2.0"),
        ("openapi: 2.5.0\npaths: {}", "OpenAPI 2.5.0"),
        ("openapi: 3.0.0", "`paths`"),
    ] {
        let error = ApiDocument::parse(text).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
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
    let schema = |value: Value| Schema::read(&Value::Null, &value);
    let fits = |given: Value, value: Value, wanted: Option<Value>| {
        assert_eq!(schema(given.clone()).accept(&value).ok(), wanted, "{value} as {given}");
    };
    fits(json!({"type": "integer"}), json!("20"), Some(json!(20)));
    fits(json!({"type": "integer"}), json!(4.0), Some(json!(4)));
    fits(json!({"type": "integer"}), json!(4.5), None);
    fits(json!({"type": "integer"}), json!("four"), None);
    fits(json!({"type": "integer"}), json!(""), None);
    fits(json!({"type": "integer", "maximum": 5}), json!(9), None);
    fits(json!({"type": "number"}), json!("1.5"), Some(json!(1.5)));
    fits(json!({"type": "boolean"}), json!("false"), Some(json!(false)));
    fits(json!({"type": "boolean"}), json!("no"), None);
    fits(json!({"type": "string"}), json!(7), Some(json!("7")));
    fits(json!({"type": "string"}), json!(["7"]), None);
    fits(json!({"type": ["string", "array"]}), json!(["7"]), Some(json!(["7"])));
    fits(json!({"type": "string", "enum": ["a", "b"]}), json!("b"), Some(json!("b")));
    fits(json!({"type": "string", "enum": ["a", "b"]}), json!("c"), None);
    fits(json!({"type": "array", "items": {"type": "integer"}}), json!("1, 2"), Some(json!([1, 2])));
    fits(json!({"type": "array", "items": {"type": "integer"}}), json!(["x"]), None);
    fits(json!({"type": "string", "nullable": true}), json!(null), Some(json!(null)));
    fits(json!({"type": ["string", "null"]}), json!(null), Some(json!(null)));
    fits(json!({"type": "string"}), json!(null), None);
    fits(json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}), json!(3), Some(json!("3")));
    fits(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!("x"), None);
    fits(json!({"allOf": [{"properties": {"a": {"type": "integer"}}}], "required": ["a"]}), json!({}), None);
    fits(json!({"enum": [1, 2]}), json!("2"), Some(json!(2)));
    fits(json!({}), json!({"any": "thing"}), Some(json!({"any": "thing"})));
}

#[test]
fn faults_of_arguments_are_named() {
    let library = library();
    let check = |name: &str, arguments: Value, wanted: &[&str]| {
        let faults = library.operation(name).unwrap().faults(&object(arguments));
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(faults, wanted, "{name}");
    };
    check("searchBook", json!({"query": "snow", "page": "2"}), &[]);
    check(
        "searchBook",
        json!({"page": "two"}),
        &["the required parameter `query` is missing", "the parameter `page` should be an integer, not \"two\""],
    );
    check("getOpeningHours", json!({"day": 1}), &["there is no parameter `day`; there are none"]);
    check("getBook", json!({"book_id": 3, "lang": "en"}), &["there is no parameter `lang`; there are book_id"]);
    check(
        "getReviews",
        json!({"book_id": 3, "stars": [9]}),
        &["the parameter `stars` holds an element that should be at most 5, not 9"],
    );
    check(
        "addReview",
        json!({"book_id": 3}),
        &["the required parameter `text` is missing", "the required parameter `stars` is missing"],
    );
}

#[test]
fn requests_find_their_operation() {
    let library = library();
    let check = |method: &str, path: &str, wanted: &str| {
        let found = match library.find(method, path) {
            Found::Operation(operation, values) => {
                let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
                format!("{} {}", operation.id, values.join(" "))
            }
            Found::OtherMethods(methods) => methods.join(","),
            Found::Nothing => "nothing".into(),
        };
        assert_eq!(found.trim(), wanted, "{method} {path}");
    };
    check("GET", "/book/12", "getBook book_id=12");
    check("GET", "/book/12/reviews/", "getReviews book_id=12");
    check("GET", "/shelf/a%2Fb/3", "getShelf section=a/b row=3");
    check("PUT", "/book/12/reviews", "GET,POST");
    check("GET", "/book", "nothing");
    check("GET", "/book//reviews", "nothing");

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
    let check = |name: &str, arguments: Value, wanted: Result<(&str, Value), &str>| {
        let target = library.operation(name).unwrap().target(&object(arguments));
        let target = match &target {
            Ok(target) => Ok((target.path_and_query(), target.body.clone().map_or(Value::Null, |(_, body)| body))),
            Err(faults) => Err(faults[0].to_string()),
        };
        assert_eq!(target, wanted.map(|(path, body)| (path.to_owned(), body)).map_err(str::to_owned), "{name}");
    };
    check(
        "searchBook",
        json!({"query": "snow & ice/fire", "page": "2"}),
        Ok(("/search/book?query=snow%20%26%20ice/fire&page=2", Value::Null)),
    );
    check("getReviews", json!({"book_id": 7, "stars": "4,5"}), Ok(("/book/7/reviews?stars=4,5", Value::Null)));
    check(
        "addReview",
        json!({"book_id": "7", "text": "good", "stars": "4"}),
        Ok(("/book/7/reviews", json!({"text": "good", "stars": 4}))),
    );
    check("returnBook", json!({"loan_id": "a/../b?c#d"}), Ok(("/loans/a%2F..%2Fb%3Fc%23d", Value::Null)));
    check(
        "returnBook",
        json!({"loan_id": ".."}),
        Err("the parameter `loan_id` is part of the path and cannot be `.` or `..`"),
    );
    check("returnBook", json!({"loan_id": ""}), Err("the parameter `loan_id` is part of the path and cannot be empty"));
    check("getBook", json!({"book_id": "seven"}), Err("the parameter `book_id` should be an integer, not \"seven\""));

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
