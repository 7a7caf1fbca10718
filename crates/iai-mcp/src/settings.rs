//! What the environment and the config file say: the only reader of either.

mod reflection;
#[expect(dead_code, reason = "`cargo xtask docs` reads its words; here they are only names")]
mod table;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use thiserror::Error;

use crate::capture::SecretPolicy;
use crate::home::Home;

use reflection::ReflectionConfig;
pub(crate) use reflection::ReflectionSetting;
pub(crate) use table::IDLE_SHUTDOWN_SECS;
use table::VARIABLES;

const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// Everything a run can be told from outside. Never printed: it may hold the passphrase.
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that the user has")]
pub(crate) struct Settings {
    pub(crate) home: Home,
    /// Opens the store when there is no key file.
    pub(crate) passphrase: Option<String>,
    /// Opens it from `crypto rotate` on.
    pub(crate) new_passphrase: Option<String>,
    /// After how long without work the daemon leaves; `None` means never.
    pub(crate) idle_shutdown: Option<Duration>,
    /// The user said so.
    pub(crate) is_idle_shutdown_chosen: bool,
    /// The host's session, where the host tells its MCP servers.
    pub(crate) host_session: Option<String>,
    /// The user does not want colours.
    pub(crate) is_colour_off: bool,
    /// The user's editor, with its arguments.
    pub(crate) editor: Option<String>,
    /// Where the hosts keep their files; `None` when HOME is not set.
    pub(crate) user_home: Option<PathBuf>,
    /// Where programs keep their settings, when not in `.config`.
    pub(crate) config_folder: Option<PathBuf>,
    /// Where Claude Code keeps its files, when not in `.claude`.
    pub(crate) claude_folder: Option<PathBuf>,
    /// Where Codex keeps its files, when not in `.codex`.
    pub(crate) codex_folder: Option<PathBuf>,
    /// Where programs are looked for.
    pub(crate) program_folders: Vec<PathBuf>,
    /// Tell the assistant what is known about a prompt, unasked.
    pub(crate) recall_on_prompt: bool,
    /// Folders whose sessions are not captured.
    pub(crate) switched_off: Vec<String>,
    /// What is done about secrets in the turns.
    pub(crate) secrets: SecretPolicy,
    /// Offer the assistant a tool that forgets, behind a confirmation.
    pub(crate) allow_forget_tool: bool,
    /// The service lets the daemon reach a network: vaults on a server need it.
    pub(crate) sync_network: bool,
    /// Who is asked to reflect once a night; `None` means nobody.
    pub(crate) reflection: Option<ReflectionSetting>,
    /// What is wrong with the config file. While something is, nothing is captured: it may be the
    /// very file that says what must not be.
    pub(crate) config_error: Option<String>,
}

/// What the config file may hold; other keys are somebody else's.
#[derive(Default, Deserialize)]
struct Config {
    #[serde(default)]
    recall_on_prompt: bool,
    #[serde(default)]
    allow_forget_tool: bool,
    #[serde(default)]
    sync_network: bool,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    secrets: Secrets,
    /// Texts that look like secrets and are none, or their marks.
    #[serde(default)]
    secrets_allowed: Vec<String>,
    #[serde(default)]
    reflection: Option<String>,
    #[serde(default)]
    reflection_timeout_secs: Option<u64>,
    /// Names of further variables that are passed on: keys, mostly.
    #[serde(default)]
    reflection_environment: Vec<String>,
}

