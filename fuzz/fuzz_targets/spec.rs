//! Format strings of any text: no panic, and what is printed for a format names the same one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mksum::Spec;
use mksum_cli::choice::Choice;

fuzz_target!(|text: &str| {
    let Ok(spec) = text.parse::<Spec>() else { return };
    assert_eq!(spec.to_string().parse::<Spec>().as_ref(), Ok(&spec));
    let choice: Choice = text.parse().expect("it is a format");
    assert_eq!(choice.spec(), &spec);
});
