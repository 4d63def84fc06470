//! The answer to "undo that": files are never changed in place, so the one before is named, and what follows is about it.

use jarvis_plan::{Answer, AnswerResource, Language, Note, Plan, Request, TaskId};
use jarvis_planner::Undone;

use super::shown;

/// The file that there was before, called as its display path is.
pub(crate) fn resource(undone: &Undone) -> Option<AnswerResource> {
    let Undone::To(kind, url) = undone else { return None };
    let name = url.rsplit('/').next().unwrap_or(url).to_owned();
    Some(AnswerResource { kind: *kind, url: url.clone(), from: TaskId(0), name, path: None })
}

/// What to say, and an empty plan that holds what could not be undone. `resources` is [`resource`], where it is now.
pub(crate) fn answer(request: &Request, undone: &Undone, resources: Vec<AnswerResource>) -> (Answer, Plan) {
    let language = Language::of(&request.text);
    match undone {
        Undone::To(_, url) => {
            let before = language.pick(
                "Undone. This is the one before; the later one is kept too:",
                "Отменено. Вот предыдущий вариант; последний тоже сохранён:",
                "已撤销。这是之前的版本，后来的也保留着：",
            );
            let text = format!("{before}\n   {}", shown(url, &resources));
            (Answer { text, resources, ..Answer::default() }, Plan::default())
        }
        Undone::Nothing => {
            let text = language.pick(
                "There is nothing to undo: the last turn made no file out of another. What a tool changed is not undone here.",
                "Отменять нечего: последний ответ не сделал файла из другого. Того, что изменил инструмент, здесь не отменить.",
                "没有可撤销的操作：上一轮没有由一个文件生成另一个文件。工具所做的更改无法在这里撤销。",
            );
            let mut plan = Plan::default();
            plan.note(Note::left_out("there is nothing to undo"));
            (Answer { text: text.to_owned(), ..Answer::default() }, plan)
        }
    }
}
