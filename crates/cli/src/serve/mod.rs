//! `eigenfold serve`: the page of a comparison, alive: methods are tried in it, and seen while they work.
//!
//! The server is for this machine alone: it listens on the loopback address, answers only requests that have a secret word, under the names of this machine alone (docs/internals/security.md), and reads and writes no file.

mod http;
mod request;
mod watch;
mod work;

use crate::compare::{self, Subject, SubjectFlags, comparison, image};
use crate::drawing::name_of;
use crate::flags::{Common, Input, Neighbors, Preparing, memory_size};
use crate::labels::Carry;
use crate::progress::{self, Bar};
use crate::{guarded, input, print, say, say_warnings, view};
use clap::Args;
use eigenfold::{Data, Error, Request, Result, Share, compare::entrants, quality::QualityInput};
use eigenfold_page::ANIMATED;
use http::Answer;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work::{Refusal, Work};

/// Connections at the same time; browsers have about six.
const CONNECTIONS: usize = 32;
/// How soon Ctrl-C is noticed.
const LOOK: Duration = Duration::from_millis(50);
/// The bytes of the word in the address.
const WORD: usize = 16;

/// Try methods on your data in the browser, and watch the optimization.
///
/// Opens a page as `eigenfold compare --report` writes it, with a form: choose a method and its parameters and run it. An
/// embedding that is optimized is shown as an animation, and can be stopped. A pinned embedding is evaluated and shown beside the
/// others. The server is for this machine and this user alone, and ends with Ctrl-C; what was not downloaded is then lost.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES
  eigenfold serve digits
  eigenfold serve data.csv --label species -k 15
  eigenfold serve cells.parquet --labels types.csv --standardize --methods pca,umap
  eigenfold serve data.csv --port 8123 --no-open")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) input: Input,
    /// Methods that the page shows at first, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "pca")]
    pub(crate) methods: Vec<String>,
    /// Number of coordinates, unless the page sets another
    #[arg(short, long, value_name = "N", default_value_t = 2, allow_negative_numbers = true)]
    pub(crate) dims: usize,
    /// Maximum number of rows, drawn at random, or `all`
    #[arg(long, value_name = "N|all", default_value = "10000")]
    pub(crate) points: String,
    #[command(flatten)]
    pub(crate) preparing: Preparing,
    #[command(flatten)]
    pub(crate) neighbors: Neighbors,
    /// Size of the images in the rows, or `none` [default: detected]
    #[arg(long, value_name = "WxH|none")]
    pub(crate) image: Option<String>,
    #[command(flatten)]
    pub(crate) carry: Carry,
    /// Port to listen on; 0 for any free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Print the address and do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Memory limit, as in 4GB or 512MiB; a method that needs more is not run
    #[arg(long, value_name = "SIZE", value_parser = memory_size, allow_hyphen_values = true)]
    pub(crate) memory: Option<u64>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Runs the command.
