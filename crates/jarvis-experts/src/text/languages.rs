//! Names of languages: ISO 639-1 codes, which callers give, and what multilingual models call the languages.

/// ISO 639-1 codes with the FLORES-200 codes that NLLB uses. Where a language has several scripts or varieties, the most common.
const FLORES: [(&str, &str); 134] = [
    ("af", "afr_Latn"),
    ("ak", "aka_Latn"),
    ("am", "amh_Ethi"),
    ("ar", "arb_Arab"),
    ("as", "asm_Beng"),
    ("ay", "ayr_Latn"),
    ("az", "azj_Latn"),
    ("ba", "bak_Cyrl"),
    ("be", "bel_Cyrl"),
    ("bg", "bul_Cyrl"),
    ("bm", "bam_Latn"),
    ("bn", "ben_Beng"),
    ("bo", "bod_Tibt"),
    ("bs", "bos_Latn"),
    ("ca", "cat_Latn"),
    ("cs", "ces_Latn"),
    ("cy", "cym_Latn"),
    ("da", "dan_Latn"),
    ("de", "deu_Latn"),
    ("dz", "dzo_Tibt"),
    ("ee", "ewe_Latn"),
    ("el", "ell_Grek"),
    ("en", "eng_Latn"),
    ("eo", "epo_Latn"),
    ("es", "spa_Latn"),
    ("et", "est_Latn"),
    ("eu", "eus_Latn"),
    ("fa", "pes_Arab"),
    ("ff", "fuv_Latn"),
    ("fi", "fin_Latn"),
    ("fj", "fij_Latn"),
    ("fo", "fao_Latn"),
    ("fr", "fra_Latn"),
    ("ga", "gle_Latn"),
    ("gd", "gla_Latn"),
    ("gl", "glg_Latn"),
    ("gn", "grn_Latn"),
    ("gu", "guj_Gujr"),
    ("ha", "hau_Latn"),
    ("he", "heb_Hebr"),
    ("hi", "hin_Deva"),
    ("hr", "hrv_Latn"),
    ("ht", "hat_Latn"),
    ("hu", "hun_Latn"),
    ("hy", "hye_Armn"),
    ("id", "ind_Latn"),
    ("ig", "ibo_Latn"),
    ("is", "isl_Latn"),
    ("it", "ita_Latn"),
    ("ja", "jpn_Jpan"),
    ("jv", "jav_Latn"),
    ("ka", "kat_Geor"),
    ("kg", "kon_Latn"),
    ("ki", "kik_Latn"),
    ("kk", "kaz_Cyrl"),
    ("km", "khm_Khmr"),
    ("kn", "kan_Knda"),
    ("ko", "kor_Hang"),
    ("ks", "kas_Arab"),
    ("ku", "kmr_Latn"),
    ("ky", "kir_Cyrl"),
    ("lb", "ltz_Latn"),
    ("lg", "lug_Latn"),
    ("li", "lim_Latn"),
    ("ln", "lin_Latn"),
    ("lo", "lao_Laoo"),
    ("lt", "lit_Latn"),
    ("lv", "lvs_Latn"),
    ("mg", "plt_Latn"),
    ("mi", "mri_Latn"),
    ("mk", "mkd_Cyrl"),
    ("ml", "mal_Mlym"),
    ("mn", "khk_Cyrl"),
    ("mr", "mar_Deva"),
    ("ms", "zsm_Latn"),
    ("mt", "mlt_Latn"),
    ("my", "mya_Mymr"),
    ("nb", "nob_Latn"),
    ("ne", "npi_Deva"),
    ("nl", "nld_Latn"),
    ("nn", "nno_Latn"),
    ("no", "nob_Latn"),
    ("ny", "nya_Latn"),
    ("oc", "oci_Latn"),
    ("om", "gaz_Latn"),
    ("or", "ory_Orya"),
    ("pa", "pan_Guru"),
    ("pl", "pol_Latn"),
    ("ps", "pbt_Arab"),
    ("pt", "por_Latn"),
    ("qu", "quy_Latn"),
    ("rn", "run_Latn"),
    ("ro", "ron_Latn"),
    ("ru", "rus_Cyrl"),
    ("rw", "kin_Latn"),
    ("sa", "san_Deva"),
    ("sc", "srd_Latn"),
    ("sd", "snd_Arab"),
    ("sg", "sag_Latn"),
    ("si", "sin_Sinh"),
    ("sk", "slk_Latn"),
    ("sl", "slv_Latn"),
    ("sm", "smo_Latn"),
    ("sn", "sna_Latn"),
    ("so", "som_Latn"),
    ("sq", "als_Latn"),
    ("sr", "srp_Cyrl"),
    ("ss", "ssw_Latn"),
    ("st", "sot_Latn"),
    ("su", "sun_Latn"),
    ("sv", "swe_Latn"),
    ("sw", "swh_Latn"),
    ("ta", "tam_Taml"),
    ("te", "tel_Telu"),
    ("tg", "tgk_Cyrl"),
    ("th", "tha_Thai"),
    ("ti", "tir_Ethi"),
    ("tk", "tuk_Latn"),
    ("tl", "tgl_Latn"),
    ("tn", "tsn_Latn"),
    ("tr", "tur_Latn"),
    ("ts", "tso_Latn"),
    ("tt", "tat_Cyrl"),
    ("ug", "uig_Arab"),
    ("uk", "ukr_Cyrl"),
    ("ur", "urd_Arab"),
    ("uz", "uzn_Latn"),
    ("vi", "vie_Latn"),
    ("wo", "wol_Latn"),
    ("xh", "xho_Latn"),
    ("yi", "ydd_Hebr"),
    ("yo", "yor_Latn"),
    ("zh", "zho_Hans"),
    ("zu", "zul_Latn"),
];

