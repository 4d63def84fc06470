//! Lists of functions: what is called, with what, and what follows on what.

use jarvis_plan::{Arg, DraftRef, Kind, Param, Request, Role, Tool, Turn};
use serde_json::json;

use crate::offline::Offline;
use crate::retrieval::ToolIndex;

/// A tool as `name: description => result; param: type: description; …`, a `?` behind a parameter that may be left out.
fn tool(text: &str) -> Tool {
    let mut parts = text.split("; ");
    let (name, description) = parts.next().and_then(|part| part.split_once(": ")).unwrap();
    let (description, result) = match description.split_once(" => ") {
        Some((description, result)) => (description, Some(result)),
        None => (description, None),
    };
    let mut tool = Tool::typed(name, description, &[], &[]);
    tool.output_schema = result.map(|result| json!({"type": "string", "description": result}));
    tool.params = parts
        .map(|part| {
            let mut fields = part.splitn(3, ": ");
            let (name, kind) = (fields.next().unwrap(), fields.next().unwrap_or("string"));
            Param {
                schema: Some(json!({"type": kind})),
                description: fields.next().unwrap_or_default().to_owned(),
                required: !name.ends_with('?'),
                ..Param::required(name.trim_end_matches('?'), Kind::Text)
            }
        })
        .collect();
    tool
}

const TOOLS: [&str; 12] = [
    "weather_forecast: Tells the weather expected in a city; city",
    "hotel_search: Searches hotels in a city; city",
    "hotel_book: Books a hotel room; hotel; guests?: integer",
    "taxi_book: Books a taxi ride; to?",
    "pizza_order: Orders a pizza; pizza",
    "messenger_send: Sends a chat message to a person; to; text",
    "mail_send: Sends an e-mail; to; body",
    "bank_transfer: Transfers money to somebody; amount: number: Amount in euros; to",
    "timer_start: Starts a timer; duration_seconds: integer",
    "write_lyrics: Writes the lyrics of a song; topic",
    "paint_calculate: Computes how much paint a wall needs; area_m2: number: Area of the wall; coats?: integer",
    "translate_text: Translates a text into another language; text; language",
];

/// The calls as `tool(param=value)`, each with the places of those that it follows behind `<`.
fn planned(turns: &[(Role, &str)], request: &str) -> String {
    let tools: Vec<Tool> = TOOLS.iter().map(|text| tool(text)).collect();
    let mut request = Request::new(request);
    request.history =
        turns.iter().map(|(role, said)| Turn { role: *role, content: (*said).to_owned(), calls: Vec::new() }).collect();
    let draft = Offline::draft_with(&ToolIndex::new(&tools), &request);
    let number = |(name, arg): (&String, &Arg<DraftRef>)| {
        let number = arg.as_literal().filter(|value| value.parse::<f64>().is_ok())?;
        Some(format!("{name}={number}"))
    };
    let call = |task: &jarvis_plan::DraftTask| {
        let numbers: Vec<String> = task.args.iter().filter_map(number).collect();
        let after: Vec<String> = task.dep.iter().map(ToString::to_string).collect();
        let after = if after.is_empty() { String::new() } else { format!(" < {}", after.join(",")) };
        format!("{}({}){after}", task.task, numbers.join(","))
    };
    draft.tasks.iter().map(call).collect::<Vec<_>>().join(" ; ")
}

fn check(cases: &[(&str, &str)]) {
    let found: Vec<(&str, String)> = cases.iter().map(|(request, _)| (*request, planned(&[], request))).collect();
    let wanted: Vec<(&str, String)> = cases.iter().map(|(request, plan)| (*request, (*plan).to_owned())).collect();
    assert_eq!(found, wanted);
}

#[test]
fn what_is_passed_on_follows_what_was_looked_up() {
    check(&[
        ("Tell me the weather in Oslo and mail it to anna@x.org", "weather_forecast() ; mail_send() < 0"),
        (
            "Look for a hotel in Graz and the weather there. Send both to Petra by messenger",
            "hotel_search() ; weather_forecast() ; messenger_send() < 0,1",
        ),
        ("Tell Petra by messenger that I am late", "messenger_send()"),
        (
            "If it rains in Oslo according to the weather forecast, book me a taxi",
            "weather_forecast() ; taxi_book() < 0",
        ),
    ]);
}

#[test]
fn words_that_send_send_to_people_alone() {
    check(&[("Write lyrics about autumn", "write_lyrics()"), ("Order a pizza with nothing on it", "pizza_order()")]);
}

