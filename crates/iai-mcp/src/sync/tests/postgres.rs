//! PostgreSQL, as it is and as it fails.

use std::sync::mpsc;
use std::thread;

use super::cluster::{Bouncer, Cluster, Tiny, sql};
use super::*;
use crate::sync::remote::{self, Place};

fn open(address: &str) -> Place {
    remote::open(address).unwrap()
}

#[track_caller]
fn check_away(told: Result<impl std::fmt::Debug, RemoteError>, word: &str) {
    match told {
        Err(RemoteError::Away(told)) if told.contains(word) => {}
        other => panic!("not away with `{word}`: {other:?}"),
    }
}

#[track_caller]
fn check_refused(told: Result<impl std::fmt::Debug, RemoteError>, word: &str) {
    match told {
        Err(RemoteError::Refused(told)) if told.contains(word) => {}
        other => panic!("not refused with `{word}`: {other:?}"),
    }
}

/// Writes a chain in batches until all is kept, whatever happens to the server meanwhile.
fn write_all(remote: &mut dyn Remote, vault: VaultId, entries: &[Entry], told: &mpsc::Sender<u64>) {
    for batch in entries.chunks(50) {
        loop {
            match remote.append(vault, batch) {
                Ok(appended) => break assert_eq!(appended, Appended::Kept),
                Err(RemoteError::Away(_)) => {}
                Err(other) => panic!("{other}"),
            }
        }
        told.send(batch.last().unwrap().name.counter).ok();
    }
}

#[test]
fn postgres_behaves_like_a_remote() {
    let Some(cluster) = Cluster::shared() else { return };
    let vault = new_vault();
    let mut place = open(&cluster.prepared(vault));
    behaves_like_a_remote(&mut place, vault);
}

#[test]
fn the_owner_is_used_where_no_user_can_be_made() {
    let Some(cluster) = Cluster::shared() else { return };
    let (vault, owner) = (new_vault(), cluster.database());
    let name = format!("plain_{}", owner.rsplit_once('/').unwrap().1);
    let database = owner.rsplit_once('/').unwrap().1;
    let plain = format!(
        "create role {name} login password 'word';
         grant create on database {database} to {name}"
    );
    sql(&owner, &plain).unwrap();
    let given = owner.replace("owner:secret", &format!("{name}:word"));
    let prepared = remote::set_up(&given, vault).unwrap();
    assert_eq!(prepared.address, given);
    assert!(prepared.notes[0].contains("may not make users"), "{:?}", prepared.notes);
    behaves_like_a_remote(&mut open(&given), vault);
    // Done again it changes nothing.
    assert_eq!(remote::set_up(&given, vault).unwrap().address, given);
}

#[test]
fn setting_up_again_gives_a_new_password_and_keeps_everything() {
    let Some(cluster) = Cluster::shared() else { return };
    let (vault, machine, owner) = (new_vault(), new_machine(), cluster.database());
    let first = remote::set_up(&owner, vault).unwrap().address;
    let entries = chain(vault, machine, 5, 10);
    assert_eq!(open(&first).append(vault, &entries).unwrap(), Appended::Kept);
    let second = remote::set_up(&owner, vault).unwrap().address;
    assert_ne!(first, second);
    check_refused(open(&first).heads(vault), "password");
    assert_eq!(read_all(&mut open(&second), vault, machine), entries);
    // A member has nothing to prepare.
    let third = remote::set_up(&second, vault).unwrap();
    assert_eq!(third.address, second);
    assert_eq!(read_all(&mut open(&second), vault, machine), entries);
    let password = second.split_once("@").unwrap().0.rsplit_once(':').unwrap().1;
    assert!(!cluster.log().contains(password), "the server has seen the password");
}

