//! Scripted exchanges with a relay: one step after another on one connection.

use std::time::Instant;

use super::{
    bearer,
    connection::{Connection, reason},
};
use crate::{
    context::{Attempted, Context, Stop, found},
    observation::{Ended, Exchange, Facts},
    plan::{Endpoint, Step, pseudo_random},
    wire,
};

const MOST_HEADERS: usize = 24;
const MOST_OF_HEADER: usize = 120;
const MOST_OF_BODY: usize = 160;

/// `Attempt::Exchange`. Refused where no connection could be made at all; else the facts say how far the script came.
pub fn run(context: &Context<'_>, to: &Endpoint, steps: &[Step]) -> Attempted {
    let (_connection, exchange) = perform(context, to, steps)?;
    Ok(found(Facts::Exchange { exchange }))
}

/// Does the steps and hands back the connection, if it is still open, with what was read.
pub fn perform(context: &Context<'_>, to: &Endpoint, steps: &[Step]) -> Result<(Option<Connection>, Exchange), Stop> {
    let connection = Some(Connection::open(context, to)?);
    let mut script = Script { context, to, connection, exchange: Exchange::default() };
    for (index, step) in steps.iter().enumerate() {
        context.step(&format!("step {index} ({})", name(step)));
        let started = Instant::now();
        let done = script.step(step);
        script.exchange.step_micros.push(started.elapsed().as_micros() as u64);
        if let Err(why) = done {
            script.exchange.stopped = Some(format!("step {index} ({}): {why}", name(step)));
            break;
        }
        script.exchange.steps_done += 1;
    }
    script.note_response();
    Ok((script.connection, script.exchange))
}

struct Script<'a> {
    context: &'a Context<'a>,
    to: &'a Endpoint,
    /// Absent after a close; a further step opens a new one.
    connection: Option<Connection>,
    exchange: Exchange,
}

impl Script<'_> {
    /// An error says why the step could not be done.
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let text = |error: std::io::Error| reason(&error);
        match step {
            Step::Send(bytes) => self.send([wire::unescape(bytes)]),
            Step::SendBody { len, seed } => self.send(pseudo_random(*seed, *len)),
            Step::SendBearer(form) => {
                let bearer = bearer::in_form(self.context.bearer, *form)?;
                self.send([bearer])
            }
            Step::HalfClose => self.connection()?.half_close().map_err(text),
            Step::ReadHead => self.connection()?.read_head().map_err(text).and_then(|()| self.want_head()),
            Step::ReadUntil(wanted) => self.connection()?.read_until(wanted.as_bytes()).map_err(text),
            Step::ReadResponse => self.connection()?.read_response().map_err(text),
            Step::ReadToEnd => self.connection()?.read_to_end().map_err(text),
            Step::Await(steps) => self.wait_for_fixture(steps),
            Step::Close => self.take_connection()?.close().map_err(text),
            Step::Reset => self.take_connection()?.reset().map_err(text),
        }
    }

    /// A peer that answers and closes early ends the sending, not the script: the answer is still to be read.
    fn send(&mut self, parts: impl IntoIterator<Item = Vec<u8>>) -> Result<(), String> {
        let whole = self.connection()?.send(parts).map_err(|error| reason(&error))?;
        if !whole {
            let step = self.exchange.steps_done;
            self.exchange.stopped = Some(format!("step {step}: the peer ended the connection before all was sent"));
        }
        Ok(())
    }

    fn want_head(&mut self) -> Result<(), String> {
        match self.connection()?.head() {
            Some(_) => Ok(()),
            None => Err("no head came".into()),
        }
    }

    fn wait_for_fixture(&mut self, steps: &[Step]) -> Result<(), String> {
        if steps.iter().any(|step| matches!(step, Step::Await(_))) {
            return Err("a script that waits does not wait again inside".into());
        }
        let mut steps = steps.to_vec();
        steps.push(Step::ReadResponse);
        let (_connection, other) = perform(self.context, self.to, &steps).map_err(Stop::into_text)?;
        match (other.status, other.ended) {
            (Some(200), Ended::Complete) => Ok(()),
            (status, ended) => {
                let status = status.map_or("nothing".into(), |status| status.to_string());
                Err(format!("the fixture answered {status}, {ended:?}: {}", other.stopped.unwrap_or_default()))
            }
        }
    }

    fn connection(&mut self) -> Result<&mut Connection, String> {
        if self.connection.is_none() {
            self.connection = Some(Connection::open(self.context, self.to).map_err(Stop::into_text)?);
        }
        self.connection.as_mut().ok_or_else(|| "no connection".into())
    }

    /// Takes the connection away, with its response noted.
    fn take_connection(&mut self) -> Result<Connection, String> {
        self.note_response();
        self.connection.take().ok_or_else(|| "there is no connection to close".into())
    }

    /// Keeps what was read so far. A connection on which nothing was read leaves what an earlier one gave.
    fn note_response(&mut self) {
        let Some(connection) = &self.connection else { return };
        if connection.head().is_none() && self.exchange.status.is_some() && connection.ended() == Ended::Open {
            return;
        }
        let exchange = &mut self.exchange;
        exchange.ended = connection.ended();
        exchange.body_len = connection.body().len;
        exchange.body_sha256 = connection.body().sha256();
        exchange.body_head = wire::escape(&connection.body().start, MOST_OF_BODY);
        if let Some(head) = connection.head() {
            exchange.status = Some(head.status);
            let headers = head.headers.iter().take(MOST_HEADERS);
            exchange.headers = headers
                .map(|(name, value)| {
                    (wire::escape(name.as_bytes(), MOST_OF_HEADER), wire::escape(value, MOST_OF_HEADER))
                })
                .collect();
        }
    }
}

fn name(step: &Step) -> &'static str {
    match step {
        Step::Send(_) => "send",
        Step::SendBody { .. } => "send body",
        Step::SendBearer(_) => "send bearer",
        Step::HalfClose => "half close",
        Step::ReadHead => "read head",
        Step::ReadUntil(_) => "read until",
        Step::ReadResponse => "read response",
        Step::ReadToEnd => "read to end",
        Step::Await(_) => "await",
        Step::Close => "close",
        Step::Reset => "reset",
    }
}