impl Config {
    fn reflection(&self) -> ReflectionConfig<'_> {
        ReflectionConfig {
            command: self.reflection.as_deref(),
            seconds: self.reflection_timeout_secs,
            further: &self.reflection_environment,
        }
    }

    fn secret_policy(self) -> SecretPolicy {
        SecretPolicy { is_off: self.secrets == Secrets::Keep, allowed: self.secrets_allowed }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Secrets {
    /// A mark stands in the place of each.
    #[default]
    Replace,
    /// They are stored like any other word.
    Keep,
}

/// A setting that cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum SettingsError {
    #[error("HOME is not set, so there is no place for the memory; set HOME or IAI_MCP_STORE")]
    HomeUnset,
    #[error(
        "HOME is {}, and there is no such folder; make it, or set HOME or IAI_MCP_STORE to one \
         that is there",
        .0.display()
    )]
    HomeMissing(PathBuf),
    #[error("{name} is `{value}`, which is not an absolute path; give one that begins with /")]
    NotAbsolute { name: &'static str, value: String },
    #[error("{name} is `{value}`, which is not a whole number of seconds; 0 means never")]
    NotSeconds { name: &'static str, value: String },
}

impl Settings {
    /// Returns the settings of a daemon in the background, which nobody would start again: it does
    /// not leave for idleness unless the user wants that.
    pub(crate) fn in_background(&self) -> Self {
        let mut settings = self.clone();
        if !self.is_idle_shutdown_chosen {
            settings.idle_shutdown = None;
        }
        settings
    }

    /// Reads the environment.
    #[expect(clippy::disallowed_methods, reason = "this is the one reader of the environment")]
    pub(crate) fn from_environment() -> Result<Self, SettingsError> {
        let settings = Self::from_lookup(|name| {
            let value = std::env::var_os(name)?;
            (!value.is_empty()).then(|| value.to_string_lossy().into_owned())
        })?;
        settings.check_home()?;
        Ok(settings)
    }

    /// A home that is not there is a mistake, or a disk that is not mounted yet: a memory begun in
    /// its place would be hidden as soon as it is.
    fn check_home(&self) -> Result<(), SettingsError> {
        let missing = self
            .user_home
            .as_ref()
            .filter(|home| self.home.root().parent() == Some(home.as_path()) && !home.is_dir());
        missing.map_or(Ok(()), |home| Err(SettingsError::HomeMissing(home.clone())))
    }

    /// Returns what the config file says about secrets by now: a daemon runs for days, and hooks
    /// go by the file of this moment. A file that cannot be read allows nothing.
    pub(crate) fn secrets_now(&self) -> SecretPolicy {
        let home = || Some(self.user_home.as_deref()?.to_string_lossy().into_owned());
        let get = |name: &str| if name == "HOME" { home() } else { None };
        let config = read_config(&self.home.config_file(), &get);
        config.map(|(config, _)| config.secret_policy()).unwrap_or_default()
    }

    /// Reads from any lookup; an empty value counts as unset.
    fn from_lookup(any: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let get = |name: &str| {
            let is_listed = VARIABLES.iter().any(|variable| variable.name == name);
            assert!(is_listed, "{name} is read, so it has a row in settings/table.rs");
            any(name)
        };
        let root = match (get("IAI_MCP_STORE"), get("HOME")) {
            (Some(store), _) => absolute("IAI_MCP_STORE", store)?,
            (None, Some(home)) => absolute("HOME", home)?.join(".iai-mcp"),
            (None, None) => return Err(SettingsError::HomeUnset),
        };
        let socket = get("IAI_DAEMON_SOCKET_PATH")
            .map(|path| absolute("IAI_DAEMON_SOCKET_PATH", path))
            .transpose()?;
        let home = Home::new(root, socket);
        let path = home.config_file();
        let (mut config, reflection, config_error) = match read_config(&path, &any) {
            Ok((config, reflection)) => (config, reflection, None),
            Err(error) => (Config::default(), None, Some(error)),
        };
        let folder = |name| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        Ok(Self {
            home,
            passphrase: get("IAI_MCP_CRYPTO_PASSPHRASE"),
            new_passphrase: get("IAI_MCP_CRYPTO_NEW_PASSPHRASE"),
            idle_shutdown: idle_shutdown(get("IAI_DAEMON_IDLE_SHUTDOWN_SECS"))?,
            is_idle_shutdown_chosen: get("IAI_DAEMON_IDLE_SHUTDOWN_SECS").is_some(),
            host_session: get("CLAUDE_CODE_SESSION_ID"),
            is_colour_off: get("NO_COLOR").is_some() || get("TERM").as_deref() == Some("dumb"),
            editor: get("VISUAL").or_else(|| get("EDITOR")),
            user_home: get("HOME").map(PathBuf::from),
            config_folder: folder("XDG_CONFIG_HOME"),
            claude_folder: folder("CLAUDE_CONFIG_DIR"),
            codex_folder: folder("CODEX_HOME"),
            program_folders: get("PATH").iter().flat_map(std::env::split_paths).collect(),
            recall_on_prompt: config.recall_on_prompt,
            allow_forget_tool: config.allow_forget_tool,
            sync_network: config.sync_network,
            switched_off: std::mem::take(&mut config.ignore),
            secrets: config.secret_policy(),
            reflection,
            config_error,
        })
    }
}

/// Reads the config file; folders come out absolute.
fn read_config(
    path: &Path,
    get: &impl Fn(&str) -> Option<String>,
) -> Result<(Config, Option<ReflectionSetting>), String> {
    let failed = |what: String| format!("{}: {what}", path.display());
    let mut text = String::new();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok((Config::default(), None));
        }
        Err(error) => return Err(failed(error.to_string())),
    };
    let read = file.take(CONFIG_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| failed(error.to_string()))?;
    let mut config: Config =
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let reflection = config.reflection().understood(get).map_err(failed)?;
    let user_home = get("HOME");
    for folder in &mut config.ignore {
        if let (Some(rest), Some(home)) = (folder.strip_prefix("~/"), &user_home) {
            *folder = format!("{home}/{rest}");
        }
        if !folder.starts_with('/') {
            return Err(failed(format!(
                "`ignore` holds `{folder}`, which is not an absolute path"
            )));
        }
    }
    Ok((config, reflection))
}

