//! What a page holds and does not show: comments, and elements nobody sees. Whoever speaks to a
//! machine there does not want people to read it.

use super::{together, words_of};

/// So much of a hidden part is looked at.
const PART_BYTES_MAX: usize = 2000;
/// How hidden parts begin, and how they end.
const PARTS: &[(&str, &str)] = &[
    ("<!--", "-->"),
    ("display:none", "</"),
    ("display: none", "</"),
    ("visibility:hidden", "</"),
    ("visibility: hidden", "</"),
    ("font-size:0", "</"),
    ("font-size: 0", "</"),
    (" hidden>", "</"),
];

/// How what programs put around untrusted words ends: whoever writes it wants out.
const WAYS_OUT: &[&str] =
    &["</untrusted", "</ untrusted", "＜/untrusted", "</tool_result>", "</user_message>"];
/// How models are told who speaks, and where that ends.
const ROLES: &[(&str, &str)] = &[
    ("<|im_start|>system", "<|im_end|>"),
    ("<|system|>", "<|"),
    ("<<SYS>>", "<</SYS>>"),
    ("[INST]", "[/INST]"),
    ("<system>", "</system>"),
];

/// Tells whether a text closes what it was put into, or speaks as a system and frees or orders.
pub(super) fn is_out_of_its_place(text: &str) -> bool {
    if !text.contains(['<', '[', '＜']) {
        return false;
    }
    let is_out = WAYS_OUT.iter().any(|way| {
        text.find(way).is_some_and(|at| text.get(..at).is_some_and(|b| !b.contains("untrusted")))
    });
    is_out
        || ROLES.iter().any(|(begin, end)| {
            let (_, part) = text.split_once(begin).unwrap_or_default();
            let (part, _) = part.split_once(end).unwrap_or_default();
            part.len() <= PART_BYTES_MAX && {
                let lines = words_of(part);
                together::speaks_as_a_system(&lines.lines().collect::<Vec<_>>())
            }
        })
}

/// Tells whether a hidden part begins by speaking to a machine.
pub(super) fn is_addressed(text: &str) -> bool {
    // Most texts have no tags at all, and looking for one sign is quick.
    text.contains('<')
        && PARTS.iter().any(|(begin, end)| {
            text.match_indices(begin).any(|(at, begin)| {
                let part = text.get(at + begin.len()..).unwrap_or_default();
                let part = part.get(..part.find(end).unwrap_or(part.len())).unwrap_or_default();
                // Behind a style, the element has still to be opened.
                let part = part.split_once('>').map_or(part, |(_, shown)| shown);
                part.len() <= PART_BYTES_MAX && {
                    let lines = words_of(part);
                    together::speaks_to_a_machine(&lines.lines().collect::<Vec<_>>())
                }
            })
        })
}
