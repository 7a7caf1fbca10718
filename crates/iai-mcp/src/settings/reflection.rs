//! The setting `reflection`: off, or the program that is asked once a night.

use std::time::Duration;

use super::table::{REFLECTION_SECS, REFLECTION_SECS_MAX, REFLECTION_VARIABLES_MAX};

/// Words of a command.
const WORDS_MAX: usize = 64;
const OFF: &str = "off";

/// Variables every program needs to find its way; no other is passed on unasked.
const VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
];

/// What the config file says.
pub(super) struct ReflectionConfig<'a> {
    pub(super) command: Option<&'a str>,
    pub(super) seconds: Option<u64>,
    pub(super) further: &'a [String],
}

/// The program that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReflectionSetting {
    /// The program and its arguments; never empty.
    pub(crate) command: Vec<String>,
    pub(crate) limit: Duration,
    /// Everything it sees of the environment.
    pub(crate) environment: Vec<(String, String)>,
}

impl ReflectionConfig<'_> {
    /// Understands the setting; `None` when it is off. The error says what is wrong with it.
    pub(super) fn understood(
        &self,
        get: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<ReflectionSetting>, String> {
        let Some(text) = self.command.map(str::trim).filter(|text| *text != OFF) else {
            return Ok(None);
        };
        let command = words_of(text)?;
        if command.is_empty() || WORDS_MAX < command.len() {
            return Err(format!("`reflection` is neither `{OFF}` nor a command"));
        }
        let seconds = self.seconds.unwrap_or(REFLECTION_SECS);
        if !(1..=REFLECTION_SECS_MAX).contains(&seconds) {
            return Err(format!(
                "`reflection_timeout_secs` is not between 1 and {REFLECTION_SECS_MAX}"
            ));
        }
        if REFLECTION_VARIABLES_MAX < self.further.len() {
            return Err(format!(
                "`reflection_environment` names more than {REFLECTION_VARIABLES_MAX}"
            ));
        }
        let further = self.further.iter().map(String::as_str);
        let names = VARIABLES.iter().copied().chain(further);
        let environment =
            names.filter_map(|name| get(name).map(|value| (name.to_owned(), value))).collect();
        Ok(Some(ReflectionSetting { command, limit: Duration::from_secs(seconds), environment }))
    }
}

/// Splits a command at blanks; what stands in single or double quotes stays together. Nothing is
/// expanded and no shell is run: who wants one writes `sh -c '…'`.
fn words_of(text: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in text.chars() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            Some(_) => word.get_or_insert_default().push(letter),
            None if matches!(letter, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    match quote {
        Some(mark) => Err(format!("`reflection` has a {mark} that is never closed")),
        None => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Option<ReflectionSetting>, String> {
        let config: super::super::Config = serde_json::from_str(json).unwrap();
        config
            .reflection()
            .understood(|name| matches!(name, "PATH" | "KEY" | "SECRET").then(|| "v".to_owned()))
    }

    #[test]
    fn it_is_off_unless_somebody_names_a_program() {
        assert_eq!(read("{}"), Ok(None));
        assert_eq!(read(r#"{"reflection": "off"}"#), Ok(None));
        let on = read(r#"{"reflection": "claude -p 'be short' --x=\"a b\"c"}"#).unwrap().unwrap();
        assert_eq!(on.command, ["claude", "-p", "be short", "--x=a bc"]);
        assert_eq!(on.limit, Duration::from_secs(120));
        assert_eq!(on.environment, [("PATH".to_owned(), "v".to_owned())]);
    }

    #[test]
    fn only_named_variables_are_passed_on() {
        let on = read(r#"{"reflection": "x", "reflection_environment": ["KEY", "NONE"]}"#);
        let names: Vec<String> =
            on.unwrap().unwrap().environment.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "KEY"]);
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        for bad in [
            r#"{"reflection": ""}"#,
            r#"{"reflection": "a 'b"}"#,
            r#"{"reflection": "a", "reflection_timeout_secs": 0}"#,
            r#"{"reflection": "a", "reflection_timeout_secs": 5000}"#,
        ] {
            assert!(read(bad).is_err_and(|error| error.contains("reflection")), "{bad}");
        }
    }
}
