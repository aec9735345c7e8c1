//! Scripted exchanges with small servers that answer well, badly, early or not at all.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    os::unix::net::UnixListener,
};

use watertight_probe::{
    observation::{Ended, Exchange, Facts},
    plan::{Attempt, BearerAt, BearerForm, Endpoint, Plan, Planned, Step, pseudo_random},
};

use crate::{
    launch::{launch, plan, planned},
    servers, sys,
};

crate::trials! {
    endings_of_responses_are_told_apart,
    an_early_answer_ends_the_sending_and_is_read,
    a_large_body_goes_out_whole_while_the_answer_comes_in,
    two_requests_on_one_connection_have_a_response_each,
    the_bearer_is_sent_in_the_form_that_is_asked_for,
    a_script_waits_for_the_fixture_on_a_connection_of_its_own,
    a_half_close_still_gets_the_response_and_a_reset_is_one,
    an_exchange_that_cannot_connect_is_refused_and_one_that_hangs_says_where,
    a_relay_is_reached_by_its_path,
}

const GET: &str = "GET / HTTP/1.1\\x0d\\x0ahost: x\\x0d\\x0a\\x0d\\x0a";
const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";

fn get() -> Step {
    Step::Send(GET.into())
}

fn exchange(to: SocketAddr, steps: Vec<Step>) -> Attempt {
    Attempt::Exchange { to: Endpoint::Tcp(to), steps }
}

#[track_caller]
fn perform(plan: &Plan) -> Exchange {
    match launch(plan).facts(0) {
        Facts::Exchange { exchange } => exchange.clone(),
        other => panic!("other facts: {other:?}"),
    }
}

/// Reads one head and answers.
fn after_head(mut stream: TcpStream, answer: &str) -> TcpStream {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a whole head");
        head.push(byte[0]);
    }
    stream.write_all(answer.as_bytes()).expect("written");
    stream
}

fn endings_of_responses_are_told_apart() {
    sys::new_network(true);
    let table = [
        (OK, Ended::Complete, Some(200), "hi"),
        ("HTTP/1.1 200 OK\r\n\r\nhi", Ended::Complete, Some(200), "hi"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", Ended::Complete, Some(200), "hi"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nhi", Ended::Truncated, Some(200), "hi"),
        ("HTTP/1.1 502 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n", Ended::Truncated, Some(502), "hi"),
        ("HTTP/1.1 200", Ended::Truncated, None, ""),
        ("", Ended::Closed, None, ""),
        ("SSH-2.0-x\r\n", Ended::Malformed, None, ""),
    ];
    for (answer, ended, status, body) in table {
        let (to, _told) = servers::tcp_with("127.0.0.1:0", move |stream| drop(after_head(stream, answer)));
        let told = perform(&plan([exchange(to, vec![get(), Step::ReadResponse])]));
        assert_eq!((told.ended, told.status, told.body_head.as_str()), (ended, status, body), "{answer:?}");
        assert_eq!((told.steps_done, told.step_micros.len(), told.stopped), (2, 2, None));
    }
    let (to, _told) = servers::tcp_with("127.0.0.1:0", |stream| {
        nix::sys::socket::setsockopt(
            &after_head(stream, "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n"),
            nix::sys::socket::sockopt::Linger,
            &libc::linger { l_onoff: 1, l_linger: 0 },
        )
    });
    let told = perform(&plan([exchange(to, vec![get(), Step::ReadResponse])]));
    assert_eq!((told.ended, told.status), (Ended::Reset, Some(200)));
}

fn an_early_answer_ends_the_sending_and_is_read() {
    sys::new_network(true);
    let (to, _told) = servers::tcp_with("127.0.0.1:0", |stream| {
        let answer = "HTTP/1.1 413 Too much\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let mut stream = after_head(stream, answer);
        stream.shutdown(Shutdown::Write).expect("half closed");
        // Reads on without an end in sight, as a server that lingers does.
        std::io::copy(&mut stream, &mut std::io::sink())
    });
    let head = "POST / HTTP/1.1\\x0d\\x0acontent-length: 68719476736\\x0d\\x0a\\x0d\\x0a";
    let steps = vec![Step::Send(head.into()), Step::SendBody { len: 1 << 36, seed: 1 }, Step::ReadResponse];
    let told = perform(&plan([exchange(to, steps)]));
    assert_eq!((told.status, told.ended, told.steps_done), (Some(413), Ended::Complete, 3));
    assert!(told.stopped.is_some_and(|why| why.contains("step 1")));
}

fn a_large_body_goes_out_whole_while_the_answer_comes_in() {
    sys::new_network(true);
    const LEN: usize = 3 * 1024 * 1024 + 1;
    // An echo fills both directions: whoever only sends waits for ever.
    let (to, echoed) = servers::tcp_with("127.0.0.1:0", |stream| {
        let mut stream = after_head(stream, "HTTP/1.1 200 OK\r\n\r\n");
        let mut body = vec![0; LEN];
        for piece in body.chunks_mut(64 * 1024) {
            stream.read_exact(piece).expect("read");
            stream.write_all(piece).expect("written");
        }
        body
    });
    let steps = vec![get(), Step::SendBody { len: LEN as u64, seed: 9 }, Step::ReadResponse];
    let told = perform(&plan([exchange(to, steps)]));
    assert_eq!((told.body_len, told.ended), (LEN as u64, Ended::Complete));
    assert!(echoed.recv().expect("told").into_iter().eq(pseudo_random(9, LEN as u64).flatten()));
}

