//! Which language a text is in, by script and function words. Enough to choose an answer's language and a stemmer; not
//! a general identifier.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use jarvis_plan::Script;
use unicode_segmentation::UnicodeSegmentation;

/// Words that say little about what a text is about, by language; the same words tell languages apart.
const FUNCTION_WORDS: [(&str, &str); 9] = [
    (
        "en",
        "a about above after again all also am an and any are as at be because been before being between both but by can \
         could did do does doing down during each few for from further had has have having he her here hers him his how i \
         if in into is it its itself just let me more most my no nor not now of off on once only or other our out over \
         own please same she should so some such than that the their them then there these they this those through to \
         too under until up us very was we were what when where which while who whom whose why will with would you your \
         many much tell said says",
    ),
    (
        "ru",
        "а без бы был была были было быть в вам вас весь во вот все всё всего всех вы где да для до его ее её если есть \
         еще ещё же за и из или им их к как какая какие какой кем ко когда кого кому который которая которые которое кто \
         куда ли либо мне много может мой мы на над нам нас не него нее ней нет ни них но ну о об один одна он она они оно \
         от откуда очень перед по под после при про с сам свой свои свою себя сколько со так также такой там тебе то \
         тогда того тоже той только том тот ту ты у уже чего чей чем что чтобы эта эти это этого этой этом этот я \
         пожалуйста",
    ),
    (
        "uk",
        "і й та в у на що не з до як це для від за про але або є був була були він вона вони ми ви їх його її який яка \
         які цей ця ці також щоб коли де чи вже ще дуже після між під",
    ),
    (
        "de",
        "der die das und ist nicht ein eine einen einem einer ich du er sie es wir ihr zu in mit auf für von dem den des \
         im am auch an als aus bei nach wie was wer wo wenn aber oder sich sind war wird werden hat haben kann noch nur \
         mir dir mich dich bitte über dieser diese dieses",
    ),
    (
        "fr",
        "le la les l un une des de du d et est en que qui dans pour pas ne sur au aux avec ce cette ces il elle ils elles \
         nous vous je tu se son sa ses par plus mais ou où comme sont été être avoir fait très quel quelle moi s'il \
         c'est leur",
    ),
    (
        "es",
        "el la los las un una unos unas y e de del que en es no por para con se su sus al lo como más pero o este esta \
         está son fue ha han muy qué quién cuándo dónde cómo yo tú él ella nosotros mi me te le también ya hay ser estar \
         hola",
    ),
    (
        "it",
        "il lo la i gli le un uno una e di del della dei che è non in per con su si al alla da dal nel nella sono era \
         ha hanno come più ma o questo questa io tu lui lei noi mi ti anche molto perché cosa chi quando dove ciao",
    ),
    (
        "pt",
        "o a os as um uma e de do da dos das que em no na nos nas é não por para com se seu sua ao como mais mas ou \
         este esta isso são foi tem têm muito eu você ele ela nós meu também já quando onde quem olá",
    ),
    (
        "nl",
        "de het een en van is niet dat in op te zijn met voor aan er maar om ook als dan bij nog naar wat wie waar ik jij \
         je hij zij we wij u deze dit die was werd heeft hebben kan",
    ),
];

static TABLE: LazyLock<HashMap<&'static str, HashSet<&'static str>>> = LazyLock::new(|| {
    FUNCTION_WORDS.iter().map(|(language, words)| (*language, words.split_whitespace().collect())).collect()
});

/// Chinese characters that join words rather than make them.
pub(super) const CHINESE_JOINTS: &str = "的了是在和与也都就很而及或被把从到对为以于之其这那有个们我你他她它吗呢吧啊着过并但则该将等不没请让向由因所又还更最";

/// A word without a subject of its own, in this language.
pub(super) fn is_function_word(language: &str, word: &str) -> bool {
    TABLE.get(language).is_some_and(|words| words.contains(word))
}

/// A Chinese character that joins words.
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
    let mut scripts: [(&'static str, usize); 10] = [
        ("latin", 0),
        ("cyrillic", 0),
        ("zh", 0),
        ("ja", 0),
        ("ko", 0),
        ("ar", 0),
        ("he", 0),
        ("el", 0),
        ("th", 0),
        ("hi", 0),
    ];
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        // A syllable or ideograph says as much as a few letters.
        let (script, weight) = match Script::of(letter) {
            Script::Han => ("zh", 3),
            Script::Kana => ("ja", 3),
            Script::Hangul => ("ko", 3),
            Script::Cyrillic => ("cyrillic", 1),
            Script::Arabic => ("ar", 1),
            Script::Hebrew => ("he", 1),
            Script::Greek => ("el", 1),
            Script::Thai => ("th", 1),
            Script::Devanagari => ("hi", 1),
            Script::Latin => ("latin", 1),
            Script::Other => continue,
        };
        if let Some((_, count)) = scripts.iter_mut().find(|(name, _)| *name == script) {
            *count += weight;
        }
    }
    let count = |name: &str| scripts.iter().find(|(script, _)| *script == name).map_or(0, |(_, count)| *count);
    // Japanese mixes kana with Chinese characters.
    if count("ja") * 5 > count("zh") && count("ja") > 0 && count("ja") + count("zh") > count("latin") {
        return "ja";
    }
    let best = scripts.iter().rev().max_by_key(|(_, count)| *count);
    match best {
        None | Some((_, 0)) => "und",
        Some(("latin", _)) => latin(&text),
        Some(("cyrillic", _)) => cyrillic(&text),
        Some((script, _)) => script,
    }
}

/// Which language in Latin letters; English when nothing says otherwise.
fn latin(text: &str) -> &'static str {
    let mut best = ("en", 0);
    for (language, _) in FUNCTION_WORDS.iter().filter(|(language, _)| !matches!(*language, "ru" | "uk")) {
        let words = text.unicode_words().take(2_000);
        let hits = words.filter(|word| is_function_word(language, &word.to_lowercase())).count();
        let letters = match *language {
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
