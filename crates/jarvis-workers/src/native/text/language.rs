//! Which language a text is in, by script and function words. Enough to choose an answer's language and a stemmer; not
//! a general identifier.

use std::sync::LazyLock;

use jarvis_plan::{Language, Script};
use rustc_hash::{FxHashMap, FxHashSet};
use unicode_segmentation::UnicodeSegmentation;

use super::lists::list;

/// The languages with a list of function words.
const WITH_WORDS: [&str; 9] = ["en", "ru", "uk", "de", "fr", "es", "it", "pt", "nl"];

static FUNCTION_WORDS: LazyLock<FxHashMap<&str, FxHashSet<&str>>> =
    LazyLock::new(|| WITH_WORDS.into_iter().map(|code| (code, list(&format!("function_{code}")).collect())).collect());

/// Chinese characters that join words rather than make them.
pub(super) const CHINESE_JOINTS: &str = "的了是在和与也都就很而及或被把从到对为以于之其这那有个们我你他她它吗呢吧啊着过并但则该将等不没请让向由因所又还更最";

pub(in crate::native) fn is_function_word(language: &str, word: &str) -> bool {
    FUNCTION_WORDS.get(language).is_some_and(|words| words.contains(word))
}

pub(super) fn is_joint(letter: char) -> bool {
    CHINESE_JOINTS.contains(letter)
}

pub(super) fn is_kana(letter: char) -> bool {
    Script::of(letter) == Script::Kana
}

/// The text's language as an ISO 639-1 code, or `und` when it has no letters. Knows `en de fr es it pt nl` by function
/// words (other Latin text counts as `en`), `ru uk` by letters, and `zh ja ko ar he el th hi` by script. Paths, web
/// addresses and e-mail addresses do not count.
pub fn language(text: &str) -> &'static str {
    // The beginning says enough, and keeps this cheap for long texts.
    let end = text.char_indices().nth(20_000).map_or(text.len(), |(at, _)| at);
    let text = without_addresses(text.get(..end).unwrap_or(text));
    let mut counts = SCRIPTS.map(|_| 0_usize);
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        let script = Script::of(letter);
        for ((known, weight, _), count) in SCRIPTS.iter().zip(&mut counts) {
            *count += if *known == script { *weight } else { 0 };
        }
    }
    // Japanese mixes kana with Chinese characters.
    let [latin_letters, _, han, kana, ..] = counts;
    if kana > 0 && kana * 5 > han && kana + han > latin_letters {
        return "ja";
    }
    // Of scripts with equal weight the first counts.
    let best = SCRIPTS.iter().zip(counts).rev().max_by_key(|(_, count)| *count);
    match best {
        None | Some((_, 0)) => "und",
        Some(((Script::Latin, ..), _)) => latin(&text),
        Some(((Script::Cyrillic, ..), _)) => cyrillic(&text),
        Some(((.., code), _)) => code,
    }
}

/// The scripts that tell a language, what one letter of each weighs, and the language. A syllable or ideograph says as
/// much as a few letters.
const SCRIPTS: [(Script, usize, &str); 10] = [
    (Script::Latin, 1, "en"),
    (Script::Cyrillic, 1, "ru"),
    (Script::Han, 3, "zh"),
    (Script::Kana, 3, "ja"),
    (Script::Hangul, 3, "ko"),
    (Script::Arabic, 1, "ar"),
    (Script::Hebrew, 1, "he"),
    (Script::Greek, 1, "el"),
    (Script::Thai, 1, "th"),
    (Script::Devanagari, 1, "hi"),
];

/// Which language in Latin letters; English when nothing says otherwise.
fn latin(text: &str) -> &'static str {
    let mut best = ("en", 0);
    for language in WITH_WORDS.into_iter().filter(|language| !matches!(*language, "ru" | "uk")) {
        let words = text.unicode_words().take(2_000);
        let hits = words.filter(|word| is_function_word(language, &word.to_lowercase())).count();
        let letters = match language {
            "de" => "äöüßÄÖÜ",
            "fr" => "èêàùçœÈÊÀÇ",
            "es" => "ñ¿¡óÑ",
            "it" => "ìòù",
            "pt" => "ãõÃÕ",
            _ => "",
        };
        let score = 2 * hits + text.chars().filter(|letter| letters.contains(*letter)).take(200).count();
        if score > best.1 {
            best = (language, score);
        }
    }
    best.0
}

/// The language of a text, where its script or enough of its words tell it: "hello" may be a word of many languages.
pub(super) fn certain(text: &str) -> Option<&'static str> {
    let code = language(text);
    let is_function = |word: &str| is_function_word(code, &word.to_lowercase());
    let words = text.unicode_words().take(200).filter(|word| is_function(word)).count();
    match code {
        "und" => None,
        "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" if words < 3 => None,
        code => Some(code),
    }
}

/// What a language is called, in another.
pub(super) fn name(code: &str, language: Language) -> Option<&'static str> {
    let (_, english, russian, chinese) = NAMES.into_iter().find(|(known, ..)| *known == code)?;
    Some(language.pick(english, russian, chinese))
}

const NAMES: [(&str, &str, &str, &str); 17] = [
    ("en", "English", "английский", "英语"),
    ("de", "German", "немецкий", "德语"),
    ("fr", "French", "французский", "法语"),
    ("es", "Spanish", "испанский", "西班牙语"),
    ("it", "Italian", "итальянский", "意大利语"),
    ("pt", "Portuguese", "португальский", "葡萄牙语"),
    ("nl", "Dutch", "нидерландский", "荷兰语"),
    ("ru", "Russian", "русский", "俄语"),
    ("uk", "Ukrainian", "украинский", "乌克兰语"),
    ("zh", "Chinese", "китайский", "中文"),
    ("ja", "Japanese", "японский", "日语"),
    ("ko", "Korean", "корейский", "韩语"),
    ("ar", "Arabic", "арабский", "阿拉伯语"),
    ("he", "Hebrew", "иврит", "希伯来语"),
    ("el", "Greek", "греческий", "希腊语"),
    ("th", "Thai", "тайский", "泰语"),
    ("hi", "Hindi", "хинди", "印地语"),
];

fn cyrillic(text: &str) -> &'static str {
    let ukrainian = text.chars().filter(|letter| "іїєґІЇЄҐ".contains(*letter)).count();
    let russian = text.chars().filter(|letter| "ыэъёЫЭЪЁ".contains(*letter)).count();
    if ukrainian > russian { "uk" } else { "ru" }
}

/// The text without runs of ASCII that hold a slash, a backslash or an at sign.
fn without_addresses(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let run = rest.find(|letter: char| !letter.is_ascii_graphic()).unwrap_or(rest.len());
        let (ascii, after) = rest.split_at(run);
        if !ascii.contains(['/', '\\', '@']) {
            kept.push_str(ascii);
        }
        let other = after.find(|letter: char| letter.is_ascii_graphic()).unwrap_or(after.len());
        let (plain, next) = after.split_at(other);
        kept.push_str(plain);
        rest = next;
    }
    kept
}
