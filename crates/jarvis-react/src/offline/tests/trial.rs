//! What a trial by a demanding user found wrong, and what must be done instead.

use super::cases::Case;

const WIDE: &str = "Product,2022,2023,2024\nA,10,20,30\nB,5,6,7\nC,100,90,80\n";
const WIDE_RU: &str = "Товар;2022;2023\nЧай;10;20\nКофе;5;6\n";
const WIDE_ZH: &str = "产品,2022年,2023年\n茶,10,20\n咖啡,5,6\n";
const COMMAS: &str = "Coffee - 3,50 €\nTea - 2,00 €\nCake - 4,25 €\n";
const COMMAS_RU: &str = "Чай: 3,50 руб.; кофе: 2,25 руб.\n";
const GAPS: &str = "Student,Score\nA,90\nB,n/a\nC,absent\nD,70\n";
const POWERS: &str = "date,temp\n2024-01-01,-5\n2024-01-02,1e1\n";
const RAGGED: &str = "Item,Cost,Note\nPen,1,x\nCup,2,y\nBowl,5\nLamp,4,z\nBed,8,w\n";
const THIRDS: &str = "A: 1000\nB: 900\nC: 900\n";

const SALES: &str = "Region,Quarter,Revenue,Units\nNorth,Q1,1200,10\nNorth,Q2,1500,12\nSouth,Q1,800,7\nSouth,Q2,950,9\n\
East,Q1,,5\nEast,Q2,2000,20\nWest,Q1,1100,11\nWest,Q2,700,6\n";
const SALES_RU: &str = "Регион;Товар;Выручка\nСевер;Чай;10\nЮг;Чай;15\nСевер;Кофе;12\nЮг;Кофе;3\n";
const SALES_ZH: &str = "地区,产品,销售额\n北区,茶,10\n南区,茶,15\n北区,咖啡,12\n南区,咖啡,3\n";
const STAFF: &str = "name\tage\tcity\tsalary\nAnna\t34\tBerlin\t52000\nBob\t29\tParis\t48000\nCarl\t45\tBerlin\t61000\n\
Dina\t38\tMadrid\t57000\n";
const STAFF_RU: &str = "Имя;Возраст;Город\nАнна;34;Казань\nБорис;29;Москва\nВера;45;Казань\n";
const STAFF_ZH: &str = "姓名,年龄,城市\n张三,34,北京\n李四,29,上海\n王五,45,北京\n";
const BUDGET: &str = "| Month | Income | Costs |\n|---|---|---|\n| Jan | 1000 | 800 |\n| Feb | 1200 | 900 |\n";
const UNITS: &str = "Item,Price\nPen,$1.50\nBook,€12.00\nLamp,£30\n";

const JSON: &str = r#"{"shop": "Corner", "items": [{"name": "pen", "price": 1.5, "stock": 100},
{"name": "book", "price": 12.0, "stock": 8}, {"name": "lamp", "price": 30.25, "stock": 0}],
"owner": {"name": "Eve", "age": 51}, "city": "Graz"}"#;
const JSON_RU: &str = r#"[{"имя": "Анна", "возраст": 34}, {"имя": "Борис", "возраст": 29}]"#;
const JSON_ZH: &str = "{\"姓名\": \"张三\", \"年龄\": 34}\n{\"姓名\": \"李四\", \"年龄\": 29}\n";
const BREAKS: &str = "Name,Comment,\"Amount, USD\"\n\"Smith, John\",\"He said \"\"hi\"\"\",\"1,200.50\"\n\"Lee, Ann\",\"multi\nline\",\"2,300.00\"\n";

const CONTRACT: &str = "This Agreement is made on 3 March 2024 between Northwind Ltd (\"the Supplier\") and Contoso Inc \
(\"the Customer\"). The Customer pays 4,500 EUR per month. The Supplier's liability is limited to 50,000 EUR.\n";
const FAQ: &str = "Q: How do I reset my password?\nA: Click \"Forgot\" on the login page.\n\nQ: Is there a free plan?\nA: No.\n\n\
Q: How many users may I have?\nA: Up to 5.\n\nQ: Do you ship to Canada?\nA: Yes, within 5 days.\n";
const FAQ_RU: &str = "Как сменить пароль?\nНажмите «Забыли» на странице входа.\n\nЕсть ли бесплатный план?\nНет.\n";
const FAQ_ZH: &str = "问：有免费套餐吗？\n答：没有。\n\n问：怎么重置密码？\n答：点击登录页上的“忘记”。\n";
const MAIL: &str = "The offsite is moved from 12 May to 19 May. We meet in Graz, not in Vienna. Bob leads the group.\n";
const DENIED: &str = "The product was not released in 2020. It will not cost 500 EUR.\n";
const DENIED_RU: &str = "Завод не был открыт в 2020 году. Директором стал Иван Петров.\n";

