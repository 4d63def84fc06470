//! What template answers say in the three languages jarvis speaks.

use jarvis_plan::{ErrorCode, Language};

pub(super) struct Words {
    pub(super) nothing: &'static str,
    pub(super) summary: fn(usize, usize) -> String,
    /// What can be asked of a table: the file.
    pub(super) reckoned: fn(&str) -> String,
    pub(super) failed: &'static str,
    pub(super) skipped: &'static str,
    pub(super) cancelled: &'static str,
    pub(super) hint: &'static str,
    pub(super) note: &'static str,
    pub(super) not_done: &'static str,
    pub(super) keywords: &'static str,
    /// Which model did it, in the place of which, and why.
    pub(super) stood_in: fn(&str, &str, &str) -> String,
}

impl Words {
    pub(super) fn of(language: Language) -> &'static Words {
        match language {
            Language::English => &ENGLISH,
            Language::Russian => &RUSSIAN,
            Language::Chinese => &CHINESE,
        }
    }
}

static ENGLISH: Words = Words {
    nothing: "I found nothing in this request that I can do without a language model. I can, for example, find the edges of a \
              picture, change or describe one, summarise a text, tell its mood or its names, and read it aloud. Name the \
              file and what to do with it, or configure a chat model (`llm.model`).",
    summary: |done, all| match (done, all) {
        (0, 1) => "This could not be done.".into(),
        (0, _) => "None of the tasks could be done.".into(),
        (done, all) if done == all => format!("All {all} tasks are done."),
        (done, all) => format!("{done} of {all} tasks are done."),
    },
    reckoned: |file| {
        format!(
            "Of a table such as {file} I can tell sums, means, counts, extremes and cells by the names of its columns and rows, \
                 and draw them; a chat model (`llm.model`) can ask it anything."
        )
    },
    failed: "failed",
    skipped: "skipped",
    cancelled: "cancelled",
    hint: "try",
    note: "Note",
    not_done: "not done: ",
    keywords: "keywords: ",
    stood_in: |did, chosen, why| format!("`{did}` did it in the place of `{chosen}`, which could not: {why}"),
};

static RUSSIAN: Words = Words {
    nothing: "В этом запросе не нашлось ничего, что можно сделать без языковой модели. Можно, например, найти контуры на \
              картинке, изменить или описать её, кратко пересказать текст, определить его тональность и имена в нём, \
              прочитать его вслух. Назовите файл и что с ним сделать или настройте языковую модель (`llm.model`).",
    summary: |done, all| match (done, all) {
        (0, 1) => "Это сделать не удалось.".into(),
        (0, _) => "Ни одну из задач выполнить не удалось.".into(),
        (done, all) if done == all => format!("Выполнены все задачи: {all}."),
        (done, all) => format!("Выполнено задач: {done} из {all}."),
    },
    reckoned: |file| {
        format!(
            "По таблице ({file}) можно узнать суммы, средние, количества, крайние значения и ячейки по названиям столбцов и строк \
                 и нарисовать их; языковая модель (`llm.model`) ответит и на другие вопросы."
        )
    },
    failed: "не удалось",
    skipped: "пропущено",
    cancelled: "отменено",
    hint: "попробуйте",
    note: "Замечание",
    not_done: "не сделано: ",
    keywords: "ключевые слова: ",
    stood_in: |did, chosen, why| format!("вместо `{chosen}` это сделала `{did}`, потому что: {why}"),
};

static CHINESE: Words = Words {
    nothing: "在没有语言模型的情况下，这个请求里没有我能做的事。我可以提取图片的边缘、修改或描述图片、概括文本、判断文本的情感、\
              找出其中的人名，以及朗读文本。请写明文件和要做的事，或配置语言模型（`llm.model`）。",
    summary: |done, all| match (done, all) {
        (0, 1) => "这件事没有做成。".into(),
        (0, _) => "所有任务都没有完成。".into(),
        (done, all) if done == all => format!("{all} 个任务全部完成。"),
        (done, all) => format!("{all} 个任务中完成了 {done} 个。"),
    },
    reckoned: |file| {
        format!(
            "对于表格（{file}），我可以按列名和行名给出总和、平均值、数量、最大最小值和单元格，并画图；配置语言模型（`llm.model`）后可以回答其他问题。"
        )
    },
    failed: "失败",
    skipped: "已跳过",
    cancelled: "已取消",
    hint: "可以试试",
    note: "说明",
    not_done: "未完成：",
    keywords: "关键词：",
    stood_in: |did, chosen, why| format!("由 `{did}` 代替 `{chosen}` 完成，原因：{why}"),
};

