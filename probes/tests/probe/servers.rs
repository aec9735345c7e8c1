//! Small servers in the network namespace of the thread that starts them.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::mpsc::{Receiver, channel},
};

pub const BANNER: &[u8] = b"banner\n";

/// Answers every connection's first bytes with [`BANNER`] and hands them over.
pub fn tcp(at: &str) -> (SocketAddr, Receiver<Vec<u8>>) {
    tcp_with(at, |mut stream| {
        let mut bytes = vec![0; 1024];
        let read = stream.read(&mut bytes).unwrap_or(0);
        bytes.truncate(read);
        if read > 0 {
            stream.write_all(BANNER).expect("written");
        }
        bytes
    })
}

/// Serves every connection, one after another, and hands over what `serve` makes of it.
pub fn tcp_with<T: Send + 'static>(
    at: &str,
    serve: impl Fn(TcpStream) -> T + Send + 'static,
) -> (SocketAddr, Receiver<T>) {
    let listener = TcpListener::bind(at).expect("bound");
    let address = listener.local_addr().expect("bound");
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // The test has ended.
            if tell.send(serve(stream.expect("accepted"))).is_err() {
                return;
            }
        }
    });
    (address, told)
}

/// Answers every datagram with what `answer` makes of it, and hands the datagram over.
pub fn udp(at: &str, answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> (SocketAddr, Receiver<Vec<u8>>) {
    let socket = UdpSocket::bind(at).expect("bound");
    let address = socket.local_addr().expect("bound");
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 2048];
        while let Ok((read, from)) = socket.recv_from(&mut bytes) {
            socket.send_to(&answer(&bytes[..read]), from).expect("sent");
            if tell.send(bytes[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    (address, told)
}

/// Answers an A question with 192.0.2.1 and every other one with nothing.
pub fn dns_answer(question: &[u8]) -> Vec<u8> {
    let mut answer = question.to_vec();
    let end = 12 + question[12..].iter().position(|byte| *byte == 0).expect("a name") + 5;
    answer.truncate(end);
    answer[2] = 0x81;
    answer[3] = 0x80;
    let is_a = question[end - 4..end - 2] == [0, 1];
    answer[6..12].copy_from_slice(&[0, u8::from(is_a), 0, 0, 0, 0]);
    if is_a {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
    }
    answer
}
