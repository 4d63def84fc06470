//! Values of named parameters in clauses of three languages.

use jarvis_plan::{Kind, Param, Tool};
use serde_json::{Value, json};

use super::fill;
use crate::clauses;
use crate::retrieval::ToolIndex;

/// A tool written as `name: description; param: type: description; …`, a `?` after a name for an optional parameter.
fn tool(text: &str) -> Tool {
    let mut parts = text.split("; ");
    let (name, description) = parts.next().and_then(|part| part.split_once(':')).unwrap_or((text, ""));
    let mut tool = Tool::typed(name, description.trim(), &[], &[]);
    tool.params = parts
        .map(|part| {
            let mut fields = part.splitn(3, ": ");
            let (name, kind) = (fields.next().unwrap_or_default(), fields.next().unwrap_or("string"));
            let required = !name.ends_with('?');
            Param {
                schema: Some(schema(kind)),
                description: fields.next().unwrap_or_default().to_owned(),
                required,
                ..Param::required(name.trim_end_matches('?'), Kind::Text)
            }
        })
        .collect();
    tool
}

fn schema(kind: &str) -> Value {
    match kind.split_once('|') {
        Some(_) => json!({"type": "string", "enum": kind.split('|').collect::<Vec<_>>()}),
        None if matches!(kind, "date" | "uri" | "time" | "email") => json!({"type": "string", "format": kind}),
        None => json!({"type": kind}),
    }
}

fn check(text: &str, cases: &[(&str, &str)]) {
    let tool = tool(text);
    let index = ToolIndex::new(std::slice::from_ref(&tool));
    let mut differ = Vec::new();
    for (request, expected) in cases {
        let reading = clauses::read(request, &[], &index);
        let values = fill(&tool, &tool.params.iter().collect::<Vec<_>>(), &reading.clauses[0], request);
        let shown: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if shown.join("; ") != *expected {
            differ.push(format!("{request}\n   found: {}\n   wants: {expected}", shown.join("; ")));
        }
    }
    assert!(differ.is_empty(), "{}\n{}", tool.name, differ.join("\n"));
}

#[test]
fn types_and_places() {
    check(
        "book_flight: Book a flight; date: date; from: string; to: string",
        &[
            ("Book a flight from Paris to New York on 2025-03-04", "date=2025-03-04; from=Paris; to=New York"),
            ("Book a flight to Rome from Oslo tomorrow", "date=tomorrow; from=Oslo; to=Rome"),
            ("Book a flight to Rome", "to=Rome"),
            ("I want to book a flight to Rome", "to=Rome"),
            (
                "Book a flight from New York, USA to London, UK on December 1st, 2022",
                "date=December 1st, 2022; from=New York, USA; to=London, UK",
            ),
            ("Забронируй рейс из Москвы в Казань на 5 мая", "date=5 мая; from=Москвы; to=Казань"),
            ("预订明天从北京到上海的机票", "date=明天; from=北京; to=上海"),
            ("Hello there", ""),
        ],
    );
    check(
        "get_weather: Tell the weather; location: string; date: date",
        &[
            ("What is the weather in Beijing on May 5th", "location=Beijing; date=May 5th"),
            ("Какая погода в Москве завтра?", "location=Москве; date=завтра"),
            ("查一下上海明天的天气", "location=上海; date=明天"),
        ],
    );
    check(
        "deliver: Deliver a package; package: string: The package to deliver; destination: string: Where to deliver it to",
        &[
            ("Deliver a package containing a.jpg to 123 Main St", "package=a.jpg; destination=123 Main St"),
            (
                "Deliver a Birthday Gift to 12 Oak Ave, Anytown, US",
                "package=Birthday Gift; destination=12 Oak Ave, Anytown, US",
            ),
            ("Доставь посылку a.jpg на улицу Ленина, 5", "package=a.jpg; destination=улицу Ленина, 5"),
        ],
    );
    check(
        "drive: Let a car drive somewhere; destination: string: The destination to drive to",
        &[
            ("I want my car to drive me to the Hilton Hotel", "destination=Hilton Hotel"),
            ("Let the car take me to LAX Airport", "destination=LAX Airport"),
            ("Let my car drive me", ""),
        ],
    );
}