#[test]
fn a_user_of_one_vault_knows_nothing_of_another() {
    let Some(cluster) = Cluster::shared() else { return };
    let (one, other, owner) = (new_vault(), new_vault(), cluster.database());
    let own = remote::set_up(&owner, one).unwrap().address;
    let foreign = remote::set_up(&owner, other).unwrap().address;
    let (machine, stranger) = (new_machine(), new_machine());
    let entries = chain(one, machine, 3, 10);
    assert_eq!(open(&own).append(one, &entries).unwrap(), Appended::Kept);
    let secret = chain(other, stranger, 4, 10);
    assert_eq!(open(&foreign).append(other, &secret).unwrap(), Appended::Kept);

    let mut place = open(&own);
    assert_eq!(place.heads(other).unwrap(), []);
    assert_eq!(place.fetch(other, stranger, 0, NO_LIMIT).unwrap(), []);
    check_refused(place.append(other, &chain(other, machine, 1, 1)), "vault");
    place.erase(other, &[secret[0].name]).unwrap();
    for (table, n) in [("entry", "3"), ("head", "1"), ("vault", "1"), ("member", "1")] {
        let count = format!("select count(*) from iai_sync.{table}");
        assert_eq!(sql(&own, &count).as_deref(), Ok(n), "{table}");
    }
    let zeros = "decode(repeat('00', 32), 'hex')";
    for denied in [
        // Another vault.
        format!(
            "insert into iai_sync.entry values ('{other}', '{machine}', 9, 1, {zeros}, {zeros})"
        ),
        format!("insert into iai_sync.head values ('{other}', '{machine}', 9, {zeros})"),
        format!("insert into iai_sync.member values (current_user, '{other}')"),
        format!("insert into iai_sync.vault values ('{}')", new_vault()),
        format!("update iai_sync.head set counter = 9, vault = '{other}'"),
        // The own one: what was written stays, but for a payload that goes.
        "update iai_sync.entry set payload = 'another'".to_owned(),
        format!("update iai_sync.entry set digest = {zeros}"),
        "update iai_sync.entry set payload = null, counter = 77".to_owned(),
        "delete from iai_sync.entry".to_owned(),
        "delete from iai_sync.head".to_owned(),
        "truncate iai_sync.entry".to_owned(),
        "alter table iai_sync.entry disable row level security".to_owned(),
        "drop table iai_sync.entry".to_owned(),
        "create table iai_sync.x (y int)".to_owned(),
        "update iai_sync.schema_version set version = 9".to_owned(),
        "select * from iai_sync.invitation".to_owned(),
        "set role owner".to_owned(),
        "create role somebody".to_owned(),
    ] {
        let told = sql(&own, &denied).expect_err(&denied);
        let reasons = ["denied", "row-level security", "must be owner"];
        assert!(reasons.iter().any(|reason| told.contains(reason)), "{denied}: {told}");
    }
    // Nobody but a member gets in at all.
    let nobody = owner.replace("owner:secret", "nobody_here:word");
    check_refused(open(&nobody).heads(one), "password");
    assert_eq!(read_all(&mut open(&foreign), other, stranger), secret);
    assert_eq!(read_all(&mut place, one, machine), entries);
}

#[test]
fn what_somebody_has_to_change_is_refused_with_what_it_is() {
    let Some(cluster) = Cluster::shared() else { return };
    let (vault, owner) = (new_vault(), cluster.database());
    check_refused(open(&owner).heads(vault), "not prepared");
    let own = remote::set_up(&owner, vault).unwrap().address;
    let (user, place) = own.rsplit_once('@').unwrap();
    let wrong = format!("{}:wrong@{place}", user.rsplit_once(':').unwrap().0);
    check_refused(open(&wrong).heads(vault), "password");
    check_refused(
        open(&format!("{}@{place}", user.rsplit_once(':').unwrap().0)).heads(vault),
        "password",
    );
    check_refused(open(&cluster.owner("no_such_database")).heads(vault), "database");
    sql(&owner, "update iai_sync.schema_version set version = 8, oldest_known = 1").unwrap();
    assert_eq!(open(&own).heads(vault).unwrap(), []);
    sql(&owner, "update iai_sync.schema_version set version = 9, oldest_known = 9").unwrap();
    check_refused(open(&own).heads(vault), "newer version of iai-mcp");
    check_refused(remote::set_up(&owner, vault).map(|_| ()), "newer version of iai-mcp");
    sql(&owner, "update iai_sync.schema_version set version = 0, oldest_known = 0").unwrap();
    check_refused(open(&own).heads(vault), "older version of iai-mcp");
}

#[test]
fn the_way_is_verified_unless_it_stays_on_this_machine() {
    let Some(cluster) = Cluster::shared() else { return };
    let vault = new_vault();
    let plain = cluster.prepared(vault);
    let verified = |roots: &str| {
        let roots = cluster.file(roots);
        format!("{plain}?sslmode=verify-full&sslrootcert={}", roots.display())
    };
    let mut place = open(&format!("{}&channel_binding=require", verified("ca.pem")));
    behaves_like_a_remote(&mut place, vault);
    let user = plain.strip_prefix("postgres://").unwrap().split_once(':').unwrap().0;
    let ssl = format!(
        "select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid)
         where usename = '{user}'"
    );
    assert_eq!(sql(&cluster.owner("postgres"), &ssl).as_deref(), Ok("t"));
    wakes_a_waiter(&mut open(&verified("ca.pem")), &mut place, vault);
    // Another name than the certificate's, another authority, none that the system trusts.
    let other_name = verified("ca.pem").replace("@localhost", "@127.0.0.1");
    check_refused(open(&other_name).heads(vault), "certificate");
    check_refused(open(&verified("stranger.pem")).heads(vault), "certificate");
    check_refused(open(&format!("{plain}?sslmode=require")).heads(vault), "certificate");
    check_refused(open(&verified("no such file")).heads(vault), "sslrootcert");
    check_refused(open(&verified("server.key")).heads(vault), "");
}

