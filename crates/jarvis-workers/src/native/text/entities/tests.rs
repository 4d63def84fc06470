//! Entities in small texts: what is found, and what is left alone.

use super::find;

#[test]
fn entities_are_found() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        (
            "Alice Brown met Dr. Stone at Google in Paris on May 5, 2024 at 10:30 am.",
            &[
                ("PER", "Alice Brown"),
                ("PER", "Stone"),
                ("ORG", "Google"),
                ("LOC", "Paris"),
                ("DATE", "May 5, 2024"),
                ("TIME", "10:30 am"),
            ],
        ),
        (
            "The University of Oxford paid $1.5 million, about 12% more than in 2019.",
            &[("ORG", "University of Oxford"), ("MONEY", "$1.5 million"), ("PERCENT", "12%"), ("DATE", "2019")],
        ),
        (
            "Write to bob@example.com or call +1 555 123-4567; see https://example.com/a?b=1.",
            &[("EMAIL", "bob@example.com"), ("PHONE", "+1 555 123-4567"), ("URL", "https://example.com/a?b=1")],
        ),
        ("However, the weather was nice. People slept.", &[]),
        (
            "Yesterday President Lincoln spoke in Springfield.",
            &[("DATE", "Yesterday"), ("PER", "Lincoln"), ("LOC", "Springfield")],
        ),
        (
            "NASA launched 3 rockets from Cape Canaveral.",
            &[("ORG", "NASA"), ("NUMBER", "3"), ("LOC", "Cape Canaveral")],
        ),
        ("Leonardo da Vinci was born in Italy.", &[("PER", "Leonardo da Vinci"), ("LOC", "Italy")]),
        ("Version 1.2.3 of x86 runs.", &[]),
        ("In April alone the company grew. May was worse.", &[]),
        ("I think that Bob's dog likes 5 km walks.", &[("PER", "Bob"), ("NUMBER", "5")]),
        (
            "Иван Петров приехал в Москву 12 мая 2023 года и заплатил 500 рублей.",
            &[("PER", "Иван Петров"), ("LOC", "Москву"), ("DATE", "12 мая 2023 года"), ("MONEY", "500 рублей")],
        ),
        ("А. С. Пушкин жил в Петербурге.", &[("PER", "А. С. Пушкин"), ("LOC", "Петербурге")]),
        ("Профессор Сидорова работает в МГУ.", &[("PER", "Сидорова"), ("ORG", "МГУ")]),
        ("Компания «Ромашка» находится в городе Тверь.", &[("ORG", "Ромашка"), ("LOC", "Тверь")]),
        ("В 2020 году рост составил 7,5 процента.", &[("DATE", "2020 году"), ("PERCENT", "7,5 процента")]),
        ("Однако погода была хорошей.", &[]),
        (
            "王小明先生在北京大学工作，他的电话是13812345678。",
            &[("PER", "王小明"), ("ORG", "北京大学"), ("PHONE", "13812345678")],
        ),
        ("2023年5月1日，张伟去了上海市。", &[("DATE", "2023年5月1日"), ("PER", "张伟"), ("LOC", "上海市")]),
        ("这家公司今年赚了3亿元，增长20%。", &[("DATE", "今年"), ("MONEY", "3亿元"), ("PERCENT", "20%")]),
        ("他加入腾讯公司，住在苏州市。", &[("ORG", "腾讯公司"), ("LOC", "苏州市")]),
        ("城市里的超市很多。", &[]),
        (
            "Мария учится в Московском государственном университете, а Пётр — в Газпроме.",
            &[
                ("PER", "Мария"),
                ("ORG", "Московском государственном университете"),
                ("PER", "Пётр"),
                ("ORG", "Газпроме"),
            ],
        ),
        ("Детский сад закрыт.", &[]),
        ("Казанский завод вырос.", &[("ORG", "Казанский завод")]),
        (
            "李白出生于701年，他的朋友杜甫住在成都。",
            &[("PER", "李白"), ("DATE", "701年"), ("PER", "杜甫"), ("LOC", "成都")],
        ),
        ("研究人员王芳和刘强发表了论文。", &[("PER", "王芳"), ("PER", "刘强")]),
        (
            "我叫张三，来自河南省郑州市，今年25岁。",
            &[("PER", "张三"), ("LOC", "河南省"), ("LOC", "郑州市"), ("DATE", "今年"), ("NUMBER", "25")],
        ),
        (
            "Apple CEO Tim Cook visited Austin, Texas, last Monday.",
            &[("ORG", "Apple"), ("PER", "Tim Cook"), ("LOC", "Austin"), ("LOC", "Texas"), ("DATE", "last Monday")],
        ),
        (
            "Call (555) 123-4567 before 5pm about 42 Baker Street, London.",
            &[
                ("PHONE", "(555) 123-4567"),
                ("TIME", "5pm"),
                ("NUMBER", "42"),
                ("LOC", "Baker Street"),
                ("LOC", "London"),
            ],
        ),
        ("She won the Nobel Prize in 1903.", &[("MISC", "Nobel Prize"), ("DATE", "1903")]),
        (
            "Президент Франции Эмманюэль Макрон был в Париже.",
            &[("LOC", "Франции"), ("PER", "Эмманюэль Макрон"), ("LOC", "Париже")],
        ),
        ("Роман «Война и мир» вышел в 1869 году.", &[("DATE", "1869 году")]),
        (
            "Звоните 8 (800) 555-35-35 или пишите на ya.test@ya.ru.",
            &[("PHONE", "8 (800) 555-35-35"), ("EMAIL", "ya.test@ya.ru")],
        ),
        (
            "陈小红女士下午三点在上海市第一人民医院。",
            &[("PER", "陈小红"), ("TIME", "下午三点"), ("ORG", "上海市第一人民医院")],
        ),
        ("马云1999年在杭州创立了阿里巴巴。", &[("DATE", "1999年"), ("LOC", "杭州"), ("ORG", "阿里巴巴")]),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let found = find(text);
        let found: Vec<(&str, &str)> = found.iter().map(|entity| (entity.group.as_str(), entity.word(text))).collect();
        if found != *expected {
            wrong.push(format!("{text}\n  found    {found:?}\n  expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
