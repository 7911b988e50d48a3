//! The objects below a name, as the store lists them.

use crate::client::Client;
use crate::failure::Fault;
use crate::names::name;
use crate::object::Version;
use crate::place::LONGEST;
use futures_util::stream::{BoxStream, iter, try_unfold};
use futures_util::{StreamExt, TryStreamExt};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{Receiver, channel};

/// Names that wait: a page of a listing.
const WAITING: usize = 1000;

/// Empty entries that are asked for side by side.
const ASKED: usize = 32;

/// The pages of a listing: a thousand million names of S3.
const PAGES: usize = 1_000_000;

/// The longest token of a page, in bytes: the client panics with one that does not fit into the head of a request beside a prefix, where
/// each byte may take three. A token is about as long as a key.
const LONGEST_TOKEN: usize = 4 << 10;

/// A key, and the object's length and version.
pub type Named = (String, u64, String);

/// Lists the objects below `prefix`; what has come waits, so that a listing of any length takes little memory.
pub fn list(client: Client, prefix: Path, runtime: &Handle) -> Receiver<Result<Named, Fault>> {
    let (sender, receiver) = channel(WAITING);
    let found_to = sender.clone();
    let listing = runtime.spawn(async move {
        let store = &*client.store;
        let listed = match client.pages {
            Some(pages) => paged(pages, &prefix),
            None => store.list(Some(&prefix)).map_err(|error| Fault::of(&error, None)).boxed(),
        };
        let listed = listed.map(async |found| match &found {
            Ok(meta) if is_folder(store, meta).await => None,
            _ => Some(found),
        });
        let mut listed = pin!(listed.buffered(ASKED));
        while let Some(found) = listed.next().await {
            let Some(found) = found else { continue };
            let found =
                found.map(|meta| (name(meta.location.as_ref()).0.into_owned(), meta.size, Version::of(&meta).text()));
            // Nobody waits for the rest.
            if found_to.send(found).await.is_err() {
                return;
            }
        }
    });
    runtime.spawn(async move {
        // A client that panics has not listed all.
        if let Err(error) = listing.await {
            drop(sender.send(Err(Fault::Fetch(error.to_string()))).await);
        }
    });
    receiver
}

/// The objects below `prefix`, page by page, of a server that may lead on for ever.
fn paged(store: Arc<dyn PaginatedListStore>, prefix: &Path) -> BoxStream<'static, Result<ObjectMeta, Fault>> {
    let prefix = Some(format!("{prefix}/")).filter(|prefix| prefix != "/");
    let begin = (store, prefix, Tokens::new(PAGES), Some(None));
    let pages = try_unfold(begin, async |(store, prefix, mut tokens, next)| {
        let Some(page_token) = next else { return Ok(None) };
        let options = PaginatedListOptions { page_token, ..PaginatedListOptions::default() };
        let page = store.list_paginated(prefix.as_deref(), options).await.map_err(|error| Fault::of(&error, None))?;
        let next = tokens.follow(page.page_token)?;
        Ok(Some((iter(page.result.objects).map(Ok), (store, prefix, tokens, next.map(Some)))))
    });
    pages.try_flatten().boxed()
}

/// The tokens of the pages of one listing.
struct Tokens {
    seen: HashSet<u64>,
    most: usize,
}

impl Tokens {
    fn new(most: usize) -> Tokens {
        Tokens { seen: HashSet::new(), most }
    }

    /// The token of the page after one that has this token; `None` after the last.
    ///
    /// # Errors
    /// If that page was there before, is one too many, or cannot be asked for.
    fn follow(&mut self, token: Option<String>) -> Result<Option<String>, Fault> {
        let Some(token) = token.filter(|token| !token.is_empty()) else { return Ok(None) };
        if token.len() > LONGEST_TOKEN {
            let why =
                format!("the listing goes on with a token of {} bytes: at most {LONGEST_TOKEN} are sent", token.len());
            return Err(Fault::Fetch(why));
        }
        let mut hasher = DefaultHasher::new();
        token.hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            return Err(Fault::Fetch("the listing has no end: it leads back to a page that was there before".into()));
        }
        match self.seen.len() < self.most {
            true => Ok(Some(token)),
            false => Err(Fault::Fetch(format!("the listing has more than {} pages", self.most))),
        }
    }
}

