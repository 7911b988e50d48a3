//! Digests as numbers in other bases: C4 ids (SMPTE ST 2114; `spec/sums.md`), and base 32 as Nix writes it (`spec/nar.md`).

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The digits of base 58, the lowest first: without `0`, `O`, `I` and `l`.
const BASE58: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// The digits of Nix's base 32, the lowest first: without `e`, `o`, `t` and `u`.
const NIX32: &[u8] = b"0123456789abcdfghijklmnpqrsvwxyz";
/// The digits of the largest digest of 64 bytes in base 58.
const COUNT: usize = 88;

/// The id of a digest of 64 bytes: `c4` and its digits, the highest first.
pub(crate) fn c4_id(digest: &[u8]) -> String {
    let mut digits = [0; COUNT];
    shift_in(&mut digits, 58, digest.iter().copied(), 256);
    ["c4".into(), digits.iter().map(|&digit| char::from(BASE58[usize::from(digit)])).collect::<String>()].concat()
}

/// The digest of an id; `None` if it is none.
pub(crate) fn of_c4_id(id: &str) -> Option<Vec<u8>> {
    number(id.strip_prefix("c4").filter(|digits| digits.len() == COUNT)?, BASE58, 64)
}

/// The digest of `size` bytes that a text in Nix's base 32 is: a number whose lowest byte comes first. `None` if it is none.
pub(crate) fn of_nix32(text: &str, size: usize) -> Option<Vec<u8>> {
    let mut digest =
        Some(text).filter(|text| text.len() == (8 * size).div_ceil(5)).and_then(|text| number(text, NIX32, size))?;
    digest.reverse();
    Some(digest)
}

/// The bytes, the highest first, of a number with these digits, the highest first; `None` if it has no place in `size` bytes.
fn number(text: &str, digits: &[u8], size: usize) -> Option<Vec<u8>> {
    let value = |digit: u8| digits.iter().position(|&own| own == digit).map(|at| at as u8);
    let values = text.bytes().map(value).collect::<Option<Vec<_>>>()?;
    let mut bytes = vec![0; size];
    (shift_in(&mut bytes, 256, values.into_iter(), digits.len() as u32) == 0).then_some(bytes)
}

/// Shifts the digits of a number in one base into a number in another, both the highest first. Returns the sum of what has no place.
fn shift_in(number: &mut [u8], base: u32, digits: impl Iterator<Item = u8>, of_base: u32) -> u32 {
    digits.fold(0, |lost, digit| {
        let carry = number.iter_mut().rev().fold(u32::from(digit), |carry, place| {
            let value = u32::from(*place) * of_base + carry;
            *place = (value % base) as u8;
            value / base
        });
        lost + carry
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_id_is_the_digest_and_no_other_text(digest in any::<[u8; 32]>(), zeros in 0..64_usize) {
            let mut long = [digest, digest].concat();
            long[..zeros].fill(0);
            let id = c4_id(&long);
            prop_assert_eq!(id.len(), 90);
            prop_assert_eq!(of_c4_id(&id), Some(long));
            prop_assert_eq!(of_c4_id(&id[1..]), None);
            prop_assert_eq!(of_c4_id(&id.replace('c', "0")), None);
        }
    }

    #[test]
    fn the_largest_digest_has_an_id_and_no_larger_number() {
        assert_eq!(of_c4_id(&c4_id(&[0xff; 64])), Some([0xff; 64].to_vec()));
        assert_eq!(of_c4_id(&format!("c4{}", "z".repeat(88))), None);
        assert_eq!(c4_id(&[0; 64]), format!("c4{}", "1".repeat(88)));
    }

    #[test]
    fn nixs_base_32_is_read_and_no_other_text() {
        let hex = "0a430879c266f8b57f4092a0f935cf3facd48bbccde5760d4748ca405171e969";
        // `nix-hash --type sha256 --to-base32`, with nix 2.8.0.
        let text = "0sg9f58l1jj88w6pdrfdpj5x9b1zrwszk84j81zvby36q9whhhqa";
        assert_eq!(of_nix32(text, 32), base16ct::lower::decode_vec(hex).ok());
        for wrong in [&text[1..], &text.to_uppercase(), &text.replacen('0', "e", 1), &["z", &text[1..]].concat(), ""] {
            assert_eq!(of_nix32(wrong, 32), None, "{wrong}");
        }
    }
}
