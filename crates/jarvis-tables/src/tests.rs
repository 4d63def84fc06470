//! Tables of every format, their values, and queries that are answered or refused.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The signatures of the tables of a text.
fn signatures(name: &str, text: &str) -> Vec<String> {
    tables(name, text).iter().map(Table::signature).collect()
}

#[test]
fn tables_are_found_in_every_format() {
    let check =
        |name: &str, text: &str, expected: &[&str]| assert_eq!(signatures(name, text), expected, "{name}: {text}");
    check("data/sales 2024.csv", "Region,Units sold\nNorth,3\n", &["sales_2024(region text, units_sold number)"]);
    check("a.csv", "город;цена\nКазань;1,5\nОмск;2,75\n", &["a(город text, цена number)"]);
    check("a.tsv", "a\tb\n1\t2\n", &["a(a number, b number)"]);
    check("a.csv", "a,\"b, c\"\n\"x\ny\",2\n", &["a(a text, b_c number)"]);
    check("a.csv", "name\nAnn\nBo\n", &["a(name text)"]);
    check("a.csv", "apple,3\npear,4\n", &["a(column_1 text, column_2 number)"]);
    check("a.csv", "a,b\n1,2,3\n", &["a(a_b text)"]);
    // A short row is left out and counted; read as one column of decimal commas, these would be 2020.5 and so on.
    let short = "year,amount\n2020,5\n2021\n2022,7\n";
    check("a.csv", short, &["a(year number, amount number)"]);
    assert_eq!((tables("a.csv", short)[0].rows.len(), tables("a.csv", short)[0].skipped), (2, 1));
    check("note.txt", "Anna, Bo\nand others\nCarl, Dora\n", &[]);
    check("a.json", r#"[{"a": 1, "order": "x"}, {"a": 2.5, "b": null}]"#, &["a(a number, order_ text, b text)"]);
    check("a.json", r#"{"total": 1, "items": [{"q": 1}]}"#, &["a(column_1 text, column_2 number)", "items(q number)"]);
    check("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", &["a(a number)"]);
    check("a.json", r#"[1, 2]"#, &[]);
    check(
        "note.md",
        "# One\n\n| a | b |\n|---|:-:|\n| x \\| y | $1,200 |\n\ntext\n\n## One\n\na|b\n-|-\n1|2\n",
        &["one(a text, b number in $)", "one_2(a number, b number)"],
    );
    check("note.txt", "Dear all, hello\nwe sold 3, they 4\n", &[]);
    check("note.txt", "", &[]);
    let both = [("a.csv", "x,y\n1,2\n"), ("dir/a.csv", "x,y\n1,2\n")];
    let names: Vec<String> = tables_of(both.into_iter()).into_iter().map(|table| table.name).collect();
    assert_eq!(names, ["a", "a_2"]);
}

#[test]
fn a_column_tells_how_its_numbers_are_written() {
    let check = |cells: &[&str], expected: serde_json::Value, unit: Option<&str>| {
        let (values, found) = values::read(cells);
        let shown = |cell: &Cell| match cell {
            Cell::Empty => serde_json::Value::Null,
            Cell::Integer(number) => json!(number),
            Cell::Real(number) => json!(number),
            Cell::Text(text) => json!(text),
        };
        assert_eq!(values.iter().map(shown).collect::<serde_json::Value>(), expected, "{cells:?}");
        assert_eq!(found.as_deref(), unit, "{cells:?}");
    };
    check(&["1", "-2.5", "", "n/a", "1e3"], json!([1, -2.5, null, null, 1000.0]), None);
    check(&["1,200", "1,000,000"], json!([1200, 1_000_000]), None);
    check(&["1,200", "1,5"], json!([1.2, 1.5]), None);
    check(&["1.200,50", "3"], json!([1200.5, 3]), None);
    check(&["1,200", "1,5", "2.5"], json!(["1,200", "1,5", "2.5"]), None);
    check(&["1 200", "12\u{a0}345,5"], json!([1200, 12345.5]), None);
    check(&["$1,200", "$-50", "-$3"], json!([1200, -50, -3]), Some("$"));
    check(&["5 kg", "7kg"], json!([5, 7]), Some("kg"));
    check(&["5 kg", "7 g"], json!(["5 kg", "7 g"]), None);
    check(&["5", "7 kg"], json!(["5", "7 kg"]), None);
    check(&["007", "12"], json!(["007", "12"]), None);
    check(&["0.5", "0"], json!([0.5, 0]), None);
    check(&["2024-01-02", "2024-01-03"], json!(["2024-01-02", "2024-01-03"]), None);
    check(&["12 34"], json!(["12 34"]), None);
    check(&["10:30"], json!(["10:30"]), None);
    check(&["1.2.3"], json!(["1.2.3"]), None);
    check(&["99999999999999999999"], json!([1e20]), None);
    check(&["-", ""], json!(["-", null]), None);
}

const SALES: &str =
    "Region,Item,Units,Price\nNorth,lamp,3,$1.10\nNorth,desk,4,$20\nSouth,lamp,5,$1.20\nSouth,desk,,$20\n";
const PEOPLE: &str = "region;head\nNorth;Ann\nSouth;Bo\n";

fn database() -> Database {
    Database::load(&tables_of([("sales.csv", SALES), ("people.csv", PEOPLE)].into_iter())).unwrap()
}

#[test]
fn queries_are_answered() {
    let mut database = database();
    let mut check = |sql: &str, rows: serde_json::Value| {
        let result = database.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(json!(result.rows), rows, "{sql}");
    };
    check("SELECT sum(units) FROM sales WHERE region = 'north' AND item = 'lamp'", json!([[3]]));
    check("SELECT sum(price) FROM sales WHERE item = 'lamp';", json!([[2.3]]));
    check(
        "SELECT region, count(*), avg(units) FROM sales GROUP BY region ORDER BY 1",
        json!([["North", 2, 3.5], ["South", 2, 5]]),
    );
    check(
        "SELECT head, sum(units) FROM sales JOIN people USING (region) GROUP BY head",
        json!([["Ann", 7], ["Bo", 5]]),
    );
    check(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3) SELECT x FROM n",
        json!([[1], [2], [3]]),
    );
    check("SELECT units FROM sales WHERE units IS NULL", json!([[null]]));
}

/// Words that SQL has a use for are names all the same, of columns and of tables.
#[test]
fn any_word_is_a_name() {
    const WORDS: &str = "abort action add after all alter always analyze and as asc attach autoincrement before begin between by \
        cascade case cast check collate column commit conflict constraint count create cross current current_date current_time \
        current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end entries escape except \
        exclude exclusive exists explain fail filter first following for foreign from full generated glob group groups having if ignore \
        immediate in index indexed initially inner insert instead intersect into is isnull join key kinds last left like limit match \
        materialized natural no not nothing notnull null nulls of offset on or order others outer over partition place plan pragma \
        preceding primary query raise range recursive references regexp reindex release rename replace restrict returning right rollback \
        row rows savepoint select set table temp temporary then ties to transaction trigger unbounded union unique update using \
        vacuum values view virtual when where window with without";
    for word in WORDS.split_whitespace() {
        let tables = tables(&format!("{word}.csv"), &format!("{word},n\na,1\nb,2\nb,4\n"));
        let [table] = tables.as_slice() else { panic!("{word}: {tables:?}") };
        let (table_name, column) = (&table.name, &table.columns[0].name);
        let mut database = Database::load(&tables).unwrap();
        let sql = format!(
            "SELECT {column}, sum(n) AS total FROM {table_name} WHERE {column} = 'b' GROUP BY {column} ORDER BY {column}"
        );
        let result = database.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(json!(result.rows), json!([["b", 6]]), "{sql}");
        for (asked, expected) in [("median n", json!([[2]])), ("total n", json!([[7]]))] {
            let question = question::Question::new(asked);
            let intent = question::Intent::read(&question);
            let made = question::query(&question, &intent, &tables).unwrap().unwrap().query.unwrap();
            assert_eq!(json!(database.query(&made.sql).unwrap().rows), expected, "{asked} of {word}: {}", made.sql);
        }
    }
}

#[test]
fn queries_that_do_more_than_read_are_refused() {
    let mut database = database();
    let mut check = |sql: &str, expected: &str| {
        let error = database.query(sql).unwrap_err().to_string();
        assert!(error.contains(expected), "{sql}: {error}");
    };
    for sql in [
        "DELETE FROM sales",
        "DROP TABLE sales",
        "INSERT INTO sales VALUES (1, 2, 3, 4)",
        "CREATE TABLE x (a)",
        "ATTACH ':memory:' AS other",
        "PRAGMA writable_schema = 1",
        "PRAGMA table_info(sales)",
        "VACUUM INTO '/tmp/x'",
        "BEGIN",
        "EXPLAIN DELETE FROM sales",
    ] {
        check(sql, "a query is one SELECT");
    }
    check("SELECT load_extension('x')", "not authorized to use function");
    check("SELECT 1; DROP TABLE sales", "a query is one SELECT");
    check("SELECT 1; SELECT 2", "several statements");
    check("SELECT ?", "it has no parameters");
    check("", "a query is one SELECT");
    check(
        "SELECT colour FROM sales",
        "no such column: colour; the tables are sales(region text, item text, units number, price number in $), people(",
    );
    check("SELECT * FROM orders", "no such table: orders; the tables are");
    check("SELECT 'x", "the query is invalid");
    check("SELECT zeroblob(2000000)", "larger");
    check(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT printf('%1000d', x) FROM n",
        "larger than 4 MiB",
    );
    let endless =
        "SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)";
    database.time = std::time::Duration::ZERO;
    assert_eq!(database.query(endless).unwrap_err(), QueryError::Time(std::time::Duration::ZERO));
    assert_eq!(Database::load(&[]).unwrap_err(), QueryError::NoTable);
}

#[test]
fn results_are_shown_and_cut() {
    let mut database = database();
    let result = database.query("SELECT 'a|b' AS x, '=1+1' AS y, -1 AS z, NULL AS n").unwrap();
    assert_eq!(result.to_markdown(), "| x | y | z | n |\n| --- | --- | --- | --- |\n| a\\|b | =1+1 | -1 |  |");
    assert_eq!(String::from_utf8(result.to_csv()).unwrap(), "x,y,z,n\na|b,'=1+1,-1,\n");
    assert_eq!(result.single(), None);
    assert_eq!(database.query("SELECT 1 + 1").unwrap().single(), Some(&json!(2)));
    let many = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) SELECT x FROM n";
    let result = database.query(many).unwrap();
    assert!(result.rows.len() == MAX_ROWS && result.is_cut);
    assert!(result.to_markdown().ends_with("500 of more than 10000 rows are shown."));
    let none = database.query("SELECT region FROM sales WHERE region = 'East'").unwrap();
    assert_eq!(none.to_markdown(), "No row matches. Columns: region");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever a text holds, its tables are rectangular, have names that differ, and can be loaded.
    #[test]
    fn any_table_can_be_loaded(text in "([a-cё,;|\t\n\"'1.,$ -]|\n\\|---\\|\n|\\[\\{\"a\": 1\\}\\]|select){0,80}", name in "(a.csv|b.md|c)") {
        let tables = tables(&name, &text);
        for table in &tables {
            prop_assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        }
        if !tables.is_empty() {
            let mut database = Database::load(&tables).unwrap();
            let all = database.query(&format!("SELECT * FROM {}", tables[0].name)).unwrap();
            prop_assert_eq!(all.rows.len(), tables[0].rows.len());
        }
    }
}