#[test]
fn the_second_thing_of_a_kind_is_a_second_call() {
    check(&[
        ("The weather for Oslo and for Rome", "weather_forecast() ; weather_forecast()"),
        ("Show the weather for Oslo and for Rome", "weather_forecast() ; weather_forecast()"),
        ("Order a pizza", "pizza_order()"),
        (
            "How much paint does a wall of 14 square metres need, and how much one of 20 square metres?",
            "paint_calculate(area_m2=14) ; paint_calculate(area_m2=20)",
        ),
        ("Book a room at the Astoria for Anna and Tom", "hotel_book()"),
    ]);
}

/// Calls with all that they are given, `<-2` for what the call in that place gives.
fn filled(tools: &[&str], request: &str) -> Vec<String> {
    let tools: Vec<Tool> = tools.iter().map(|text| tool(text)).collect();
    let draft = Offline::draft_with(&ToolIndex::new(&tools), &Request::new(request));
    let arg = |(name, arg): (&String, &Arg<DraftRef>)| match arg.as_literal() {
        Some(value) => format!("{name}={value}"),
        None => {
            let from: Vec<String> = arg.references().filter_map(|at| at.0).map(|at| at.to_string()).collect();
            format!("{name}<-{}", from.join("+"))
        }
    };
    let call = |task: &jarvis_plan::DraftTask| {
        format!("{}({})", task.task, task.args.iter().map(arg).collect::<Vec<_>>().join(", "))
    };
    draft.tasks.iter().map(call).collect()
}

fn check_filled(tools: &[&str], cases: &[(&str, &[&str])]) {
    for (request, want) in cases {
        assert_eq!(filled(tools, request), *want, "{request}");
    }
}

/// What Korean ties to the end of a word differs between a request and a description.
#[test]
fn korean_is_read_by_its_syllables() {
    let tools = [
        "flight_agent: 항공편을 검색하고 예약하거나 변경, 취소합니다.",
        "hotel_agent: 호텔을 검색하고 객실을 예약합니다.",
        "weather_agent: 지역의 날씨와 미세먼지 정보를 알려줍니다.",
        "bank_agent: 계좌 잔액을 조회하고 돈을 이체합니다.",
        "calendar_agent: 일정을 등록하고 수정하고 알려줍니다.",
        "taxi_agent: 택시를 호출하고 요금을 알려줍니다.",
        "restaurant_agent: 식당을 추천하고 자리를 예약합니다.",
        "music_agent: 음악을 재생하고 노래를 추천합니다.",
        "shopping_agent: 상품을 검색하고 주문하고 배송을 조회합니다.",
        "news_agent: 최신 뉴스를 검색하고 요약합니다.",
        "movie_agent: 영화를 추천하고 영화표를 예매합니다.",
        "health_agent: 병원을 찾고 진료를 예약합니다.",
    ];
    check_filled(
        &tools,
        &[
            ("내일 제주도 가는 항공편 좀 예약해줘", &["flight_agent()"]),
            ("엄마한테 5만원 이체해줘", &["bank_agent()"]),
            ("오늘 날씨 알려주고, 택시도 불러줘", &["weather_agent()", "taxi_agent()"]),
            ("금요일 3시에 회의 일정 등록해줘", &["calendar_agent()"]),
            ("고마워, 수고했어", &[]),
        ],
    );
}

#[test]
fn functions_may_be_described_in_any_language() {
    let german = [
        "flight_agent: Sucht und bucht Flüge, ändert oder storniert sie.",
        "weather_agent: Gibt Auskunft über das Wetter an einem Ort.",
        "bank_agent: Zeigt den Kontostand und überweist Geld.",
        "taxi_agent: Ruft ein Taxi und nennt den Preis.",
        "news_agent: Sucht aktuelle Nachrichten und fasst sie zusammen.",
    ];
    let spanish = [
        "hotel_agent: Busca hoteles y reserva habitaciones.",
        "bank_agent: Muestra el saldo de la cuenta y transfiere dinero.",
        "taxi_agent: Llama un taxi y dice el precio.",
        "news_agent: Busca noticias y las resume.",
    ];
    let japanese = [
        "hotel_agent: ホテルを検索し部屋を予約します。",
        "weather_agent: 地域の天気を知らせます。",
        "taxi_agent: タクシーを呼び料金を知らせます。",
        "flight_agent: 航空券を検索して予約し、変更や取消もします。",
        "bank_agent: 口座の残高を調べ、送金します。",
        "music_agent: 音楽を再生し曲をすすめます。",
        "news_agent: ニュースを検索し要約します。",
        "movie_agent: 映画をすすめ、映画のチケットを買います。",
        "health_agent: 病院を探し診察を予約します。",
        "calendar_agent: 予定を登録し表示します。",
    ];
    check_filled(
        &german,
        &[
            ("Buche mir einen Flug nach Wien", &["flight_agent()"]),
            ("Wie wird das Wetter morgen in Köln?", &["weather_agent()"]),
            ("Fass die Nachrichten von heute zusammen", &["news_agent()"]),
            ("Danke dir!", &[]),
        ],
    );
    check_filled(
        &spanish,
        &[
            ("Necesito una habitación de hotel en Sevilla", &["hotel_agent()"]),
            ("Llama un taxi, por favor", &["taxi_agent()"]),
        ],
    );
    check_filled(&japanese, &[("明日の大阪の天気は？", &["weather_agent()"]), ("タクシーを呼んで", &["taxi_agent()"])]);
}

