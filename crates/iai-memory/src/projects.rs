//! Finds a project by what people call it: its whole path, or only the last part.

use iai_store::Reader;

use crate::brief::project_name;
use crate::error::Result;
use crate::organise::is_alike;

/// Returns the places of the project a name means, by number, with the project's full name. An
/// exact name goes before one that only ends so.
pub(crate) fn places_of(reader: &Reader, name: &str) -> Result<Vec<(u32, String)>> {
    let places = reader.places()?;
    let (exact, others): (Vec<_>, Vec<_>) =
        places.into_iter().partition(|(_, project)| project == name);
    if !exact.is_empty() {
        return Ok(exact);
    }
    let wanted = name.trim_end_matches('/').to_lowercase();
    let is_meant = |project: &str| {
        let project = project.trim_end_matches('/').to_lowercase();
        project == wanted || project.rsplit(['/', '\\']).next() == Some(wanted.as_str())
    };
    let mut meant: Vec<(u32, String)> =
        others.into_iter().filter(|(_, project)| is_meant(project)).collect();
    // Two projects may end alike; one of them is meant, and always the same.
    let first = meant.iter().map(|(_, project)| project.clone()).min();
    meant.retain(|(_, project)| Some(project) == first.as_ref());
    Ok(meant)
}

/// Tells whether a word is of a project's name: whatever is said there may have it, and it tells no
/// two things apart.
pub(crate) fn is_of_name(project: Option<&str>, word: &str) -> bool {
    let name = project_name(project.unwrap_or_default()).to_lowercase();
    name.split(|letter: char| !letter.is_alphanumeric()).any(|part| is_alike(part, word))
}

/// Returns the project that a name means; one that is unknown stays as it is and finds nothing.
pub(crate) fn project_named(reader: &Reader, name: Option<&str>) -> Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    let places = places_of(reader, name)?;
    Ok(Some(places.into_iter().next().map_or_else(|| name.to_owned(), |(_, project)| project)))
}
