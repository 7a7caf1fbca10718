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
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    page_in(&[font.as_bytes().to_vec()], content, trailer)
}

/// A page in a font; what belongs to it has the numbers from 6 on.
fn page_in(font: &[Vec<u8>], content: Vec<u8>, trailer: &str) -> Vec<u8> {
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_vec(),
        content,
    ];
    objects.extend_from_slice(font);
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

/// Where all letters are half as wide as the font is high, five of them are 30 wide.
#[track_caller]
fn check_drawn(content: &str, expect: &str) {
    let widths = "500 ".repeat(95);
    let font = format!(
        "<< /Type /Font /Subtype /TrueType /BaseFont /A /Encoding /WinAnsiEncoding \
         /FirstChar 32 /LastChar 126 /Widths [{widths}] >>"
    );
    let content = stream("", format!("BT /F1 12 Tf 72 720 Td {content} ET").as_bytes());
    check("a.pdf", &page_in(&[font.into_bytes()], content, ""), &[("page 1", expect)]);
}

#[test]
fn a_word_drawn_in_pieces_stays_one() {
    for content in [
        "(Retur) Tj 30 0 Td (ned) Tj",
        "(Retur) Tj 29.4 0 Td (ned) Tj",
        "(Retur) Tj 31.5 0 Td (ned) Tj",
        "(Re) Tj (tur) Tj 30 0 Td (ned) Tj",
        "[(Re) 100 (tur) -100] TJ 30 0 Td (ned) Tj",
        "1 Tc (Retur) Tj 35 0 Td (ned) Tj",
        "50 Tz (Retur) Tj 15 0 Td (ned) Tj",
        "(Retur) Tj 1 0 0 1 102 720 Tm (ned) Tj",
        "(Retur) Tj ET BT 102 720 Td (ned) Tj",
        "(Retur) Tj ET q 1 0 0 1 102 0 cm BT 0 720 Td (ned) Tj ET Q BT",
        "ET .5 0 0 -.5 0 792 cm BT 2 0 0 -2 9 9 Tm (Retur) Tj 30 0 Td (ned) Tj",
    ] {
        check_drawn(content, "Returned");
    }
    for content in [
        "(take) Tj 27 0 Td (back) Tj",
        "(take) Tj 300 0 Td (back) Tj",
        "(take ) Tj 30 0 Td (back) Tj",
        "300 0 Td (take) Tj -300 0 Td (back) Tj",
        "[(take) -250 (back)] TJ",
        "2 0 0 2 72 700 Tm (take) Tj 27 0 Td (back) Tj",
        "5 Tw (take) Tj 27 0 Td (back) Tj",
        "5 Tw (a take) Tj 44 0 Td (back) Tj",
    ] {
        let expect = if content.contains("(a ") { "a take back" } else { "take back" };
        check_drawn(content, expect);
    }
    check_drawn("14 TL (take) Tj T* (it) Tj (back) ' 1 1 (soon) \"", "take\nit\nback\nsoon");
    check_drawn("0 -14 TD (one) Tj T* (two) Tj 0 -40 Td (three) Tj", "one\ntwo\n\nthree");
    // Whoever says nothing of widths draws words.
    let content = stream("", b"BT /F1 12 Tf 72 720 Td (take) Tj 24 0 Td (back) Tj ET");
    check("a.pdf", &page(content, ""), &[("page 1", "take back")]);
}

#[test]
fn a_page_printed_by_a_browser_has_its_words() {
    let letters = "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n\
        /CIDSystemInfo\n<< /Registry (Adobe)\n/Ordering (UCS)\n/Supplement 0\n>> def\n\
        /CMapName /A def\n/CMapType 2 def\n\
        1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n\
        1 beginbfchar\n<0020> <0020>\nendbfchar\n\
        1 beginbfrange\n<0001> <001A> <0061>\nendbfrange\n\
        endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend";
    let font = [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H \
          /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>"
            .to_vec(),
        // Most are 600 wide, r is 400, and the blank 300.
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /DW 600 \
          /W [18 [400] 32 40 300] >>"
            .to_vec(),
        stream("", letters.as_bytes()),
    ];
    let hex = |text: &str| -> String {
        text.bytes().map(|b| format!("{:04x}", if b == b' ' { 32 } else { b - b'a' + 1 })).collect()
    };
    let content = format!(
        ".24 0 0 -.24 0 792 cm q 3.125 0 0 3.125 0 0 cm BT /F1 10 Tf 1 0 0 -1 8 82 Tm \
         <{}> Tj 24.7 0 Td <{}> Tj 21.6 0 Td <{}> Tj 1 0 0 -1 8 101 Tm <{}> Tj \
         1 0 0 -1 8 150 Tm <{}> Tj ET Q",
        hex("may r"),
        hex("etur"),
        hex("n goods"),
        hex("in time"),
        hex("later")
    );
    let bytes = page_in(&font, stream("", content.as_bytes()), "");
    check("a.pdf", &bytes, &[("page 1", "may return goods\nin time\n\nlater")]);
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