/// Whether an entry stands for a folder, as consoles make them: an empty object whose name ends in a slash, which the client drops
/// from the name. So no object has the name that is left.
async fn is_folder(store: &dyn ObjectStore, meta: &ObjectMeta) -> bool {
    meta.size == 0
        && !name(meta.location.as_ref()).1
        && meta.location.as_ref().len() <= LONGEST
        && matches!(store.head(&meta.location).await, Err(Error::NotFound { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::served::{Kind, Served, response};
    use http::Method;
    use object_store::client::HttpRequest;

    /// A page with these keys, and the token of the next.
    fn page(keys: &[&str], next: &str) -> String {
        let time = "<LastModified>2026-01-01T00:00:00Z</LastModified>";
        let each = |key: &&str| format!("<Contents><Key>{key}</Key>{time}<ETag>\"e\"</ETag><Size>1</Size></Contents>");
        let blob = |key: &&str| {
            let facts =
                "<Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified><Content-Length>1</Content-Length>";
            let more = "<Content-Type>x</Content-Type><Etag>\"e\"</Etag>";
            format!("<Blob><Name>{key}</Name><Properties>{facts}{more}</Properties></Blob>")
        };
        let (contents, blobs): (String, String) = (keys.iter().map(each).collect(), keys.iter().map(blob).collect());
        // One text is a page of all of them.
        format!(
            "<R>{contents}<NextContinuationToken>{next}</NextContinuationToken><Blobs>{blobs}</Blobs><NextMarker>{next}</NextMarker></R>"
        )
    }

    /// Returns the keys that are listed from a server with these answers, and the error that ends the listing.
    fn listed(
        answer: impl Fn(&HttpRequest) -> String + Send + Sync + Clone + 'static,
    ) -> Vec<(Vec<String>, Option<String>)> {
        let of = |kind| {
            let answer = answer.clone();
            let served = Served::new(kind, move |request| response(200, &[], answer(request)));
            let (mut keys, mut why) = (Vec::new(), None);
            served.list("p").into_iter().for_each(|found| match found {
                Ok((key, ..)) => keys.push(key),
                Err(Fault::Fetch(words)) => why = Some(words),
                Err(fault) => panic!("{fault:?}"),
            });
            (keys, why)
        };
        Kind::ALL.map(of).into()
    }

    fn is_after(request: &HttpRequest, token: &str) -> bool {
        assert_eq!(request.method(), Method::GET);
        request.uri().query().is_some_and(|query| query.contains(&format!("={token}")))
    }

    #[test]
    fn pages_follow_each_other() {
        let found = listed(|request| match is_after(request, "two") {
            false => page(&["p/a", "p/b"], "two"),
            true => page(&["p/c"], ""),
        });
        assert_eq!(found, vec![(["p/a", "p/b", "p/c"].map(String::from).into(), None); Kind::ALL.len()]);
    }

    #[test]
    fn a_key_that_cannot_be_asked_for_costs_no_other() {
        let keys = ["p/a", "p//b", "p/./c", "p/d&#39;e", "p/f&#9;g"];
        for (found, why) in listed(move |_| page(&keys, "")) {
            assert_eq!((found, why), (["p/a", "p//b", "p/./c", "p/d'e", "p/f\tg"].map(String::from).into(), None));
        }
    }

    #[test]
    fn a_listing_that_leads_back_is_an_error() {
        for (keys, why) in listed(|_| page(&["p/a"], "again")) {
            assert!(keys.len() <= 2);
            assert_eq!(why.unwrap(), "the listing has no end: it leads back to a page that was there before");
        }
    }

    #[test]
    fn a_token_that_fits_into_no_request_is_an_error() {
        for (_, why) in listed(|_| page(&["p/a"], &"é".repeat(32 << 10))) {
            assert_eq!(why.unwrap(), "the listing goes on with a token of 65536 bytes: at most 4096 are sent");
        }
        // The longest one does, beside the longest prefix.
        let served = Served::new(Kind::S3, |request| {
            let next = if request.uri().query().is_some_and(|query| query.starts_with("continuation-token")) {
                String::new()
            } else {
                "é".repeat(LONGEST_TOKEN / 2)
            };
            response(200, &[], page(&["p/a"], &next))
        });
        assert_eq!(served.list(&"é".repeat(LONGEST / 2)).len(), 2);
    }

    #[test]
    fn a_client_that_panics_has_not_listed_all() {
        let served = Served::new(Kind::S3, |request| match is_after(request, "two") {
            false => response(200, &[], page(&["p/a"], "two")),
            true => panic!("as a client might"),
        });
        let found = served.list("p");
        assert!(matches!(found.last(), Some(Err(Fault::Fetch(why))) if why.contains("panicked")), "{found:?}");
    }

    #[test]
    fn pages_are_counted() {
        let mut tokens = Tokens::new(3);
        assert_eq!(tokens.follow(Some("a".into())), Ok(Some("a".into())));
        assert_eq!(tokens.follow(Some("b".into())), Ok(Some("b".into())));
        assert_eq!(tokens.follow(Some("c".into())), Err(Fault::Fetch("the listing has more than 3 pages".into())));
        assert_eq!((tokens.follow(None), tokens.follow(Some(String::new()))), (Ok(None), Ok(None)));
    }

    #[test]
    fn a_key_of_any_length_is_listed_and_not_asked_for() {
        let long = format!("p/{}", "k".repeat(64 << 10));
        let key = long.clone();
        for (keys, why) in listed(move |_| page(&[&key], "").replace(">1</", ">0</")) {
            assert_eq!((keys, why), (vec![long.clone()], None));
        }
    }
}
