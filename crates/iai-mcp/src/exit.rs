//! From an error to an exit code. The message already says what to do next; the code is for
//! scripts.

use std::process::ExitCode;
use std::sync::Arc;

use iai_wire::ConnectError;
use thiserror::Error;

use crate::client::{CallError, StartFailed};
use crate::daemon;
use crate::home::UnusableFolder;
use crate::settings::SettingsError;

/// What a run ends with, as documented in `docs/commands.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Failure = 1,
    Usage = 2,
    Settings = 3,
    DaemonUnreachable = 4,
    StoreOrKey = 5,
}

/// A command line that the parser lets through and nobody can follow; says what would be right.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Misuse(pub(crate) &'static str);

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Ends the process at once, without what C does when one exits: SQLCipher would free its keys and
/// its heap, while threads of ours may still read or write with them. All that has to be on disk is
/// there, what was printed is out, and a write cut off here is one cut off by a kill.
pub(crate) fn leave(code: ExitCode) -> ! {
    signal_hook::low_level::exit(number_of(code))
}

/// Has a file that may not grow any more (`ulimit -f`) be an error of whoever writes it: without a
/// handler the signal would end a hook in its host's face, and the daemon without a word.
pub(crate) fn outlive_file_limit() {
    // Where no handler can be set, all is as it was.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()).ok();
}

/// The standard library tells nobody which number a code is.
fn number_of(code: ExitCode) -> i32 {
    let number = (0..=u8::MAX).find(|number| ExitCode::from(*number) == code);
    number.unwrap_or(Exit::Failure as u8).into()
}

impl Exit {
    /// Finds the kind of an error anywhere in its chain.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        for cause in error.chain() {
            if cause.is::<SettingsError>() {
                return Self::Settings;
            }
            if cause.is::<daemon::ListenError>() || cause.is::<UnusableFolder>() {
                return Self::Settings;
            }
            if let Some(failed) = cause.downcast_ref::<StartFailed>() {
                return Self::from_code(failed.code);
            }
            if cause.is::<Misuse>() {
                return Self::Usage;
            }
            if daemon::is_taken_place(cause) {
                return Self::Failure;
            }
            if daemon::is_store_error(cause) {
                return Self::StoreOrKey;
            }
            if let Some(call) = cause.downcast_ref::<CallError>() {
                return Self::of_call(call);
            }
        }
        Self::Failure
    }

    /// Takes over the code another process of ours ended with.
    fn from_code(code: Option<i32>) -> Self {
        match code {
            Some(2) => Self::Usage,
            Some(3) => Self::Settings,
            Some(4) => Self::DaemonUnreachable,
            Some(5) => Self::StoreOrKey,
            _ => Self::Failure,
        }
    }

    fn of_call(error: &CallError) -> Self {
        match error {
            _ if error.is_about_the_store() => Self::StoreOrKey,
            CallError::Refused { code: iai_wire::code::UNREACHABLE, .. } => Self::DaemonUnreachable,
            CallError::Refused { code: iai_wire::code::BAD_PARAMS, .. } => Self::Usage,
            CallError::Refused { .. } => Self::Failure,
            CallError::Connect(ConnectError::PathTooLong { .. }) => Self::Settings,
            CallError::Connect(_) | CallError::Broken(_) | CallError::OtherProtocol { .. } => {
                Self::DaemonUnreachable
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: impl Into<anyhow::Error>, want: Exit) {
        assert_eq!(Exit::of(&error.into().context("outermost")), want);
    }

    #[test]
    fn a_code_is_the_number_it_was_made_of() {
        for number in [0, 1, 5, 130, 255] {
            assert_eq!(number_of(ExitCode::from(number)), i32::from(number));
        }
        assert_eq!(number_of(Exit::StoreOrKey.into()), 5);
    }

    #[test]
    fn the_kind_is_found_under_its_context() {
        check(SettingsError::HomeUnset, Exit::Settings);
        let refused = |code| CallError::Refused { code, message: String::new() };
        check(refused(iai_wire::code::STORE), Exit::StoreOrKey);
        check(refused(iai_wire::code::BAD_PARAMS), Exit::Usage);
        check(refused(iai_wire::code::UNREACHABLE), Exit::DaemonUnreachable);
        check(refused(iai_wire::code::FAILED), Exit::Failure);
        check(anyhow::anyhow!("anything else"), Exit::Failure);
        check(Misuse("say what to forget"), Exit::Usage);
    }
}
