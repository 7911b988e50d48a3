//! `mksum serve`: files and directories over HTTP.

use crate::args::Serve as Args;
use crate::exit::{Exit, usage};
use crate::interrupt;
use crate::tool::Tool;
use mksum_get::Expected;
use mksum_io::reason;
use mksum_serve::{LeafCache, Limits, Server, Site, Verification};
use std::sync::Arc;

/// Serves the inputs until a signal stops it.
pub fn run(tool: &Tool, args: &Args) -> Exit {
    let console = &tool.console;
    let root = args.root.as_deref().map(|root| Expected::parse(root, None).and_then(Expected::of_file)).transpose();
    let verification = match root {
        Ok(Some(root)) => Verification::Root(root),
        Ok(None) if args.verify => Verification::Outboards,
        Ok(None) => Verification::None,
        Err(why) => return usage(&format_args!("--root: {why}")),
    };
    if let (Some(_), Verification::None) = (&args.cache, &verification) {
        return usage(&"--cache keeps verified leaves: add --verify or --root ROOT");
    }
    let cache = match args.cache.as_deref().map(|folder| (folder, LeafCache::open(folder, args.cache_size))) {
        Some((_, Ok(cache))) => Some(cache),
        Some((folder, Err(why))) => {
            console.error(folder, &why);
            return console.exit();
        }
        None => None,
    };
    let site = match Site::new(&args.inputs, verification, cache, &tool.options) {
        Ok(site) => site,
        Err((input, why)) => {
            console.error(&input, &why);
            return console.exit();
        }
    };
    let limits = Limits { connections: args.connections, patience: args.timeout };
    let bound = Server::bind(args.listen, limits).and_then(|server| Ok((server.address()?, server)));
    let (address, server) = match bound {
        Ok(bound) => bound,
        Err(error) => {
            console.fail();
            console.note(&format_args!("--listen {}: {}", args.listen, reason(&error)));
            return console.exit();
        }
    };
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
    console.exit()
}
