//! Everyday requests in three languages with the task types that jarvis knows itself.

use crate::support::check_all;

fn check(cases: &[(&str, &[&str], &str)]) {
    check_all(jarvis_catalogue::vocabulary().tools(), cases);
}

#[test]
fn recordings_are_heard() {
    check(&[
        (
            "an audio summary of talk.wav",
            &[],
            "automatic-speech-recognition(audio=talk.wav) ; summarization(text=@0) ; text-to-speech(text=@1)",
        ),
        (
            "give me a summary of this recording as audio",
            &["talk.wav"],
            "automatic-speech-recognition(audio=talk.wav) ; summarization(text=@0) ; text-to-speech(text=@1)",
        ),
        (
            "when does the meeting start?",
            &["talk.wav"],
            "automatic-speech-recognition(audio=talk.wav) ; question-answering(text=when does the meeting start?,context=@0)",
        ),
        (
            "what sentiment does talk.wav express?",
            &[],
            "automatic-speech-recognition(audio=talk.wav) ; question-answering(text=what sentiment does express?,context=@0)",
        ),
        ("I need the text of talk.wav in written form", &[], "automatic-speech-recognition(audio=talk.wav)"),
        ("Recap talk.wav for me", &[], "automatic-speech-recognition(audio=talk.wav) ; summarization(text=@0)"),
        (
            "listen to the audio and list who is mentioned",
            &["talk.wav"],
            "automatic-speech-recognition(audio=talk.wav) ; token-classification(text=@0)",
        ),
        ("write what is said in talk.wav", &[], "automatic-speech-recognition(audio=talk.wav)"),
        (
            "this is an interview, then summarise the transcript",
            &["talk.wav"],
            "automatic-speech-recognition(audio=talk.wav) ; summarization(text=@0)",
        ),
        ("сделай транскрипт talk.wav", &[], "automatic-speech-recognition(audio=talk.wav)"),
        (
            "возьми запись и переведи на французский",
            &["talk.wav"],
            "automatic-speech-recognition(audio=talk.wav) ; translation(text=возьми запись и переведи на французский: @0)",
        ),
        (
            "послушай запись и перескажи",
            &["talk.wav"],
            "automatic-speech-recognition(audio=talk.wav) ; summarization(text=@0)",
        ),
        (
            "听一下录音，然后总结",
            &["talk.wav"],
            "automatic-speech-recognition(audio=talk.wav) ; summarization(text=@0)",
        ),
        (
            "translate the recording into Spanish and speak the translation",
            &["talk.wav"],
            "automatic-speech-recognition(audio=talk.wav) ; translation(text=translate the recording into Spanish: @0) ; text-to-speech(text=@1)",
        ),
    ]);
}

#[test]
fn a_language_asked_for_is_spoken() {
    check(&[
        (
            "summarise report.txt in French",
            &[],
            "summarization(text=report.txt) ; translation(text=summarise in French: @0)",
        ),
        ("describe b.jpg in French", &[], "image-to-text(image=b.jpg) ; translation(text=describe in French: @0)"),
        (
            "caption b.jpg in German and read it out",
            &[],
            "image-to-text(image=b.jpg) ; translation(text=caption in German: @0) ; text-to-speech(text=@1)",
        ),
        (
            "a spoken summary of talk.wav in German",
            &[],
            "automatic-speech-recognition(audio=talk.wav) ; summarization(text=@0) ; translation(text=a spoken summary in German: @1) ; text-to-speech(text=@2)",
        ),
        (
            "I need an audio version of notes.txt in Spanish",
            &[],
            "translation(text=an audio version in Spanish: notes.txt) ; text-to-speech(text=@0)",
        ),
        (
            "read this aloud in French",
            &["report.txt"],
            "translation(text=read this aloud in French: report.txt) ; text-to-speech(text=@0)",
        ),
        ("опиши b.jpg по-английски", &[], "image-to-text(image=b.jpg) ; translation(text=опиши по-английски: @0)"),
        ("用英语描述 b.jpg", &[], "image-to-text(image=b.jpg) ; translation(text=用英语描述: @0)"),
        ("用法语总结 report.txt", &[], "summarization(text=report.txt) ; translation(text=用法语总结: @0)"),
        ("“早上好”用日语怎么说？", &[], "translation(text=用日语怎么说: 早上好)"),
        ("как по-японски «доброе утро»?", &[], "translation(text=как по-японски: доброе утро)"),
        ("скажи «добро пожаловать» по-английски", &[], "translation(text=по-английски: добро пожаловать)"),
    ]);
}

#[test]
fn what_comes_first_is_done_first() {
    check(&[
        (
            "before you summarise report.txt, translate it into English",
            &[],
            "translation(text=translate it into English: report.txt) ; summarization(text=@0)",
        ),
        (
            "Before reading report.txt aloud, translate it into German",
            &[],
            "translation(text=translate it into German: report.txt) ; text-to-speech(text=@0)",
        ),
        (
            "read the summary of report.txt aloud after translating it into Russian",
            &[],
            "translation(text=after translating it into Russian: report.txt) ; summarization(text=@0) ; text-to-speech(text=@1)",
        ),
        (
            "find out the mood of the people in report.txt, but only after summarising it",
            &[],
            "summarization(text=report.txt) ; text-classification(text=@0)",
        ),
    ]);
}

