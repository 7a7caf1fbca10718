//! Whether a sentence asks for something: a question, a wish or an order. Who tells how things are
//! expects no answer.

use super::REQUEST_WORDS_MIN;
use crate::remarks::phrase::{Wording, is_one_of};

/// Tells whether a sentence is a question, with its mark or without.
pub(crate) fn asks(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    wording.is_question || wording.without_lead_in(LEAD_INS).begins_any(QUESTIONS)
}

/// Tells whether a sentence is an order or a wish.
pub(crate) fn is_request(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    if wording.len() < REQUEST_WORDS_MIN || wording.has_any(super::FAREWELLS) {
        return false;
    }
    let mut clauses = sentence.split([',', ';', '.', '!', ':', '–']).map(Wording::of);
    wording.has_any(COURTEOUS)
        || clauses.any(|clause| {
            let clause = clause.without_lead_in(LEAD_INS);
            clause.begins_any(WISHING) || is_order(&clause)
        })
}

/// Tells whether a clause begins with what is to be done. "Test the parser", not "test is green".
fn is_order(clause: &Wording) -> bool {
    let is_finite = clause.word(1).is_some_and(|word| is_one_of(word, FINITE));
    1 < clause.len() && !is_finite && clause.begins_any(ORDERS)
}

const LEAD_INS: &str = "\
     ok|okay|so|and|also|but|well|now|then|next|first|finally|just|yes|yeah|no|hm|hmm|hey|hi|\
     hello|right|good|great|fine|nice|please|und|also|aber|gut|ja|nein|jetzt|dann|nun|noch|\
     zuerst|bitte|doch|и|а|но|да|нет|теперь|потом|сначала|et|mais|oui|non|alors|maintenant|\
     ensuite|y|pero|sí|ahora|luego|primero";

/// How a question begins whose mark was left out.
const QUESTIONS: &str = "\
     what is|what's|what are|what do|what does|what did|what was|what were|what about|what if|\
     what happens|what remains|what should|what would|where is|where's|where are|where do|\
     where does|where did|where was|where were|who is|who's|who does|who did|who was|who has|\
     why is|why are|why do|why does|why did|why was|how do|how does|how did|how is|how are|\
     how many|how much|how long|how often|how about|how should|how would|how can|which one|\
     which of|can you|could you|would you|will you|can we|could we|is there|are there|is it|\
     do we|does it|did we|did you|do you|have we|have you|should we|should i|shall we|shall i|\
     any idea|was ist|was sind|was war|was machen|was wird|was fehlt|wo ist|wo sind|wo war|\
     wo waren|wo liegt|wer ist|wer macht|wer war|wer hat|warum|wieso|weshalb|wie lange|\
     wie viel|wie viele|wie oft|wie ist|wie war|wie geht|wie läuft|wie heißt|wie kann|\
     wie machen|wann ist|wann war|kannst du|könntest du|können wir|gibt es|gibt's|sollen wir|\
     soll ich|haben wir|hast du|ist das|что такое|что там|что мы|где|кто|почему|зачем|как|\
     сколько|когда|можешь ли|qu'est ce|est ce que|où en|où est|pourquoi|comment|combien|\
     peux tu|pouvez vous|qué es|qué pasa|qué hay|dónde|quién|por qué|cómo|cuánto|cuántos|\
     puedes|podemos";

/// Wherever it stands, it asks.
const COURTEOUS: &str = "\
     please|pls|bitte|пожалуйста|s'il te plaît|s'il vous plaît|stp|svp|por favor";

const WISHING: &str = "\
     i need|i want|i'd like|i would like|i wish|we need|we want|we'd like|we should|we must|\
     you should|you could|let's|let us|ich möchte|ich brauche|ich will|ich hätte gern|\
     wir brauchen|wir wollen|wir sollten|wir müssen|du solltest|lass uns|мне нужно|нам нужно|\
     я хочу|давай|давайте|надо|нужно|je voudrais|je veux|j'aimerais|il faut|il faudrait|\
     on devrait|quiero|necesito|necesitamos|quisiera|hay que|vamos a";

