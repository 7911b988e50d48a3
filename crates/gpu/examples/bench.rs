//! bench DEVICE [HASH [RUNS [THREADS [EXPONENT…]]]]: the times of node trees over 2^20 to 2^25 random leaves in memory, medians in
//! milliseconds, and of trees whose leaves and nodes stay on the device (resident). DEVICE is `cpu`, `auto`, or what `mksum devices` lists.
//! All nodes are compared with the CPU's first, then every root.

use mksum::Hash;
use mksum::node_tree::{Aligned, CpuLanes, Merklize};
use mksum_gpu::{Device, Options};
use std::error::Error;
use std::time::{Duration, Instant};
use std::{env, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = env::args().skip(1);
    let wanted = given.next().unwrap_or("auto".into());
    let hash = Hash::from_name(&given.next().unwrap_or("blake3".into())).ok_or("no such hash")?;
    let runs: usize = given.next().map_or(Ok(9), |text| text.parse())?;
    let cores = thread::available_parallelism()?.get();
    let cpu = CpuLanes { threads: given.next().map_or(Ok(cores), |text| text.parse())? };
    let mut exponents = given.map(|text| text.parse()).collect::<Result<Vec<u32>, _>>()?;
    if exponents.is_empty() {
        exponents.extend(20..=25);
    }
    let opened = mksum_gpu::choose(&wanted, Options::default())?;
    let device: &dyn Merklize = opened.as_ref().map_or(&cpu, |device| device);
    let (size, most) = (hash.size(), hash.size() << exponents.iter().max().ok_or("no sizes")?);
    let [mut leaves, mut nodes, mut expected] =
        [Aligned::zeroed(most)?, Aligned::zeroed(most)?, Aligned::zeroed(most)?];
    leaves.copy_from_slice(&mksum_vectors::bytes(most));
    println!("{}, {}, {runs} runs", hash.name(), device.name());
    println!("    leaves  kernel ms  to dev ms    from ms    wall ms   resident   least ms    most ms");
    for exponent in exponents {
        let len = size << exponent;
        let (leaves, nodes, expected) = (&leaves[..len], &mut nodes[..len], &mut expected[..len]);
        CpuLanes { threads: cores }.merklize(hash, leaves, expected)?;
        nodes.fill(0xa5);
        device.merklize(hash, leaves, nodes)?;
        assert!(nodes == expected, "2^{exponent} leaves: the nodes are not the CPU's");
        let mut times: [Vec<Duration>; 5] = Default::default();
        for _ in 0..runs.max(1) {
            nodes[size..2 * size].fill(0xa5);
            let begin = Instant::now();
            let parts = device.merklize(hash, leaves, nodes)?;
            let all = [parts.kernel, parts.to_device, parts.from_device, begin.elapsed()];
            times.iter_mut().zip(all).for_each(|(times, time)| times.push(time));
            assert!(nodes[size..2 * size] == expected[size..2 * size], "2^{exponent} leaves: another root");
        }
        times[4] = match &opened {
            Some(device) => resident(device, hash, leaves, expected, runs)?,
            None => times[0].clone(),
        };
        times.iter_mut().for_each(|times| times.sort());
        let [least, greatest] = [times[3][0], times[3][times[3].len() - 1]];
        let medians = times.iter().map(|times| (times[(times.len() - 1) / 2] + times[times.len() / 2]) / 2);
        print!("{:>10}", 1_u64 << exponent);
        medians.chain([least, greatest]).for_each(|time| print!(" {:>10.3}", time.as_secs_f64() * 1e3));
        println!();
    }
    Ok(())
}

/// The times of the kernels over leaves in the device's memory, whose nodes stay there.
fn resident(
    device: &Device,
    hash: Hash,
    leaves: &[u8],
    expected: &[u8],
    runs: usize,
) -> Result<Vec<Duration>, Box<dyn Error>> {
    let (mut below, mut nodes) = (device.buffer(leaves.len())?, device.buffer(leaves.len())?);
    below.write(0, leaves)?;
    let times = (0..runs.max(1)).map(|_| Ok(device.merklize_buffer(hash, &below, &mut nodes)?.kernel));
    let times = times.collect::<Result<_, Box<dyn Error>>>()?;
    let mut found = vec![0; expected.len()];
    nodes.read(0, &mut found)?;
    assert!(found == expected, "the nodes on the device are not the CPU's");
    Ok(times)
}
