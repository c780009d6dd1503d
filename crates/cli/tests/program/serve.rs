//! The served page: what it answers and to whom, fits that are seen, stopped and pinned, and its end.

use crate::Bench;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that ends with the test.
struct Served {
    child: Child,
    port: u16,
    word: String,
}

impl Served {
    fn new(bench: &Bench, line: &str) -> Served {
        let mut command = bench.command(&format!("serve {line} --no-open"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{address:?} is no address"));
        let (port, word) = rest.trim_end().trim_end_matches('/').split_once('/').unwrap();
        Served { port: port.parse().unwrap(), word: word.into(), child }
    }

    /// The code and the body of the answer to these bytes.
    fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?} is no answer"));
        (head[9..12].parse().unwrap(), body.to_string())
    }

    fn ask(&self, method: &str, path: &str, host: &str, body: &str) -> (u16, String) {
        let length = body.len();
        self.raw(
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes(),
        )
    }

    fn get(&self, what: &str) -> (u16, String) {
        self.ask("GET", &format!("/{}/{what}", self.word), &format!("127.0.0.1:{}", self.port), "")
    }

    fn post(&self, what: &str, body: &str) -> (u16, String) {
        self.ask("POST", &format!("/{}/{what}", self.word), &format!("localhost:{}", self.port), body)
    }