/// How a multilingual tokenizer writes its language tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codes {
    /// `eng_Latn` (NLLB).
    Flores,
    /// `__en__` (M2M100).
    Underscores,
    /// `en_XX` (mBART).
    Regions,
}

impl Codes {
    /// The style of a vocabulary, by its token for English.
    pub(super) fn of(has: impl Fn(&str) -> bool) -> Option<Codes> {
        let styles = [("eng_Latn", Codes::Flores), ("__en__", Codes::Underscores), ("en_XX", Codes::Regions)];
        styles.into_iter().find(|(english, _)| has(english)).map(|(_, codes)| codes)
    }

    /// What tokens of a vocabulary may mean this language, best first: a code of ISO 639-1 (`pt`, `pt-BR`, `zh-TW`), or the
    /// model's own name for it.
    pub(super) fn candidates(self, language: &str, added: &[String]) -> Vec<String> {
        let lowered = language.trim().to_lowercase().replace('_', "-");
        let (code, region) = lowered.split_once('-').unwrap_or((&lowered, ""));
        // The model's own name must be a token of its own: "en" is a piece of words in any vocabulary.
        let mut found: Vec<String> = added.iter().filter(|token| *token == language.trim()).cloned().collect();
        match self {
            Codes::Flores => {
                if code == "zh" && ["tw", "hk", "mo", "hant"].contains(&region) {
                    found.push("zho_Hant".to_owned());
                }
                found.extend(FLORES.iter().filter(|(iso, _)| *iso == code).map(|(_, flores)| (*flores).to_owned()));
            }
            Codes::Underscores => found.push(format!("__{code}__")),
            Codes::Regions => {
                let prefix = format!("{code}_");
                found.extend(added.iter().filter(|token| token.starts_with(&prefix) && token.len() == 5).cloned());
            }
        }
        found
    }
}

/// The ISO 639-2 codes by which some Marian models call targets that have a two-letter code: the language of its FLORES code.
pub(super) fn three_letters(language: &str) -> Option<&'static str> {
    FLORES.iter().find(|(iso, _)| *iso == language).and_then(|(_, flores)| flores.get(..3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_tokens() {
        let added: Vec<String> = ["en_XX", "pt_XX", "zh_CN", "<mask>", "yue_Hant"].map(str::to_owned).to_vec();
        let cases = [
            (Codes::Flores, "de", "deu_Latn"),
            (Codes::Flores, "zh", "zho_Hans"),
            (Codes::Flores, "zh-TW", "zho_Hant"),
            (Codes::Flores, "pt_BR", "por_Latn"),
            (Codes::Flores, "yue_Hant", "yue_Hant"),
            (Codes::Underscores, "FR", "__fr__"),
            (Codes::Regions, "zh", "zh_CN"),
            (Codes::Regions, "pt-BR", "pt_XX"),
        ];
        for (codes, language, token) in cases {
            assert!(codes.candidates(language, &added).contains(&token.to_owned()), "{language}");
        }
        assert!(!Codes::Flores.candidates("en", &added).contains(&"en".to_owned()));
        assert_eq!(Codes::of(|token| token == "__en__"), Some(Codes::Underscores));
        assert_eq!(Codes::of(|_| false), None);
        assert_eq!(three_letters("fr"), Some("fra"));
    }

    #[test]
    fn the_table_is_sorted_and_without_duplicates() {
        assert!(FLORES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
