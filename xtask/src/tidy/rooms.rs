//! Which room may know what: the arrows of the house, checked on the paths a file mentions.

use super::Complaint;
use super::tree::{Source, Tree};

/// A room, what must not be named in it, and what is let through all the same.
struct Barred {
    room: &'static str,
    names: &'static [&'static str],
    except: &'static [&'static str],
}

const BARRED: &[Barred] = &[
    Barred {
        room: "crates/iai-wire/src",
        names: &["iai_store", "iai_memory", "iai_embed", "anyhow", "tokio"],
        except: &[],
    },
    Barred {
        room: "crates/iai-store/src",
        names: &["iai_wire", "iai_memory", "iai_embed", "anyhow", "tokio", "UnixStream"],
        except: &[],
    },
    Barred {
        room: "crates/iai-embed/src",
        names: &["iai_wire", "iai_memory", "iai_store", "anyhow", "tokio", "UnixStream"],
        except: &[],
    },
    Barred {
        room: "crates/iai-memory/src",
        names: &["iai_wire", "anyhow", "tokio", "std::fs", "UnixStream"],
        except: &[],
    },
    Barred { room: "crates/iai-mcp/src", names: &["iai_store", "iai_embed"], except: &[] },
    Barred { room: "crates/iai-mcp/src/capture", names: NO_RUNTIME, except: &[] },
    Barred { room: "crates/iai-mcp/src/hook", names: NO_RUNTIME, except: &[] },
    Barred { room: "crates/iai-mcp/src/host", names: NO_RUNTIME, except: &[] },
    Barred { room: "crates/iai-mcp/src/mcp", names: &["crate::daemon"], except: &[] },
    Barred { room: "crates/iai-mcp/src/web", names: &["crate::daemon"], except: &[] },
    Barred {
        room: "crates/iai-mcp/src/bench",
        names: &["crate::daemon", "crate::mcp", "crate::cli", "tokio"],
        except: &["crate::daemon::store_paths"],
    },
    Barred {
        room: "crates/iai-mcp/src/cli",
        names: &["crate::daemon"],
        except: &["crate::daemon::run"],
    },
    Barred {
        room: "crates/iai-mcp/src/daemon",
        names: &["crate::mcp", "crate::hook", "crate::cli", "rmcp"],
        except: &[],
    },
];

/// What a hook and its helpers do without: they must not be able to hurt or slow their host.
const NO_RUNTIME: &[&str] = &["crate::daemon", "crate::mcp", "crate::sync", "tokio"];

/// Names that belong to a few rooms, and the reach of that rule.
struct Confined {
    names: &'static [&'static str],
    reach: Reach,
    rooms: &'static [&'static str],
    instead: &'static str,
}

