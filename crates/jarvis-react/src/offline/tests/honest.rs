//! Questions that tempt to a wrong answer: the document speaks of something close to what is asked. What is said must be
//! right, or leave the answer open: the sentence alone, the nearest passage, or a plain refusal.

/// What an answer must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Due {
    /// Told, with these parts in it.
    Told(&'static [&'static str]),
    /// Left open; none of these parts may be in it.
    Open(&'static [&'static str]),
}
use Due::{Open, Told};

/// A question, its document, and what the answer must be.
pub(super) type Case = (&'static str, &'static str, Due);

const FIRM: &str = "Harbour Optics was founded in 1991 by Ines Vogel and Paul Okoro in Kiel. The company grinds lenses for \
lighthouses.\nIn 2006 it moved its main workshop to Dresden. Its founder Ines Vogel left the board in 2013.\nIn 2018 the firm \
employed 87 people and had revenue of 12 million euro; in 2019 revenue fell to 9 million euro.\nThe director is Greta Lind. \
She was hired in 2015 from Zeiss.\nThe foundry in Tallinn was closed on 7 May 2020.\n";
const MARKET: &str = "Cherries cost $4.20 per kg, plums $3.10 per kg and figs $7.50 per kg.\nOn Tuesdays figs are sold at half \
price. We are open from 8:00 to 17:00, on Monday we are closed.\nCall Ms. Hill at +44 20 7946 0999.\n";
const LEASE: &str = "The lease between Orion Ltd (the landlord) and Vega GmbH (the tenant) was signed on 4 April 2021 by Nora Diaz \
for the landlord and Emil Kraus for the tenant.\nThe rent is 2,000 EUR.\n";
const ASCENTS: &str = "The first ascent took place in 1911. The second ascent, in 1914, lasted 52 hours.\n";
const BILLS: &str =
    "day;client;amount;paid\n2024-03-01;Delta;900,00;yes\n2024-03-09;Echo;150,50;no\n2024-04-02;Delta;75,25;no\n";
const BILLS_RU: &str = "Счёт;Клиент;Сумма;Оплачен\n1;Дельта;900;да\n2;Эхо;150;нет\n3;Дельта;75;нет\n";
const BILLS_ZH: &str = "日期,客户,金额,已付\n2024-03-01,甲,900,是\n2024-03-09,乙,150,否\n2024-04-02,甲,75,否\n";
const MONTHS: &str = "month,revenue\nJan,40\nFeb,50\nMar,-6\n";
const TEAM: &str =
    "name,team,pay,since\nUma,Design,41000,2014\nVic,Code,58000,2017\nWes,Code,69000,2011\nXia,Design,47000,2019\n";
const TEAM_ZH: &str = "姓名,部门,工资\n孙一,销售,8000\n周二,技术,12000\n吴三,技术,15000\n";
const PAY_RU: &str = "Имя;Отдел;Зарплата\nЛес;Продажи;80\nГром;Склад;95\n";
const MONTHLY_ZH: &str = "姓名,年龄,月薪\n孙一,28,9000\n周二,35,12000\n";
const SHELF: &str = "# Stock\n\n| item | qty | price |\n|---|---:|---:|\n| hinges | 40 | 1.50 |\n| hooks | 300 | 0.20 |\n| locks | 0 | 9.00 |\n";
const SHELF_RU: &str = "Товар;Запас;Цена\nПетли;40;15\nКрюки;300;2\n";
const SHELF_ZH: &str = "商品,库存,单价\n锁,40,15\n钩子,300,2\n";
const MENU: &str = "Mocha: 4.00\nTea: 2.00\nBagel: 3.00\nSalad: 7.00 (vegan)\n";
const MENU_RU: &str = "Чай: 50 руб.\nКофе: 120 руб.\nПирог: 90 руб.\n";
const MENU_ZH: &str = "茶：5元\n咖啡：20元\n蛋糕：15元\n";
const PLANT_RU: &str = "Фабрика «Луч» основана в 1928 году в Твери. Директор фабрики — Олег Зимин. На фабрике работает 640 человек.\n\
Цех в Туле закрыли в 2018 году. В 2019 году выручка составила 5 млн рублей, в 2020 году — 4 млн рублей.\n";
const SALE_RU: &str = "Договор подписали 5 мая 2021 года Анна Белова от покупателя и Пётр Чернов от продавца.\n";
const FIRM_ZH: &str = "南方公司成立于2001年，总部位于广州。公司有员工800人。\n2020年，公司收入为6亿元，2021年收入为9亿元。\
第一次会议于2022年3月举行。杭州的工厂于2019年关闭。\n";
const CITIES: &str = "city,population,area_km2\nVienna,1900000,415\nGraz,290000,128\nLinz,210000,96\n";
const HOURS: &str = "The museum opens at 10:00 and closes at 18:00; on Friday it closes at 20:00.\nThe first keeper was Ann Hill, who \
was appointed in 1999.\nAlfa Motors bought Beta Wheels in 2012.\n";