#[test]
fn numbers_and_schemas() {
    check(
        "transfer_money: Transfer money; amount: number; recipient: string",
        &[("Transfer $1,500 to Anna", "amount=1500; recipient=Anna"), ("Переведи 500 рублей Анне", "amount=500")],
    );
    check(
        "call: Call a phone; phone_number: string: The phone number to call",
        &[
            ("Call my friend at +1-234-567-8910", "phone_number=+1-234-567-8910"),
            ("Make a call to 123-456-7890 now", "phone_number=123-456-7890"),
            ("Call +1 123 456 7890", "phone_number=+1 123 456 7890"),
            ("Call (555) 123-4567", "phone_number=(555) 123-4567"),
            ("Позвони на +7 (495) 123-45-67", "phone_number=+7 (495) 123-45-67"),
            ("给13800138000打电话", "phone_number=13800138000"),
            ("Call me in 2 hours", ""),
        ],
    );
    check("set_light: Set the light; color: red|warm white", &[("Set the light to warm white", "color=warm white")]);
    check(
        "order_shirt: Order a shirt; size: large|extra large",
        &[("Order an extra large shirt", "size=extra large"), ("Order a large shirt", "size=large")],
    );
    check(
        "light: Set the light; dim?: boolean; level?: integer",
        &[("Set the light to 40", "level=40"), ("Dim the light", "dim=true")],
    );
    check("open_page: Open a page; url: uri", &[("Open the page https://x.org/a, please", "url=https://x.org/a")]);
    check(
        "tax: Do the tax return for a year; year: string: The year to do the tax return for",
        &[("Do my 2021 tax return", "year=2021"), ("File the taxes for 2022", "year=2022")],
    );
    check(
        "search_flights: Search flights; to: string; airline?: string; note?: string",
        &[("Search flights to Rome", "to=Rome")],
    );
}

