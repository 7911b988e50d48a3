//! Verification within a time.

mod common;

use common::Tree;
use mksum_catalogue::{Access, Catalogue, Effort, State, update, verify};
use mksum_io::Options;
use std::time::Duration;

const MIB: u64 = 1 << 20;

#[test]
fn a_time_that_is_over_verifies_one_step() {
    // Without kept trees, whole files; with them, parts.
    for (format, step) in [("sha256", 9 * MIB), ("rfc6962", 8 * MIB)] {
        let tree = Tree::new(0);
        for number in 0..4 {
            tree.write(&number.to_string(), vec![number; 9 << 20]);
        }
        let mut catalogue = Catalogue::create(&tree.catalogue(), &mut || {}).unwrap();
        catalogue.add_formats(&[format.parse().unwrap()]).unwrap();
        update(&mut catalogue, tree.path(), &Options::new(), &mut |_| {}).unwrap();
        drop(catalogue);
        let verified = |effort| {
            let (mut catalogue, mut bytes) = (tree.open(Access::Write).unwrap(), 0);
            let total = verify(&mut catalogue, tree.path(), &Options::new(), effort, &mut |finding| {
                assert_eq!(finding.state, State::Intact);
                bytes += finding.bytes.unwrap();
            });
            assert_eq!(total.unwrap(), 36 * MIB);
            bytes
        };
        assert_eq!(verified(Effort::Time(Duration::ZERO)), step, "{format}");
        // The rest of a file that was begun comes first.
        let rest = if step < 9 * MIB { MIB } else { step };
        assert_eq!(verified(Effort::Share(1.0 / 36.0)), rest, "{format}");
        assert_eq!(verified(Effort::All), 36 * MIB, "{format}");
    }
}
