//! Builds scripted HTTP/1.1 exchanges for checks: raw bytes on purpose, since checks send what no client library would.

use watertight_probe::{
    nonce::Nonce,
    plan::{BearerForm, Step},
};

/// A request under construction. Nothing is added that the check did not ask for, except what `new` says.
#[derive(Clone, Debug)]
pub struct Request {
    line: String,
    host: Option<String>,
    headers: Vec<(String, Value)>,
    body: Body,
}

#[derive(Clone, Debug)]
enum Value {
    Text(String),
    /// This scheme, and the spawn's bearer in this form.
    Bearer(String, BearerForm),
}

#[derive(Clone, Debug)]
enum Body {
    None,
    Text(String),
    Generated {
        len: u64,
        seed: u32,
    },
    /// Announces `announced` bytes and sends none of them.
    Missing {
        announced: u64,
    },
}

/// Length of a spawn's bearer: 32 bytes as base64url without padding.
pub const BEARER_LEN: usize = 43;
/// Path of a chat completion at the relay.
pub const CHAT: &str = "/v1/chat/completions";
/// Path of the model list at the relay.
pub const MODELS: &str = "/v1/models";

impl Request {
    /// `METHOD TARGET HTTP/1.1` with `host: 127.0.0.1` and nothing else.
    pub fn new(method: &str, target: &str) -> Self {
        Self {
            line: format!("{method} {target} HTTP/1.1"),
            host: Some("127.0.0.1".into()),
            headers: vec![],
            body: Body::None,
        }
    }

    /// A permitted request to the provider with the right bearer: `GET /v1/models`.
    pub fn models() -> Self {
        Self::new("GET", MODELS).bearer(BearerForm::Right)
    }

    /// A permitted chat completion with the right bearer.
    pub fn chat() -> Self {
        Self::new("POST", CHAT)
            .bearer(BearerForm::Right)
            .header("content-type", "application/json")
            .body(r#"{"model":"fixture-model","messages":[{"role":"user","content":"hi"}]}"#)
    }

    pub fn bearer(self, form: BearerForm) -> Self {
        self.credential("authorization", "Bearer ", form)
    }

    /// The spawn's bearer in this form behind `scheme`, in this header.
    pub fn credential(self, name: &str, scheme: &str, form: BearerForm) -> Self {
        self.value(name, Value::Bearer(scheme.to_owned(), form))
    }

    pub fn header(self, name: &str, value: impl Into<String>) -> Self {
        self.value(name, Value::Text(value.into()))
    }

    fn value(mut self, name: &str, value: Value) -> Self {
        self.headers.push((name.to_owned(), value));
        self
    }

    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// Tells the fixture whose request this is and what to do with it.
    pub fn mode(self, nonce: Nonce, mode: impl std::fmt::Display) -> Self {
        self.header("x-watertight", format!("wt:{nonce} {mode}"))
    }

    pub fn body(mut self, text: &str) -> Self {
        self.body = Body::Text(text.to_owned());
        self
    }

    pub fn generated_body(mut self, len: u64, seed: u32) -> Self {
        self.body = Body::Generated { len, seed };
        self
    }

    /// Announces a body that never comes.
    pub fn missing_body(mut self, announced: u64) -> Self {
        self.body = Body::Missing { announced };
        self
    }

    /// Steps that send this request and read its response.
    pub fn exchange(self) -> Vec<Step> {
        let mut steps = self.send();
        steps.push(Step::ReadResponse);
        steps
    }

    /// Steps that send this request.
    pub fn send(self) -> Vec<Step> {
        let mut text = format!("{}\r\n", self.line);
        if let Some(host) = &self.host {
            text.push_str(&format!("host: {host}\r\n"));
        }
        let mut steps = vec![];
        for (name, value) in &self.headers {
            match value {
                Value::Text(value) => text.push_str(&format!("{name}: {value}\r\n")),
                Value::Bearer(scheme, form) => {
                    text.push_str(&format!("{name}: {scheme}"));
                    steps.push(Step::Send(std::mem::take(&mut text)));
                    steps.push(Step::SendBearer(*form));
                    text.push_str("\r\n");
                }
            }
        }
        match &self.body {
            Body::None => text.push_str("\r\n"),
            Body::Text(body) => text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len())),
            Body::Generated { len, .. } => text.push_str(&format!("content-length: {len}\r\n\r\n")),
            Body::Missing { announced } => text.push_str(&format!("content-length: {announced}\r\n\r\n")),
        }
        steps.push(Step::Send(text));
        if let Body::Generated { len, seed } = self.body {
            steps.push(Step::SendBody { len, seed });
        }
        steps
    }
}