pub(crate) fn run(args: &Serve) -> Result<()> {
    input::use_threads(args.common.threads)?;
    let base = crate::request::of_serve(args);
    if base.chooses_neighbors() || base.learns() {
        let fact = "the page has one graph to begin with";
        return Err(Error::parameter("neighbors", fact, "give -k a number, and try others in the page"));
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(|error| {
        let fact = format!("port {} cannot be listened on ({error})", args.port);
        Error::parameter("port", fact, "give another --port, or 0 for any free one")
    })?;
    let port = listener.local_addr().map_err(|error| failed("the port is not known", &error))?.port();
    let work = Arc::new(prepared(args, base)?);
    work.page()?;
    let access = Arc::new(Access { port, word: word()? });
    let address = format!("http://127.0.0.1:{port}/{}/", access.word);
    let said = Arc::clone(&work);
    let listening = std::thread::Builder::new().spawn(move || listen(&listener, &access, &said));
    listening.map_err(|error| failed("no thread can be started to listen", &error))?;
    print(&format!("{address}\n"))?;
    say(args.common.quiet, "the page is served to this machine alone; Ctrl-C ends it");
    if !args.no_open {
        let quiet = args.common.quiet;
        let nothing = move || say(quiet, "nothing here opens web pages; open the address in a browser");
        let opening = std::thread::Builder::new().spawn(move || {
            if !view::opens(address.as_ref()) {
                nothing();
            }
        });
        if opening.is_err() {
            nothing();
        }
    }
    // A fit that is running ends with the program: there is nothing of it to be kept.
    while !progress::is_stopped() {
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Reads the points and makes the maps that the page begins with.
fn prepared(args: &Serve, mut base: Request) -> Result<Work> {
    let bar = Bar::new(args.common.quiet);
    let [reading, fitting, evaluating] = Share::split(&bar, [0.1, 1.0, 0.2]).map(Share::even);
    bar.say("reading");
    let flags = SubjectFlags {
        input: &args.input,
        carry: &args.carry,
        preparing: &args.preparing,
        memory: args.memory,
        truth: None,
        points: &args.points,
        seed: args.common.seed,
    };
    let first = entrants(&args.methods, &base, None)?;
    let subject = Subject::read(&flags, &reading)?;
    progress::go_on()?;
    if subject.points.rows() > ANIMATED {
        base.snapshots = 0;
    }
    let image = image::size(args.image.as_deref(), &subject.points)?;
    let classes = subject.along.labels.as_ref().and_then(|labeled| labeled.labels.classes());
    let compare = comparison(None, args.common.seed);
    let mut maps = compare::fit(&compare, first, &subject, classes.as_deref(), &bar, &fitting)?;
    bar.say("evaluating");
    let usual = base.recipe()?;
    let points = Data::Points(&subject.points, usual.metric);
    compare.evaluate(
        &mut maps,
        &QualityInput { data: points, labels: classes.as_deref(), truth: None },
        &evaluating,
    )?;
    progress::go_on()?;
    let best = maps.first().and_then(|one| one.model.as_ref()).map(|model| model.embedding().clone());
    let first =
        best.ok_or_else(|| Error::parameter("methods", "no method gave an embedding", "name others with --methods"))?;
    bar.finish();
    input::say_notes(&subject.notes, args.common.quiet);
    say_warnings();
    Ok(Work {
        title: name_of(&args.input.source),
        classes,
        labels: subject.labels(),
        metric: usual.metric,
        image,
        request: base,
        usual,
        first,
        subject,
        maps: Mutex::new(maps),
        page: Mutex::default(),
        run: Mutex::default(),
        stop: false.into(),
    })
}

/// Access: requests that have the secret word and a name of this machine.
struct Access {
    port: u16,
    word: String,
}

/// A secret word.
fn word() -> Result<String> {
    let mut bytes = [0; WORD];
    getrandom::fill(&mut bytes).map_err(|error| failed("the system provides no random numbers", &error))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::numerical(format!("{what} ({error})"), "there is no server without")
}

impl Access {
    /// Why a request is not let in: it comes by another name, as a page of someone else would after a change of what its name
    /// stands for; from a page of another origin; or without the word.
    fn refuses(&self, request: &http::Request) -> Option<Answer> {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        let known = |name: &str| names.iter().any(|own| own.eq_ignore_ascii_case(name));
        let origin = |origin: &str| origin.strip_prefix("http://").is_some_and(known);
        if !request.host.as_deref().is_some_and(known) || !request.origin.as_deref().is_none_or(origin) {
            return Some(Answer::text(403, "this server answers only its own pages"));
        }
        self.within(&request.path).is_none().then(|| Answer::text(404, "there is nothing here"))
    }

    /// The path after the word, if it is the right one; the time it takes does not depend on how many letters are right.
    fn within<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (word, rest) = path.strip_prefix('/')?.split_once('/')?;
        let differ = word.bytes().zip(self.word.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        (word.len() == self.word.len() && differ == 0).then_some(rest)
    }
}

/// Answers every connection on a thread of its own.
fn listen(listener: &TcpListener, access: &Arc<Access>, work: &Arc<Work>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            std::thread::sleep(LOOK);
            continue;
        };
        if open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let place = Place(Arc::clone(&open));
        let (access, work) = (Arc::clone(access), Arc::clone(work));
        let begun = std::thread::Builder::new().spawn(move || {
            let _place = place;
            http::serve(stream, |request| access.refuses(request), |request| answered(&access, &work, request));
        });
        // There is no room for another thread: the client has to try again.
        if begun.is_err() {
            std::thread::sleep(LOOK);
        }
    }
}

/// One of the places of connections, free again when this goes, however its thread ends.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is answered to a request that was let in; also if there is a defect.
fn answered(access: &Access, work: &Arc<Work>, request: &http::Request) -> Answer {
    guarded(|| Ok(answer(access, work, request)))
        .unwrap_or_else(|error| Answer::text(500, error.message_with(str::to_string)))
}

/// What is answered to a request that was let in.
fn answer(access: &Access, work: &Arc<Work>, request: &http::Request) -> Answer {
    let answered = match (request.post, access.within(&request.path).unwrap_or_default()) {
        (false, "") => {
            return match work.page() {
                Ok(page) => Answer::page(&page),
                Err(error) => Answer::text(500, error.message_with(str::to_string)),
            };
        }
        (false, "state") => Ok(work.state(after(&request.query))),
        (true, "run") => work.begin(&request.body),
        (true, "stop") => Ok(work.stop()),
        (true, "pin") => work.pin(),
        (_, "run" | "stop" | "pin" | "state" | "") => return Answer::text(405, "use the other HTTP method"),
        _ => return Answer::text(404, "there is nothing here"),
    };
    match answered {
        Ok(value) => Answer::json(&value),
        Err(Refusal::Wrong(text)) => Answer::text(400, text),
        Err(Refusal::NotNow(text)) => Answer::text(409, text),
        Err(Refusal::Failed(text)) => Answer::text(500, text),
    }
}

/// The number of the map that the page has seen last: `after=N`.
fn after(query: &str) -> u64 {
    query.strip_prefix("after=").and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_machine_that_know_the_word_are_let_in() {
        let access = Access { port: 81, word: word().unwrap() };
        let code = |path: &str, host: Option<&str>, origin: Option<&str>| {
            let (host, origin) = (host.map(String::from), origin.map(String::from));
            let request =
                http::Request { post: false, path: path.into(), query: String::new(), host, origin, body: Vec::new() };
            access.refuses(&request).map(|answer| answer.code)
        };
        let (right, own) = (format!("/{}/state", access.word), Some("127.0.0.1:81"));
        assert_eq!(code(&right, own, None), None);
        assert_eq!(code(&right, Some("localhost:81"), Some("http://localhost:81")), None);
        assert_eq!(code(&right, own, Some("http://example.org")), Some(403));
        assert_eq!(code(&right, own, Some("null")), Some(403));
        for host in [None, Some("127.0.0.1"), Some("127.0.0.1:82"), Some("example.org:81"), Some("[::1]:81")] {
            assert_eq!(code(&right, host, None), Some(403), "{host:?}");
        }
        let short = format!("/{}/state", &access.word[1..]);
        for path in ["/", "", "/state", "//state", &short, "/00000000000000000000000000000000/state", &right[1..]] {
            assert_eq!(code(path, own, None), Some(404), "{path}");
        }
        assert_eq!(access.word.len(), 2 * WORD);
        assert_ne!(access.word, word().unwrap());
    }
}
