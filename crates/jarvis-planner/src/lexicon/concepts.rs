//! The table of concepts: how people ask for each in three languages, and how tools that serve it describe themselves.
//! No code; the form of a row is told at [`super::Concept`].

use jarvis_plan::Kind::{self, Audio, Image, Json, Text, Video};

use super::{Concept, Nature};

const fn concept(
    name: &'static str,
    nature: Nature,
    takes: &'static [Kind],
    gives: Kind,
    tools: &'static str,
    says: &'static [&'static str],
) -> Concept {
    Concept { name, nature, takes, gives, tools, says }
}

pub(super) static CONCEPTS: &[Concept] = &[
    // Pictures to pictures that show one aspect.
    concept(
        "edges",
        Nature::Map,
        &[Image],
        Image,
        "canny|edge detection|edges|edge",
        &[
            "edge|edge detection|detect edges|find edges|outline|contour|draw edges|draw outline|draw contours|trace|line art",
            "контур|контуры|край|края|краев|границы|очертания|обведи|нарисуй контур|нарисуй контуры|обводка",
            "边缘|轮廓|描边|勾勒|边界|画*轮廓|画*边缘",
        ],
    ),
    concept(
        "soft edges",
        Nature::Map,
        &[Image],
        Image,
        "hed|soft edge|soft edge detection",
        &[
            "soft edge|soft outline|soft contour|hed",
            "мягкий контур|мягкие контуры|мягкие края|плавные контуры",
            "柔和边缘|柔和的边缘|软边缘|柔和轮廓|柔和的轮廓",
        ],
    ),
    concept(
        "straight lines",
        Nature::Map,
        &[Image],
        Image,
        "mlsd|straight line|straight lines|line detection",
        &[
            "straight line|line segment|line detection|mlsd|detect lines|find lines",
            "прямые линии|прямых линий|прямую линию|отрезки",
            "直线|线段",
        ],
    ),
    concept(
        "pose",
        Nature::Map,
        &[Image],
        Image,
        "openpose|pose|pose estimation",
        &[
            "pose|pose estimation|pose detection|detect pose|posture|skeleton|stick figure|openpose",
            "поза|позу|позы|скелет",
            "姿势|姿态|骨架|骨骼",
        ],
    ),
    concept(
        "scribble",
        Nature::Map,
        &[Image],
        Image,
        "scribble",
        &["scribble|doodle|turn into sketch|as sketch", "каракули|набросок|эскиз", "涂鸦|草图|素描"],
    ),
    concept(
        "surface normals",
        Nature::Map,
        &[Image],
        Image,
        "normal map|surface normals|normals|normal",
        &["normal map|surface normal|normals", "карта нормалей|карту нормалей|нормали", "法线"],
    ),
    concept(
        "depth",
        Nature::Map,
        &[Image],
        Image,
        "depth|depth estimation|depth map",
        &["depth|depth map|how far away|near and far", "глубина|карта глубины|карту глубины|глубину", "深度|景深"],
    ),
    concept(
        "segmentation",
        Nature::Map,
        &[Image],
        Image,
        "segmentation|image segmentation|segment image|segment",
        &[
            "segment|segmentation|divide * into regions|split * into regions|divide * into parts|divide * into segments|divide * into areas|split * into segments|split * into areas|split * into parts|separate * into regions|cut * into regions|cut * into segments",
            "сегментируй|сегментировать|сегментируйте|сегментация|сегментацию|раздели * на области|разделить * на области|раздели * на сегменты|раздели * на части|раздели * на зоны|разбей * на области|разбей * на сегменты|разбей * на части|разбей * на зоны|разбить * на области|разбить * на части|разбить * на сегменты|подели * на части|подели * на области|выдели области|выдели сегменты",
            "分割|抠图|分成*区域|分成*部分|分为*区域|分为*部分|划分|切分|分区",
        ],
    ),
    concept(
        "object detection",
        Nature::Map,
        &[Image],
        Image,
        "object detection|detect objects|detection",
        &[
            "detect|detect objects|object detection|find objects|find all objects|locate|bounding box|draw boxes|what objects|which objects|what things|count|recognise objects|recognize objects",
            "найди объекты|найди все объекты|найди предметы|найди все предметы|обнаружь|обнаружить|обнаружение|детекция|детектируй|какие объекты|какие предметы|посчитай|сосчитай",
            "检测|找出物体|找出*物体|有哪些物体|哪些物体|哪些物品|框出|数一数",
        ],
    ),
    // Pictures to words.
    concept(
        "image classification",
        Nature::Label,
        &[Image],
        Text,
        "image classification|classify image|image recognition",
        &[
            "classify picture|classify image|classify photo|what kind of picture|what kind of image|what breed|classify",
            "классифицируй изображение|классифицируй картинку|классифицируй фото|какая порода|какой породы|классифицируй",
            "图像分类|图片分类|什么品种|分类",
        ],
    ),
    concept(
        "caption",
        Nature::Make,
        &[Image],
        Text,
        "image to text|image captioning|caption|captioning|describe image|describes a picture",
        &[
            "caption|describe|description|~explain|~tell me about|compare pictures|compare images|compare photos|compare|what is in|what is on|what in|what does * show|what is shown|what do you see|what can you see|what is picture|what is image|what is photo|what is happening|what happens|tell about picture",
            "опиши|опишите|описание|описать|сравни|что на|что изображено|что нарисовано|что показано|что видно|подпиши|подпись|что находится на|что ты видишь",
            "描述|图片里有什么|比较|图里有什么|图中有什么|图片中有什么|照片里有什么|上有什么|里有什么|图片内容|看图|配文|是什么图|画了什么|说明图片|图片的内容|图的内容|照片的内容|里分别有什么|分别有什么|里都有什么",
        ],
    ),
    concept(
        "reading a picture",
        Nature::Make,
        &[Image],
        Text,
        "ocr|text recognition|optical character recognition|reads the writing|image to text",
        &[
            "ocr|recognise text|recognize text|extract text|text in picture|text in image|text from picture|text from image|text on sign|read sign|read poster|read card|read banner|what is written|what does * say|read text in|read text on",
            "распознай текст|извлеки текст|что написано|прочитай текст на|прочти текст на|надпись",
            "识别文字|提取文字|文字识别|写了什么|写着什么|写的什么|图中的文字|图片上的文字",
        ],
    ),
    concept(
        "visual question",
        Nature::Ask,
        &[Image],
        Text,
        "visual question answering|question about an image|question about a picture|visual question",
        &[
            "dominant colour|dominant color|main colour|main color|prevailing colour|average colour|average color|colour of|color of|~colours|~colors|~colour|~color|~palette",
            "преобладающий цвет|основной цвет|доминирующий цвет|главный цвет|средний цвет|какого цвета|какой цвет|~цвета|~цвет|~палитра",
            "主色|主色调|主要颜色|主要的颜色|什么颜色|平均颜色|~颜色|~色调",
        ],
    ),
    concept(
        "document question",
        Nature::Ask,
        &[Image],
        Text,
        "document question answering|question about a document|document visual question",
        &[
            "~invoice|~receipt|~form|~contract|~document|~bill|~scan|~page|~total amount|~amount due|~total due|~amount|~what is total on|~what is total of|~what is sum|~total on|~sum on|~date on|~due date|~grand total|~issued",
            "~счет|~счете|~чек|~чеке|~документ|~договор|~накладная|~квитанция|~квитанции|~итоговая сумма|~общая сумма|~какая сумма|~сумма|~итого|~дата на|~срок оплаты",
            "~发票|~收据|~文档|~文件|~合同|~账单|~总金额|~金额|~总额|~合计|~总价",
        ],
    ),
    // Picture to picture as told.
    concept(
        "picture editing",
        Nature::Edit,
        &[Image],
        Image,
        "image to image|image editing|edit image|image edit|image editor",
        &[
            "black and white|greyscale|grayscale|grey|gray|sepia|blur|blurred|blurry|~sharp|sharpen|sharper|rotate|rotated|turn * degrees|flip|mirror|mirrored|crop|resize|half size|half as large|half as big|half its size|half width|twice size|twice as big|twice as large|twice as wide|twice as high|twice its size|half as wide|half as high|third of size|double size|shrink|enlarge|scale|invert|inverted|negative|brighten|brighter|darken|darker|contrast|thumbnail|pixelate|saturate|upside down|similar picture|similar image|similar photo|variation|edit|in style of|turn into cartoon|cartoon|monochrome|remove background|into painting|watercolour|watercolor|oil painting|pencil sketch|square|~turn|~convert|~change|~transform|~modify|~make|~remove|~erase|~add|~crop|smaller|larger|bigger|border|resolution|compress",
            "черно белый|черно белым|черно белой|черно белое|черно белую|чб|ч б|серым|серой|серый|оттенки серого|размой|размывай|размывать|размыть|размытой|размытие|резче|резкость|поверни|повернуть|поверните|отрази|зеркально|зеркальное|обрежь|кадрируй|уменьши|уменьшить|увеличь|увеличить|вдвое|в два раза|инвертируй|негатив|ярче|темнее|светлее|контраст|контрастнее|похожую картинку|похожее изображение|сепия|убери фон|удали фон|сепию|переверни|масштабируй|отредактируй|измени размер|стиле|~сделай|~преврати|~убери|~удали|~добавь|~измени",
            "黑白|灰度|灰色|变灰|模糊|锐化|旋转|翻转|镜像|裁剪|缩小|放大|一半|反色|反相|变亮|变暗|调亮|调暗|亮度|对比度|相似的图|类似的图|调整大小|改变大小|缩略图|去背景|去除背景|风格|编辑|卡通|~裁成|~去掉|变成*画|成铅笔画|成油画|成素描|~变成|~改成|~加上|~换成",
        ],
    ),
    // New media from words.
    concept(
        "drawing",
        Nature::Create,
        &[Text],
        Image,
        "text to image|image generation|generate image|create image|generates an image",
        &[
            "draw|sketch|~design|draw picture of|draw image of|paint|paint picture of|generate image|generate image of|generate picture|generate picture of|generate photo|create image|create image of|new image|new picture|create new image|generate new image|create new picture|create picture|create picture of|make picture of|make image of|produce image|illustrate|illustration|sketch of|~generate|~create|~picture of|~image of|~photo of|show me picture of|imagine|make picture|make image",
            "нарисуй|нарисуйте|нарисовать|нарисуй картинку|изобрази|сгенерируй картинку|сгенерируй изображение|сгенерируй картину|сгенерируй|создай изображение|создай картинку|картинку с|иллюстрация|иллюстрацию",
            "画一|画个|画出|画幅|画张|画只|画|绘制|生成图片|生成*图|生成*图片|生成*图像|创作*图|插图",
        ],
    ),
    concept(
        "lettering",
        Nature::Create,
        &[Text],
        Image,
        "text to image|image generation|generate image|create image|generates an image",
        &[
            "make title card|make poster|make banner|make title slide|make sign|make placard|make lettering|make caption card|create title card|create poster|create banner|create title slide|create sign|create placard|create lettering|create caption card|draw title card|draw poster|draw banner|draw title slide|draw sign|draw placard|draw lettering|draw caption card|design title card|design poster|design banner|design title slide|design sign|design placard|design lettering|design caption card|generate title card|generate poster|generate banner|generate title slide|generate sign|generate placard|generate lettering|generate caption card|paint title card|paint poster|paint banner|paint title slide|paint sign|paint placard|paint lettering|paint caption card|make * poster|create * poster|design * poster|poster saying|poster says|title card saying|title card says|banner saying|banner says|~title card|~poster|~banner|~lettering",
            "сделай титульную карточку|сделай титульный кадр|сделай титул|сделай плакат|сделай афишу|сделай постер|сделай баннер|сделай надпись|сделай вывеску|сделай заставку|сделай табличку|создай титульную карточку|создай титульный кадр|создай титул|создай плакат|создай афишу|создай постер|создай баннер|создай надпись|создай вывеску|создай заставку|создай табличку|нарисуй титульную карточку|нарисуй титульный кадр|нарисуй титул|нарисуй плакат|нарисуй афишу|нарисуй постер|нарисуй баннер|нарисуй надпись|нарисуй вывеску|нарисуй заставку|нарисуй табличку|сгенерируй титульную карточку|сгенерируй титульный кадр|сгенерируй титул|сгенерируй плакат|сгенерируй афишу|сгенерируй постер|сгенерируй баннер|сгенерируй надпись|сгенерируй вывеску|сгенерируй заставку|сгенерируй табличку|~титульная карточка|~плакат|~постер|~баннер",
            "做*标题卡|做*标题卡片|做*海报|做*横幅|做*标语牌|做*招牌|制作*标题卡|制作*标题卡片|制作*海报|制作*横幅|制作*标语牌|制作*招牌|生成*标题卡|生成*标题卡片|生成*海报|生成*横幅|生成*标语牌|生成*招牌|画*标题卡|画*标题卡片|画*海报|画*横幅|画*标语牌|画*招牌|设计*标题卡|设计*标题卡片|设计*海报|设计*横幅|设计*标语牌|设计*招牌|~标题卡|~海报|~横幅",
        ],
    ),
    concept(
        "filming",
        Nature::Create,
        &[Text],
        Video,
        "text to video|video generation|generate video|create video",
        &[
            "video of|video about|make video|make video of|make video about|generate video|generate video of|create video|create video of|animate|animation of|video showing|clip of|make * video|create * video|generate * video|produce * video",
            "видео с|видео про|видео о|сделай видео|создай видео|сгенерируй видео|сними видео|ролик|ролик про|сделай * видео|создай * видео",
            "生成视频|做*视频|制作*视频|生成*视频|拍*视频",
        ],
    ),
    concept(
        "writing",
        Nature::Create,
        &[Text],
        Text,
        "text generation|generate text|writing|writes new text",
        &[
            "poem|limerick|haiku|joke|brainstorm|come up with|ideas for|continue story|finish sentence|tweet|write poem|write story|write essay|write letter|write|tell story|tell joke|story about|essay about|compose|continue text|slogan",
            "напиши|стихотворение|стих|стихи|рассказ|шутку|анекдот|сочини|сочинение|придумай|лозунг",
            "写一|写首|写篇|写个|笑话|讲*故事|作诗|一首诗|编*故事",
        ],
    ),
    // Sound.
    concept(
        "speaking",
        Nature::Make,
        &[Text],
        Audio,
        "text to speech|speech synthesis|read aloud|text to audio",
        &[
            "read aloud|read * aloud|read out|read * out loud|out loud|aloud|read * to me|read me|speak|~say|narrate|voice over|into speech|to speech|as speech|spoken|pronounce|into audio|to audio|as audio|audio version|say * aloud|voice|read it",
            "озвучь|озвучить|озвучьте|озвучка|прочитай вслух|прочти вслух|прочитай * вслух|вслух|произнеси|голосом|зачитай|преобразуй * в речь|в речь|скажи вслух|прочитай|прочти|проговори",
            "朗读|读出来|读出|念出来|念|念一下|念给我听|读给我听|大声读|读一下|读一遍|配音|成语音|为语音|语音合成|说出来|播报",
        ],
    ),
    concept(
        "transcription",
        Nature::Make,
        &[Audio],
        Text,
        "automatic speech recognition|speech recognition|speech to text|transcription|transcribe",
        &[
            "transcribe|transcript|text of * recording|written form|in writing|type out|what was said|what * says|convert * to text|to text|what is * talking about|transcription|what is said|what does * say|what is * saying|what are they saying|write down what|speech to text|recognise speech|recognize speech|dictation|extract text|into text|speech in text|subtitles",
            "расшифруй|транскрипт|о чем говорится|о чем говорят|о чем речь|расшифровка|расшифровку|расшифровать|транскрибируй|транскрипция|распознай речь|что говорят|что сказано|что говорит|что говорится|запиши текстом|преобразуй * в текст|переведи * в текст",
            "转写|听写|转录|成文字|为文字|语音识别|说了什么|说什么|说的是什么|讲了什么|成文本",
        ],
    ),
    concept(
        "noise removal",
        Nature::Make,
        &[Audio],
        Audio,
        "audio to audio|speech enhancement|noise reduction|denoise|denoising",
        &[
            "denoise|noisy|clearer|sound better|remove noise|remove * noise|noise|noise reduction|louder|quieter|normalise|normalize|volume|amplify|loudness|clean up|clean|hiss|enhance audio|enhance sound|enhance speech|enhance recording|reduce noise|reduce * noise|improve sound",
            "убери шум|убрать шум|громче|тише|погромче|потише|нормализуй|нормализовать|громкость|громкости|убери шумы|удали шум|шум|шума|шумы|очисти|почисти|улучши звук|подавление шума|шумоподавление",
            "降噪|去噪|去除噪|音量|响一点|大声一点|小声一点|响度|归一化|噪音|噪声|杂音",
        ],
    ),
    concept(
        "sound classification",
        Nature::Label,
        &[Audio],
        Text,
        "audio classification|sound classification|classify audio",
        &[
            "what kind of sound|what sound|which sound|kind of sound|what noise|classify audio|classify sound|classify recording|music or speech|speech or music|speech or noise|noise or speech|noise or music|music or noise|voice or music|speech or silence|kind of noise|what genre|genre|classify|what instrument",
            "какой звук|какой это звук|что за звук|классифицируй звук|классифицируй аудио|музыка или речь|речь или музыка|речь или шум|шум или речь|музыка или шум|шум или музыка|что за шум|голос или музыка|жанр|что за музыка",
            "什么声音|哪种声音|声音分类|音频分类|什么音乐|音乐还是语音|语音还是噪音|语音还是噪声|噪音还是语音|人声还是噪音|说话还是噪音|语音还是音乐|是什么噪音",
        ],
    ),
    concept(
        "sound from video",
        Nature::Make,
        &[Video],
        Audio,
        "video to audio|extract audio|audio extraction|audio from video",
        &[
            "extract audio|extract sound|audio track|extract * audio|sound track of",
            "извлеки звук|извлеки аудио|звуковая дорожка|звуковую дорожку",
            "提取音频|提取声音|音轨",
        ],
    ),
    // Text.
    concept(
        "summary",
        Nature::Make,
        &[Text],
        Text,
        "summarization|summary|summarize|summarise|text summarizer|summarizer",
        &[
            "summary|recap|retell|nutshell|shorter|~explain|~tell me about|what is * about|keyword|key word|summarise|summarize|summarisation|summarization|sum up|key points|main points|gist|tl dr|tldr|shorten|in brief|main idea|condense",
            "краткое содержание|о чем текст|ключевые слова|ключевых слов|о чем говорится|о чем речь|о чем статья|о чем рассказ|о чем|кратко изложи|кратко перескажи|кратко|перескажи|пересказ|резюмируй|резюме|суть|сократи|выжимка|саммари|главное|основные мысли|подытожь|суммаризируй|короче|покороче|вкратце",
            "摘要|总结|概括|归纳|概述|要点|大意|讲的是什么|主要讲|讲了什么|说了什么|说什么|说的是什么|写了什么|写的什么|关键词|关键字|关键字词|主要内容|中心思想|变短|缩短|简单说说|简单介绍",
        ],
    ),
    concept(
        "translation",
        Nature::Make,
        &[Text],
        Text,
        "translation|translate|translator",
        &[
            "translate|translation|translate into|what does * say in|into french|into english|into german|into russian|into chinese|into spanish|into japanese|how do you say",
            "переведи|переведите|перевод|перевести",
            "翻译|译成|译为",
        ],
    ),
    concept(
        "sentiment",
        Nature::Label,
        &[Text],
        Text,
        "text classification|sentiment analysis|sentiment",
        &[
            "sentiment|mood|tone|positive or negative|negative or positive|positive|is * negative|sounds negative|sound negative|whether * negative|good review|bad review|negative review|good or bad|good or a bad review|happy or sad|angry|friendly or hostile|classify text|classify review|emotion|attitude|classify",
            "настроение|тональность|эмоциональная окраска|окраска|эмоция|эмоции|позитивный или негативный|положительный или отрицательный|хороший отзыв|плохой отзыв|хороший или плохой|хороший отзыв или плохой|положительный|отрицательный|позитивный|негативный|положительно|отрицательно|классифицируй текст|классифицируй отзыв|тон",
            "情感|情绪|褒贬|正面还是负面|积极还是消极|好评还是差评|差评还是好评|好评|差评|正面的|负面的|是正面|是负面|是不是正面|文本分类|语气|态度",
        ],
    ),
    concept(
        "entities",
        Nature::Label,
        &[Text],
        Text,
        "token classification|named entity recognition|entity recognition|entities|names of people",
        &[
            "name|names|names of people|named entity|entities|entity|people mentioned|who is mentioned|email address|e mail address|mail address|phone number|sum of money|amount of money|addresses in|names dates and sums of money|places mentioned|dates|part of speech|organisations|organizations|people and places|list people|find people",
            "имена|имен|именованные сущности|сущности|даты|кто упоминается|упоминаются|упоминается|части речи|названия|адреса почты|электронные адреса|адреса электронной почты|номера телефонов|телефоны|денежные суммы|суммы денег|организации|фамилии",
            "人名|实体|日期|地名|命名实体|机构名|邮箱|电子邮件地址|电话号码|金额和|地址|名字|姓名|组织名|词性",
        ],
    ),
    concept(
        "similarity",
        Nature::Label,
        &[Text],
        Text,
        "sentence similarity|text similarity|similarity",
        &[
            "similar|similarity|same meaning|mean same|how close|compare sentences|compare texts|compare|same thing",
            "похожи|похож|сходство|похожесть|близки по смыслу|насколько близки|одно и то же|сравни",
            "相似|相似度|意思相同|意思一样|意思相近|比较",
        ],
    ),
    concept(
        "text question",
        Nature::Ask,
        &[Text],
        Text,
        "question answering|answers a question|answer questions",
        &["answer from text|find answer in", "найди ответ", "找到答案|找出答案"],
    ),
    concept(
        "rewriting",
        Nature::Make,
        &[Text],
        Text,
        "text2text generation|paraphrase|rewrite|paraphrasing",
        &[
            "paraphrase|rewrite|punctuation|correct spelling|fix spelling|into * email|more formal|formally|friendlier|rephrase|reword|correct grammar|fix grammar|correct mistakes|more polite|more politely|politely|simplify|proofread",
            "перефразируй|перепиши|переформулируй|исправь ошибки|исправь|упрости|вежливее",
            "改写|润色|改正|重写|纠正|修改语法|换一种说法",
        ],
    ),
    concept(
        "conversation",
        Nature::Create,
        &[Text],
        Text,
        "conversational|conversation|chatbot",
        &["chat with me|talk with me|talk to me", "поговори со мной|поболтаем|поболтай", "聊天|聊聊|陪我聊"],
    ),
    concept(
        "table classification",
        Nature::Label,
        &[Json],
        Text,
        "tabular classification|table classification|classify rows",
        &[
            "classify rows|classify table|classify data|each row|rows of table",
            "классифицируй строки|классифицируй таблицу|строки таблицы",
            "表格分类|表格",
        ],
    ),
];
