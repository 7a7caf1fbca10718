//! Whether what was put off is reported as done in the turns that follow.

use std::collections::BTreeSet;

use iai_store::{Memory, Role};

use super::at_the_ends;
use super::matter::matter_of;
use crate::organise::n_shared;
use crate::remarks::phrase::{Wording, is_one_of};

/// A report says so within its first words or at its end; further on it tells of something else.
const REPORT_PLACE_MAX: usize = 3;
/// Reports of one turn that are read; one with more of them is a log.
pub(super) const REPORTS_MAX: usize = 64;

/// Reports stand in so much at either end of a turn.
const READ_BYTES: usize = 8 * 1024;

/// What turns report as done. Each turn is read once, however many threads it may have closed.
pub(super) struct Deeds<'a> {
    /// The turns before those that are read.
    unread: &'a [Memory],
    /// What each report of the others is about.
    reports: Vec<BTreeSet<String>>,
    /// The first answer among the others says that it is done, and not what.
    is_bare: bool,
}

impl<'a> Deeds<'a> {
    pub(super) fn of(turns: &'a [Memory]) -> Self {
        Self { unread: turns, reports: Vec::new(), is_bare: false }
    }

    /// Tells whether what a sentence of the turn at this place leaves open is done in one of the
    /// turns after it. Of two places, the later one is asked about first.
    pub(super) fn is_done_after(&mut self, place: usize, matter: &BTreeSet<String>) -> bool {
        while let Some((turn, before)) = self.unread.split_last() {
            if before.len() <= place {
                break;
            }
            self.unread = before;
            self.read(turn);
        }
        // "Added." is about what was said just before.
        self.is_bare
            || self.reports.iter().any(|report| {
                let n_shared = n_shared(matter, report);
                0 < n_shared && matter.len() <= 2 * n_shared
            })
    }

    fn read(&mut self, turn: &Memory) {
        let said = said_in(&turn.text);
        if turn.role == Role::Assistant {
            let is_bare = |first: &&str| is_report(first) && matter_done(first).is_empty();
            self.is_bare = said.first().is_some_and(is_bare);
        }
        self.reports.extend(reports(said));
    }
}

/// Returns what each report of a text is about.
pub(in crate::remarks) fn reports_in(text: &str) -> Vec<BTreeSet<String>> {
    reports(said_in(text)).collect()
}

fn said_in(text: &str) -> Vec<&str> {
    let ranges = at_the_ends(text, READ_BYTES).into_iter();
    ranges.filter_map(|range| text.get(range)).collect()
}

fn reports(said: Vec<&str>) -> impl Iterator<Item = BTreeSet<String>> {
    let reports = said.into_iter().filter(|part| is_report(part)).map(matter_done);
    reports.filter(|report| !report.is_empty()).take(REPORTS_MAX)
}

/// What a report is about, without the words that make it one.
fn matter_done(part: &str) -> BTreeSet<String> {
    let is_own = |word: &String| !is_one_of(word, DEEDS) && !is_one_of(word, AROUND);
    matter_of(part).into_iter().filter(is_own).collect()
}

/// Tells whether a sentence says that something is done.
fn is_report(sentence: &str) -> bool {
    let wording = Wording::of(sentence);
    let n_words = wording.len();
    let is_deed = |(place, word): (usize, &str)| {
        let is_early = place < REPORT_PLACE_MAX;
        (is_early || place + 1 == n_words) && is_one_of(word, DEEDS)
            || is_early && 5 < word.len() && word.ends_with("ed") && !is_one_of(word, NO_DEEDS)
    };
    !wording.is_question && !wording.has_any(NOT_DONE) && wording.words().enumerate().any(is_deed)
}

/// What was done to something.
const DEEDS: &str = "\
     done|added|fixed|written|wrote|made|built|set|put|sent|gone|removed|created|renewed|updated|\
     finished|completed|closed|resolved|shipped|merged|pushed|deployed|changed|moved|ergänzt|\
     erledigt|gemacht|hinzugefügt|eingefügt|eingebaut|eingetragen|angelegt|geschrieben|behoben|\
     repariert|korrigiert|entfernt|gelöscht|geändert|angepasst|aktualisiert|umgestellt|\
     umbenannt|erneuert|fertig|verschickt|gesendet|nachgereicht|drin|готово|сделано|сделал|\
     добавил|добавила|добавлено|исправил|исправлено|написал|удалил|удалено|обновил|обновлено|\
     fait|ajouté|ajoutée|corrigé|corrigée|écrit|supprimé|supprimée|créé|créée|terminé|hecho|\
     hecha|listo|añadido|añadida|agregado|agregada|corregido|escrito|eliminado|creado|terminado";

/// Words around a deed that name nothing.
const AROUND: &str = "\
     that|this|it's|c'est|already|just|also|there|here|have|been|works|work|eben|gerade|bereits|\
     sofort|gleich|habe|wurde|sind|alles|уже|déjà|aussi|voilà|también|acabo";

/// Heard is not done.
const NO_DEEDS: &str = "\
     noted|parked|postponed|deferred|agreed|planned|scheduled|queued|listed|tracked|logged|\
     recorded|needed|wanted|failed|skipped|opened|indeed|wished|delayed|blocked|expected|\
     remembered|supposed|unchanged|untouched|unfinished";

/// What makes a report something else: it is still to come, or only written down.
const NOT_DONE: &str = "\
     not|isn't|hasn't|haven't|didn't|won't|wasn't|yet|will|i'll|we'll|would|could|should|can|if|\
     once|when|before|until|later|list|todo|todos|to do|backlog|note|notes|issue|ticket|\
     milestone|reminder|down|aufgeschrieben|notiert|vermerkt|записал|noté|anotado|open|left|\
     remains|still|nicht|noch|nie|kein|keine|werde|wird|würde|könnte|sollte|wenn|\
     sobald|bis|später|liste|notiz|offen|bleibt|fehlt|не|нет|ещё|еще|буду|\
     если|когда|список|pas|encore|si|quand|liste|reste|no|todavía|aún|cuando|lista|queda";
