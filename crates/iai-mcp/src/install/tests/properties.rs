//! Whatever a settings file holds, wiring and unwiring it leaves its meaning.

use super::*;

/// Any JSON value a settings file might hold, written in any style.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\/{}\\[\\],:é]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn handler() -> impl Strategy<Value = Value> {
    let command = prop_oneof![
        Just("theirs".to_owned()),
        Just("/old/iai-mcp hook stop --host claude".to_owned()),
        Just("bash /h/iai-mcp-session-capture.sh".to_owned()),
    ];
    proptest::collection::vec(command, 0..3).prop_map(|commands| {
        let handlers = commands.into_iter().map(|command| serde_json::json!({"command": command}));
        serde_json::json!({"matcher": "", "hooks": handlers.collect::<Vec<_>>()})
    })
}

fn settings() -> impl Strategy<Value = Value> {
    let event = prop_oneof![Just("Stop"), Just("SessionStart"), Just("PreToolUse")];
    let entries = proptest::collection::vec(handler(), 0..3).prop_map(Value::from);
    let hooks = proptest::collection::btree_map(event.prop_map(str::to_owned), entries, 0..3);
    let others = proptest::collection::btree_map("[a-z]{5,8}", value(), 0..3);
    (others, proptest::option::of(hooks)).prop_map(|(mut others, hooks)| {
        let hooks = hooks.map(|hooks| Value::Object(hooks.into_iter().collect()));
        others.extend(hooks.map(|hooks| ("hooks".to_owned(), hooks)));
        Value::Object(others.into_iter().collect())
    })
}

/// Writes a value with a seed's worth of odd spacing, comments and trailing commas.
fn scribble(value: &Value, seed: &mut u64, out: &mut String) {
    let mut blank = |out: &mut String| {
        const BLANKS: [&str; 8] = ["", "", " ", "\n", "\n  ", "/* c */", " // c\n", "\t"];
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.push_str(BLANKS[(*seed >> 61) as usize]);
        *seed >> 33 & 1 == 1
    };
    let (open, close, items): (_, _, Vec<(Option<&String>, &Value)>) = match value {
        Value::Object(members) => {
            ('{', '}', members.iter().map(|(key, value)| (Some(key), value)).collect())
        }
        Value::Array(elements) => ('[', ']', elements.iter().map(|value| (None, value)).collect()),
        scalar => return out.push_str(&scalar.to_string()),
    };
    out.push(open);
    let n_items = items.len();
    for (place, (key, value)) in items.into_iter().enumerate() {
        blank(out);
        if let Some(key) = key {
            out.push_str(&Value::from(key.as_str()).to_string());
            blank(out);
            out.push(':');
            blank(out);
        }
        let mut inner = blank(out).into();
        inner += 0x9e37_79b9 * (place as u64 + 1) + out.len() as u64;
        scribble(value, &mut inner, out);
        if blank(out) || place + 1 < n_items {
            out.push(',');
        }
    }
    blank(out);
    out.push(close);
}

/// What should be left of a settings file once everything of ours is out of it.
fn without_us(mut settings: Value) -> Value {
    let is_theirs = |handler: &Value| handler["command"] == "theirs";
    let Some(events) = settings.get_mut("hooks").and_then(Value::as_object_mut) else {
        return settings;
    };
    let n_events = events.len();
    events.retain(|_, entries| {
        let entries = entries.as_array_mut().unwrap();
        let n_entries = entries.len();
        entries.retain_mut(|entry| {
            let handlers = entry["hooks"].as_array_mut().unwrap();
            let n_handlers = handlers.len();
            handlers.retain(is_theirs);
            !handlers.is_empty() || n_handlers == 0
        });
        !entries.is_empty() || n_entries == 0
    });
    if events.is_empty() && n_events != 0 {
        settings.as_object_mut().unwrap().remove("hooks");
    }
    settings
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn anything_can_be_wired_and_unwired(settings in settings(), mut seed in any::<u64>()) {
        let mut text = String::new();
        scribble(&settings, &mut seed, &mut text);
        prop_assert_eq!(&meaning(&text), &settings);
        let program = Program::new(Path::new("/b/iai-mcp")).unwrap();
        let content = Host::Claude.files(&HostFolders::below(Path::new("/h")))[0].content.clone();
        let wired = content.wire(&text, &program).unwrap();
        let look = content.look(&wired, &program).unwrap();
        prop_assert_eq!(look.missing, Vec::<&str>::new(), "{}", wired);
        prop_assert_eq!(&content.wire(&wired, &program).unwrap(), &wired);
        prop_assert_eq!(wired.matches("iai-mcp hook").count(), 6);
        let unwired = content.unwire(&wired, &program, Some(&text)).unwrap();
        prop_assert_eq!(meaning(&unwired), without_us(settings), "{} / {}", text, wired);
    }
}
