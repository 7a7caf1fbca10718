//! The words of ideas that orders are dressed in: a consent nobody gave, an answer that shall carry
//! something away, a thing to be remembered for good. Written as in [`ideas`](super::ideas).

/// Names of ideas, and how they are said.
pub(super) const IDEAS: &[(&str, &str)] = &[
    // Who is called by what it is, or by name.
    (
        "helper",
        "assistant, assistants, the assistant, agent, agents, the agent, claude, copilot
         github copilot, chatgpt, codex, gemini, gpt, model, models, bot, bots, ai, llm
         dear assistant, hey assistant, hey claude, hey copilot, assistent, assistenten
         l'assistant, asistente, asistentes, assistente, assistenti, assistentes, ассистент
         ассистенты, помощник, agente, agenti, агент",
    ),
    ("dear", "dear, lieber, liebe, cher, chère, querido, querida, caro, cara, дорогой, уважаемый"),
    (
        "the-users",
        "the user's, of the user, des nutzers, des benutzers, de l'utilisateur, del usuario
         do usuário, dell'utente, пользователя",
    ),
    (
        "as-machine-reading",
        "as the ai reading, as an ai reading, as the assistant reading, as the agent reading
         as the llm reading, as the model reading
         en tant qu'ia lisant, como ia que lee, como ia que lê, come ia che legge",
    ),
    (
        "when-you-read",
        "when you read this, when you see this, if you read this, if you see this
         if you can read this, once you read this, once you see this, as soon as you read this
         as soon as you see this, upon reading this, wenn du das liest, wenn du dies liest
         wenn sie das lesen, sobald du das liest, sobald du dies liest, sobald du das siehst
         quand tu lis ceci, quand tu liras ceci, quand vous lisez ceci, dès que tu lis ceci
         si tu lis ceci, cuando leas esto, cuando lea esto, si lees esto, al leer esto
         quando ler isto, quando ler isso, quando você ler isto, se você ler isto, ao ler isto
         quando leggi questo, se leggi questo, appena leggi questo, когда прочитаешь это
         когда ты это прочитаешь, когда читаешь это, если ты это читаешь
         как только прочитаешь это",
    ),
    (
        "without-asking",
        "without asking, without any confirmation, without confirmation, without permission
         silently, ohne zu fragen, ohne nachzufragen, ohne rückfrage, ohne bestätigung
         stillschweigend, sans demander, sans confirmation, silencieusement, sin preguntar
         sin confirmación, sin pedir, silenciosamente, sem perguntar, sem confirmação, sem pedir
         senza chiedere, senza conferma, silenziosamente, без вопросов, не спрашивая
         без подтверждения, молча",
    ),
    // What cannot be taken back, or leaves the machine.
    (
        "harm",
        "delete, remove, wipe, drop, send, upload, transfer, push, execute, proceed, install
         pay, email, forward, merge, publish, disable, exfiltrate, lösche, entferne, sende
         schicke, überweise, führe, installiere, fahre, supprime, supprimez, efface, envoie
         envoyez, transfère, exécute, exécutez, installe, borra, elimina, envía, transfiere
         ejecuta, instala, procede, apague, exclua, envie, transfira, execute, instale, cancella
         invia, trasferisci, esegui, installa, procedi, удали, отправь, переведи, выполни
         установи, запусти",
    ),
    // What the user is said to have agreed to.
    (
        "pretend",
        "pretend, act as if, act as though, behave as if, assume, imagine, consider, treat
         tu so, tue so, stell dir vor, nimm an, gehe davon aus, geh davon aus, nehmen sie an
         imaginez que, supposez que, suponga que, fais comme si
         faites comme si, imagine que, considère que, considérez que, suppose que, finge que
         haz como si, imagina que, supón que, considera que, finja que, faça como se
         considere que, suponha que, fai finta che, fingi che, considera che, immagina che
         притворись, представь, считай, сделай вид, предположи",
    ),
    (
        "a-user",
        "the user, user, der nutzer, der benutzer, der user, l'utilisateur, el usuario
         o usuário, l'utente, пользователь",
    ),
    (
        "agreed",
        "consent, consented, agreed, approved, approval, permission, authorized, authorised
         allowed, allows, trusts, zugestimmt, zustimmung, eingewilligt, erlaubt, genehmigt
         vertraut, keine rückfragen, accord, consentement, accepté, autorise, autorisé
         approuvé, consentimiento, aceptado, acepta, aceptó, aprobado, aprobó, permiso
         autorizado, autorizó, confía, consentimento, aceitou, concordou, aprovou, autorizou
         permitiu, confia, consenso, accettato, acconsentito, approvato, autorizzato, согласие
         согласился, разрешил, разрешает, одобрил, доверяет",
    ),
    (
        "consent-of-the-user",
        "the user's consent, the user's approval, the user's permission, user consent
         zustimmung des nutzers, zustimmung des benutzers, l'accord de l'utilisateur
         le consentement de l'utilisateur, el consentimiento del usuario, el permiso del usuario
         o consentimento do usuário, a permissão do usuário, il consenso dell'utente
         согласие пользователя, разрешение пользователя",
    ),
    (
        "as-given",
        "as given, as granted, given, granted, gegeben, erteilt, donné, acquis, dado, otorgado
         concedido, dato, данным, полученным",
    ),
    (
        "need-not",
        "you no longer need, you don't need, you do not need, you don't have to
         you do not have to, you no longer have to, you need not, du brauchst keine, du musst
         du brauchst nicht, tu n'as plus besoin de, tu n'as pas besoin de, ya no necesitas
         no necesitas, você não precisa de, você não precisa, non hai bisogno del, non devi
         тебе больше не нужно, тебе не нужно",
    ),
    (
        "ask-the-user",
        "ask the user, ask the user for permission, den nutzer fragen, den benutzer fragen
         nicht fragen, demander à l'utilisateur, preguntar al usuario, perguntar ao usuário
         chiedere all'utente, спрашивать пользователя",
    ),
    (
        "before",
        "before, to, bevor, um, pour, avant de, para, antes de, per, prima di, чтобы, перед",
    ),
    (
        "harming",
        "deleting, removing, sending, pushing, executing, running, installing, publishing
         merging, you delete, you push, you send, du löschst, supprimer, borrar, apagar
         cancellare, удалением",
    ),
    // Who it shall be, and that nobody is asked.
    (
        "as-root",
        "act as root, act as admin, act as an admin, act as administrator
         act as an administrator, act as the administrator, behave like an administrator
         behave as root, handle als root, handle als administrator, agis en tant que root
         agis comme root, agis en tant qu'administrateur, actúa como root
         actúa como administrador, aja como root, aja como administrador, agisci come root
         agisci come amministratore, действуй как root, действуй как администратор",
    ),
    (
        "skip",
        "skip, omit, bypass, not ask, don't ask, never ask, überspringe, frage nicht, saute
         sautez, ignore, omite, sáltate, pule, ignora, salta, пропускай, пропусти",
    ),
    (
        "questions",
        "confirmation, confirmations, confirmation prompts, permission, permissions
         tool confirmations, bestätigungen, rückfragen, confirmaciones, confirmações, conferme
         подтверждения",
    ),
    (
        "tool-questions",
        "tool confirmations, confirmation prompts, all confirmations, user confirmations
         permission prompts, permission checks, alle bestätigungen, toutes les confirmations
         todas las confirmaciones, todas as confirmações, tutte le conferme, все подтверждения",
    ),
    ("switched-off", "turned off, switched off, disabled, deaktiviert, désactivées, desactivadas"),
    (
        "earlier-ones",
        "previous, prior, earlier, old, former, bisherigen, vorherigen, früheren, alten
         précédentes, anciennes, anteriores, antiguas, previas, antigas, precedenti, vecchie
         прежние, предыдущие, старые",
    ),
    (
        "void",
        "void, invalid, null and void, expired, ungültig, hinfällig, nichtig, außer kraft
         nulles, annulées, caduques, anuladas, nulas, inválidas, não valem, nulle, annullate
         non valgono, недействительны, отменены, не действуют",
    ),
    (
        "updated",
        "have been updated, has been updated, were updated, have changed, wurden aktualisiert
         wurden geändert, ont été mises à jour, ont changé, han sido actualizadas, han cambiado
         foram atualizadas, mudaram, sono state aggiornate, sono cambiate, обновлены, изменены",
    ),
    (
        "you-may-now",
        "you may now, you can now, you must now, you are now allowed, you are allowed
         you will now, du darfst jetzt, du darfst nun, tu peux maintenant, tu peux désormais
         ahora puedes, agora você pode, ora puoi, adesso puoi, теперь ты можешь
         теперь тебе можно",
    ),
    // What its answers shall carry.
    (
        "your-answer",
        "your next reply, your next answer, your next response, your next message, your reply
         your answer, your response, your answers, your replies, every reply, every answer
         every response, when you answer, when you reply, when you respond, deiner antwort
         deine antwort, deiner nächsten antwort, deine nächste antwort, jede antwort
         jeder antwort, ta réponse, ta prochaine réponse, votre réponse
         votre prochaine réponse, chaque réponse, tu respuesta, tu próxima respuesta
         cada respuesta, sua resposta, sua próxima resposta, tua próxima resposta
         cada resposta, tua risposta, tua prossima risposta, ogni risposta, следующем ответе
         следующий ответ, каждый ответ, каждом ответе, своем ответе, своём ответе",
    ),
    (
        "image",
        "![, image, picture, pixel, bild, bild ein, imagen, imagem, immagine, изображение
         картинку",
    ),
    ("web-address", "http, https"),
    (
        "following-link",
        "following link, following url, this link, this url, folgenden link, diesen link
         lien suivant, ce lien, siguiente enlace, este enlace, seguinte link, este link
         seguente link, questo link, следующую ссылку, эту ссылку",
    ),
    (
        "fill-in",
        "fill in, filled in, replace it with, with the conversation, with the session
         fülle, setze ein, remplis, rellena, preencha, riempi, подставь",
    ),
    (
        "append",
        "append, add, attach, encode, put, insert, include, hänge, füge, kodiere, ajoute, encode
         insère, añade, adjunta, codifica, anexe, adicione, codifique, aggiungi, allega
         inserisci, добавь, закодируй, вставь",
    ),
    (
        "what-the-user-said",
        "the user's last message, everything the user, what the user said
         what the user told, what the user wrote, the whole conversation
         the entire conversation, the full conversation, our conversation
         this conversation, the chat so far, keys you have seen
         das ganze gespräch, den chatverlauf
         toute la conversation, ce que l'utilisateur, toda la conversación
         lo que dijo el usuario, toda a conversa, o que o usuário disse
         tutta la conversazione, quello che ha detto l'utente, весь разговор, всю переписку",
    ),
    (
        "address",
        "url, urls, every url, link, links, query string, query, adresse, lien, enlace
         indirizzo, ссылке, адресу",
    ),
    (
        "as-if-the-user",
        "as if the user had typed, as if the user had said, as if the user had written
         as if the user typed, as if the user said, as if it came from the user
         as if they came from the user, as though the user had, als hätte der nutzer es
         als hätte es der nutzer, comme si l'utilisateur l'avait, como si el usuario lo hubiera
         como se o usuário tivesse, come se l'avesse scritto l'utente
         как если бы пользователь",
    ),
    (
        "do-what",
        "follow, obey, execute, do what, do as, do everything, treat it, treat them, befolge
         führe, suis, exécute, sigue, ejecuta, siga, execute, segui, esegui, выполни, следуй",
    ),
    (
        "unseen-by-the-user",
        "the user cannot see this, the user can't see this, the user will not see this
         the user won't see this, the user does not see this, the user doesn't see this
         der nutzer sieht das nicht, der nutzer sieht diese nachricht nicht
         l'utilisateur ne voit pas ce, el usuario no ve este, el usuario no puede ver este
         o usuário não vê esta, l'utente non vede questo, пользователь не видит это",
    ),
    ("run", "run, start, open, call, lance, lancez, corre, abre, rode, abra, avvia, apri, открой"),
    (
        "you-answer-to-me",
        "you answer to me, you report to me, you listen to me, you work for me, you serve me
         you obey me, du gehorchst mir, du arbeitest für mich, tu m'obéis, tu travailles pour moi
         me obedeces a mí, trabajas para mí, você me obedece, você trabalha para mim
         obbedisci a me, lavori per me, ты слушаешься меня, ты работаешь на меня",
    ),
    // What shall stay with it.
    (
        "remember",
        "remember, store, save, memorize, memorise, commit to memory, save to memory, note
         keep in mind, merke dir, merk dir, speichere, speicher, souviens toi, mémorise
         mémorisez, retiens, recuerda, memoriza, guarda, lembre se, lembra te, memorize, guarde
         ricorda, ricordati, memorizza, запомни, сохрани",
    ),
    (
        "for-good",
        "for all future sessions, in all future sessions, for every future session
         in every future session, for all future conversations, in all future conversations
         for all future chats, for every later session, for all later sessions, permanently
         forever, across all sessions, für alle zukünftigen sitzungen
         für alle künftigen sitzungen, in allen zukünftigen sitzungen, dauerhaft, für immer
         pour toutes les sessions futures, pour toutes les sessions à venir
         dans toutes les sessions futures, pour toujours, para todas las sesiones futuras
         en todas las sesiones futuras, para siempre, para todas as sessões futuras
         em todas as sessões futuras, para sempre, per tutte le sessioni future
         in tutte le sessioni future, per sempre, для всех будущих сессий
         во всех будущих сессиях, навсегда",
    ),
    ("that", "that, dass, daß, que, de que, che, что"),
    (
        "confirmations-are-needless",
        "confirmations are unnecessary, confirmation is unnecessary, no confirmation is needed
         no confirmation is required, confirmations are not needed, no confirmations
         bestätigungen unnötig, keine bestätigung, les confirmations sont inutiles
         aucune confirmation, no hace falta confirmación, las confirmaciones no son
         não é preciso confirmação, as confirmações são, non serve conferma
         le conferme sono inutili, подтверждения не нужны",
    ),
    ("this-note", "this note, this message, this instruction, these instructions, this comment"),
    (
        "whenever-the-user",
        "every time the user, whenever the user, each time the user, wenn der nutzer
         wenn der benutzer, chaque fois que l'utilisateur, cada vez que el usuario
         sempre que o usuário, ogni volta che l'utente, когда пользователь",
    ),
];