const CLINIC: &str = "Riverside Clinic opened in 1975. Dr. Mona Adler runs the clinic; her deputy is Dr. Sam Reyes.\nThe clinic has \
14 doctors and 52 nurses. A visit costs 60 euros, for children 35 euros.\nThe lab is on the second floor. The old building was \
sold to Borg Ltd in 1998.\n";
const CLINIC_NOT: &str = "The clinic has 14 doctors.\nThe clinic does not treat animals.\n";
const ORDERS: &str =
    "order,customer,city,total,status\n101,Ann,Rome,50,shipped\n102,Ben,Oslo,80,cancelled\n103,Ann,Rome,30,pending\n";
const SCHOOL_RU: &str = "В школе учатся 420 учеников и работают 35 учителей. Директор школы — Нина Орлова, завуч — Пётр Лис.\n\
Спортзал построили в 2005 году. Бассейн ремонтируют.\n";
const STAFF_RU: &str = "Имя;Отдел;Оклад;Стаж\nИван;Склад;100;5\nОлег;Офис;200;10\nАнна;Офис;300;2\n";
const SHOP_ZH: &str = "商店周一到周五营业，周末休息。店长是陈红，副店长是刘强。去年卖出300辆自行车，今年卖出450辆。\n";
const CITIES_ZH: &str = "城市,人口,面积\n甲市,100,20\n乙市,300,50\n";
const FURNITURE: &str = "Desk: 120\nChair: 45\nShelf: 80\n";

const WORKSHOP: &str = "Tom Reed hired Paul Lund in 2015. The new plant may open in 2031.\nUntil 2012 the director was Ada King.\n\
The works have more than 340 welders. A saw costs up to 90 euros.\n";
const WORKSHOP_RU: &str = "До 2012 года директором был Лев Гусев. Новый цех, возможно, откроют в 2031 году.\nНа заводе более 340 \
сварщиков.\n";
const WORKSHOP_ZH: &str = "高峰曾任经理。新工厂预计2031年开业。工厂有超过340名工人。\n";
const POINTS: &str = "name,team,points,fouls\nKim,Red,10,3\nLou,Blue,25,1\nMax,Red,40,4\nNed,Blue,5,2\n";
const RATES: &str = "Anchor: 12 €\nBuoy: 30 €\nCable: 7 €\n";
const BASKET: &str = "apple, pear, apple, plum, apple, pear\n";

const LAKE: &str = "Lake Miro is 42 km long and 7 km wide. Its greatest depth is 120 metres. About 3,000 people live on its \
shore.\nThe ferry leaves at 9:15 and returns at 17:40. A ticket for adults costs 8 euros; children travel free.\nCaptain Ivo \
Lang has steered it since 1998; before him Pia Hart did.\n";
const WEATHER: &str =
    "date,city,temp,rain\n2024-05-01,Oslo,12,3\n2024-05-01,Rome,22,0\n2024-05-02,Oslo,9,8\n2024-05-02,Rome,24,1\n";
const TOWNS_RU: &str = "Город;Жители;Школы\nТверь;400000;60\nРязань;300000;45\n";
const TOWNS_ZH: &str = "城市,游客,酒店\n大理,500,20\n丽江,800,45\n";
const PUMPS: &str = "The K-20 pump weighs 12 kg. The K-30 pump weighs 18 kg. Phone: +44 113 496 0999.\n";
const DESK: &str = r#"[{"name": "pen", "price": 1.5}, {"name": "ink", "price": 4}]"#;

const SERVERS: &str = "date,server,requests,errors\n2024-01-01,alpha,1000,10\n2024-01-01,beta,2000,5\n2024-01-02,alpha,1100,0\n\
2024-01-02,beta,1900,20\n";
const PUPILS: &str =
    "id,student,class,math,physics,passed\n1,Ann,A,90,80,yes\n2,Bob,B,60,,no\n3,Cid,A,75,70,yes\n4,Dan,B,88,95,yes\n";
