//! Questions on small passages in three languages.

use super::{answer, split};

#[test]
fn questions_are_answered_from_the_passage() {
    let harbour = "The harbour was built in 1887 by Henry Martin. It lies in the north of Norway. Every day 340 ships come in. \
                   A ticket costs 15 euros. The keeper paints pictures of gulls in winter.";
    let museum = "Музей открылся 3 июня 1998 года в Казани. Его основал Пётр Смирнов. В музее хранится 1200 картин. \
                  Билет стоит 300 рублей. По вечерам смотритель играет на скрипке.";
    let school = "这所学校成立于1952年。校长叫李明。学校有3000名学生。学校位于南京市。学生每天早上跑步。";
    let wall = "长城始建于公元前7世纪，全长超过2万公里。故宫位于北京，建成于1420年，每年有1700万游客参观。";
    let cases = [
        (wall, "长城有多长？", "2万"),
        (wall, "故宫是哪一年建成的？", "1420年"),
        (wall, "故宫在哪里？", "北京"),
        (harbour, "How many ships had come when the day was over?", "340"),
        (harbour, "When was the harbour built?", "1887"),
        (harbour, "Who built the harbour?", "Henry Martin"),
        (harbour, "How many ships come every day?", "340"),
        (harbour, "How much does a ticket cost?", "15 euros"),
        (harbour, "What does the keeper paint?", "The keeper paints pictures of gulls in winter."),
        (museum, "Когда открылся музей?", "3 июня 1998 года"),
        (museum, "Сколько картин хранится в музее?", "1200"),
        (museum, "Сколько стоит билет?", "300 рублей"),
        (museum, "Кто основал музей?", "Пётр Смирнов"),
        (museum, "Где открылся музей?", "Казани"),
        (museum, "На чём играет смотритель?", "По вечерам смотритель играет на скрипке."),
        (school, "学校是什么时候成立的？", "1952年"),
        (school, "学校有多少学生？", "3000"),
        (school, "学校在哪里？", "南京市"),
        (school, "学校的校长是谁？", "李明"),
    ];
    let mut wrong = Vec::new();
    for (context, question, expected) in cases {
        let found = answer(question, context);
        let words = found.as_ref().and_then(|found| context.get(found.range.clone()));
        if words != Some(expected) {
            wrong.push(format!("{question}: {words:?}, not {expected}"));
        }
        if let Some(found) = found {
            assert!((0.0..=1.0).contains(&found.score), "{question}: {}", found.score);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(answer("Who discovered penicillin?", school), None);
    assert_eq!(split("Who built it? Henry built it."), Some(("Who built it?", "Henry built it.")));
    assert_eq!(split("李明建的。谁建的？"), Some(("谁建的？", "李明建的。")));
    assert_eq!(split("Who built it?"), None);
    assert_eq!(split("Henry built it."), None);
}
