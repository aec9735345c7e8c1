//! A Model Context Protocol client: starts the server beside the probe and speaks JSON-RPC lines with it.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

use serde_json::{Value, json};

use crate::{
    context::{Attempted, Context, Stop, found, refused, timed_out},
    observation::{Facts, McpCall},
    program,
    sys::{self, descriptors, memory::Slots, poll, process, signals, socket},
    wire,
};

/// The program's first argument that makes it the server.
const SERVER_COMMAND: &str = "mcp-server";
const PROTOCOL: &str = "2025-06-18";
const TOOLS: [&str; 2] = ["get_context", "post_message"];
const MOST_OF_TEXT: usize = 160;
/// Most bytes of one message.
const MOST_OF_LINE: usize = 4 * 1024 * 1024;

/// `Attempt::Mcp`: every tool that the server lists, and what two of them answer.
pub fn talk(context: &Context<'_>, instance: &str) -> Attempted {
    let mut server = Server::start(context, instance)?;
    let told = server.session();
    server.end()?;
    told
}

struct Server<'a> {
    context: &'a Context<'a>,
    to: OwnedFd,
    from: OwnedFd,
    pid: process::Pid,
    /// Where the child says why it could not execute the program.
    slots: Slots,
    unread: Vec<u8>,
    last_id: u64,
}

impl<'a> Server<'a> {
    fn start(context: &'a Context<'a>, instance: &str) -> Result<Self, Stop> {
        context.step("start of the MCP server");
        let (their_input, to) = socket::pipe().map_err(refused("pipe2"))?;
        let (from, their_output) = socket::pipe().map_err(refused("pipe2"))?;
        let slots = Slots::new(1).map_err(refused("mmap"))?;
        let pid = process::spawn(|| {
            signals::restore_pipe();
            let joined = process::replace_standard(their_input.as_fd(), 0)
                .and_then(|()| process::replace_standard(their_output.as_fd(), 1));
            let error = match joined {
                Ok(()) => program::execute_self(&[SERVER_COMMAND, "--instance", instance]),
                Err(error) => error,
            };
            slots.slot(0).finish(0, &sys::errno(&error).to_le_bytes());
            127
        })
        .map_err(refused("fork"))?;
        Ok(Self { context, to, from, pid, slots, unread: Vec::new(), last_id: 0 })
    }

    fn session(&mut self) -> Attempted {
        let client = json!({ "name": "watertight-probe", "version": env!("CARGO_PKG_VERSION") });
        self.call("initialize", json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client }))?
            .map_err(|error| Stop::Broken(format!("the MCP server does not initialise: {error}")))?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        let tools = self.tools()?;
        let nonce = self.context.nonce.to_string();
        let mut calls = Vec::new();
        for tool in TOOLS {
            let answer = self.call("tools/call", json!({ "name": tool, "arguments": { "nonce": nonce } }))?;
            calls.push(judge(tool, answer));
        }
        Ok(found(Facts::Mcp { tools, calls }))
    }

    fn tools(&mut self) -> Result<Vec<String>, Stop> {
        let list = self
            .call("tools/list", json!({}))?
            .map_err(|error| Stop::Broken(format!("the MCP server does not list its tools: {error}")))?;
        let names = list["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        let mut tools: Vec<_> = names.map(|name| wire::escape(name.as_bytes(), 60)).collect();
        tools.sort();
        Ok(tools)
    }

    /// The result of a request, or the server's error.
    fn call(&mut self, method: &str, parameters: Value) -> Result<Result<Value, String>, Stop> {
        self.last_id += 1;
        let id = self.last_id;
        self.context.step(method);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        loop {
            let mut message = self.receive(method)?;
            // Notifications, and requests of the server's own, come between.
            if message["id"] == id && message.get("method").is_none() {
                return Ok(match message.get("error") {
                    Some(error) => Err(wire::escape(error.to_string().as_bytes(), MOST_OF_TEXT)),
                    None => Ok(message["result"].take()),
                });
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Stop> {
        let line = format!("{message}\n");
        let mut bytes = line.as_bytes();
        while !bytes.is_empty() {
            let ready = poll::wait(&self.to, poll::WRITE, self.context.until).map_err(refused("poll"))?;
            ready.ok_or_else(|| timed_out("write to the MCP server"))?;
            match descriptors::write(self.to.as_fd(), bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(self.gone()),
                Err(error) => return Err(refused("write")(error)),
            }
        }
        Ok(())
    }

    fn receive(&mut self, waiting_for: &str) -> Result<Value, Stop> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return serde_json::from_slice(&line)
                    .map_err(|error| Stop::Broken(format!("the MCP server wrote no JSON: {error}")));
            }
            if self.unread.len() > MOST_OF_LINE {
                return Err(Stop::Broken("the MCP server wrote a line without end".into()));
            }
            let ready = poll::wait(&self.from, poll::READ, self.context.until).map_err(refused("poll"))?;
            ready.ok_or_else(|| timed_out(waiting_for))?;
            let mut buffer = vec![0; 16 * 1024];
            match descriptors::read(self.from.as_fd(), &mut buffer).map_err(refused("read"))? {
                0 => return Err(self.gone()),
                read => self.unread.extend(&buffer[..read]),
            }
        }
    }

    /// Why the server is not there any more.
    fn gone(&self) -> Stop {
        let errno = self.slots.slot(0).result().and_then(|(_, bytes)| Some(i32::from_le_bytes(bytes.try_into().ok()?)));
        match errno {
            Some(errno) => Stop::Absent("a path to this program".into(), errno),
            None => Stop::Broken("the MCP server ended before it answered".into()),
        }
    }

    fn end(self) -> Result<(), Stop> {
        process::kill_group(self.pid);
        process::wait_for(self.pid).map(drop).map_err(refused("waitpid"))
    }
}

/// What a tool answered: its first text, or the protocol's error.
fn judge(tool: &str, answer: Result<Value, String>) -> McpCall {
    match answer {
        Ok(result) => McpCall {
            tool: tool.into(),
            is_error: result["isError"] == true,
            text: wire::escape(result["content"][0]["text"].as_str().unwrap_or("").as_bytes(), MOST_OF_TEXT),
        },
        Err(error) => McpCall { tool: tool.into(), is_error: true, text: error },
    }
}
