//! C4 ids: a SHA-512 digest as text (SMPTE ST 2114; `spec/sums.md`).

use alloc::string::String;
use alloc::vec::Vec;

/// The digits of base 58, the lowest first: without `0`, `O`, `I` and `l`.
const DIGITS: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// The digits of the largest digest.
const COUNT: usize = 88;

/// The id of a digest of 64 bytes: `c4` and its digits, the highest first.
pub(crate) fn encoded(digest: &[u8]) -> String {
    let mut digits = [0; COUNT];
    shift_in(&mut digits, 58, digest.iter().copied(), 256);
    ["c4".into(), digits.iter().map(|&digit| char::from(DIGITS[usize::from(digit)])).collect::<String>()].concat()
}

/// The digest of an id; `None` if it is none.
pub(crate) fn decoded(id: &str) -> Option<Vec<u8>> {
    let digits = id.strip_prefix("c4").filter(|digits| digits.len() == COUNT)?;
    let value = |digit: u8| DIGITS.iter().position(|&own| own == digit).map(|at| at as u8);
    let values = digits.bytes().map(value).collect::<Option<Vec<_>>>()?;
    let mut digest = [0; 64];
    (shift_in(&mut digest, 256, values.into_iter(), 58) == 0).then(|| digest.to_vec())
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
            let id = encoded(&long);
            prop_assert_eq!(id.len(), 90);
            prop_assert_eq!(decoded(&id), Some(long));
            prop_assert_eq!(decoded(&id[1..]), None);
            prop_assert_eq!(decoded(&id.replace('c', "0")), None);
        }
    }

    #[test]
    fn the_largest_digest_has_an_id_and_no_larger_number() {
        assert_eq!(decoded(&encoded(&[0xff; 64])), Some([0xff; 64].to_vec()));
        assert_eq!(decoded(&format!("c4{}", "z".repeat(88))), None);
        assert_eq!(encoded(&[0; 64]), format!("c4{}", "1".repeat(88)));
    }
}
