//! `mksum serve`: files and directories over HTTP.

use crate::args::Serve as Args;
use crate::exit::{Ended, refuse, usage};
use crate::interrupt;
use crate::tool::Tool;
use mksum_get::Expected;
use mksum_io::reason;
use mksum_serve::{LeafCache, Limits, Server, Site, Verification};
use std::sync::Arc;

/// Serves the inputs until a signal stops it.
pub fn run(tool: &Tool, args: &Args) -> Ended {
    let console = &tool.console;
    let root = args.root.as_deref().map(|root| Expected::parse(root, None).and_then(Expected::of_file)).transpose();
    let verification = match root.map_err(|why| usage(&format_args!("--root: {why}")))? {
        Some(root) => Verification::Root(root),
        None if args.verify => Verification::Outboards,
        None => Verification::None,
    };
    if let (Some(_), Verification::None) = (&args.cache, &verification) {
        return refuse(&"--cache keeps verified leaves: add --verify or --root ROOT");
    }
    let open = |folder| LeafCache::open(folder, args.cache_size).map_err(|why| console.fail_with(folder, &why));
    let cache = args.cache.as_deref().map(open).transpose()?;
    let site = Site::new(&args.inputs, verification, cache, &tool.options);
    let site = site.map_err(|(input, why)| console.fail_with(&input, &why))?;
    let limits = Limits { connections: args.connections, patience: args.timeout };
    let bound = Server::bind(args.listen, limits).and_then(|server| Ok((server.address()?, server)));
    let (address, server) = bound.map_err(|error| {
        console.fail();
        console.note(&format_args!("--listen {}: {}", args.listen, reason(&error)));
        console.exit()
    })?;
    if !address.ip().is_loopback() {
        console.note(&format_args!(
            "warning: {} is not a loopback address: everyone who reaches this machine can read what is served",
            address.ip()
        ));
    }
    let stopper = server.stopper();
    interrupt::on_first(move || stopper.stop());
    console.print(format!("http://{address}/\n").as_bytes());
    console.flush();
    let (log, verbose, quiet) = (Arc::clone(console), args.common.verbose, args.common.quiet);
    let served = server.run(site, move |event| {
        if verbose || (event.is_failure && !quiet) {
            log.note(event);
        }
    });
    if let Err(error) = served {
        console.fail();
        console.note(&format_args!("--listen {address}: {}", reason(&error)));
    }
    Ok(console.exit())
}
