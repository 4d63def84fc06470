//! Other tool lists: named parameters without kinds, and typed tools that are named another way.

use jarvis_plan::{Kind, Param, Tool};
use serde_json::json;

use crate::support::check_all;

/// Tools whose parameters have names and types, and whose outputs are unknown.
pub(crate) fn everyday() -> Vec<Tool> {
    [
        ("book_flight", "Book a flight on a day", vec![("date", "date"), ("from", "string"), ("to", "string")]),
        ("book_hotel", "Book a room in a hotel", vec![("date", "date"), ("name", "string")]),
        ("send_email", "Send an email to somebody", vec![("to", "email"), ("body", "string")]),
        ("get_weather", "Tell the weather of a city on a day", vec![("location", "string"), ("date", "date")]),
        ("play_song", "Play a song by its title", vec![("title", "string")]),
        ("set_alarm", "Set an alarm clock", vec![("time", "time")]),
        ("transfer_money", "Transfer money to a person", vec![("amount", "number"), ("recipient", "string")]),
        ("search_web", "Search the web for a query", vec![("query", "string")]),
        ("translate_text", "Translate text into a language", vec![("text", "string"), ("language", "string")]),
    ]
    .into_iter()
    .map(|(name, description, params)| {
        let mut tool = Tool::typed(name, description, &[], &[]);
        tool.params = params
            .into_iter()
            .map(|(name, kind)| Param { schema: Some(json!({"type": kind})), ..Param::required(name, Kind::Text) })
            .collect();
        tool
    })
    .collect()
}

/// Typed tools that no other list of these tests names.
fn studio() -> Vec<Tool> {
    let (text, image, audio, video) = (Kind::Text, Kind::Image, Kind::Audio, Kind::Video);
    vec![
        Tool::typed("Speech Writer", "Performs speech recognition on an audio file.", &[audio], &[text]),
        Tool::typed("Article Summarizer", "Summarizes a text into a shorter version.", &[text], &[text]),
        Tool::typed("Audio Extractor", "Extracts the audio track: extract audio from a video.", &[video], &[audio]),
        Tool::typed("Outline Finder", "Performs edge detection on an image.", &[image], &[image]),
        Tool::typed("Video Stabilizer", "Stabilizes shaky video footage.", &[video], &[video]),
        Tool::typed("Audio Splicer", "Joins two audio files into one.", &[audio, audio], &[audio]),
    ]
}

#[test]
fn named_parameters() {
    check_all(
        &everyday(),
        &[
            ("Book a flight from Paris to Rome on 2025-05-01", &[], "book_flight(date=2025-05-01,from=Paris,to=Rome)"),
            ("Send an email to bob@x.org saying \"see you soon\"", &[], "send_email(to=bob@x.org,body=see you soon)"),
            ("What's the weather in Berlin tomorrow?", &[], "get_weather(location=Berlin,date=tomorrow)"),
            ("Please play the song \"Yesterday\"", &[], "play_song(title=Yesterday)"),
            ("Set an alarm at 7:30", &[], "set_alarm(time=7:30)"),
            (
                "Book a flight from Oslo to Rome on 2025-05-01 and then send an email to bob@x.org saying \"done\"",
                &[],
                "book_flight(date=2025-05-01,from=Oslo,to=Rome) ; send_email(to=bob@x.org,body=done)<0>",
            ),
            (
                "Transfer $200 to Anna and set an alarm for 8 am",
                &[],
                "transfer_money(amount=200,recipient=Anna) ; set_alarm(time=8 am)",
            ),
            ("Find the edges of /images/a.png", &[], ""),
            (
                "Book the Hilton Hotel for December 1st, 2022",
                &[],
                "book_hotel(date=December 1st, 2022,name=Hilton Hotel)",
            ),
            ("Play the song Bohemian Rhapsody", &[], "play_song(title=Bohemian Rhapsody)"),
            ("Send an email to bob@x.org saying I will be late", &[], "send_email(to=bob@x.org,body=I will be late)"),
            ("Какая погода в Москве завтра?", &[], "get_weather(location=Москве,date=завтра)"),
            ("预订明天从北京到上海的机票", &[], "book_flight(date=明天,from=北京,to=上海)"),
        ],
    );
}

#[test]
fn typed_tools_with_other_names() {
    check_all(
        &studio(),
        &[
            ("Transcribe a.wav", &[], "Speech Writer(audio=a.wav)"),
            ("Find the edges of a.png", &[], "Outline Finder(image=a.png)"),
            ("Stabilize the footage b.mp4", &[], "Video Stabilizer(video=b.mp4)"),
            ("Join a.wav and b.wav with the audio splicer", &[], "Audio Splicer(audio=~"),
            (
                "Summarise b.mp4",
                &[],
                "Audio Extractor(video=b.mp4) ; Speech Writer(audio=@0) ; Article Summarizer(text=@1)",
            ),
        ],
    );
}

#[test]
fn what_an_address_leads_to_is_fetched_first() {
    let mut tools = studio();
    let mut fetcher = Tool::typed("Page Reader", "Reads the text of a web page.", &[], &[Kind::Text]);
    fetcher.params = vec![Param::required("url", Kind::Text)];
    let cases: &[(&str, &[&str], &str)] = &[
        ("Summarize https://x.org/news", &[], "Page Reader(url=https://x.org/news) ; Article Summarizer(text=@0)"),
        ("Read the page https://x.org/news", &[], "Page Reader(url=https://x.org/news)"),
        ("Summarize \"It rained.\"", &[], "Article Summarizer(text=It rained.)"),
    ];
    check_all(&tools, &[("Summarize https://x.org/news", &[], "Article Summarizer(text=https://x.org/news)")]);
    tools.push(fetcher);
    check_all(&tools, cases);
}

#[test]
fn what_is_forbidden_or_the_opposite_is_not_done() {
    let mut tools = everyday();
    for (name, description) in [("cancel_booking", "Cancel a booking"), ("sell_item", "Sell an item")] {
        let mut tool = Tool::typed(name, description, &[], &[]);
        tool.params = vec![Param::required("item", Kind::Text)];
        tools.push(tool);
    }
    check_all(
        &everyday(),
        &[
            ("Do not send an email to bob@x.org", &[], ""),
            ("Never transfer 50 to Bob", &[], ""),
            ("Play the song \"Yesterday\" but don't set an alarm", &[], "play_song(title=Yesterday)"),
            ("Cancel the flight to Rome", &[], ""),
            ("Delete the email", &[], ""),
            ("The weather is nice", &[], ""),
            (
                "Play the song \"Up\" and then set an alarm for 7:00",
                &[],
                "play_song(title=Up) ; set_alarm(time=7:00)<0>",
            ),
        ],
    );
    check_all(&tools, &[("Cancel the booking", &[], "cancel_booking()"), ("Buy an item", &[], "")]);
}