#[test]
fn what_is_not_wanted_is_left_out() {
    check(&[
        (
            "I don't want a summary, just translate notes.txt into French",
            &[],
            "translation(text=translate into French: notes.txt)",
        ),
        ("no need to describe b.jpg, only find its edges", &[], "canny-control(image=b.jpg)"),
        ("Neither translate nor summarise report.txt; read it", &[], "text-to-speech(text=report.txt)"),
        (
            "describe a.png without reading it aloud and then translate the description into German",
            &[],
            "image-to-text(image=a.png) ; translation(text=translate the description into German: @0)",
        ),
    ]);
}

#[test]
fn pictures_are_changed_made_and_told() {
    check(&[
        ("make b.jpg blue", &[], "image-to-image(image=b.jpg,text=make blue)"),
        ("make this blue", &["b.jpg"], "image-to-image(image=b.jpg,text=make this blue)"),
        ("don't make it grey, make it blue", &["b.jpg"], "image-to-image(image=b.jpg,text=make it blue)"),
        ("turn it to the left", &["b.jpg"], "image-to-image(image=b.jpg,text=turn it to the left)"),
        ("add a hat to the man in b.jpg", &[], "image-to-image(image=b.jpg,text=add a hat to the man)"),
        ("Take this photo and remove the people", &["b.jpg"], "image-to-image(image=b.jpg,text=remove the people)"),
        ("преврати b.jpg в мультик", &[], "image-to-image(image=b.jpg,text=преврати в мультик)"),
        ("去掉 b.jpg 的背景", &[], "image-to-image(image=b.jpg,text=去掉 背景)"),
        ("把照片变成铅笔画", &["b.jpg"], "image-to-image(image=b.jpg,text=把照片变成铅笔画)"),
        ("create a logo for my bakery", &[], "text-to-image(text=a logo for my bakery)"),
        ("sketch a house", &[], "text-to-image(text=a house)"),
        ("animate a cat jumping", &[], "text-to-video(text=a cat jumping)"),
        ("animate b.jpg", &[], "image-to-text(image=b.jpg) ; text-to-video(text=@0)"),
        ("прочитай текст на картинке", &["b.jpg"], "image-to-text(image=b.jpg)"),
        (
            "распознай текст на картинке и переведи на английский",
            &["b.jpg"],
            "image-to-text(image=b.jpg) ; translation(text=переведи на английский: @0)",
        ),
        ("write a poem about b.jpg", &[], "image-to-text(image=b.jpg) ; text-generation(text=write a poem about: @0)"),
        ("voice b.jpg", &[], "image-to-text(image=b.jpg) ; text-to-speech(text=@0)"),
        (
            "The picture shows a receipt. How much did I pay?",
            &["b.jpg"],
            "document-question-answering(image=b.jpg,text=How much did I pay?)",
        ),
    ]);
}

#[test]
fn texts_are_worked_on() {
    check(&[
        ("tell the mood of this text: what a lovely morning", &[], "text-classification(text=what a lovely morning)"),
        ("make it shorter", &["report.txt"], "summarization(text=report.txt)"),
        ("make a shorter version of report.txt", &[], "summarization(text=report.txt)"),
        (
            "translate it into German and make it shorter",
            &["report.txt"],
            "translation(text=translate it into German: report.txt) ; summarization(text=@0)",
        ),
        ("summarise report.txt and voice it", &[], "summarization(text=report.txt) ; text-to-speech(text=@0)"),
        ("voice the summary of report.txt", &[], "summarization(text=report.txt) ; text-to-speech(text=@0)"),
        ("write a summary of report.txt", &[], "summarization(text=report.txt)"),
        ("write a tweet about report.txt", &[], "text-generation(text=write a tweet about: report.txt)"),
        ("把 report.txt 变短", &[], "summarization(text=report.txt)"),
        ("老板发给我 report.txt，没时间看，简单说说", &[], "summarization(text=report.txt)"),
        (
            "who speaks first according to notes.txt?",
            &[],
            "question-answering(text=who speaks first?,context=notes.txt)",
        ),
        ("Explain report.txt to me", &[], "summarization(text=report.txt)"),
    ]);
}

#[test]
fn what_no_tool_does_is_not_planned() {
    check(&[
        ("make coffee", &[], ""),
        ("make a call to Bob", &[], ""),
        ("set an alarm for 7 am", &[], ""),
        ("turn off the lights", &[], ""),
        ("convert 100 dollars to euros", &[], ""),
        ("поставь будильник на 7 утра", &[], ""),
        ("сделай кофе", &[], ""),
        ("запиши меня к врачу", &[], ""),
        ("新建文件夹", &[], ""),
        ("What is the capital of France?", &[], ""),
        ("Book me a table for two", &[], ""),
    ]);
}
