//! What words tell: which of a text are worth comparing, and how much each weighs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::LazyLock;

use iai_store::MemoryIndex;

use crate::recall::words_of_in_order;

/// A word in more than this share of all memories tells nothing …
const COMMON_SHARE: u64 = 10;
/// … once there are enough memories to say so.
const COMMON_MEMORIES_MIN: u64 = 100;
/// Shorter words are particles in most languages that are written with blanks.
const WORD_CHARS_MIN: usize = 3;
/// Longer runs are data.
const WORD_CHARS_MAX: usize = 40;
/// Different words of one text that are looked at.
const WORDS_MAX: usize = 400;

/// Words that join, point and greet in the languages most turns are written in: a line of them says
/// nothing of what a text is about. First those of several languages, then the rest of each.
const STOP_WORDS: &str = "
    a about above after again all also am an and any are aren as at be because been before being
    below between both but by can could couldn did didn do does doesn doing don done down during
    each else ever every few for from further get gets getting go going good got had hadn has
    hasn have haven having he her here hers him his how however i if in into is isn it its
    itself just know let like ll look make makes many may maybe me might more most much must my
    need needs new no nor not now of off ok okay on once one only onto or other our ours out
    over own please put really right same say says see seem seems shall she should shouldn since
    so some still such sure take than thank thanks that the their theirs them then there these
    they thing things think this those though through thus to today too try two under until up
    upon us use used using ve very want wants was wasn way we well were weren what when where
    whether which while who whom whose why will with within without won would wouldn yes yet you
    your yours aber als auch auf aus bei bin bis das dass dem den der des die doch ein eine
    einem einen einer er es für haben hat hier ich im ist ja jetzt kann mit nach nicht noch nur
    oder schon sein sich sie sind und uns von vor war weil wenn wer wie wir wird zu zum zur au
    aux avec ce ces cette dans de du elle en est et il ils je la le les leur lui mais ne nous ou
    par pas pour que qui sa se ses son sur un une vous al como con del el ella esta este las lo
    los más para pero por sin su sus una y
    able across actually ain almost along already although always among another anything anyway
    around away back basically became become becomes began begin besides better bye came cannot
    come comes coming congrats congratulations cool definitely despite either enough especially
    etc even everybody everyone everything exactly fine gave give given gives gone gonna great
    guess haha hello hence herself hey himself hmm indeed instead ive keep kinda last later lets
    likely little lol lot lots made meanwhile morning myself neither never nevertheless next nice
    nobody none nope noted nothing often oh others otherwise ought ourselves perfect perhaps
    pretty probably quite rather said somebody someone something sometimes somewhere soon sorry
    sounds suppose themselves therefore thx together tomorrow toward towards understood unless
    usually welcome whatever whenever wherever whole wow yeah yep yesterday yourself
    abend ach alle allem allen aller allerdings alles andere anderem anderen anderer anderes
    anders ansonsten bald beide beiden beim bereits besser bestimmt bisher bisschen bitte bloß da
    dabei dadurch dafür dagegen daher dahin damals damit danach daneben dank danke dann daran
    darauf daraus darf darin darum darunter darüber davon davor dazu dein deine deinem deinen
    deiner denen denn dennoch deren derselbe deshalb dessen dich dies diese diesem diesen dieser
    dieses dir dort durch dürfen eben ebenso eher eigentlich eines einfach einig einige einigen
    einiger einmal einverstanden entweder erst erstmal etwa etwas euch euer eure frau ganz gar
    gegen gehen geht gemacht genau genauso gerade gern gerne gestern gibt ging glaub glaube gleich
    gut gute guten guter gutes hab habe hallo hast hatte hatten herr herrn heute hinter hätte
    hätten ihm ihn ihnen ihr ihre ihrem ihren ihrer immer indem ins irgendwie jede jedem jeden
    jeder jedes jedoch jemand jene kannst kein keine keinem keinen keiner klar können könnte
    könnten könntest lange lass lassen leider lieber mach mache machen macht mal man manche
    manchmal mehr mein meine meinem meinen meiner meist mich mir morgen muss musst möchte möchten
    möglich müssen müsste nachdem natürlich neben nee nein nichts nie niemals niemand nochmal nun
    nächste nächsten nächster nächstes ob oben obwohl ohne passt per prima richtig schade schön
    sehr seid seine seinem seinen seiner seit seitdem selbst sicher sobald sofort sogar solche
    soll sollen sollte sollten somit sondern sonst soweit sowie später statt stimmt super tschüss
    tun tut um unser unsere unserem unseren unserer unter viel viele vielen vielleicht vom vorher
    wann waren warst warum weder wegen weiter weitere welche welchem welchen welcher welches wem
    wen wenig weniger werde werden wessen wieder wieso willst wirklich wirst wo wohl wollen wollte
    wollten worden wurde wurden während würde würden zurück zusammen zwar zwei zwischen über
    überall überhaupt übrigens
    ainsi alors après assez aucun aucune aurait aussi autre autres avaient avait avant avez avoir
    avons beaucoup bien bientôt bon bonjour bonsoir cela celle celui cependant ceux chaque chez
    comme demain depuis deux dire dit doit donc dont dès déjà elles encore enfin entre eux faire
    fait faut ici jamais jusque leurs lorsque là ma maintenant merci mes moi moins même non nos
    notre nouveau oui où parce parfait parfois peu peut peux plutôt pourquoi puis quand quel
    quelle quelles quelque quelques quels quoi rien salut sans si soit sommes sont souvent suis ta
    te tes toi toujours tous tout toute toutes trop très tu va vais vers veux voici voilà vont vos
    votre vraiment ça étaient était été être
    ahora ahí algo alguien alguna algunas alguno algunos allí antes aquí así aunque aún bastante
    buenas bueno buenos cada casi cual cuando cuanto cuál cuándo cuánto cómo desde después donde
    durante día días dónde ellas ello ellos entonces eran eres esa ese eso esos estaba estamos
    estar estas esto estos estoy están fue fueron gracias ha había hace hacer hacia han hasta hay
    hemos hola hoy igual luego mañana mejor menos mi mientras mis mismo mucho muchos muy nada
    nadie ni nosotros nuestra nuestro nunca o otra otro otros parece perfecto poco porque puede
    pueden puedes pues quiere quiero quizás quién qué según ser será sido siempre sino sobre somos
    soy sí sólo también tampoco tanto tenemos tener tengo tiene tienen todavía todo todos tras tus
    tú unas unos usted vamos vez vosotros voy ya yo
    а без бы был была были было быть в вам вас весь во вот все всегда всего всех всю всё вы где да
    давай давайте даже для до добрый другой его ее ей ему если есть еще ещё её же за завтра зачем
    здесь и из или им их к как какая какие какой когда который кто ладно ли либо лучше мне много
    может можно мой мы на надо нам нас наш не него нее нет неё ни них но ну нужно о об один он она
    они оно опять от очень по пожалуйста пока понятно после потом потому почему почти при привет
    просто раз с сам сегодня сейчас со спасибо так также такой там тебе тебя тем теперь то тогда
    того тоже только том тот ты у уже хорошо хотя чего чем что чтобы эта эти это этого этой этом
    этот я";

