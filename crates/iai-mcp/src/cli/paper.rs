//! How text meets a terminal: made harmless, laid out in lines, with what was sought marked, and
//! times in words. Knows nothing about what is printed, and prints nothing.

mod layout;
mod moment;
mod visible;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(super) use layout::{Piece, beside, dotted, layout, plain_lines, snippet};
pub(super) use moment::{age, short_age};
pub(super) use visible::{guarded, visible};

/// Narrower terminals are written to as if they were this wide.
const WIDTH_MIN: usize = 20;
/// Longer lines are hard to read.
const WIDTH_MAX: usize = 120;

/// What a stretch of text is, for those who see colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Good,
    Careful,
    Bad,
    Quiet,
    /// Words that were looked for.
    Match,
}

impl Tone {
    /// Every tone.
    const ALL: [Self; 5] = [Self::Good, Self::Careful, Self::Bad, Self::Quiet, Self::Match];

    /// Returns the sequence that begins it on a terminal.
    const fn sequence(self) -> &'static str {
        match self {
            Self::Good => "\x1b[32m",
            Self::Careful => "\x1b[33m",
            Self::Bad => "\x1b[31m",
            Self::Quiet => "\x1b[2m",
            Self::Match => "\x1b[1;33m",
        }
    }
}

/// Ends every tone.
const PLAIN: &str = "\x1b[0m";

/// Whether the reader sees tones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    Shown,
    Off,
}

/// Writes text in a tone.
pub(super) fn tinted(colours: Colours, tone: Tone, text: &str) -> String {
    match colours {
        Colours::Shown => format!("{}{text}{PLAIN}", tone.sequence()),
        Colours::Off => text.to_owned(),
    }
}

/// What a page for a person is made for: their terminal, their clock.
pub(crate) struct Look {
    pub(crate) colours: Colours,
    /// The terminal's columns.
    pub(crate) width: usize,
    pub(crate) now: Timestamp,
    pub(crate) zone: TimeZone,
}

impl Look {
    /// Returns how long a line may be.
    pub(super) fn line_width(&self) -> usize {
        self.width.clamp(WIDTH_MIN, WIDTH_MAX)
    }

    pub(super) fn tint(&self, tone: Tone, text: &str) -> String {
        tinted(self.colours, tone, text)
    }

    /// Writes laid out pieces, what was sought in its tone.
    pub(super) fn line(&self, pieces: &[Piece]) -> String {
        let written = pieces.iter().map(|piece| match piece.is_match {
            true => self.tint(Tone::Match, &piece.text),
            false => piece.text.clone(),
        });
        written.collect()
    }

    /// Tells a time by the reader's clock, to the minute; what is no time stays as it is.
    pub(super) fn date(&self, time: &str) -> String {
        match time.parse::<Timestamp>() {
            Ok(at) => at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
            Err(_) => visible(time).into_owned(),
        }
    }

    /// Tells how long ago that was.
    pub(super) fn age(&self, time: &str) -> String {
        time.parse().map_or_else(|_| String::new(), |at| age(at, self.now))
    }

    /// Tells how long ago that was, in four characters.
    pub(super) fn short_age(&self, time: &str) -> String {
        time.parse().map_or_else(|_| String::new(), |at| short_age(at, self.now))
    }
}