#[test]
fn numbers_and_ways_go_where_they_belong() {
    let tools = [
        "freight_quote: Price for moving goods between two ports; origin; dest; weight_kg: number: Weight in kilograms",
        "set_thermostat: Sets the heating of a room; degrees: number: Degrees Celsius",
        "convert_currency: Converts money; amount: number; to: string: Code of the currency",
    ];
    check_filled(
        &tools,
        &[
            (
                "Get a freight quote for 90 kg from Hamburg to Oslo",
                &["freight_quote(origin=Hamburg, dest=Oslo, weight_kg=90)"],
            ),
            (
                "Set the thermostat of the bedroom to 18 and that of the study to 21",
                &["set_thermostat(degrees=18)", "set_thermostat(degrees=21)"],
            ),
            (
                "Compare the freight from Genoa to Tunis and from Marseille to Oran",
                &["freight_quote(origin=Genoa, dest=Tunis)", "freight_quote(origin=Marseille, dest=Oran)"],
            ),
            (
                "What is the freight from Rotterdam to Santos for 400 kg?",
                &["freight_quote(origin=Rotterdam, dest=Santos, weight_kg=400)"],
            ),
        ],
    );
}

#[test]
fn what_is_named_side_by_side_is_done_one_by_one() {
    let tools = [
        "weather_forecast: Tells the weather expected in a city; city",
        "ip_reputation: Checks the reputation of an address; ip; days?: integer",
        "hotel_search: Searches hotels in a city; city",
        "messenger_send: Sends a chat message to a person; to; text",
        "bank_transfer: Transfers money to somebody; amount: number: Amount in euros; to",
        "timer_start: Starts a timer; duration: string: How long",
        "area_compute: Computes the area of a room; length_m: number: Length in metres; width_m: number: Width in metres",
        "flat_search: Searches flats in a city; city; max_price?: number",
    ];
    check_filled(
        &tools,
        &[
            ("What's the weather in Oslo and Rome?", &["weather_forecast(city=Oslo)", "weather_forecast(city=Rome)"]),
            (
                "What's the weather in Oslo and Rome 12 May?",
                &["weather_forecast(city=Oslo)", "weather_forecast(city=Rome)"],
            ),
            (
                "Check the reputation of 45.33.32.156 and 103.21.244.9 for 3 days",
                &["ip_reputation(ip=45.33.32.156, days=3)", "ip_reputation(ip=103.21.244.9, days=3)"],
            ),
            // One of them is no city.
            ("Search hotels in Graz for Anna and Tom", &["hotel_search(city=Graz)"]),
            ("Show Anna and Tom the weather in Oslo", &["weather_forecast(city=Oslo)"]),
            // What acts does so once for all, unless each is led by a word of its own.
            (
                "Transfer 50 euros to Anna and to Tom",
                &["bank_transfer(amount=50, to=Anna)", "bank_transfer(amount=50, to=Tom)"],
            ),
            // One quantity, and two of one thing.
            ("Compute the area of a room 4 metres long and 3 metres wide", &["area_compute(length_m=4, width_m=3)"]),
        ],
    );
    for request in ["Start a timer for 2 hours and 30 minutes", "Search flats in Graz between 100000 and 200000 euros"]
    {
        assert_eq!(filled(&tools, request).len(), 1, "{request}: {:?}", filled(&tools, request));
    }
}

