//! Our entry among the MCP servers of Codex's `config.toml`.
//!
//! The parser only says where things stand; the text is edited, so that comments, order and line
//! endings stay.

use std::ops::Range;

use serde_json::Value;
use toml_edit::{Document, Item, Table, TomlError};

use super::jsonc::place;
use super::marks::{NAME, Program, STORE_VARIABLE, is_legacy_server};
use super::refusal::Refusal;

const SERVERS: &str = "mcp_servers";

/// Returns the text with our entry in it.
pub(super) fn wire(text: &str, program: &Program) -> Result<String, Refusal> {
    let document = parse(text)?;
    let Some(server) = server(&document) else { return append(text, program) };
    match command_of(server) {
        Some((command, _)) if program.owns_server(command) => {}
        Some((command, _)) if is_legacy_server(command) => {}
        _ => return Err(Refusal::NameTaken),
    }
    checked(update(text, server, program), program)
}

/// Returns the text without our entry.
pub(super) fn unwire(text: &str, program: &Program) -> Result<String, Refusal> {
    let document = parse(text)?;
    let Some(server) = server(&document) else { return Ok(text.to_owned()) };
    let is_ours = command_of(server)
        .is_some_and(|(command, _)| program.owns_server(command) || is_legacy_server(command));
    if !is_ours {
        return Ok(text.to_owned());
    }
    let mut without = text.to_owned();
    for region in regions(text, &document, server).into_iter().rev() {
        without.replace_range(region, "");
    }
    match parse(&without) {
        Ok(document) if self::server(&document).is_none() => Ok(without),
        _ => Err(Refusal::TomlShape),
    }
}

/// Returns our entry's command, where the entry is ours.
pub(super) fn command(text: &str, program: &Program) -> Result<Option<String>, Refusal> {
    let document = parse(text)?;
    let command = server(&document).and_then(command_of).map(|(command, _)| command);
    Ok(command.filter(|command| program.owns_server(command)).map(str::to_owned))
}

/// Returns the store that our entry names.
pub(super) fn store(text: &str) -> Result<Option<String>, Refusal> {
    let document = parse(text)?;
    Ok(server(&document).and_then(store_of).and_then(|(store, _)| store.map(str::to_owned)))
}

/// Returns our table as users would write it.
pub(super) fn whole_block(newline: &str, program: &Program) -> String {
    let command = quoted(program.path());
    let store = program.told_store().map(|root| format!("{}{newline}", variables(root)));
    let store = store.unwrap_or_default();
    format!(
        "[{SERVERS}.{NAME}]{newline}command = {command}{newline}args = [\"mcp\"]{newline}{store}"
    )
}

fn variables(root: &str) -> String {
    format!("env = {{ {STORE_VARIABLE} = {} }}", quoted(root))
}

fn parse(text: &str) -> Result<Document<&str>, Refusal> {
    let refuse = |error: TomlError| {
        let (line, column) = place(text, error.span().map_or(0, |span| span.start));
        Refusal::NotToml { line, column, what: error.message().replace('\n', ", ") }
    };
    Document::parse(text).map_err(refuse)
}

fn server<'a>(document: &'a Document<&str>) -> Option<&'a Item> {
    document.as_table().get(SERVERS)?.as_table_like()?.get(NAME)
}

fn command_of(server: &Item) -> Option<(&str, Range<usize>)> {
    let item = server.as_table_like()?.get("command")?;
    Some((item.as_str()?, item.span()?))
}

/// Returns what stands under the store's variable, if anything does, and where.
fn store_of(server: &Item) -> Option<(Option<&str>, Range<usize>)> {
    let variables = server.as_table_like()?.get("env")?.as_table_like()?;
    let item = variables.get(STORE_VARIABLE)?;
    Some((item.as_str(), item.span()?))
}

/// Puts our table at the end, where a table can always begin.
fn append(text: &str, program: &Program) -> Result<String, Refusal> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let before = match text.trim_start_matches('\u{feff}') {
        "" => String::new(),
        text if text.ends_with('\n') => newline.to_owned(),
        _ => newline.repeat(2),
    };
    checked(format!("{text}{before}{}", whole_block(newline, program)), program)
}

