//! The server: connections, their limits and their end.

use crate::answer::answer;
use crate::body::Body;
use crate::event::{Event, Log};
use crate::patient::Patient;
use crate::site::Site;
use futures_util::future::{Either, select};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// The limits of what clients may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The connections at a time, 1 or more: others wait. Each takes two descriptors and up to 256 KiB of memory; all that
    /// take bytes quickly share 64 MiB more.
    pub connections: usize,
    /// The time that a client may take to send the head of a request, or to take the next bytes of a response.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { connections: 256, patience: Duration::from_secs(30) }
    }
}

impl Limits {
    /// The bytes that the head of a request has at most.
    const HEAD: usize = 16 << 10;
    /// The files that are read at a time.
    const READS: usize = 16;
    /// The time that responses have to end when the server is stopped.
    const GRACE: Duration = Duration::from_secs(5);
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    limits: Limits,
    stopper: Stopper,
    runtime: Runtime,
}

/// Stops a server, from any thread; a clone stops the same one.
#[derive(Clone, Debug)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Stops the server: no connection is accepted any more, and responses have 5 seconds to end.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens at an address; with port 0, at one that is free.
    ///
    /// # Errors
    /// If the system does not allow it: mostly because another program listens there.
    pub fn bind(address: SocketAddr, limits: Limits) -> io::Result<Server> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(Limits::READS)
            .thread_name("serve")
            .enable_all()
            .build()?;
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Server { listener, limits, stopper: Stopper(watch::Sender::new(false)), runtime })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns what stops it.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Answers requests until it is stopped. `log` gets a report about each when its response has ended.
    ///
    /// # Errors
    /// If the system cannot listen.
    pub fn run(self, site: Site, log: impl Fn(&Event) + Send + Sync + 'static) -> io::Result<()> {
        let Server { listener, limits, stopper, runtime } = self;
        let (site, log): (_, Log) = (Arc::new(site), Arc::new(log));
        let done = runtime.block_on(accept(listener, limits, &stopper, &site, &log));
        // A read that hangs is not waited for.
        runtime.shutdown_background();
        done
    }
}

async fn accept(
    listener: TcpListener,
    limits: Limits,
    stopper: &Stopper,
    site: &Arc<Site>,
    log: &Log,
) -> io::Result<()> {
    let is_local = listener.local_addr()?.ip().is_loopback();
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let permits = Arc::new(Semaphore::new(limits.connections));
    let mut stopped = stopper.0.subscribe();
    loop {
        let next = async {
            let permit = permits.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        match select(pin!(next), pin!(stopped_by(&mut stopped))).await {
            Either::Left(((Ok(permit), Ok((stream, peer))), _)) => {
                let stopped = stopper.0.subscribe();
                tokio::spawn(converse((stream, peer, is_local), limits, stopped, site.clone(), log.clone(), permit));
            }
            // A connection that was reset, or no descriptors: others may end meanwhile.
            Either::Left((_, _)) => sleep(Duration::from_millis(20)).await,
            Either::Right(_) => break,
        }
    }
    drop(listener);
    let all = u32::try_from(limits.connections).unwrap_or(u32::MAX);
    let _ = timeout(Limits::GRACE, permits.acquire_many(all)).await;
    Ok(())
}

/// Waits until the server is stopped.
async fn stopped_by(stopper: &mut watch::Receiver<bool>) {
    // Without its sender, there is no server either.
    let _ = stopper.wait_for(|stopped| *stopped).await.is_ok();
}

/// Answers the requests of a connection.
async fn converse(
    (stream, peer, is_local): (TcpStream, SocketAddr, bool),
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
    site: Arc<Site>,
    log: Log,
    _permit: OwnedSemaphorePermit,
) {
    let peer = peer.ip();
    let event = move |request: String| Event { peer, request, status: None, sent: 0, reason: None, is_failure: false };
    let service = service_fn(|request: Request<Incoming>| {
        let (site, log) = (site.clone(), log.clone());
        async move {
            let (request, _) = request.into_parts();
            let event = event(format!("{} {}", request.method, request.uri));
            let answered = spawn_blocking(move || answer(&site, &request, is_local, event, log)).await;
            answered.map_err(io::Error::other) as io::Result<Response<Body>>
        }
    });
    let stream = TokioIo::new(Patient::new(stream, limits.patience));
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.patience)
            .max_buf_size(Limits::HEAD)
            .serve_connection(stream, service)
    );
    let ended = match select(connection.as_mut(), pin!(stopped_by(&mut stopped))).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended
        && error.is_parse()
    {
        let reason = Some(format!("not a valid request: {error}"));
        log(&Event { reason, is_failure: true, ..event(String::new()) });
    }
}
