//! Requests for reading and for cards, and what of them is told.

use super::{
    all_wanted, card_wanted, compares, cost_wanted, is_code, number_wanted, numbers, prices, region, restriction,
    wanted,
};

#[test]
fn cards_are_asked_for_or_not() {
    for request in ["make a title card saying \"Welcome\"", "a poster about tea", "сделай плакат «Мир»", "做一张海报"]
    {
        assert!(card_wanted(request), "{request}");
    }
    for request in ["draw a cat", "a picture of a lighthouse", "нарисуй кота", "画一只猫", "sketch a house"]
    {
        assert!(!card_wanted(request), "{request}");
    }
}

#[test]
fn a_card_bears_what_is_quoted_or_said() {
    let check = |request: &str, text: &str, want: Option<&str>| {
        assert_eq!(super::card_words(request, text).as_deref(), want, "{request}");
    };
    check(
        "make a poster \"BIG SALE\" with a green background",
        "a poster \"BIG SALE\" with a green background",
        Some("BIG SALE"),
    );
    check(
        "a card that says Good luck in blue letters on white",
        "Good luck in blue letters on white",
        Some("Good luck"),
    );
    check("a poster that says Meet at noon on Friday", "Meet at noon on Friday", Some("Meet at noon on Friday"));
    check("сделай плакат «Мир» на синем фоне", "плакат «Мир» на синем фоне", Some("Мир"));
    check(
        "плакат со словами Добро пожаловать на желтом фоне",
        "Добро пожаловать на желтом фоне",
        Some("Добро пожаловать"),
    );
    check("做一张海报，写着欢迎光临", "欢迎光临", Some("欢迎光临"));
    check("find the mood of a.txt and make a poster with the mood on it", "a poster with the mood on it", None);
    check("make a poster of the text of a.txt", "The ship has sailed.", Some("The ship has sailed."));
    check("make a title card: Welcome", "Welcome", Some("Welcome"));
}

#[test]
fn a_file_for_the_text_is_noticed() {
    let check = |request: &str, want: Option<&str>| {
        assert_eq!(super::file_wanted(request).as_deref(), want, "{request}");
    };
    check("copy the text of b.jpg into a file called out.txt", Some("out.txt"));
    check("read b.jpg and save it as words.md", Some("words.md"));
    check("распознай b.jpg и сохрани как текст.txt", Some("текст.txt"));
    check("读出 b.jpg 的文字，保存为out.txt", Some("out.txt"));
    check("does b.jpg say the same as the file called notes.txt?", None);
    check("read b.jpg", None);
}

#[test]
fn whether_there_is_writing_and_what_is_shown() {
    for request in ["is there any text in b.jpg?", "есть ли на b.jpg надписи?", "b.jpg 上有没有文字"]
    {
        assert!(super::any_wanted(request), "{request}");
    }
    for request in ["what is in b.jpg?", "what's shown in the photo", "что изображено на b.jpg", "图里有什么"]
    {
        assert!(super::asks_what_is_shown(request), "{request}");
    }
    assert!(!super::asks_what_is_shown("describe b.jpg") && !super::any_wanted("read the text"));
}

#[test]
fn all_of_the_writing_is_asked_for_or_a_part() {
    assert!(all_wanted("what's written on the sign in sign.png") && all_wanted("what does sign.png say?"));
    assert!(!all_wanted("what does page.png say about lamps") && !all_wanted("who is the text from"));
}

#[test]
fn comparing_is_no_describing() {
    assert!(compares("compare a.jpg and b.jpg") && compares("чем отличаются a.jpg и b.jpg") && compares("比较两张图"));
    assert!(!compares("describe a.jpg and b.jpg"));
}

#[test]
fn writing_is_asked_for_or_not() {
    for request in [
        "read the text in b.jpg",
        "what does the sign in b.jpg say?",
        "read page.png",
        "turn page.png into text",
        "summarise page.png",
        "say what sign.png says",
        "what is written in photo.jpg",
        "extract the text from scan.png",
        "extract the dates from page.png",
        "which names are on card.jpg",
        "list the phone numbers in card.jpg",
        "какие даты на page.png",
        "提取 page.png 中的日期",
        "что написано на b.jpg?",
        "прочитай текст на картинке",
        "b.jpg 上写着什么？",
        "识别图中的文字",
    ] {
        assert!(wanted(request), "{request}");
    }
    for request in [
        "describe b.jpg",
        "describe b.jpg and read it aloud",
        "what is in photo.jpg? read it to me",
        "caption reading.jpg",
        "what is in b.jpg?",
        "опиши картинку и прочитай вслух",
        "描述 b.jpg 并朗读",
    ] {
        assert!(!wanted(request), "{request}");
    }
}

#[test]
fn what_restricts_the_reading_is_told() {
    let check = |request: &str, part: bool, want: Option<&str>| {
        assert_eq!((region(request).is_some(), restriction(request).as_deref()), (part, want), "{request}");
    };
    check("what is written on the right half only?", true, None);
    check("read the text in the left half of the picture aloud", true, None);
    check("read only the first line of page.png", false, None);
    check("read only the text in b.jpg", false, None);
    check("read out only the prices", false, Some("only"));
    check("what does the sign say, in upper case and without the hours?", false, Some("upper case"));
    check("прочитай только цены", false, Some("только"));
    check("what is written there? only the number", false, Some("only"));
    check("crop the left half of b.jpg", false, None);
    check("ocr this page and read it out loud", false, None);
}

#[test]
fn numbers_and_prices_are_taken_alone() {
    assert!(number_wanted("what is the total? only the number please") && !number_wanted("what is the number?"));
    assert!(cost_wanted("how much does it cost?") && cost_wanted("多少钱") && !cost_wanted("how much is the total?"));
    assert_eq!(numbers("TOTAL £17.85"), ["17.85"]);
    assert_eq!(prices("Lamp $129.99, 2 left, $129.99"), ["$129.99"]);
    assert!(is_code("what does this QR code contain?") && !is_code("what does this code say?"));
}
