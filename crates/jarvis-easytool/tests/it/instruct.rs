//! Instructions of OpenAPI documents: of the sample in the repository.

use std::path::{Path, PathBuf};

use jarvis_catalogue::openapi::ApiDocument;
use jarvis_easytool::instruct::{
    InstructOptions, InstructReport, Instructions, Memo, Shape, Writer, check_endpoint, check_example, check_listing,
    read_documents, write,
};
use jarvis_easytool::instructions::read_endpoints;
use tokio_util::sync::CancellationToken;

/// The sample of the repository.
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
    insta::assert_snapshot!(lines.join("\n"), @r#"
Search for books by words of their title. Gives book_id. | If you want to search for books by words of their title, with query 'moon'. | {"input":"GET /search/book?query=moon"}
Search for authors by name. Gives author_id. | If you want to search for authors by name, with query 'moon'. | {"input":"GET /search/author?query=moon"}
Get the details of a book by its id. Needs book_id, which GET /search/book gives. | If you want to get the details of a book by its id, with book_id 456. | {"input":"GET /book/456"}
Get the reviews of a book. Needs book_id, which GET /search/book gives. | If you want to get the reviews of a book, with book_id 456. | {"input":"GET /book/456/reviews"}
Add a review to a book. Needs book_id, which GET /search/book gives. | If you want to add a review to a book, with book_id 456, text 'text' and stars 4. | {"input":"POST /book/456/reviews","body":{"text":"text","stars":4}}
Get the books of an author. Needs author_id, which GET /search/author gives. | If you want to get the books of an author, with author_id 456. | {"input":"GET /author/456/books"}
List what stands on a shelf. | If you want to list what stands on a shelf, with section 'fiction' and row 1. | {"input":"GET /shelf/fiction/1"}
List the books that you have borrowed. Gives loan_id. | If you want to list the books that you have borrowed. | {"input":"GET /loans"}
Borrow a book (loans). | If you want to borrow a book (loans), with book_id 456. | {"input":"POST /loans","body":{"book_id":456}}
Give a book back. Needs loan_id, which GET /loans gives. | If you want to give a book back, with loan_id '0b7e1a3c-52d4-4f6e-9a18-2c3d4e5f6a7b'. | {"input":"DELETE /loans/0b7e1a3c-52d4-4f6e-9a18-2c3d4e5f6a7b"}
Get the picture of a book's cover. Needs book_id, which GET /search/book gives. | If you want to get the picture of a book's cover, with book_id 456. | {"input":"GET /cover/456"}
Say when the library is open. | If you want to say when the library is open. | {"input":"GET /opening-hours"}
"#);
    // A file that was written can be read.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tools.json");
    std::fs::write(&path, instructions.to_json()).unwrap();
    assert_eq!(&read_endpoints(&path).unwrap(), endpoints);
}
