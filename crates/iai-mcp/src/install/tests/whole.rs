//! Files that are ours from the first byte to the last, in folders that may not be there.

use super::*;

const TEXT: &str = "# Written by iai-mcp\n[Unit]\n";
const NAME: &str = ".config/systemd/user/x.service";

impl Machine {
    fn run_whole(&self, action: Action, text: &str) -> usize {
        let installer = self.installer("/b/iai-mcp");
        let file = HostFile::whole("systemd", self.path(NAME), text);
        let mut n_changes = 0;
        for step in installer.plan_files(action, vec![file]).unwrap() {
            if let Outlook::Change(change) = &step.outlook {
                installer.apply(action, &step.file, change).unwrap();
                n_changes += 1;
            }
        }
        n_changes
    }
}

#[test]
fn a_file_goes_with_every_folder_that_was_made_for_it() {
    let machine = Machine::new();
    fs::create_dir(machine.path(".config")).unwrap();
    assert_eq!(machine.run_whole(Action::Install, TEXT), 1);
    assert_eq!(machine.run_whole(Action::Install, TEXT), 0, "it is so already");
    let newer = format!("{TEXT}X=1\n");
    assert_eq!(machine.run_whole(Action::Install, &newer), 1);
    assert_eq!(machine.run_whole(Action::Uninstall, TEXT), 1, "whatever it ought to be by now");
    assert!(machine.path(".config").is_dir() && !machine.path(".config/systemd").exists());
    assert!(!machine.home.install_ledger().exists());
}

#[test]
fn a_file_that_was_never_put_in_place_leaves_no_folder_and_no_note() {
    let machine = Machine::new();
    fs::create_dir(machine.path(".config")).unwrap();
    machine.run_whole(Action::Install, TEXT);
    // As if killed after the ledger was written and before the rename.
    let aside = ".config/systemd/user/.x.service.iai-mcp-0123456789abcdef.tmp";
    fs::rename(machine.path(NAME), machine.path(aside)).unwrap();
    let files = [HostFile::whole("systemd", machine.path(NAME), TEXT)];
    let installer = machine.installer("/b/iai-mcp");
    assert_eq!(installer.unfinished(&files), [machine.path(aside)]);
    installer.clear_unfinished(&files).unwrap();
    assert!(machine.path(".config").is_dir() && !machine.path(".config/systemd").exists());
    assert!(!machine.home.install_ledger().exists());
    machine.run_whole(Action::Install, TEXT);
    installer.clear_unfinished(&files).unwrap();
    assert!(machine.path(NAME).exists() && machine.home.install_ledger().exists());
}

#[test]
fn a_file_that_was_there_comes_back() {
    let machine = Machine::new();
    machine.write(NAME, "theirs");
    let before = machine.snapshot();
    machine.run_whole(Action::Install, TEXT);
    assert_eq!(fs::read_to_string(machine.path(NAME)).unwrap(), TEXT);
    machine.run_whole(Action::Uninstall, TEXT);
    let after = machine.snapshot();
    assert_eq!(after, before);
}

#[test]
fn without_a_ledger_only_what_bears_our_mark_goes() {
    let machine = Machine::new();
    machine.write(NAME, format!("{TEXT}# edited\n"));
    assert_eq!(machine.run_whole(Action::Uninstall, TEXT), 1);
    assert!(!machine.path(NAME).exists());
    machine.write(NAME, "[Unit]\n");
    assert_eq!(machine.run_whole(Action::Uninstall, TEXT), 0);
    assert!(machine.path(NAME).exists());
}

#[test]
fn a_broken_file_we_never_touched_keeps_nobody_from_leaving() {
    let machine = Machine::new();
    machine.write(".claude/settings.json", "{,}");
    machine.uninstall(&[Host::Claude]);
    machine.write(".claude/settings.json", "{, \"/b/iai-mcp\"}");
    let refused = machine.run(Action::Uninstall, &[Host::Claude], "/b/iai-mcp");
    assert_eq!(refused.len(), 1, "{refused:?}");
}
