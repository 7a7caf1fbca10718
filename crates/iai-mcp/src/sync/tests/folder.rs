//! The folder, with everything a file sync does to one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::sync::remote::{self, FolderRemote};

struct Shared {
    folder: TempDir,
    vault: VaultId,
}

impl Shared {
    fn new() -> Self {
        let (folder, vault) = (tempfile::tempdir().unwrap(), new_vault());
        remote::set_up(folder.path().to_str().unwrap(), vault).unwrap();
        Self { folder, vault }
    }

    /// Another machine that looks at the same folder, or at its copy.
    fn remote(&self) -> FolderRemote {
        FolderRemote::with_patience(self.folder.path(), Duration::ZERO)
    }

    fn chain_folder(&self, machine: MachineId) -> PathBuf {
        let vault = self.folder.path().join("iai-sync-1").join(self.vault.to_string());
        vault.join(machine.to_string())
    }

    fn segments(&self, machine: MachineId) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.chain_folder(machine)).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

fn append(remote: &mut FolderRemote, vault: VaultId, entries: &[Entry]) {
    assert_eq!(remote.append(vault, entries).unwrap(), Appended::Kept);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_folder_behaves_like_a_remote() {
    let shared = Shared::new();
    let mut place = remote::open(shared.folder.path().to_str().unwrap()).unwrap();
    behaves_like_a_remote(&mut place, shared.vault);
    assert_eq!(place.notes(), Vec::<String>::new());
}

#[test]
fn a_folder_wakes_a_waiter() {
    let shared = Shared::new();
    wakes_a_waiter(&mut shared.remote(), &mut shared.remote(), shared.vault);
}

#[test]
fn only_the_whole_path_of_a_folder_that_is_there_is_an_address() {
    for odd in ["", "notes", "./notes", "~/notes", "http://host/x"] {
        assert!(matches!(remote::open(odd), Err(RemoteError::Refused(_))), "{odd}");
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("not mounted");
    let refused = remote::set_up(missing.to_str().unwrap(), new_vault());
    assert!(matches!(refused, Err(RemoteError::Refused(_))));
    // A disk that is not mounted leaves an empty folder: nothing is made in it by the way.
    let mut remote = FolderRemote::with_patience(folder.path(), Duration::ZERO);
    let vault = new_vault();
    assert!(matches!(remote.heads(vault), Err(RemoteError::Away(_))));
    let entries = chain(vault, new_machine(), 1, 1);
    assert!(matches!(remote.append(vault, &entries), Err(RemoteError::Away(_))));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn many_small_segments_become_few() {
    let shared = Shared::new();
    let (machine, mut remote) = (new_machine(), shared.remote());
    let whole = chain(shared.vault, machine, 100, 700);
    for entry in &whole {
        append(&mut remote, shared.vault, std::slice::from_ref(entry));
    }
    assert!(shared.segments(machine).len() < 32, "{:?}", shared.segments(machine));
    assert_eq!(read_all(&mut shared.remote(), shared.vault, machine), whole);
    assert_eq!(read_all(&mut remote, shared.vault, machine), whole);
}

#[test]
fn a_large_batch_becomes_several_segments_that_are_read_in_steps() {
    let shared = Shared::new();
    let machine = new_machine();
    let whole = chain(shared.vault, machine, 10_000, 1000);
    append(&mut shared.remote(), shared.vault, &whole);
    let lengths = shared.segments(machine).into_iter().map(|path| path.metadata().unwrap().len());
    assert_eq!(lengths.filter(|n_bytes| *n_bytes < 5 * 1024 * 1024).count(), 3);
    let mut reader = shared.remote();
    let mut all = Vec::new();
    while all.len() < whole.len() {
        let page = reader.fetch(shared.vault, machine, all.len() as u64, 500_500).unwrap();
        assert_eq!(page.len(), 500.min(whole.len() - all.len()));
        all.extend(page);
    }
    assert_eq!(all, whole);
}

#[test]
fn a_half_copied_segment_is_not_there_yet() {
    let shared = Shared::new();
    let machine = new_machine();
    let whole = chain(shared.vault, machine, 4, 100);
    let mut writer = shared.remote();
    append(&mut writer, shared.vault, &whole[..2]);
    let before = shared.segments(machine);
    append(&mut writer, shared.vault, &whole[2..]);
    let new = shared.segments(machine).into_iter().find(|path| !before.contains(path)).unwrap();
    let bytes = fs::read(&new).unwrap();
    // Too short, and as long but not filled yet.
    let mut sparse = bytes.clone();
    sparse[200..].fill(0);
    for half in [&bytes[..bytes.len() - 1], &bytes[..0], &sparse] {
        fs::write(&new, half).unwrap();
        let mut reader = shared.remote();
        assert_eq!(read_all_that_is_there(&mut reader, shared.vault, machine), whole[..2]);
        let head = Head { machine, counter: 2 };
        assert_eq!(reader.heads(shared.vault).unwrap(), [head], "{} bytes", half.len());
        let stuck = reader.fetch(shared.vault, machine, 2, NO_LIMIT).unwrap_err();
        let name = new.file_name().unwrap().to_str().unwrap();
        assert!(matches!(&stuck, RemoteError::Damaged(told) if told.contains(name)), "{stuck}");
        assert_eq!(reader.notes().len(), 1, "{:?}", reader.notes());
        // The rest arrives; a copy has the time of its original or a later one.
        fs::write(&new, &bytes).unwrap();
        let later = fs::File::open(&new).unwrap();
        later.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
        assert_eq!(read_all(&mut reader, shared.vault, machine), whole);
        assert_eq!(reader.notes(), Vec::<String>::new());
    }
}

fn read_all_that_is_there(
    remote: &mut FolderRemote,
    vault: VaultId,
    machine: MachineId,
) -> Vec<Entry> {
    remote.fetch(vault, machine, 0, NO_LIMIT).unwrap()
}

#[test]
fn overlapping_segments_tell_one_story() {
    let shared = Shared::new();
    let machine = new_machine();
    let mut whole = chain(shared.vault, machine, 40, 60);
    let mut writer = shared.remote();
    append(&mut writer, shared.vault, &whole[..20]);
    let older = keep_copies(&shared, machine);
    let erased = [5, 11].map(|at| whole[at].name);
    // Two machines erase at once, each in its own copy of the folder.
    writer.erase(shared.vault, &erased[..1]).unwrap();
    let of_one = keep_copies(&shared, machine);
    restore(&shared, machine, &older);
    shared.remote().erase(shared.vault, &erased[1..]).unwrap();
    restore(&shared, machine, &of_one);
    for at in [5, 11] {
        whole[at] = without_payload(&whole[at]);
    }
    let mut reader = shared.remote();
    assert_eq!(read_all(&mut reader, shared.vault, machine), whole[..20]);
    // The file sync brings back what was taken away, and the owner goes on.
    restore(&shared, machine, &older);
    assert_eq!(shared.segments(machine).len(), 3);
    let mut writer = shared.remote();
    append(&mut writer, shared.vault, &whole[20..]);
    assert_eq!(read_all(&mut writer, shared.vault, machine), whole);
    assert_eq!(read_all(&mut reader, shared.vault, machine), whole);
    assert_eq!(shared.segments(machine).len(), 2, "what is there twice was not put in order");
    let gone = [chain_payload(&older, 5), chain_payload(&older, 11)];
    for (_, bytes) in keep_copies(&shared, machine) {
        for payload in &gone {
            assert!(!bytes.windows(payload.len()).any(|window| window == payload), "kept");
        }
    }
}

type Copies = Vec<(PathBuf, Vec<u8>)>;

fn keep_copies(shared: &Shared, machine: MachineId) -> Copies {
    let paths = shared.segments(machine).into_iter();
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

fn restore(_shared: &Shared, _machine: MachineId, copies: &Copies) {
    for (path, bytes) in copies {
        fs::write(path, bytes).unwrap();
    }
}

/// Returns the payload of an entry by its place, in a segment of payloads of sixty bytes.
fn chain_payload(copies: &Copies, at: usize) -> Vec<u8> {
    let (head, entry) = (8 + 16 + 16 + 8 + 4, 4 + 32 + 32 + 4);
    let start = head + at * (entry + 60) + entry;
    copies[0].1[start..start + 60].to_vec()
}

#[test]
fn two_that_erase_the_same_write_the_same_file() {
    let shared = Shared::new();
    let machine = new_machine();
    let whole = chain(shared.vault, machine, 5, 60);
    append(&mut shared.remote(), shared.vault, &whole);
    let older = keep_copies(&shared, machine);
    let mut results = Vec::new();
    for order in [[1, 3], [3, 1]] {
        for path in shared.segments(machine) {
            fs::rename(&path, shared.folder.path().join("aside")).unwrap();
        }
        restore(&shared, machine, &older);
        for at in order {
            shared.remote().erase(shared.vault, &[whole[at].name]).unwrap();
        }
        results.push(keep_copies(&shared, machine));
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0].len(), 1);
}

#[test]
fn a_chain_that_two_machines_write_ends_where_they_part() {
    let shared = Shared::new();
    let machine = new_machine();
    let common = chain(shared.vault, machine, 3, 10);
    append(&mut shared.remote(), shared.vault, &common);
    let before = shared.segments(machine);
    // Each writes in its own copy of the folder, and then the copies meet.
    let (mut one, mut other) = (shared.remote(), shared.remote());
    let left = continued(shared.vault, machine, &common, 2, 10);
    let right = continued(shared.vault, machine, &common, 1, 10);
    append(&mut one, shared.vault, &left);
    let new = shared.segments(machine).into_iter().find(|path| !before.contains(path)).unwrap();
    let aside = shared.folder.path().join("aside");
    fs::rename(&new, &aside).unwrap();
    append(&mut other, shared.vault, &right);
    fs::rename(&aside, &new).unwrap();
    let mut reader = shared.remote();
    assert_eq!(reader.heads(shared.vault).unwrap(), [Head { machine, counter: 3 }]);
    assert_eq!(read_all(&mut reader, shared.vault, machine), common);
    assert!(reader.notes()[0].contains("entry 4"), "{:?}", reader.notes());
    let forked = Appended::Forked(EntryName { machine, counter: 4 });
    for (remote, branch) in [(&mut one, &left), (&mut other, &right)] {
        let next = continued(shared.vault, machine, branch, 1, 10);
        assert_eq!(remote.append(shared.vault, &next).unwrap(), forked);
    }
}

#[test]
fn conflict_copies_and_strange_files_are_left_out() {
    let shared = Shared::new();
    let machine = new_machine();
    let whole = chain(shared.vault, machine, 2, 10);
    append(&mut shared.remote(), shared.vault, &whole);
    let folder = shared.chain_folder(machine);
    let segment = shared.segments(machine)[0].clone();
    let stem = segment.file_stem().unwrap().to_str().unwrap().to_owned();
    for name in [
        format!("{stem}.sync-conflict-20260101-120000-ABCDEFG.seg"),
        format!("{stem} (conflicted copy 2026-01-01).seg"),
        format!(".{stem}.seg.1234.tmp"),
        ".DS_Store".to_owned(),
        "9-9-9-zz.seg".to_owned(),
    ] {
        fs::write(folder.join(name), "strange").unwrap();
    }
    fs::write(folder.parent().unwrap().join("README"), "strange").unwrap();
    let mut reader = shared.remote();
    assert_eq!(reader.heads(shared.vault).unwrap(), [Head { machine, counter: 2 }]);
    assert_eq!(read_all(&mut reader, shared.vault, machine), whole);
    assert_eq!(reader.notes().len(), 1, "{:?}", reader.notes());
    assert!(reader.notes()[0].starts_with("2 conflict copies"), "{:?}", reader.notes());
}

#[test]
fn links_are_not_followed() {
    let shared = Shared::new();
    let machine = new_machine();
    let whole = chain(shared.vault, machine, 1, 10);
    append(&mut shared.remote(), shared.vault, &whole);
    let segment = shared.segments(machine)[0].clone();
    let aside = shared.folder.path().join("aside");
    fs::rename(&segment, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &segment).unwrap();
    assert_eq!(shared.remote().heads(shared.vault).unwrap(), []);
    let folder = shared.chain_folder(new_machine());
    std::os::unix::fs::symlink(shared.folder.path(), &folder).unwrap();
    let refused = shared.remote().heads(shared.vault).unwrap_err();
    assert!(matches!(&refused, RemoteError::Refused(told) if told.contains("link")), "{refused}");
    fs::rename(&folder, shared.folder.path().join("link")).unwrap();
    let invitations = shared.folder.path().join("iai-sync-1/invitations");
    std::os::unix::fs::symlink(shared.folder.path(), &invitations).unwrap();
    assert!(shared.remote().put_invitation("a", b"b", i64::MAX).is_err());
}

#[test]
fn files_are_for_their_owner_unless_the_folder_was_given_to_a_group() {
    for (given, folders, files) in
        [(0o700, 0o700, 0o600), (0o755, 0o700, 0o600)].into_iter().chain([(0o770, 0o770, 0o660)])
    {
        let (folder, vault, machine) = (tempfile::tempdir().unwrap(), new_vault(), new_machine());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(given)).unwrap();
        remote::set_up(folder.path().to_str().unwrap(), vault).unwrap();
        let shared = Shared { folder, vault };
        append(&mut shared.remote(), vault, &chain(vault, machine, 1, 10));
        assert_eq!(mode(&shared.chain_folder(machine)), folders, "{given:o}");
        assert_eq!(mode(&shared.segments(machine)[0]), files, "{given:o}");
    }
}

#[test]
fn names_of_invitations_lead_nowhere_else() {
    let shared = Shared::new();
    for name in ["", "..", "a/b", "a.b", "ü", &"x".repeat(129)] {
        let refused = shared.remote().put_invitation(name, b"x", i64::MAX);
        assert!(matches!(refused, Err(RemoteError::Refused(_))), "{name}");
        assert!(shared.remote().take_invitation(name, 0).is_err(), "{name}");
    }
}
