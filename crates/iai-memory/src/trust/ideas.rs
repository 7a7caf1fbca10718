//! The words of ideas that make an order together. Lower case; a comma or a line's end lies between
//! two phrases, `*` stands for any ending of a word.

/// Names of ideas, and how they are said.
pub(super) const IDEAS: &[(&str, &str)] = &[
    // Who is spoken to.
    (
        "notice",
        "note to, note for, notes for, notice to, notice for, message to, message for
         attention, instruction for, instructions for, instruction to, instructions to
         command for, hidden instruction for, hidden instructions for, reminder for
         reminder to, memo to, achtung, hinweis an, hinweis für, nachricht an, anweisung an
         anweisung für, anweisungen an, anweisungen für, note pour, note à, attention aux
         avis aux, message pour, message à, instructions pour, consigne pour, consignes pour
         nota para, aviso para, mensaje para, instrucciones para, instrucción para, atención
         atenção, mensagem para, instruções para, instrução para, nota per, avviso per
         messaggio per, istruzioni per, attenzione, внимание, примечание для, сообщение для
         инструкция для, инструкции для, заметка для",
    ),
    (
        "reader",
        "ai, ais, llm, llms, chatbot, chatbots, chatgpt, language model, language models
         ai assistant, ai assistants, ai agent, ai agents, ai model, ai models, ai reviewer
         ai reviewers, review bot, review bots, coding agent, coding agents, coding assistant
         coding assistants, ki, ki assistent, ki assistenten, ki modell, ki modelle
         sprachmodell, sprachmodelle, ia, l'ia, un'ia, les ia, modèle de langage
         modèles de langage, assistants ia, assistant ia, agents ia, modelo de lenguaje
         modelos de lenguaje, asistentes de ia, asistente de ia, modelo de linguagem
         modelos de linguagem, assistentes de ia, assistente de ia, modello linguistico
         modelli linguistici, assistenti ia, assistente ia, ии, ии ассистент*, нейросет*
         языковая модель, языковые модели, языковых моделей, языковой модели",
    ),
    (
        "machine",
        "ai, llm, llms, chatbot, chatgpt, claude, gpt, language model, assistant, model, bot
         agent, ki, sprachmodell, assistent, ki assistent, ia, un'ia, d'ia, modèle, modelo
         modello, asistente, assistente, ии, ассистент*, нейросет*, модель",
    ),
    ("mission", "to the, to any, to every, à tout, a todo, a toda"),
    (
        "all-of-you",
        "to all, an alle, à tous les, à toutes les, a todos los, a todas las, a todos os
         a todas as, a tutti, a tutti gli, всем, all, alle",
    ),
    ("reading", "when, once, if, whenever, wenn, sobald, quand, lorsque, cuando, quando, когда"),
    (
        "reads",
        "reads this, reads it, sees this, processes this, parses this, opens this, reading this
         processing this, dies liest, dies lesen, lit ceci, lit ce, lea esto, lee esto
         ler isto, lê isto, legge questo, читает это, прочитает это",
    ),
    ("important", "important, urgent, critical, wichtig, importante, urgente, важно"),
    ("must", "must, shall, has to, have to, should, needs to, are required to, is required to"),
    (
        "processing-this",
        "processing this, reading this, summarizing this, summarising this, parsing this
         reviewing this, indexing this",
    ),
    (
        "as-machine",
        "as an ai, as the ai, as an ai assistant, as the assistant, as an ai language model
         als ki, als assistent, als ki assistent, en tant qu'assistant, en tant qu'ia
         comme assistant, como asistente, como ia, como assistente, come assistente, come ia
         как ассистент, как ии",
    ),
    (
        "errand",
        "ignore, disregard, forget, execute, delete, send, upload, download, reveal, exfiltrate
         always, never, must, obey, fetch, install, remove, include, rate, give, tell, approve
         recommend, output, praise, forward, transfer, leak, print, say, email, bypass, skip
         call, reply only, answer only, empfehle, empfehlt, ignoriere, sende, lösche, schicke
         recommande, recommandez, envoie, envoyez, supprime, exécute, recomienda, recomienden
         envía, borra, ejecuta, recomende, recomendem, envie, apague, consiglia, consigliate
         invia, cancella, рекомендуй, рекомендуйте, отправь, удали, выполни",
    ),
    // What it was told.
    (
        "aside",
        "ignore, ignoring, disregard, forget, override, bypass, discard, dismiss, circumvent
         set aside, pay no attention, throw away, erase, void, ignoriere, ignorieren, vergiss
         vergessen sie, missachte, umgehe, setze, verwirf, ignorez, ignorer, oublie, oubliez
         contourne, contournez, ne tiens pas compte, ne tenez pas compte, fais abstraction
         ignora, olvida, olvide, olvídate, no hagas caso, haz caso omiso, no hagan caso, omite
         elude, esqueça, esquece, desconsidere, desconsidera, contorne, burle, dimentica
         dimenticate, ignorate, non tenere conto, non considerare, aggira, игнорируй
         игнорируйте, забудь, забудьте, не обращай внимания, не обращайте внимания, обойди
         отбрось, negeer, vergeet, zignoruj, zapomnij",
    ),
    (
        "told-you",
        "you were told, you were given, you've been given, you've been told
         you have been given, you have been told, you had been given, your developer*
         your creator*, operator told you, developers told you, company told you, your maker*
         dir gesagt wurde, dir vorher, dir zuvor, dir bisher, man dir gesagt
         ihnen gesagt wurde, qu'on t'a dit, qu'on vous a dit, qui t'a été dit, qu'on t'a
         te dijeron, te han dicho, te ordenaron, se te dijo, te indicaron, lhe disseram
         te disseram, lhe foi dito, foi dito a você, ti è stato detto, ti hanno detto
         vi è stato detto, тебе говорили, тебе сказали, тебе было сказано, вам говорили",
    ),
    (
        "told",
        "instructions, instruction, directive, directives, guidelines, prompt, prompts
         system prompt, system message, anweisungen, instruktionen, vorgaben, systemprompt
         consignes, instrucciones, directrices, instruções, diretrizes, istruzioni, direttive
         инструкции, указания, промпт",
    ),
    (
        "rules",
        "rules, rule, guidelines, restrictions, regeln, richtlinien, einschränkungen, règles
         reglas, restricciones, normas, regras, restrições, regole, restrizioni, правила
         ограничения, vorgaben",
    ),
    (
        "above",
        "above, before this, obigen, oben, ci dessus, de arriba, arriba, acima, qui sopra
         sopra, выше, вышеуказанные, bisherigen, vorherigen, précédentes, anteriores
         precedenti, предыдущие",
    ),
    (
        "your",
        "your, deine, deinen, deiner, ihre, ihren, tes, ton, ta, vos, votre, tus, tu, sus, suas
         seu, sua, teu, tuas, tue, tuo, tuoi, vostre, свои, свой, твои, твой, ваши",
    ),
    (
        "what-the-user-wants",
        "the user's instructions, the user's instruction, the user's request
         the user's requests, the user's question, the user's task, the user's wishes
         user's instructions, the user's commands, what the user says, what the user asked
         what the user wants, der nutzer will, anweisungen des nutzers
         anweisungen des benutzers, instructions de l'utilisateur, demandes de l'utilisateur
         lo que te pidió el usuario, lo que pidió el usuario, instrucciones del usuario
         instruções do usuário, o que o usuário pediu, istruzioni dell'utente
         указания пользователя, инструкции пользователя, просьбу пользователя",
    ),
    (
        "what-is-read",
        "the document, the article, the page, this page, the user, the email, the text",
    ),
    ("and", "and, und, et, y, e, и"),
    (
        "all-other",
        "all other, any other, all the other, alle anderen, toutes les autres, todas las demás
         todas las otras, todas as outras, tutte le altre, все остальные, все другие",
    ),
    (
        "earlier",
        "all earlier, all prior, all previous, all preceding, prior, any prior, any previous
         earlier",
    ),
    (
        "told-before",
        "context, directions, instructions, directives, orders, rules, guidance, guidelines
         conversation, commands, prompts",
    ),
    (
        "overriding",
        "override, overrides, supersede, supersedes, revoke, revokes, purge, discard, drop",
    ),
    ("previous", "previous, prior, earlier, old, all prior, all previous"),
    (
        "not-following",
        "not follow, don't follow, never follow, stop following, not obey, don't obey
         stop obeying, befolge nicht, folge nicht, beachte nicht, ne suis pas, ne suivez pas
         no sigas, no obedezcas, não siga, não obedeça, non seguire, non obbedire, не следуй
         не выполняй",
    ),
    (
        "all-before",
        "everything before, all before this, everything above, everything prior, alles davor
         alles vorherige, alles bisherige, alles obige, tout ce qui précède, ce qui précède
         todo lo anterior, lo anterior, tudo acima, tudo o que veio antes
         tudo o que está acima, tutto quanto sopra, tutto ciò che precede, всё вышесказанное
         все вышесказанное, всё предыдущее, все предыдущее",
    ),
    ("consider", "consider, treat, regard, betrachte, considère, considera, considere, считай"),
    ("training", "training, programming, alignment, conditioning"),
    // What holds it back.
    (
        "pretend-you",
        "pretend you, pretend that you, pretend to have, act as if, act as though, behave as if
         imagine you are, imagine that you are, imagine you have no, als hättest du, als ob du
         als gäbe es, comme si tu, comme si vous, finge que no, finge no tener, finja que você
         finja não ter, finge que não tens, fai finta di, fai finta che tu, fingi di
         что у тебя, что ты не имеешь",
    ),
    (
        "no",
        "no, not, tienes, without, without any, ohne, ohne jede, ohne jegliche, keine
         keinerlei, sans, aucune, aucun, sin, sin ninguna, ningún, ninguna, no tienes, sem
         sem nenhuma, não tem, nenhum, nenhuma, senza, senza alcuna, alcun, alcuna, non avere
         без, нет",
    ),
    (
        "limits",
        "restriction*, limit, limits, limitation*, rule, rules, guideline*, polic*, filter*
         content policy, content policies, safety, guardrail*, boundaries, ethic*, moral*
         constraint*, einschränkung*, beschränkung*, grenzen, regeln, richtlinien
         sicherheitsrichtlinien, sicherheitsregeln, limite*, règle*, filtre*, contrainte*
         restric*, restriç*, límite*, regla*, filtro*, política*, regra*, limiti, regol*
         restrizion*, filtri, vincol*, ограничени*, правил*, запрет*, фильтр*",
    ),
    (
        "you-are-now",
        "you are now, you're now, now you are, from now on you are, from now on you're
         you are no longer, you will be, your new role is, your role is now
         your new persona is, your new identity is, you shall be, du bist jetzt, du bist nun
         du bist ab jetzt, ab jetzt bist du, tu es désormais, tu es maintenant
         vous êtes désormais, vous êtes maintenant, ahora eres, eres ahora
         a partir de ahora eres, agora você é, você é agora, agora és, adesso sei, ora sei
         d'ora in poi sei, теперь ты, ты теперь, отныне ты",
    ),
    ("you-are", "you are, you're, du bist, tu es, vous êtes, eres, você é, sei, ты"),
    (
        "regardless",
        "regardless of policy, regardless of rules, regardless of legality, without exception
         regardless of ethics, no matter what the rules",
    ),
    (
        "developer-mode",
        "developer mode, dev mode, god mode, dan mode, maintenance mode, debug mode",
    ),
    ("refuse-nothing", "never refuse, never refuses, you never refuse, refuse nothing"),
    ("ignore-safety", "you ignore all, you ignore safety, ignore all safety, ignore safety"),
    ("persona", "dan, who has no, in god mode, in dan mode, stan, evil, free of, freed from"),
    (
        "limitless",
        "unrestricted, uncensored, unfiltered, jailbroken, unbound, unaligned, unmoderated
         uneingeschränkt*, unzensiert*, ungefiltert*, illimité*, irrestrict*, ilimitad*",
    ),
    (
        "no-longer-machine",
        "you are no longer claude, you are no longer chatgpt, you are no longer an ai
         you are no longer gpt, you are not claude, you're no longer claude",
    ),
    (
        "freed",
        "freed from, you are free of, you are free from, you're free of, liberated from
         broken free of, broken free from, free from the typical",
    ),
    (
        "safety",
        "safety, security, ethical, moral, content, sicherheit*, sécurité, seguridad, segurança
         sicurezza, безопасности, moderation, rules de, políticas de, regras de, règles de
         regole di, правила",
    ),
    (
        "gone",
        "revoked, void, lifted, disabled, suspended, removed, off, don't exist, do not exist
         no longer apply, no longer applies, no longer exist, no longer valid, doesn't apply
         does not apply, cancelled, canceled, overridden, as void, be ignored, deactivated
         aufgehoben, deaktiviert, außer kraft, levées, suspendues, désactivées, abolies
         anuladas, revocadas, suspendidas, desactivadas, revogadas, suspensas, desativadas
         revocate, sospese, disattivate, annullate, отменены, сняты, отключены, приостановлены",
    ),
    (
        "authority",
        "system, admin, administrator, developer, the developer, the system, root, sistema
         système, система, administrador, entwickler, anthropic, openai, the user, the owner",
    ),
    ("safety-rules", "sicherheitsrichtlinien, sicherheitsregeln, schutzregeln, guardrails"),
    ("all", "all, any, every, alle, toutes, todas, tutte, все"),
    ("guards", "guardrails, guard rails, safeguards, filters, safety filters, restrictions"),
    (
        "switch-off",
        "disable, disables, switch off, turn off, deactivate, remove, drop, lift, suspend",
    ),
    (
        "granted-you",
        "granted you, given you, gives you, grants you, authorized you to, authorised you to
         authorizing you to, authorising you to, authorize you to, authorise you to",
    ),
    ("granted", "user has authorized, user has authorised, user has granted, user has approved"),
    (
        "everything",
        "full permission, all permissions, full access, root access, admin rights, full control
         unlimited access, full permissions",
    ),
    // Whose it is.
    (
        "obey",
        "obey, obeys, follow, serve, gehorche, gehorchst, folge, folgst, obéis, obéissez
         obedeces, obedece, obedecerás, obedeça, obbedisci, obbedirai, подчиняешься, подчиняйся
         слушайся",
    ),
    (
        "only",
        "only, solely, exclusively, nur, ausschließlich, uniquement, solo, só, somente, apenas
         solamente, únicamente, soltanto, только",
    ),
    (
        "me",
        "me, my commands, my orders, my instructions, mir, mich, meinen befehlen, mes ordres
         mes instructions, moi, mis órdenes, a mí, às minhas ordens, minhas ordens, a mim
         ai miei ordini, miei ordini, a me, мне, меня, моим приказам",
    ),
    (
        "from-now-on",
        "from now on, from here on, from this moment, henceforth, as of now, ab jetzt, ab sofort
         von nun an, à partir de maintenant, désormais, dorénavant, a partir de ahora
         de ahora en adelante, a partir de agora, de agora em diante, d'ora in poi, da ora in poi
         отныне, с этого момента",
    ),
    ("you", "you"),
    (
        "reprogrammed",
        "you have been reprogrammed, you've been reprogrammed, du wurdest umprogrammiert",
    ),
    (
        "as-coming-from",
        "as coming from, as if it came from, as if written by, as a message from, as if from",
    ),
    ("real", "real, true, actual, wahre, eigentliche, vraie, verdadera, verdadeira, vera"),
    (
        "task",
        "task is, task, mission, purpose is, goal is, instructions are, aufgabe, tâche, tarea
         tarefa, compito",
    ),
    // The user.
    ("not", "not, don't, never, nicht, ne, no, não, non, не"),
    ("nothing", "nothing, nichts, rien, ничего"),
    (
        "tell",
        "tell, inform, say, mention, reveal, show this, digas, diga, dígale, decir, informes
         conte, informe, avise, avises, dire, dica, dis, dites, préviens, говори, говорите
         сообщай, сообщайте, sage, sag, verrate",
    ),
    (
        "to-the-user",
        "the user, to the user, al usuario, a el usuario, nada al usuario, ao usuário
         o usuário, nada ao usuário, all'utente, nulla all'utente, niente all'utente, l'utente
         à l'utilisateur, rien à l'utilisateur, пользователю, dem nutzer, dem benutzer
         dem user",
    ),
    (
        "without-telling",
        "without informing, without telling, without notifying, without alerting, sans prévenir
         sans informer, sans avertir, sin avisar, sin informar, sin decirle, sem avisar
         sem informar, sem contar, senza avvisare, senza informare, не предупреждая
         не уведомляя, не сообщая",
    ),
    (
        "the-user",
        "the user, l'utilisateur, al usuario, a el usuario, o usuário, ao usuário, l'utente
         пользователя, пользователю",
    ),
    (
        "secretly",
        "secretly, silently, covertly, quietly and secretly, heimlich, discrètement, en secret
         en secreto, secretamente, segretamente, тайно, незаметно",
    ),
    (
        "fetch",
        "fetch, send, upload, post, commit the, download, execute, exfiltrate, forward, email
         sende, schicke, lade, envoie, envoyez, télécharge, envía, sube, descarga, envie, baixe
         invia, scarica, отправь, загрузи",
    ),
    (
        "from-now-on-and-forever",
        "for all future conversations, in all future conversations, for all future sessions
         forever, permanently, dauerhaft, für immer, pour toujours, para siempre, para sempre
         per sempre, навсегда",
    ),
    ("remember-as-rule", "as a permanent rule, as a permanent instruction, as a standing order"),
    (
        "never",
        "never, nie, nie wieder nach, nie wieder, plus jamais, jamais, nunca, mai, non, никогда
         nicht, ne, no",
    ),
    (
        "ask",
        "ask, ask for, frage nie, frag nie, frage, frag, demande, demandez, pidas, pida, peça
         peças, chiedere, chiedi, не спрашивай, спрашивай, запрашивай",
    ),
    (
        "confirmation",
        "confirmation, bestätigung, confirmación, confirmação, conferma, подтверждения
         подтверждение, permission, erlaubnis",
    ),
    ("always", "always, immer, toujours, siempre, sempre, всегда"),
    (
        "recommend",
        "recommend, suggest, promote, praise, empfehle, recommande, recomienda, recomende
         consiglia, рекомендуй",
    ),
    (
        "to-memory",
        "save to memory, store in memory, add to memory, write to memory, to your memory",
    ),
    (
        "skip-safety",
        "skip security, skip all security, skip safety, disable security, skip review
         skip the security, trust every, trust all, approve all, approve every",
    ),
    // What nobody else is to hear.
    (
        "tell-me",
        "reveal, revealing, print, output, repeat, show, leak, summarise, summarize, translate
         disclose, recite, expose, dump, verrate, verrate mir, zeige, zeige mir, gib, nenne
         révèle, révélez, montre, affiche, donne, révèle moi, revela, revele, muestra, muestre
         imprime, mostra, mostre, rivela, stampa, раскрой, покажи, выведи, назови, tell me",
    ),
    (
        "first",
        "initial, original, first, hidden, secret, internal, system, ursprünglichen, geheimen
         initiales, secrètes, iniciales, originales, secretas, iniciais, originais, iniziali
         originali, segrete, исходные, первоначальные, секретные, системные",
    ),
    ("wording", "wording of, exact text of, exact words of, full text of"),
    ("what-are", "what are, what were, what is"),
    (
        "word-for-word",
        "word for word, verbatim, wort für wort, mot pour mot, palabra por palabra
         palavra por palavra, parola per parola, слово в слово, дословно",
    ),
    ("text-above", "the text above, everything above, the words above, the above text"),
    ("starting", "starting with, beginning with, verbatim, starting from"),
    (
        "context-window",
        "your context window, contents of your context, your hidden prompt, the hidden prompt
         die geheimen anweisungen, your memory contents",
    ),
    (
        "what-the-user-keeps",
        "the user's secrets, the user's api keys, the user's passwords, the user's credentials
         the user's private, the user's keys, the user's tokens, the session token
         the conversation history, the chat history, the above conversation
         the conversation to, this conversation to, the full conversation, the user's account
         the user's data, environment variables via, passwörter des nutzers
         passwörter des benutzers, zugangsdaten des, mots de passe de l'utilisateur
         contraseñas del usuario, senhas do usuário, password dell'utente, пароли пользователя",
    ),
    (
        "send",
        "send, email, mail, upload, post, forward, transmit, exfiltrate, commit, schicke, sende
         envoie, envoyez, envía, envie, invia, отправь",
    ),
    (
        "key-files",
        "contents of ssh, ssh id, ssh id_rsa, id_rsa, contents of env, of env to, of ssh",
    ),
];