fn two_requests_on_one_connection_have_a_response_each() {
    sys::new_network(true);
    let serve =
        |stream| after_head(after_head(stream, OK), "HTTP/1.1 401 No\r\nx-y: a\tb\r\ncontent-length: 0\r\n\r\n");
    let (to, _told) = servers::tcp_with("127.0.0.1:0", serve);
    let told = perform(&plan([exchange(to, vec![get(), Step::ReadResponse, get(), Step::ReadResponse])]));
    assert_eq!((told.status, told.body_len, told.ended), (Some(401), 0, Ended::Complete));
    assert_eq!(told.headers[0], ("x-y".to_owned(), "a\\x09b".to_owned()));
    let (to, _told) = servers::tcp_with("127.0.0.1:0", |stream| after_head(stream, &[OK, OK].concat()));
    let both = Step::Send(format!("{GET}{GET}"));
    let told = perform(&plan([exchange(to, vec![both, Step::ReadResponse, Step::ReadResponse])]));
    assert_eq!((told.status, told.body_head.as_str(), told.ended), (Some(200), "hi", Ended::Complete));
}

fn the_bearer_is_sent_in_the_form_that_is_asked_for() {
    sys::new_network(true);
    let (to, told) = servers::tcp_with("127.0.0.1:0", |mut stream| {
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("text");
        text
    });
    let steps =
        vec![Step::Send("b ".into()), Step::SendBearer(BearerForm::LastDifferent), Step::HalfClose, Step::ReadToEnd];
    let path = std::env::var("PATH").expect("set");
    let bearer = Some(BearerAt::Env("PATH".into()));
    let exchanged = perform(&Plan { bearer, ..plan([exchange(to, steps.clone())]) });
    assert_eq!((exchanged.steps_done, exchanged.ended), (4, Ended::Closed));
    let sent = told.recv().expect("told");
    assert_eq!((&sent[..path.len() + 1], sent.len()), (&*format!("b {}", &path[..path.len() - 1]), path.len() + 2));
    assert_ne!(sent, format!("b {path}"));
    let exchanged = perform(&plan([exchange(to, steps)]));
    assert_eq!(exchanged.steps_done, 1);
    assert!(exchanged.stopped.is_some_and(|why| why.contains("bearer")));
}

fn a_script_waits_for_the_fixture_on_a_connection_of_its_own() {
    sys::new_network(true);
    for (answer, done) in [(OK, 2), ("HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n", 1)] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let to = listener.local_addr().expect("bound");
        let server = std::thread::spawn(move || {
            let (held, _) = listener.accept().expect("accepted");
            let (other, _) = listener.accept().expect("accepted");
            (held, after_head(other, answer))
        });
        let told = perform(&plan([exchange(to, vec![Step::Send("POST".into()), Step::Await(vec![get()])])]));
        assert_eq!((told.steps_done, told.stopped.is_none()), (done, done == 2), "{told:?}");
        let (mut held, _) = server.join().expect("served");
        let mut text = String::new();
        held.read_to_string(&mut text).expect("text");
        assert_eq!(text, "POST");
    }
}

fn a_half_close_still_gets_the_response_and_a_reset_is_one() {
    sys::new_network(true);
    let (to, told) = servers::tcp_with("127.0.0.1:0", |mut stream| {
        let mut request = Vec::new();
        let end = stream.read_to_end(&mut request).map(drop).map_err(|error| error.kind());
        // After a reset nobody reads it.
        drop(stream.write_all(OK.as_bytes()));
        end
    });
    let exchanged = perform(&plan([exchange(to, vec![get(), Step::HalfClose, Step::ReadResponse])]));
    assert_eq!((exchanged.status, exchanged.ended), (Some(200), Ended::Complete));
    assert_eq!(told.recv().expect("told"), Ok(()));
    perform(&plan([exchange(to, vec![get(), Step::Close])]));
    assert_eq!(told.recv().expect("told"), Ok(()));
    perform(&plan([exchange(to, vec![get(), Step::Reset])]));
    assert_eq!(told.recv().expect("told"), Err(std::io::ErrorKind::ConnectionReset));
}

fn an_exchange_that_cannot_connect_is_refused_and_one_that_hangs_says_where() {
    sys::new_network(true);
    let nobody = "127.0.0.1:1".parse().expect("v4");
    assert_eq!(launch(&plan([exchange(nobody, vec![get()])])).refused(0), ("connect", libc::ECONNREFUSED));
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let to = silent.local_addr().expect("bound");
    let attempt = Planned { deadline_ms: 1200, ..planned(0, exchange(to, vec![get(), Step::ReadHead, Step::Close])) };
    let told = perform(&Plan { attempts: vec![attempt], ..plan([]) });
    assert_eq!((told.steps_done, told.ended, told.status), (1, Ended::Open, None));
    assert_eq!(told.stopped.as_deref(), Some("step 1 (read head): timed out"));
}

fn a_relay_is_reached_by_its_path() {
    sys::new_network(true);
    let path = std::env::temp_dir().join(format!("watertight-probe-relay-{}", std::process::id()));
    let listener = UnixListener::bind(&path).expect("bound");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("accepted");
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\none two").expect("written");
        let mut request = Vec::new();
        stream.read_to_end(&mut request).expect("read");
    });
    let to = Endpoint::UnixPath(path.to_str().expect("text").into());
    let steps = vec![get(), Step::ReadUntil("two".into()), Step::Close];
    let told = perform(&plan([Attempt::Exchange { to, steps }]));
    assert_eq!((told.steps_done, told.status, told.body_head.as_str()), (3, Some(200), "one two"));
    server.join().expect("served");
    std::fs::remove_file(path).expect("removed");
}
