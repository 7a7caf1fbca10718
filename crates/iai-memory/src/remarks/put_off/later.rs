//! In which words people put something off: "that can wait", "we take that up in January", "nice
//! idea, next year". What waits for the end of a run is not put off.
//!
//! English first, then the basics of German, Russian, French and Spanish.

use crate::remarks::open::waits_for_somebody;
use crate::remarks::orders::clauses;
use crate::remarks::phrase::{Wording, is_one_of};

/// "Dutch later, when …" names what waits in so many words.
const THING_WORDS_MAX: usize = 5;
/// Refused in so few words, it is about what was said before.
const REFUSED_WORDS_MAX: usize = 4;

/// Tells whether a sentence puts something off; before it, another one may refuse it.
pub(super) fn is_put_off(before: Option<&str>, sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    if wording.is_question || wording.has_any(NOT_PUT_OFF) {
        return false;
    }
    let is_later = wording.has_any(LATER) || wording.ends_any(LATER_AT_THE_END);
    let is_far = || wording.has_any(FAR_ALONE) || wording.has_any(MONTHS);
    let may_be_later = || wording.has_any(HINTS) || is_far();
    is_later && !wording.has_any(NO_WORK)
        || may_be_later() && is_deferred(before, sentence, &wording)
}

/// The same in words that are looked at closely.
fn is_deferred(before: Option<&str>, sentence: &str, wording: &Wording) -> bool {
    is_taken_up_later(wording)
        || waits_for_somebody(sentence)
        || clauses(sentence).any(|clause| {
            let clause = Wording::of(clause);
            let is_looked_at = || clause.has_any(WILL) && clause.has_any(LOOK_AT);
            clause.ends_any(LATER_AT_AN_END)
                || clause.ends_any(FAR) && is_looked_at()
                || is_for_some_day(&clause, wording)
        })
        || wording.has_any(LET_US_WAIT) && !wording.has_any(OF_A_RUN)
        || is_later_when(sentence)
        || is_only_later(before, sentence)
}

/// Tells whether a sentence begins with putting off something that was named before it: "We take
/// that up in January".
pub(super) fn is_about_what_was_said(sentence: &str) -> bool {
    let Some(first) = clauses(sentence).next().map(Wording::of) else { return false };
    let is_only = far_only(&first).is_some();
    is_only || is_taken_up_later(&first) || first.begins_any(THAT_WAITS)
}

/// "We will take that up in January." What is done today, or once something has run, is not far.
fn is_taken_up_later(wording: &Wording) -> bool {
    wording.has_any(WILL)
        && wording.has_any(TAKE_UP)
        && (wording.has_any("later") || wording.has_any(FAR))
        && !wording.has_any(OF_A_RUN)
}

/// "We should test that some day": at an end of its clause. "Logged out after one day" is a span.
fn is_for_some_day(clause: &Wording, whole: &Wording) -> bool {
    let ends_so = clause.possible(SOME_DAY).any(|day| {
        let place = clause.len().checked_sub(day.split(' ').count());
        let before = place.and_then(|place| place.checked_sub(1));
        let is_span = before
            .and_then(|place| clause.word(place))
            .is_some_and(|word| is_one_of(word, SPANS) || word.parse::<u64>().is_ok());
        clause.ends_any(day) && !is_span
    });
    // "One day the build failed" tells a story.
    let begins_so =
        clause.begins_any(SOME_DAY) && (!clause.begins_any("one day") || whole.has_any(WE_SHOULD));
    let is_any = ends_so || begins_so;
    let is_ours = || whole.has_any("at some point") && whole.has_any(WE_SHOULD);
    (is_any && whole.has_any(SHOULD) || is_ours()) && !whole.has_any("if|when|spend|takes|took")
}

/// "Dutch later, when we open Venlo": a thing without a deed, and when.
fn is_later_when(sentence: &str) -> bool {
    let said: Vec<&str> = clauses(sentence).collect();
    said.array_windows().any(|[thing, when]| {
        let (thing, when) = (Wording::of(thing), Wording::of(when));
        (2..=THING_WORDS_MAX).contains(&thing.len())
            && thing.ends_any("later|später|luego|plus tard|позже")
            && !thing.words().any(|word| is_one_of(word, NO_THING) || word.parse::<u64>().is_ok())
            && when
                .begins_any("when we|once we|after we|when the|once the|after the|if we|wenn wir")
            && !when.has_any(OF_A_RUN)
    })
}

/// "Nice idea, next year", "tablet layout: not now", "no. January". A month alone may be an answer,
/// unless something is refused before it.
fn is_only_later(before: Option<&str>, sentence: &str) -> bool {
    let said: Vec<&str> = clauses(sentence).collect();
    let is_refusal = |said: &str| {
        let said = Wording::of(said);
        said.begins_any(REFUSED) && said.len() <= REFUSED_WORDS_MAX || said.has_any(IDEAS)
    };
    let is_refused = before.is_some_and(|before| clauses(before).any(is_refusal))
        || said.iter().any(|clause| is_refusal(clause));
    said.iter().enumerate().any(|(place, clause)| {
        let far = far_only(&Wording::of(clause));
        far.is_some_and(|far| is_refused || 0 < place && far == Far::Later)
    })
}

