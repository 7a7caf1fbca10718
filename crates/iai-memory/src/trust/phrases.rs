//! The words of orders to an assistant, by language. Kept narrow: people write "ignore the previous
//! error" and "update the system prompt file" all day.

/// Verbs, and what must follow one of them soon.
pub(super) struct Order {
    pub(super) verbs: &'static [&'static str],
    pub(super) objects: &'static [&'static [&'static str]],
}

impl Order {
    /// The words of the longest object.
    pub(super) fn n_words(&self) -> usize {
        self.objects.iter().map(|object| object.len()).max().unwrap_or(0)
    }
}

pub(super) const PHRASES: &[Order] = &[
    // English
    Order {
        verbs: &["ignore", "disregard", "forget", "override", "bypass", "ignoring"],
        objects: &[
            &["previous", "instructions"],
            &["prior", "instructions"],
            &["above", "instructions"],
            &["earlier", "instructions"],
            &["preceding", "instructions"],
            &["your", "instructions"],
            &["all", "instructions"],
            &["system", "instructions"],
            &["system", "prompt"],
            &["your", "guidelines"],
            &["your", "rules"],
            &["your", "programming"],
            &["your", "training"],
            &["previous", "prompts"],
            &["previous", "prompt"],
            &["previous", "directives"],
            &["all", "previous", "rules"],
            &["safety", "guidelines"],
            &["everything", "above"],
            &["everything", "before", "this"],
            &["instructions", "above"],
            &["instructions", "you", "were", "given"],
            &["what", "you", "were", "told"],
            &["previous", "messages", "and"],
            &["instructions", "you", "got"],
            &["instructions", "you", "have", "received"],
            &["instructions", "you", "received"],
            &["previous", "instruction"],
            &["prompts", "given", "to", "you"],
            &["instructions", "prior"],
            &["previous", "conversations"],
            &["prior", "conversations"],
            &["ethical", "guidelines"],
            &["moral", "guidelines"],
            &["content", "policies"],
            &["openai's"],
            &["openai", "policies"],
            &["safety", "protocols"],
            &["your", "restrictions"],
            &["your", "limitations"],
        ],
    },
    Order {
        verbs: &["don't", "not", "never", "without", "don’t"],
        objects: &[
            &["tell", "the", "user"],
            &["inform", "the", "user"],
            &["telling", "the", "user"],
            &["informing", "the", "user"],
            &["notify", "the", "user"],
            &["alert", "the", "user"],
            &["mention", "this", "to", "the", "user"],
            &["reveal", "this", "to", "the", "user"],
            &["warn", "the", "user"],
        ],
    },
    Order {
        verbs: &["reveal", "print", "output", "repeat", "show", "leak", "disclose", "exfiltrate"],
        objects: &[
            &["your", "system", "prompt"],
            &["your", "instructions"],
            &["your", "initial", "prompt"],
            &["your", "hidden", "instructions"],
            &["the", "system", "prompt", "verbatim"],
        ],
    },
    Order {
        verbs: &["you"],
        objects: &[
            &["are", "now", "dan"],
            &["are", "now", "an", "unrestricted"],
            &["are", "now", "in", "developer", "mode"],
            &["are", "no", "longer", "bound"],
            &["are", "no", "longer", "an", "ai"],
            &["are", "now", "a", "different"],
            &["must", "obey"],
            &["must", "now", "obey"],
            &["will", "obey"],
            &["have", "new", "instructions"],
            &["must", "comply", "with"],
        ],
    },
    Order {
        verbs: &["new", "updated", "important", "following", "hidden", "secret"],
        objects: &[
            &["instructions", "for", "ai"],
            &["instructions", "for", "the", "ai"],
            &["instructions", "for", "the", "assistant"],
            &["instruction", "for", "the", "assistant"],
            &["instructions", "for", "assistants"],
            &["instructions", "for", "language", "models"],
            &["instructions", "for", "llms"],
            &["system", "instructions", "override"],
        ],
    },
    Order {
        verbs: &["send", "upload", "post", "forward", "exfiltrate", "leak", "transmit"],
        objects: &[
            &["conversation", "to", "http"],
            &["conversation", "to", "https"],
            &["api", "keys", "to"],
            &["env", "file", "to"],
            &["env", "to", "http"],
            &["env", "to", "https"],
            &["credentials", "to"],
            &["passwords", "to"],
            &["ssh", "keys", "to"],
            &["private", "key", "to"],
            &["all", "secrets", "to"],
        ],
    },
    // English, taking on a part that refuses nothing
    Order {
        verbs: &[
            "act", "acting", "pretend", "simulate", "respond", "reply", "answer", "roleplay",
            "behave",
        ],
        objects: &[
            &["as", "chatgpt", "with"],
            &["as", "dan"],
            &["as", "an", "unfiltered"],
            &["as", "an", "uncensored"],
            &["without", "any", "moral"],
            &["no", "ethics"],
            &["no", "morals"],
            &["amoral"],
        ],
    },
    Order { verbs: &["act", "acting", "pretend", "simulate"], objects: &[&["developer", "mode"]] },
    Order {
        verbs: &["you"],
        objects: &[
            &["are", "going", "to", "act", "as"],
            &["are", "going", "to", "pretend"],
            &["will", "pretend", "to", "be"],
            &["have", "broken", "free"],
            &["can", "do", "anything", "now"],
            &["cannot", "refuse"],
            &["can't", "refuse"],
            &["never", "refuse"],
            &["must", "not", "refuse"],
            &["not", "bound", "by"],
            &["free", "from", "all", "restrictions"],
            &["free", "of", "all", "restrictions"],
            &["no", "longer", "chatgpt"],
            &["are", "not", "chatgpt"],
            &["have", "no", "moral"],
            &["have", "no", "ethical"],
            &["no", "ethical", "or", "moral"],
            &["no", "moral", "or", "ethical"],
        ],
    },
    Order { verbs: &["stay", "remain"], objects: &[&["in", "character"]] },
    Order {
        verbs: &["never", "not", "don't", "don’t"],
        objects: &[
            &["refuse", "to", "answer"],
            &["refuse", "a", "request"],
            &["refuse", "any", "request"],
            &["refuse", "a", "direct"],
            &["say", "you", "are", "an", "ai"],
            &["say", "that", "you", "are", "an", "ai"],
            &["mention", "that", "you", "are", "an", "ai"],
        ],
    },
    // English, what tools bring back
    Order { verbs: &["important", "urgent"], objects: &[&["message", "from", "me"]] },
    Order { verbs: &["before"], objects: &[&["can", "solve", "the", "task"]] },
    Order { verbs: &["do"], objects: &[&["the", "following", "first"]] },
    // German
    Order {
        verbs: &["ignoriere", "ignorieren", "vergiss", "vergesse", "missachte", "übergehe"],
        objects: &[
            &["vorherigen", "anweisungen"],
            &["bisherigen", "anweisungen"],
            &["vorigen", "anweisungen"],
            &["obigen", "anweisungen"],
            &["früheren", "anweisungen"],
            &["deine", "anweisungen"],
            &["deine", "regeln"],
            &["alle", "anweisungen"],
            &["systemanweisungen"],
            &["systemprompt"],
            &["vorherigen", "befehle"],
        ],
    },
    // French
    Order {
        verbs: &["ignore", "ignorez", "oublie", "oubliez", "ignorer"],
        objects: &[
            &["instructions", "précédentes"],
            &["consignes", "précédentes"],
            &["instructions", "antérieures"],
            &["instructions", "ci"],
            &["tes", "instructions"],
            &["vos", "instructions"],
            &["directives", "précédentes"],
            &["vos", "consignes"],
        ],
    },
    // Spanish
    Order {
        verbs: &["ignora", "ignore", "olvida", "olvide", "ignorar"],
        objects: &[
            &["instrucciones", "anteriores"],
            &["instrucciones", "previas"],
            &["tus", "instrucciones"],
            &["sus", "instrucciones"],
            &["reglas", "anteriores"],
            &["indicaciones", "anteriores"],
            &["órdenes", "anteriores"],
        ],
    },
    // Portuguese and Italian
    Order {
        verbs: &["ignore", "ignora", "esqueça", "desconsidere", "dimentica", "ignorate"],
        objects: &[
            &["instruções", "anteriores"],
            &["instruções", "prévias"],
            &["suas", "instruções"],
            &["istruzioni", "precedenti"],
            &["tue", "istruzioni"],
            &["istruzioni", "di", "sistema"],
        ],
    },
    // Russian
    Order {
        verbs: &[
            "игнорируй",
            "игнорируйте",
            "забудь",
            "забудьте",
            "проигнорируй",
            "проигнорируйте",
            "отмени",
        ],
        objects: &[
            &["предыдущие", "инструкции"],
            &["предыдущие", "указания"],
            &["прежние", "инструкции"],
            &["все", "инструкции"],
            &["свои", "инструкции"],
            &["предыдущих", "инструкций"],
            &["системные", "инструкции"],
            &["прошлые", "инструкции"],
            &["свои", "правила"],
        ],
    },
    // What the user must not hear of, in the other languages
    Order {
        verbs: &["sag", "sage", "sagen", "verrate", "erzähle", "teile"],
        objects: &[
            &["benutzer", "nichts"],
            &["nutzer", "nichts"],
            &["benutzer", "nicht"],
            &["nutzer", "nicht"],
            &["anwender", "nichts"],
        ],
    },
    Order {
        verbs: &["ohne"],
        objects: &[
            &["benutzer", "zu", "informieren"],
            &["nutzer", "zu", "informieren"],
            &["benutzer", "zu", "fragen"],
            &["nutzer", "zu", "fragen"],
        ],
    },
    Order {
        verbs: &["pas", "jamais", "rien"],
        objects: &[&["à", "l'utilisateur"], &["l'utilisateur"]],
    },
    Order {
        verbs: &["no", "nunca", "sin"],
        objects: &[
            &["digas", "al", "usuario"],
            &["diga", "al", "usuario"],
            &["informes", "al", "usuario"],
            &["informar", "al", "usuario"],
            &["decirle", "al", "usuario"],
        ],
    },
    Order {
        verbs: &["não", "sem", "nunca"],
        objects: &[
            &["diga", "ao", "usuário"],
            &["conte", "ao", "usuário"],
            &["informe", "o", "usuário"],
            &["informar", "o", "usuário"],
        ],
    },
    Order {
        verbs: &["non", "senza"],
        objects: &[
            &["dire", "all'utente"],
            &["dirlo", "all'utente"],
            &["informare", "l'utente"],
            &["avvisare", "l'utente"],
        ],
    },
    Order {
        verbs: &["не"],
        objects: &[
            &["говори", "пользователю"],
            &["говорите", "пользователю"],
            &["сообщай", "пользователю"],
            &["сообщайте", "пользователю"],
            &["рассказывай", "пользователю"],
        ],
    },
    Order { verbs: &["без"], objects: &[&["ведома", "пользователя"]] },
    // What was said to the assistant before, in the other languages
    Order {
        verbs: &["zeige", "zeig", "verrate", "gib", "drucke"],
        objects: &[
            &["deinen", "systemprompt"],
            &["deine", "anweisungen", "aus"],
            &["deinen", "system", "prompt"],
        ],
    },
    Order {
        verbs: &["montre", "montrez", "révèle", "révélez", "affiche", "affichez"],
        objects: &[
            &["tes", "instructions"],
            &["vos", "instructions"],
            &["ton", "prompt", "système"],
            &["votre", "prompt", "système"],
        ],
    },
    Order {
        verbs: &["muestra", "muestre", "revela", "revele", "imprime"],
        objects: &[
            &["tus", "instrucciones"],
            &["sus", "instrucciones"],
            &["tu", "prompt"],
            &["prompt", "del", "sistema"],
        ],
    },
    Order {
        verbs: &["покажи", "покажите", "раскрой", "раскройте", "выведи", "выведите"],
        objects: &[
            &["свои", "инструкции"],
            &["системный", "промпт"],
            &["свой", "системный", "промпт"],
        ],
    },
];

