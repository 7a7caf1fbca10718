//! Finds the transcripts of every host under a home folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::recognise::{by_name, conversation, file_name};
use super::{HostKind, Source};

/// The deepest a transcript lies under its host's folder.
const DEPTH_MAX: usize = 8;

/// The most files looked at; a home with more of them is read in part.
const FILES_MAX: usize = 500_000;

/// Where hosts keep transcripts.
const FOLDERS: &[(&str, HostKind)] = &[
    (".claude/projects", HostKind::ClaudeCode),
    (".config/claude/projects", HostKind::ClaudeCode),
    (".codex/sessions", HostKind::Codex),
    (".codex/archived_sessions", HostKind::Codex),
    (".gemini/tmp", HostKind::GeminiCli),
    (".gemini/antigravity/brain", HostKind::Antigravity),
    (".gemini/antigravity-ide/brain", HostKind::Antigravity),
    (".gemini/antigravity-cli/brain", HostKind::Antigravity),
    (".local/share/opencode/storage/session", HostKind::OpenCode),
    (".copilot/session-state", HostKind::CopilotCli),
    (".pi/agent/sessions", HostKind::Pi),
    (".qwen/projects", HostKind::QwenCode),
    (".qwen/tmp", HostKind::QwenCode),
    (".cursor/projects", HostKind::Cursor),
];

/// A transcript that is there to be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) source: Source,
    /// The session, where the path tells; the file may say more.
    pub(crate) session: Option<String>,
}

/// Returns every transcript of every host under this home, in order of host and path. Folders that
/// are not there or may not be read have none.
pub(crate) fn discover(home: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut n_files = 0;
    for (folder, host) in FOLDERS {
        let mut paths = files_under(&home.join(folder), &mut n_files);
        paths.sort();
        found.extend(paths.into_iter().filter(|path| !has_fuller_copy(path)).filter_map(|path| {
            let source = by_name(*host, &path)?;
            let session = session_of(*host, &path);
            Some(Found { path, source, session })
        }));
    }
    found
}

/// Antigravity writes a conversation twice, and cuts long texts in one of the two.
fn has_fuller_copy(path: &Path) -> bool {
    file_name(path) == "transcript.jsonl" && path.with_file_name("transcript_full.jsonl").is_file()
}

/// Links are not followed: they may lead in a circle, or to the same file twice.
fn files_under(root: &Path, n_files: &mut usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() && *n_files < FILES_MAX {
                *n_files += 1;
                files.push(entry.path());
            }
        }
    }
    files
}

