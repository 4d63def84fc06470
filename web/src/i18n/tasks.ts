// Names of task types for people, in each language. A type that is not here is shown by its own name.
import type { Language } from "./index";

const NAMES: Record<string, [en: string, ru: string, zh: string]> = {
  "audio-classification": ["Kind of sound", "Вид звука", "声音分类"],
  "audio-to-audio": ["Clean up sound", "Очистка звука", "声音处理"],
  "automatic-speech-recognition": ["Speech to text", "Речь в текст", "语音转文字"],
  "canny-control": ["Find edges", "Контуры", "查找边缘"],
  "canny-text-to-image": ["Picture from edges", "Картинка по контурам", "由边缘生成图片"],
  conversational: ["Conversation", "Разговор", "对话"],
  "depth-estimation": ["Depth map", "Карта глубины", "深度估计"],
  "depth-text-to-image": ["Picture from depth", "Картинка по глубине", "由深度生成图片"],
  "document-question-answering": ["Question about a document", "Вопрос по документу", "文档问答"],
  "hed-control": ["Soft edges", "Мягкие контуры", "柔和边缘"],
  "hed-text-to-image": ["Picture from soft edges", "Картинка по мягким контурам", "由柔和边缘生成图片"],
  "image-classification": ["What is in it", "Что на картинке", "图片分类"],
  "image-segmentation": ["Segment picture", "Области картинки", "图片分割"],
  "image-to-image": ["Change picture", "Изменить картинку", "修改图片"],
  "image-to-text": ["Describe picture", "Описать картинку", "描述图片"],
  "midas-control": ["Depth control", "Глубина", "深度控制图"],
  "mlsd-control": ["Line segments", "Отрезки прямых", "直线段"],
  "mlsd-text-to-image": ["Picture from lines", "Картинка по линиям", "由直线生成图片"],
  "normal-control": ["Surface normals", "Нормали поверхности", "法线图"],
  "normal-text-to-image": ["Picture from normals", "Картинка по нормалям", "由法线生成图片"],
  "object-detection": ["Find objects", "Найти предметы", "目标检测"],
  "openpose-control": ["Body pose", "Поза человека", "人体姿态"],
  "openpose-text-to-image": ["Picture from pose", "Картинка по позе", "由姿态生成图片"],
  "question-answering": ["Question about a text", "Вопрос по тексту", "文本问答"],
  "scribble-control": ["Scribble", "Набросок", "涂鸦"],
  "scribble-text-to-image": ["Picture from scribble", "Картинка по наброску", "由涂鸦生成图片"],
  "seg-text-to-image": ["Picture from segments", "Картинка по областям", "由分割生成图片"],
  "sentence-similarity": ["Compare sentences", "Сходство фраз", "句子相似度"],
  summarization: ["Summary", "Краткое изложение", "摘要"],
  "tabular-classification": ["Classify table", "Анализ таблицы", "表格分类"],
  "text-classification": ["Mood of text", "Настроение текста", "文本情感"],
  "text-generation": ["Write text", "Написать текст", "生成文本"],
  "text-to-image": ["Create picture", "Создать картинку", "生成图片"],
  "text-to-speech": ["Read aloud", "Прочитать вслух", "朗读"],
  "text-to-video": ["Create video", "Создать видео", "生成视频"],
  "text2text-generation": ["Rewrite text", "Переписать текст", "改写文本"],
  "token-classification": ["Names and figures", "Имена и числа", "人名与数字"],
  translation: ["Translation", "Перевод", "翻译"],
  "visual-question-answering": ["Question about picture", "Вопрос о картинке", "图片问答"],
};

export function taskName(task: string, language: Language): string {
  const row = Object.hasOwn(NAMES, task) ? NAMES[task] : undefined;
  return row ? row[language === "ru" ? 1 : language === "zh" ? 2 : 0] : task;
}