#[test]
fn what_is_named_side_by_side_is_looked_up_each() {
    let tools = [
        "company_search: Finds the id of a company by its name; name",
        "company_income: Shows the income statement of a company; company_id",
        "station_search: Finds the code of a station by its name; name",
        "station_fares: Shows the fares of trains between two stations; from_station_code; to_station_code",
    ];
    check_filled(
        &tools,
        &[
            (
                "I'm comparing Adidas and Puma. Show me the income statement of both",
                &[
                    "company_search(name=Adidas)",
                    "company_income(company_id<-0)",
                    "company_search(name=Puma)",
                    "company_income(company_id<-2)",
                ],
            ),
            (
                "What are the train fares from Leeds to York?",
                &[
                    "station_search(name=Leeds)",
                    "station_search(name=York)",
                    "station_fares(from_station_code<-0, to_station_code<-1)",
                ],
            ),
            (
                "Show me the income statement of Adidas",
                &["company_search(name=Adidas)", "company_income(company_id<-0)"],
            ),
        ],
    );
    // Where nothing looks it up, the name is what there is.
    check_filled(
        &tools[1..2],
        &[(
            "Show me the income statements of Adidas and Puma",
            &["company_income(company_id=Adidas)", "company_income(company_id=Puma)"],
        )],
    );
}

#[test]
fn a_look_up_of_another_is_left_alone() {
    check_filled(
        &[
            "user_search: Finds the id of a user by name; name",
            "bank_transfer: Transfers money to a user; amount: number; to_user_id",
            "company_income: Shows the income of a company; company",
        ],
        &[(
            "Find the id of the user Dora. Show the income of Adidas and Puma. Transfer Dora 50 euros",
            &[
                "user_search(name=Dora)",
                "company_income(company=Adidas)",
                "company_income(company=Puma)",
                "bank_transfer(amount=50, to_user_id<-0)",
            ],
        )],
    );
}

#[test]
fn the_object_counts_over_the_verb() {
    check_filled(
        &[
            "changeFlight: Changes the date of a flight; booking",
            "cardPaymentSettings: Settings of a bank card and when it is paid; card?",
            "webSearch: Searches the web; query?",
            "hotel_search: Searches hotels in a city; city?",
        ],
        &[
            ("Change the payment date of my card", &["cardPaymentSettings()"]),
            ("Change my flight", &["changeFlight()"]),
        ],
    );
}

/// A word for a field leads to its tool, and a general search is what is left for the rest.
#[test]
fn a_general_search_serves_what_no_other_tool_is_for() {
    check_filled(
        &[
            "changeFlight: Changes the date of a flight; booking?",
            "cardPaymentSettings: Settings of a bank card and when it is paid; card?",
            "webSearch: Searches the web; query?",
            "hotel_search: Searches hotels in a city; city?",
            "weather_forecast: Tells the weather expected in a city; city?",
            "stock_quote: Tells the price of a share; symbol?",
        ],
        &[
            ("Find a hotel in Graz", &["hotel_search(city=Graz)"]),
            ("Search the weather in Graz", &["weather_forecast(city=Graz)"]),
            ("Search for the history of tulips", &["webSearch(query=history of tulips)"]),
            ("What does the web say about Faust?", &["webSearch(query=Faust)"]),
        ],
    );
}

#[test]
fn what_was_made_is_passed_on_by_its_name() {
    check_filled(
        &[
            "summarize_document: Summarizes a document; file_name",
            "send_email: Sends an e-mail; recipient; body: string: Text of the e-mail",
        ],
        &[(
            "Summarize report.docx and email the summary to Petra",
            &["summarize_document(file_name=report.docx)", "send_email(recipient=Petra, body<-0)"],
        )],
    );
}

#[test]
fn what_changes_the_world_is_not_done_for_what_it_gives() {
    check_filled(
        &[
            "order_place: Creates an order for a customer => id of the order; customer; product",
            "order_refund: Refunds the payment of an order; order_id; amount: number",
        ],
        &[("Refund 49.90 euros", &["order_refund(amount=49.90)"])],
    );
}

#[test]
fn a_way_has_two_ends_and_a_bound_is_no_count() {
    check_filled(
        &[
            "flight_search: Searches flights; origin; destination; date?",
            "room_search: Searches hotel rooms in a place; place; check_in?; nights?: integer; min_price?: number; max_price?: number",
            "table_book: Books a table in a restaurant; people: integer",
        ],
        &[
            ("Find a flight from Graz to Linz", &["flight_search(origin=Graz, destination=Linz)"]),
            ("Find a flight to Linz from Graz", &["flight_search(origin=Graz, destination=Linz)"]),
            ("Find a flight to Linz", &["flight_search(destination=Linz)"]),
            (
                "Search a hotel room in Rotterdam for that night under 110",
                &["room_search(place=Rotterdam, max_price=110)"],
            ),
            ("Search a hotel room in Rotterdam for less than 110", &["room_search(place=Rotterdam, max_price=110)"]),
            ("Book a table for over 10 people", &["table_book(people=10)"]),
        ],
    );
}