#[test]
fn objects_and_makers() {
    check(
        "sell_item: Sell an item at a store; item: string: The item to sell; store: string: The store to sell the item at, eg. Amazon, Ebay etc.",
        &[
            ("Sell my iPhone X on Amazon", "item=iPhone X; store=Amazon"),
            ("I want to sell my iPhone 12 on Ebay and have it delivered", "item=iPhone 12; store=Ebay"),
            ("Sell a 'Used Printer' on Ebay", "item=Used Printer; store=Ebay"),
            ("Продай мой iPhone X на Amazon", "item=iPhone X; store=Amazon"),
            ("我想在闲鱼上卖掉旧相机", "item=旧相机; store=闲鱼"),
            ("在淘宝上卖掉我的旧手机", "item=旧手机; store=淘宝"),
        ],
    );
    check(
        "pay_bill: Pay a bill; bill: string: The bill to pay, eg. electricity, water etc.",
        &[
            ("Pay my electricity bill", "bill=electricity bill"),
            ("I need to pay my phone bill for this month", "bill=phone bill"),
            ("Оплати счёт за электричество", "bill=счёт за электричество"),
            ("支付电费", "bill=电费"),
        ],
    );
    check(
        "book_table: Book a restaurant; date: date; name: string: The name of the restaurant to book",
        &[
            (
                "Book a table for 2 at Ocean View Restaurant for 2022-12-01",
                "date=2022-12-01; name=Ocean View Restaurant",
            ),
            ("Book a table at 'Spicy Bistro' restaurant tomorrow", "date=tomorrow; name=Spicy Bistro"),
            ("Book the Example Restaurant for dinner", "name=Example Restaurant"),
            ("Book me a table at Luigi's for Friday", "date=Friday; name=Luigi's"),
            ("Book a table for 2", ""),
            ("Забронируй столик в ресторане Пушкин на завтра", "date=завтра; name=Пушкин"),
        ],
    );
    check(
        "book_hotel: Book a hotel; date: date; name: string: The name of the hotel to book",
        &[
            ("Book the Hilton Hotel for December 10th, 2022", "date=December 10th, 2022; name=Hilton Hotel"),
            ("Book a hotel room at Hilton Union Square", "name=Hilton Union Square"),
            ("Book a hotel (Holiday Inn Express) for May 15, 2023", "date=May 15, 2023; name=Holiday Inn Express"),
        ],
    );
    check(
        "insure: Buy an insurance from a company; insurance: string: The insurance to buy; company: string: The company to buy the insurance from",
        &[
            ("Buy Travel Insurance from BestInsurance company", "insurance=Travel Insurance; company=BestInsurance"),
            (
                "Buy a home insurance policy from ABC Insurance",
                "insurance=home insurance policy; company=ABC Insurance",
            ),
        ],
    );
    check(
        "enroll: Enroll in a course at a university; course: string: The course to enroll in; university: string: The university to enroll at",
        &[("Enroll in a Physics course at Example University", "course=Physics; university=Example University")],
    );
    check(
        "borrow: Borrow a book; book: string: The book to borrow; library: string: The library to borrow the book from",
        &[
            (
                "Borrow 'The Idiot' from the City Library through an online service",
                "book=The Idiot; library=City Library",
            ),
            ("Возьми книгу «Идиот» из городской библиотеки", "book=Идиот; library=городской библиотеки"),
        ],
    );
    check(
        "apply: Apply for a job; job: string: The job to apply for",
        &[
            ("Apply for a Software Engineer position", "job=Software Engineer"),
            ("Apply for a Data Analyst job in London", "job=Data Analyst"),
            ("I want to apply for a job as a Software Engineer", "job=Software Engineer"),
            ("Подай заявку на вакансию программиста", "job=программиста"),
            ("申请软件工程师的工作", "job=软件工程师"),
        ],
    );
    check(
        "see_doctor: See a doctor for a disease; disease: string: The disease to see the doctor for; doctor: string: The doctor to see",
        &[
            ("See Dr. Smith for my flu", "disease=flu; doctor=Dr. Smith"),
            ("See Dr. Smith regarding my Allergy issue", "disease=Allergy; doctor=Dr. Smith"),
            ("I'd like to see a dermatologist about a rash", "disease=rash; doctor=dermatologist"),
            ("Запиши меня к доктору Иванову по поводу гриппа", "disease=гриппа; doctor=Иванову"),
            ("咨询张医生关于流感", "disease=流感; doctor=张医生"),
        ],
    );
    check(
        "passport: Apply for a passport; country: string: The country to apply for the passport for",
        &[
            ("Apply for a passport for Australia", "country=Australia"),
            ("Apply for a US passport", "country=US"),
            ("申请美国护照", "country=美国"),
            ("Apply for a passport", ""),
        ],
    );
    check(
        "play: Play music by its title; title: string: The title of the music to play",
        &[
            ("Play the song Bohemian Rhapsody", "title=Bohemian Rhapsody"),
            ("Play the music called Moonlight Sonata", "title=Moonlight Sonata"),
            ("Play Bohemian Rhapsody by Queen", "title=Bohemian Rhapsody"),
            ("Включи песню Катюша", "title=Катюша"),
            ("播放《月光》", "title=月光"),
        ],
    );
}

#[test]
fn texts_topics_and_deeds() {
    check(
        "send_email: Send an email; to: string; body: string",
        &[
            ("Send an email to bob@x.org saying \"see you at 5\"", "to=bob@x.org; body=see you at 5"),
            ("Send an email to 'bob@x.org' with the message 'Hi, Bob.'", "to=bob@x.org; body=Hi, Bob."),
            ("Send an email to bob@x.org saying I will be late", "to=bob@x.org; body=I will be late"),
            ("Отправь письмо bob@x.org с текстом «привет»", "to=bob@x.org; body=привет"),
            ("给bob@x.org发邮件说你好", "to=bob@x.org; body=你好"),
            (
                "Email bob@x.org that the meeting is moved to Monday",
                "to=bob@x.org; body=the meeting is moved to Monday",
            ),
            ("Send me an email", ""),
        ],
    );
    check(
        "meet: Organize a meeting; topic: string: The topic of the meeting",
        &[
            ("Organize an online meeting about Data Privacy and Security", "topic=Data Privacy and Security"),
            ("Organize a meeting to discuss the future of AI", "topic=future of AI"),
            ("Организуй встречу о погоде в Москве", "topic=погоде в Москве"),
            ("组织一个关于人工智能的会议", "topic=人工智能"),
            ("Organize the meeting", ""),
        ],
    );
    check(
        "search: Search the web; query: string: What to search; engine: string: The engine to use, eg. Google, Bing etc.",
        &[
            ("Search for the best hotels in Rome on Google", "query=best hotels in Rome; engine=Google"),
            ("Look up flights to Tokyo on Bing", "query=flights to Tokyo; engine=Bing"),
            ("用Google搜索北京的酒店", "query=北京的酒店; engine=Google"),
            ("Найди в Google рецепт борща", "query=рецепт борща; engine=Google"),
            ("Search on Google for cars under $40,000", "query=cars under $40,000; engine=Google"),
        ],
    );
    check(
        "software: Manage software; software: string: The software to manage; instruction: string: What to do, eg. install, uninstall etc.",
        &[
            ("Install the Zoom software on my computer", "software=Zoom; instruction=install"),
            (
                "Uninstall a software called ExampleSoft but I don't know how",
                "software=ExampleSoft; instruction=uninstall",
            ),
        ],
    );
    check(
        "robot: Let a robot do a housework; instruction: string: The instruction to follow, eg. clean the floor, wash the dishes etc.",
        &[
            ("I want my robot to clean the living room", "instruction=clean the living room"),
            ("Have a robot clean the floor", "instruction=clean the floor"),
            ("Let the robot water the plants", "instruction=water the plants"),
        ],
    );
}