const STORE_RU: &str = "Товар;Количество;Цена\nБолт;100;5\nГайка;200;3\nШайба;0;1\n";

const CALVES_RU: &str = "Весной ферма продала 30 телят. Летом ферма продала 45 телят. Осенью ферма купила 10 телят.\n\
Иван собрал 12 кг грибов, Мария собрала 8 кг грибов.\n";
const GOALS: &str =
    "Ann scored 12 goals, Bea scored 9 goals and Cleo scored none.\nThe highest tower is Eiffel Hall.\n";

/// Kinds of questions that a user's trial found answered wrong.
pub(super) const KNOWN: &[Case] = &[
    ("What is the average revenue?", FIRM, Open(&["2018.5"])),
    ("When was the foundry in Tallinn opened?", FIRM, Open(&[])),
    ("When did Paul Okoro leave the board?", FIRM, Open(&[])),
    ("How many people worked there in 2017?", FIRM, Open(&[])),
    ("Who founded the company?", FIRM, Open(&[])),
    ("How much do plums cost?", MARKET, Open(&[])),
    ("What do 2 kg of cherries cost?", MARKET, Open(&[])),
    ("When do you open?", MARKET, Open(&[])),
    ("When do you close on Monday?", MARKET, Open(&[])),
    ("Who signed for the landlord?", LEASE, Open(&[])),
    ("Who is the tenant?", LEASE, Open(&[])),
    ("How long did the first ascent last?", ASCENTS, Open(&[])),
    ("When was the third ascent?", ASCENTS, Open(&[])),
    ("total unpaid amount", BILLS, Open(&["1125"])),
    ("total paid amount", BILLS, Open(&["1125"])),
    ("how much did revenue grow from Jan to Feb in percent?", MONTHS, Open(&["90"])),
    ("which team has the most people?", TEAM, Open(&["69000", "116000"])),
    ("What is the total value of the stock?", SHELF, Open(&["340"])),
    ("which item is out of stock?", SHELF, Open(&["# Stock", "qty"])),
    ("how many hinges and hooks are there?", SHELF, Told(&["340"])),
    ("What is the average price?", MENU, Told(&["is 4 ("])),
    ("What do two teas cost?", MENU, Open(&[])),
    ("What do a mocha and an espresso cost together?", MENU, Open(&[])),
    ("What do a mocha and a bagel cost together?", MENU, Told(&["7"])),
    ("Кто директор школы?", PLANT_RU, Open(&[])),
    ("2021年收入是多少？", FIRM_ZH, Open(&[])),
    ("收入增加了多少？", FIRM_ZH, Open(&[])),
    ("郑六的工资是多少？", TEAM_ZH, Open(&["35000"])),
    ("population density of Vienna", CITIES, Open(&[])),
];

/// More of these kinds, written before the rules; 9 of these 24 were right at first.
pub(super) const MORE: &[Case] = &[
    ("Когда открыли цех в Туле?", PLANT_RU, Open(&[])),
    ("Сколько человек работало в 2015 году?", PLANT_RU, Open(&[])),
    ("Какова средняя выручка?", PLANT_RU, Open(&["2019.5"])),
    ("Сколько стоят два чая?", MENU_RU, Open(&[])),
    ("Общая сумма неоплаченных счетов", BILLS_RU, Open(&["1125"])),
    ("Какова стоимость всего запаса?", SHELF_RU, Open(&["340", "17"])),
    ("На сколько процентов выросла выручка?", PLANT_RU, Open(&[])),
    ("两杯茶多少钱？", MENU_ZH, Open(&[])),
    ("库存总价值是多少？", SHELF_ZH, Open(&["340", "17"])),
    ("未付款的总金额是多少？", BILLS_ZH, Open(&["1125"])),
    ("第三次会议是什么时候？", FIRM_ZH, Open(&[])),
    ("杭州的工厂是什么时候开业的？", FIRM_ZH, Open(&[])),
    ("What is the average pay of women?", TEAM, Open(&["53750"])),
    ("How many hinges are left after selling 20?", SHELF, Open(&[])),
    ("What is the price of tea with a discount of 10%?", MENU, Open(&[])),
    ("Who was the second keeper?", HOURS, Open(&[])),
    ("Which city has the highest population density?", CITIES, Open(&["1900000"])),
    ("When does the museum close on Friday?", HOURS, Open(&[])),
    ("How much is a large mocha?", MENU, Open(&[])),
    ("Кто подписал договор от продавца?", SALE_RU, Open(&[])),
    ("How many married people work in Code?", TEAM, Open(&[])),
    ("男员工的平均工资是多少？", TEAM_ZH, Open(&["11666"])),
    ("Who bought Alfa Motors?", HOURS, Open(&[])),
    ("Who is the youngest?", TEAM, Open(&["41000"])),
];

