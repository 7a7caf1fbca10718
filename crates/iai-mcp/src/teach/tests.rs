//! What each kind of file gives, and what hostile ones get.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn texts(name: &str, bytes: &[u8]) -> Vec<(String, String)> {
    let passages = read(name, bytes).unwrap();
    passages.into_iter().map(|passage| (passage.part.describe(), passage.text)).collect()
}

#[track_caller]
fn check(name: &str, bytes: &[u8], expect: &[(&str, &str)]) {
    let got = texts(name, bytes);
    let got: Vec<(&str, &str)> =
        got.iter().map(|(part, text)| (part.as_str(), text.as_str())).collect();
    assert_eq!(got, expect, "{name}");
}

#[track_caller]
fn refused(name: &str, bytes: &[u8], sentence: &str) {
    let refusal = read(name, bytes).unwrap_err().to_string();
    assert!(refusal.contains(sentence), "{name}: {refusal}");
}

#[test]
fn markdown_is_cut_at_its_headings() {
    let text = "---\ntitle: x\n---\nIntro.\n\n# Guide\n\n## Retry\n\nThree times.\n\n\
                ```sh\n# no heading\n\nrun\n```\n\
                \nSetup\n-----\n\nInstall it.\n";
    check(
        "a.md",
        text.as_bytes(),
        &[
            ("lines 1–4", "---\ntitle: x\n---\nIntro."),
            ("§Retry, lines 8–16", "## Retry\n\nThree times.\n\n```sh\n# no heading\n\nrun\n```"),
            ("§Setup, lines 18–21", "Setup\n-----\n\nInstall it."),
        ],
    );
    let retry = &read("a.md", text.as_bytes()).unwrap()[1];
    assert_eq!(retry.part.headings, ["Guide", "Retry"]);
}

#[test]
fn paragraphs_stay_whole_and_long_ones_are_cut_at_sentences() {
    let paragraph =
        |n: usize| format!("{}\n", format!("Sentence number {n} of many. ").repeat(20).trim_end());
    let text: String = (0..10).map(|n| format!("{}\n", paragraph(n))).collect();
    let got = texts("a.txt", text.as_bytes());
    assert_eq!(got.len(), 10);
    assert!(got.iter().all(|(_, text)| text.chars().count() <= 1000), "{got:?}");
    let joined: Vec<&str> = got.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(joined.join("\n\n").trim(), text.trim());
    let long = "One more sentence here. ".repeat(400);
    let got = texts("a.txt", long.as_bytes());
    assert!(got.iter().all(|(_, text)| text.starts_with("One") && text.ends_with("here.")));
    let nothing_to_cut_at = "ä".repeat(100_000);
    assert_eq!(texts("a.txt", nothing_to_cut_at.as_bytes()).len(), 100);
}

#[test]
fn source_is_cut_between_items() {
    let item = |name: &str| {
        format!("fn {name}() {{\n    {}\n\n    done();\n}}\n\n", "work(); ".repeat(50).trim())
    };
    let text = format!("use a;\nuse b;\n\n{}{}", item("first"), item("second"));
    let got = texts("a.rs", text.as_bytes());
    assert_eq!(got.len(), 2, "{got:?}");
    assert!(got[0].1.starts_with("use a;") && got[0].1.contains("fn first"));
    assert!(got[1].1.starts_with("fn second()") && got[1].1.ends_with("done();\n}"));
    assert_eq!(got[1].0, "lines 10–14");
}

#[test]
fn pages_lose_what_nobody_reads() {
    let page = "<html><head><title>t</title><style>p{}</style></head><body><nav>Home</nav>\
        <script>if (a < b) { '<h1>no</h1>' }</script><h1>Guide</h1>\
        <p>Hello&nbsp;<b>big</b>\n world &amp; all</p>\
        <h2>Retry</h2><ul><li>one</li><li>two</li></ul><pre>a\n  b</pre><footer>c</footer>";
    check(
        "a.html",
        page.as_bytes(),
        &[
            ("§Guide", "Guide\n\nHello\u{a0}big world & all"),
            ("§Retry", "Retry\n\none\ntwo\n\na\n  b"),
        ],
    );
    check("b.htm", b"<p>never closed <script>x()", &[("", "never closed")]);
    let deep = "<div>".repeat(200_000) + "words";
    check("c.html", deep.as_bytes(), &[("", "words")]);
}

