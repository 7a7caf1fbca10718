//! `topology`: the shape of the web of memories.

use serde_json::{Value, json};

use super::{Arguments, Call, Effect, Refusal, Shape, Tool, plain};

pub(super) const TOOL: Tool = Tool {
    name: "topology",
    title: "Memory topology",
    description: "Returns size, clustering and health of the memory graph.",
    effect: Effect::Reads,
    parameters: Shape { properties: parameters, required: &[] },
    result: Shape { properties: result, required: &["N"] },
    read,
    render,
};

fn parameters() -> Value {
    json!({})
}

fn result() -> Value {
    let measure = || json!({"type": ["number", "null"]});
    json!({
        "N": {"type": "integer"},
        "C": measure(),
        "L": measure(),
        "sigma": measure(),
        "community_count": {"type": "integer"},
        "rich_club_ratio": measure(),
        "regime": {"type": "string"},
        "isolated": {"type": "integer"},
        "links": {"type": "object"},
    })
}

fn read(_arguments: &mut Arguments) -> Result<Call, Refusal> {
    Ok(Call::new("topology"))
}

fn render(result: &Value) -> String {
    let links = result["links"].as_object().into_iter().flatten();
    let n_links: u64 = links.filter_map(|(_, count)| count.as_u64()).sum();
    let measure =
        |name: &str| result[name].as_f64().map_or("-".to_owned(), |value| format!("{value:.2}"));
    format!(
        "{} memories, {n_links} links, {} communities, {} isolated; C {}, L {}, sigma {}: {}",
        result["N"],
        result["community_count"],
        result["isolated"],
        measure("C"),
        measure("L"),
        measure("sigma"),
        plain(&result["regime"])
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_call, check_refused, check_result};
    use super::*;

    #[test]
    fn arguments_become_a_call() {
        check_call(&TOOL, json!({}), &json!({"topology": {"session_id": "s"}}));
        let sentence = "`depth` is not an argument of topology; it takes no arguments";
        check_refused(&TOOL, json!({"depth": 2}), sentence);
    }

    #[test]
    fn the_result_fits_its_schema() {
        let result = json!({
            "N": 3, "C": 0.5, "L": null, "sigma": null, "community_count": 1,
            "rich_club_ratio": 0.3,
            "regime": "insufficient_data", "isolated": 1, "links": {"hebbian": 2, "contradicts": 1}
        });
        let text = "3 memories, 3 links, 1 communities, 1 isolated; \
            C 0.50, L -, sigma -: insufficient_data";
        check_result(&TOOL, &result, text);
    }
}