#[test]
fn a_server_that_is_down_comes_back_and_nothing_is_lost_or_doubled() {
    let Some(cluster) = Cluster::new() else { return };
    let (vault, machine) = (new_vault(), new_machine());
    let address = cluster.prepared(vault);
    let entries = chain(vault, machine, 2000, 300);
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_all(&mut open(&address), vault, &entries, &tell));
        // In the middle of the batches, twice, once without a word to anybody.
        for how in ["fast", "immediate"] {
            told.recv().unwrap();
            cluster.pg_ctl(&["-w", "-t", "60", "-m", how, "restart"]);
        }
        writer.join().unwrap();
    });
    let mut reader = open(&address);
    assert_eq!(read_all(&mut reader, vault, machine), entries);
    reader.wait(Duration::ZERO).unwrap();
    cluster.pg_ctl(&["-w", "-m", "fast", "stop"]);
    check_away(reader.heads(vault), "PostgreSQL");
    check_away(reader.append(vault, &entries), "PostgreSQL");
    check_away(reader.wait(Duration::from_secs(5)), "PostgreSQL");
    check_away(open(&address).heads(vault), "PostgreSQL");
    cluster.pg_ctl(&["-w", "-t", "60", "start"]);
    assert_eq!(reader.heads(vault).unwrap(), [Head { machine, counter: 2000 }]);
    reader.wait(Duration::ZERO).unwrap();
}

#[test]
fn a_connection_that_was_cut_is_made_again() {
    let Some(cluster) = Cluster::shared() else { return };
    let (vault, machine) = (new_vault(), new_machine());
    let address = cluster.prepared(vault);
    let entries = chain(vault, machine, 6, 10);
    let mut place = open(&address);
    place.append(vault, &entries[..3]).unwrap();
    place.wait(Duration::ZERO).unwrap();
    let user = address.strip_prefix("postgres://").unwrap().split_once(':').unwrap().0;
    let cut = format!(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = '{user}'"
    );
    assert_eq!(sql(&cluster.owner("postgres"), &cut).as_deref(), Ok("2"));
    // What listens says so once; what works does not even notice.
    check_away(place.wait(Duration::from_secs(5)), "listens");
    assert_eq!(place.append(vault, &entries[3..]).unwrap(), Appended::Kept);
    place.wait(Duration::ZERO).unwrap();
    assert_eq!(read_all(&mut place, vault, machine), entries);
}

#[test]
fn postgres_wakes_a_waiter() {
    let Some(cluster) = Cluster::shared() else { return };
    let vault = new_vault();
    let address = cluster.prepared(vault);
    let (mut waiter, mut writer) = (open(&address), open(&address));
    wakes_a_waiter(&mut waiter, &mut writer, vault);
    // What was told before is heard first; then what it wrote itself is no news.
    let patience = Duration::from_millis(100);
    let mut waits_all = || {
        let begun = Instant::now();
        waiter.append(vault, &chain(vault, new_machine(), 1, 1)).unwrap();
        waiter.wait(patience).unwrap();
        patience <= begun.elapsed()
    };
    assert!((0..4).any(|_| waits_all()), "woken by itself");
}