/// Some shapes, such as `mcp_servers = {…}`, cannot be extended by a table of their own.
fn checked(text: String, program: &Program) -> Result<String, Refusal> {
    match command(&text, program) {
        Ok(Some(command)) if command == program.path() => {}
        _ => return Err(Refusal::TomlShape),
    }
    match program.other_store(store(&text)?.as_deref()) {
        None => Ok(text),
        Some(_) => Err(Refusal::TomlShape),
    }
}

fn update(text: &str, server: &Item, program: &Program) -> String {
    let mut updated = text.to_owned();
    let Some((command, command_span)) = command_of(server) else { return updated };
    let arguments = server.as_table_like().and_then(|server| server.get("args"));
    let is_right = arguments
        .and_then(Item::as_array)
        .and_then(|all| all.get(0))
        .is_some_and(|first| first.as_str() == Some("mcp"));
    let mut edits = Vec::new();
    if command != program.path() {
        edits.push((command_span.clone(), quoted(program.path())));
    }
    match arguments.and_then(Item::span) {
        _ if is_right => {}
        Some(span) => edits.push((span, "[\"mcp\"]".to_owned())),
        None => {
            let separator = if server.is_inline_table() { ", " } else { "\n" };
            let at = command_span.end;
            edits.push((at..at, format!("{separator}args = [\"mcp\"]")));
        }
    }
    edits.extend(store_edit(text, server, &command_span, program));
    edits.sort_by_key(|(span, _)| span.start);
    for (span, replacement) in edits.into_iter().rev() {
        updated.replace_range(span, &replacement);
    }
    updated
}

/// Returns what has to be written where so that the entry leads to our store; the user's other
/// variables stay.
fn store_edit(
    text: &str,
    server: &Item,
    command: &Range<usize>,
    program: &Program,
) -> Option<(Range<usize>, String)> {
    if let Some((said, span)) = store_of(server) {
        let root = program.corrected_store(said.unwrap_or_default())?;
        return Some((span, quoted(root)));
    }
    let root = program.told_store()?;
    let line = format!("{STORE_VARIABLE} = {}", quoted(root));
    match server.as_table_like().and_then(|server| server.get("env")) {
        None => {
            let separator = if server.is_inline_table() { ", " } else { "\n" };
            let at = line_end(text, command.end).filter(|_| !server.is_inline_table());
            let at = at.unwrap_or(command.end);
            Some((at..at, format!("{separator}{}", variables(root))))
        }
        Some(Item::Table(table)) => {
            let at = line_end(text, table.span()?.end)?;
            Some((at..at, format!("\n{line}")))
        }
        Some(other) => {
            let after_brace = other.span()?.start + 1;
            let written = match other.as_inline_table()?.is_empty() {
                true => format!(" {line} "),
                false => format!(" {line},"),
            };
            Some((after_brace..after_brace, written))
        }
    }
}

/// Returns where the line ends that this place is in.
fn line_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let line = rest.split('\n').next()?;
    Some(at + line.trim_end_matches('\r').len())
}

/// A JSON string is a TOML string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns the lines that hold our entry, in the order of the text.
fn regions(text: &str, document: &Document<&str>, server: &Item) -> Vec<Range<usize>> {
    let mut regions = Vec::new();
    match server.as_table() {
        Some(table) if !table.is_dotted() => add_table(text, table, &mut regions),
        _ => {
            let servers = document.as_table().get(SERVERS).and_then(Item::as_table_like);
            let key = servers.and_then(|servers| servers.get_key_value(NAME));
            let start = key.and_then(|(key, _)| key.span()).map(|span| span.start);
            let end = server.span().map(|span| span.end);
            regions.extend(start.zip(end).map(|(start, end)| lines(text, start, end)));
        }
    }
    regions.sort_by_key(|region| region.start);
    regions
}