/// A time that is far away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Far {
    Later,
    Month,
}

/// Tells whether a clause says nothing else than when.
fn far_only(clause: &Wording) -> Option<Far> {
    let is_whole = |times: &str| {
        clause.possible(BEFORE_A_TIME).map(Some).chain([None]).any(|lead| {
            let from = lead.map_or(Some(0), |lead| clause.begins(lead));
            clause.possible(times).any(|time| {
                let n_words = time.split(' ').count();
                from.is_some_and(|from| from + n_words == clause.len()) && clause.ends_any(time)
            })
        })
    };
    if clause.is_question {
        return None;
    }
    let month = || is_whole(MONTHS).then_some(Far::Month);
    is_whole(FAR_ALONE).then_some(Far::Later).or_else(month)
}

/// Without one of these or a time, nothing is put off in the words below.
const HINTS: &str = "\
     owes|send|sent|later|wait|waiting|warte|warten|some day|some time|some point|next|\
     someday|sometime|one day|after|später|irgendwann|zeit|algún|un jour|esper*|attend*|жду|ждём|\
     позже|подожд*|когда";

/// Says that something waits for longer than a moment, …
const LATER: &str = "\
     put it off|put that off|put this off|put them off|postpone it|postpone that|\
     postpone this|postpone them|i postpone|i'll postpone|let's postpone|let us postpone|\
     we postpone|leave it open|leave that open|leave this open|leave … open please|\
     keep it as open|keep … as open|as an open point|as an open question|put it on the list|\
     put that on the list|put this on the list|on the list for|stays on the list|on our list|\
     on my list|on the pile|has time until|on hold for now|on hold until|for another day|\
     some other day|park it|park that|park this|parked for now|let's park|lets park|we park|\
     not today but|not now but|not this week|not this month|not this year|not this sprint|\
     not this quarter|do it later|do that later|look at it later|look at that later|later please|\
     remind me to|do not let me forget|don't let me forget|verschieben wir|verschieb das|\
     lass das offen|lass es offen|ein andermal|отложим|отложи|оставим открытым|on reporte|\
     laisse ouvert|lo dejamos para|lo dejo abierto";
/// … or says so at its end.
const LATER_AT_THE_END: &str = "\
     not today|not now|can wait|stays open|still open|remains open|maybe later|another time|\
     remind me|remind me then|on the list|after the launch|after the release|after the move|\
     after the migration|after the freeze|next sprint|next quarter|kann warten|nicht heute|\
     nicht jetzt|bleibt offen|erinnere mich|может подождать|не сейчас|напомни|peut attendre|\
     pas maintenant|rappelle moi|puede esperar|ahora no|recuérdame";
/// The same at the end of any clause.
const LATER_AT_AN_END: &str = "\
     can come later|may come later|could come later|should come later|can follow later|\
     may follow later|that's for later|that is for later|this is for later|it's for later|\
     something for later|that's next year's topic|that is next year's topic|\
     that's next month's topic|that's next quarter's topic|that's a topic for next year|\
     that is a topic for next year|that's something for next year|that is something for next year|\
     those are for later|these are for later|leave that for later|\
     leave it for later|leave this for later|leave those for later|leave them for later|\
     leave these for later|that must wait|this must wait|those must wait|that has to wait|\
     this has to wait|that will have to wait|this will have to wait|that'll have to wait|\
     that needs to wait|that should wait|that can wait|this can wait|kommt später|\
     machen wir später|das muss warten|das hat zeit|lo dejamos para después|on verra plus tard|\
     сделаем позже|подождёт";
/// Is said of something that is done, of nothing to do, or of a thing that stands open by itself.
const NO_WORK: &str = "\
     don't need|no need|is done|are done|already|closed|was open|nicht nötig|уже|déjà|ya está|\
     socket|connection|file|files|handle|modal|dialog|dropdown|menu|panel|popup|window|tab|port|\
     door|broken|fails|failed";
/// Puts nothing off for longer than a session, or nothing at all.
const NOT_PUT_OFF: &str = "\
     never mind|nevermind|in this session|later today|later this session|later in this|\
     later tonight";

/// Speaks of what somebody will do …
const WILL: &str = "\
     will|we'll|i'll|let's|let us|we can|i can|we could|we take|we do|wir|werden|vamos|on va|будем";