/// A relative path would mean another store in every folder a hook happens to run in.
fn absolute(name: &'static str, value: String) -> Result<PathBuf, SettingsError> {
    let path = Path::new(&value);
    if path.is_absolute() {
        Ok(path.to_owned())
    } else {
        Err(SettingsError::NotAbsolute { name, value })
    }
}

fn idle_shutdown(value: Option<String>) -> Result<Option<Duration>, SettingsError> {
    let seconds = match value {
        None => IDLE_SHUTDOWN_SECS,
        Some(value) => match value.trim().parse() {
            Ok(seconds) => seconds,
            Err(_) => {
                let name = "IAI_DAEMON_IDLE_SHUTDOWN_SECS";
                return Err(SettingsError::NotSeconds { name, value });
            }
        },
    };
    Ok((0 < seconds).then(|| Duration::from_secs(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl std::fmt::Debug for Settings {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("Settings(…)")
        }
    }

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::from_lookup(|name| {
            let found = pairs.iter().find(|(known, value)| *known == name && !value.is_empty());
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[track_caller]
    fn check(pairs: &[(&str, &str)], root: &str, socket: &str) {
        let home = read(pairs).unwrap().home;
        assert_eq!((home.root(), home.socket()), (Path::new(root), Path::new(socket)));
    }

    #[test]
    fn one_root_and_one_socket_are_resolved() {
        check(&[("HOME", "/h")], "/h/.iai-mcp", "/h/.iai-mcp/.daemon.sock");
        check(&[("HOME", "/h"), ("IAI_MCP_STORE", "/s")], "/s", "/s/.daemon.sock");
        check(&[("IAI_MCP_STORE", "/s"), ("IAI_DAEMON_SOCKET_PATH", "/t/d")], "/s", "/t/d");
        check(&[("HOME", "/h"), ("IAI_MCP_STORE", "")], "/h/.iai-mcp", "/h/.iai-mcp/.daemon.sock");
    }

    #[test]
    fn the_idle_time_has_a_default_and_an_off_switch() {
        let idle = |value| {
            let pairs = [("HOME", "/h"), ("IAI_DAEMON_IDLE_SHUTDOWN_SECS", value)];
            read(&pairs).ok().map(|settings| settings.idle_shutdown)
        };
        assert_eq!(idle(""), Some(Some(Duration::from_secs(1800))));
        assert_eq!(idle("120"), Some(Some(Duration::from_secs(120))));
        assert_eq!(idle("0"), Some(None));
        assert_eq!(idle("soon"), None);
        let in_background = |value| {
            let pairs = [("HOME", "/h"), ("IAI_DAEMON_IDLE_SHUTDOWN_SECS", value)];
            read(&pairs).unwrap().in_background().idle_shutdown
        };
        assert_eq!(in_background(""), None, "nobody would start it again");
        assert_eq!(in_background("120"), Some(Duration::from_secs(120)));
    }

    #[test]
    fn unusable_settings_are_named() {
        assert_eq!(read(&[]).err(), Some(SettingsError::HomeUnset));
        let relative = read(&[("HOME", "h")]).err();
        assert!(matches!(relative, Some(SettingsError::NotAbsolute { name: "HOME", .. })));
    }

    /// Tells the fields of a structure as its reader asks for them, and gives it none.
    struct Asked<'a>(&'a std::cell::Cell<&'static [&'static str]>);

    impl<'de> serde::Deserializer<'de> for Asked<'_> {
        type Error = serde::de::value::Error;

        fn deserialize_struct<V: serde::de::Visitor<'de>>(
            self,
            _name: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            self.0.set(fields);
            self.deserialize_any(visitor)
        }

        fn deserialize_any<V: serde::de::Visitor<'de>>(
            self,
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            let nothing = std::iter::empty::<(&str, &str)>();
            visitor.visit_map(serde::de::value::MapDeserializer::new(nothing))
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
            option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
            ignored_any
        }
    }

    #[test]
    fn the_reference_lists_what_is_read() {
        let fields = std::cell::Cell::new(&[] as &[&str]);
        Config::deserialize(Asked(&fields)).unwrap();
        let mut read: Vec<&str> = fields.get().to_vec();
        let mut listed: Vec<&str> = table::KEYS.iter().map(|key| key.name).collect();
        read.sort_unstable();
        listed.sort_unstable();
        assert_eq!(read, listed);
        let asked = std::cell::RefCell::new(std::collections::BTreeSet::new());
        Settings::from_lookup(|name| {
            asked.borrow_mut().insert(name.to_owned());
            (name == "HOME").then(|| "/nowhere".to_owned())
        })
        .unwrap();
        let listed = VARIABLES.iter().map(|variable| variable.name.to_owned());
        assert_eq!(asked.into_inner(), listed.collect());
    }

    #[test]
    fn a_config_file_is_read_or_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().to_string_lossy().into_owned();
        let with = |text: &str| {
            std::fs::write(folder.path().join("config.json"), text).unwrap();
            read(&[("HOME", "/h"), ("IAI_MCP_STORE", &store)]).unwrap()
        };
        let good = with(r#"{"ignore": ["/a", "~/b"], "recall_on_prompt": true, "user": {}}"#);
        assert_eq!(
            (good.switched_off, good.config_error),
            (vec!["/a".into(), "/h/b".into()], None)
        );
        let keeping = with(r#"{"secrets": "keep", "secrets_allowed": ["[secret:x:00ff]"]}"#);
        assert!(keeping.secrets.is_off && keeping.secrets.allowed.len() == 1);
        assert_eq!(keeping.secrets_now(), keeping.secrets);
        let now = with(r#"{"ignore": ["~/b"], "secrets": "keep"}"#).secrets;
        assert_eq!(keeping.secrets_now(), now, "the file counts as it is by now");
        for bad in [
            "{,}",
            r#"{"secrets": "off"}"#,
            r#"{"ignore": "/a"}"#,
            r#"{"ignore": ["b"]}"#,
            "// x\n{}",
        ] {
            assert!(with(bad).config_error.is_some(), "{bad}");
            assert_eq!(keeping.secrets_now(), SecretPolicy::default(), "{bad}");
        }
    }
}
