//! Requests in Chinese.

use crate::support::{check_all, task_types};

#[test]
fn one_thing_asked() {
    check_all(
        &task_types(),
        &[
            ("找出/images/a.png的边缘", &[], "canny-control(image=/images/a.png)"),
            ("请画出这张图片的轮廓", &["/images/a.png"], "canny-control(image=/images/a.png)"),
            ("找出图中的直线", &["/images/a.png"], "mlsd-control(image=/images/a.png)"),
            ("把/images/a.png变成黑白", &[], "image-to-image(image=/images/a.png,text=变成黑白)"),
            ("把图片缩小一半", &["/images/a.png"], "image-to-image(image=/images/a.png,text=~缩小一半)"),
            ("把这张图旋转90度", &["/images/a.png"], "image-to-image(image=/images/a.png,text=~旋转90度)"),
            ("/images/a.png的主要颜色是什么？", &[], "visual-question-answering(image=/images/a.png,text=~主要颜色)"),
            ("图里有几只狗？", &["/images/a.png"], "visual-question-answering(image=/images/a.png,text=~几只狗)"),
            ("图片有多大？", &["/images/a.png"], "visual-question-answering(image=/images/a.png,text=图片有多大？)"),
            ("a.png亮不亮？", &[], "visual-question-answering(image=a.png,text=~亮不亮)"),
            ("这段文字说了什么？", &["今天开会。"], "summarization(text=今天开会。)"),
            ("“服务很好”这是好评还是差评？", &[], "text-classification(text=服务很好)"),
            ("描述这张图片", &["/images/a.png"], "image-to-text(image=/images/a.png)"),
            ("/images/a.png里有什么？", &[], "image-to-text(image=/images/a.png)"),
            ("对图片进行分割", &["/images/a.png"], "image-segmentation(image=/images/a.png)"),
            ("把a.png分成几个区域", &[], "image-segmentation(image=a.png)"),
            ("划分图片", &["/images/a.png"], "image-segmentation(image=/images/a.png)"),
            ("检测/images/a.png中的物体", &[], "object-detection(image=/images/a.png)"),
            ("估计图片的深度", &["/images/a.png"], "depth-estimation(image=/images/a.png)"),
            ("总结这篇文章", &["很长的文章。"], "summarization(text=很长的文章。)"),
            ("这段话的情感是什么？", &["我很喜欢。"], "text-classification(text=我很喜欢。)"),
            ("找出文中的人名", &["小明去北京。"], "token-classification(text=小明去北京。)"),
            ("朗读“你好，世界”", &[], "text-to-speech(text=你好，世界)"),
            ("转写/audios/a.wav", &[], "automatic-speech-recognition(audio=/audios/a.wav)"),
            ("给/audios/a.wav降噪", &[], "audio-to-audio(audio=/audios/a.wav)"),
            ("翻译成英文：早上好", &[], "translation(text=早上好)"),
            ("生成一张狗在草地上奔跑的图片", &[], "text-to-image(text=狗在草地上奔跑)"),
            ("小明是谁？", &["小明是医生"], "question-answering(text=小明是谁？,context=小明是医生)"),
            ("“我喜欢茶”和“我爱喝茶”相似吗？", &[], "sentence-similarity(text1=我喜欢茶,text2=我爱喝茶)"),
            ("这句话是正面还是负面：服务太差了", &[], "text-classification(text=服务太差了)"),
            ("这段录音说了什么？", &["/audios/a.wav"], "automatic-speech-recognition(audio=/audios/a.wav)"),
            ("画一只猫", &[], "text-to-image(text=~猫)"),
        ],
    );
}

#[test]
fn several_things_asked() {
    check_all(
        &task_types(),
        &[
            ("描述/images/a.png并朗读出来", &[], "image-to-text(image=/images/a.png) ; text-to-speech(text=@0)"),
            (
                "先分割/images/a.png，然后找出结果的边缘",
                &[],
                "image-segmentation(image=/images/a.png) ; canny-control(image=@0)",
            ),
            (
                "总结这段文字，再翻译成英文",
                &["很长的文章。"],
                "summarization(text=很长的文章。) ; translation(text=@0)",
            ),
            (
                "这段文字的摘要、情感和人名",
                &["小明很高兴。"],
                "summarization(text=小明很高兴。) ; text-classification(text=小明很高兴。) ; token-classification(text=小明很高兴。)",
            ),
            (
                "描述两张图片",
                &["/images/a.png", "/images/b.png"],
                "image-to-text(image=/images/a.png) ; image-to-text(image=/images/b.png)",
            ),
            ("朗读图片里有什么", &["/images/a.png"], "image-to-text(image=/images/a.png) ; text-to-speech(text=@0)"),
            (
                "总结这段录音",
                &["/audios/a.wav"],
                "automatic-speech-recognition(audio=/audios/a.wav) ; summarization(text=@0)",
            ),
            ("找出a.png和b.png的边缘", &[], "canny-control(image=a.png) ; canny-control(image=b.png)"),
            (
                "请描述a.png，然后把描述翻译成法语并朗读",
                &[],
                "image-to-text(image=a.png) ; translation(text=@0) ; text-to-speech(text=@1)",
            ),
            (
                "帮我把a.png转成黑白，再旋转90度",
                &[],
                "image-to-image(image=a.png,text=转成黑白) ; image-to-image(image=@0,text=旋转90度)",
            ),
            (
                "提取图片上的文字并翻译成英文",
                &["/images/a.png"],
                "image-to-text(image=/images/a.png) ; translation(text=@0)",
            ),
            ("给我讲个笑话并朗读", &[], "text-generation(text=~笑话) ; text-to-speech(text=@0)"),
            ("你好！", &[], ""),
        ],
    );
}
