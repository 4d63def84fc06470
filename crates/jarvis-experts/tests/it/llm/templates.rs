//! Prompts as chat templates make them, seen through the count of their tokens: one token a byte would be no less.

use jarvis_experts::{Call, ChatInput, ExpertError, Input, LocalModels, ModelFiles};

use super::hostile::Patch;
use super::{TASK, endless, models, turn};

/// A folder with the qwen2 fixture that has this chat template.
fn with_template(template: &str) -> (tempfile::TempDir, ModelFiles) {
    let mut patch = Patch::of("qwen2");
    patch.insert_text("tokenizer.chat_template", template);
    patch.save()
}

async fn run(models: &LocalModels, files: &ModelFiles) -> Result<u64, ExpertError> {
    let turns =
        vec![turn("system", "S"), turn("user", "U1"), turn("assistant", "<think>no</think>A"), turn("user", "U2")];
    let input = ChatInput { turns, ..endless("", 1) };
    match models.run(files, TASK, Input::Chat(input), Call::default()).await? {
        jarvis_experts::Output::Chat(output) => Ok(output.prompt_tokens),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn templates_and_their_functions() {
    // Each byte of a plain ASCII text is at most one token, and `@` never merges in this vocabulary: what a template
    // puts out as `@` is counted.
    let cases: &[(&str, Result<u64, &str>)] = &[
        ("@@@", Ok(3)),
        ("{% for m in messages %}@{% endfor %}", Ok(4)),
        ("{% for m in messages %}{% if loop.index0 == 2 %}{% break %}{% endif %}@{% endfor %}", Ok(2)),
        ("{% for m in messages %}{% if m.role == 'user' %}{% continue %}{% endif %}@{% endfor %}", Ok(2)),
        (
            "{%- set ns = namespace(n=0) -%}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ '@' * ns.n }}",
            Ok(4),
        ),
        (
            "{{ '@' if add_generation_prompt else '' }}{{ '@' if enable_thinking is defined and not enable_thinking }}",
            Ok(2),
        ),
        ("{{ bos_token }}{{ eos_token }}", Ok(2)),
        ("{% if messages[2]['content'].split('</think>')[-1] == 'A' %}@{% endif %}", Ok(1)),
        ("{% if messages[0]['content'].strip().lower().startswith('s') %}@@{% endif %}", Ok(2)),
        ("{% if messages[0] | tojson == '{\"role\": \"system\", \"content\": \"S\"}' %}@{% endif %}", Ok(1)),
        ("{% if ['<', 1] | tojson(indent=1) == '[\n \"<\",\n 1\n]' %}@{% endif %}", Ok(1)),
        ("{% if strftime_now('%Y') | int > 2024 %}@{% endif %}", Ok(1)),
        ("{% if tools is defined and tools %}x{% else %}@{% endif %}", Ok(1)),
        // The newline after a block and the spaces before it are no text.
        ("{% if true %}\n    {% if true %}\n@\n    {% endif %}\n{% endif %}", Ok(2)),
        ("{% for m in messages[::-1] %}@{% endfor %}", Ok(4)),
        ("{% macro at(n) %}{{ '@' * n }}{% endmacro %}{{ at(3) }}", Ok(3)),
        ("{{ raise_exception('roles must alternate') }}", Err("roles must alternate")),
        ("{{ messages.nothing.at.all }}", Err("its chat template fails")),
        ("{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}", Err("fuel")),
        ("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", Err("its chat template fails")),
        ("{% if %}", Err("its chat template is invalid")),
        ("{{ messages[0].content", Err("its chat template is invalid")),
        ("", Err("there is nothing to reply to")),
    ];
    let models = models();
    for (number, (template, expected)) in cases.iter().enumerate() {
        let (_folder, mut files) = with_template(template);
        files.id = format!("template {number}");
        match (run(&models, &files).await, expected) {
            (Ok(tokens), Ok(expected)) => assert_eq!(tokens, *expected, "{template}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{template}: {error}"),
            (result, _) => panic!("{template}: {result:?}"),
        }
    }
}
