//! What the server says, with the headers every answer has.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

pub(super) type Answer = Response<Full<Bytes>>;

/// Nothing from elsewhere, nothing inline, nobody's frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Answers with bytes of a type.
pub(super) fn bytes(content_type: &'static str, content: impl Into<Bytes>) -> Answer {
    with(StatusCode::OK, content_type, content.into())
}

/// Answers with JSON.
pub(super) fn document(value: &Value) -> Answer {
    with(StatusCode::OK, "application/json", value.to_string().into())
}

/// Answers a request that no page of ours sends.
pub(super) fn refusal(status: StatusCode, why: &str) -> Answer {
    with(status, "application/json", json!({"error": {"message": why}}).to_string().into())
}

/// Adds a cookie to an answer.
pub(super) fn with_cookie(mut answer: Answer, cookie: &str) -> Answer {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        answer.headers_mut().insert(SET_COOKIE, value);
    }
    answer
}

fn with(status: StatusCode, content_type: &'static str, content: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(content));
    *answer.status_mut() = status;
    let fixed = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
    ];
    let fixed = fixed.map(|(name, value)| (name, HeaderValue::from_static(value)));
    answer.headers_mut().extend(fixed);
    answer
}