/// What behind the first word makes it a thing that is told of.
const FINITE: &str = "\
     is|are|was|were|has|had|have|looks|works|work|passes|passed|fails|failed|went|takes|took|\
     does|did|can|will|would|should|seems|runs|ran|ist|sind|war|hat|läuft|geht|ich|wir|er|est|\
     sont|es|está";

/// How an order begins.
const ORDERS: &str = "\
     add|adjust|adopt|align|allow|analyse|analyze|append|apply|ask|assign|attach|avoid|back|\
     benchmark|block|build|bump|cache|call|cap|catch|change|check|choose|clean|clear|close|\
     collect|combine|commit|compare|compile|compute|configure|connect|continue|convert|copy|\
     correct|count|cover|create|cut|debug|define|delete|deploy|describe|design|detect|disable|\
     do|document|double|download|draft|draw|drop|dump|edit|enable|ensure|estimate|\
     exclude|expand|explain|export|expose|extend|extract|fetch|fill|filter|find|finish|fix|\
     follow|format|generate|get|give|go|group|guard|handle|have|help|hide|implement|import|\
     improve|include|increase|index|inline|insert|inspect|install|introduce|investigate|join|\
     keep|leave|lift|limit|link|lint|list|load|lock|log|look|lower|mail|make|mark|measure|\
     merge|migrate|mock|monitor|move|name|normalise|normalize|notify|open|optimise|optimize|\
     order|parse|pass|patch|pick|pin|plan|plot|point|port|prepare|print|profile|propose|protect|\
     provide|publish|pull|push|put|raise|read|rebase|rebuild|record|redo|reduce|refactor|\
     refresh|regenerate|register|reject|release|remove|rename|render|reorder|replace|report|\
     reproduce|rerun|reset|resolve|restart|restore|restrict|retry|return|reuse|revert|review|\
     rewrite|roll|rotate|round|run|save|scan|schedule|search|see|send|separate|set|ship|show|\
     shrink|sign|simplify|skip|sort|speed|split|squash|start|stop|store|stub|submit|suggest|\
     summarise|summarize|support|swap|switch|sync|tag|take|tell|test|throw|tidy|trace|track|\
     translate|trim|try|tune|turn|undo|unify|update|upgrade|upload|use|validate|verify|wait|\
     walk|warn|watch|wire|wrap|write|\
     mach|mache|schreib|schreibe|füge|füg|lösch|lösche|entfern|entferne|änder|ändere|zeig|zeige|\
     prüf|prüfe|schau|bau|baue|nimm|nutze|verwende|setz|setze|stell|stelle|leg|lege|starte|\
     teste|such|suche|erklär|erkläre|gib|lies|lass|pack|tausch|tausche|benenn|benenne|\
     verschieb|verschiebe|aktualisier|aktualisiere|erstell|erstelle|ergänz|ergänze|korrigier|\
     korrigiere|behebe|installier|installiere|führ|führe|exportiere|importiere|sortiere|\
     übersetz|übersetze|räum|räume|miss|frag|frage|sag|sende|schick|schicke|dokumentiere|\
     antworte|\
     добавь*|сделай*|напиши*|исправь*|удали|удалите|проверь*|покажи*|переименуй*|запусти*|\
     посмотри*|обнови|обновите|найди*|объясни*|создай*|перенеси*|убери*|замени|замените|\
     используй*|попробуй*|поправь*|\
     ajoute|ajoutez|fais|faites|écris|écrivez|corrige|corrigez|supprime|supprimez|vérifie|\
     vérifiez|montre|montrez|renomme|lance|lancez|regarde|regardez|mets|mettez|trouve|explique|\
     expliquez|crée|créez|déplace|remplace|remplacez|utilise|utilisez|essaie|essayez|\
     añade|agrega|haz|escribe|corrige|elimina|borra|revisa|muestra|renombra|ejecuta|mira|\
     actualiza|busca|explica|crea|mueve|cambia|usa|prueba|pon|quita";
