//! `#[test]` for tests that stand beside the code of a library and are built with it, once, instead of with a second copy of it.
//!
//! Cargo's own way to unit tests compiles the whole library again, with `cfg(test)`. Here the tests are functions of the library
//! itself, behind its feature `unit-tests`; each is entered into a list when the program starts, and a program of the
//! library's tests runs those on the list. Without that feature, and with `cargo test --lib`, a test is what it always is.

use proc_macro::{TokenStream, TokenTree};

/// A unit test: `use eigenfold_unit_test::test;` in the module of the tests, and `#[test]` as ever.
#[proc_macro_attribute]
pub fn test(_: TokenStream, item: TokenStream) -> TokenStream {
    let mut words =
        item.clone().into_iter().skip_while(|word| !matches!(word, TokenTree::Ident(word) if word.to_string() == "fn"));
    let Some(name) = words.nth(1) else {
        return tokens("compile_error!(\"only a function can be a test\");");
    };
    let mut whole = tokens(
        "#[cfg_attr(test, ::core::prelude::v1::test)] #[allow(clippy::unwrap_used, reason = \"a test may panic\")]",
    );
    whole.extend(item);
    whole.extend(tokens(&format!(
        "#[cfg(not(test))]
        ::inventory::submit! {{
            crate::unit_tests::UnitTest {{ name: ::core::concat!(::core::module_path!(), \"::\", ::core::stringify!({name})), run: {name} }}
        }}"
    )));
    whole
}

/// Rust, as the compiler reads it.
fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}
