//! Corrupt bytes: the reader of saved models returns an error, and never panics.
use crate::support::*;
use eigenfold::{Isomap, Lle, Model};
use proptest::prelude::*;
use std::sync::LazyLock;

static SAVED: LazyLock<Vec<u8>> = LazyLock::new(|| fit(Isomap::default(), &swiss(40)).to_bytes().unwrap());

/// The hash of a body as the format has it: FNV-1a of 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// A header that vouches for the body, whatever is in it.
fn forged(body: &[u8]) -> Vec<u8> {
    let mut bytes = SAVED[..14].to_vec();
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(hash(body).to_le_bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn messages_tell_a_stranger_from_a_damaged_an_old_and_a_short_file() {
    let message = |bytes: &[u8]| Model::from_bytes(bytes).unwrap_err().to_string();
    assert!(message(b"y1,y2\n1,2\n").starts_with("is not an eigenfold model"));
    assert!(message(b"").starts_with("is not an eigenfold model"));
    assert!(message(&SAVED[..20]).starts_with("is cut short"));
    assert!(message(&SAVED[..SAVED.len() - 1]).starts_with("is cut short"));
    let mut other = SAVED.clone();
    other[10] = 99;
    assert!(message(&other).starts_with("has model format 99 and this program reads format 17"));
    let mut damaged = SAVED.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(message(&damaged).starts_with("is damaged"));
}

#[test]
fn the_names_of_the_features_are_kept_and_must_be_as_many() {
    let mut model = fit(Lle::default(), &swiss(60));
    assert_eq!(model.names(), None);
    let error = model.set_names(vec!["x".into()]).unwrap_err().to_string();
    assert_eq!(error, "1 names do not fit 3 features; give one name per feature");
    let names = ["x", "height", "z"].map(String::from);
    model.set_names(names.to_vec()).unwrap();
    let bytes = model.to_bytes().unwrap();
    assert_eq!(Model::from_bytes(&bytes).unwrap().names().unwrap(), names);
    // One letter more in the count of the names, and the file no longer fits together.
    let at = bytes.windows(8).position(|w| w == b"\x03\x01x\x06heig").unwrap();
    let mut body = bytes[30..].to_vec();
    body[at - 30] = 2;
    assert!(Model::from_bytes(&forged(&body)).is_err());
}

#[test]
fn equal_fits_give_equal_files() {
    let again = || fit(Lle::default(), &swiss(60)).to_bytes().unwrap();
    assert_eq!(again(), again());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn random_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Model::from_bytes(&bytes).is_err());
        // With a header that vouches for them they may decode, but must not panic, here or when they are used.
        if let Ok(model) = Model::from_bytes(&forged(&bytes)) {
            let _ = model.transform(&swiss(3));
        }
    }

    #[test]
    fn a_cut_or_a_flipped_bit_is_noticed(cut in 0usize..10_000, bit in 0usize..80_000) {
        prop_assert!(Model::from_bytes(&SAVED[..cut % SAVED.len()]).is_err());
        let mut flipped = SAVED.clone();
        let at = bit % (SAVED.len() * 8);
        flipped[at / 8] ^= 1 << (at % 8);
        prop_assert!(Model::from_bytes(&flipped).is_err());
    }

    #[test]
    fn a_flip_under_a_forged_hash_never_panics(bit in 0usize..80_000) {
        let mut body = SAVED[30..].to_vec();
        let at = bit % (body.len() * 8);
        body[at / 8] ^= 1 << (at % 8);
        if let Ok(model) = Model::from_bytes(&forged(&body)) {
            let _ = model.transform(&swiss(3));
            // Learning the inverse transform is slow, so that only some of the flips test it.
            if bit % 40 == 0 {
                let dims = model.embedding().cols().clamp(1, 100);
                let _ = model.reconstruct(&cloud(2, dims, 1));
            }
        }
    }
}
