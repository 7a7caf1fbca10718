//! What the profile means: eleven knobs in, one plan out for how answers are made, shown and
//! worded. Nothing here touches the words of a memory.

use std::collections::BTreeMap;

use serde_json::Value;

/// The profile as stored: only the knobs somebody turned.
type Profile = BTreeMap<String, Value>;

/// Characters shown of a long text when its excerpt is enough …
const MEDIUM_CHARS: usize = 600;
/// … and when its gist is.
const LOOSE_CHARS: usize = 200;
/// Of the best answer's score, what others need in a calm answer …
const CALM_SHARE: f64 = 0.7;
/// … and how many there are at most.
const CALM_HITS_MAX: usize = 3;
/// What a hit loses for each share of words it has in common with those before it.
const VARIETY_WEIGHT: f64 = 0.6;
/// Hits that are shown with their neighbours, and how much of those.
const CUES: Cues = Cues { n_hits: 5, preview_chars: 100 };
const STRONG_CUES: Cues = Cues { n_hits: 10, preview_chars: 240 };
/// From here on, generated lines are relaxed.
const RELAXED_FROM: f64 = 0.5;

/// How answers are made for this user.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manner {
    pub(crate) depth: Depth,
    pub(crate) showing: Showing,
    pub(crate) scene: Scene,
    pub(crate) focus: Focus,
    pub(crate) breadth: Breadth,
    pub(crate) tone: Tone,
    /// Say where the last session stopped.
    pub(crate) is_resuming: bool,
}

/// How much a new session is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    Minimal,
    Standard,
    Deep,
}

/// How much of a text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Showing {
    Whole,
    /// At most so many characters around what matched.
    Excerpt(usize),
    /// At most so many, and summaries before what they sum up.
    Gist(usize),
}

/// What is shown around a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scene {
    /// The turns before and after, each with who spoke; `None` leaves them out.
    pub(crate) cues: Option<Cues>,
    /// Whether they are shown with their first words, and named as suggestions.
    pub(crate) has_words: bool,
}

/// How strongly a scene is cued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cues {
    pub(crate) n_hits: usize,
    pub(crate) preview_chars: usize,
}

/// The projects that count for more.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Focus {
    /// Project, or the last part of its name → how much more, from 0 to 1.
    depths: BTreeMap<String, f64>,
    interest: f64,
}

/// How many answers, and how different.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Breadth {
    Plain,
    /// Each hit loses so much of its score per share of words it has in common with others.
    Varied(f64),
    /// Few, and only those near the best.
    Calm {
        share: f64,
        n_hits: usize,
    },
    /// Hits, and nothing beside them.
    Bare,
    /// The first hit is pointed out.
    Pointed,
}

/// How generated lines are worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tone {
    demand: Demand,
    is_polite: bool,
    is_relaxed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Demand {
    Collaborative,
    Neutral,
    Imperative,
}

impl Manner {
    /// Reads the plan off the profile; a knob nobody turned, or of a strange value, is at its
    /// default.
    pub(crate) fn of(profile: &Profile) -> Self {
        let word = |knob: &str| profile.get(knob).and_then(Value::as_str).unwrap_or_default();
        let switch = |knob: &str| profile.get(knob).and_then(Value::as_bool);
        let share = |knob: &str| profile.get(knob).and_then(Value::as_f64).unwrap_or(0.0);
        let quadrant = word("dunn_quadrant");
        let is_scene_wanted = switch("scene_construction_scaffold").unwrap_or(true);
        let cues = if quadrant == "low-registration" { STRONG_CUES } else { CUES };
        Self {
            depth: match word("wake_depth") {
                "minimal" => Depth::Minimal,
                "deep" => Depth::Deep,
                _ => Depth::Standard,
            },
            showing: match word("literal_preservation") {
                "medium" => Showing::Excerpt(MEDIUM_CHARS),
                "loose" => Showing::Gist(LOOSE_CHARS),
                _ => Showing::Whole,
            },
            scene: Scene {
                cues: (is_scene_wanted && quadrant != "sensitive").then_some(cues),
                has_words: word("task_support") != "blank_recall",
            },
            focus: Focus {
                depths: depths(profile.get("monotropism_depth")),
                interest: share("interest_boost"),
            },
            breadth: match quadrant {
                "seeking" => Breadth::Varied(VARIETY_WEIGHT),
                "avoiding" => Breadth::Calm { share: CALM_SHARE, n_hits: CALM_HITS_MAX },
                "sensitive" => Breadth::Bare,
                "low-registration" => Breadth::Pointed,
                _ => Breadth::Plain,
            },
            tone: Tone {
                demand: match word("demand_avoidance_tolerance") {
                    "neutral" => Demand::Neutral,
                    "imperative" => Demand::Imperative,
                    _ => Demand::Collaborative,
                },
                is_polite: switch("masking_off") == Some(false),
                is_relaxed: RELAXED_FROM < share("camouflaging_relaxation"),
            },
            is_resuming: switch("inertia_awareness").unwrap_or(false),
        }
    }

