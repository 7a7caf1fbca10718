//! Text as a picture that a camera reads from a terminal.

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

/// Returns text as a QR code of half blocks, bright on dark as terminals mostly are; nothing when
/// it is too long for one.
pub fn qr(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let picture =
        code.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build();
    Some(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_a_square_with_a_bright_border() {
        let picture = qr("IAI-JOIN:0123").unwrap();
        let lines: Vec<&str> = picture.lines().collect();
        let widths: Vec<usize> = lines.iter().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{picture}");
        assert_eq!(widths[0].div_ceil(2), lines.len());
        assert!(lines[0].chars().all(|block| block == '█'), "{picture}");
        assert_eq!(qr(&"x".repeat(5000)), None);
    }
}