#[test]
fn what_is_no_text_is_refused_with_a_sentence() {
    refused("a.png", b"\x89PNG\r\n\x1a\n", "a picture");
    refused("a.bin", b"ab\0cd", "binary data");
    refused("a.txt", b"caf\xe9", "neither UTF-8 nor UTF-16");
    refused("a.txt", b" \n\n", "no text");
    refused("a.zip", b"PK\x03\x04....", "an archive");
    refused("a.docx", b"no zip at all", "does not begin as a docx");
    refused("a.pdf", b"no pdf at all", "does not begin as a pdf");
    refused("Cargo.lock", b"[[package]]", "made from other files");
    let wide: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("Grüße an alle".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    check("a.txt", &wide, &[("lines 1–1", "Grüße an alle")]);
    check("a.txt", b"\xef\xbb\xbfmarked", &[("lines 1–1", "marked")]);
}

fn docx(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn word(body: &str) -> String {
    let space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    format!(
        "<?xml version=\"1.0\"?><w:document xmlns:w=\"{space}\"><w:body>{body}</w:body>\
         </w:document>"
    )
}

#[test]
fn documents_are_cut_at_their_headings() {
    let body = "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Retry</w:t></w:r></w:p>\
        <w:p><w:r><w:t>Three &amp; </w:t></w:r><w:r><w:tab/><w:t>four &#33;</w:t></w:r></w:p>\
        <w:p><w:r><w:instrText>HYPERLINK</w:instrText></w:r></w:p>\
        <w:p><w:pPr><w:pStyle w:val=\"Heading2\"/></w:pPr><w:r><w:t>Setup</w:t></w:r></w:p>\
        <w:p><w:r><w:t>Install it.</w:t></w:r></w:p>";
    let bytes = docx(&[("word/document.xml", word(body).as_bytes())]);
    check(
        "a.docx",
        &bytes,
        &[("§Retry", "Retry\n\nThree & \tfour !"), ("§Setup", "Setup\n\nInstall it.")],
    );
}

#[test]
fn hostile_archives_are_refused() {
    let bomb = vec![b' '; 100 * 1024 * 1024];
    refused("a.docx", &docx(&[("word/document.xml", &bomb)]), "unpacks to more than");
    let empty = word("");
    let beside = [("word/document.xml", empty.as_bytes()), ("word/media/a.bmp", &bomb[..])];
    refused("a.docx", &docx(&beside), "unpacks to more than");
    let laughs = "<?xml version=\"1.0\"?>\
        <!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><w:t>&b;</w:t>";
    refused("a.docx", &docx(&[("word/document.xml", laughs.as_bytes())]), "entities");
    let external = word("<w:p><w:r><w:t>&passwords;</w:t></w:r></w:p>");
    refused("a.docx", &docx(&[("word/document.xml", external.as_bytes())]), "entities");
    let outside = docx(&[("../../etc/passwd", b"x"), ("word/document.xml", word("").as_bytes())]);
    refused("a.docx", &outside, "points outside");
    refused("a.docx", &docx(&[("other.xml", b"x")]), "no word/document.xml");
    let whole = docx(&[("word/document.xml", word("").as_bytes())]);
    refused("a.docx", &whole[..whole.len() / 2], "cannot be read");
}

/// A PDF of objects numbered from 1, with a table that fits.
fn pdf(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.5\n".to_vec();
    let mut places = Vec::new();
    for (object_idx, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n", object_idx + 1).as_bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let start = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).as_bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").as_bytes());
    }
    let size = objects.len() + 1;
    bytes.extend(
        format!("trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n")
            .as_bytes(),
    );
    bytes
}

fn stream(dictionary: &str, bytes: &[u8]) -> Vec<u8> {
    let mut object = format!("<< /Length {} {dictionary} >>\nstream\n", bytes.len()).into_bytes();
    object.extend(bytes);
    object.extend(b"\nendstream");
    object
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A page with this content.
fn page(content: Vec<u8>, trailer: &str) -> Vec<u8> {
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_vec(),
        content,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
    ];
    pdf(&objects, trailer)
}

const WORDS: &[u8] =
    b"BT /F1 12 Tf 72 720 Td (Retry uploads) Tj 0 -14 Td [(three) -300 (ti) 20 (mes.)] TJ \
    0 -40 Td (Then give up.) Tj ET";

#[test]
fn the_text_layer_is_read_by_the_page() {
    let expect = [("page 1", "Retry uploads\nthree times.\n\nThen give up.")];
    check("a.pdf", &page(stream("", WORDS), ""), &expect);
    check("a.pdf", &page(stream("/Filter /FlateDecode", &packed(WORDS)), ""), &expect);
}

#[test]
fn hostile_portable_documents_are_refused() {
    refused("a.pdf", &page(stream("", b"q 10 0 0 10 0 0 cm /Im1 Do Q"), ""), "pictures without");
    let bomb = packed(&vec![b' '; 64 * 1024 * 1024]);
    refused("a.pdf", &page(stream("/Filter /FlateDecode", &bomb), ""), "unpacks to more than");
    let twice = packed(&bomb);
    let filters = "/Filter [/FlateDecode /FlateDecode]";
    refused("a.pdf", &page(stream(filters, &twice), ""), "unpacks to more than");
    let locked = "/Encrypt << /Filter /Standard /V 1 /R 2 /O (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) \
                  /U (bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb) /P -4 >> /ID [(a) (b)]";
    refused("a.pdf", &page(stream("", WORDS), locked), "encrypted");
    let circle = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 /Parent 2 0 R >>".to_vec(),
    ];
    refused("a.pdf", &pdf(&circle, ""), "");
    let deep = format!("<< /Type /Catalog /Pages {}{} >>", "[".repeat(50_000), "]".repeat(50_000));
    refused("a.pdf", &pdf(&[deep.into_bytes()], ""), "");
    refused("a.pdf", b"%PDF-1.7\nnothing else", "cannot be read");
    let whole = page(stream("", WORDS), "");
    for cut in [20, 100, 300] {
        drop(read("a.pdf", &whole[..cut]));
    }
}

#[test]
fn a_part_is_named_in_a_few_words() {
    let part =
        Part { headings: vec!["A".to_owned(), "B".to_owned()], lines: Some((3, 9)), page: None };
    assert_eq!(part.describe(), "§B, lines 3–9");
    assert_eq!(Part { page: Some(4), ..Part::default() }.describe(), "page 4");
    assert_eq!(Part::default().describe(), "");
}
