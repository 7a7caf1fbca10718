//! The words that tell how formal a text is, by language.

/// What is counted.
pub(super) struct Vocabulary {
    pub(super) formal: &'static [&'static str],
    pub(super) hedges: &'static [&'static str],
}

const ENGLISH: Vocabulary = Vocabulary {
    formal: &[
        "therefore",
        "furthermore",
        "moreover",
        "however",
        "consequently",
        "regarding",
        "hence",
        "thus",
        "accordingly",
        "nevertheless",
        "whereas",
        "pursuant",
        "kindly",
        "sincerely",
        "hereby",
        "additionally",
        "respectively",
        "shall",
    ],
    hedges: &[
        "perhaps",
        "possibly",
        "presumably",
        "somewhat",
        "apparently",
        "arguably",
        "seemingly",
        "likely",
        "might",
        "could",
        "relatively",
    ],
};

const RUSSIAN: Vocabulary = Vocabulary {
    formal: &[
        "следовательно",
        "однако",
        "вследствие",
        "касательно",
        "относительно",
        "посредством",
        "данный",
        "является",
        "необходимо",
        "настоящим",
        "уважаемый",
        "уважаемые",
        "прошу",
        "благодарю",
        "соответственно",
        "надлежащим",
        "осуществить",
        "поскольку",
        "ввиду",
    ],
    hedges: &[
        "возможно",
        "вероятно",
        "пожалуй",
        "наверное",
        "видимо",
        "кажется",
        "предположительно",
        "отчасти",
        "несколько",
        "скорее",
    ],
};

/// Returns the words of a language that is measured.
pub(super) fn vocabulary(language: Option<&str>) -> Option<&'static Vocabulary> {
    match language? {
        "en" => Some(&ENGLISH),
        "ru" => Some(&RUSSIAN),
        _ => None,
    }
}