/// Tells whether a word only joins others.
pub(crate) fn is_stop_word(word: &str) -> bool {
    static KNOWN: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| STOP_WORDS.split_whitespace().collect());
    KNOWN.contains(word)
}

/// Tells whether a word may say what a text is about.
pub(super) fn may_tell(word: &str) -> bool {
    let n_chars = word.chars().count();
    // Scripts without blanks give runs of a few characters that mean much.
    let is_long_enough = WORD_CHARS_MIN <= n_chars || (2 <= n_chars && !word.is_ascii());
    let is_number = word.chars().all(|letter| letter.is_ascii_digit());
    is_long_enough && n_chars <= WORD_CHARS_MAX && !is_number && !is_stop_word(word)
}

/// Letters that two forms of one word begin with at least …
const ALIKE_LETTERS_MIN: usize = 4;
/// … and that either may have behind them: "calibrate", "calibrated".
const ENDING_LETTERS_MAX: usize = 3;

/// Tells whether two words are likely forms of one.
pub(crate) fn is_alike(one: &str, other: &str) -> bool {
    let n_common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let n_longest = one.chars().count().max(other.chars().count());
    one == other
        || ALIKE_LETTERS_MIN <= n_common && n_longest.saturating_sub(n_common) <= ENDING_LETTERS_MAX
}

/// Returns how every form of a word begins.
pub(crate) fn alike_beginning(word: &str) -> &str {
    let end = word.char_indices().nth(ALIKE_LETTERS_MIN).map_or(word.len(), |(at, _)| at);
    word.get(..end).unwrap_or(word)
}

/// Tells whether one of the words is a form of this one.
pub(crate) fn has_alike(words: &BTreeSet<String>, word: &str) -> bool {
    // Only what begins alike can be one: a look at those few, not at all.
    let beginning = alike_beginning(word);
    let near = words.range::<str, _>((Bound::Included(beginning), Bound::Unbounded));
    let mut near = near.take_while(|own| own.starts_with(beginning));
    near.any(|own| is_alike(own, word))
}

/// Counts the words that the others have in some form.
pub(crate) fn n_shared(words: &BTreeSet<String>, others: &BTreeSet<String>) -> usize {
    words.iter().filter(|word| has_alike(others, word)).count()
}

/// Returns the words of a text that tell most about it, the most telling first.
pub(super) fn telling_words(index: &MemoryIndex, text: &str, limit: usize) -> Vec<String> {
    let weights = weigh(index, &words_of_in_order(text));
    let mut words: Vec<(f32, String)> =
        weights.into_iter().map(|(word, weight)| (weight, word)).collect();
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    words.into_iter().take(limit).map(|(_, word)| word).collect()
}