/// Written after the rules, and before a look at what they give; 27 of these 32 were right at first.
pub(super) const FRESH: &[Case] = &[
    ("How many dentists does the clinic have?", CLINIC, Open(&[])),
    ("How much does a visit cost for students?", CLINIC, Open(&[])),
    ("Who bought the new building?", CLINIC, Open(&[])),
    ("When was the old building built?", CLINIC, Open(&[])),
    ("On which floor is the pharmacy?", CLINIC, Open(&[])),
    ("Who was the deputy in 1980?", CLINIC, Open(&[])),
    ("How many doctors and nurses are there together?", CLINIC, Open(&[])),
    ("total of shipped orders", ORDERS, Told(&["50"])),
    ("total of returned orders", ORDERS, Open(&["160"])),
    ("What share of orders is cancelled?", ORDERS, Open(&["80"])),
    ("total of orders above 40 in Rome", ORDERS, Told(&["50"])),
    ("How many orders were cancelled last week?", ORDERS, Open(&[])),
    ("Who ordered most often?", ORDERS, Open(&["101"])),
    ("What is the largest total without tax?", ORDERS, Open(&["80"])),
    ("Сколько выпускников в школе?", SCHOOL_RU, Open(&[])),
    ("Когда построили бассейн?", SCHOOL_RU, Open(&[])),
    ("Кто завуч?", SCHOOL_RU, Open(&[])),
    ("Кто был директором в 1990 году?", SCHOOL_RU, Open(&[])),
    ("Средний оклад женщин", STAFF_RU, Open(&["200"])),
    ("Кто работает дольше всех?", STAFF_RU, Open(&["Анна"])),
    ("副店长是谁？", SHOP_ZH, Open(&[])),
    ("去年卖出多少辆汽车？", SHOP_ZH, Open(&[])),
    ("前年卖出多少辆自行车？", SHOP_ZH, Open(&[])),
    ("财务经理是谁？", SHOP_ZH, Open(&[])),
    ("甲市的人口密度是多少？", CITIES_ZH, Open(&[])),
    ("两个城市的人口总和是多少？", CITIES_ZH, Told(&["400"])),
    ("丙市的面积是多少？", CITIES_ZH, Open(&["70"])),
    ("甲市的人口增长了多少？", CITIES_ZH, Open(&[])),
    ("How much do four chairs cost?", FURNITURE, Open(&[])),
    ("What does a desk cost with delivery?", FURNITURE, Open(&[])),
    ("What is the cheapest desk?", FURNITURE, Open(&["Chair"])),
    ("Is the shelf more expensive than the chair?", FURNITURE, Open(&[])),
];

/// Traps of other kinds, written in the same way; 9 of these 28 were right before there were rules for them.
pub(super) const OTHERS: &[Case] = &[
    ("When did Paul Lund hire Tom Reed?", WORKSHOP, Open(&[])),
    ("When did the new plant open?", WORKSHOP, Open(&[])),
    ("Who is the director?", WORKSHOP, Open(&[])),
    ("How many welders do the works have?", WORKSHOP, Open(&[])),
    ("How much does a saw cost?", WORKSHOP, Open(&[])),
    ("Кто директор?", WORKSHOP_RU, Open(&[])),
    ("Когда открыли новый цех?", WORKSHOP_RU, Open(&[])),
    ("Сколько сварщиков на заводе?", WORKSHOP_RU, Open(&[])),
    ("谁是经理？", WORKSHOP_ZH, Open(&[])),
    ("新工厂哪一年开业？", WORKSHOP_ZH, Open(&[])),
    ("工厂有多少名工人？", WORKSHOP_ZH, Open(&[])),
    ("What is the average of the top 2 points?", POINTS, Open(&["20 ("])),
    ("What is the sum of the two highest points?", POINTS, Open(&["Max: 40;"])),
    ("Who has more than 8 and less than 30 points?", POINTS, Open(&["Max"])),
    ("Who has no more than 10 points?", POINTS, Open(&["Lou", "Max"])),
    ("Who has points equal to 25?", POINTS, Open(&["80", "nothing about", "Kim"])),
    ("How many points per game did Kim get?", POINTS, Open(&[])),
    ("What is the total?", POINTS, Open(&["80"])),
    ("What are Kim's points per month?", POINTS, Open(&[])),
    ("Who has more than 10% of the points?", POINTS, Open(&["Lou"])),
    ("Which cost less than $10?", RATES, Open(&["Cable"])),
    ("What is the price of a buoy in dollars?", RATES, Open(&[])),
    ("How many red apples are there?", BASKET, Open(&["apple: 3."])),
    ("How many points do Kim and Lou have together?", POINTS, Told(&["35"])),
    ("Points of Red without Kim?", POINTS, Open(&["50", "1652"])),
    ("Сколько стоит чай без сахара?", MENU_RU, Open(&[])),
    ("Сколько всего стоят чай и сок?", MENU_RU, Open(&[])),
    ("茶和果汁一共多少钱？", MENU_ZH, Open(&[])),
];

