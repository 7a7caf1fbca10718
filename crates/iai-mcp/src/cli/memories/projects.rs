//! Says that a project nobody ever spoke in was asked for, where that is why nothing is found.

use serde_json::{Value, json};

use super::items;
use crate::cli::output::Output;
use crate::client::Client;
use crate::fields::Fields as _;

/// Projects that are named to somebody who has to choose.
const NAMED_MAX: usize = 5;

/// Remarks on the project of a question to which nothing was found. The answer stands without it,
/// so that a failure here is nobody's business.
pub(super) fn remark_unknown(client: &Client, found: &[Value], project: &Value, output: &Output) {
    let Some(name) = project.as_str().filter(|_| found.is_empty()) else { return };
    let Ok(any) = client.call("memory_list", &json!({"project": name, "limit": 1})) else { return };
    if !items(&any, "memories").is_empty() {
        return;
    }
    let Ok(seen) = client.call("picture_sessions", &json!({"limit": 1})) else { return };
    output.remark(&format!("there is no project {name}; {}", known(items(&seen, "projects"))));
}

/// Names the projects with most sessions, as one may ask for them.
fn known(projects: &[Value]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for project in projects {
        let path = project.at("project").as_str().unwrap_or_default();
        let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
        names.extend(name.filter(|name| !name.is_empty() && !names.contains(name)));
    }
    let n_names = names.len();
    names.truncate(NAMED_MAX);
    let named = names.join(", ");
    match n_names {
        0 => "nothing that is stored belongs to one".to_owned(),
        1 => format!("there is {named}"),
        n if n <= NAMED_MAX => format!("there are {named}"),
        _ => format!("there are {named} and others"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_projects_are_named() {
        let told = |paths: &[&str]| {
            let lines: Vec<Value> = paths.iter().map(|path| json!({"project": path})).collect();
            known(&lines)
        };
        assert_eq!(told(&[]), "nothing that is stored belongs to one");
        assert_eq!(told(&["/home/u/shop"]), "there is shop");
        assert_eq!(told(&["/u/shop/", "/v/shop", "C:\\till"]), "there are shop, till");
        let many = told(&["/a", "/b", "/c", "/d", "/e", "/f"]);
        assert_eq!(many, "there are a, b, c, d, e and others");
    }
}