/// What a person calls the result of a task; its task type where there is no such word.
pub(super) fn title(task: &str, language: Language) -> &str {
    let (english, russian, chinese) = match task {
        "canny-control" => ("Edges", "Контуры", "边缘"),
        "mlsd-control" => ("Straight lines", "Прямые линии", "直线"),
        "image-to-image" => ("Changed picture", "Изменённая картинка", "修改后的图片"),
        "image-segmentation" => ("Regions", "Области", "分割结果"),
        "image-to-text" => ("Description", "Описание", "描述"),
        "image-classification" => ("What is in the picture", "Что на картинке", "图片内容"),
        "object-detection" => ("Objects", "Объекты", "物体"),
        "visual-question-answering" => ("Answer about the picture", "Ответ о картинке", "关于图片的回答"),
        "document-question-answering" => ("Answer from the document", "Ответ по документу", "关于文档的回答"),
        "depth-estimation" => ("Depth", "Глубина", "深度"),
        "text-to-image" => ("Picture", "Картинка", "图片"),
        "text-to-video" => ("Video", "Видео", "视频"),
        "summarization" => ("Summary", "Краткое содержание", "摘要"),
        "translation" => ("Translation", "Перевод", "译文"),
        "text-classification" => ("Mood", "Тональность", "情感"),
        "token-classification" => ("Names and figures", "Имена и числа", "名称与数字"),
        "question-answering" => ("Answer", "Ответ", "回答"),
        "sentence-similarity" => ("Similarity", "Сходство", "相似度"),
        "text-to-speech" => ("Speech", "Речь", "语音"),
        "automatic-speech-recognition" => ("Transcript", "Расшифровка", "转写"),
        "audio-to-audio" => ("Changed sound", "Обработанный звук", "处理后的声音"),
        "audio-editing" => ("Changed sound", "Изменённый звук", "修改后的声音"),
        "audio-joining" => ("Joined sound", "Склеенный звук", "合并后的声音"),
        "audio-information" => ("About the sound", "О записи", "关于录音"),
        "video-to-audio" => ("Sound of the video", "Звук видео", "视频的声音"),
        "image-collage" => ("Collage", "Коллаж", "拼图"),
        "text-generation" => ("Text", "Текст", "文本"),
        "audio-classification" => ("Kind of sound", "Вид звука", "声音类型"),
        "table-query" => ("From the table", "Из таблицы", "来自表格"),
        "plot" => ("Chart", "График", "图表"),
        "attached-files" => ("Files", "Файлы", "文件"),
        _ => return task,
    };
    language.pick(english, russian, chinese)
}

/// Why a task failed, in Russian or Chinese; English has the error's own message.
pub(super) fn why(code: ErrorCode, language: Language) -> Option<&'static str> {
    let (russian, chinese) = match code {
        ErrorCode::UnsupportedTask => ("такая задача неизвестна", "未知的任务类型"),
        ErrorCode::NoModel => ("для этой задачи нет доступной модели", "没有可用的模型"),
        ErrorCode::MissingArgument => ("не хватает входных данных", "缺少输入"),
        ErrorCode::NoOutput => ("предыдущая задача не дала нужного результата", "前面的任务没有给出所需的结果"),
        ErrorCode::BadPlan => ("в плане ошибка", "计划有误"),
        ErrorCode::InvalidInput => ("входной файл не того вида или повреждён", "输入文件类型不对或已损坏"),
        ErrorCode::NotFound => ("такого файла нет", "找不到文件"),
        ErrorCode::Forbidden => ("этот путь или адрес запрещён правилами", "该路径或地址不被允许"),
        ErrorCode::TooLarge => ("слишком большой размер", "文件或结果太大"),
        ErrorCode::CannotDo => ("эта модель такого не умеет", "该模型做不到"),
        ErrorCode::NotConfigured => ("не установлена программа или не настроена служба", "程序未安装或服务未配置"),
        ErrorCode::Unauthorized => ("служба не приняла ключ", "服务拒绝了密钥"),
        ErrorCode::RateLimited => ("служба просит обращаться реже", "服务限制了调用频率"),
        ErrorCode::Unavailable => ("служба недоступна", "服务不可用"),
        ErrorCode::Upstream => ("служба ответила ошибкой", "服务返回了错误"),
        ErrorCode::BadReply => ("ответ службы непонятен", "无法理解服务的回复"),
        ErrorCode::Timeout => ("время вышло", "超时"),
        ErrorCode::NotApproved => ("на это нет разрешения", "未获批准"),
        ErrorCode::HandedBack => ("это делает тот, кто обратился", "由调用方完成"),
        ErrorCode::Budget => ("отведённые средства израсходованы", "预算已用完"),
        ErrorCode::Cancelled => ("отменено", "已取消"),
        ErrorCode::Panic => ("модель сломалась на этих данных", "模型处理该输入时出错"),
        ErrorCode::Internal => ("внутренняя ошибка", "内部错误"),
    };
    match language {
        Language::English => None,
        Language::Russian => Some(russian),
        Language::Chinese => Some(chinese),
    }
}

/// A label of the native classifiers in the language of the answer; others stay as they are.
pub(super) fn label(label: &str, language: Language) -> String {
    let folded = label.to_lowercase();
    let (russian, chinese) = match folded.as_str() {
        "positive" => ("положительная", "正面"),
        "negative" => ("отрицательная", "负面"),
        "neutral" => ("нейтральная", "中性"),
        "speech-like" => ("похоже на речь", "类似语音"),
        "tone" => ("тон", "单音"),
        "noise" => ("шум", "噪声"),
        "silence" => ("тишина", "静音"),
        _ => return folded,
    };
    language.pick(folded.as_str(), russian, chinese).to_owned()
}
