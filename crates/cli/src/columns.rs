//! The columns of a file against those that a model was made from.

use eigenfold::error::{Error, Result};

/// Refuses the model's columns in another order; a warning if some are called otherwise.
pub(crate) fn compared(model: Option<&[String]>, file: Option<&[String]>) -> Result<Option<String>> {
    // Without names there is nothing to compare, and another number of columns is the library's to refuse.
    let (Some(model), Some(file)) = (model, file) else { return Ok(None) };
    let differs = model.iter().zip(file).position(|(ours, theirs)| ours != theirs);
    let Some(at) = differs.filter(|_| model.len() == file.len()) else { return Ok(None) };
    let (ours, theirs, number) = (&model[at], &file[at], at + 1);
    let (mut sorted, mut given) = (model.to_vec(), file.to_vec());
    sorted.sort();
    given.sort();
    if sorted == given {
        return Err(Error::Parameter(format!(
            "column {number} is {theirs:?} where the model has {ours:?}; give the columns in the model's order"
        )));
    }
    Ok(Some(format!("column {number} is called {theirs:?} and the model was made from {ours:?}; columns go by place")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_order_is_refused_and_another_name_is_said() {
        let names = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let compare = |a: &str, b: &str| compared(Some(&names(a)), Some(&names(b)));
        assert_eq!(compare("a b c", "a b c").unwrap(), None);
        assert_eq!(compare("a b", "a b c").unwrap(), None);
        assert_eq!(compared(None, Some(&names("a"))).unwrap(), None);
        let refused = compare("a b c", "a c b").unwrap_err().to_string();
        assert!(refused.starts_with("column 2 is \"c\" where the model has \"b\"; "), "{refused}");
        let warning = compare("a b c", "a b d").unwrap().unwrap();
        assert!(warning.starts_with("column 3 is called \"d\" and the model was made from \"c\""), "{warning}");
    }
}
