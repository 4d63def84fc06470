//! The models known without any file: native ones, the model server's, and well-known ones of the Hub. Data only.
//!
//! Native descriptions say what the work really is: measuring is not seeing, drawing a card is not painting.

use crate::Host;

use crate::{Deployment, Model, local_models};

/// Native models, in the order of preference within a task.
pub(crate) fn native() -> impl Iterator<Item = Model> {
    NATIVE.iter().map(|(id, task, description, tags, note)| Model {
        tags: Some(tags.iter().map(|tag| (*tag).to_owned()).collect()),
        note: (!note.is_empty()).then(|| (*note).to_owned()),
        ..Model::new(id, task, Host::Native, description)
    })
}

/// What the model server of the original loads, all deployments.
pub(crate) fn local() -> impl Iterator<Item = Model> {
    local_models(Deployment::Full).map(|(id, task)| {
        let control = crate::find(task).filter(|known| known.control_model().is_some());
        let description = control.map_or("Loaded by the model server", |known| known.description);
        Model::new(id, task, Host::Local, description.trim_end_matches('.'))
    })
}

/// Well-known models of the Hub.
pub(crate) fn huggingface() -> impl Iterator<Item = Model> {
    HUB.iter().flat_map(|(task, models)| {
        models.iter().map(|(id, description)| Model {
            pipeline_tag: crate::find(task).and_then(|known| known.hub_pipeline_tag).map(str::to_owned),
            ..Model::new(id, task, Host::Huggingface, description)
        })
    })
}

