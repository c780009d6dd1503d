//! Requests and answers over one connection each, as far as a page on the same machine needs them.
//!
//! `httparse` reads the head, whose size is limited; a body announces its length, which is limited too; slow connections are
//! closed. An answer closes its connection.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The most bytes of a head.
const HEAD: usize = 16 << 10;
/// The most lines of a head.
const LINES: usize = 64;
/// The most bytes of a body.
pub(super) const BODY: usize = 1 << 20;
/// How long a request may take to arrive, and a part of an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long and how much is read of a request that was refused, so that its answer is read before the connection ends.
const DRAINED: (Duration, u64) = (Duration::from_millis(500), 8 << 20);

/// A request.
pub(super) struct Request {
    pub(super) post: bool,
    /// The path without what follows a question mark.
    pub(super) path: String,
    /// What follows the question mark.
    pub(super) query: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) body: Vec<u8>,
}

/// What is answered.
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) kind: &'static str,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// A sentence.
    pub(super) fn text(code: u16, text: impl Into<String>) -> Answer {
        Answer { code, kind: "text/plain; charset=utf-8", body: text.into().into_bytes() }
    }

    pub(super) fn json(value: &serde_json::Value) -> Answer {
        Answer { code: 200, kind: "application/json", body: value.to_string().into_bytes() }
    }

    pub(super) fn page(html: &str) -> Answer {
        Answer { code: 200, kind: "text/html; charset=utf-8", body: html.as_bytes().to_vec() }
    }

    fn head(&self) -> String {
        let reason = match self.code {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            409 => "Conflict",
            411 => "Length Required",
            413 => "Content Too Large",
            431 => "Request Header Fields Too Large",
            _ => "Internal Server Error",
        };
        // The page declares what it may load; no other page may put it into a frame or read it.
        format!(
            "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Content-Security-Policy: frame-ancestors 'none'\r\n\r\n",
            self.code,
            self.kind,
            self.body.len()
        )
    }
}

/// Reads one request, answers it and ends the connection. `allowed` looks at the head before a body is read.
pub(super) fn serve(
    mut stream: TcpStream,
    allowed: impl Fn(&Request) -> Option<Answer>,
    answer: impl Fn(&Request) -> Answer,
) {
    let waits = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
    if waits.is_err() {
        return;
    }
    let (answer, read_to_its_end) = match read(&mut stream, allowed) {
        Ok(request) => (answer(&request), true),
        Err(Some(refusal)) => (refusal, false),
        // Nobody there any more.
        Err(None) => return,
    };
    let written = stream.write_all(answer.head().as_bytes()).and_then(|()| stream.write_all(&answer.body));
    let _ = written.and_then(|()| stream.shutdown(Shutdown::Write));
    if !read_to_its_end && stream.set_read_timeout(Some(DRAINED.0)).is_ok() {
        let _ = std::io::copy(&mut stream.take(DRAINED.1), &mut std::io::sink());
    }
}

/// The request; or the answer to one that is refused, if there is someone to hear it.
fn read(stream: &mut impl Read, allowed: impl Fn(&Request) -> Option<Answer>) -> Result<Request, Option<Answer>> {
    let began = Instant::now();
    let mut bytes = Vec::new();
    let (mut request, head, length) = loop {
        if let Some(found) = parsed(&bytes)? {
            break found;
        }
        if bytes.len() >= HEAD {
            return refused(431, "the header of the request is too long");
        }
        more(stream, &mut bytes, HEAD, began)?;
    };
    if let Some(refusal) = allowed(&request) {
        return Err(Some(refusal));
    }
    let length = length?;
    if length > BODY {
        let fact = format!("the request has {length} bytes, and the limit is {BODY}; send less");
        return refused(413, &fact);
    }
    while bytes.len() < head + length {
        more(stream, &mut bytes, head + length, began)?;
    }
    request.body = bytes[head..head + length].to_vec();
    Ok(request)
}

fn refused<T>(code: u16, text: &str) -> Result<T, Option<Answer>> {
    Err(Some(Answer::text(code, text)))
}

