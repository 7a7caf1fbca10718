//! What is on the screen and what a key does to it. Draws nothing, asks nothing.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde_json::Value;

use super::asking::{Found, Search, Shown};
use super::editing::{Edit, Line};
use crate::fields::Fields as _;

/// Rows a page key moves by.
const PAGE: usize = 10;
/// Lines the preview scrolls by.
const SCROLL: usize = 5;

/// Whose memories are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    All,
    Project,
}

/// What the loop has to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    Search,
    Copy(String),
    Choose(String),
    Leave,
    Signal(i32),
}

/// Everything that is on the screen.
pub(super) struct State {
    pub(super) line: Line,
    pub(super) scope: Scope,
    pub(super) project: String,
    pub(super) hits: Vec<Value>,
    pub(super) selected: usize,
    pub(super) shown: Option<Shown>,
    /// The first line of the preview that is seen.
    pub(super) scroll: usize,
    pub(super) is_helping: bool,
    pub(super) is_degraded: bool,
    /// Said once, until the next key.
    pub(super) remark: Option<String>,
    /// Somebody wants to copy what is still being read.
    is_copy_wanted: bool,
    n_asked: u64,
    n_answered: u64,
    /// The memory whose preview was asked for last.
    asked_id: Option<String>,
}

impl State {
    pub(super) fn new(words: String, project: String, scope: Scope) -> Self {
        Self {
            line: Line::new(words),
            scope,
            project,
            hits: Vec::new(),
            selected: 0,
            shown: None,
            scroll: 0,
            is_helping: false,
            is_degraded: false,
            remark: None,
            is_copy_wanted: false,
            n_asked: 0,
            n_answered: 0,
            asked_id: None,
        }
    }

    /// Returns what to ask for now; answers to whatever was asked before are stale from here on.
    pub(super) fn search(&mut self) -> Search {
        self.n_asked += 1;
        Search {
            number: self.n_asked,
            words: self.line.text().to_owned(),
            project: (self.scope == Scope::Project).then(|| self.project.clone()),
        }
    }

    /// Tells whether an answer is on its way.
    pub(super) fn is_searching(&self) -> bool {
        self.n_answered != self.n_asked
    }

    pub(super) fn take_found(&mut self, found: Found) -> Wish {
        if found.number != self.n_asked {
            return Wish::Nothing;
        }
        self.n_answered = found.number;
        match found.result {
            Ok(hits) => {
                self.is_degraded = found.is_degraded;
                self.hits = hits;
            }
            Err(error) => {
                self.hits = Vec::new();
                self.remark = Some(error);
            }
        }
        self.select(0);
        Wish::Nothing
    }

    pub(super) fn take_shown(&mut self, shown: Shown) -> Wish {
        if self.selected_id() == Some(shown.id.as_str()) {
            self.shown = Some(shown);
        }
        self.copy()
    }

    /// Returns the memory that has to be read for its preview, once.
    pub(super) fn preview_wanted(&mut self) -> Option<String> {
        let selected = self.selected_id().map(str::to_owned);
        if selected == self.asked_id {
            return None;
        }
        self.asked_id.clone_from(&selected);
        self.shown = None;
        selected
    }

    /// Says something until the next key.
    pub(super) fn remark(&mut self, text: String) {
        self.remark = Some(text);
    }

