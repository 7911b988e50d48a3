//! One call of one kernel, for an instruction counter: `instructions CPU HASH BYTES [COUNT]` hashes so many
//! messages, or one group of them.
//! See `instructions.sh`.

use mksum_lanes::{Hash, Messages, cpu::Cpu, digests_on};

/// The function that the counter counts in: nothing else is.
#[inline(never)]
#[unsafe(no_mangle)]
fn counted(cpu: Cpu, hash: Hash, messages: Messages<'_>, out: &mut [u8]) {
    digests_on(cpu, hash, &[], messages, out);
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let cpu = Cpu::from_name(&args[1]).unwrap_or_else(|error| panic!("{}: {error}", args[1]));
    let hash = Hash::from_name(&args[2]).expect("a hash's name");
    let len = args[3].parse().expect("a number of bytes");
    let count = args.get(4).map_or(hash.lanes_on(cpu), |count| count.parse().expect("a number of messages"));
    let memory = vec![1; count * len];
    let mut out = vec![0; count * hash.size()];
    // Once before: what is chosen once is not counted.
    digests_on(cpu, hash, &[], Messages::new(&memory, len), &mut out);
    counted(cpu, hash, Messages::new(&memory, len), &mut out);
    // Messages a call, for the script.
    println!("{count}");
}
