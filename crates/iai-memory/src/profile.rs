//! The eleven knobs a user may turn: their values, defaults and what they accept.

use std::collections::BTreeMap;

use iai_store::{NewEvent, Severity};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::engine::MemoryEngine;
use crate::error::{MemoryError, Result};

/// A domain list longer than this is not a profile.
const DOMAINS_MAX: usize = 64;

/// What a knob accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Accepts {
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Switch,
    /// A number from 0 to 1.
    Share,
    /// A domain → a number from 0 to 1.
    ShareByDomain,
}

/// A knob.
#[derive(Debug, Clone, Copy)]
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// What it accepts.
    pub accepts: Accepts,
    /// Its value while nobody turned it, as JSON.
    pub default: &'static str,
}

/// All of them, in the contract's order.
pub const KNOBS: &[Knob] = &[
    knob("wake_depth", Accepts::Word(&["minimal", "standard", "deep"]), "\"standard\""),
    knob("literal_preservation", Accepts::Word(&["strong", "medium", "loose"]), "\"strong\""),
    knob(
        "task_support",
        Accepts::Word(&["blank_recall", "cued_recognition"]),
        "\"cued_recognition\"",
    ),
    knob("scene_construction_scaffold", Accepts::Switch, "true"),
    knob("monotropism_depth", Accepts::ShareByDomain, "{}"),
    knob("interest_boost", Accepts::Share, "0.0"),
    knob(
        "dunn_quadrant",
        Accepts::Word(&["neutral", "low-registration", "seeking", "sensitive", "avoiding"]),
        "\"neutral\"",
    ),
    knob(
        "demand_avoidance_tolerance",
        Accepts::Word(&["collaborative", "neutral", "imperative"]),
        "\"collaborative\"",
    ),
    knob("masking_off", Accepts::Switch, "true"),
    knob("camouflaging_relaxation", Accepts::Share, "0.0"),
    knob("inertia_awareness", Accepts::Switch, "false"),
];

const fn knob(name: &'static str, accepts: Accepts, default: &'static str) -> Knob {
    Knob { name, accepts, default }
}

impl Knob {
    fn find(name: &str) -> Option<&'static Self> {
        KNOBS.iter().find(|knob| knob.name == name)
    }

    fn default_value(&self) -> Value {
        serde_json::from_str(self.default).unwrap_or(Value::Null)
    }

    /// Describes what the knob accepts, for the person who got it wrong.
    pub fn schema(&self) -> String {
        match self.accepts {
            Accepts::Word(words) => format!("enum:{}", words.join("|")),
            Accepts::Switch => "bool".to_owned(),
            Accepts::Share => "float_range:0..1".to_owned(),
            Accepts::ShareByDomain => "dict:str:float_range:0..1".to_owned(),
        }
    }

    fn is_acceptable(&self, value: &Value) -> bool {
        match self.accepts {
            Accepts::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Accepts::Switch => value.is_boolean(),
            Accepts::Share => is_share(value),
            Accepts::ShareByDomain => value
                .as_object()
                .is_some_and(|map| map.len() <= DOMAINS_MAX && map.values().all(is_share)),
        }
    }
}

fn is_share(value: &Value) -> bool {
    value.as_f64().is_some_and(|share| (0.0..=1.0).contains(&share))
}

impl MemoryEngine {
    /// Returns every knob's value.
    pub fn profile(&self) -> Result<Value> {
        let stored = self.stored_profile()?;
        let live: Map<String, Value> =
            KNOBS.iter().map(|knob| (knob.name.to_owned(), value_of(knob, &stored))).collect();
        Ok(json!({"live": live, "deferred": {}, "total_knobs": KNOBS.len()}))
    }

    /// Returns one knob's value, or says that there is no such knob.
    pub fn profile_knob(&self, name: &str) -> Result<Value> {
        let Some(knob) = Knob::find(name) else {
            return Ok(json!({"knob": name, "status": "unknown"}));
        };
        Ok(json!({"knob": name, "value": value_of(knob, &self.stored_profile()?)}))
    }

    /// Turns a knob; the value survives a restart.
    pub fn set_profile(&self, name: &str, value: &Value, now: Timestamp) -> Result<Value> {
        let Some(knob) = Knob::find(name) else {
            let names: Vec<&str> = KNOBS.iter().map(|knob| knob.name).collect();
            let reason = format!("there is no knob `{name}`; there are {}", names.join(", "));
            return Ok(json!({"status": "error", "reason": reason, "knob": name}));
        };
        if !knob.is_acceptable(value) {
            let schema = knob.schema();
            let reason = format!("`{name}` does not accept this value; it takes {schema}");
            return Ok(
                json!({"status": "error", "reason": reason, "knob": name, "schema": schema}),
            );
        }
        let before = value_of(knob, &self.stored_profile()?);
        if before != *value {
            self.write(|writing| {
                writing.set_profile(name, value, now)?;
                writing.event(&changed_event(name, &before, value, now))?;
                Ok::<(), MemoryError>(())
            })?;
        }
        Ok(json!({"status": "ok", "knob": name, "value": value}))
    }
}

fn value_of(knob: &Knob, stored: &BTreeMap<String, Value>) -> Value {
    stored.get(knob.name).cloned().unwrap_or_else(|| knob.default_value())
}

fn changed_event(name: &str, before: &Value, after: &Value, now: Timestamp) -> NewEvent {
    NewEvent {
        kind: "profile_updated".to_owned(),
        severity: Some(Severity::Info),
        domain: Some("profile".to_owned()),
        at: now,
        data: json!({"knob": name, "old": before, "new": after}),
        session: None,
        sources: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, value: &Value, is_accepted: bool) {
        let knob = Knob::find(name).unwrap();
        assert_eq!(knob.is_acceptable(value), is_accepted, "{name} {value}");
    }

    #[test]
    fn every_default_is_acceptable() {
        for knob in KNOBS {
            assert!(knob.is_acceptable(&knob.default_value()), "{}", knob.name);
        }
        assert_eq!(KNOBS.len(), 11);
    }

    #[test]
    fn values_are_judged_by_their_knob() {
        check("wake_depth", &json!("deep"), true);
        check("wake_depth", &json!("deeper"), false);
        check("interest_boost", &json!(0.5), true);
        check("interest_boost", &json!(1.5), false);
        check("interest_boost", &json!(true), false);
        check("masking_off", &json!(1), false);
        check("monotropism_depth", &json!({"billing": 0.9}), true);
        check("monotropism_depth", &json!({"billing": 2}), false);
    }
}