type NativeRow = (&'static str, &'static str, &'static str, &'static [&'static str], &'static str);

/// Id, task, description, tags (words of requests it fits, in English, Russian and Chinese), note.
static NATIVE: &[NativeRow] = &[
    (
        "native/canny",
        "canny-control",
        "Canny edge detection in pure code: white edges on black",
        &["edges", "canny", "outline", "контуры", "края", "边缘"],
        "",
    ),
    (
        "native/line-segments",
        "mlsd-control",
        "Straight line segments by edge detection and a Hough transform; not the learned M-LSD detector",
        &["lines", "straight", "линии", "прямые", "直线", "线条"],
        "",
    ),
    (
        "native/image-edit",
        "image-to-image",
        "Classical picture edits named in the text: rotate, flip, crop, resize, blur, sharpen, greyscale, brightness, contrast; it imagines nothing",
        &[
            "rotate",
            "flip",
            "crop",
            "resize",
            "blur",
            "sharpen",
            "grayscale",
            "invert",
            "поверни",
            "размой",
            "旋转",
            "模糊",
            "黑白",
        ],
        "It edits the picture as the text says and cannot add things to it",
    ),
    (
        "native/graph-segmenter",
        "image-segmentation",
        "Graph-based segmentation by colour: regions without names",
        &["regions", "segments", "области", "сегменты", "分割", "区域"],
        "It separates regions by colour and does not know what they are",
    ),
    (
        "native/image-measure",
        "image-to-text",
        "A measured description: size, brightness, main colours, sharpness; it does not recognise what is shown",
        &["colour", "color", "size", "brightness", "dimensions", "цвет", "размер", "яркость", "颜色", "尺寸", "亮度"],
        "It measures the picture and does not recognise what it shows",
    ),
    (
        "native/ocr",
        "image-to-text",
        "Reads printed writing in a picture with the tesseract program",
        &[
            "read",
            "written",
            "writing",
            "ocr",
            "scan",
            "printed",
            "sign",
            "letters",
            "прочитай",
            "текст",
            "надпись",
            "文字",
            "读",
            "识别",
        ],
        "Needs the program tesseract",
    ),
    (
        "native/image-measure-qa",
        "visual-question-answering",
        "Answers questions about size, colours, brightness and sharpness by measuring; other questions it declines",
        &["colour", "color", "size", "wide", "tall", "bright", "dark", "цвет", "размер", "颜色", "多大"],
        "It measures the picture and does not recognise what it shows",
    ),
    (
        "native/ocr-qa",
        "document-question-answering",
        "Reads a document with the tesseract program and picks the line that answers the question",
        &["document", "invoice", "receipt", "total", "date", "документ", "счёт", "文档", "发票"],
        "Needs the program tesseract",
    ),
    (
        "native/textrank",
        "summarization",
        "Picks the most central sentences of a text (TextRank); it writes no new ones",
        &["summary", "shorten", "extractive", "кратко", "摘要", "总结"],
        "It picks sentences and rewrites nothing",
    ),
    (
        "native/vader",
        "text-classification",
        "English sentiment by the VADER word list and rules: positive, negative or neutral",
        &["sentiment", "mood", "positive", "negative", "english"],
        "English only",
    ),
    (
        "native/entity-rules",
        "token-classification",
        "Finds dates, amounts, addresses and capitalised names by rules; not a learned recogniser",
        &["names", "dates", "entities", "имена", "даты", "实体", "人名"],
        "It goes by spelling rules and misses what they do not cover",
    ),
    (
        "native/passage-qa",
        "question-answering",
        "Finds the sentence of the given passage that fits the question best; it reasons about nothing",
        &["passage", "context", "extractive", "контекст", "段落"],
        "It quotes from the passage",
    ),
    (
        "native/tfidf-similarity",
        "sentence-similarity",
        "Cosine similarity of weighted words and letter groups: likeness in wording, not in meaning",
        &["compare", "wording", "сравни", "比较"],
        "It compares wording and does not know synonyms",
    ),
    (
        "native/espeak-ng",
        "text-to-speech",
        "Speaks text in many languages with the espeak-ng program; clear but robotic",
        &["speak", "read", "voice", "голос", "озвучь", "朗读", "语音"],
        "Needs the program espeak-ng",
    ),
    (
        "native/denoise",
        "audio-to-audio",
        "Suppresses steady noise behind speech (RNNoise)",
        &["noise", "hiss", "clean", "denoise", "шум", "降噪", "噪音"],
        "It removes noise and cannot separate or convert voices",
    ),
    (
        "native/audio-measure",
        "audio-classification",
        "Tells silence, noise, tones and speech-like sound apart by measuring; not a learned classifier",
        &["silence", "loud", "music", "speech", "тишина", "громкость", "静音", "音量"],
        "It measures the sound and recognises no words or instruments",
    ),
    (
        "native/title-card",
        "text-to-image",
        "Draws the text as a title card; it does not paint what the text describes",
        &["card", "title", "poster", "placeholder", "открытка", "卡片"],
        "A drawn card with the words, not a generated picture",
    ),
];

/// Task to ids with what each is, the most used first.
static HUB: &[(&str, &[(&str, &str)])] = &[
    (
        "text-classification",
        &[
            (
                "distilbert/distilbert-base-uncased-finetuned-sst-2-english",
                "English sentiment, positive or negative; small and quick",
            ),
            ("cardiffnlp/twitter-roberta-base-sentiment-latest", "English sentiment of short posts, three classes"),
            ("ProsusAI/finbert", "Sentiment of English financial news"),
            ("papluca/xlm-roberta-base-language-detection", "Tells which of 20 languages a text is in"),
        ],
    ),
    (
        "token-classification",
        &[
            ("dslim/bert-base-NER", "English names of people, places, organisations and others"),
            (
                "Davlan/bert-base-multilingual-cased-ner-hrl",
                "Names of people, places and organisations in ten languages",
            ),
            ("FacebookAI/xlm-roberta-large-finetuned-conll03-english", "Large English name recogniser"),
        ],
    ),
    (
        "text2text-generation",
        &[
            ("google/flan-t5-large", "Follows short instructions in English and some other languages"),
            ("google/flan-t5-base", "Follows short instructions; small"),
        ],
    ),
    (
        "summarization",
        &[
            ("facebook/bart-large-cnn", "Summaries of English news articles"),
            ("philschmid/bart-large-cnn-samsum", "Summaries of English conversations"),
            ("csebuetnlp/mT5_multilingual_XLSum", "One-sentence summaries of news in 45 languages"),
        ],
    ),
    (
        "translation",
        &[
            ("facebook/nllb-200-distilled-600M", "Translates between 200 languages"),
            ("Helsinki-NLP/opus-mt-zh-en", "Chinese into English"),
            ("Helsinki-NLP/opus-mt-en-zh", "English into Chinese"),
            ("Helsinki-NLP/opus-mt-en-ru", "English into Russian"),
            ("google-t5/t5-base", "English into French, German and Romanian"),
        ],
    ),
    (
        "question-answering",
        &[
            ("deepset/roberta-base-squad2", "Answers from an English passage, or says there is no answer"),
            ("distilbert/distilbert-base-cased-distilled-squad", "Answers from an English passage; small"),
            ("timpal0l/mdeberta-v3-base-squad2", "Answers from a passage in many languages"),
        ],
    ),
    (
        "conversational",
        &[
            ("facebook/blenderbot-400M-distill", "Small talk in English"),
            ("microsoft/DialoGPT-large", "Replies in English conversations"),
        ],
    ),
    (
        "text-generation",
        &[
            ("meta-llama/Llama-3.1-8B-Instruct", "Instruction-following chat model, eight languages"),
            ("Qwen/Qwen2.5-7B-Instruct", "Instruction-following chat model, strong in Chinese and English"),
            ("mistralai/Mistral-7B-Instruct-v0.3", "Instruction-following chat model"),
        ],
    ),
    (
        "sentence-similarity",
        &[
            ("sentence-transformers/all-MiniLM-L6-v2", "English sentence vectors; small and quick"),
            ("sentence-transformers/all-mpnet-base-v2", "English sentence vectors; more exact"),
            ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "Sentence vectors for 50 languages"),
        ],
    ),
    (
        "tabular-classification",
        &[
            ("julien-c/wine-quality", "Quality class of wines from their chemistry"),
            ("scikit-learn/tabular-playground", "Failure prediction on a sample table"),
        ],
    ),
    (
        "object-detection",
        &[
            ("facebook/detr-resnet-50", "Boxes for the 80 everyday object classes of COCO"),
            ("facebook/detr-resnet-101", "Boxes for the 80 COCO classes; larger"),
            ("hustvl/yolos-tiny", "Boxes for the 80 COCO classes; very small"),
            ("microsoft/table-transformer-detection", "Finds tables on document pages"),
        ],
    ),
    (
        "image-classification",
        &[
            ("google/vit-base-patch16-224", "One of 1,000 everyday classes"),
            ("microsoft/resnet-50", "One of 1,000 everyday classes; classic network"),
            ("nateraw/vit-age-classifier", "Age group of a face"),
            ("microsoft/dit-base-finetuned-rvlcdip", "Kind of a scanned document"),
        ],
    ),
    (
        "image-to-text",
        &[
            ("Salesforce/blip-image-captioning-large", "Captions for photographs"),
            ("Salesforce/blip-image-captioning-base", "Captions for photographs; smaller"),
            ("nlpconnect/vit-gpt2-image-captioning", "Short captions for photographs"),
            ("microsoft/trocr-base-printed", "Reads one line of printed writing"),
            ("microsoft/trocr-base-handwritten", "Reads one line of handwriting"),
        ],
    ),
    (
        "text-to-image",
        &[
            ("black-forest-labs/FLUX.1-schnell", "Pictures from descriptions in a few steps"),
            ("black-forest-labs/FLUX.1-dev", "Pictures from descriptions, high quality"),
            ("stabilityai/stable-diffusion-xl-base-1.0", "Pictures from descriptions at 1024 pixels"),
            ("stabilityai/stable-diffusion-3.5-large", "Pictures from descriptions that follow the words closely"),
        ],
    ),
    (
        "image-to-image",
        &[
            ("black-forest-labs/FLUX.1-Kontext-dev", "Edits a picture as an instruction says"),
            ("Qwen/Qwen-Image-Edit", "Edits a picture as an instruction says, writing included"),
            ("lambdalabs/sd-image-variations-diffusers", "Variations of a picture"),
            ("timbrooks/instruct-pix2pix", "Edits a picture as an instruction says"),
        ],
    ),
    (
        "image-segmentation",
        &[
            ("facebook/detr-resnet-50-panoptic", "Things and backgrounds of COCO, every region named"),
            ("facebook/mask2former-swin-large-coco-panoptic", "Things and backgrounds of COCO; larger"),
            ("nvidia/segformer-b0-finetuned-ade-512-512", "150 classes of indoor and outdoor scenes; small"),
            ("mattmdjaga/segformer_b2_clothes", "Clothes and body parts"),
            ("jonathandinu/face-parsing", "Parts of a face"),
        ],
    ),
    (
        "depth-estimation",
        &[
            ("depth-anything/Depth-Anything-V2-Large-hf", "Relative depth of any scene"),
            ("Intel/dpt-large", "Relative depth of any scene, by a vision transformer"),
            ("Intel/dpt-hybrid-midas", "Relative depth; smaller"),
        ],
    ),
    (
        "visual-question-answering",
        &[
            ("dandelin/vilt-b32-finetuned-vqa", "One-word answers about a picture"),
            ("Salesforce/blip-vqa-base", "Short answers about a picture"),
        ],
    ),
    (
        "document-question-answering",
        &[
            ("impira/layoutlm-document-qa", "Answers about scanned documents such as invoices"),
            (
                "naver-clova-ix/donut-base-finetuned-docvqa",
                "Answers about documents without separate character recognition",
            ),
        ],
    ),
    (
        "text-to-video",
        &[
            ("Wan-AI/Wan2.2-T2V-A14B", "Short videos from descriptions, high quality"),
            ("tencent/HunyuanVideo", "Short videos from descriptions"),
            ("Lightricks/LTX-Video", "Short videos from descriptions, quick"),
            ("damo-vilab/text-to-video-ms-1.7b", "Two-second videos from English descriptions"),
        ],
    ),
    (
        "text-to-speech",
        &[
            ("hexgrad/Kokoro-82M", "Natural speech in several languages; small"),
            ("microsoft/speecht5_tts", "English speech with a chosen voice"),
            ("espnet/kan-bayashi_ljspeech_vits", "English speech, one female voice"),
            ("facebook/mms-tts-rus", "Russian speech"),
        ],
    ),
    (
        "automatic-speech-recognition",
        &[
            ("openai/whisper-large-v3", "Speech of about a hundred languages, most exact"),
            ("openai/whisper-large-v3-turbo", "Speech of about a hundred languages, quicker"),
            ("openai/whisper-base", "Speech of about a hundred languages; small"),
            ("facebook/wav2vec2-base-960h", "English speech"),
        ],
    ),
    (
        "audio-to-audio",
        &[
            ("speechbrain/metricgan-plus-voicebank", "Removes noise from speech"),
            ("speechbrain/sepformer-wham", "Separates two people speaking at once"),
            ("microsoft/speecht5_vc", "Changes the voice of a speaker"),
        ],
    ),
    (
        "audio-classification",
        &[
            ("MIT/ast-finetuned-audioset-10-10-0.4593", "One of 527 everyday sounds"),
            ("superb/hubert-base-superb-er", "Mood of an English speaker"),
            ("speechbrain/lang-id-voxlingua107-ecapa", "Language spoken, out of 107"),
        ],
    ),
];
