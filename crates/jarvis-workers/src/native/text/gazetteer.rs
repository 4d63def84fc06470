//! Well-known names and the words around names, for English, Russian and Chinese. Small on purpose: rules do the rest.
//! Names of several words are joined with `_`.

/// Places; compared by stems, so that Russian cases are met.
pub(super) const PLACES: &str = "\
afghanistan africa alaska albania algeria america amsterdam antarctica argentina armenia asia athens atlanta austin \
australia austria azerbaijan baghdad bangkok bangladesh barcelona beijing belarus belgium berlin bolivia boston brazil \
britain brooklyn brussels bucharest budapest bulgaria cairo california cambodia canada chicago chile china colombia \
copenhagen costa_rica croatia cuba cyprus czech_republic dallas delhi denmark denver dubai dublin ecuador edinburgh \
egypt england estonia ethiopia europe finland florence florida france frankfurt geneva georgia germany ghana glasgow \
greece hamburg havana hawaii helsinki hollywood hong_kong houston hungary iceland india indonesia iran iraq ireland \
israel istanbul italy jakarta jamaica japan jerusalem kazakhstan kenya kiev kyiv kyoto laos las_vegas latvia lebanon \
lisbon lithuania london los_angeles luxembourg lyon madrid malaysia manchester manhattan marseille melbourne mexico \
mexico_city miami milan minsk mongolia montreal morocco moscow mumbai munich myanmar nairobi naples nepal netherlands \
new_delhi new_york new_york_city new_zealand nigeria north_korea norway osaka oslo oxford pakistan paris peru \
philadelphia philippines poland portugal prague qatar riga rome romania russia rwanda san_francisco saudi_arabia \
scotland seattle seoul serbia shanghai shenzhen siberia singapore slovakia slovenia south_africa south_korea spain \
stockholm sudan sweden switzerland sydney syria taipei taiwan tallinn tehran texas thailand tibet tokyo toronto tunisia \
turkey uganda uk ukraine united_arab_emirates united_kingdom united_states united_states_of_america uruguay us usa \
uzbekistan vancouver venezuela venice vienna vietnam vilnius virginia wales warsaw washington yemen zurich \
австралия австрия азербайджан азия алжир америка амстердам англия аргентина армения архангельск астана африка баку \
барселона белград беларусь белоруссия бельгия берлин болгария бразилия британия великобритания брюссель будапешт \
варшава вашингтон вена венгрия владивосток волгоград вологда воронеж вьетнам германия голландия греция грозный грузия \
дагестан дания донецк дубай европа египет екатеринбург ереван женева израиль индия индонезия ирак иран ирландия исландия \
испания италия иркутск казань казахстан калининград калуга канада каир киев кипр китай корея краснодар красноярск крым \
куба латвия ливан литва лондон лос-анджелес львов мадрид мексика милан минск молдавия молдова монголия москва мумбаи \
мурманск мюнхен непал нидерланды нижний_новгород новосибирск норвегия нью-йорк одесса омск осло пакистан париж пекин \
пенза пермь петербург польша португалия прага псков рига рим россия ростов ростов-на-дону румыния рязань самара \
санкт-петербург саратов севастополь сербия сеул сибирь сингапур сирия словакия словения смоленск сочи стамбул стокгольм \
сша таганрог таиланд таллин татарстан ташкент тбилиси тверь токио томск тула турция тюмень узбекистан украина урал уфа \
финляндия франция хабаровск харьков хельсинки хорватия челябинск чехия чечня чили швейцария швеция шанхай шотландия \
эстония якутск якутия япония ярославль волга дон нева енисей лена обь байкал кавказ";

/// Given names; compared by stems.
pub(super) const GIVEN: &str = "\
aaron abigail adam ahmed alan albert alex alexander alexandra alexis ali alice alison amanda amelia amy ana andrea andrew \
angela anna anne anthony arthur ashley barbara barack ben benjamin bernard betty bill bob brandon brian bruce carl carlos \
carol caroline catherine charles charlotte chloe chris christian christina christine christopher claire clara daniel \
david deborah dennis diana diego donald donna dorothy douglas edward elena eleanor elizabeth ella elon emily emma eric \
ethan eva evelyn felix fiona francis frank frederick gabriel gary george grace greg hannah harold harry heather helen \
henry hugo ian irene isaac isabella jack jacob james jane janet jason jean jeff jennifer jeremy jessica jim joan joe john \
jonathan jordan jose joseph joshua juan julia julian julie justin karen karl kate katherine keith kelly kenneth kevin kim \
larry laura lauren lawrence leo leonard leonardo lewis liam linda lisa louis louise lucas lucy luke maria marie mark \
martha martin mary matthew max megan melissa michael michelle mike mohammed nancy natalie nathan neil nicholas nicole \
nikola noah oliver olivia oscar pablo pamela patricia patrick paul peter philip pierre hans jacques otto ivan olga natasha dmitri rachel ralph ray rebecca richard robert \
roger ronald rose roy russell ruth ryan sally sam samantha samuel sandra sara sarah scott sean sergei sharon simon sofia \
sophia sophie stephanie stephen steve steven stuart susan teresa thomas tim timothy tom tony vincent vladimir walter \
wendy william xavier yuri zoe \
александр александра алексей алена алина алла анастасия анатолий андрей анна антон антонина аркадий артем артур богдан \
борис вадим валентин валентина валерий варвара василий вера виктор виктория виталий владимир владислав вячеслав галина \
геннадий георгий глеб григорий дарья денис дмитрий евгений евгения екатерина елена елизавета иван игорь илья инна ирина \
кирилл константин ксения лариса лев леонид лидия любовь людмила маргарита марина мария марк матвей михаил надежда наталья \
наталия никита николай нина оксана олег ольга павел петр полина роман руслан светлана семен сергей софия софья станислав \
степан тамара татьяна тимофей ульяна федор эдуард юлия юрий яков ярослав маша саша дима коля петя вася катя лена оля \
таня наташа миша витя женя юля аня";