    /// Tells whether more candidates have to be read than are shown.
    pub(crate) fn needs_more_candidates(&self) -> bool {
        self.focus != Focus::default()
            || matches!(self.breadth, Breadth::Varied(_))
            || matches!(self.showing, Showing::Gist(_))
    }
}

fn depths(value: Option<&Value>) -> BTreeMap<String, f64> {
    let map = value.and_then(Value::as_object).into_iter().flatten();
    map.filter_map(|(domain, depth)| Some((domain.to_lowercase(), depth.as_f64()?))).collect()
}

impl Focus {
    /// Returns what a score is multiplied by: a domain is a project, named whole or by its last
    /// part. The interest counts in the domains named, or, where none is, in the project one asks
    /// from.
    pub(crate) fn factor(&self, project: Option<&str>, asked_from: Option<&str>) -> f64 {
        let Some(project) = project else { return 1.0 };
        let whole = project.to_lowercase();
        let last = whole.rsplit('/').next().unwrap_or_default();
        let depth = self.depths.get(&whole).or_else(|| self.depths.get(last)).copied();
        let is_home = self.depths.is_empty() && asked_from == Some(project);
        let interest = if depth.is_some() || is_home { self.interest } else { 0.0 };
        (1.0 + depth.unwrap_or(0.0)) * (1.0 + interest)
    }
}

/// A generated line: what is the case, and what could be done about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) fact: &'a str,
    /// Begins with a verb: "ask with other words".
    pub(crate) step: Option<&'a str>,
}

impl Tone {
    /// Words a generated line.
    pub(crate) fn say(self, line: Line<'_>) -> String {
        let said = match (line.step, self.demand) {
            (None, _) | (Some(_), Demand::Neutral) => line.fact.to_owned(),
            (Some(step), Demand::Collaborative) if self.is_polite => {
                format!("{}; you could {step}, if that helps", line.fact)
            }
            (Some(step), Demand::Collaborative) => format!("{}; you could {step}", line.fact),
            (Some(step), Demand::Imperative) if self.is_polite => {
                format!("{}: please {step}", line.fact)
            }
            (Some(step), Demand::Imperative) => format!("{}: {step}", line.fact),
        };
        if self.is_relaxed { relaxed(&said) } else { said }
    }

    /// Words an opening that is only there out of courtesy.
    pub(crate) fn courtesy(self, words: &'static str) -> &'static str {
        if self.is_polite { words } else { "" }
    }
}

/// Says it as one says it among friends.
fn relaxed(text: &str) -> String {
    let shorter = [
        ("it is ", "it's "),
        ("is not ", "isn't "),
        ("are not ", "aren't "),
        ("does not ", "doesn't "),
        ("do not ", "don't "),
        ("cannot ", "can't "),
        ("nothing is ", "nothing's "),
        ("you could ", "maybe "),
        ("it may never", "might never"),
    ];
    shorter.iter().fold(text.to_owned(), |text, (long, short)| text.replace(long, short))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manner(knob: &str, value: Value) -> Manner {
        Manner::of(&Profile::from([(knob.to_owned(), value)]))
    }

    #[test]
    fn a_profile_nobody_touched_shows_everything_and_boosts_nothing() {
        let manner = Manner::of(&Profile::new());
        assert_eq!(manner.showing, Showing::Whole);
        assert_eq!(manner.breadth, Breadth::Plain);
        assert!(!manner.needs_more_candidates() && !manner.is_resuming);
        assert_eq!(
            manner.focus.factor(Some("/w/heron"), Some("/w/heron")).to_bits(),
            1.0_f64.to_bits()
        );
    }

    #[test]
    fn a_domain_is_a_project_by_its_whole_or_last_name() {
        let focus = manner("monotropism_depth", json!({"Heron": 0.5})).focus;
        let check = |project, expect: f64| {
            assert!((focus.factor(project, None) - expect).abs() < 1e-9, "{project:?}");
        };
        check(Some("/w/heron"), 1.5);
        check(Some("heron"), 1.5);
        check(Some("/w/heron-tools"), 1.0);
        check(None, 1.0);
        let interest = manner("interest_boost", json!(0.25)).focus;
        assert!((interest.factor(Some("/a"), Some("/a")) - 1.25).abs() < 1e-9);
        assert!((interest.factor(Some("/b"), Some("/a")) - 1.0).abs() < 1e-9);
    }

    #[track_caller]
    fn says(knobs: &Value, expect: &str) {
        let profile: Profile = knobs.as_object().unwrap().clone().into_iter().collect();
        let line = Line { fact: "it is old", step: Some("ask again") };
        assert_eq!(Manner::of(&profile).tone.say(line), expect);
    }

    #[test]
    fn lines_are_worded_as_wished() {
        says(&json!({}), "it is old; you could ask again");
        says(&json!({"demand_avoidance_tolerance": "neutral"}), "it is old");
        says(&json!({"demand_avoidance_tolerance": "imperative"}), "it is old: ask again");
        says(&json!({"masking_off": false}), "it is old; you could ask again, if that helps");
        says(
            &json!({"masking_off": false, "demand_avoidance_tolerance": "imperative"}),
            "it is old: please ask again",
        );
        says(&json!({"camouflaging_relaxation": 0.9}), "it's old; maybe ask again");
    }
}
