//! Turns a filter into SQL. Values are always bound, never written into the text.

use rusqlite::types::Value;

use crate::record::Filter;

/// Conditions that begin with ` AND`, and the values of their question marks, in order.
#[derive(Debug, Default)]
pub(crate) struct Clause {
    pub(crate) sql: String,
    pub(crate) values: Vec<Value>,
}

impl Clause {
    /// Returns the conditions on `memory m`. Sessions and places are looked up apart, so that a
    /// search may join `m` to anything.
    pub(crate) fn of(filter: &Filter) -> Self {
        let mut clause = Self::default();
        clause.any_of("m.tier", filter.tiers.iter().map(|tier| tier.as_str()));
        clause.any_of("m.role", filter.roles.iter().map(|role| role.as_str()));
        if let Some(project) = &filter.project {
            let condition = "m.place IN (SELECT number FROM place WHERE project = ?)";
            clause.and(condition, project.clone());
        }
        if let Some(session) = &filter.session {
            let condition = "m.session IN (SELECT number FROM session WHERE name = ?)";
            clause.and(condition, session.clone());
        }
        clause.equal("m.language", filter.language.as_deref());
        if let Some(host) = &filter.except_host {
            let condition = "m.session NOT IN (SELECT number FROM session WHERE host = ?)";
            clause.and(condition, host.clone());
        }
        clause
    }

    pub(crate) fn any_of<'a>(&mut self, column: &str, words: impl Iterator<Item = &'a str>) {
        let before = self.values.len();
        self.values.extend(words.map(|word| Value::from(word.to_owned())));
        let marks = vec!["?"; self.values.len().saturating_sub(before)].join(", ");
        if !marks.is_empty() {
            self.sql.push_str(&format!(" AND {column} IN ({marks})"));
        }
    }

    pub(crate) fn equal(&mut self, column: &str, word: Option<&str>) {
        if let Some(word) = word {
            self.and(&format!("{column} = ?"), word.to_owned());
        }
    }

    pub(crate) fn and(&mut self, condition: &str, value: impl Into<Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self.values.push(value.into());
    }

    /// Returns the values followed by one more, usually the limit.
    pub(crate) fn values_and(self, last: impl Into<Value>) -> Vec<Value> {
        let mut values = self.values;
        values.push(last.into());
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Role, Tier};

    fn check(filter: &Filter, sql: &str, n_values: usize) {
        let clause = Clause::of(filter);
        assert_eq!(clause.sql, sql);
        assert_eq!(clause.values.len(), n_values);
    }

    #[test]
    fn an_empty_filter_asks_nothing() {
        check(&Filter::default(), "", 0);
    }

    #[test]
    fn every_wish_becomes_a_bound_condition() {
        check(
            &Filter {
                tiers: vec![Tier::Episodic, Tier::Semantic],
                roles: vec![Role::User],
                project: Some("'; DROP TABLE memory".into()),
                session: Some("s".into()),
                language: Some("de".into()),
                except_host: Some("h".into()),
            },
            " AND m.tier IN (?, ?) AND m.role IN (?) \
             AND m.place IN (SELECT number FROM place WHERE project = ?) \
             AND m.session IN (SELECT number FROM session WHERE name = ?) AND m.language = ? \
             AND m.session NOT IN (SELECT number FROM session WHERE host = ?)",
            7,
        );
    }
}