/// Weighs the words of a text by how often they are in it and how rare they are elsewhere. Words
/// nobody else uses are left out: they connect nothing.
pub(super) fn weigh(index: &MemoryIndex, words: &[String]) -> BTreeMap<String, f32> {
    let mut counts: BTreeMap<&String, u32> = BTreeMap::new();
    for word in words.iter().filter(|word| may_tell(word)) {
        if counts.len() < WORDS_MAX || counts.contains_key(word) {
            *counts.entry(word).or_default() += 1;
        }
    }
    let distinct: Vec<String> = counts.keys().map(|word| (*word).clone()).collect();
    let n_memories = index.catalogue().len() as u64;
    let frequencies = index.document_frequencies(&distinct);
    let mut weights = BTreeMap::new();
    for ((word, count), frequency) in distinct.iter().zip(counts.values()).zip(frequencies) {
        if let Some(rarity) = rarity(frequency, n_memories) {
            #[expect(clippy::cast_precision_loss, reason = "a count of words in a text")]
            let often = 1.0 + (*count as f32).ln();
            weights.insert(word.clone(), often * rarity);
        }
    }
    weights
}

/// How much a word tells that is in so many of all memories; `None` when nothing.
fn rarity(frequency: u64, n_memories: u64) -> Option<f32> {
    let is_common = n_memories < frequency.saturating_mul(COMMON_SHARE);
    if frequency < 2 || (is_common && COMMON_MEMORIES_MIN <= n_memories) {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "a weight needs few digits"
    )]
    let rarity = (1.0 + n_memories as f64 / frequency as f64).ln() as f32;
    Some(rarity)
}

/// A weighted bag of words of length 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Direction(BTreeMap<String, f32>);

impl Direction {
    /// Points where the weights do.
    pub(super) fn of(weights: BTreeMap<String, f32>) -> Self {
        let length = weights.values().map(|weight| weight * weight).sum::<f32>().sqrt();
        let scale = |(word, weight): (String, f32)| (word, weight / length.max(f32::MIN_POSITIVE));
        Self(weights.into_iter().map(scale).collect())
    }

    /// Points where all of these do together.
    pub(super) fn mean<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut sum: BTreeMap<String, f32> = BTreeMap::new();
        for one in all {
            for (word, weight) in &one.0 {
                *sum.entry(word.clone()).or_default() += weight;
            }
        }
        Self::of(sum)
    }

    pub(super) fn weight(&self, word: &str) -> f32 {
        self.0.get(word).copied().unwrap_or(0.0)
    }

    /// The cosine of the angle between the two.
    pub(super) fn cosine(&self, other: &Self) -> f32 {
        let (few, many) = if self.0.len() < other.0.len() { (self, other) } else { (other, self) };
        few.0.iter().map(|(word, weight)| weight * many.weight(word)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_and_numbers_tell_nothing() {
        for (word, expect) in [
            ("the", false),
            ("und", false),
            ("2026", false),
            ("ab", false),
            ("retry", true),
            ("東京", true),
            ("genau", false),
            ("bitte", false),
            ("dann", false),
            ("herr", false),
            ("morning", false),
            ("noted", false),
            ("congratulations", false),
            ("merci", false),
            ("gracias", false),
            ("спасибо", false),
            ("quittungen", true),
            ("sepa", true),
            ("tag", true),
            ("comment", true),
            ("fast", true),
        ] {
            assert_eq!(may_tell(word), expect, "{word}");
        }
    }

    #[test]
    fn forms_of_one_word_are_alike() {
        assert!(is_alike("calibrate", "calibrated") && is_alike("answers", "answered"));
        assert!(is_alike("api", "api") && is_alike("тесты", "тестов"));
        assert!(!is_alike("form", "fork") && !is_alike("test", "testimonial"));
    }

    #[test]
    fn looking_among_the_near_ones_loses_no_form() {
        let words_of =
            |text: &str| -> BTreeSet<String> { text.split(' ').map(str::to_owned).collect() };
        let words = words_of("answer api calibrate form test zoo тесты");
        let others = words_of("answered apis calibrated fork testimonial zoo тестов");
        for word in &words {
            let is_any_alike = others.iter().any(|other| is_alike(word, other));
            assert_eq!(has_alike(&others, word), is_any_alike, "{word}");
        }
        assert_eq!(n_shared(&words, &others), 4);
    }

    #[test]
    fn common_words_and_lonely_words_weigh_nothing() {
        assert_eq!(rarity(1, 1000), None);
        assert_eq!(rarity(101, 1000), None);
        assert!(rarity(20, 50).is_some(), "fifty memories are too few to say what is common");
        assert!(rarity(2, 1000) > rarity(50, 1000));
    }

    #[test]
    fn directions_are_compared_by_their_angle() {
        let direction = |words: &[&str]| {
            Direction::of(words.iter().map(|word| ((*word).to_owned(), 2.0)).collect())
        };
        let (ab, bc) = (direction(&["a", "b"]), direction(&["b", "c"]));
        assert!((ab.cosine(&bc) - 0.5).abs() < 1e-6);
        assert!((ab.cosine(&ab) - 1.0).abs() < 1e-6);
        let mean = Direction::mean([&ab, &bc].into_iter());
        assert!(mean.weight("b") > mean.weight("a"));
    }
}
