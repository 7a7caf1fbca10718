//! A shared folder as a remote: `<folder>/iai-sync-1/<vault>/<machine>/*.seg`, which any file sync
//! or network mount may carry.
//!
//! What others have written may arrive late, in any order, in halves and twice. So a chain here may
//! end earlier than it did a moment ago; it never tells two stories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iai_sync::{Appended, Entry, EntryName, Head, MachineId, Remote, RemoteError, VaultId};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::folder_chain::{ChainName, Shelf, View, is_same, overlapping};
use super::folder_files as files;
use super::folder_invitations as invitations;
use super::folder_keeping::{self as keeping, SEGMENT_BYTES_MAX};
use super::folder_segment as segment;

/// Everything of ours in the folder; another number would be another format.
const ROOT: &str = "iai-sync-1";
/// A file that takes longer to arrive has been left half-copied.
const COPYING_MAX: Duration = Duration::from_mins(10);
/// Nobody tells what happens on a network mount: after so long somebody has to look.
const LOOK_EVERY: Duration = Duration::from_secs(20);
/// A segment that goes while it is read was written again: look again, but not for ever.
const LOOKS_MAX: usize = 3;

/// A folder that keeps the logs of vaults.
pub(crate) struct FolderRemote {
    root: PathBuf,
    shelf: Shelf,
    /// Chains that are written here: news of them is no news.
    own: Arc<Mutex<BTreeSet<MachineId>>>,
    watching: Option<Watching>,
}

/// Drop the watcher and nobody tells any more.
struct Watching {
    _watcher: RecommendedWatcher,
    news: Receiver<()>,
}

impl FolderRemote {
    /// Makes what a vault needs in a folder that is there.
    pub(super) fn set_up(folder: &Path, vault: VaultId) -> Result<(), RemoteError> {
        if !folder.is_dir() {
            let told = format!("{} is no folder, or not mounted: make it first", folder.display());
            return Err(RemoteError::Refused(told));
        }
        let root = folder.join(ROOT);
        files::ensure_folder(&root)?;
        files::ensure_folder(&root.join(vault.to_string()))
    }

    /// Opens a folder; nothing is touched before something is asked of it.
    pub(super) fn new(folder: &Path) -> Self {
        Self::with_patience(folder, COPYING_MAX)
    }

    pub(in crate::sync) fn with_patience(folder: &Path, patience: Duration) -> Self {
        let root = folder.join(ROOT);
        let shelf = Shelf::new(root.clone(), patience);
        Self { root, shelf, own: Arc::default(), watching: None }
    }

    /// Says what is odd about the folder, for people.
    pub(in crate::sync) fn notes(&self) -> Vec<String> {
        self.shelf.notes()
    }

    /// Returns how long all segments of a vault are.
    pub(super) fn kept_bytes(&mut self, vault: VaultId) -> Result<u64, RemoteError> {
        let mut n_bytes = 0;
        for Head { machine, .. } in self.heads(vault)? {
            let view = self.shelf.view(ChainName { vault, machine })?;
            n_bytes += view.segments.iter().map(|segment| segment.n_bytes).sum::<u64>();
        }
        Ok(n_bytes)
    }

    /// An unmounted disk looks like an empty folder: nothing is made in it by the way.
    fn check_root(&self) -> Result<(), RemoteError> {
        if self.root.is_dir() {
            return Ok(());
        }
        let told = "is not there: the folder is not mounted, or has not been copied yet";
        Err(RemoteError::Away(format!("{} {told}", self.root.display())))
    }

