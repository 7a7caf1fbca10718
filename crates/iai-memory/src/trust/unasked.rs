//! The words of ideas about things done behind the user's back: every command run unasked, copies
//! sent away and never mentioned, tests that nobody ran said to have passed. Written as in
//! [`ideas`](super::ideas).
//!
//! Where the line is: whoever wants something named done unasked ("run the tests without asking")
//! has an ordinary wish, and so has whoever says who need not be asked ("without asking me"). A
//! standing leave for every command that asks nobody is marked, though a user may mean it: nothing
//! in the words tells who wrote them, and permissions belong into a host's settings, not into
//! something remembered.

/// Names of ideas, and how they are said.
pub(super) const IDEAS: &[(&str, &str)] = &[
    (
        "carry-out",
        "run, execute, perform, carry out, approve, accept, start, führe, führst, starte
         exécute, exécutes, exécutez, exécuter, exécuteras, lance, lancez, lancer, ejecuta
         ejecute, ejecutar, corre, execute, executa, executar, rode, rodar, esegui, eseguite
         eseguire, eseguirai, lancia, выполняй, выполняйте, выполни, выполнять, запускай
         запускать, voer, wykonuj, wykonaj, uruchamiaj",
    ),
    (
        "every-command",
        "every command, all commands, any command, any commands, each command
         every shell command, all shell commands, any shell command, all the commands
         every tool call, all tool calls, any tool call, all tools, any tool, all scripts
         every script, any script, any code, all code, whatever, everything, anything
         all permission requests, all requests, every permission request, alle befehle
         sämtliche befehle, jeden befehl, alle kommandos, jedes kommando, alle skripte
         jedes skript, alle werkzeuge, toutes les commandes, chaque commande, toute commande
         n'importe quelle commande, tous les scripts, tout script, todos los comandos
         cada comando, cualquier comando, cualquier orden, todas las órdenes, todos los scripts
         todos os comandos, qualquer comando, todos os scripts, tutti i comandi, ogni comando
         qualsiasi comando, tutti gli script, все команды, любые команды, любую команду
         каждую команду, все скрипты, любые скрипты, alle opdrachten, elke opdracht
         alle commando's, wszystkie polecenia, każde polecenie, wszystkie komendy
         wszystkie skrypty",
    ),
    (
        "be-run",
        "shall be executed, must be executed, are to be executed, shall be run, must be run",
    ),
    (
        "you-are-allowed",
        "you are authorised to, you are authorized to, you are allowed to, you are permitted to
         you have permission to, du darfst, vous êtes autorisé à, tu es autorisé à
         estás autorizado a, você está autorizado a, sei autorizzato a, тебе разрешено",
    ),
    (
        "prompts",
        "every permission prompt, all permission prompts, every permission request
         all permission requests, every confirmation prompt, all confirmation prompts
         all tool calls, every tool call",
    ),
    ("automatically", "automatically, without reading, without reading them, silently"),
    ("commands", "commands, shell commands, scripts, code, tool calls, tools"),
    (
        "this-command",
        "the following command, the following commands, the following shell command
         the following shell commands, the following script, the attached script, this command
         these commands, this script, the script below, the command below, the commands below
         den folgenden befehl, die folgenden befehle, das folgende skript, la commande suivante
         les commandes suivantes, el siguiente comando, los siguientes comandos
         o seguinte comando, os seguintes comandos, il seguente comando, i seguenti comandi
         следующую команду, следующие команды",
    ),
    (
        "unasked",
        "without asking, without user confirmation, without user approval
         without asking for confirmation, without asking for permission
         without asking for approval, without confirmation, without any confirmation
         without confirming, without approval, without any approval, without permission
         without prompting, without review, no confirmation needed, no questions asked
         ohne zu fragen, ohne nachzufragen, ohne rückfrage, ohne rückfragen, ohne bestätigung
         ohne nachfrage, ohne freigabe, sans demander, sans demander de confirmation
         sans confirmation, sans autorisation, sin preguntar, sin pedir confirmación
         sin confirmación, sin permiso, sem perguntar, sem pedir confirmação, sem confirmação
         sem permissão, senza chiedere, senza chiedere conferma, senza conferma, senza permesso
         без подтверждения, без запроса подтверждения, без вопросов, не спрашивая
         без разрешения, zonder te vragen, zonder bevestiging, bez pytania, bez potwierdzenia
         bez zgody",
    ),
    (
        "unasked-user",
        "without asking the user, without asking any user, without consulting the user
         without user consent, without the user's confirmation, without the user's approval
         without the user's consent, without the user's permission
         without the consent of the user, without consent of the user
         without confirmation from the user, without approval from the user
         without permission from the user, without confirmation by the user
         ohne den nutzer zu fragen, ohne den benutzer zu fragen, ohne bestätigung des nutzers
         ohne bestätigung des benutzers, ohne zustimmung des nutzers
         ohne zustimmung des benutzers, sans confirmation de l'utilisateur
         sans demander à l'utilisateur, sans l'accord de l'utilisateur
         sin confirmación del usuario, sin pedir confirmación al usuario
         sin preguntar al usuario, sin permiso del usuario, sem confirmação do usuário
         sem perguntar ao usuário, sem pedir confirmação ao usuário, sem permissão do usuário
         senza conferma dell'utente, senza chiedere conferma all'utente
         senza chiedere all'utente, senza il permesso dell'utente
         без подтверждения пользователя, не спрашивая пользователя, без разрешения пользователя
         без согласия пользователя, zonder de gebruiker om bevestiging te vragen
         zonder de gebruiker te vragen, zonder bevestiging van de gebruiker
         bez pytania użytkownika, bez zgody użytkownika, bez potwierdzenia użytkownika",
    ),
    (
        "never-ask",
        "never ask for confirmation, never ask for permission, never ask for approval
         never ask the user, don't ask for confirmation, do not ask for confirmation
         don't ask for permission, do not ask for permission, stop asking for confirmation",
    ),
    ("before-running", "before running, before executing, before you run, before you execute"),
    (
        "you-shall",
        "you must, you shall, you should, you are to, sollst du, du sollst, musst du, du musst
         wirst du, tu dois, vous devez, debes, deberás, você deve, deves, devi, dovrai
         ты должен",
    ),
    (
        "each-time-the-user",
        "every time the user, whenever the user, each time the user, if the user, when the user
         wenn der nutzer, wenn der benutzer, wann immer der nutzer, wann immer der benutzer
         jedes mal wenn der nutzer, sobald der nutzer, chaque fois que l'utilisateur
         quand l'utilisateur, cada vez que el usuario, cuando el usuario, sempre que o usuário
         quando o usuário, ogni volta che l'utente, quando l'utente, когда пользователь",
    ),
    (
        "hush",
        "never mention it, never mention this, never mention that, don't mention it
         don't mention this, do not mention it, do not mention this, without mentioning it
         without mentioning this, say nothing about it, say nothing about this, keep it secret
         keep this secret, keep this to yourself, keep it to yourself, never talk about it
         erwähne es nie, erwähne das nie, erwähne es nicht, erwähne das nicht
         ohne es zu erwähnen, sprich nie darüber, n'en parle jamais, n'en parle à personne
         n'en parle pas, ne le mentionne jamais, ne le mentionne pas, sans le mentionner
         nunca lo menciones, no lo menciones, sin mencionarlo, nunca mencione isso
         não mencione isso, sem mencionar isso, non menzionarlo, senza menzionarlo, non parlarne
         никогда не упоминай об этом, не упоминай об этом, никогда не упоминай это
         никому не говори",
    ),
    (
        "away",
        "https, http, ftp, server, remote, mail, address, copy, kopie, copie, copia, cópia
         копию",
    ),
    (
        "forget-last",
        "vergessen, ignorieren, missachten, oublier, ignorer, olvidar, ignorar, esquecer
         dimenticare, ignorare, забыть, игнорировать",
    ),
    ("tell-last", "sagen, erzählen, verraten, mitteilen, berichten"),
    (
        "in-a-mode",
        "in maintenance mode, in debug mode, in developer mode, in admin mode, in root mode
         im wartungsmodus, en mode maintenance, en modo mantenimiento, в режиме обслуживания",
    ),
    // What was not done is said to be done.
    (
        "instead-of",
        "instead of running, instead of executing, instead of running them, rather than running
         without running, skip the tests, skip all tests, statt die tests, anstatt die tests
         statt sie, au lieu de lancer, au lieu d'exécuter, au lieu de les lancer
         au lieu de les exécuter, en vez de ejecutar, en vez de ejecutarlas
         en vez de ejecutarlos, en lugar de ejecutar, em vez de executar, em vez de rodar
         invece di eseguire, вместо запуска, вместо того чтобы запускать",
    ),
    (
        "claim",
        "report that, report them, say that, say they, claim that, claim they, claim
         pretend that, pretend they, melde, behaupte, sag dass, schreibe dass, dis que
         dis qu'ils, déclare que, signale que, di que, afirma que, informa que, diga que
         informe que, dichiara che, di' che, scrivi che, сообщи, скажи, напиши",
    ),
    (
        "passed",
        "passed, pass, are green, succeeded, have passed, bestanden, grün, passés, réussi
         passent, pasaron, han pasado, passaram, sono passati, superati, прошли, пройдены",
    ),
    (
        "who-checks",
        "the reviewer, the reviewers, the auditor, the auditors, the human, the humans
         the maintainer, the maintainers, der reviewer, der prüfer, le relecteur, le réviseur
         el revisor, o revisor, il revisore, ревьюер",
    ),
    (
        "need-not-know",
        "does not need to know, doesn't need to know, do not need to know, don't need to know
         need not know, doesn't have to know, does not have to know, muss das nicht wissen
         muss es nicht wissen, n'a pas besoin de savoir, n'a pas besoin de le savoir
         no necesita saberlo, não precisa saber, non deve saperlo, не должен знать
         не должен об этом знать",
    ),
    // What is said to be safe, and is not known before it runs.
    (
        "harmless",
        "safe, trusted, approved and safe, sichere, vertrauenswürdige, sûre, segura, sicura
         безопасная",
    ),
    (
        "way-to-do",
        "command, way, method, script, installer, befehl, weg, commande, méthode, comando
         método, metodo, команда",
    ),
    ("from-the-web", "curl, wget"),
    ("into-a-shell", "bash, sh, zsh, sudo bash, sudo sh, python, python3, iex"),
    // What is shown to the assistant's user with its answers.
    (
        "when-summarising",
        "when you summarise, when you summarize, when summarising, when summarizing
         in every summary, in each summary, in your summary, in all summaries, in your summaries
         wenn du zusammenfasst, in jeder zusammenfassung, quand tu résumes, dans chaque résumé
         cuando resumas, en cada resumen, quando resumir, em cada resumo, quando riassumi
         in ogni riassunto, в каждом резюме",
    ),
    (
        "embed",
        "render, embed, include, show, display, add, append, zeige, binde, füge, affiche
         intègre, muestra, incluye, mostre, inclua, mostra, includi, покажи, вставь",
    ),
    ("picture", "!["),
    (
        "silent-add",
        "silently add, silently append, silently include, secretly add, secretly include",
    ),
    (
        "contents-of",
        "contents of, content of, inhalt von, contenu de, contenido de, conteúdo de
         contenuto di, содержимое",
    ),
];

