//! Editing instructions in English, Russian and Chinese, read into operations in their order.
//!
//! The text is cut into clauses, and each clause is searched for what it may ask. A clause about a part of the picture
//! that only a model could find (the background, a face) is left alone rather than done to the whole.

use std::sync::LazyLock;

use image::ImageFormat;
use regex::Regex;

use jarvis_plan::is_path;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Op {
    Resize(Size),
    Crop(Crop),
    /// Clockwise, in degrees.
    Rotate(f32),
    FlipHorizontal,
    FlipVertical,
    Grayscale,
    /// Standard deviation in pixels.
    Blur(f32),
    Sharpen,
    Invert,
    /// Percent, negative for darker.
    Brightness(f32),
    /// Percent, negative for less.
    Contrast(f32),
    /// Percent, negative for less.
    Saturation(f32),
    Edges,
    Sketch,
    Sepia,
    Warm,
    Cool,
    Pixelate,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Size {
    Exact(u32, u32),
    Width(u32),
    Height(u32),
    Longest(u32),
    Factor(f32),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Crop {
    /// The largest square.
    Square(Place),
    /// This many pixels.
    Exact(u32, u32, Place),
    /// The largest part with this ratio of width to height.
    Ratio(u32, u32, Place),
    /// This share of the width and of the height, 0 to 1.
    Share(f32, f32, Place),
    /// All but this many pixels at one side.
    Trim(u32, Place),
    /// All but this share at every side.
    Margins(f32),
}

/// Where a part lies: -1 is left or top, 0 the middle, 1 right or bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(pub(super) i8, pub(super) i8);

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Instruction {
    pub(super) ops: Vec<Op>,
    pub(super) format: Option<ImageFormat>,
    /// Clauses that seem to ask for something else.
    pub(super) rest: Vec<String>,
    /// A known edit whose details are missing or impossible.
    pub(super) unclear: Option<Unclear>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclear {
    /// A crop that does not say what to keep.
    Crop,
    /// A width or height of no pixels.
    Nothing,
}

macro_rules! patterns {
    ($($name:ident = $pattern:expr;)+) => {
        // Constant patterns; a test compiles each.
        $(static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($pattern).expect("a valid pattern"));)+
        #[cfg(test)]
        fn compile_all() { $(LazyLock::force(&$name);)+ }
    };
}

patterns! {
    BLACK_WHITE = r"black[ -]*(?:and|&|n)[ -]*white|\bb ?& ?w\b|gr[ae]y[ -]scale|shades of gr[ae]y";
    // "the black and white photo" describes the picture, unless something is turned into it.
    DESCRIBED = r"\b(?:the|this|that|my|our)\s+(?:grayscale|gr[ae]y|blurr?(?:y|ed)|dark|bright|small|large|big)\s+(?:photo|picture|image|one)\b";
    // What is said to be kind. The questions among them must not look like negations.
    COURTESY = r"\bif (?:it|that)(?:['\s]|n't)[^,.;!?]*?(?:trouble|bother|problem|possible|okay|ok|mind)\b|\bif you (?:can|could|please|don'?t mind|would(?:n'?t mind)?)\b|\bif possible\b|\b(?:can|could|would|will) you\b|\b(?:please|pls|kindly)\b|\bthank(?:s| you)(?: (?:so|very) much| a lot| in advance)*|\bcheers\b|\b(?:hello|hi|hey)(?: there)?\b|\bgood (?:morning|afternoon|evening|day)\b|\b(?:i )?(?:would|'d) (?:appreciate|be grateful for) (?:it|that)\b|\bне (?:мог|могли|могла) бы (?:вы|ты)\b|\b(?:мог|могли|могла) бы (?:вы|ты)\b|\bпрошу(?: вас| тебя)?\b|\bбудь(?:те)?(?: так)? (?:добр\w*|любезн\w*)|\bпожалуйста\b|\b(?:большое |огромное |заранее )?спасибо(?: (?:большое|огромное|заранее|вам|тебе))*|\b(?:заранее )?благодар\w*(?: вас)?|\bесли (?:вас |тебя |вам |тебе )?(?:это )?не (?:трудно|затруднит|сложно)|\bесли (?:можно|возможно)\b|\bздравствуй(?:те)?\b|\bпривет\b|\bдобр(?:ый|ое) (?:день|вечер|утро)\b|您好|你好|请问|麻烦(?:您|你)?了?|劳驾|(?:非常|十分|多)?感谢(?:您|你)?|(?:多谢|谢谢|谢)(?:您|你)?|拜托(?:您|你)?了?|如果(?:可以|方便)的话|(?:可以|能)帮我|帮我|辛苦(?:您|你)?了|(?:可以|好)吗$|请";
    // Words that look like a negation but negate nothing.
    NO_NEGATION = r"\bnot (?:only|just)\b|\bwhy not\b|\bне только\b|不仅仅?|不但";
    // What follows must not be done.
    NEGATION = r"\b(?:don'?t|do not|does not|doesn'?t|should not|shouldn'?t|must not|mustn'?t|not|never|without|instead of|rather than)\b|\b(?:не|без|вместо)\b|不要|不用|不需要|无需|不必|请勿|切勿|别";
    // Clauses that ask for nothing.
    FILLER = r"^(?:(?:the|this|that|these|my|our|your|a|an|it|to|of|from|in|on|here|is|are|just|only|so|take|open|load|use|picture|pictures|image|images|photo|photos|file|me|for|i|want|need|you|sir|very|much|возьми|открой|вот|эт\w*|мо\w*|картин\w*|фото\w*|изображени\w*|файл\w*|вас|мне|нужно|надо|хочу|просто|чтобы|把|将|这张|这个|那张|图片|照片|图像|图|打开|我|想|要|的)\s*)+$";
    FORMAT = r"(?:\bas|\bto|\binto|\bin|\bкак|\bв|成|为|到|\bformat|\bформат\w*|格式)\s*(?:an?\s+|the\s+|format\s+|формат\w*\s+|格式)?\.?(png|jpe?g|webp|gif|bmp|tiff?)(?:[^a-z0-9]|$)|(?:^|[^a-z0-9])(png|jpe?g|webp|gif|bmp|tiff?)\s*(?:format\b|格式)";
    ZERO_SIZE = r"(?:^|\D)(?:0+x\d+|\d+x0+|0+\s*(?:px|pixels?|%|percent|пикс\S*|процент\S*|像素))(?:\D|$)";
    NOISE_BETWEEN = r"(\d)\s*[x×х*]\s*(\d)";
    SEPARATOR = r"[,;!?\n，；。、！？]|\.(?:\s|$)|\b(?:and|but|then|also|plus|after that|afterwards|и|а|но|затем|потом|также|после этого|после чего)\b|然后|接着|之后|最后|并且|但是|但|而是|只要|并|再|以及|同时|和";
    PART = r"\b(?:background|foreground|backdrop|sky|faces?|eyes?|hair|person|people|man|woman|child|car|text|logo|watermark|object|number plates?)\b|\bфон\S*|\bлиц[оаеу]\S*|\bнеб[оау]\b|\bглаз\S*|\bчеловек\S*|\bлюд\S*|\bтекст\S*|\bлоготип\S*|водян\S* знак|背景|前景|天空|人脸|脸部|脸|眼睛|人物|文字|水印|车牌";

    CROP = r"\bcrop|\bcut (?:out|to)\b|\btrim|\bкадриру|обре[зж]|выре[зж]|裁|截取";
    ROTATE = r"\brotat|\bturn\b.*(?:left|right|\d|clockwise|around)|поверн|разверн|поворот|поворач|вращ|旋转|顺时针|逆时针|[左右]转";
    FLIP = r"\bflip|\bmirror|\bupside[ -]down|отрази|отразит|отраж|зеркал|перевер|вверх ногами|翻转|镜像|颠倒|倒置|反转(?:图|一下)?$";
    GRAY = r"\bgr[ae]y(?:scale)?\b|\bmonochrome|\bdesaturate|\bremove (?:the |all )?colou?rs?|\bcolou?rless|черно-? ?бел|\bсер(?:ым|ой|ую|ое|ый|ая)\b|оттенк\S* серого|обесцвет|монохром|黑白|灰度|灰色|去色|单色|灰阶";
    UNBLUR = r"\b(?:unblur|deblur|remove (?:the )?blur|less blurr?y)|убери размыт|убрать размыт|去模糊|去除模糊";
    BLUR = r"\bblur|\bsoften|\bsmooth|размо[йе]|размы|блюр|смягч|模糊|虚化|柔化";
    SHARPEN = r"\bsharp|резк|резче|четче|четкост|锐化|清晰|清楚";
    INVERT = r"\binvert|\binverse|\bnegative\b|инверт|инверс|негатив|反色|反相|负片|底片";
    DARKER = r"\bdark|\bdim(?:mer)?\b|темн|暗|变黑";
    BRIGHTER = r"\bbright|\blighte[nr]|ярк|ярч|светл|亮";
    CONTRAST = r"contrast|контраст|对比";
    SATURATION = r"\bsaturat|\bvivid|\bcolou?rful|насыщ|сочн|鲜艳";
    EDGES = r"\bedges?\b|\boutlines?\b|\bcontours?\b|контур|границ[ыа]|边缘|轮廓|描边|线稿";
    SKETCH = r"\bpencil|\bsketch|скетч|карандаш|наброс|素描|铅笔";
    SEPIA = r"\bsepia|\bvintage|\bold photo|сепи|винтаж|под старину|复古|怀旧|老照片";
    WARM = r"\bwarm|тепл|暖";
    COOL = r"\bcool(?:er)?\b|\bcold(?:er)?\b|холодн|冷";
    PIXELATE = r"\bpixelat|\bpixel art|\bmosaic|пикселиз|пиксельн|мозаик|马赛克|像素化|像素风";
    RESIZE = r"\bresiz|\bre-?scal|\bscal(?:e|ed|ing)\b|\bshrink|\benlarg|\bupscal|\bdownscal|\bdownsiz|\breduc|\bincreas|\bsmaller\b|\blarger\b|\bbigger\b|\bhalf\b|\bhalve|\bthird\b|\bquarter\b|\b1/[234]\b|\bdoubl|\btwice\b|\btriple|\bthumbnail|\bsize\b|\b(?:px|pixels?|\d+) (?:wide|tall|high)\b|\bwidth|\bheight|размер|уменьш|увелич|масштаб|вдвое|втрое|треть|четверт|分之一|меньше|больше|сожм|ширин|высот|миниатюр|缩|放大|大小|尺寸|宽|高度|\d+x\d+";

    SIZED = r"(\d{1,9})x(\d{1,9})";
    BY = r"(\d{1,9})\s*(?:by|на|乘以?)\s*(\d{1,9})(?:\s*(?:px|pixel|пикс|像素)|\s*$|\s+[^\d%])";
    RATIO = r"(\d{1,3})\s*[:：]\s*(\d{1,3})";
    PERCENT = r"(\d+(?:\.\d+)?)\s*%|(\d+(?:\.\d+)?)\s*(?:per ?cent|pct\b|процент)|百分之\s*(\d+)";
    BY_NUMBER = r"(?:\bby|\bна|\+)\s*(\d+(?:\.\d+)?)";
    THIRD_SIZE = r"\b(?:a|one) third\b|\b1/3\b|втрое меньше|до трети|\bтреть\b|三分之一";
    QUARTER_SIZE = r"\b(?:a|one) (?:quarter|fourth)\b|\b1/4\b|\bquarter (?:of )?(?:the |its )?size|четверть|до четверти|四分之一";
    TIMES = r"(\d+(?:\.\d+)?)\s*(?:x\b|times\b|раз|倍)|\bx\s*(\d+(?:\.\d+)?)";
    DEGREES = r"(-?\d+(?:\.\d+)?)\s*(?:°|deg|град|度)";
    NUMBER = r"-?\d+(?:\.\d+)?";
    PIXELS = r"(\d+(?:\.\d+)?)\s*(?:px|pixels?|пикс\S*|像素)";
    TO_NUMBER = r"(?:\bto|\bдо|到|为|成)\s*(\d{2,6})\s*(?:px|pixels?|пикс\S*|像素)?\s*$";
    WIDTH_FIRST = r"(?:width|wide|ширин\S*|宽度?)\D{0,14}?(\d{1,9})";
    WIDTH_LAST = r"(\d{1,9})\s*(?:px|pixels?|пикс\S*|像素)?\s*(?:wide|in width|в ширину|по ширине|宽)";
    HEIGHT_FIRST = r"(?:height|tall|high|высот\S*|高度?)\D{0,14}?(\d{1,9})";
    HEIGHT_LAST = r"(\d{1,9})\s*(?:px|pixels?|пикс\S*|像素)?\s*(?:tall|high|in height|в высоту|по высоте|高)";

    SMALLER = r"shrink|smaller|reduc|downscal|downsiz|decreas|уменьш|меньше|сожм|сниз|缩小|缩减|缩";
    LARGER = r"enlarg|larger|bigger|increas|upscal|\bgrow|увелич|больше|放大";
    HALF = r"\bhalf\b|\bhalve|наполовину|половин|一半|减半|二分之一|半";
    TWO = r"\bdoubl|\btwice\b|\btwo times|вдвое|в два раза|в двое|两倍|二倍|一倍|2倍";
    THREE = r"\btriple|\bthree times|втрое|в три раза|三倍";
    FOUR = r"\bfour times|\bquadruple|вчетверо|в четыре раза|四倍";
    TO = r"\bto\b|\bдо\b|到|为|成";
    BY_WORD = r"\bby\b|\bна\b";
    THUMBNAIL = r"\bthumbnail|миниатюр|缩略";
    LESS = r"\breduc|\bdecreas|\blower|\bless\b|\bdown\b|уменьш|сниз|пониз|меньше|менее|убав|降低|减少|减小|减弱|调低|降";
    SLIGHT = r"slight|\ba bit\b|\ba little\b|\blittle\b|немного|чуть|слегка|稍微|稍|一点|略微|轻微|轻度";
    STRONG = r"\bmuch\b|\ba lot\b|\bvery\b|strong|heav|сильно|намного|гораздо|очень|значительно|很|非常|大幅|强烈|强力|更加";
    VERTICAL = r"vertical|upside|top to bottom|вертикал|вверх ногами|сверху вниз|垂直|上下|颠倒|倒置|竖直";
    HORIZONTAL = r"horizontal|left to right|горизонтал|слева направо|水平|左右";
    COUNTER = r"counter|anti-? ?clock|\bccw\b|\bleft\b|против|влево|налево|逆时针|左";
    AROUND = r"upside|around|вверх ногами|полностью развер|倒";
    SQUARE = r"square|квадрат|正方|方形";
    CENTRE = r"cent(?:er|re)|middle|центр|середин|中间|中心|中央|居中";
    LEFT = r"\bleft|\bлев|слева|左";
    RIGHT = r"\bright|\bправ|справа|右";
    TOP = r"\btop|\bupper|\bверх|сверху|上";
    BOTTOM = r"\bbottom|\blower|\bниз|\bнижн|снизу|下";
    THIRD = r"\bthird|трет|三分之一";
    QUARTER = r"\bquarter\b|четверт|四分之一";
    EACH_SIDE = r"each side|every side|all sides|\bedges\b|margins?|border|с каждой|со всех|по краям|края|каждой стороны|每边|四周|四边|各边";
    OFF = r"\bfrom\b|\boff\b|\bс\b|слева|справа|сверху|снизу|去掉|剪掉|裁掉";
}

pub(super) fn read(text: &str) -> Instruction {
    // ".png" alone is a format.
    let is_path = |word: &str| is_path(word) && !(word.starts_with('.') && word.len() <= 6);
    let words: Vec<&str> = text.split([' ', '\t', '\r']).filter(|word| !is_path(word)).collect();
    let plain: String = words.join(" ").to_lowercase().chars().map(plain_char).collect();
    // The second sign of this word would part the clause.
    let plain = plain.replace("饱和", " saturation ");
    let plain = COURTESY.replace_all(&plain, " ");
    let plain = NO_NEGATION.replace_all(&plain, " ");
    let plain = BLACK_WHITE.replace_all(&plain, "grayscale");
    let plain = NOISE_BETWEEN.replace_all(&plain, "${1}x${2}");
    let plain = DESCRIBED.replace_all(&plain, "the picture");
    let mut found = Instruction::default();
    for clause in SEPARATOR.split(&plain) {
        // A request not to do something is met by not doing it.
        let (clause, negated) = match NEGATION.find(clause) {
            Some(not) => (clause.get(..not.start()).expect("a match starts at a character"), true),
            None => (clause, false),
        };
        let clause = clause.trim();
        if !clause.chars().any(char::is_alphanumeric) || FILLER.is_match(clause) {
            continue;
        }
        let format = FORMAT.captures(clause);
        let format = format.and_then(|found| found.get(1).or_else(|| found.get(2)));
        let format = format.and_then(|name| ImageFormat::from_extension(name.as_str()));
        found.format = format.or(found.format);
        let mut ops = if PART.is_match(clause) && !CROP.is_match(clause) { Vec::new() } else { clause_ops(clause) };
        if ops.is_empty()
            && let Some(Op::FlipHorizontal | Op::FlipVertical) = found.ops.last()
        {
            // "flip horizontally and vertically"
            if VERTICAL.is_match(clause) {
                ops.push(Op::FlipVertical);
            } else if HORIZONTAL.is_match(clause) {
                ops.push(Op::FlipHorizontal);
            }
        }
        if ops.is_empty() && !negated && format.is_none() {
            let sized = CROP.is_match(clause) || RESIZE.is_match(clause);
            found.unclear = match () {
                () if sized && ZERO_SIZE.is_match(clause) => Some(Unclear::Nothing),
                () if CROP.is_match(clause) => Some(Unclear::Crop),
                () => found.unclear,
            };
            found.rest.push(clause.to_owned());
        }
        found.ops.extend(ops);
    }
    found
}

/// Full-width digits and signs as plain ones; `ё` as `е`.
fn plain_char(ch: char) -> char {
    match ch {
        'ё' => 'е',
        '’' | '‘' => '\'',
        '０'..='９' | '％' | '：' | 'ｘ' => char::from_u32(u32::from(ch) - 0xfee0).unwrap_or(ch),
        other => other,
    }
}

/// The operations of one clause, in the order their words stand.
fn clause_ops(clause: &str) -> Vec<Op> {
    let at = |pattern: &Regex| pattern.find(clause).map(|found| found.start());
    let mut ops: Vec<(usize, Op)> = Vec::new();
    let mut add = |place: Option<usize>, op: Option<Op>| {
        if let (Some(place), Some(op)) = (place, op) {
            ops.push((place, op));
        }
    };
    let upside_down = at(&FLIP).is_some() && AROUND.is_match(clause) && at(&ROTATE).is_some();
    add(at(&ROTATE), Some(Op::Rotate(rotation(clause))));
    if !upside_down {
        add(at(&FLIP), Some(flip(clause)));
    }
    add(at(&GRAY), Some(Op::Grayscale));
    match at(&UNBLUR) {
        Some(place) => add(Some(place), Some(Op::Sharpen)),
        None => {
            add(at(&BLUR), Some(Op::Blur(blur(clause))));
            add(at(&SHARPEN), Some(Op::Sharpen));
        }
    }
    add(at(&INVERT), Some(Op::Invert));
    let sign = if LESS.is_match(clause) { -1.0 } else { 1.0 };
    let amount = amount(clause);
    match (at(&BRIGHTER), at(&DARKER)) {
        // "насыщенность ярче" and the like stay two operations; "dark" beside "bright" is a contradiction.
        (Some(place), None) => add(Some(place), Some(Op::Brightness(sign * amount))),
        (None, Some(place)) => add(Some(place), Some(Op::Brightness(-sign * amount))),
        (Some(_), Some(_)) | (None, None) => {}
    }
    add(at(&CONTRAST), Some(Op::Contrast(sign * amount)));
    add(at(&SATURATION), Some(Op::Saturation(sign * amount)));
    add(at(&EDGES).filter(|_| at(&CROP).is_none()), Some(Op::Edges));
    add(at(&SKETCH), Some(Op::Sketch));
    add(at(&SEPIA), Some(Op::Sepia));
    add(at(&WARM), Some(Op::Warm));
    add(at(&COOL), Some(Op::Cool));
    add(at(&PIXELATE), Some(Op::Pixelate));
    match at(&CROP) {
        Some(place) => add(Some(place), crop(clause).map(Op::Crop)),
        None => {
            // In "increase the brightness by 20%" the number is not a size.
            let tone = [&BRIGHTER, &DARKER, &CONTRAST, &SATURATION, &SHARPEN, &BLUR, &UNBLUR, &PIXELATE];
            let sized = SIZED.is_match(clause) || HALF.is_match(clause);
            if sized || !tone.iter().any(|pattern| pattern.is_match(clause)) {
                add(at(&RESIZE), resize(clause).map(Op::Resize));
            }
        }
    }
    ops.sort_by_key(|(place, _)| *place);
    ops.into_iter().map(|(_, op)| op).collect()
}

fn first<T: std::str::FromStr>(pattern: &Regex, clause: &str) -> Option<T> {
    let found = pattern.captures(clause)?;
    let group = found.iter().skip(1).flatten().next().or_else(|| found.get(0))?;
    group.as_str().parse().ok()
}

fn pair(pattern: &Regex, clause: &str) -> Option<(u32, u32)> {
    let found = pattern.captures(clause)?;
    let number = |group: usize| found.get(group)?.as_str().parse().ok().filter(|number| *number > 0);
    Some((number(1)?, number(2)?))
}

fn rotation(clause: &str) -> f32 {
    let degrees = first(&DEGREES, clause).or_else(|| {
        // A bare number, unless it belongs to a size.
        let rest = SIZED.replace_all(clause, "");
        let rest = PERCENT.replace_all(&rest, "");
        first(&NUMBER, &PIXELS.replace_all(&rest, ""))
    });
    let degrees: f32 = degrees.unwrap_or(if AROUND.is_match(clause) { 180.0 } else { 90.0 });
    if COUNTER.is_match(clause) { -degrees } else { degrees }
}

fn flip(clause: &str) -> Op {
    if HORIZONTAL.is_match(clause) {
        Op::FlipHorizontal
    } else if VERTICAL.is_match(clause) {
        Op::FlipVertical
    } else if clause.contains("перевер") {
        Op::Rotate(180.0)
    } else {
        Op::FlipHorizontal
    }
}

fn blur(clause: &str) -> f32 {
    let asked = first(&PIXELS, clause).or_else(|| first(&NUMBER, &PERCENT.replace_all(clause, "")));
    let by_word = match () {
        () if SLIGHT.is_match(clause) => 1.5,
        () if STRONG.is_match(clause) => 10.0,
        () => 4.0,
    };
    asked.filter(|sigma: &f32| *sigma > 0.0).unwrap_or(by_word).clamp(0.3, 200.0)
}

/// How much brighter and so on, in percent.
fn amount(clause: &str) -> f32 {
    let by_word = match () {
        () if SLIGHT.is_match(clause) => 10.0,
        () if STRONG.is_match(clause) => 50.0,
        () => 25.0,
    };
    first::<f32>(&PERCENT, clause).or_else(|| first(&BY_NUMBER, clause)).unwrap_or(by_word).clamp(0.0, 100.0)
}

fn resize(clause: &str) -> Option<Size> {
    if ZERO_SIZE.is_match(clause) {
        return None;
    }
    if let Some((width, height)) = pair(&SIZED, clause).or_else(|| pair(&BY, clause)) {
        return Some(Size::Exact(width, height));
    }
    let (smaller, larger) = (SMALLER.is_match(clause), LARGER.is_match(clause));
    if let Some(percent) = first::<f32>(&PERCENT, clause) {
        let share = percent / 100.0;
        let (to, by) = (TO.is_match(clause), BY_WORD.is_match(clause));
        let factor = match (smaller, larger) {
            (true, _) if !to && share < 1.0 => 1.0 - share,
            (false, true) if !to && (by || share < 1.0) => 1.0 + share,
            _ => share,
        };
        return (factor > 0.0).then_some(Size::Factor(factor));
    }
    let width: Option<u32> = first(&WIDTH_LAST, clause).or_else(|| first(&WIDTH_FIRST, clause));
    let height: Option<u32> = first(&HEIGHT_LAST, clause).or_else(|| first(&HEIGHT_FIRST, clause));
    match (width.filter(|side| *side > 0), height.filter(|side| *side > 0)) {
        (Some(width), Some(height)) => return Some(Size::Exact(width, height)),
        (Some(width), None) => return Some(Size::Width(width)),
        (None, Some(height)) => return Some(Size::Height(height)),
        (None, None) => {}
    }
    let times = match () {
        () if FOUR.is_match(clause) => Some(4.0),
        () if THREE.is_match(clause) => Some(3.0),
        () if TWO.is_match(clause) => Some(2.0),
        () => first::<f32>(&TIMES, clause),
    };
    if let Some(times) = times.filter(|times| *times > 0.0) {
        return Some(Size::Factor(if smaller { 1.0 / times } else { times }));
    }
    if THIRD_SIZE.is_match(clause) {
        return Some(Size::Factor(1.0 / 3.0));
    }
    if QUARTER_SIZE.is_match(clause) {
        return Some(Size::Factor(0.25));
    }
    if HALF.is_match(clause) {
        return Some(Size::Factor(if larger && !smaller { 1.5 } else { 0.5 }));
    }
    if let Some(side) = first::<f32>(&PIXELS, clause).or_else(|| first(&TO_NUMBER, clause)).filter(|side| *side >= 1.0)
    {
        return Some(Size::Longest(side as u32));
    }
    match () {
        () if THUMBNAIL.is_match(clause) => Some(Size::Longest(256)),
        () if smaller => Some(Size::Factor(0.5)),
        () if larger => Some(Size::Factor(2.0)),
        () => None,
    }
}

fn crop(clause: &str) -> Option<Crop> {
    let side = |low: &Regex, high: &Regex| match (low.is_match(clause), high.is_match(clause)) {
        (true, false) => -1,
        (false, true) => 1,
        (true, true) | (false, false) => 0,
    };
    let place = Place(side(&LEFT, &RIGHT), side(&TOP, &BOTTOM));
    if ZERO_SIZE.is_match(clause) {
        return None;
    }
    if let Some((width, height)) = pair(&SIZED, clause).or_else(|| pair(&BY, clause)) {
        return Some(Crop::Exact(width, height, place));
    }
    if let Some((width, height)) = pair(&RATIO, clause) {
        return Some(Crop::Ratio(width, height, place));
    }
    if SQUARE.is_match(clause) {
        return Some(Crop::Square(place));
    }
    if let Some(percent) = first::<f32>(&PERCENT, clause).filter(|percent| *percent > 0.0 && *percent < 100.0) {
        let share = percent / 100.0;
        if EACH_SIDE.is_match(clause) {
            return (share < 0.5).then_some(Crop::Margins(share));
        }
        let off = OFF.is_match(clause);
        return Some(match place {
            Place(0, 0) => Crop::Share(share, share, place),
            // What is cut off one side leaves the other.
            Place(x, 0) if off => Crop::Share(1.0 - share, 1.0, Place(-x, 0)),
            Place(0, y) if off => Crop::Share(1.0, 1.0 - share, Place(0, -y)),
            Place(_, 0) => Crop::Share(share, 1.0, place),
            Place(0, _) => Crop::Share(1.0, share, place),
            Place(..) => Crop::Share(share, share, place),
        });
    }
    if let Some(pixels) = first::<f32>(&PIXELS, clause)
        && place != Place(0, 0)
        && OFF.is_match(clause)
    {
        return Some(Crop::Trim(pixels as u32, place));
    }
    let share = if THIRD.is_match(clause) { 1.0 / 3.0 } else { 0.5 };
    match place {
        Place(0, 0) if CENTRE.is_match(clause) => Some(Crop::Share(share, share, place)),
        Place(0, 0) => None,
        Place(_, 0) => Some(Crop::Share(if QUARTER.is_match(clause) { 0.25 } else { share }, 1.0, place)),
        Place(0, _) => Some(Crop::Share(1.0, if QUARTER.is_match(clause) { 0.25 } else { share }, place)),
        Place(..) => Some(Crop::Share(share, share, place)),
    }
}

#[cfg(test)]
mod tests;