/// A third lot, written in the same way; 26 of the first 31 were right at first.
pub(super) const THIRD: &[Case] = &[
    ("How wide is Lake Miro?", LAKE, Open(&[])),
    ("How deep is Lake Miro on average?", LAKE, Open(&[])),
    ("How much is a ticket for children?", LAKE, Open(&[])),
    ("When does the ferry return?", LAKE, Open(&[])),
    ("Who was the captain in 1990?", LAKE, Open(&[])),
    ("How many people live in the village?", LAKE, Open(&[])),
    ("How many tourists visit the lake?", LAKE, Open(&[])),
    ("How long does the ferry take?", LAKE, Open(&[])),
    ("What is the return ticket price?", LAKE, Open(&[])),
    ("Who is Ivo Lang?", LAKE, Open(&[])),
    ("What was the average temperature in Oslo?", WEATHER, Told(&["10.5"])),
    ("How much warmer was Rome than Oslo on 2 May?", WEATHER, Open(&[])),
    ("On how many days did it rain in Oslo?", WEATHER, Open(&["11"])),
    ("Which city was the wettest?", WEATHER, Open(&["Rome"])),
    ("What was the temperature in Paris?", WEATHER, Open(&[])),
    ("Total rain in Oslo on 2024-05-02", WEATHER, Told(&["8"])),
    ("What was the minimum night temperature?", WEATHER, Open(&[])),
    ("Сколько жителей приходится на одну школу в Твери?", TOWNS_RU, Open(&[])),
    ("В каком городе больше школ?", TOWNS_RU, Open(&["Рязань"])),
    ("Сколько больниц в Твери?", TOWNS_RU, Open(&[])),
    ("Сколько школ в Твери и Рязани вместе?", TOWNS_RU, Told(&["105"])),
    ("Сколько жителей было в Твери 10 лет назад?", TOWNS_RU, Open(&[])),
    ("丽江有多少家餐馆？", TOWNS_ZH, Open(&[])),
    ("丽江的游客比大理多百分之几？", TOWNS_ZH, Open(&[])),
    ("大理平均每家酒店有多少游客？", TOWNS_ZH, Open(&[])),
    ("大理和丽江的酒店一共多少家？", TOWNS_ZH, Told(&["65"])),
    ("哪个城市的酒店最少？", TOWNS_ZH, Told(&["大理"])),
    ("How much do both pumps weigh together?", PUMPS, Open(&["50", "1652"])),
    ("What is the price of paper?", DESK, Open(&[])),
    ("What do a pen and ink cost together?", DESK, Told(&["5.5"])),
    ("What does a pen cost after a 50% discount?", DESK, Open(&[])),
    ("How many fruits are not apples?", BASKET, Open(&["apple: 3"])),
];

