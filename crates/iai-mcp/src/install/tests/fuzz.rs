//! Whatever a settings file holds, it is refused or wired once, and never broken.

use super::*;

#[test]
fn any_settings_file_is_refused_or_wired_once() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/settings");
    let program = Program::new(Path::new("/b/iai-mcp")).unwrap();
    let folders = HostFolders::below(Path::new("/h"));
    iai_fuzz::fuzz(corpus, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        for host in HOSTS {
            for file in host.files(&folders) {
                let Ok(wired) = file.content.wire(text, &program) else { continue };
                let again = file.content.wire(&wired, &program).unwrap();
                assert_eq!(again, wired, "{host:?}: {text:?}");
                file.content.unwire(&wired, &program, Some(text)).unwrap();
                file.content.unwire(&wired, &program, None).unwrap();
            }
        }
    });
}
