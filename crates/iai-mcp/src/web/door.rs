//! Who may come in: the right host name, the right origin, the right cookie.
//!
//! The address carries a ticket in its fragment, which browsers send to nobody. The page hands it
//! in once and gets a cookie. Cookies know no ports: any other server on this machine that the
//! browser visits would be sent ours, so that it holds only below a path nobody can guess.

use std::sync::Mutex;
use std::sync::PoisonError;

use hyper::HeaderMap;
use hyper::header::{COOKIE, HOST, HeaderName, HeaderValue, ORIGIN};
use subtle::ConstantTimeEq as _;

/// A secret nobody guesses, in hexadecimal digits.
const SECRET_BYTES: usize = 32;
/// Enough to tell the starts of a page apart.
const SESSION_BYTES: usize = 4;
const COOKIE_NAME: &str = "iai-mcp-page";
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a request has to show.
pub(super) struct Door {
    port: u16,
    /// The folder everything lies in: `/…/`.
    base: String,
    cookie: String,
    /// Gone when it was handed in.
    ticket: Mutex<Option<String>>,
    /// As it was drawn, to print the address.
    printed: String,
    /// What this start is called where something is written down.
    session: String,
}

/// Whether a request only looks or may do something.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Look,
    Act,
}

impl Door {
    /// Draws all secrets anew.
    pub(super) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let ticket = secret()?;
        Ok(Self {
            port,
            base: format!("/{}/", secret()?),
            cookie: secret()?,
            printed: ticket.clone(),
            session: format!("page-{}", hexadecimal::<SESSION_BYTES>()?),
            ticket: Mutex::new(Some(ticket)),
        })
    }

    /// Returns the address with the ticket.
    pub(super) fn address(&self) -> String {
        format!("{}{}#enter={}", self.origin(), self.base, self.printed)
    }

    /// Returns what this start is called where something is written down; no secret.
    pub(super) fn session(&self) -> String {
        self.session.clone()
    }

    /// Returns what of a path lies inside of ours, or nothing where it does not.
    pub(super) fn inside<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (base, rest) = path.split_at_checked(self.base.len())?;
        is_same(base, &self.base).then_some(rest)
    }

    /// Tells whether a request was sent by a page of ours, or typed by the user. A name that only
    /// resolves to this machine is somebody else's site.
    pub(super) fn is_from_here(&self, headers: &HeaderMap, kind: Kind) -> bool {
        let own_host = format!("127.0.0.1:{}", self.port);
        let is_host = said(headers, &HOST) == Said::Once(own_host.as_bytes());
        let is_origin = match said(headers, &ORIGIN) {
            Said::Once(origin) => origin == self.origin().as_bytes(),
            Said::Nothing => kind == Kind::Look,
            Said::Twice => false,
        };
        let is_site = match said(headers, &FETCH_SITE) {
            Said::Once(b"same-origin") | Said::Nothing => true,
            Said::Once(b"none") => kind == Kind::Look,
            Said::Once(_) | Said::Twice => false,
        };
        is_host && is_origin && is_site
    }

    /// Takes the ticket; the first who shows it gets the cookie, as the value of `Set-Cookie`.
    pub(super) fn enter(&self, shown: &str) -> Option<String> {
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        if !ticket.as_deref().is_some_and(|ticket| is_same(ticket, shown)) {
            return None;
        }
        ticket.take();
        let (cookie, base) = (&self.cookie, &self.base);
        Some(format!("{COOKIE_NAME}={cookie}; Path={base}; HttpOnly; SameSite=Strict"))
    }

    /// Tells whether a request carries the cookie.
    pub(super) fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';'));
        let mut ours = pairs.filter_map(|pair| pair.trim().split_once('='));
        ours.any(|(name, value)| name == COOKIE_NAME && is_same(value, &self.cookie))
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// What a request says in a header that has one value.
#[derive(PartialEq, Eq)]
enum Said<'a> {
    Nothing,
    Once(&'a [u8]),
    /// No browser does that.
    Twice,
}

fn said<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Said<'a> {
    let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    match (values.next(), values.next()) {
        (None, _) => Said::Nothing,
        (Some(value), None) => Said::Once(value),
        (Some(_), Some(_)) => Said::Twice,
    }
}

/// Compares without telling by the time how much is right.
fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn secret() -> Result<String, getrandom::Error> {
    hexadecimal::<SECRET_BYTES>()
}

fn hexadecimal<const N: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[track_caller]
    fn check(pairs: &[(&'static str, &str)], looks: bool, acts: bool) {
        let door = Door::new(8123).unwrap();
        let headers = headers(pairs);
        let may = |kind| door.is_from_here(&headers, kind);
        assert_eq!((may(Kind::Look), may(Kind::Act)), (looks, acts), "{pairs:?}");
    }

    #[test]
    fn only_the_own_host_and_origin_may_act() {
        let host = ("host", "127.0.0.1:8123");
        let origin = ("origin", "http://127.0.0.1:8123");
        check(&[], false, false);
        check(&[host], true, false);
        check(&[host, ("sec-fetch-site", "none")], true, false);
        check(&[host, origin], true, true);
        check(&[host, origin, ("sec-fetch-site", "same-origin")], true, true);
        check(&[host, origin, ("sec-fetch-site", "none")], true, false);
        check(&[host, origin, ("sec-fetch-site", "same-site")], false, false);
        check(&[host, origin, ("sec-fetch-site", "cross-site")], false, false);
        check(&[host, ("origin", "null")], false, false);
        check(&[host, ("origin", "http://127.0.0.1:8124")], false, false);
        check(&[host, ("origin", "https://127.0.0.1:8123")], false, false);
        for other in ["evil.example:8123", "localhost:8123", "127.0.0.1", "127.0.0.1:8124", ""] {
            check(&[("host", other), origin], false, false);
        }
        check(&[host, host, origin], false, false);
        check(&[host, origin, ("origin", "http://evil.example")], false, false);
        let (ours, theirs) = (("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site"));
        check(&[host, origin, ours, theirs], false, false);
    }

    #[test]
    fn the_ticket_is_good_once_and_the_cookie_from_then_on() {
        let door = Door::new(8123).unwrap();
        let ticket = door.address().split_once("#enter=").unwrap().1.to_owned();
        assert_eq!(door.enter("wrong"), None);
        let cookie = door.enter(&ticket).unwrap();
        assert_eq!(door.enter(&ticket), None);
        assert!(cookie.contains("; HttpOnly; SameSite=Strict") && cookie.contains("; Path=/"));
        let pair = cookie.split(';').next().unwrap();
        assert!(door.has_cookie(&headers(&[("cookie", &format!("a=b; {pair}; c=d"))])));
        assert!(!door.has_cookie(&headers(&[("cookie", &format!("x{pair}"))])));
        assert!(!door.has_cookie(&headers(&[("cookie", &format!("{pair}0"))])));
        assert!(!door.has_cookie(&headers(&[])));
    }

    #[test]
    fn only_paths_below_the_folder_are_inside() {
        let door = Door::new(8123).unwrap();
        assert_eq!(door.inside(&format!("{}style.css", door.base)), Some("style.css"));
        assert_eq!(door.inside(&door.base), Some(""));
        assert_eq!(door.inside("/style.css"), None);
        assert_eq!(door.inside(&"x".repeat(200)), None);
    }
}