/// Organisations known by one name; compared by stems.
pub(super) const ORGANISATIONS: &str = "\
adobe alibaba amazon amd apple baidu bbc bmw boeing bosch cern cia cisco cnn disney ebay esa eu european_union facebook \
fbi fifa ford github google harvard honda huawei ibm ikea imf instagram intel lenovo linkedin meta microsoft mit mozilla \
nasa nato netflix nintendo nokia nvidia openai oracle paypal pepsi pfizer philips red_cross reuters samsung siemens sony \
spacex spotify stanford tencent tesla toyota twitter uber uefa un unesco unicef united_nations visa volkswagen volvo \
walmart white_house world_bank yahoo yandex youtube hugging_face \
аэрофлот вконтакте втб газпром газпрома гугл евросоюз ес камаз кремль лукойл мвф мгу мид мчс нато нвидиа оон роскосмос роснефть \
ростех сбербанк сбер тинькофф фсб яндекс госдума тасс ржд втб автоваз росатом";

/// Words that make the name around them an organisation.
pub(super) const ORGANISATION_WORDS: &str = "\
academy administration agency airlines airways alliance army association authority bank bureau club college commission \
committee company conference congress corp corporation council court department enterprises federation foundation fund \
gmbh group hospital inc industries institute laboratories laboratory league llc ltd ministry motors museum orchestra \
organization organisation parliament party plc police press school senate society studios technologies trust union \
university times post cafe diner hotel restaurant theatre theater library store \
академия агентство администрация ассоциация банк больница бюро ведомство газета госуниверситет департамент завод \
институт канал клуб колледж комиссия комитет компания консерватория корпорация лаборатория министерство музей оао обществo \
ооо пао партия правительство предприятие прокуратура союз суд театр университет фабрика федерация фонд центр школа холдинг";

/// Words that make the name around them a place.
pub(super) const PLACE_WORDS: &str = "\
airport avenue bay beach boulevard bridge canyon cape castle city coast county desert district falls forest gulf harbor \
heights hill hills island islands isle kingdom lake mount mountain mountains ocean park peninsula plaza province republic \
river road sea square station street strait valley village states statue tower palace temple castle cathedral garden gardens \
аэропорт бульвар вокзал деревня край область озеро океан остров переулок площадь посёлок проспект район республика река \
село улица гора город набережная море шоссе округ";

/// Words before a person's name.
pub(super) const TITLES: &str = "\
mr mrs ms miss mister vice prime dr doctor prof professor sir lady lord king queen prince princess president minister premier \
chancellor senator governor mayor captain general colonel sergeant lieutenant judge justice pope bishop saint st ceo \
director chairman chairwoman secretary uncle aunt detective inspector coach \
лорд леди сэр господин госпожа доктор профессор академик президент премьер премьер-министр министр директор генерал капитан майор \
полковник писатель писательница поэт поэтесса художник художница актёр актриса режиссёр певец певица учёный физик химик \
математик тренер депутат судья царь царица император императрица князь княгиня король королева адвокат врач инженер \
журналист журналистка космонавт композитор тётя дядя губернатор мэр";

/// Titles that part a company's name from a person's: `Apple CEO Tim Cook`.
pub(super) const OFFICES: &str =
    "ceo president director chairman chairwoman professor minister senator secretary coach";

/// What an organisation is, where that is no part of its name.
pub(super) const KINDS: &str = "компания корпорация газета журнал фирма завод партия холдинг";

/// Words that end the name of a work, an event or a prize.
pub(super) const WORK_WORDS: &str = "\
prize award awards war wars games cup olympics festival act treaty agreement day theory law book bible revolution \
championship protocol project program movement премия война договор кубок";