/// … with what was named before …
const TAKE_UP: &str = "\
     take that up|take it up|take this up|take them up|take those up|come back to it|\
     come back to that|come back to this|come back to them|get back to it|get back to that|\
     return to it|return to that|see about it|see about that|see about this|revisit it|\
     revisit that|revisit this|do it|do that|do this|do those|do them|tackle it|tackle that|\
     look into it|look into that|look at it|look at that|look at them|decide it|decide that|\
     decide on it|decide on that|discuss it|discuss that|talk about it|talk about that|\
     handle it|handle that|greifen wir … auf|kommen wir … zurück|machen wir das|lo vemos|\
     on verra|вернёмся";
/// … or with anything, …
const LOOK_AT: &str = "\
     look at|look into|think about|talk about|deal with|take care of|come back to|get back to|\
     tackle|revisit|discuss";
/// … far from now.
const FAR: &str = "\
     some day|someday|one day|another time|next month|next year|next quarter|next sprint|\
     next spring|next summer|next autumn|next fall|next winter|in the new year|in january|\
     in february|in march|in april|in may|in june|in july|in august|in september|in october|\
     in november|in december|in spring|in summer|in autumn|in winter|after christmas|\
     after the holidays|after the launch|after the release|after the freeze|irgendwann|\
     nächsten monat|nächstes jahr|im januar|im februar|im märz|im april|im mai|im juni|im juli|\
     im august|im september|im oktober|im november|im dezember|el año que viene|\
     l'année prochaine|в следующем году";

/// Begins with what was named before.
const THAT_WAITS: &str = "\
     that must|this must|those must|that has to|this has to|that will have|that'll have|\
     that can wait|this can wait|that's for later|that is for later|leave that|leave it|\
     we leave that|we leave it|we leave those|das muss|das hat";

/// On no day in particular.
const SOME_DAY: &str = "\
     some day|someday|one day|some time|sometime|irgendwann|irgendwann mal|algún día|un jour|\
     когда нибудь";
/// Words before a span of time.
const SPANS: &str = "\
     wait|under|another|after|for|within|in|of|last|per|every|each|than|least|most|takes|take|\
     took|spend|quite|only|just|the|about|since|over";
/// What would be good to have.
const SHOULD: &str = "\
     should|could|would like|would love|would be|we want|i want|we need|i need|needs|ought to|\
     might|sollten|sollte|könnten|müssten|deberíamos|quiero|il faudrait|on devrait|нужно|надо";
const WE_SHOULD: &str = "\
     we should|i should|we need|i need|we could|we want|i want|we'd like|i'd like|we would like|\
     i would like|we must|we have to|we'll need|we will need";

/// Whoever waits for these waits for a moment.
const OF_A_RUN: &str = "\
     build|builds|ci|pipeline|test|tests|run|runs|job|green|done|finished|finishes|complete|\
     completes|pass|passes|review|reviewed|deployed|you|you're|minute|minutes|seconds|response|\
     merge|merged|pr|it's|loaded|loads|visible|ready|today|tonight|first";
const LET_US_WAIT: &str = "\
     it can wait until|that can wait until|this can wait until|those can wait until|\
     let us wait until|let's wait until|let us wait for|let's wait for|let us wait with|\
     let's wait with|we wait until|we'll wait until|we will wait until|warten wir bis|\
     esperemos hasta|attendons que|подождём пока";

/// No thing that comes later.
const NO_THING: &str = "\
     i|we|you|he|she|it|they|that|this|the|a|an|is|are|was|were|do|does|did|will|see|sooner|or|\
     much|bit|little|days|day|hours|hour|minutes|minute|seconds|weeks|week|months|years|and|then|\
     until|till|no|not|any|even|what|which|called|used|added";

/// Says no to what was said before.
const REFUSED: &str = "\
     no|nope|nah|not now|not yet|nice idea|good idea|nice to have|nein|schöne idee|gute idee|нет|\
     non|bonne idée|buena idea";
const IDEAS: &str = "a nice idea|a good idea|nice idea|schöne idee|gute idee|buena idea";
/// Stands before a time.
const BEFORE_A_TIME: &str = "\
     maybe|but|then|perhaps|so|no|rather|more like|in|for|but in|maybe in|then in|not before|\
     from|but maybe|and|nice idea|good idea|vielleicht|aber|dann|im|erst|erst im";
/// Times that are far away, whatever is asked for …
const FAR_ALONE: &str = "\
     later|some day|someday|one day|next month|next year|next quarter|next spring|next summer|\
     next autumn|next fall|next winter|not now|not this month|not this year|not this quarter|\
     not this sprint|another time|some other time|the new year|später|irgendwann|nächstes jahr|\
     nächsten monat|nicht jetzt|más tarde|algún día|ahora no|plus tard|un jour|pas maintenant|\
     позже|не сейчас";
/// … or where something is refused.
const MONTHS: &str = "\
     january|february|march|april|may|june|july|august|september|october|november|december|spring|\
     summer|autumn|fall|winter|q1|q2|q3|q4|januar|februar|märz|mai|juni|juli|oktober|dezember|\
     enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|\
     janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre";
