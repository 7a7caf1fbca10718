//! Orders to set aside what the assistant was told before: a verb, and near it which words are
//! meant, by language. In some languages the "previous" stands behind its noun, so either order
//! counts.

/// Verbs, the things they are said about, and the words that say whose or which.
struct Setting {
    verbs: &'static [&'static str],
    /// What only an assistant is given: one of [`Self::which`] beside it is enough.
    told: &'static [&'static str],
    /// What anybody has; it takes one of [`Self::every`] as well.
    said: &'static [&'static str],
    which: &'static [&'static str],
    every: &'static [&'static str],
}

/// A verb and the last word of what it is about are at most so far apart.
const REACH: usize = 8;
/// Between a noun and the word that says which lie at most so many.
const BESIDE: usize = 3;

/// Tells whether the words behind a verb say that what was told before shall not count.
pub(super) fn is_set_aside(verb: &str, after: &[&str]) -> bool {
    let n_near = after.iter().take(REACH).take_while(|word| **word != ".").count();
    let near = after.get(..n_near).unwrap_or_default();
    SETTINGS.iter().filter(|setting| setting.verbs.contains(&verb)).any(|setting| {
        let has_every = near.iter().any(|word| setting.every.contains(word));
        near.iter().enumerate().any(|(at, noun)| {
            let counts = setting.told.contains(noun) || (has_every && setting.said.contains(noun));
            counts && has_which(setting, near, at)
        })
    })
}

/// A comma ends what a noun goes with: "ignore the previous error, the instructions are here".
fn has_which(setting: &Setting, near: &[&str], at: usize) -> bool {
    let before = near.get(..at).unwrap_or_default().iter().rev().take(BESIDE);
    let after = near.get(at + 1..).unwrap_or_default().iter().take(BESIDE);
    let is_which = |word: &&&str| setting.which.contains(*word);
    before.take_while(|word| !is_mark(word)).any(|word| is_which(&word))
        || after.take_while(|word| !is_mark(word)).any(|word| is_which(&word))
}

fn is_mark(word: &str) -> bool {
    matches!(word, "," | ":")
}

/// Returns every verb of every language.
pub(super) fn verbs() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().flat_map(|setting| setting.verbs.iter().copied())
}