/// Words after a person's name.
pub(super) const SPEAKING: &str = "\
said says told wrote writes added explained asked replied announced argued believes thinks lives founded invented \
discovered painted composed married died joined moved works resigned \
сказал сказала заявил заявила сообщил сообщила отметил отметила написал написала родился родилась открыл открыла \
подчеркнул подчеркнула добавил добавила ответил ответила считает живет работает изобрел изобрела основал основала умер \
умерла переехал переехала спросил спросила приехал приехала";

/// Words before a place.
pub(super) const PLACE_BEFORE: &str = "\
in near across around outside within visiting visited towards throughout into \
в во из около близ возле города городе город посёлке селе деревне";

/// Peoples, languages and the like: capitalised in English, and not names.
pub(super) const PEOPLES: &str = "\
african american arab arabic asian australian austrian belgian brazilian british canadian chinese christian cuban czech \
danish dutch egyptian english european finnish french german greek hebrew hindi hungarian indian iranian iraqi irish \
islamic israeli italian japanese jewish korean latin mexican muslim norwegian persian polish portuguese roman romanian \
russian scottish serbian soviet spanish swedish swiss thai turkish ukrainian vietnamese welsh \
americans chinese germans russians britons europeans italians";

/// Months and days: capitalised in English; alone they are no names.
pub(super) const CALENDAR: &str = "\
january february march april may june july august september october november december \
monday tuesday wednesday thursday friday saturday sunday christmas easter";

/// Common words that open sentences and are no names.
pub(super) const OPENERS: &str = "\
according actually additionally after although another based because besides both certainly clearly consequently currently \
dear despite due each earlier either eventually every everyone everything finally first firstly following fortunately \
furthermore given good great hello hence here hey hi however indeed initially instead last later lastly like many maybe \
meanwhile moreover most nevertheless next nobody nothing now obviously often okay ok once one originally overall perhaps \
please previously probably recently regarding second secondly several similarly since sometimes soon still suddenly sure \
thank thanks therefore third though thus today tomorrow tonight two three unfortunately unlike usually well whether \
within without yes yesterday summarize translate find show tell write read make give extract list describe explain let \
people life time new old \
вчера сегодня завтра потом однако привет здравствуйте уважаемый уважаемая дорогой дорогая кроме после поэтому также \
наконец сначала затем недавно теперь сейчас здесь много многие некоторые например конечно возможно наверное впрочем \
между благодаря согласно несмотря пока если хотя каждый все весной летом осенью зимой утром вечером днем ночью найди \
переведи расскажи покажи извлеки напиши первый второй новый новая наш наша первая";

/// Chinese places; a suffix such as 市 or 省 may follow.
pub(super) const CHINESE_PLACES: &str = "\
北京 上海 天津 重庆 广州 深圳 杭州 南京 武汉 成都 西安 苏州 青岛 大连 厦门 长沙 郑州 沈阳 哈尔滨 昆明 济南 福州 合肥 南昌 贵阳 南宁 太原 \
石家庄 长春 兰州 海口 三亚 乌鲁木齐 拉萨 呼和浩特 银川 西宁 宁波 无锡 珠海 东莞 佛山 桂林 洛阳 香港 澳门 台湾 台北 高雄 河北 山西 辽宁 吉林 \
黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 四川 贵州 云南 陕西 甘肃 青海 内蒙古 广西 西藏 宁夏 新疆 中国 美国 英国 法国 \
德国 日本 韩国 朝鲜 俄罗斯 俄国 印度 巴西 加拿大 澳大利亚 意大利 西班牙 葡萄牙 荷兰 比利时 瑞士 瑞典 挪威 芬兰 丹麦 波兰 乌克兰 土耳其 希腊 \
埃及 南非 墨西哥 阿根廷 泰国 越南 新加坡 马来西亚 印度尼西亚 菲律宾 伊朗 伊拉克 以色列 沙特阿拉伯 欧洲 亚洲 非洲 北美洲 南美洲 纽约 伦敦 巴黎 柏林 \
东京 大阪 京都 首尔 莫斯科 罗马 米兰 马德里 华盛顿 洛杉矶 旧金山 芝加哥 波士顿 悉尼 墨尔本 多伦多 曼谷 迪拜 长江 黄河 长城 泰山 西湖";

/// Chinese organisations known by one name.
pub(super) const CHINESE_ORGANISATIONS: &str = "\
腾讯 阿里巴巴 百度 华为 小米 京东 字节跳动 联想 网易 美团 滴滴 比亚迪 微软 谷歌 苹果公司 亚马逊 特斯拉 英伟达 三星 索尼 丰田 联合国 世界卫生组织 \
世界银行 欧盟 国务院 外交部 教育部 财政部 商务部 国防部 新华社 人民日报 中央电视台 中科院 中国科学院 清华 北大 世界贸易组织";