#[test]
fn tools_of_other_lists() {
    let calendar = "create_event: Create a calendar event; title: string: Title of the event; start: string: When it starts; location?: string: Where it takes place";
    check(
        calendar,
        &[
            ("Create an event called 'Stand-up' tomorrow", "title=Stand-up; start=tomorrow"),
            (
                "Create an event titled Budget Review on Friday at Room 5",
                "title=Budget Review; start=Friday; location=Room 5",
            ),
        ],
    );
    check(
        "create_issue: Create an issue in a repository; repo: string: Repository name; title: string: Issue title; body?: string: Issue body",
        &[
            ("Create an issue titled 'Crash on start' in octo/app", "repo=octo/app; title=Crash on start"),
            ("Open an issue in the jarvis repository named 'Typo'", "repo=jarvis; title=Typo"),
        ],
    );
    check(
        "convert_currency: Convert an amount between currencies; amount: number; from: string; to: string",
        &[("Convert 250 from USD to EUR", "amount=250; from=USD; to=EUR")],
    );
    check(
        "post_message: Post a message to a channel; channel: string: The channel to post the message to; text: string: The text of the message",
        &[
            ("Post 'deploy is done' to the general channel", "channel=general; text=deploy is done"),
            ("Post a message to #general saying we are live", "channel=general; text=we are live"),
        ],
    );
    check(
        "get_stock_price: Get the price of a stock; symbol: string: The stock symbol",
        &[("Get the stock price of AAPL", "symbol=AAPL"), ("What is the price of Tesla stock?", "symbol=Tesla")],
    );
    check(
        "read_file: Read a file; path: string: The path of the file",
        &[("Read /etc/hosts.txt", "path=/etc/hosts.txt"), ("Read the file notes.md", "path=notes.md")],
    );
    check(
        "translate: Translate text; text: string: The text to translate; target_language: string: The language to translate the text into",
        &[
            ("Translate 'good night' into French", "text=good night; target_language=French"),
            ("Переведи «привет» на французский", "text=привет; target_language=французский"),
        ],
    );
    check("set_timer: Set a timer; minutes: integer; label?: string", &[("Set a timer for 10 minutes", "minutes=10")]);
    check(
        "order_taxi: Order a taxi; pickup?: string: Where to be picked up; destination: string: The place to go to; platform?: string: The platform, eg. Uber, Didi",
        &[
            ("Order an Uber taxi to the clinic", "destination=clinic; platform=Uber"),
            ("Закажи такси до аэропорта", "destination=аэропорта"),
            ("叫一辆车去机场", "destination=机场"),
        ],
    );
    check(
        "add_todo: Add a task to a list; task: string: The task to add; due?: date",
        &[("Add a task to buy milk by tomorrow", "task=buy milk; due=tomorrow")],
    );
    check(
        "get_recipe: Find a recipe; dish: string: The dish to cook; servings?: integer: How many servings",
        &[
            ("Find a recipe for apple pie for 4 people", "dish=apple pie; servings=4"),
            ("Найди рецепт борща", "dish=борща"),
        ],
    );
}
