//! The names of months and weekdays in a few languages: no names of anything else.

/// By language, January first.
const MONTHS: [&str; 7] = [
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре",
    "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
];

/// By language, Monday first.
const WEEKDAYS: [&str; 6] = [
    "monday tuesday wednesday thursday friday saturday sunday",
    "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "lunes martes miércoles jueves viernes sábado domingo",
    "понедельник вторник среду четверг пятницу субботу воскресенье",
    "понедельник вторник среда четверг пятница суббота воскресенье",
];

/// Returns the month with this name in lower case, counted from 1.
pub(crate) fn month_of(word: &str) -> Option<i8> {
    place_in(&MONTHS, word)
}

/// Returns the weekday with this name in lower case, counted from Monday as 1.
pub(crate) fn weekday_of(word: &str) -> Option<i8> {
    place_in(&WEEKDAYS, word)
}

/// Returns every name there is, in lower case.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    MONTHS.iter().chain(&WEEKDAYS).flat_map(|names| names.split(' '))
}

fn place_in(languages: &[&str], word: &str) -> Option<i8> {
    let find = |names: &&str| names.split(' ').position(|name| name == word);
    i8::try_from(languages.iter().find_map(find)? + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted_from_one_in_every_language() {
        for (word, month) in [("may", 5), ("mai", 5), ("août", 8), ("enero", 1), ("мае", 5)] {
            assert_eq!(month_of(word), Some(month), "{word}");
        }
        for (word, day) in [("sunday", 7), ("dienstag", 2), ("lundi", 1), ("пятницу", 5)] {
            assert_eq!(weekday_of(word), Some(day), "{word}");
        }
        assert_eq!((month_of("mayor"), weekday_of("sun")), (None, None));
    }
}