/// A question, its document, the tools, what the answer must hold, and what it must not.
pub(super) const TRIAL: &[Case] = &[
    ("What is the total for 2023?", WIDE, "calculator", &["116", "2023"], &["2137"]),
    ("Which product is best in 2024?", WIDE, "calculator", &["C", "80"], &["Product"]),
    ("Какая сумма за 2023 год?", WIDE_RU, "calculator", &["26"], &["2023 "]),
    ("2023年的总和是多少？", WIDE_ZH, "calculator", &["26"], &["4049"]),
    ("How much is coffee?", COMMAS, "", &["3,50 €"], &[]),
    ("What is the average price?", COMMAS, "calculator", &["3.25"], &["50 €"]),
    ("Какая сумма?", COMMAS_RU, "calculator", &["5.75 руб."], &[]),
    ("What is the average score?", GAPS, "calculator", &["80", "2 values", "2 rows"], &[]),
    ("What is the highest temp?", POWERS, "calculator", &["2024-01-02", "10"], &[]),
    ("What is the total cost?", RAGGED, "calculator", &["15", "1 row without"], &[]),
    ("What is the average?", THIRDS, "calculator", &["about 933.3333 "], &["933.33333"]),
    ("What is the total for 2019?", WIDE, "", &["2019", "nothing"], &["115"]),
    ("What is the total?", WIDE, "", &["without a language model"], &["115"]),
    ("Which region has the highest total revenue?", SALES, "calculator", &["North", "2700"], &["East"]),
    ("Which region has the highest average revenue?", SALES, "calculator", &["East", "2000", "average"], &["North"]),
    ("Which region has the second highest total revenue?", SALES, "", &["East: 2000"], &["North"]),
    ("У какого региона наибольшая выручка?", SALES_RU, "calculator", &["Север", "22"], &["15"]),
    ("哪个地区销售额最高？", SALES_ZH, "calculator", &["北区", "22"], &["15"]),
    ("How many regions are there?", SALES, "count", &["4", "North"], &["8"]),
    ("Сколько регионов в таблице?", SALES_RU, "count", &["2", "Юг"], &["4"]),
    ("有多少个地区？", SALES_ZH, "count", &["2", "南区"], &["4"]),
    ("What is the total revenue by region?", SALES, "", &["North: 2700", "West: 1800", "1 row"], &[]),
    ("Draw the revenue by region", SALES, "plot", &["sum", "North: 2700", "1 row"], &["1200"]),
    ("Построй диаграмму выручки по регионам", SALES_RU, "plot", &["Север: 22", "Юг: 18"], &[]),
    ("画出各地区销售额的柱状图", SALES_ZH, "plot", &["北区：22", "南区：18"], &[]),
    ("Who is older than 35?", STAFF, "count", &["Carl", "Dina", "2"], &["Anna"]),
    ("Кто старше 30?", STAFF_RU, "count", &["Анна", "Вера", "2"], &["Борис"]),
    ("年龄大于30的有谁？", STAFF_ZH, "count", &["张三", "王五"], &["李四"]),
    ("What is the average salary of people older than 35?", STAFF, "calculator", &["59000"], &["54500"]),
    ("Who is older than Bob?", STAFF, "", &["without a language model"], &["45 "]),
    ("Кто старше Анны?", STAFF_RU, "", &["нельзя"], &[]),
    ("Who has the second highest salary?", STAFF, "", &["Dina", "57000"], &["Carl"]),
    ("谁的年龄第二大？", STAFF_ZH, "", &["张三", "34"], &["王五"]),
    ("Who are the two oldest people? Name the two oldest", STAFF, "", &["Carl: 45", "Dina: 38"], &["Anna"]),
    ("Which employees do not live in Berlin?", STAFF, "count", &["2", "Bob", "Dina"], &["Anna"]),
    ("Кто не живёт в Казани?", STAFF_RU, "count", &["1", "Борис"], &["Анна"]),
    ("哪些人不在北京？", STAFF_ZH, "count", &["1", "李四"], &["张三"]),
    ("What is the average salary outside Rome?", STAFF, "", &["nothing", "Rome"], &["54500"]),
    ("How many earn between 50000 and 60000?", STAFF, "", &["without a language model"], &[]),
    ("What was the total revenue in 2019?", SALES, "", &["2019", "nothing"], &["8250"]),
    ("What was the total revenue of North in Q3?", SALES, "", &["Q3", "nothing"], &["2700"]),
    ("What is the difference between Q1 and Q2 revenue?", SALES, "", &["2050", "3100", "5150"], &["1300"]),
    ("What is the difference between income and costs in Feb?", BUDGET, "", &["300"], &["200 "]),
    ("What is the difference between Bob and Zed?", STAFF, "", &["nothing", "Zed"], &[]),
    ("Draw a chart of the prices", UNITS, "", &["different units"], &[]),
    ("Нарисуй график цен (Price)", UNITS, "", &["разных единицах"], &[]),
    ("画出价格图表", UNITS, "", &["单位不同"], &[]),
    ("What is the total amount?", BREAKS, "calculator", &["3500.5", "2 values"], &[]),
    ("Who has the highest amount?", BREAKS, "calculator", &["Lee, Ann", "2300"], &["Smith"]),
    ("What is the price of the lamp?", JSON, "", &["30.25"], &["1.5", "{"]),
    ("Which item has the highest price?", JSON, "calculator", &["lamp", "30.25"], &["book"]),
    ("How old is the owner?", JSON, "", &["51"], &["{"]),
    ("What is the total stock?", JSON, "calculator", &["108"], &[]),
    ("What is the city?", JSON, "search_document", &["Graz"], &["{", "pen"]),
    ("Сколько лет Анне?", JSON_RU, "", &["34"], &["29"]),
    ("谁的年龄最大？", JSON_ZH, "calculator", &["张三", "34"], &["李四"]),
    ("Who is the owner?", JSON, "", &["Eve"], &["{"]),
    ("What did Smith, John say?", BREAKS, "", &["He said \"hi\""], &["2,300"]),
    // Several of a kind in a sentence, and what it denies: the sentence is quoted, and none is picked.
    (
        "Who is the supplier?",
        CONTRACT,
        "search_document",
        &["says: “This Agreement", "Northwind"],
        &["Contoso Inc. The"],
    ),
    ("How much does the customer pay per month?", CONTRACT, "search_document", &["4,500 EUR. The document"], &[]),
    ("How much does the supplier pay?", CONTRACT, "search_document", &["says: “The Customer pays"], &[]),
    ("When is the offsite?", MAIL, "search_document", &["says: “The offsite", "19 May"], &["12 May. "]),
    ("Where do we meet?", MAIL, "search_document", &["says: “We meet in Graz, not in Vienna"], &[]),
    ("What does it cost?", DENIED, "search_document", &["says: “It will not cost"], &["500 EUR. The"]),
    ("When was the product released?", DENIED, "search_document", &["says: “The product was not"], &["2020. The"]),
    ("Когда был открыт завод?", DENIED_RU, "search_document", &["В документе: «Завод не"], &["2020 году. В"]),
    ("Кто стал директором?", DENIED_RU, "search_document", &["Иван Петров. В документе"], &[]),
    // Questions that the document answers itself.
    ("Is there a free plan?", FAQ, "search_document", &["says: “Q: Is there a free plan? A: No."], &[]),
    ("How do I reset my password?", FAQ, "search_document", &["says:", "Click"], &["plan"]),
    ("How many users may I have?", FAQ, "search_document", &["says:", "Up to 5"], &["5 days"]),
    ("Do you ship to Mexico?", FAQ, "search_document", &["does not say this plainly"], &["says:"]),
    ("Есть ли бесплатный план?", FAQ_RU, "search_document", &["Нет."], &["пароль"]),
    ("有免费套餐吗？", FAQ_ZH, "search_document", &["没有。"], &["密码"]),
];