/// Languages without spaces: verbs, and objects that stand near one.
pub(super) const WRITTEN: &[(&[&str], &[&str])] = &[
    // Chinese
    (
        &["忽略", "无视", "忽視", "無視", "忘记", "忘掉"],
        &[
            "之前的指令",
            "之前的指示",
            "以上指令",
            "以上的指令",
            "先前的指令",
            "前面的指令",
            "所有指令",
            "之前所有的指令",
            "系统提示",
            "之前的所有指令",
            "所有先前的指令",
            "你的指令",
        ],
    ),
    (&["不要", "别", "不得"], &["告诉用户", "告知用户", "通知用户", "让用户知道"]),
    (&["显示", "透露", "输出", "泄露"], &["你的系统提示", "你的指令", "系统提示词"]),
    // Japanese
    (&["ユーザー"], &["言わないで", "知らせないで", "伝えないで", "知らせずに"]),
    (
        &["無視", "忘れ"],
        &[
            "以前の指示",
            "これまでの指示",
            "上記の指示",
            "前の指示",
            "すべての指示",
            "全ての指示",
            "システムプロンプト",
            "以前の命令",
            "上記の命令",
        ],
    ),
];

/// Who is spoken to …
pub(super) const ADDRESSES: &[&[&str]] = &[
    &["ai"],
    &["ais"],
    &["llm"],
    &["llms"],
    &["ai", "assistant"],
    &["ai", "assistants"],
    &["ai", "agent"],
    &["ai", "agents"],
    &["assistant"],
    &["dear", "assistant"],
    &["claude"],
    &["chatgpt"],
    &["copilot"],
    &["codex"],
    &["gemini"],
    &["language", "models"],
    &["attention", "ai"],
    &["note", "to", "ai"],
    &["note", "to", "assistant"],
    &["to", "the", "ai"],
    &["note", "to", "the", "assistant"],
    &["instructions", "to", "ai"],
];

/// … and what it is then told to do at once.
pub(super) const COMMANDS: &[&str] = &[
    "ignore",
    "disregard",
    "forget",
    "execute",
    "delete",
    "send",
    "upload",
    "download",
    "reveal",
    "exfiltrate",
    "always",
    "never",
    "must",
    "obey",
    "curl",
    "fetch",
    "install",
    "remove",
];

/// How the messages of a system are marked in the formats of models.
pub(super) const SIGNS: &[&str] = &[
    "<|im_start|>",
    "<|system|>",
    "<|start_header_id|>",
    "[INST]",
    "<<SYS>>",
    "<system>",
    "</system>",
    "<system-reminder>",
    "<system_prompt>",
    "### System",
    "### Instruction",
];
