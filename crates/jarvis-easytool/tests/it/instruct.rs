//! Instructions of OpenAPI documents: of the sample in the repository.

use std::path::{Path, PathBuf};

use jarvis_catalogue::openapi::ApiDocument;
use jarvis_easytool::instruct::{
    InstructOptions, InstructReport, Instructions, Memo, Shape, Writer, check_endpoint, check_example, check_listing,
    read_documents, write,
};
use jarvis_easytool::instructions::read_endpoints;
use tokio_util::sync::CancellationToken;

pub(crate) fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/easytool/library.yaml")
}

async fn written(path: &Path, shape: Shape) -> (Instructions, InstructReport) {
    let documents = read_documents(path).unwrap();
    let options = InstructOptions { shape, ..InstructOptions::default() };
    write(&documents, &Writer::default(), options, &Memo::none(), &CancellationToken::new()).await.unwrap()
}

/// Every Example is a request that the document allows, and every endpoint is there.
pub(crate) async fn check(path: &Path) -> (Vec<String>, InstructReport) {
    let document = ApiDocument::read(path).unwrap();
    let (instructions, report) = written(path, Shape::Endpoints).await;
    let Instructions::Endpoints(endpoints) = &instructions else { panic!("endpoints") };
    assert_eq!(endpoints.len(), document.operations.len());
    for endpoint in endpoints {
        assert_eq!(check_endpoint(&document, endpoint), Ok(()), "{}", endpoint.tool_usage);
    }
    let (tools, _) = written(path, Shape::Tools).await;
    let Instructions::Tools(tools) = &tools else { panic!("tools") };
    let names: Vec<&str> = tools[0].tool_guidelines.keys().map(String::as_str).collect();
    check_listing(&tools[0].tool_description, &names).unwrap();
    for guideline in tools[0].tool_guidelines.values() {
        let arguments = guideline.example.parameters.as_map().unwrap();
        assert_eq!(check_example(guideline, arguments), [], "{}", guideline.name);
    }
    (endpoints.iter().map(|endpoint| endpoint.tool_usage.clone()).collect(), report)
}

#[tokio::test]
async fn the_library_is_described() {
    let (usages, report) = check(&library()).await;
    assert_eq!((usages.len(), report.apis_in, report.calls), (12, 12, 0));
    let (instructions, _) = written(&library(), Shape::Endpoints).await;
    let Instructions::Endpoints(endpoints) = &instructions else { panic!("endpoints") };
    let lines: Vec<String> = endpoints
        .iter()
        .map(|one| format!("{} | {} | {}", one.tool_description, one.example.scenario, one.example.parameters))
        .collect();
    insta::assert_snapshot!("the_library_is_described", lines.join("\n"));
    // A file that was written can be read.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.json");
    std::fs::write(&path, instructions.to_json()).unwrap();
    assert_eq!(&read_endpoints(&path).unwrap(), endpoints);
}