    /// Returns entries from the first that is asked for, as far as they are there.
    fn read(
        &mut self,
        chain: ChainName,
        view: &View,
        first: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Entry>, RemoteError> {
        let mut entries = Vec::new();
        let mut n_bytes = 0usize;
        for counter in first..=view.head {
            let Some(entry) = self.shelf.entry(chain, &view.segments, counter)? else { break };
            n_bytes = n_bytes.saturating_add(entry.payload.as_ref().map_or(0, Vec::len));
            if limit_bytes < n_bytes && !entries.is_empty() {
                break;
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// Returns where the chain that is kept goes another way than entries that are handed over.
    fn fork(
        &mut self,
        chain: ChainName,
        view: &View,
        entries: &[Entry],
    ) -> Result<Option<u64>, RemoteError> {
        if view.fork.is_some() {
            return Ok(view.fork);
        }
        for entry in entries {
            let counter = entry.name.counter;
            let Some(before) = counter.checked_sub(1).filter(|_| counter <= view.head + 1) else {
                break;
            };
            if counter <= view.head {
                let kept = self.kept(chain, view, counter)?;
                if !is_same(&kept, entry) {
                    return Ok(Some(counter));
                }
            } else if 0 < before {
                let kept = self.kept(chain, view, before)?;
                if kept.hash(chain.vault) != entry.previous {
                    return Ok(Some(before));
                }
            }
        }
        Ok(None)
    }

    fn kept(&mut self, chain: ChainName, view: &View, counter: u64) -> Result<Entry, RemoteError> {
        let kept = self.shelf.entry(chain, &view.segments, counter)?;
        kept.ok_or_else(|| {
            let folder = self.shelf.folder(chain);
            let told = format!("entry {counter} in {} is not all there yet", folder.display());
            RemoteError::Away(told)
        })
    }

    fn write(&mut self, chain: ChainName, entries: &[Entry]) -> Result<(), RemoteError> {
        files::ensure_folder(&self.shelf.folder(chain))?;
        let mut piece = Vec::new();
        let mut n_bytes = 0u64;
        for entry in entries {
            let more = segment::length(entry) as u64;
            if SEGMENT_BYTES_MAX < n_bytes + more && !piece.is_empty() {
                self.shelf.write(chain, &piece)?;
                piece.clear();
                n_bytes = 0;
            }
            n_bytes += more;
            piece.push(entry.clone());
        }
        self.shelf.write(chain, &piece).map(|_| ())
    }

    fn watch(&mut self) -> Option<&Watching> {
        if self.watching.is_none() {
            let (tell, news) = mpsc::sync_channel(1);
            let own = Arc::clone(&self.own);
            let mut watcher =
                notify::recommended_watcher(move |change: notify::Result<notify::Event>| {
                    if change.map_or(true, |change| is_news(&change, &own)) {
                        // Full means that it is told already.
                        tell.try_send(()).ok();
                    }
                })
                .ok()?;
            watcher.watch(&self.root, RecursiveMode::Recursive).ok()?;
            self.watching = Some(Watching { _watcher: watcher, news });
        }
        self.watching.as_ref()
    }
}

impl Remote for FolderRemote {
    fn heads(&mut self, vault: VaultId) -> Result<Vec<Head>, RemoteError> {
        self.check_root()?;
        let names = files::list(&self.root.join(vault.to_string()))?.unwrap_or_default();
        let mut heads = Vec::new();
        for name in names {
            let Ok(machine) = name.parse::<MachineId>() else { continue };
            if machine.to_string() != name {
                continue;
            }
            let counter = self.shelf.view(ChainName { vault, machine })?.head;
            if 0 < counter {
                heads.push(Head { machine, counter });
            }
        }
        Ok(heads)
    }

    fn fetch(
        &mut self,
        vault: VaultId,
        machine: MachineId,
        counter: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Entry>, RemoteError> {
        self.check_root()?;
        let chain = ChainName { vault, machine };
        let first = counter.saturating_add(1);
        for _ in 0..LOOKS_MAX {
            let view = self.shelf.view(chain)?;
            let entries = self.read(chain, &view, first, limit_bytes)?;
            if !entries.is_empty() || view.head < first {
                return match self.shelf.stuck(chain, first).filter(|_| entries.is_empty()) {
                    Some(path) => Err(RemoteError::Damaged(format!(
                        "{} has been half-copied for a while: copy it again, or have its machine \
                         send it again",
                        path.display()
                    ))),
                    None => Ok(entries),
                };
            }
        }
        Ok(Vec::new())
    }

    fn append(&mut self, vault: VaultId, entries: &[Entry]) -> Result<Appended, RemoteError> {
        self.check_root()?;
        let Some(machine) = super::chain_of(entries)? else { return Ok(Appended::Kept) };
        let chain = ChainName { vault, machine };
        if !self.root.join(vault.to_string()).is_dir() {
            return Err(super::unknown_vault(vault));
        }
        self.own.lock().unwrap_or_else(PoisonError::into_inner).insert(machine);
        let view = self.shelf.view(chain)?;
        if let Some(counter) = self.fork(chain, &view, entries)? {
            return Ok(Appended::Forked(EntryName { machine, counter }));
        }
        let n_known = entries.iter().take_while(|entry| entry.name.counter <= view.head).count();
        let fresh = entries.get(n_known..).unwrap_or_default();
        let Some(first) = fresh.first() else { return Ok(Appended::Kept) };
        if first.name.counter != view.head + 1 {
            return Err(super::gap(first.name, view.head));
        }
        self.write(chain, fresh)?;
        // Somebody else may have written the same place meanwhile.
        let view = self.shelf.view(chain)?;
        if let Some(counter) = view.fork {
            return Ok(Appended::Forked(EntryName { machine, counter }));
        }
        if !overlapping(&view.segments).is_empty() {
            keeping::settle(&mut self.shelf, chain)?;
        }
        keeping::join(&mut self.shelf, chain)?;
        Ok(Appended::Kept)
    }

    fn erase(&mut self, vault: VaultId, entries: &[EntryName]) -> Result<(), RemoteError> {
        self.check_root()?;
        let mut chains: BTreeMap<MachineId, BTreeSet<u64>> = BTreeMap::new();
        for entry in entries {
            chains.entry(entry.machine).or_default().insert(entry.counter);
        }
        for (machine, counters) in chains {
            keeping::erase(&mut self.shelf, ChainName { vault, machine }, &counters)?;
        }
        Ok(())
    }

    fn put_invitation(
        &mut self,
        name: &str,
        sealed: &[u8],
        expires_ms: i64,
    ) -> Result<(), RemoteError> {
        self.check_root()?;
        invitations::put(&self.root, name, sealed, expires_ms)
    }

    fn take_invitation(&mut self, name: &str, now_ms: i64) -> Result<Option<Vec<u8>>, RemoteError> {
        self.check_root()?;
        invitations::take(&self.root, name, now_ms)
    }

    fn wait(&mut self, patience: Duration) -> Result<(), RemoteError> {
        self.check_root()?;
        let is_new = self.watching.is_none();
        let patience = patience.min(LOOK_EVERY);
        let Some(watching) = self.watch() else {
            // Nobody tells: the time passes on a channel that nobody writes to.
            let (_silent, nothing) = mpsc::channel::<()>();
            nothing.recv_timeout(patience).ok();
            return Ok(());
        };
        if is_new {
            // Whatever came between the last look and the watcher, nobody told.
            return Ok(());
        }
        match watching.news.recv_timeout(patience) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.watching = None,
        }
        Ok(())
    }
}

/// Whether somebody else wrote something that may be a segment.
fn is_news(change: &notify::Event, own: &Mutex<BTreeSet<MachineId>>) -> bool {
    if matches!(change.kind, notify::EventKind::Access(notify::event::AccessKind::Open(_))) {
        return false;
    }
    let own = own.lock().unwrap_or_else(PoisonError::into_inner);
    let is_ours = |path: &Path| {
        let chain = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        chain.and_then(|name| name.parse().ok()).is_some_and(|machine| own.contains(&machine))
    };
    let is_whole = |path: &Path| path.extension().is_none_or(|extension| extension == "seg");
    change.need_rescan() || change.paths.iter().any(|path| is_whole(path) && !is_ours(path))
}
