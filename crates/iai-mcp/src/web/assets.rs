//! The files of the page, as they lie in `assets/page`.

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// A file of the page: its name below the page's folder, its type, its bytes.
type Asset = (&'static str, &'static str, &'static [u8]);

macro_rules! asset {
    ($name:literal, $content_type:expr) => {
        ($name, $content_type, include_bytes!(concat!("../../assets/page/", $name)))
    };
}

const ASSETS: &[Asset] = &[
    ("", HTML, include_bytes!("../../assets/page/index.html")),
    asset!("style.css", STYLE),
    asset!("map.css", STYLE),
    asset!("screens.css", STYLE),
    asset!("teach.css", STYLE),
    asset!("icon.svg", PICTURE),
    asset!("app.js", SCRIPT),
    asset!("ask.js", SCRIPT),
    asset!("dates.js", SCRIPT),
    asset!("dialogs.js", SCRIPT),
    asset!("elements.js", SCRIPT),
    asset!("health.js", SCRIPT),
    asset!("keys.js", SCRIPT),
    asset!("map.js", SCRIPT),
    asset!("memory.js", SCRIPT),
    asset!("packing.js", SCRIPT),
    asset!("picture.js", SCRIPT),
    asset!("prose.js", SCRIPT),
    asset!("search.js", SCRIPT),
    asset!("session.js", SCRIPT),
    asset!("teach.js", SCRIPT),
    asset!("timeline.js", SCRIPT),
];

/// Returns the type and the bytes of a file of the page.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static [u8])> {
    let found = ASSETS.iter().find(|(known, _, _)| *known == name);
    found.map(|(_, content_type, content)| (*content_type, *content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_as_small_as_its_decision_says() {
        let decision = include_str!("../../../../docs/decisions/0009-the-page.md");
        let told = decision.split_once(" KB. What is").map_or("", |(before, _)| before);
        let n_kilobytes: usize = told.rsplit(' ').next().unwrap().parse().unwrap();
        let n_bytes: usize = ASSETS.iter().map(|(_, _, content)| content.len()).sum();
        assert!(n_bytes < n_kilobytes * 1000, "{n_bytes} bytes");
        assert!(n_kilobytes * 800 < n_bytes, "{n_bytes} bytes, and the decision says far more");
    }

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/page");
        for file in std::fs::read_dir(folder).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            let name = if name == "index.html" { "" } else { name.as_str() };
            assert!(find(name).is_some(), "{name} is not embedded");
        }
        assert!(find("../Cargo.toml").is_none());
    }

    /// What somebody said must never become markup, and nothing comes from elsewhere.
    #[test]
    fn the_page_neither_makes_markup_from_words_nor_names_another_host() {
        for (name, content_type, content) in ASSETS {
            let text = std::str::from_utf8(content).unwrap();
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "DOMParser",
                "srcdoc",
                "https://",
                " style=\"",
                " onclick=",
            ] {
                assert!(!text.contains(word), "{word} in {name}");
            }
            let is_picture = *content_type == PICTURE;
            assert!(is_picture || !text.contains("http://"), "another host in {name}");
        }
    }
}
