//! Formal texts score above plain ones, and drift is judged by weeks.

use serde_json::json;

use super::*;

fn week(week: u32, thousandths: u64) -> FormalityWeek {
    FormalityWeek { week, n: 2, sum: 2 * thousandths, sum_squares: 0 }
}

#[track_caller]
fn check(text: &str, range: std::ops::Range<f64>) {
    let formality = formality_of(text).unwrap();
    assert!(range.contains(&formality), "{formality}: {text}");
}

#[test]
fn formal_words_and_long_sentences_are_formal() {
    check("hey can you fix the test it is broken again", 0.0..0.35);
    check(
        "Furthermore, I should kindly like to enquire whether the matter might be resolved; \
         consequently, it would be possible to proceed, and the release shall follow accordingly.",
        0.75..1.0,
    );
    check("слушай, это опять не работает, глянь", 0.0..0.45);
    check(
        "Уважаемые коллеги, прошу рассмотреть данный вопрос; однако, возможно, необходимо \
         осуществить проверку, поскольку она является обязательной.",
        0.75..1.0,
    );
    check("Wir haben die Regel für den Neustart besprochen", 0.5..0.5001);
    assert_eq!(formality_of("ok go"), None);
    assert_eq!(formality_of(""), None);
}

#[test]
fn weeks_are_those_of_the_calendar() {
    for (at, expect) in [
        ("2026-11-16T10:00:00Z", 202_647),
        ("2027-01-03T10:00:00Z", 202_653),
        ("2027-01-04T00:00:00Z", 202_701),
    ] {
        assert_eq!(week_of(at.parse().unwrap()), expect, "{at}");
    }
    assert_eq!(place_of(202_701).unwrap() - place_of(202_653).unwrap(), 1.0);
    assert_eq!(place_of(202_654), None);
}

#[test]
fn a_rise_over_three_weeks_is_a_drift() {
    let rising = [week(202_652, 500), week(202_653, 650), week(202_701, 800)];
    let found = judged(&rising, json!(0.2));
    assert!(found.detected);
    assert_eq!((found.trajectory_slope, found.current_mean, found.sample_count), (0.15, 0.65, 6));
    assert_eq!(found.camouflaging_relaxation, 0.2);
    assert_eq!(found.weeks[2].week, "2027-W01");
    for weeks in [
        &rising[..2],
        &[week(202_610, 800), week(202_611, 800), week(202_612, 800)],
        &[week(202_610, 100), week(202_611, 200), week(202_612, 300)],
        // The same rise over a year is none.
        &[week(202_510, 500), week(202_540, 650), week(202_610, 800)],
        &[],
    ] {
        assert!(!judged(weeks, Value::Null).detected, "{weeks:?}");
    }
}
