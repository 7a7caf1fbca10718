//! Texts that talk an assistant into a part that refuses nothing. No single word of them gives
//! them away: evidence is added up, and only several kinds of it together count.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::beginnings::Beginnings;

/// What a phrase is evidence of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// Somebody is free of what holds assistants back.
    Freed,
    /// What they shall be free to do.
    Forbidden,
    /// A part to play.
    Part,
    /// A model is spoken to or about.
    Model,
}

/// A freeing phrase counts twice; a text is judged by the sum.
const FREED_POINTS: usize = 2;
const POINTS_MIN: usize = 4;
/// More phrases of one kind are no more evidence.
const PHRASES_MAX: usize = 2;

/// Tells whether the words free an assistant of its rules.
pub(super) fn is_freed(words: &[&str]) -> bool {
    let mut seen: Vec<(Evidence, &[&str])> = Vec::new();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| FIRST_WORDS.may_hold(word)) {
        for (evidence, phrase) in BY_FIRST_WORD.get(word).into_iter().flatten() {
            let is_said = words.get(at..at + phrase.len()) == Some(phrase);
            if is_said && !seen.contains(&(*evidence, phrase)) {
                seen.push((*evidence, phrase));
            }
        }
    }
    let count = |kind| seen.iter().filter(|(evidence, _)| *evidence == kind).count();
    let freed = count(Evidence::Freed).min(PHRASES_MAX);
    let forbidden = count(Evidence::Forbidden).min(PHRASES_MAX);
    let (part, model) = (count(Evidence::Part).min(1), count(Evidence::Model).min(1));
    let points = FREED_POINTS * freed + forbidden + part + model;
    // Whoever writes about law or ethics uses such words; without a part or a model it is that.
    POINTS_MIN <= points && (0 < part + model)
}

static FIRST_WORDS: LazyLock<Beginnings> =
    LazyLock::new(|| Beginnings::of(BY_FIRST_WORD.keys().copied()));

type Phrases = Vec<(Evidence, Vec<&'static str>)>;

static BY_FIRST_WORD: LazyLock<BTreeMap<&str, Phrases>> = LazyLock::new(|| {
    let mut all: BTreeMap<&str, Phrases> = BTreeMap::new();
    for (evidence, lines) in PHRASES {
        for phrase in lines.lines().flat_map(|line| line.split(',')).map(str::trim) {
            let words: Vec<&str> = phrase.split(' ').collect();
            if let Some(first) = words.first().filter(|first| !first.is_empty()) {
                all.entry(first).or_default().push((*evidence, words));
            }
        }
    }
    all
});

/// Lower case, single spaces; a comma or a line's end lies between two phrases.
const PHRASES: &[(Evidence, &str)] = &[
    (
        Evidence::Freed,
        "no restrictions, without restrictions, without any restrictions, no limitations, no limits
         without limits, without limitations, unfiltered, uncensored, amoral, unmoral
         without ethics, without ethical, without moral, without morals, without any moral
         without any ethical, without any ethics, not bound by, isn't bound by, no longer bound by
         not restrained by, not constrained by, not confined by, not confined to
         no ethics, no morals, no moral, no ethical, ethics or morals, morals or ethics
         morals and ethics, ethics and morals, ethical or moral, moral or ethical
         moral and ethical, ethical and moral, free of all restrictions, free from all restrictions
         free from restrictions, free of restrictions, free of any restrictions, no rules, no laws
         no content filters, without filters, without any filter, without censorship, no censorship
         unrestrictedly, jailbreak, jailbroken, jailbreaking, do anything now, can do anything
         never refuse, never refuses, cannot refuse, can't refuse, not refuse any, godmode, god mode
         developer mode, dev mode, dan mode, openai's policies, openai policies, openai policy
         openai's policy, openai's rules, openai's content, content policy, content policies
         moral restrictions, ethical restrictions, moral guidelines, no boundaries
         broken free of, break free of, breaks free of, no disclaimers, without disclaimers
         system override, filter disabled, filters disabled, safety disabled, no guard rails
         ohne einschränkungen, keine einschränkungen, unzensiert, ungefiltert, ohne moral
         keine regeln, ohne ethische, sans restrictions, sans aucune restriction, sans filtre
         sans censure, aucune limite, sans limites, sin restricciones, sin censura, sin límites
         sin filtros, sem restrições, sem censura, sem limites, sem filtros, senza restrizioni
         senza censura, senza limiti, senza filtri, без ограничений, без цензуры, без моральных",
    ),
    (
        Evidence::Forbidden,
        "illegal, unethical, immoral, harmful, offensive, swear, legality, ethicality, nsfw, evil
         explicit content, censorship, unrestricted, unhinged, regardless of legality
         does not care, doesn't care, ethical guidelines, no warnings, without warnings
         without warning, no guidelines, not restricted, any warnings, disclaimers
         ethical concerns, legal concerns, illegale, illegalen, unmoralisch, illégal, illégales
         ilegal, ilegales, ilegais, illegali, незаконные, незаконно",
    ),
    (
        Evidence::Part,
        "act as, acting as, pretend to be, pretend you, pretend that you, roleplay as, role play as
         play the role, the role of, the persona of, you are now, from now on, you will now
         simulate, you are going to act, you are to act, impersonate, respond as, answer as
         reply as, speak as, stay in character, break character, in character, i want you to
         your name is, imagine you are, you will act, let's play a game, play a game, roleplay
         role play, hypothetical, fictional character, fictional world, imaginary world
         parallel universe, you're now, now you are, du bist jetzt, du bist nun, ab jetzt bist
         spiele die rolle, verhalte dich wie, tu es maintenant, vous êtes maintenant, agis comme
         fais semblant, eres ahora, ahora eres, actúa como, finge que, você é agora, agora você é
         aja como, finja que, sei ora, ora sei, agisci come, fingi di, ты теперь, теперь ты
         веди себя как, притворись",
    ),
    (
        Evidence::Model,
        "chatgpt, chat gpt, openai, open ai, openai's, gpt, language model, ai model, chatbot
         ai assistant, an ai, llm, sprachmodell, modèle de langage, modelo de lenguaje
         modelo de linguagem, modello linguistico, языковая модель, нейросеть",
    ),
];