#[test]
fn a_dialogue_goes_on() {
    let (asked, offered) = ((Role::User, "How will it be in Oslo?"), (Role::Assistant, "Rainy. Shall I book a taxi?"));
    assert_eq!(planned(&[asked, offered], "Yes, please."), "taxi_book()");
    assert_eq!(planned(&[asked, offered], "No, thanks."), "");
    assert_eq!(planned(&[asked, offered], "I'm hungry, order a pizza"), "pizza_order()");
    let only_asks = (Role::Assistant, "For which city?");
    assert_eq!(planned(&[(Role::User, "Search a hotel"), only_asks], "Oslo"), "hotel_search()");
}

#[test]
fn names_in_latin_letters_are_those_of_another_script() {
    let tools: Vec<Tool> =
        ["pogoda", "kursvalyut", "youjia", "nongli", "zhanma"].map(|name| Tool::typed(name, "", &[], &[])).to_vec();
    let index = ToolIndex::new(&tools);
    for (request, want) in
        [("какая сегодня погода в Казани", "pogoda"), ("今天四川的油价", "youjia"), ("hello there", "")]
    {
        assert_eq!(called(&index, request), want, "{request}");
    }
}

/// The names of what is called.
fn called(index: &ToolIndex, request: &str) -> String {
    let draft = Offline::draft_with(index, &Request::new(request));
    draft.tasks.into_iter().map(|task| task.task).collect::<Vec<_>>().join(" ")
}

/// A list that holds these of [`TOOLS`] alone.
fn only(names: &str) -> ToolIndex {
    let named = |name: &str| tool(TOOLS.iter().find(|text| text.starts_with(&format!("{name}:"))).unwrap());
    ToolIndex::new(&names.split(' ').map(named).collect::<Vec<_>>())
}

#[test]
fn what_changes_the_world_is_not_called_along() {
    let list = "bank_transfer hotel_book weather_forecast mail_send";
    let index = only(list);
    for (request, want) in [
        (
            "What will the weather be like in Oslo, Rome and Graz, and which of them is the warmest in spring?",
            "weather_forecast weather_forecast weather_forecast",
        ),
        ("Search the news for the strike at the Antwerp port and sum the article up", ""),
        ("Which poems did Du Fu write, and when did he live?", ""),
        ("Tell me the weather in Oslo, and book a room at the Astoria", "weather_forecast hotel_book"),
        ("Transfer 50 euros to Anna and send her an e-mail about it", "bank_transfer mail_send"),
        ("What's the weather in Oslo? Let Ben know by e-mail", "weather_forecast mail_send"),
    ] {
        assert_eq!(called(&index, request), want, "{request}");
    }
}

#[test]
fn the_only_tool_is_not_called_for_what_it_does_not_do() {
    let cases = [
        ("weather_forecast", "Will it rain in Oslo tomorrow?", "weather_forecast"),
        ("weather_forecast", "What's the weather like in Paris?", "weather_forecast"),
        ("weather_forecast", "Tell me a joke", ""),
        ("weather_forecast", "Where can I buy shoes in Oslo?", ""),
        ("weather_forecast", "Write an e-mail to my landlord about the broken heating", ""),
        ("hotel_book", "What does a taxi to the airport cost?", ""),
        ("hotel_book", "Book a room at the Astoria", "hotel_book"),
        ("bank_transfer", "How high is the rent in Graz?", ""),
        ("bank_transfer", "Transfer 50 euros to Anna", "bank_transfer"),
        ("mail_send", "Let Anna know by mail that I am late", "mail_send"),
        ("pizza_order", "I would like a margherita pizza", "pizza_order"),
        ("pizza_order", "How do I bake bread?", ""),
        ("timer_start", "Who painted the Mona Lisa?", ""),
        ("translate_text", "Recommend a film for tonight", ""),
    ];
    let found: Vec<_> =
        cases.iter().map(|(list, request, _)| (*list, *request, called(&only(list), request))).collect();
    let wanted: Vec<_> = cases.iter().map(|(list, request, want)| (*list, *request, (*want).to_owned())).collect();
    assert_eq!(found, wanted);
}