#[test]
fn two_write_at_once() {
    let Some(cluster) = Cluster::shared() else { return };
    let vault = new_vault();
    let address = cluster.prepared(vault);
    let (one, other, both) = (new_machine(), new_machine(), new_machine());
    let chains = [one, other, both, both].map(|machine| (machine, chain(vault, machine, 300, 100)));
    // The third and the fourth are two stories of one chain: a copied home.
    let endings: Vec<bool> = thread::scope(|scope| {
        let writers = chains.each_ref().map(|(_, entries)| {
            scope.spawn(|| {
                let mut place = open(&address);
                let batches = entries.chunks(30);
                batches
                    .map(|batch| place.append(vault, batch).unwrap())
                    .all(|a| a == Appended::Kept)
            })
        });
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert!(endings[0] && endings[1]);
    assert!(endings[2] != endings[3], "one of two stories is kept");
    let mut place = open(&address);
    for ((machine, entries), is_kept) in chains.iter().zip(endings) {
        if is_kept {
            assert_eq!(read_all(&mut place, vault, *machine), *entries);
        }
    }
}

#[test]
fn a_long_chain_is_read_in_steps() {
    let Some(cluster) = Cluster::shared() else { return };
    let (vault, machine) = (new_vault(), new_machine());
    let mut place = open(&cluster.prepared(vault));
    let mut entries = chain(vault, machine, 10_000, 200);
    // One that is larger than any step.
    let large = entries.split_off(9_999);
    entries.extend(continued(vault, machine, &entries, 1, 300_000));
    drop(large);
    assert_eq!(place.append(vault, &entries).unwrap(), Appended::Kept);
    let mut all: Vec<Entry> = Vec::new();
    while all.len() < entries.len() {
        let page = place.fetch(vault, machine, all.len() as u64, 100_100).unwrap();
        let n_expected = 500.min(9_999 - all.len()).max(1);
        assert_eq!(page.len(), n_expected, "after {}", all.len());
        all.extend(page);
    }
    assert!(all == entries, "what was read is not what was written");
    // Whatever the limit, an answer has an end.
    assert_eq!(place.fetch(vault, machine, 0, NO_LIMIT).unwrap().len(), 2000);
}

#[test]
fn lost_entries_are_noticed() {
    let Some(cluster) = Cluster::shared() else { return };
    let (vault, machine, owner) = (new_vault(), new_machine(), cluster.database());
    let mut place = open(&remote::set_up(&owner, vault).unwrap().address);
    let entries = chain(vault, machine, 9, 10);
    place.append(vault, &entries).unwrap();
    sql(&owner, "delete from iai_sync.entry where counter = 5").unwrap();
    assert_eq!(place.fetch(vault, machine, 0, NO_LIMIT).unwrap(), entries[..4]);
    let lost = place.fetch(vault, machine, 4, NO_LIMIT).unwrap_err();
    assert!(matches!(&lost, RemoteError::Damaged(told) if told.contains("entry 5")), "{lost}");
}

#[test]
fn a_full_disk_loses_nothing() {
    // A full disk is everybody's trouble: this one has a server of its own.
    let Some(cluster) = &Cluster::new() else { return };
    let Some(tiny) = Tiny::new(cluster, "14m") else { return };
    let (vault, machine) = (new_vault(), new_machine());
    let owner = cluster.owner("postgres");
    let name = format!("t{}", vault.to_string().replace('-', ""));
    let space = format!("create tablespace {name} location '{}'", tiny.path.display());
    sql(&owner, &space).unwrap();
    sql(&owner, &format!("create database {name} tablespace {name}")).unwrap();
    let mut place = open(&remote::set_up(&cluster.owner(&name), vault).unwrap().address);
    let entries = chain(vault, machine, 80, 250_000);
    let mut n_kept = 0;
    let full = entries.chunks(2).find_map(|batch| {
        let told = place.append(vault, batch);
        n_kept += if told.is_ok() { 2 } else { 0 };
        told.err()
    });
    check_away(Err::<(), _>(full.unwrap()), "disk is full");
    assert!(0 < n_kept);
    assert_eq!(read_all(&mut place, vault, machine), entries[..n_kept]);
    // Somebody makes room, and the same entries are sent again.
    tiny.grow("64m");
    assert_eq!(place.append(vault, &entries).unwrap(), Appended::Kept);
    assert!(read_all(&mut place, vault, machine) == entries, "what was read is not what was sent");
    let drop = format!("drop database {name} with (force)");
    sql(&owner, &drop).unwrap();
    sql(&owner, &format!("drop tablespace {name}")).unwrap();
}

#[test]
fn everything_works_behind_pgbouncer() {
    let Some(cluster) = Cluster::shared() else { return };
    let vault = new_vault();
    let address = cluster.prepared(vault);
    let Some(bouncer) = Bouncer::before(cluster, &address) else { return };
    assert_ne!(bouncer.address, address);
    // More machines than connections.
    let machines: Vec<MachineId> = (0..6).map(|_| new_machine()).collect();
    let mut places: Vec<Place> = machines.iter().map(|_| open(&bouncer.address)).collect();
    behaves_like_a_remote(&mut places[0], vault);
    let chains: Vec<Vec<Entry>> =
        machines.iter().map(|machine| chain(vault, *machine, 60, 50)).collect();
    for part in 0..6 {
        for (place, entries) in places.iter_mut().zip(&chains) {
            let batch = &entries[part * 10..part * 10 + 10];
            assert_eq!(place.append(vault, batch).unwrap(), Appended::Kept);
        }
    }
    for (machine, entries) in machines.iter().zip(&chains) {
        assert_eq!(read_all(&mut places[5], vault, *machine), *entries);
    }
    // What is told does not arrive here, so somebody looks.
    places[0].wait(Duration::ZERO).unwrap();
    assert!(!places[0].is_told());
    places[0].wait(Duration::from_millis(10)).unwrap();
    let mut direct = open(&address);
    direct.heads(vault).unwrap();
    direct.wait(Duration::ZERO).unwrap();
    assert!(direct.is_told());
}
