//! From a request to an answer: the door first, then the files and the calls.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use hyper::{Method, Request, StatusCode};
use serde_json::Value;
use tokio::sync::{Mutex, Notify};

use super::answers::{self, Answer};
use super::door::{Door, Kind};
use super::{assets, calls, lessons};
use crate::client::Client;
use crate::fields::Fields as _;
use crate::settings::Settings;

/// What a request may hold: a correction is a few sentences.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// How long a request may take to arrive once its head has.
const BODY_LIMIT: Duration = Duration::from_secs(10);
/// Where the ticket is handed in.
const ENTER: &str = "api/enter";
/// Where dropped files are taken in; one may be large, and take its time.
const TEACH: &str = "api/teach";
const UPLOAD_LIMIT: Duration = Duration::from_secs(60);
/// Where methods of the daemon are called.
const API: &str = "api/";

/// Everything an answer is made of.
pub(super) struct Site {
    door: Door,
    client: Client,
    settings: Settings,
    /// What is corrected here belongs to this start, so that it can be forgotten as one.
    session: String,
    /// Files are taken in one after another.
    lesson: Mutex<()>,
    /// Rings at every request that was let in.
    pub(super) asked: Notify,
}

impl Site {
    pub(super) fn new(door: Door, client: Client, settings: Settings) -> Self {
        let session = door.session();
        Self { door, client, settings, session, lesson: Mutex::new(()), asked: Notify::new() }
    }

    /// Answers one request.
    pub(super) async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let kind = match *request.method() {
            Method::GET | Method::HEAD => Kind::Look,
            Method::POST => Kind::Act,
            _ => {
                let why = "only GET, HEAD and POST are understood";
                return answers::refusal(StatusCode::METHOD_NOT_ALLOWED, why);
            }
        };
        // A whole address instead of a path is meant for a proxy; ours is none.
        let is_path = request.uri().authority().is_none();
        if !is_path || !self.door.is_from_here(request.headers(), kind) {
            let why = "this page is for its own address only; open the one `iai-mcp brain` printed";
            return answers::refusal(StatusCode::FORBIDDEN, why);
        }
        let Some(name) = self.door.inside(request.uri().path()).map(str::to_owned) else {
            return nothing_here();
        };
        self.asked.notify_one();
        match kind {
            Kind::Look => match assets::find(&name) {
                Some((content_type, content)) => answers::bytes(content_type, content),
                None => nothing_here(),
            },
            Kind::Act => self.act(&name, request).await,
        }
    }

    async fn act(self: Arc<Self>, name: &str, request: Request<Incoming>) -> Answer {
        if name != ENTER && !self.door.has_cookie(request.headers()) {
            let why = "the page has to be opened with the address that `iai-mcp brain` printed";
            return answers::refusal(StatusCode::UNAUTHORIZED, why);
        }
        if name == TEACH {
            return self.teach(request).await;
        }
        let params = match read(request).await {
            Ok(params) => params,
            Err(answer) => return answer,
        };
        match name.strip_prefix(API) {
            Some("enter") => self.enter(&params),
            Some(method) if calls::is_allowed(method) => self.call(method.to_owned(), params).await,
            Some(_) | None => nothing_here(),
        }
    }

    fn enter(&self, params: &Value) -> Answer {
        match self.door.enter(params.at("ticket").as_str().unwrap_or_default()) {
            Some(cookie) => {
                let welcome = serde_json::json!({"result": {"ok": true}});
                answers::with_cookie(answers::document(&welcome), &cookie)
            }
            None => {
                let why = "this address was used already, or is of another start";
                answers::refusal(StatusCode::UNAUTHORIZED, why)
            }
        }
    }

    async fn call(self: Arc<Self>, method: String, mut params: Value) -> Answer {
        if method == calls::CORRECT {
            params.set("session_id", self.session.clone());
            params.set("by", calls::BY_PAGE);
        }
        aside(move || calls::answer(&self.client, &self.settings, &method, &params)).await
    }

    async fn teach(self: Arc<Self>, request: Request<Incoming>) -> Answer {
        let _turn = self.lesson.lock().await;
        let max = lessons::UPLOAD_BYTES_MAX;
        let body = match body_of(request, "application/octet-stream", max, UPLOAD_LIMIT).await {
            Ok(body) => body,
            Err(answer) => return answer,
        };
        let site = Arc::clone(&self);
        aside(move || lessons::answer(&site.client, &site.settings, &body)).await
    }
}

/// Has something answered on a thread that may wait.
async fn aside(answering: impl FnOnce() -> Value + Send + 'static) -> Answer {
    match tokio::task::spawn_blocking(answering).await {
        Ok(answer) => answers::document(&answer),
        Err(_) => answers::refusal(StatusCode::INTERNAL_SERVER_ERROR, "the call broke"),
    }
}

fn nothing_here() -> Answer {
    answers::refusal(StatusCode::NOT_FOUND, "there is nothing here")
}

/// Reads the JSON object of a request, within its limits.
async fn read(request: Request<Incoming>) -> Result<Value, Answer> {
    let body = body_of(request, "application/json", BODY_BYTES_MAX, BODY_LIMIT).await?;
    let value: Option<Value> = serde_json::from_slice(&body).ok();
    value.filter(Value::is_object).ok_or_else(|| {
        answers::refusal(StatusCode::BAD_REQUEST, "the request must be a JSON object")
    })
}

/// Reads the body of a request: of one type, so large and not slower.
async fn body_of(
    request: Request<Incoming>,
    content_type: &str,
    bytes_max: usize,
    limit: Duration,
) -> Result<Bytes, Answer> {
    let headers = request.headers();
    if headers.get(CONTENT_TYPE).is_none_or(|kind| kind != content_type) {
        let why = format!("this is sent as {content_type}");
        return Err(answers::refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, &why));
    }
    let too_large = || {
        let why = format!("it is too large: {bytes_max} bytes are taken at once");
        answers::refusal(StatusCode::PAYLOAD_TOO_LARGE, &why)
    };
    let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let announced = announced.and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| bytes_max < length) {
        return Err(too_large());
    }
    let reading = Limited::new(request.into_body(), bytes_max).collect();
    match tokio::time::timeout(limit, reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(too_large()),
        Err(_) => {
            let why = "the request did not arrive in time";
            Err(answers::refusal(StatusCode::REQUEST_TIMEOUT, why))
        }
    }
}
