//! Replicas: other copies of a file, from which some ranges are fetched.

mod contract;
mod file;
mod object;
mod several;

pub use contract::Replica;

use crate::objects::no_objects;
use crate::{Error, Input, Options, Refusal};
use several::{Chain, Unopened};

/// Opens the replica at a path, or at the URL of an object if the options have [`objects`](Options::objects).
///
/// # Errors
/// If it cannot be opened, or the options have no client for it. A server gets its first request when bytes are read.
pub fn open_replica(place: &Input, options: &Options) -> Result<Box<dyn Replica>, Error> {
    match place {
        Input::Url(url) => {
            let objects = options.objects.clone().ok_or_else(|| no_objects(url))?;
            Ok(Box::new(object::Remote::new(url.clone(), objects)))
        }
        Input::File(path) => Ok(Box::new(file::Local::open(path)?)),
        Input::Stdin => Err(Error::refused(place, Refusal::NoLength)),
    }
}

/// Opens the replicas at these places as one: each is asked for what those before it could not give. One that cannot be opened is passed over
/// when it would be asked.
///
/// # Errors
/// If there is none, or none can be opened: why the first cannot.
pub fn open_replicas(places: &[Input], options: &Options) -> Result<Box<dyn Replica>, Error> {
    if let [place] = places {
        return open_replica(place, options);
    }
    let (mut chain, mut first_error, mut any) = (None, None, false);
    for place in places.iter().rev() {
        let first = match open_replica(place, options) {
            Ok(replica) => {
                any = true;
                replica
            }
            Err(error) => {
                let unopened = Unopened { place: place.clone(), why: error.to_string() };
                first_error = Some(error);
                Box::new(unopened)
            }
        };
        chain = Some(Box::new(Chain { first, next: chain.take() }));
    }
    match (chain, first_error) {
        (Some(chain), _) if any => Ok(chain),
        (_, Some(error)) => Err(error),
        _ => Err(Error::refused(Input::Stdin, Refusal::NoLength)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn replicas_are_asked_in_turn() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| Input::from(folder.path().join(name));
        fs::write(folder.path().join("a"), "short").unwrap();
        fs::write(folder.path().join("b"), "and a longer one").unwrap();
        let places = ["gone", "a", "b"].map(place);
        let mut chain = open_replicas(&places, &Options::new()).unwrap();
        let (mut replica, mut bytes, mut results) = (Some(&mut *chain as &mut dyn Replica), [0; 10], Vec::new());
        while let Some(asked) = replica {
            results.push((asked.place().clone(), asked.read(2, &mut bytes).is_ok()));
            replica = asked.next();
        }
        let [gone, a, b] = places.clone();
        assert_eq!((results, &bytes), (vec![(gone, false), (a, false), (b, true)], b"d a longer"));
        // Of the shorter one, the bytes that it has were fetched.
        assert_eq!(chain.fetched(), 3 + 10);
        assert!(open_replicas(&places[..1], &Options::new()).is_err());
        assert!(
            open_replicas(&[place("gone"), place("none")], &Options::new())
                .is_err_and(|error| error.input() == &places[0])
        );
        assert!(open_replicas(&[], &Options::new()).is_err());
    }
}