/// Reads a few bytes more, up to `most` in total.
fn more(stream: &mut impl Read, bytes: &mut Vec<u8>, most: usize, began: Instant) -> Result<(), Option<Answer>> {
    let mut chunk = [0; 4096];
    let room = chunk.len().min(most.saturating_sub(bytes.len()).max(1));
    let late = || Err(Some(Answer::text(408, "the request took too long to arrive")));
    if began.elapsed() > PATIENCE {
        return late();
    }
    match stream.read(&mut chunk[..room]) {
        Ok(0) => Err(None),
        Ok(count) => {
            bytes.extend_from_slice(&chunk[..count]);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => late(),
        Err(_) => Err(None),
    }
}

/// What a head says of the length of its body.
type Length = Result<usize, Option<Answer>>;

/// The head with its own length and that of the body, if all of the head is there.
fn parsed(bytes: &[u8]) -> Result<Option<(Request, usize, Length)>, Option<Answer>> {
    let mut lines = [httparse::EMPTY_HEADER; LINES];
    let mut head = httparse::Request::new(&mut lines);
    let end = match head.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return refused(431, "the header of the request has too many lines"),
        Err(error) => return refused(400, &format!("this is not an HTTP/1.1 request: {error}")),
    };
    let post = match head.method {
        Some("GET") => false,
        Some("POST") => true,
        _ => return refused(405, "only GET and POST are answered"),
    };
    let all = |name: &str| -> Vec<String> {
        let found = head.headers.iter().filter(|line| line.name.eq_ignore_ascii_case(name));
        found.map(|line| String::from_utf8_lossy(line.value).trim().to_string()).collect()
    };
    // Said twice, the two could differ.
    let once = |name: &str| match all(name).as_slice() {
        [] => Ok(None),
        [value] => Ok(Some(value.clone())),
        _ => refused(400, &format!("the header of the request has {name} twice")),
    };
    let (host, origin, length) = (once("Host")?, once("Origin")?, once("Content-Length")?);
    let number = |text: String| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let wrong = || Some(Answer::text(400, "the length of the body is not a number"));
        // More than a number can hold is too much as well.
        if digits { Ok(text.parse().unwrap_or(usize::MAX)) } else { Err(wrong()) }
    };
    let length = match length {
        _ if !all("Transfer-Encoding").is_empty() => refused(411, "send the length of the body before it"),
        Some(text) => number(text),
        None => Ok(0),
    };
    let (path, query) = head.path.unwrap_or_default().split_once('?').unwrap_or((head.path.unwrap_or_default(), ""));
    let (path, query) = (path.to_string(), query.to_string());
    Ok(Some((Request { post, path, query, host, origin, body: Vec::new() }, end, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Request, u16> {
        read(&mut text.as_bytes(), |_| None).map_err(|refusal| refusal.map_or(0, |answer| answer.code))
    }

    #[test]
    fn a_request_is_read_to_its_end_and_no_further() {
        let request =
            of("POST /a/run?x=1 HTTP/1.1\r\nhost: localhost:1\r\nContent-Length: 3\r\n\r\n{} and more").unwrap();
        assert_eq!((request.post, request.path.as_str(), request.query.as_str()), (true, "/a/run", "x=1"));
        assert_eq!((request.host.as_deref(), request.body.as_slice()), (Some("localhost:1"), &b"{} "[..]));
        assert!(!of("GET / HTTP/1.1\r\n\r\n").unwrap().post);
    }

    #[test]
    fn what_is_too_much_or_no_request_is_refused() {
        let refused = |text: &str| of(text).err().unwrap();
        assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400);
        assert_eq!(refused("PUT / HTTP/1.1\r\n\r\n"), 405);
        assert_eq!(refused("no request\r\n\r\n"), 400);
        assert_eq!(refused("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 411);
        assert_eq!(refused("POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"), 413);
        assert_eq!(refused("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n"), 413);
        assert_eq!(refused("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), 400);
        assert_eq!(refused(&format!("GET / HTTP/1.1\r\nCookie: {}", "x".repeat(HEAD))), 431);
        assert_eq!(refused(&format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(LINES + 1))), 431);
        // Whoever left before the end is not answered.
        assert_eq!(refused("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"), 0);
    }

    #[test]
    fn no_body_is_read_of_a_request_that_may_not_be() {
        let text = "POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n";
        let answer = read(&mut text.as_bytes(), |_| Some(Answer::text(404, "nothing here"))).err().unwrap().unwrap();
        assert_eq!(answer.code, 404);
        assert!(answer.head().starts_with("HTTP/1.1 404 Not Found\r\n") && answer.head().ends_with("\r\n\r\n"));
    }
}
