//! The answer to "help" and "what can you do": the tasks that something can do as configured, and requests to try.

use jarvis_plan::{Language, Request, Tool};

use super::words::title;

/// Requests that ask what can be asked, without punctuation and in lower case.
const ASKS: [&str; 21] = [
    "help",
    "help me",
    "what can you do",
    "what can i do",
    "what can i ask",
    "what can i ask you",
    "what do you do",
    "how can you help",
    "how can you help me",
    "what are you able to do",
    "помощь",
    "помоги",
    "что ты умеешь",
    "что ты можешь",
    "что вы умеете",
    "что умеешь",
    "帮助",
    "你能做什么",
    "你会什么",
    "你会做什么",
    "你可以做什么",
];

/// The most example requests.
const EXAMPLES: usize = 4;

/// Whether a request asks what can be asked.
pub(crate) fn is_asked(request: &Request) -> bool {
    let words = request.text.to_lowercase();
    let words = words.trim_matches(|c: char| !c.is_alphanumeric());
    let greeted = ["hi", "hello", "hey", "привет", "здравствуйте", "你好"].iter().find_map(|hi| words.strip_prefix(hi));
    let asked = greeted.map_or(words, |rest| rest.trim_start_matches(|c: char| !c.is_alphanumeric()));
    let asked = asked.strip_suffix(" for me").unwrap_or(asked);
    ASKS.contains(&words) || ASKS.contains(&asked)
}

/// A request to try for a task.
fn example(task: &str, language: Language) -> Option<&'static str> {
    let mut rows = include_str!("help.tsv").lines().filter_map(|line| line.split_once('\t'));
    let mut requests = rows.find(|(known, _)| *known == task)?.1.split('\t');
    let all = [requests.next()?, requests.next()?, requests.next()?];
    let [english, russian, chinese] = all;
    Some(language.pick(english, russian, chinese))
}

/// What can be asked with these tools.
pub(crate) fn answer(request: &Request, tools: &[Tool]) -> String {
    let language = Language::of(&request.text);
    let (stock, own): (Vec<&Tool>, Vec<&Tool>) =
        tools.iter().partition(|tool| jarvis_catalogue::find(&tool.name).is_some());
    let mut titles: Vec<&str> = stock.iter().map(|tool| title(&tool.name, language)).collect();
    titles.dedup();
    let lead = language.pick("As configured I can give:", "В этой настройке я даю:", "按当前配置,我可以给出:");
    let mut text = format!("{lead} {}.\n", titles.join(", "));
    for tool in own {
        text.push_str(&format!("- `{}`: {}\n", tool.name, tool.description));
    }
    // Only what the built-in models do too: another model may do less than the example of its task.
    let known: Vec<&str> = stock.iter().filter_map(|tool| example(&tool.name, language)).collect();
    let step = known.len().div_ceil(EXAMPLES).max(1);
    let examples: Vec<&str> = known.into_iter().step_by(step).take(EXAMPLES).collect();
    if !examples.is_empty() {
        text.push_str(language.pick("For example:", "Например:", "例如:"));
        text.push('\n');
        for example in examples {
            text.push_str(&format!("- {example}\n"));
        }
    }
    text.push_str(language.pick(
        "Name the files that it is about. `jarvis doctor` says what else could be configured.",
        "Назовите файлы, о которых речь. `jarvis doctor` скажет, что ещё можно настроить.",
        "请写明相关文件。`jarvis doctor` 会说明还可以配置什么。",
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_of_tasks_that_exist_and_in_three_languages() {
        for line in include_str!("help.tsv").lines().filter(|line| !line.starts_with('#')) {
            let (task, requests) = line.split_once('\t').unwrap();
            assert!(jarvis_catalogue::find(task).is_some(), "{task}");
            assert_eq!(requests.split('\t').count(), 3, "{task}");
        }
        assert_eq!(example("image-to-text", Language::English), None, "it would describe nothing");
    }
}