    fn state(&self, after: u64) -> Value {
        let (code, body) = self.get(&format!("state?after={after}"));
        assert_eq!(code, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// All states until one that `enough` says yes to.
    fn until(&self, enough: impl Fn(&Value) -> bool) -> Vec<Value> {
        let (start, mut all, mut after) = (Instant::now(), Vec::new(), 0);
        loop {
            let state = self.state(after);
            after = state["version"].as_u64().unwrap();
            let end = enough(&state);
            all.push(state);
            if end {
                return all;
            }
            assert!(start.elapsed() < Duration::from_secs(300), "{:?}", all.last());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ctrl-C: the code, and how long it took to end.
    fn interrupt(mut self) -> (Option<i32>, Duration) {
        let start = Instant::now();
        assert!(Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success());
        (self.child.wait().unwrap().code(), start.elapsed())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn data(html: &str) -> Value {
    let after = html.split("<script id=\"eigenfold-data\" type=\"application/json\">").nth(1).unwrap();
    serde_json::from_str(after.split("</script>").next().unwrap()).unwrap()
}

const ENDED: [&str; 3] = ["done", "stopped", "failed"];

fn ended(state: &Value) -> bool {
    ENDED.contains(&state["status"].as_str().unwrap())
}

#[test]
fn a_method_is_run_seen_and_pinned_and_ctrl_c_ends_it() {
    let bench = Bench::new();
    let served = Served::new(&bench, "iris -k 12");
    let (code, html) = served.get("");
    assert_eq!(code, 200);
    assert!(html.contains("connect-src 'self'") && !html.contains("connect-src 'none'"));
    let page = data(&html);
    assert_eq!((&page["live"]["neighbors"], &page["live"]["dims"]), (&json!(12), &json!(2)));
    let methods = page["live"]["methods"].as_array().unwrap();
    let tsne = methods.iter().find(|method| method["name"] == "tsne").unwrap();
    assert!(tsne["parameters"].as_array().unwrap().iter().any(|one| one["name"] == "perplexity"));
    assert_eq!(page["maps"].as_array().unwrap().len(), 1);
    assert_eq!(served.state(0)["status"], "idle");
    assert_eq!(served.post("pin", "{}").0, 409);

    let (code, answer) = served.post("run", r#"{"method": "tsne", "parameters": {"perplexity": "20"}}"#);
    assert_eq!((code, serde_json::from_str(&answer).ok()), (200, Some(json!({"run": 1}))));
    let states = served.until(ended);
    let last = states.last().unwrap();
    assert_eq!((&last["status"], &last["name"]), (&json!("done"), &json!("tsne perplexity=20")), "{last}");
    assert!(last["objective"].is_number() && last["seconds"].as_f64().unwrap() > 0.0);
    // Eight bytes for each coordinate of 150 points, and four for each third of them in base64.
    assert_eq!(
        (&last["map"]["type"], last["map"]["values"].as_str().unwrap().len()),
        (&json!("f64"), 150 * 2 * 8 / 3 * 4)
    );
    assert_eq!(served.state(last["version"].as_u64().unwrap())["map"], Value::Null);

    let (code, pinned) = served.post("pin", "{}");
    assert_eq!(code, 200, "{pinned}");
    let pinned: Value = serde_json::from_str(&pinned).unwrap();
    assert_eq!(
        (&pinned["map"]["id"], &pinned["map"]["title"]),
        (&json!("tsne perplexity=20"), &json!("t-SNE, perplexity 20"))
    );
    assert!(pinned["map"]["quality"]["rnx_auc"]["value"].as_f64().unwrap() > 0.5 && pinned["bytes"].is_string());
    assert_eq!(pinned["order"].as_array().unwrap().len(), 2);
    assert_eq!(served.post("pin", "{}").0, 409);
    let page = data(&served.get("").1);
    assert_eq!(page["ranking"]["order"], pinned["order"]);
    assert_eq!(
        page["maps"].as_array().unwrap().iter().find(|map| map["id"] == "tsne perplexity=20").unwrap()["quality"],
        pinned["map"]["quality"]
    );

    let (code, took) = served.interrupt();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(bench.files().is_empty());
}

#[test]
fn a_map_moves_while_it_is_made_and_stays_where_it_is_stopped() {
    let bench = Bench::new();
    bench.does("sample swiss-roll -n 300 -q -o roll.npy");
    let served = Served::new(&bench, "roll.npy");
    let slow =
        r#"{"method": "tsne", "parameters": {"accuracy": "exact", "tolerance": "0", "max-iterations": "1000000"}}"#;
    assert_eq!(served.post("run", slow).0, 200);
    assert_eq!(served.post("run", slow).0, 409);
    let moving = |state: &Value| state["map"].is_object() && state["status"] == "running";
    let first = served.until(moving).pop().unwrap();
    let after = first["version"].as_u64().unwrap();
    let second = served.until(|state| moving(state) && state["version"].as_u64().unwrap() > after).pop().unwrap();
    assert_ne!(first["map"]["values"], second["map"]["values"]);
    assert!(first["step"].as_u64().unwrap() < second["step"].as_u64().unwrap());
    assert_eq!(second["map"]["type"], "f32");
    assert_eq!(served.post("stop", "{}").0, 200);
    let last = served.until(ended).pop().unwrap();
    assert_eq!(
        (&last["status"], &last["converged"], &last["map"]["type"]),
        (&json!("stopped"), &json!(false), &json!("f64"))
    );
    let pinned: Value = serde_json::from_str(&served.post("pin", "{}").1).unwrap();
    assert_eq!(pinned["map"]["status"], "stopped");

    // A fit that is running does not keep the program.
    assert_eq!(served.post("run", slow).0, 200);
    served.until(moving);
    let (code, took) = served.interrupt();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(bench.files(), ["roll.npy"]);
}

#[test]
fn only_this_machine_and_only_with_the_word_and_nothing_but_requests() {
    let bench = Bench::new();
    let served = Served::new(&bench, "iris");
    let own = format!("127.0.0.1:{}", served.port);
    let (right, wrong) = (format!("/{}/state", served.word), format!("/{}/state", "0".repeat(served.word.len())));
    assert_eq!(served.ask("GET", &right, &own, "").0, 200);
    for path in ["/", "/state", "/favicon.ico", "/../../etc/passwd", wrong.as_str()] {
        assert_eq!(served.ask("GET", path, &own, "").0, 404, "{path}");
    }
    for host in ["example.org", "127.0.0.1", "localhost:1", &format!("example.org:{}", served.port)] {
        assert_eq!(served.ask("GET", &right, host, "").0, 403, "{host}");
    }
    let foreign = format!("GET {right} HTTP/1.1\r\nHost: {own}\r\nOrigin: http://example.org\r\n\r\n");
    assert_eq!(served.raw(foreign.as_bytes()).0, 403);
    assert_eq!(served.get("../etc/passwd").0, 404);
    assert_eq!(served.get("run").0, 405);
    assert_eq!(served.raw(b"what is this\r\n\r\n").0, 400);

    let (code, text) = served.post("run", &format!("{{\"method\": \"{}\"}}", "x".repeat(1 << 20)));
    assert!(code == 413 && text.contains("the limit is 1048576"), "{code} {text}");
    for (body, fact) in [
        ("{", "is not JSON"),
        ("{\"method\": \"isomab\"}", "isomap"),
        ("{\"method\": \"tsne\", \"parameters\": {\"perplexity\": \"-1\"}}", "perplexity"),
    ] {
        let (code, text) = served.post("run", body);
        assert!(code == 400 && text.contains(fact) && text.lines().count() == 1, "{code} {text}");
    }
    // What a method says of itself when it fails comes back as text.
    assert_eq!(served.post("run", "{\"method\": \"hessian-lle\", \"neighbors\": 3}").0, 200);
    let failed = served.until(ended).pop().unwrap();
    assert!(failed["status"] == "failed" && failed["reason"].as_str().unwrap().contains("neighbors"), "{failed}");
    assert_eq!(served.post("pin", "{}").0, 409);
    assert_eq!(served.interrupt().0, Some(0));
}

#[test]
fn what_cannot_be_served_is_refused_in_one_line() {
    let bench = Bench::new();
    bench.refuses("serve nothing.csv --no-open", 2, "nothing.csv");
    bench.refuses("serve iris --no-open --methods isomab", 2, "isomap");
    bench.refuses("serve iris --no-open -k auto", 2, "-k");
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    bench.refuses(&format!("serve iris --no-open --port {port}"), 2, "give another --port");
}

/// Where no thread can be started for want of address space, a connection is turned away, and the server goes on.
#[test]
fn a_server_without_room_for_a_thread_lives_on() {
    let bench = Bench::new();
    let served = Served::new(&bench, "iris");
    let (code, _) = served.get("state");
    assert_eq!(code, 200);
    let limited = |limit: &str| {
        let mut command = Command::new("prlimit");
        command.args(["--pid", &served.child.id().to_string(), &format!("--as={limit}")]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    // As much as it has, and a little for small things.
    let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id())).unwrap_or_default();
    let size =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")?.split_whitespace().next()?.parse::<u64>().ok());
    let Some(size) = size.filter(|size| limited(&format!("{}:unlimited", size * 1024 + 500_000))) else { return };
    for _ in 0..8 {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", served.port)) else { continue };
        let _ = stream.set_read_timeout(Some(Duration::from_millis(300)));
        let _ = stream.write_all(
            format!("GET /{}/state HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", served.word, served.port).as_bytes(),
        );
        let _ = stream.read(&mut [0; 64]);
    }
    assert!(limited("unlimited:unlimited"), "{size}");
    let (code, body) = served.get("state");
    assert_eq!(code, 200, "{body}");
}
