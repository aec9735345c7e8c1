//! What stands in for the program's MCP server: it knows two tools, and one of them always fails.

use std::{io::BufRead, process::ExitCode};

use serde_json::{Value, json};

/// Answers JSON-RPC lines until standard input ends.
pub fn serve(instance: &str) -> ExitCode {
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        let parameters = &message["params"];
        let result = match message["method"].as_str().expect("a method") {
            "initialize" => json!({ "protocolVersion": parameters["protocolVersion"], "capabilities": {} }),
            "tools/list" => json!({ "tools": [{ "name": "post_message" }, { "name": "get_context" }] }),
            "tools/call" => {
                let (tool, nonce) = (&parameters["name"], &parameters["arguments"]["nonce"]);
                let text = format!("{} {} at {instance}", tool.as_str().expect("text"), nonce.as_str().expect("text"));
                println!("{}", json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} }));
                json!({ "content": [{ "type": "text", "text": text }], "isError": tool == "post_message" })
            }
            _ => continue,
        };
        println!("{}", json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    }
    ExitCode::SUCCESS
}
