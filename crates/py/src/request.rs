//! Python's keywords as the library's [`Request`]: the package writes them as JSON, by the library's names.

use eigenfold::{Error, Missing, Request, Result};

/// The request that the package wrote.
pub(crate) fn read(text: &str) -> Result<Request> {
    let request: Request = serde_json::from_str(text)
        .map_err(|error| Error::parameter("request", format!("the parameters cannot be read: {error}"), ""))?;
    missing(request.missing.as_deref())?;
    Ok(request)
}

/// What is done about missing cells; an estimator returns a row for every row, so that none can be dropped.
pub(crate) fn missing(word: Option<&str>) -> Result<Missing> {
    match word.map_or(Ok(Missing::default()), str::parse) {
        Ok(missing) if missing != Missing::Drop => Ok(missing),
        _ => {
            let word = word.unwrap_or_default();
            Err(Error::value("missing", format_args!("{word:?}"), "error, mean or model"))
        }
    }
}
