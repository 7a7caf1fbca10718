//! Whose process is at the other end of a connection to the page.
//!
//! The loopback address is open to every user of the machine, and the ticket stands for a moment
//! among the arguments of the program that opens the browser, where all of them can read it. The
//! kernel's table of connections says who made each of them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddrV4};

/// The connections of this machine: those made as IPv4, and those made as IPv6 to an IPv4 address.
const TABLES: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
/// More than a machine with all its ports in use writes into one table.
const TABLE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Root reads our key file anyway, and forwards ports: containers and virtual machines do so.
const ROOT: u32 = 0;

/// Tells whether the connection from `peer` to our `port` was made by this user, or by root.
pub(super) fn is_ours(peer: SocketAddrV4, port: u16) -> bool {
    let us = rustix::process::getuid().as_raw();
    let own = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    // Only Linux has such a table; elsewhere the ticket has to do.
    !cfg!(target_os = "linux")
        || TABLES.iter().any(|table| {
            let Ok(table) = File::open(table) else { return false };
            let mut lines = BufReader::new(table.take(TABLE_BYTES_MAX)).lines();
            let found = lines.find_map(|line| owner(&line.ok()?, peer, own));
            found.is_some_and(|owner| owner == us || owner == ROOT)
        })
}

/// Returns who made the connection from `here` to `there`, if this line of the table is about it.
fn owner(line: &str, here: SocketAddrV4, there: SocketAddrV4) -> Option<u32> {
    let mut words = line.split_ascii_whitespace().skip(1);
    if !is_address(words.next()?, here) || !is_address(words.next()?, there) {
        return None;
    }
    // State, queues, timer and retransmissions; then the user, a timeout and the socket's number.
    let owner = words.nth(4)?.parse().ok()?;
    // A connection whose process is gone has no number any more, and is told to be root's.
    let is_held = words.nth(1).is_some_and(|number| number != "0");
    is_held.then_some(owner)
}

/// Compares with an address as the table writes it: four bytes in the machine's order, the last of
/// sixteen in the other table, and the port.
#[expect(clippy::host_endian_bytes, reason = "the table is written in the machine's order")]
fn is_address(told: &str, address: SocketAddrV4) -> bool {
    let Some((ip, port)) = told.split_once(':') else { return false };
    let bytes = u32::from_ne_bytes(address.ip().octets());
    ip.ends_with(&format!("{bytes:08X}")) && u16::from_str_radix(port, 16) == Ok(address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener, TcpStream};

    use super::*;

    fn local(port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
    }

    #[track_caller]
    fn check(line: &str, expect: Option<u32>) {
        assert_eq!(owner(line, local(0xB0DE), local(0x1F90)), expect, "{line}");
    }

    #[test]
    fn the_owner_is_read_from_the_line_of_the_other_end() {
        if cfg!(target_endian = "big") {
            return;
        }
        let rest = "00000000:00000000 00:00000000 00000000  1002        0 41722 1 0 20 4 0 10 -1";
        let ours = "0100007F:1F90 0100007F:B0DE";
        let theirs = "0100007F:B0DE 0100007F:1F90";
        check(&format!("  1: {theirs} 01 {rest}"), Some(1002));
        check(&format!("  1: {ours} 01 {rest}"), None);
        check(&format!("  1: 0100007F:B0DF 0100007F:1F90 01 {rest}"), None);
        let mapped = "0000000000000000FFFF0000";
        check(&format!("  1: {mapped}0100007F:B0DE {mapped}0100007F:1F90 01 {rest}"), Some(1002));
        let gone = "00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 0 10 -1";
        check(&format!("  1: {theirs} 04 {gone}"), None);
        check("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when", None);
        check("", None);
    }

    #[test]
    fn a_connection_of_ours_is_ours_and_one_that_is_not_there_is_nobodys() {
        let listener = TcpListener::bind(local(0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let stream = TcpStream::connect(local(port)).unwrap();
        let SocketAddr::V4(peer) = stream.local_addr().unwrap() else { panic!("not IPv4") };
        assert!(is_ours(peer, port));
        assert_eq!(is_ours(peer, port ^ 1), !cfg!(target_os = "linux"));
    }
}
