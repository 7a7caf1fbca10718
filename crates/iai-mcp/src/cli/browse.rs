//! `browse`: an interactive search, as one types, like that of a shell's history.
//!
//! One loop, one match: keys, answers and signals come in as events; questions are asked on threads
//! of their own, so that no key ever waits. Drawn on stderr, so that stdout is free for what was
//! chosen: `iai-mcp browse | less`.

mod asking;
mod editing;
mod screen;
mod state;
mod terminal;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use anyhow::{Context as _, bail};
use clap::Args;
use crossterm::event as keyboard;
use jiff::tz::TimeZone;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::memories::{page, whole_memory};
use super::output::Output;
use super::paper::{Colours, Look};
use super::project_here;
use crate::client::Client;
use crate::clock;
use crate::fields::Fields as _;
use asking::{Found, Latest, Shown, answer_previews, answer_searches};
use screen::Screen;
use state::{Scope, State, Wish};

/// What a program that ends by a signal exits with, beside the signal's number.
const SIGNALLED: u8 = 128;

#[derive(Args)]
pub(super) struct BrowseArguments {
    /// Words to begin with
    words: Vec<String>,
    /// Begin with the memories of this folder's project; Tab switches to all and back
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
}

/// What happens.
enum Event {
    Key(keyboard::KeyEvent),
    Pasted(String),
    Resized,
    Found(Found),
    Shown(Box<Shown>),
    Signal(i32),
    /// A thread this depends on has ended.
    Broken(String),
}

/// How it ended.
enum End {
    Left,
    Chosen(String),
    Signal(i32),
}

pub(super) fn run(
    client: &Client,
    arguments: &BrowseArguments,
    colours: Colours,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!("browse needs a terminal; `iai-mcp recall WORDS` prints what it finds");
    }
    let project = project_here(arguments.project.as_ref());
    let scope = if arguments.project.is_some() { Scope::Project } else { Scope::All };
    let state = State::new(arguments.words.join(" "), project, scope);
    let ended = browse(client, state, colours)?;
    match ended {
        End::Left => {}
        End::Signal(number) => {
            let code = SIGNALLED.saturating_add(u8::try_from(number).unwrap_or(0));
            return Ok(ExitCode::from(code));
        }
        End::Chosen(id) => {
            let memory = whole_memory(client, &id)?;
            output.show(&memory, |memory| match output.look() {
                Some(look) => page::whole(memory, &look),
                None => memory.at("literal_surface").as_str().unwrap_or_default().to_owned(),
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn browse(client: &Client, mut state: State, colours: Colours) -> anyhow::Result<End> {
    let (events, inbox) = mpsc::channel();
    let searches = Arc::new(Latest::default());
    let previews = Arc::new(Latest::default());
    begin("search", &events, answer_searches(client.clone(), Arc::clone(&searches)))?;
    begin("preview", &events, answer_previews(client.clone(), Arc::clone(&previews)))?;
    begin("signals", &events, hear_signals()?)?;
    let mut screen = Screen::new(terminal::enter()?);
    // After the terminal is ours, or the first keys would come a line at a time.
    begin("keys", &events, read_keys)?;
    searches.put(state.search());
    loop {
        let look = Look { colours, width: 0, now: clock::now(), zone: TimeZone::system() };
        screen.draw(&mut state, &look)?;
        match next_wish(&inbox, &mut state, &mut screen)? {
            Wish::Nothing => {}
            Wish::Search => searches.put(state.search()),
            Wish::Copy(text) => state.remark(terminal::copy(&text)?),
            Wish::Leave => return Ok(End::Left),
            Wish::Choose(id) => return Ok(End::Chosen(id)),
            Wish::Signal(number) => return Ok(End::Signal(number)),
        }
        if let Some(id) = state.preview_wanted() {
            previews.put(id);
        }
    }
}

/// Takes one event.
fn next_wish(
    inbox: &Receiver<Event>,
    state: &mut State,
    screen: &mut Screen,
) -> anyhow::Result<Wish> {
    Ok(match inbox.recv().context("waiting for a key")? {
        Event::Key(key) => state.press(key),
        Event::Pasted(text) => state.paste(&text),
        Event::Found(found) => state.take_found(found),
        Event::Shown(shown) => state.take_shown(*shown),
        Event::Signal(number) => Wish::Signal(number),
        Event::Resized => {
            screen.resize()?;
            Wish::Nothing
        }
        Event::Broken(what) => bail!("the {what} broke; nothing was changed"),
    })
}

/// Starts a thread that sends events until the other end is gone.
fn begin(
    name: &'static str,
    events: &Sender<Event>,
    work: impl FnOnce(&Sender<Event>) + Send + 'static,
) -> anyhow::Result<()> {
    let events = events.clone();
    let thread = thread::Builder::new().name(name.to_owned());
    thread
        .spawn(move || {
            let alarm = Alarm { name, events };
            work(&alarm.events);
        })
        .with_context(|| format!("starting the {name}"))?;
    Ok(())
}

/// Tells the loop that a thread ended, however it did.
struct Alarm {
    name: &'static str,
    events: Sender<Event>,
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.events.send(Event::Broken(self.name.to_owned())).ok();
    }
}

fn read_keys(events: &Sender<Event>) {
    while let Ok(event) = keyboard::read() {
        let event = match event {
            keyboard::Event::Key(key) => Event::Key(key),
            keyboard::Event::Paste(text) => Event::Pasted(text),
            keyboard::Event::Resize(..) => Event::Resized,
            keyboard::Event::FocusGained
            | keyboard::Event::FocusLost
            | keyboard::Event::Mouse(_) => continue,
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

fn hear_signals() -> anyhow::Result<impl FnOnce(&Sender<Event>) + Send> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context("listening for signals")?;
    Ok(move |events: &Sender<Event>| {
        for number in signals.forever() {
            if events.send(Event::Signal(number)).is_err() {
                return;
            }
        }
    })
}