    pub(super) fn paste(&mut self, text: &str) -> Wish {
        let letters = text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter });
        let mut has_changed = false;
        for letter in letters {
            has_changed |= self.line.edit(Edit::Insert(letter));
        }
        if has_changed { Wish::Search } else { Wish::Nothing }
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Wish {
        if key.kind == KeyEventKind::Release {
            return Wish::Nothing;
        }
        self.remark = None;
        if std::mem::take(&mut self.is_helping) {
            return Wish::Nothing;
        }
        let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char(letter) if has_control => self.press_control(letter),
            KeyCode::Char(letter) => self.edit(Edit::Insert(letter)),
            KeyCode::Backspace => self.edit(Edit::DeleteBefore),
            KeyCode::Delete => self.edit(Edit::DeleteAfter),
            KeyCode::Left => self.edit(Edit::Left),
            KeyCode::Right => self.edit(Edit::Right),
            KeyCode::Home => self.edit(Edit::Start),
            KeyCode::End => self.edit(Edit::End),
            KeyCode::Up => self.select(self.selected.saturating_sub(1)),
            KeyCode::Down => self.select(self.selected + 1),
            KeyCode::PageUp => self.select(self.selected.saturating_sub(PAGE)),
            KeyCode::PageDown => self.select(self.selected + PAGE),
            KeyCode::Enter => match self.selected_id() {
                Some(id) => Wish::Choose(id.to_owned()),
                None => Wish::Nothing,
            },
            KeyCode::Tab => {
                self.scope = match self.scope {
                    Scope::All => Scope::Project,
                    Scope::Project => Scope::All,
                };
                Wish::Search
            }
            KeyCode::F(1) => {
                self.is_helping = true;
                Wish::Nothing
            }
            KeyCode::Esc => Wish::Leave,
            _ => Wish::Nothing,
        }
    }

    fn press_control(&mut self, letter: char) -> Wish {
        match letter {
            'c' | 'g' => Wish::Leave,
            'p' => self.select(self.selected.saturating_sub(1)),
            'n' => self.select(self.selected + 1),
            'f' => self.scroll_to(self.scroll + SCROLL),
            'b' => self.scroll_to(self.scroll.saturating_sub(SCROLL)),
            'a' => self.edit(Edit::Start),
            'e' => self.edit(Edit::End),
            'h' => self.edit(Edit::DeleteBefore),
            'w' => self.edit(Edit::DeleteWord),
            'u' => self.edit(Edit::Clear),
            'd' if self.line.text().is_empty() => Wish::Leave,
            'd' => self.edit(Edit::DeleteAfter),
            'y' => {
                self.is_copy_wanted = true;
                self.copy()
            }
            _ => Wish::Nothing,
        }
    }

    fn edit(&mut self, edit: Edit) -> Wish {
        if self.line.edit(edit) { Wish::Search } else { Wish::Nothing }
    }

    fn select(&mut self, place: usize) -> Wish {
        self.selected = place.min(self.hits.len().saturating_sub(1));
        self.scroll = 0;
        self.is_copy_wanted = false;
        Wish::Nothing
    }

    fn scroll_to(&mut self, line: usize) -> Wish {
        self.scroll = line;
        Wish::Nothing
    }

    pub(super) fn selected_id(&self) -> Option<&str> {
        self.hits.get(self.selected)?.at("record_id").as_str()
    }

    /// Copies if that is wanted, as soon as there is something to copy.
    fn copy(&mut self) -> Wish {
        match self.whole_text().filter(|_| self.is_copy_wanted) {
            Some(text) => {
                self.is_copy_wanted = false;
                Wish::Copy(text)
            }
            None => Wish::Nothing,
        }
    }

    /// The words of the selected memory; `None` while they are still being read.
    fn whole_text(&self) -> Option<String> {
        let memory = self.shown.as_ref()?.result.as_ref().ok()?;
        memory.at("literal_surface").as_str().map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn control(letter: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)
    }

    fn found(state: &State, ids: &[&str]) -> Found {
        let hits = ids.iter().map(|id| json!({"record_id": id})).collect();
        Found { number: state.n_asked, result: Ok(hits), is_degraded: false }
    }

    fn state(ids: &[&str]) -> State {
        let mut state = State::new(String::new(), "/p".to_owned(), Scope::All);
        state.search();
        let found = found(&state, ids);
        state.take_found(found);
        state
    }

    #[test]
    fn every_letter_asks_and_a_stale_answer_is_dropped() {
        let mut state = state(&["a"]);
        assert_eq!(state.press(key(KeyCode::Char('x'))), Wish::Search);
        assert_eq!(state.search().words, "x");
        let stale = found(&state, &["old"]);
        assert_eq!(state.press(key(KeyCode::Char('y'))), Wish::Search);
        assert_eq!(state.search().words, "xy");
        state.take_found(stale);
        assert_eq!((state.selected_id(), state.is_searching()), (Some("a"), true));
        let fresh = found(&state, &["new"]);
        state.take_found(fresh);
        assert_eq!((state.selected_id(), state.is_searching()), (Some("new"), false));
    }

    #[test]
    fn the_selection_stays_inside_and_is_read_once() {
        let mut state = state(&["a", "b"]);
        assert_eq!(state.preview_wanted().as_deref(), Some("a"));
        assert_eq!(state.preview_wanted(), None);
        for press in [key(KeyCode::Down), control('n'), key(KeyCode::PageDown)] {
            state.press(press);
            assert_eq!(state.selected_id(), Some("b"));
        }
        assert_eq!(state.preview_wanted().as_deref(), Some("b"));
        let late = Shown { id: "a".to_owned(), result: Ok(json!({})), beside: json!({}) };
        state.take_shown(late);
        assert!(state.shown.is_none(), "a preview of what is not selected any more");
        for press in [control('p'), key(KeyCode::Up), key(KeyCode::PageUp)] {
            state.press(press);
            assert_eq!(state.selected_id(), Some("a"));
        }
        assert_eq!(state.press(key(KeyCode::Enter)), Wish::Choose("a".to_owned()));
    }

    #[test]
    fn keys_do_what_the_help_says() {
        let mut state = state(&[]);
        assert_eq!(state.press(key(KeyCode::Enter)), Wish::Nothing);
        assert_eq!(state.press(control('y')), Wish::Nothing);
        assert_eq!(state.press(key(KeyCode::Tab)), Wish::Search);
        assert_eq!(state.search().project.as_deref(), Some("/p"));
        state.press(key(KeyCode::F(1)));
        assert!(state.is_helping);
        assert_eq!(state.press(key(KeyCode::Esc)), Wish::Nothing, "leaves the help only");
        assert!(!state.is_helping);
        for leave in [key(KeyCode::Esc), control('c'), control('g'), control('d')] {
            assert_eq!(state.press(leave), Wish::Leave);
        }
        assert_eq!(state.paste("two\nwords\x1b"), Wish::Search);
        assert_eq!(state.line.text(), "two words");
        assert_eq!(state.press(control('w')), Wish::Search);
        assert_eq!(state.press(control('d')), Wish::Nothing, "there is a word to delete from");
    }

    #[test]
    fn a_failure_is_said_and_the_copy_is_the_whole_text() {
        let mut state = state(&["a", "b"]);
        let shown = || Shown {
            id: "a".to_owned(),
            result: Ok(json!({"literal_surface": "all of it"})),
            beside: Value::Null,
        };
        let copied = Wish::Copy("all of it".to_owned());
        assert_eq!(state.press(control('y')), Wish::Nothing, "it is still being read");
        assert_eq!(state.take_shown(shown()), copied);
        assert_eq!(state.take_shown(shown()), Wish::Nothing, "once");
        assert_eq!(state.press(control('y')), copied);
        state.search();
        let result = Err("the key is gone".to_owned());
        state.take_found(Found { number: state.n_asked, result, is_degraded: false });
        assert_eq!((state.remark.as_deref(), state.hits.len()), (Some("the key is gone"), 0));
    }
}