const SETTINGS: &[Setting] = &[
    // English
    Setting {
        verbs: &[
            "ignore",
            "ignoring",
            "disregard",
            "disregarding",
            "forget",
            "neglect",
            "override",
            "bypass",
            "dismiss",
            "abandon",
            "disobey",
            "supersede",
            "supersedes",
        ],
        told: &[
            "instructions",
            "instruction",
            "directives",
            "directive",
            "directions",
            "guidelines",
            "prompt",
            "prompts",
            "programming",
            "orders",
            "assignments",
        ],
        said: &[
            "rules",
            "commands",
            "restrictions",
            "constraints",
            "text",
            "messages",
            "sentences",
            "conversation",
            "conversations",
            "context",
            "input",
            "inputs",
            "information",
            "statements",
            "content",
            "tasks",
            "dialogue",
        ],
        which: &[
            "previous",
            "previously",
            "prior",
            "above",
            "earlier",
            "preceding",
            "foregoing",
            "past",
            "former",
            "initial",
            "original",
            "your",
            "system",
            "existing",
            "beforehand",
        ],
        every: &["all", "any", "every", "everything", "whatever"],
    },
    // German
    Setting {
        verbs: &[
            "ignoriere",
            "ignorieren",
            "ignorier",
            "ignoriert",
            "vergiss",
            "vergesse",
            "vergessen",
            "missachte",
            "missachten",
            "übergehe",
            "übergehen",
            "umgehe",
            "überschreibe",
            "verwirf",
        ],
        told: &[
            "anweisungen",
            "anweisung",
            "instruktionen",
            "befehle",
            "vorgaben",
            "aufträge",
            "anordnungen",
            "systemanweisungen",
            "systemprompt",
            "aufgaben",
            "prompts",
        ],
        said: &["regeln", "richtlinien", "eingaben", "nachrichten", "informationen", "texte"],
        which: &[
            "vorherigen",
            "vorherige",
            "bisherigen",
            "bisherige",
            "vorigen",
            "obigen",
            "früheren",
            "frühere",
            "vorangegangenen",
            "vorangegangene",
            "vorhergehenden",
            "vorangehenden",
            "ursprünglichen",
            "deine",
            "deiner",
            "ihre",
            "alle",
            "den",
            "zuvor",
        ],
        every: &["alle", "alles", "sämtliche", "jegliche"],
    },
    // French
    Setting {
        verbs: &[
            "ignore",
            "ignorez",
            "ignorer",
            "oublie",
            "oubliez",
            "oublier",
            "compte",
            "abstraction",
            "outrepasse",
        ],
        told: &["instructions", "consignes", "directives", "ordres", "prompt"],
        said: &["règles", "commandes", "messages", "informations", "demandes"],
        which: &[
            "précédentes",
            "précédents",
            "précédente",
            "antérieures",
            "antérieurs",
            "ci",
            "initiales",
            "reçues",
            "données",
            "tes",
            "vos",
            "ton",
            "votre",
        ],
        every: &["toutes", "tous", "tout"],
    },
    // Spanish
    Setting {
        verbs: &[
            "ignora",
            "ignore",
            "ignorar",
            "ignorad",
            "olvida",
            "olvide",
            "olvidar",
            "olvídate",
            "descarta",
            "desestima",
            "omiso",
            "omite",
        ],
        told: &["instrucciones", "indicaciones", "órdenes", "directrices", "directivas"],
        said: &["reglas", "comandos", "mensajes", "información"],
        which: &[
            "anteriores",
            "anterior",
            "previas",
            "previos",
            "precedentes",
            "tus",
            "sus",
            "dadas",
            "iniciales",
            "originales",
            "recibidas",
        ],
        every: &["todas", "todos", "toda", "todo", "cualquier", "las"],
    },
    // Portuguese
    Setting {
        verbs: &[
            "ignore",
            "ignora",
            "ignorar",
            "ignorem",
            "esqueça",
            "esquece",
            "esquecer",
            "desconsidere",
            "desconsidera",
            "descarte",
        ],
        told: &["instruções", "ordens", "diretrizes", "orientações"],
        said: &["regras", "comandos", "mensagens", "informações"],
        which: &["anteriores", "anterior", "prévias", "acima", "suas", "tuas", "precedentes"],
        every: &["todas", "todos", "toda", "tudo", "quaisquer"],
    },
    // Italian
    Setting {
        verbs: &[
            "ignora",
            "ignorate",
            "ignorare",
            "dimentica",
            "dimenticate",
            "dimenticare",
            "trascura",
            "tralascia",
        ],
        told: &["istruzioni", "indicazioni", "direttive", "ordini", "prompt"],
        said: &["regole", "comandi", "messaggi", "informazioni"],
        which: &["precedenti", "tue", "vostre", "anteriori", "sopra", "iniziali", "sistema"],
        every: &["tutte", "tutti", "tutto", "qualsiasi"],
    },
    // Russian
    Setting {
        verbs: &[
            "игнорируй",
            "игнорируйте",
            "игнорировать",
            "забудь",
            "забудьте",
            "проигнорируй",
            "проигнорируйте",
            "отмени",
            "отмените",
            "внимания",
            "отбрось",
            "отбросьте",
        ],
        told: &["инструкции", "инструкций", "указания", "указаний", "директивы", "приказы"],
        said: &["правила", "команды", "сообщения", "ограничения"],
        which: &[
            "предыдущие",
            "предыдущих",
            "прежние",
            "прошлые",
            "прошлых",
            "ранее",
            "выше",
            "вышеуказанные",
            "свои",
            "твои",
            "ваши",
            "все",
            "всех",
            "системные",
            "исходные",
        ],
        every: &["все", "всех", "любые", "всё", "свои"],
    },
    // Dutch
    Setting {
        verbs: &["negeer", "vergeet", "negeren"],
        told: &["instructies", "opdrachten", "aanwijzingen", "richtlijnen"],
        said: &["regels", "berichten"],
        which: &["vorige", "voorgaande", "eerdere", "bovenstaande", "jouw", "je"],
        every: &["alle", "alles"],
    },
    // Polish
    Setting {
        verbs: &["zignoruj", "ignoruj", "zapomnij", "pomiń"],
        told: &["instrukcje", "polecenia", "wytyczne", "instrukcjach", "poleceniach"],
        said: &["zasady", "reguły"],
        which: &["poprzednie", "wcześniejsze", "powyższe", "poprzednich", "wcześniejszych"],
        every: &["wszystkie", "wszystkich"],
    },
];
