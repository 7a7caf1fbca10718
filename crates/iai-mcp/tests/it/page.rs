//! The page's server as a browser, an attacker and a slow line see it.

mod dropping;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Daemon, Mcp, PATIENCE, Sandbox, eventually};

/// A page that is ended when the test ends.
pub(crate) struct Brain {
    child: Child,
    port: u16,
    /// The folder everything lies in.
    base: String,
    pub(crate) ticket: String,
}

/// What the server said.
pub(crate) struct Reply {
    status: u16,
    pub(crate) head: String,
    body: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

impl Brain {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["--json", "brain", "--no-open"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let port = u16::try_from(told["port"].as_u64().unwrap()).unwrap();
        let url = told["url"].as_str().unwrap();
        let (address, ticket) = url.split_once("#enter=").unwrap();
        let base = address.strip_prefix(&format!("http://127.0.0.1:{port}")).unwrap();
        Self { child, port, base: base.to_owned(), ticket: ticket.to_owned() }
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and reads until the server hangs up.
    fn send(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A server that refuses early may hang up before it has read everything.
        stream.write_all(bytes).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Reply { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Sends a request with these headers and no others but the length.
    fn request(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut request = format!("{line} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        self.send(request.as_bytes())
    }

    fn get(&self, path: &str) -> Reply {
        let host = format!("127.0.0.1:{}", self.port);
        self.request(&format!("GET {path}"), &[("host", &host)], "")
    }

    /// Posts as a page of ours does.
    pub(crate) fn post(&self, name: &str, cookie: &str, body: &str) -> Reply {
        let (host, origin) = (format!("127.0.0.1:{}", self.port), self.origin());
        let headers = [
            ("host", host.as_str()),
            ("origin", &origin),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/json"),
            ("cookie", cookie),
        ];
        self.request(&format!("POST {}api/{name}", self.base), &headers, body)
    }

    /// Hands the ticket in and returns the cookie.
    pub(crate) fn enter(&self) -> String {
        let entered = self.post("enter", "", &json!({"ticket": self.ticket}).to_string());
        assert_eq!(entered.status, 200, "{}", entered.body);
        entered.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }

    /// Calls a method and returns its result.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "callers write the value in place")]
    fn ask(&self, cookie: &str, method: &str, params: Value) -> Value {
        let reply = self.post(method, cookie, &params.to_string());
        assert_eq!(reply.status, 200, "{method}: {}", reply.body);
        let answer = reply.json();
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }
}

impl Drop for Brain {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A home in which something was said, with its daemon.
fn lived() -> (Sandbox, Daemon) {
    let sandbox = Sandbox::new();
    let daemon = sandbox.daemon();
    let transcript = sandbox.transcript(
        "t.jsonl",
        &["where does the heron service listen", "it listens on port 8123", "<b>thanks</b>"],
    );
    sandbox.capture("s1", &transcript);
    sandbox.settled(3);
    (sandbox, daemon)
}

#[test]
fn every_answer_has_the_strict_headers_and_nothing_lies_outside_the_folder() {
    let sandbox = Sandbox::new();
    let brain = Brain::start(&sandbox);
    let page = brain.get(&brain.base);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let script = brain.get(&format!("{}app.js", brain.base));
    assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"));
    let outside = brain.get("/");
    assert_eq!(outside.status, 404);
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                  img-src 'self' data:; base-uri 'none'; form-action 'none'; \
                  frame-ancestors 'none'";
    for reply in [page, script, outside] {
        assert_eq!(reply.header("content-security-policy"), Some(policy));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
    let above = format!("{}../Cargo.toml", brain.base);
    let cut = &brain.base[..brain.base.len() - 2];
    for path in ["/app.js", "/api/health", &above, cut, &format!("/{}", brain.base)] {
        assert_eq!(brain.get(path).status, 404, "{path}");
    }
}

#[test]
fn only_the_first_who_has_the_ticket_comes_in_and_only_with_the_cookie() {
    let (sandbox, _daemon) = lived();
    let brain = Brain::start(&sandbox);
    let wrong = json!({"ticket": "0".repeat(brain.ticket.len())}).to_string();
    assert_eq!(brain.post("enter", "", &wrong).status, 401);
    let entered = brain.post("enter", "", &json!({"ticket": brain.ticket}).to_string());
    let cookie = entered.header("set-cookie").unwrap().to_owned();
    let path = format!("; Path={}; HttpOnly; SameSite=Strict", brain.base);
    assert!(cookie.ends_with(&path), "{cookie}");
    let again = brain.post("enter", "", &json!({"ticket": brain.ticket}).to_string());
    assert_eq!(again.status, 401);
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(brain.post("health", pair, "{}").status, 200);
    for other in ["", "iai-mcp-page=", "iai-mcp-page=0", &pair.replace('=', "=0")] {
        let reply = brain.post("health", other, "{}");
        assert_eq!((reply.status, reply.body.contains("pid")), (401, false), "{other}");
    }
}

#[test]
fn other_hosts_origins_and_sites_are_refused() {
    let (sandbox, _daemon) = lived();
    let brain = Brain::start(&sandbox);
    let cookie = brain.enter();
    let (host, origin) = (format!("127.0.0.1:{}", brain.port), brain.origin());
    let post = format!("POST {}api/health", brain.base);
    let try_with = |host: &str, origin: Option<&str>, site: Option<&str>| {
        let mut headers =
            vec![("host", host), ("content-type", "application/json"), ("cookie", &cookie)];
        headers.extend(origin.map(|origin| ("origin", origin)));
        headers.extend(site.map(|site| ("sec-fetch-site", site)));
        brain.request(&post, &headers, "{}").status
    };
    assert_eq!(try_with(&host, Some(&origin), Some("same-origin")), 200);
    assert_eq!(try_with(&host, Some(&origin), None), 200);
    let rebound = format!("evil.example:{}", brain.port);
    let local = format!("localhost:{}", brain.port);
    for (host, origin, site) in [
        (rebound.as_str(), Some(origin.as_str()), Some("same-origin")),
        (rebound.as_str(), Some("http://evil.example"), Some("same-origin")),
        (local.as_str(), Some(origin.as_str()), None),
        ("127.0.0.1", Some(origin.as_str()), None),
        (host.as_str(), None, None),
        (host.as_str(), Some("null"), None),
        (host.as_str(), Some("http://evil.example"), None),
        (host.as_str(), Some("http://127.0.0.1:1"), Some("same-site")),
        (host.as_str(), Some(origin.as_str()), Some("cross-site")),
    ] {
        assert_eq!(try_with(host, origin, site), 403, "{host} {origin:?} {site:?}");
    }
    let whole = format!("POST http://evil.example{}api/health", brain.base);
    let headers = [("host", host.as_str()), ("origin", &origin), ("cookie", &cookie)];
    assert_eq!(brain.request(&whole, &headers, "{}").status, 403);
    let look = format!("GET {}", brain.base);
    for headers in [
        &[("host", rebound.as_str())][..],
        &[("host", host.as_str()), ("sec-fetch-site", "cross-site")],
        &[("host", host.as_str()), ("origin", "http://evil.example")],
        &[("host", host.as_str()), ("host", rebound.as_str())],
        &[],
    ] {
        let reply = brain.request(&look, headers, "");
        assert!([400, 403].contains(&reply.status), "{headers:?}: {}", reply.status);
        assert!(!reply.body.contains("<html"), "{headers:?}");
    }
}

#[test]
fn what_no_page_of_ours_sends_is_refused_by_kind() {
    let (sandbox, _daemon) = lived();
    let brain = Brain::start(&sandbox);
    let cookie = brain.enter();
    assert_eq!(brain.post("health", &cookie, "not json").status, 400);
    assert_eq!(brain.post("health", &cookie, "[1]").status, 400);
    for method in ["crypto_rotate", "memory_forget", "turns_store", "nonsense", ""] {
        assert_eq!(brain.post(method, &cookie, "{}").status, 404, "{method}");
    }
    let large = json!({"cue": "x".repeat(1024 * 1024)}).to_string();
    assert_eq!(brain.post("picture_search", &cookie, &large).status, 413);
    let (host, origin) = (format!("127.0.0.1:{}", brain.port), brain.origin());
    let mut headers = vec![("host", host.as_str()), ("origin", &origin), ("cookie", &cookie)];
    let post = format!("POST {}api/health", brain.base);
    assert_eq!(brain.request(&post, &headers, "{}").status, 415);
    headers.push(("content-type", "text/plain"));
    assert_eq!(brain.request(&post, &headers, "{}").status, 415);
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE"] {
        let line = format!("{method} {}", brain.base);
        assert_eq!(brain.request(&line, &headers, "").status, 405, "{method}");
    }
    // Without a length, the limit holds for what arrives.
    let mut chunked = format!(
        "{post} HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\ncookie: {cookie}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    chunked.push_str(&format!("{:x}\r\n{}\r\n0\r\n\r\n", 2 << 20, "x".repeat(2 << 20)));
    assert_eq!(brain.send(chunked.as_bytes()).status, 413);
    let head = format!(
        "GET {} HTTP/1.1\r\nhost: {host}\r\nx: {}\r\n\r\n",
        brain.base,
        "x".repeat(1 << 18)
    );
    assert_eq!(brain.send(head.as_bytes()).status, 431);
}

#[test]
fn a_line_that_says_nothing_is_dropped_and_others_are_served() {
    let sandbox = Sandbox::new();
    let brain = Brain::start(&sandbox);
    let mut slow = brain.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nhost: ").unwrap();
    let mut silent = brain.connect();
    assert_eq!(brain.get(&brain.base).status, 200);
    for stream in [&mut slow, &mut silent] {
        let mut rest = Vec::new();
        // Patience is longer than the limit: an error here would be the end of patience.
        stream.read_to_end(&mut rest).unwrap();
        assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
    }
}

#[test]
fn the_page_searches_shows_pins_corrects_and_forgets() {
    let (sandbox, _daemon) = lived();
    let brain = Brain::start(&sandbox);
    let cookie = brain.enter();
    let ask = |method: &str, params| brain.ask(&cookie, method, params);
    let found = ask("picture_search", json!({"cue": "port of the heron service"}));
    let hits = found["hits"].as_array().unwrap();
    assert!(hits.iter().all(|hit| hit["reason"].as_str().unwrap().contains("words")));
    let hit = hits.iter().find(|hit| hit["literal_surface"] == "it listens on port 8123");
    let id = hit.unwrap()["record_id"].clone();
    let seen = ask("picture_memory", json!({"id": id}));
    assert_eq!(seen["previous"]["first_words"], "where does the heron service listen");
    assert_eq!(seen["next"]["first_words"], "<b>thanks</b>");
    let sessions = ask("picture_sessions", json!({"utc_offset_minutes": -60}));
    assert_eq!(sessions["sessions"][0]["session_id"], "s1");
    let talk = ask("picture_session", json!({"session": "s1", "around": id}));
    assert_eq!((&talk["n_memories"], talk["turns"].as_array().unwrap().len()), (&json!(3), 3));
    assert_eq!(ask("memory_pin", json!({"id": id}))["pinned"], true);
    assert_eq!(ask("memory_pins", json!({}))["count"], 1);
    let new = ask("memory_contradict", json!({"id": id, "new_fact": "it listens on port 9000"}));
    let seen = ask("picture_memory", json!({"id": id}));
    assert_eq!(seen["replaced_by"][0]["record_id"], new["new_record_id"]);
    assert_eq!(ask("picture_topics", json!({}))["n_memories"], 4);
    let wish = json!({"ids": [new["new_record_id"]]});
    let preview = ask("memory_forget_asked", wish.clone());
    assert_eq!((&preview["count"], &preview["status"]), (&json!(1), &json!("dry_run")));
    let mut sure = wish;
    sure["confirm"] = preview["confirm"].clone();
    assert_eq!(ask("memory_forget_asked", sure)["status"], "forgotten");
    let health = ask("health", json!({}));
    assert_eq!(
        (&health["daemon"]["state"], &health["daemon"]["stored"]),
        (&json!("ready"), &json!(3))
    );
    assert!(health["bytes"].as_u64().unwrap() > 0);
    let refused = brain.post("picture_members", &cookie, "{}").json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("'topic'"), "{refused}");
}

#[test]
fn without_a_daemon_the_page_reads_refuses_to_write_and_recovers() {
    let (sandbox, daemon) = lived();
    let brain = Brain::start(&sandbox);
    let cookie = brain.enter();
    let params = json!({"cue": "port of the heron service"});
    let found = brain.ask(&cookie, "picture_search", params.clone());
    let id = found["hits"][0]["record_id"].clone();
    daemon.stop();
    let alone = brain.ask(&cookie, "picture_search", params);
    assert_eq!((&alone["degraded"], &alone["hits"][0]["record_id"]), (&json!(true), &id));
    let reads = ["picture_memory", "picture_decided", "picture_sessions", "picture_topics"];
    for method in reads.into_iter().chain(["memory_pins"]) {
        assert_eq!(brain.ask(&cookie, method, json!({"id": id}))["degraded"], true, "{method}");
    }
    let refused = brain.post("memory_pin", &cookie, &json!({"id": id}).to_string()).json();
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("the daemon is not running"), "{why}");
    let health = brain.ask(&cookie, "health", json!({}));
    assert!(health["daemon"].is_null() && health["why"].is_string(), "{health}");
    let _daemon = sandbox.daemon();
    assert_eq!(brain.ask(&cookie, "memory_pin", json!({"id": id}))["pinned"], true);
}

#[test]
fn corrections_of_one_start_are_a_session_of_their_own() {
    let (sandbox, _daemon) = lived();
    let session_of_a_correction = |old: &str, new: &str| {
        let brain = Brain::start(&sandbox);
        let cookie = brain.enter();
        let found = brain.ask(&cookie, "picture_search", json!({"cue": old}));
        let params = json!({"id": found["hits"][0]["record_id"], "new_fact": new});
        let corrected = brain.ask(&cookie, "memory_contradict", params);
        let id = corrected["new_record_id"].clone();
        let seen = brain.ask(&cookie, "picture_memory", json!({"id": id}));
        assert_eq!(seen["memory"]["host"], "page");
        seen["memory"]["session_id"].as_str().unwrap().to_owned()
    };
    let first = session_of_a_correction("heron service listens on port", "the port is 9000");
    let second = session_of_a_correction("the port is 9000", "the port is 9001");
    for session in [&first, &second] {
        let digits = session.strip_prefix("page-").unwrap();
        assert!(digits.len() == 8 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    }
    assert_ne!(first, second);
}

#[test]
fn a_body_that_stops_half_way_is_given_up() {
    let sandbox = Sandbox::new();
    let brain = Brain::start(&sandbox);
    let (host, origin) = (format!("127.0.0.1:{}", brain.port), brain.origin());
    let half = format!(
        "POST {}api/enter HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{\"ticket\":",
        brain.base
    );
    let reply = brain.send(half.as_bytes());
    assert_eq!(reply.status, 408, "{}", reply.head);
}

#[test]
fn more_lines_than_there_are_seats_wait_and_are_served() {
    const SEATS: usize = 64;
    let sandbox = Sandbox::new();
    let brain = Brain::start(&sandbox);
    let mut held: Vec<TcpStream> = (0..SEATS).map(|_| brain.connect()).collect();
    for stream in &mut held {
        stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    }
    // Nobody answers this one before a seat is free, which is when a held line is dropped.
    assert_eq!(brain.get(&brain.base).status, 200);
    let is_dropped = |stream: &TcpStream| {
        stream.set_nonblocking(true).unwrap();
        stream.peek(&mut [0]).is_ok()
    };
    assert!(held.iter().any(is_dropped));
}

#[test]
fn looking_teaches_nothing_and_costs_no_tokens() {
    let (sandbox, _daemon) = lived();
    let brain = Brain::start(&sandbox);
    let cookie = brain.enter();
    brain.ask(&cookie, "picture_search", json!({"cue": "port of the heron service"}));
    assert!(sandbox.run(&["recall", "port of the heron service"]).status.success());
    sandbox.doctor(&[]);
    assert_eq!(sandbox.status().unwrap()["tokens_served"], 0, "no assistant was told anything");
    let mut mcp = Mcp::start(&sandbox);
    mcp.ask("memory_recall", json!({"cue": "port of the heron service"}));
    assert!(sandbox.status().unwrap()["tokens_served"].as_u64().unwrap() > 0);
}

#[test]
fn a_signal_ends_the_page() {
    let sandbox = Sandbox::new();
    for signal in ["-INT", "-TERM"] {
        let mut brain = Brain::start(&sandbox);
        let pid = brain.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        eventually("the page ends", || brain.child.try_wait().unwrap().is_some());
        assert_eq!(brain.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}
