//! Pages that are written from code say what the code says.

use super::Complaint;
use super::tree::Tree;
use crate::docs;

/// Where the settings stand that the page is about.
const TABLE: &str = "crates/iai-mcp/src/settings/table.rs";

/// The reference of settings is the one its table makes.
pub(super) fn configuration(tree: &Tree, complaints: &mut Vec<Complaint>) {
    if !tree.has(TABLE) {
        return;
    }
    let written = tree.texts.iter().find(|text| text.path == docs::PAGE);
    let (written, want) = (written.map_or("", |text| text.text.as_str()), docs::page());
    if written != want {
        let same = written.lines().zip(want.lines()).take_while(|(a, b)| a == b).count();
        let what = "not what the table of settings says; run `cargo xtask docs`";
        complaints.push(Complaint::new(docs::PAGE, same + 1, what));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::expect;
    use super::*;

    #[test]
    fn an_old_page_is_noticed() {
        let page = docs::page();
        expect(configuration, &[(TABLE, ""), (docs::PAGE, &page)], &[]);
        let old = page.replacen("IAI_MCP_STORE", "IAI_STORE", 1);
        let line = page.lines().position(|line| line.contains("IAI_MCP_STORE")).unwrap() + 1;
        let complaint = "not what the table of settings says; run `cargo xtask docs`";
        let want = format!("{}:{line}: {complaint}", docs::PAGE);
        expect(configuration, &[(TABLE, ""), (docs::PAGE, &old)], &[&want]);
        expect(configuration, &[(TABLE, "")], &[&format!("{}:1: {complaint}", docs::PAGE)]);
        expect(configuration, &[("a.rs", "")], &[]);
    }
}