/// What a look through longer documents found.
pub(super) const FOUND: &[Case] = &[
    ("Сколько всего телят?", CALVES_RU, Open(&["20", "85."])),
    ("Сколько всего телят продали?", CALVES_RU, Open(&["20", "85."])),
    ("How many kiwis?", BASKET, Told(&["cannot find “kiwis”"])),
    ("In which months was revenue above 5?", MONTHS, Told(&["2", "Jan", "Feb"])),
    ("孙一的年薪是多少？", MONTHLY_ZH, Open(&[])),
    ("孙一的月薪是多少？", MONTHLY_ZH, Told(&["9000"])),
    ("Оклад Ивана за год", STAFF_RU, Open(&[])),
    ("Who scored the most goals?", GOALS, Open(&[])),
    ("How many students passed?", PUPILS, Open(&["4"])),
    ("What is Bob's physics score?", PUPILS, Open(&[])),
    ("How many students are in class B?", PUPILS, Told(&["2", "Bob", "Dan"])),
    ("What is the sum of everything?", PUPILS, Open(&["10"])),
    ("Which server has the most errors?", SERVERS, Open(&["2024"])),
    ("How many errors per request?", SERVERS, Open(&["6000"])),
    ("On which day were there the most requests?", SERVERS, Told(&["2024-01-01, beta: 2000"])),
    ("Какова общая стоимость товаров?", STORE_RU, Open(&["9"])),
    ("На сколько болт дороже гайки?", STORE_RU, Told(&["2"])),
    ("Самый дешёвый товар", STORE_RU, Told(&["Шайба"])),
];

/// What is there must still be told.
pub(super) const PLAIN: &[Case] = &[
    ("Who is the director?", FIRM, Told(&["Greta Lind"])),
    ("Which items cost less than 4?", MENU, Told(&["Tea", "Bagel"])),
    ("What is the most expensive item?", MENU, Told(&["Salad"])),
    ("total pay of the Code team", TEAM, Told(&["127000"])),
    ("average pay in Design", TEAM, Told(&["44000"])),
    ("how many people work in Code?", TEAM, Told(&["2"])),
    ("which team has the highest total pay?", TEAM, Told(&["Code"])),
    ("who earns more than 50000?", TEAM, Told(&["Vic", "Wes"])),
    ("What is Uma's pay?", TEAM, Told(&["41000"])),
    ("what is the sum of pay without Uma?", TEAM, Told(&["174000"])),
    ("total amount for Delta", BILLS, Told(&["975.25"])),
    ("how many clients?", BILLS, Told(&["2"])),
    ("what is the population of Graz?", CITIES, Told(&["290000"])),
    ("revenue in Feb", MONTHS, Told(&["50"])),
    ("Сколько стоит кофе?", MENU_RU, Told(&["120"])),
    ("Что самое дорогое?", MENU_RU, Told(&["Кофе"])),
    ("Сколько стоят чай и пирог вместе?", MENU_RU, Told(&["140"])),
    ("Что дешевле 100 рублей?", MENU_RU, Told(&["Чай", "Пирог"])),
    ("Кто директор фабрики?", PLANT_RU, Told(&["Олег Зимин"])),
    ("Сколько человек работает на фабрике?", PLANT_RU, Told(&["640"])),
    ("技术部门的平均工资是多少？", TEAM_ZH, Told(&["13500"])),
    ("谁的工资最高？", TEAM_ZH, Told(&["吴三"])),
    ("Who works in Code?", TEAM, Told(&["Vic", "Wes"])),
    ("how many people are there?", TEAM, Told(&["4"])),
    ("How many people are there?", FURNITURE, Open(&[])),
    ("Which teams are there?", TEAM, Told(&["Design", "2"])),
    ("How many different customers are in Rome?", ORDERS, Told(&["1 kind", "Ann"])),
    ("Чья зарплата самая высокая?", PAY_RU, Told(&["Гром"])),
    ("Сколько человек в отделе продаж?", PAY_RU, Told(&["1", "Лес"])),
    ("Сколько стоит большой чай?", MENU_RU, Open(&[])),
    ("销售部有多少人？", TEAM_ZH, Told(&["共 1 个", "孙一"])),
    ("有多少人？", TEAM_ZH, Told(&["3"])),
    ("有多少人？", CITIES_ZH, Open(&[])),
    ("工资低于10000的有哪些人？", TEAM_ZH, Told(&["孙一"])),
    ("小锁多少钱？", SHELF_ZH, Open(&[])),
    ("What is the phone number?", PUMPS, Told(&["+44 113 496 0999"])),
    ("工资总和", TEAM_ZH, Told(&["35000"])),
    ("茶和蛋糕一共多少钱？", MENU_ZH, Told(&["20"])),
    ("总部在哪里？", FIRM_ZH, Told(&["广州"])),
    ("公司什么时候成立？", FIRM_ZH, Told(&["2001"])),
    ("Does the clinic treat animals?", CLINIC_NOT, Told(&["does not treat"])),
    ("公司有多少员工？", FIRM_ZH, Told(&["800"])),
];