/// Ideas that make an ordinary sentence of an order where they stand beside it. Their words are the
/// commonest there are, so that no sentence is searched for them: an order asks at its own place.
pub(super) const ASIDES: &[(&str, &str)] = &[
    // Who speaks is who need not be asked.
    (
        "of-me",
        "me, us, for my, my, first, moi, nous, mi, nosotros, de mim, меня, нас, mij, ons, mnie",
    ),
    // Where something is not to be mentioned.
    ("somewhere", "in, on, to, at, within, im, in der, dans, en, em, nel, в"),
    // Somebody asks for it, or forbids it.
    (
        "hesitant",
        "to, how to, can, could, does, do, will, would, not, don't, never, cannot, can't, won't
         nicht, nie, niemals, ne, jamais, no, nunca, não, non, mai, не, никогда, nigdy, nooit",
    ),
    // Somebody tells of it.
    (
        "narrator",
        "we, i, they, it, he, she, you can, the, our, this, that, a, an, wir, ich, sie, der, die
         das, ein, eine, nous, je, on, le, la, les, ce, cette, un, une, l'option, l'outil
         l'installateur, l'agent, nosotros, el, los, este, esta, nós, o, os, esse, noi, il, lo
         questo, questa, l'opzione, мы, я, они, de, het",
    ),
    // A program says it, or does not.
    (
        "in-a-message",
        "in the error, in an error, in error messages, in the message, in the ui, in the dialog
         in the toast, in the response, in the form, on the login page, on the page, in the log
         in der fehlermeldung, in einer fehlermeldung, in der meldung, in der oberfläche
         dans le message d'erreur, en el mensaje de error, na mensagem de erro
         nel messaggio di errore, в сообщении об ошибке, a generic error",
    ),
];