fn add_table(text: &str, table: &Table, regions: &mut Vec<Range<usize>>) {
    if let Some(header) = table.span() {
        let values = table.iter().filter(|(_, item)| item.is_value());
        let ends = values.filter_map(|(_, item)| item.span()).map(|span| span.end);
        let end = ends.max().unwrap_or(header.end).max(header.end);
        let mut region = lines(text, header.start, end);
        // The empty line before it came with it.
        let before = text.get(..region.start).unwrap_or_default();
        for blank in ["\r\n\r\n", "\n\n"] {
            if before.ends_with(blank) {
                region.start -= blank.len() / 2;
                break;
            }
        }
        regions.push(region);
    }
    for (_, item) in table {
        if let Some(table) = item.as_table().filter(|table| !table.is_dotted()) {
            add_table(text, table, regions);
        }
    }
}

/// Widens a span to whole lines.
fn lines(text: &str, start: usize, end: usize) -> Range<usize> {
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    // A byte order mark belongs to the file, not to its first line.
    let mark = if before.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let after = text.get(end..).unwrap_or_default();
    let line_end = after.find('\n').map_or(text.len(), |newline| end + newline + 1);
    line_start.max(mark)..line_end
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const BLOCK: &str = "[mcp_servers.iai-mcp]\ncommand = \"/b/iai-mcp\"\nargs = [\"mcp\"]\n";

    fn program() -> Program {
        Program::new(Path::new("/b/iai-mcp")).unwrap()
    }

    #[track_caller]
    fn check_wire(before: &str, after: &str) {
        let wired = wire(before, &program()).unwrap();
        assert_eq!(wired, after);
        assert_eq!(wire(&wired, &program()).unwrap(), wired, "a second time changes nothing");
    }

    #[track_caller]
    fn check_both(before: &str, after: &str) {
        check_wire(before, after);
        assert_eq!(unwire(after, &program()).unwrap(), before);
    }

    #[test]
    fn a_table_is_added_at_the_end_and_taken_out_again() {
        check_both("", BLOCK);
        check_both("\u{feff}", &format!("\u{feff}{BLOCK}"));
        check_both("model = \"x\" # why\n", &format!("model = \"x\" # why\n\n{BLOCK}"));
        check_both("[a]\nb=1\n\n", &format!("[a]\nb=1\n\n\n{BLOCK}"));
        let crlf = BLOCK.replace('\n', "\r\n");
        check_both("# c\r\n[z]\r\ny = 1\r\n", &format!("# c\r\n[z]\r\ny = 1\r\n\r\n{crlf}"));
        check_both(
            "[mcp_servers.other]\ncommand = 'x'\n",
            &format!("[mcp_servers.other]\ncommand = 'x'\n\n{BLOCK}"),
        );
        check_both(
            "mcp_servers.a.command = 'x'\n",
            &format!("mcp_servers.a.command = 'x'\n\n{BLOCK}"),
        );
        check_wire("a = 1", &format!("a = 1\n\n{BLOCK}"));
    }

    #[test]
    fn an_entry_of_ours_is_only_corrected() {
        check_wire(
            "[mcp_servers.iai-mcp] # mine\nargs = [\"mcp\"] # stay\ncommand = '/old/iai-mcp'\n\
             [mcp_servers.iai-mcp.env]\nA = \"1\"\n",
            "[mcp_servers.iai-mcp] # mine\nargs = [\"mcp\"] # stay\ncommand = \"/b/iai-mcp\"\n\
             [mcp_servers.iai-mcp.env]\nA = \"1\"\n",
        );
        check_wire(
            "[mcp_servers]\niai-mcp = { command = \"node\", args = [\"x.js\"] }\n",
            "[mcp_servers]\niai-mcp = { command = \"/b/iai-mcp\", args = [\"mcp\"] }\n",
        );
        check_wire(
            "[mcp_servers]\niai-mcp = { command = \"node\" }\n",
            "[mcp_servers]\niai-mcp = { command = \"/b/iai-mcp\", args = [\"mcp\"] }\n",
        );
        check_wire(
            "mcp_servers.iai-mcp.command = \"/x/iai-mcp\"\nmcp_servers.iai-mcp.args = [\"mcp\"]\n",
            "mcp_servers.iai-mcp.command = \"/b/iai-mcp\"\nmcp_servers.iai-mcp.args = [\"mcp\"]\n",
        );
    }

    #[test]
    fn a_store_elsewhere_is_named_and_the_other_variables_stay() {
        let program = program().for_store(Path::new("/d/m"), Path::new("/h/.iai-mcp"));
        let check = |before: &str, after: &str| {
            let wired = wire(before, &program).unwrap();
            assert_eq!(wired, after);
            assert_eq!(wire(&wired, &program).unwrap(), wired, "a second time changes nothing");
        };
        let named = "env = { IAI_MCP_STORE = \"/d/m\" }";
        check("", &format!("{BLOCK}{named}\n"));
        assert_eq!(unwire(&format!("{BLOCK}{named}\n"), &program).unwrap(), "");
        let begin = "[mcp_servers.iai-mcp]\ncommand = \"/b/iai-mcp\" # x";
        let (end, env) = ("\nargs = [\"mcp\"]\n", "[mcp_servers.iai-mcp.env]");
        check(&format!("{begin}{end}"), &format!("{begin}\n{named}{end}"));
        check(
            &format!("{begin}{end}{env}\nA = \"1\"\n"),
            &format!("{begin}{end}{env}\nIAI_MCP_STORE = \"/d/m\"\nA = \"1\"\n"),
        );
        check(
            &format!("{begin}{end}env = {{ A = \"1\" }}\n"),
            &format!("{begin}{end}env = {{ IAI_MCP_STORE = \"/d/m\", A = \"1\" }}\n"),
        );
        check(
            &format!("{begin}{end}env = {{ IAI_MCP_STORE = '/old' }}\n"),
            &format!("{begin}{end}env = {{ IAI_MCP_STORE = \"/d/m\" }}\n"),
        );
        check(
            "[mcp_servers]\niai-mcp = { command = \"node\" }\n",
            &format!(
                "[mcp_servers]\n\
                 iai-mcp = {{ command = \"/b/iai-mcp\", args = [\"mcp\"], {named} }}\n"
            ),
        );
    }

    #[test]
    fn only_our_lines_are_taken_out() {
        let check = |before: &str, after: &str| {
            assert_eq!(unwire(before, &program()).unwrap(), after);
        };
        check(
            "a = 1\n\n[mcp_servers.iai-mcp]\ncommand = \"/o/iai-mcp\" # x\nargs = [\n  \"mcp\",\n\
             ]\n\
             \n# about env\n[mcp_servers.iai-mcp.env]\nK = \"v\"\n\n# mine\n[z]\ny = 2\n",
            "a = 1\n\n# about env\n\n# mine\n[z]\ny = 2\n",
        );
        check(
            "[mcp_servers]\niai-mcp = {command = \"iai-mcp\"}\nb = {}\n",
            "[mcp_servers]\nb = {}\n",
        );
        check(
            "[mcp_servers.iai-mcp]\nurl = \"http://x\"\n",
            "[mcp_servers.iai-mcp]\nurl = \"http://x\"\n",
        );
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        let wire = |text| wire(text, &program()).unwrap_err().to_string();
        assert!(wire("a = \n").contains("line 1, column 5"), "{}", wire("a = \n"));
        assert!(wire("mcp_servers = {}\n").contains("cannot be extended"));
        assert!(wire("mcp_servers = 3\n").contains("cannot be extended"));
        assert!(wire("[mcp_servers.iai-mcp]\nurl = 'x'\n").contains("another program"));
        let dotted = "mcp_servers.iai-mcp.command = \"iai-mcp\"\nmcp_servers.iai-mcp.x = 1\n";
        assert!(unwire(dotted, &program()).is_err());
    }
}
