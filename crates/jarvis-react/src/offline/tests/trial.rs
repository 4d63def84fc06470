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
];