enum Reach {
    /// What users run, under this folder: files in `src/`, their test modules apart.
    Shipped(&'static str),
    /// Every Rust file under this folder, tests too.
    All(&'static str),
}

const CONFINED: &[Confined] = &[
    Confined {
        names: &["iai_memory"],
        reach: Reach::Shipped("crates/iai-mcp"),
        rooms: &[
            "crates/iai-mcp/src/daemon",
            "crates/iai-mcp/src/client/degraded",
            "crates/iai-mcp/src/model",
            "crates/iai-mcp/src/bench/corpus",
            "crates/iai-mcp/src/bench/guards",
        ],
        instead: "the engine belongs to the daemon; send it a request",
    },
    Confined {
        names: &["tokio_postgres", "deadpool_postgres", "rustls"],
        reach: Reach::All("crates/"),
        rooms: &["crates/iai-mcp/src/sync/remote"],
        instead: "only a remote calls out, and only to the address it was given",
    },
    Confined {
        names: &["unsafe"],
        reach: Reach::All(""),
        rooms: &[
            "crates/iai-cipher/src/kernels",
            "crates/iai-embed/src/kernels",
            "crates/iai-store/src/index/kernels",
            "crates/iai-store/src/kernels",
            "crates/iai-mcp/src/daemon/launchd",
            "crates/iai-mcp/src/hook/kernels",
        ],
        instead: "find a safe way, or do it in kernels.rs or launchd.rs",
    },
    Confined {
        names: &["env::var", "env::var_os", "env::vars", "env::vars_os"],
        reach: Reach::Shipped(""),
        rooms: &["crates/iai-mcp/src/settings", "xtask/src/settings", "crates/iai-fuzz/src"],
        instead: "the environment is read in settings.rs; take the value as a parameter",
    },
    Confined {
        names: &["println!", "print!", "eprintln!", "eprint!", "io::stdout"],
        reach: Reach::Shipped("crates/"),
        rooms: &["crates/iai-mcp/src/cli/output", "crates/iai-mcp/src/mcp", "crates/iai-fuzz/src"],
        instead: "printing is done in cli/output.rs; return the value",
    },
    Confined {
        names: &["thread::sleep", "time::sleep"],
        reach: Reach::All("crates/"),
        rooms: &[],
        instead: "wait for an event with a deadline",
    },
];

/// No room names what it must not know.
pub(super) fn barred(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in &tree.sources {
        for rule in BARRED.iter().filter(|rule| source.is_in(rule.room)) {
            for (line, name) in mentions(source, rule.names, rule.except) {
                let room = rule.room;
                let what = format!("`{name}` has no place in {room}; ask a room that may know it");
                complaints.push(Complaint::new(&source.path, line, what));
            }
        }
    }
}

/// What belongs to few rooms appears only there.
pub(super) fn confined(tree: &Tree, complaints: &mut Vec<Complaint>) {
    for source in &tree.sources {
        for rule in CONFINED {
            if !rule.reach.covers(source) || rule.rooms.iter().any(|room| source.is_in(room)) {
                continue;
            }
            for (line, name) in mentions(source, rule.names, &[]) {
                if rule.reach.includes_line(source, line) {
                    let what = format!("`{name}` is out of place here: {}", rule.instead);
                    complaints.push(Complaint::new(&source.path, line, what));
                }
            }
        }
    }
}

impl Reach {
    fn covers(&self, source: &Source) -> bool {
        match self {
            Self::Shipped(folder) => {
                source.path.starts_with(folder) && source.path.contains("/src/")
            }
            Self::All(folder) => source.path.starts_with(folder),
        }
    }

    fn includes_line(&self, source: &Source, line: usize) -> bool {
        match self {
            Self::Shipped(_) => line <= source.n_shipped_lines,
            Self::All(_) => true,
        }
    }
}

/// Returns each place where one of `names` is mentioned and none of `except` is, once per line.
fn mentions<'a>(
    source: &'a Source,
    names: &'a [&'a str],
    except: &'a [&'a str],
) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for name in &source.names {
        let is_excepted = except.iter().any(|except| name.matches(except));
        for wanted in names.iter().filter(|wanted| !is_excepted && name.matches(wanted)) {
            if !found.contains(&(name.line, *wanted)) {
                found.push((name.line, *wanted));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[track_caller]
    fn check_barred(path: &str, code: &str, want: Option<(&str, &str)>) {
        let want = want.map(|(name, room)| {
            format!("{path}:1: `{name}` has no place in {room}; ask a room that may know it")
        });
        let want: Vec<&str> = want.iter().map(String::as_str).collect();
        expect(barred, &[(path, code)], &want);
    }

    #[test]
    fn every_barred_name_is_noticed_in_its_room() {
        for rule in BARRED {
            for name in rule.names {
                let path = format!("{}/some/file.rs", rule.room);
                check_barred(&path, &format!("use {name}::Thing;"), Some((name, rule.room)));
            }
        }
    }

    #[test]
    fn a_barred_name_is_noticed_however_it_is_written() {
        let memory = "crates/iai-memory/src";
        let cases = [
            ("crates/iai-memory/src/a.rs", "use std::{fs, io};", Some(("std::fs", memory))),
            ("crates/iai-memory/src/a.rs", "let x = std::fs::read(p);", Some(("std::fs", memory))),
            ("crates/iai-memory/src/a.rs", "// std::fs\nlet x = \"std::fs\";", None),
            ("crates/iai-store/src/a.rs", "use std::fs;", None),
            (
                "crates/iai-mcp/src/hook/stop.rs",
                "use super::super::daemon::x;",
                Some(("crate::daemon", "crates/iai-mcp/src/hook")),
            ),
            (
                "crates/iai-mcp/src/hook.rs",
                "use super::daemon;",
                Some(("crate::daemon", "crates/iai-mcp/src/hook")),
            ),
            ("crates/iai-mcp/src/hook/stop.rs", "use super::daemon;", None),
            ("crates/iai-mcp/src/main.rs", "crate::daemon::run()", None),
        ];
        for (path, code, want) in cases {
            check_barred(path, code, want);
        }
    }

    #[test]
    fn the_command_line_may_run_the_daemon_and_no_more() {
        let (path, room) = ("crates/iai-mcp/src/cli/daemon.rs", "crates/iai-mcp/src/cli");
        check_barred(path, "crate::daemon::run(settings)", None);
        check_barred(path, "use crate::daemon::run;", None);
        check_barred(path, "use crate::daemon;", Some(("crate::daemon", room)));
        check_barred(path, "crate::daemon::listen::bind()", Some(("crate::daemon", room)));
        let web = "crates/iai-mcp/src/web";
        check_barred(
            "crates/iai-mcp/src/web.rs",
            "crate::daemon::run()",
            Some(("crate::daemon", web)),
        );
    }

    #[test]
    fn confined_names_stay_in_their_rooms() {
        let elsewhere = "crates/iai-mcp/src/cli/brief.rs";
        let cases = [
            ("use iai_memory::Engine;", "iai_memory", "crates/iai-mcp/src/client/degraded.rs"),
            ("use iai_memory::Engine;", "iai_memory", "crates/iai-mcp/src/daemon/handlers.rs"),
            ("use iai_memory::Engine;", "iai_memory", "crates/iai-mcp/src/daemon.rs"),
            ("use iai_memory::convert_model;", "iai_memory", "crates/iai-mcp/src/model.rs"),
            ("use iai_memory::Engine;", "iai_memory", "crates/iai-mcp/src/bench/corpus.rs"),
            ("unsafe { f() }", "unsafe", "crates/iai-embed/src/kernels.rs"),
            ("unsafe { f() }", "unsafe", "crates/iai-store/src/index/kernels.rs"),
            ("unsafe { f() }", "unsafe", "crates/iai-mcp/src/daemon/launchd.rs"),
            ("std::env::var(n)", "env::var", "crates/iai-mcp/src/settings.rs"),
            ("use std::env::var_os;", "env::var_os", "xtask/src/settings.rs"),
            ("println!(x)", "println!", "crates/iai-mcp/src/cli/output.rs"),
            ("eprint!(x)", "eprint!", "xtask/src/main.rs"),
            ("std::io::stdout()", "io::stdout", "crates/iai-mcp/src/mcp/server.rs"),
            ("std::thread::sleep(t)", "thread::sleep", "xtask/src/process.rs"),
        ];
        for (code, name, allowed) in cases {
            expect(confined, &[(allowed, code)], &[]);
            let rule = CONFINED.iter().find(|rule| rule.names.contains(&name)).expect("a rule");
            let want = format!("{elsewhere}:1: `{name}` is out of place here: {}", rule.instead);
            expect(confined, &[(elsewhere, code)], &[want.as_str()]);
        }
    }

    #[test]
    fn tests_may_print_but_not_sleep() {
        let file = |code: &str| format!("//! X.\n#[cfg(test)]\nmod tests {{\n{code}\n}}\n");
        let path = "crates/iai-store/src/x.rs";
        expect(confined, &[(path, &file("println!(x)"))], &[]);
        let want = format!(
            "{path}:4: `thread::sleep` is out of place here: wait for an event with a deadline"
        );
        expect(confined, &[(path, &file("std::thread::sleep(t)"))], &[&want]);
    }

    #[test]
    fn a_child_may_have_outputs() {
        let code = "command.stdout(Stdio::null()).stderr(Stdio::null());";
        expect(confined, &[("crates/iai-mcp/src/client/start.rs", code)], &[]);
    }
}