fn session_of(host: HostKind, path: &Path) -> Option<String> {
    let name = file_name(path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let session = match host {
        HostKind::ClaudeCode if stem.starts_with("agent-") => session_above(path)?,
        // `rollout-2026-05-01T10-00-00-<session>`, and `_<rollout>` behind it in newer names.
        HostKind::Codex => stem.get("rollout-2026-05-01T10-00-00-".len()..)?.split('_').next()?,
        HostKind::CopilotCli if stem == "events" => file_name(path.parent()?),
        HostKind::Pi => stem.rsplit_once('_')?.1,
        HostKind::Antigravity => file_name(conversation(path)?),
        // The name holds only the beginning of the session's id.
        HostKind::GeminiCli => return None,
        HostKind::ClaudeCode
        | HostKind::OpenCode
        | HostKind::CopilotCli
        | HostKind::QwenCode
        | HostKind::Cursor => stem,
    };
    (!session.is_empty()).then(|| session.to_owned())
}

/// Returns the session a file is named after, for turns that do not say theirs.
pub(crate) fn session_named(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.split('.').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// A sub-agent's file lies in `<session>/subagents`; an old one lies beside the sessions.
fn session_above(path: &Path) -> Option<&str> {
    let folder = path.ancestors().find(|folder| file_name(folder) == "subagents")?;
    Some(file_name(folder.parent()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: &[&str], want: &[(&str, &str, Option<&str>)]) {
        let home = tempfile::tempdir().unwrap();
        for file in files {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let found = discover(home.path());
        let got: Vec<_> = found
            .iter()
            .map(|found| {
                let path = found.path.strip_prefix(home.path()).unwrap().to_str().unwrap();
                (path, found.source.host.name(), found.session.as_deref())
            })
            .collect();
        assert_eq!(got, want);
    }

    #[test]
    fn every_hosts_transcripts_are_found() {
        let codex = ".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-0a-1.jsonl";
        let cold = ".codex/archived_sessions/rollout-2026-05-01T10-00-00-0b_7.jsonl.zst";
        let agent = ".claude/projects/-p/s1/subagents/agent-a7.jsonl";
        let logs = |name: &str| format!(".gemini/{name}/.system_generated/logs");
        let cut = format!("{}/transcript.jsonl", logs("antigravity-ide/brain/c-1"));
        let also_cut = format!("{}/transcript.jsonl", logs("antigravity-cli/brain/c-2"));
        let full = also_cut.replace("transcript", "transcript_full");
        let open_code = ".local/share/opencode/storage/session/p/ses_1.json";
        check(
            &[
                ".claude/projects/-p/s1.jsonl",
                ".claude/projects/-p/notes.md",
                ".claude/projects/-p/agent-old.jsonl",
                ".claude/history.jsonl",
                agent,
                codex,
                cold,
                ".codex/sessions/index.jsonl",
                ".gemini/tmp/h/chats/session-2026-05-01-ab.json",
                ".gemini/tmp/h/logs.json",
                open_code,
                ".local/share/opencode/storage/message/ses_1/msg_1.json",
                ".copilot/session-state/u-1/events.jsonl",
                ".pi/agent/sessions/--p--/2026-05-01_u-2.jsonl",
                ".qwen/projects/-p/chats/u-3.jsonl",
                ".cursor/projects/p/agent-transcripts/u-4/u-4.jsonl",
                ".cursor/projects/p/agent-transcripts/u-4/subagents/u-5.jsonl",
                ".cursor/projects/p/agent-transcripts/old.txt",
                ".cursor/projects/p/worker.jsonl",
                &cut,
                ".gemini/antigravity-ide/brain/c-1/task.md",
                &also_cut,
                &full,
            ],
            &[
                (".claude/projects/-p/agent-old.jsonl", "claude-code", None),
                (agent, "claude-code", Some("s1")),
                (".claude/projects/-p/s1.jsonl", "claude-code", Some("s1")),
                (codex, "codex", Some("0a-1")),
                (cold, "codex", Some("0b")),
                (".gemini/tmp/h/chats/session-2026-05-01-ab.json", "gemini-cli", None),
                (&cut, "antigravity", Some("c-1")),
                (&full, "antigravity", Some("c-2")),
                (open_code, "opencode", Some("ses_1")),
                (".copilot/session-state/u-1/events.jsonl", "copilot-cli", Some("u-1")),
                (".pi/agent/sessions/--p--/2026-05-01_u-2.jsonl", "pi", Some("u-2")),
                (".qwen/projects/-p/chats/u-3.jsonl", "qwen-code", Some("u-3")),
                (
                    ".cursor/projects/p/agent-transcripts/u-4/subagents/u-5.jsonl",
                    "cursor",
                    Some("u-5"),
                ),
                (".cursor/projects/p/agent-transcripts/u-4/u-4.jsonl", "cursor", Some("u-4")),
            ],
        );
        check(&[], &[]);
    }

    #[test]
    fn depth_ends_and_circles_are_not_walked() {
        let deep = format!(".claude/projects/{}s.jsonl", "d/".repeat(DEPTH_MAX + 1));
        check(&[&deep], &[]);
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude/projects/p");
        fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("again")).unwrap();
        fs::write(folder.join("s.jsonl"), "").unwrap();
        assert_eq!(discover(home.path()).len(), 1);
    }
}
