//! Files that are dropped on the page.

use serde_json::{Value, json};

use super::{Brain, Reply, lived};

impl Brain {
    /// Hands a file over as a page of ours does.
    fn hand_over(&self, cookie: &str, upload: &str) -> Reply {
        let (host, origin) = (format!("127.0.0.1:{}", self.port), self.origin());
        let headers = [
            ("host", host.as_str()),
            ("origin", &origin),
            ("sec-fetch-site", "same-origin"),
            ("content-type", "application/octet-stream"),
            ("cookie", cookie),
        ];
        self.request(&format!("POST {}api/teach", self.base), &headers, upload)
    }
}

/// A file as the page hands it over.
fn upload(name: &str, set: &str, words: &str) -> String {
    format!("{}\n{words}", json!({"name": name, "set": set}))
}

#[test]
fn a_dropped_file_is_taught_found_replaced_and_removed() {
    let (sandbox, _daemon) = lived();
    let brain = Brain::start(&sandbox);
    let cookie = brain.enter();
    let words = "# Guide\n\n## Retry\n\nUploads of the crane gateway are attempted three times \
                 with doubling pauses.\n\n## Limits\n\nThe gateway refuses parcels heavier than \
                 ninety grams of sand.\n";
    let teach = |name, set, words| brain.hand_over(&cookie, &upload(name, set, words)).json();
    let told = teach("../../guide.md", "", words)["result"].clone();
    assert_eq!((&told["name"], &told["set"]), (&json!("guide.md"), &json!("guide")), "{told}");
    assert_eq!((&told["passages"], &told["stored"]), (&json!(2), &json!(2)), "{told}");
    assert_eq!((&told["sample"]["asked"], &told["sample"]["found"]), (&json!(2), &json!(2)));
    assert_eq!(sandbox.status().unwrap()["tokens_served"], 0, "nobody was told anything");
    let found = brain.ask(&cookie, "picture_search", json!({"cue": "crane gateway attempts"}));
    let hit = &found["hits"][0];
    assert!(hit["literal_surface"].as_str().unwrap().contains("doubling pauses"), "{hit}");
    let seen = brain.ask(&cookie, "picture_memory", json!({"id": hit["record_id"]}));
    assert_eq!(seen["memory"]["provenance"]["taught"]["name"], "guide.md");

    let look = |words: &str| {
        let facts = json!({"name": "guide.md", "set": "guide", "look_only": true});
        let told = brain.hand_over(&cookie, &format!("{facts}\n{words}")).json();
        told["result"]["is_known"].as_bool().unwrap()
    };
    assert!(look(words), "nothing about it is new");
    assert!(!look(words.split("## Limits").next().unwrap()), "something is gone");
    assert!(!look(&words.replace("three", "four")));
    assert_eq!(sandbox.status().unwrap()["stored"], 5, "looking changes nothing");

    // The same name stands for the earlier file in its set, and beside it in another.
    let shorter = words.split("## Limits").next().unwrap();
    assert_eq!(teach("guide.md", "", shorter)["result"]["retired"], 1);
    assert_eq!(teach("guide.md", "other", "Herons sleep.")["result"]["stored"], 1);
    let taught = brain.ask(&cookie, "taught", json!({}));
    let sets: Vec<&Value> =
        taught["files"].as_array().unwrap().iter().map(|file| &file["set"]).collect();
    assert_eq!(sets, ["guide", "other"]);

    let preview = brain.ask(&cookie, "memory_forget_asked", json!({"taught": "guide"}));
    assert_eq!(preview["count"], 1);
    let sure = json!({"taught": "guide", "confirm": preview["confirm"]});
    assert_eq!(brain.ask(&cookie, "memory_forget_asked", sure)["status"], "forgotten");
    assert_eq!(brain.ask(&cookie, "taught", json!({}))["files"].as_array().unwrap().len(), 1);
    // Whoever drops it again means it.
    assert_eq!(teach("guide.md", "", shorter)["result"]["stored"], 1);
}

#[test]
fn a_file_that_cannot_be_taught_is_refused_with_the_reason() {
    let (sandbox, daemon) = lived();
    let brain = Brain::start(&sandbox);
    let cookie = brain.enter();
    let why = |upload: &str| {
        let answer = brain.hand_over(&cookie, upload).json();
        answer["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    let picture = upload("picture.png", "", "\u{89}PNG\r\n\u{1a}\n\0\0");
    assert!(why(&picture).starts_with("picture.png was not taught: it is no text"), "{picture}");
    assert!(why(&upload("empty.md", "", " ")).contains("it holds no text"));
    assert!(why(&upload("a.md", "two\nlines", "words")).starts_with("a set needs a name"));
    assert!(why("no line before the bytes").contains("says what it is called"));
    let broken = upload("a.pdf", "", "%PDF-1.7 and nothing after it");
    assert!(why(&broken).starts_with("a.pdf was not taught:"), "{}", why(&broken));
    assert_eq!(brain.hand_over("", &upload("a.md", "", "words")).status, 401);
    let (host, origin) = (format!("127.0.0.1:{}", brain.port), brain.origin());
    let post = format!("POST {}api/teach", brain.base);
    let mut headers = vec![("host", host.as_str()), ("cookie", &cookie)];
    assert_eq!(brain.request(&post, &headers, "x").status, 403);
    headers.push(("origin", &origin));
    assert_eq!(brain.request(&post, &headers, "x").status, 415);
    let announced = format!(
        "{post} HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\ncookie: {cookie}\r\n\
         content-type: application/octet-stream\r\ncontent-length: 99999999\r\n\
         connection: close\r\n\r\n"
    );
    let refused = brain.send(announced.as_bytes());
    assert_eq!(refused.status, 413);
    assert!(refused.body.contains("too large"), "{}", refused.body);
    daemon.stop();
    let answer = brain.hand_over(&cookie, &upload("a.md", "", "some words")).json();
    assert_eq!(answer["error"]["is_down"], true, "{answer}");
}
