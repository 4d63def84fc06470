//! Requests in Russian.

use crate::support::{check_all, task_types};

#[test]
fn one_thing_asked() {
    check_all(
        &task_types(),
        &[
            ("Найди контуры на /images/a.png", &[], "canny-control(image=/images/a.png)"),
            ("Покажи края этой картинки", &["/images/a.png"], "canny-control(image=/images/a.png)"),
            ("Найди прямые линии на картинке", &["/images/a.png"], "mlsd-control(image=/images/a.png)"),
            ("Сделай /images/a.png чёрно-белым", &[], "image-to-image(image=/images/a.png,text=~чёрно-белым)"),
            ("Уменьши картинку вдвое", &["/images/a.png"], "image-to-image(image=/images/a.png,text=~вдвое)"),
            ("Поверни /images/a.png на 90 градусов", &[], "image-to-image(image=/images/a.png,text=~90 градусов)"),
            (
                "Какой преобладающий цвет на /images/a.png?",
                &[],
                "visual-question-answering(image=/images/a.png,text=~цвет)",
            ),
            (
                "Сколько собак на фото?",
                &["/images/a.png"],
                "visual-question-answering(image=/images/a.png,text=~собак)",
            ),
            (
                "Она тёмная или светлая?",
                &["/images/a.png"],
                "visual-question-answering(image=/images/a.png,text=~тёмная или светлая)",
            ),
            ("«Ужасно» — это хороший отзыв или плохой?", &[], "text-classification(text=Ужасно)"),
            ("сделай a.wav громче", &[], "audio-to-audio(audio=a.wav)"),
            ("ключевые слова из news.txt", &[], "summarization(text=news.txt)"),
            ("Опиши картинку", &["/images/a.png"], "image-to-text(image=/images/a.png)"),
            ("Что изображено на /images/a.png?", &[], "image-to-text(image=/images/a.png)"),
            ("Сегментируй изображение", &["/images/a.png"], "image-segmentation(image=/images/a.png)"),
            ("Раздели картинку a.png на сегменты", &[], "image-segmentation(image=a.png)"),
            ("разбейте изображение на части", &["/images/a.png"], "image-segmentation(image=/images/a.png)"),
            ("Найди объекты на /images/a.png", &[], "object-detection(image=/images/a.png)"),
            ("Построй карту глубины для /images/a.png", &[], "depth-estimation(image=/images/a.png)"),
            ("Сделай краткое содержание текста", &["Длинный текст."], "summarization(text=Длинный текст.)"),
            ("Какая тональность у текста?", &["Мне нравится."], "text-classification(text=Мне нравится.)"),
            ("Найди имена в тексте", &["Анна и Пётр."], "token-classification(text=Анна и Пётр.)"),
            ("Прочитай вслух «привет, мир»", &[], "text-to-speech(text=привет, мир)"),
            ("Озвучь текст", &["Привет."], "text-to-speech(text=Привет.)"),
            ("Расшифруй запись /audios/a.wav", &[], "automatic-speech-recognition(audio=/audios/a.wav)"),
            ("Убери шум из /audios/a.wav", &[], "audio-to-audio(audio=/audios/a.wav)"),
            ("Переведи на английский: доброе утро, друзья", &[], "translation(text=доброе утро, друзья)"),
            ("Нарисуй кота на крыше", &[], "text-to-image(text=кота на крыше)"),
            ("О чём говорится в записи?", &["/audios/a.wav"], "automatic-speech-recognition(audio=/audios/a.wav)"),
            ("О чём этот текст?", &["Длинный текст."], "summarization(text=Длинный текст.)"),
            ("Кто такой Пётр?", &["Пётр — врач."], "question-answering(text=Кто такой Пётр?,context=Пётр — врач.)"),
            (
                "Насколько похожи «люблю чай» и «нравится чай»?",
                &[],
                "sentence-similarity(text1=люблю чай,text2=нравится чай)",
            ),
            (
                "Сделай a.png в два раза меньше и чёрно-белой",
                &[],
                "image-to-image(image=a.png,text=~меньше и чёрно-белой)",
            ),
            ("Нарисуй логотип с надписью «Ромашка»", &[], "text-to-image(text=логотип с надписью «Ромашка»)"),
            ("Сделай видео про волны", &[], "text-to-video(text=волны)"),
        ],
    );
}

#[test]
fn several_things_asked() {
    check_all(
        &task_types(),
        &[
            (
                "Опиши /images/a.png и озвучь описание",
                &[],
                "image-to-text(image=/images/a.png) ; text-to-speech(text=@0)",
            ),
            (
                "Сегментируй /images/a.png, затем найди контуры результата",
                &[],
                "image-segmentation(image=/images/a.png) ; canny-control(image=@0)",
            ),
            (
                "разбей фото photo.jpg на области и найди контуры результата",
                &[],
                "image-segmentation(image=photo.jpg) ; canny-control(image=@0)",
            ),
            (
                "Сначала сделай /images/a.png чёрно-белой, потом поверни её",
                &[],
                "image-to-image(image=/images/a.png,text=~чёрно-белой) ; image-to-image(image=@0,text=~поверни)",
            ),
            (
                "Краткое содержание, тональность и имена из текста",
                &["Анна рада."],
                "summarization(text=Анна рада.) ; text-classification(text=Анна рада.) ; token-classification(text=Анна рада.)",
            ),
            (
                "Перескажи текст и переведи его на английский",
                &["Анна рада."],
                "summarization(text=Анна рада.) ; translation(text=@0)",
            ),
            (
                "Опиши обе картинки",
                &["/images/a.png", "/images/b.png"],
                "image-to-text(image=/images/a.png) ; image-to-text(image=/images/b.png)",
            ),
            (
                "Прочитай вслух, что изображено на картинке",
                &["/images/a.png"],
                "image-to-text(image=/images/a.png) ; text-to-speech(text=@0)",
            ),
            (
                "Перескажи запись",
                &["/audios/a.wav"],
                "automatic-speech-recognition(audio=/audios/a.wav) ; summarization(text=@0)",
            ),
            (
                "Сколько людей на a.png и b.png?",
                &[],
                "visual-question-answering(image=a.png,text=Сколько людей?) ; visual-question-answering(image=b.png,text=Сколько людей?)",
            ),
            (
                "Сделай контуры картинки a.png и размой результат",
                &[],
                "canny-control(image=a.png) ; image-to-image(image=@0,text=размой результат)",
            ),
            (
                "Сегментируй a.png, опиши результат и озвучь описание",
                &[],
                "image-segmentation(image=a.png) ; image-to-text(image=@0) ; text-to-speech(text=@1)",
            ),
            (
                "Преобразуй речь a.wav в текст и найди имена",
                &[],
                "automatic-speech-recognition(audio=a.wav) ; token-classification(text=@0)",
            ),
            ("Погода в Москве", &[], ""),
            ("Привет!", &[], ""),
        ],
    );
}
