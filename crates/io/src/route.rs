//! Who hashes an input among others, and in which order it is read: decided here alone, from what is known when it is open.

use crate::Mode;

/// The facts about an open file or object that decide. (A stream is hashed by all threads, in its turn.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits {
    /// The bytes to be hashed.
    pub len: u64,
    /// Whether it is a single chain in each format, with the same zeros after its bytes.
    pub is_chain: bool,
    /// The number of formats.
    pub formats: usize,
    /// Whether it is best read from the beginning to the end: on a disk with moving heads, or from a server without range requests.
    pub is_in_order: bool,
    /// Whether it is in a store.
    pub is_object: bool,
    /// Through the page cache or around it.
    pub mode: Mode,
}

/// The threads that hash an input among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The lanes of the thread that opened it, beside other files.
    Lanes,
    /// The thread that opened it, at once.
    Here,
    /// All threads, in its turn. It stays open: a store would be asked for it twice.
    Open,
    /// All threads, in its turn. It is closed till then, since many may wait.
    Closed,
}

/// The order in which an input with a length is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Pieces of it, by all threads.
    Pieces,
    /// From the beginning to the end, once for all formats.
    Once,
}

impl Traits {
    /// Files of up to this many bytes are hashed by one thread each, several at a time.
    pub const SMALL: u64 = 1 << 20;

    /// The route of an input among others.
    pub fn route(&self) -> Route {
        // Slices of it are read between those of other files.
        let can_share = (!self.is_in_order || self.is_object) && self.mode != Mode::Direct;
        match self.is_object {
            _ if self.is_chain && can_share => Route::Lanes,
            _ if self.len <= Self::SMALL => Route::Here,
            true => Route::Open,
            false => Route::Closed,
        }
    }

    /// The order in which it is read by whoever hashes it.
    pub fn order(&self) -> Order {
        match self.formats {
            1 if !self.is_in_order && !self.is_object => Order::Pieces,
            _ => Order::Once,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_has_one_route_and_one_order() {
        const FILE: Traits = Traits {
            len: Traits::SMALL + 1,
            is_chain: false,
            formats: 1,
            is_in_order: false,
            is_object: false,
            mode: Mode::Buffered,
        };
        const SMALL: Traits = Traits { len: Traits::SMALL, ..FILE };
        let rows = [
            ("a large file", FILE, Route::Closed, Order::Pieces),
            ("a large file in two formats", Traits { formats: 2, ..FILE }, Route::Closed, Order::Once),
            ("on a disk with moving heads", Traits { is_in_order: true, ..FILE }, Route::Closed, Order::Once),
            ("around the page cache", Traits { mode: Mode::Direct, ..FILE }, Route::Closed, Order::Pieces),
            ("a large object", Traits { is_object: true, ..FILE }, Route::Open, Order::Once),
            ("a small file", SMALL, Route::Here, Order::Pieces),
            ("a small file in two formats", Traits { formats: 2, ..SMALL }, Route::Here, Order::Once),
            ("a small object", Traits { is_object: true, ..SMALL }, Route::Here, Order::Once),
            ("a plain sum", Traits { is_chain: true, ..FILE }, Route::Lanes, Order::Pieces),
            ("two plain sums", Traits { is_chain: true, formats: 2, ..FILE }, Route::Lanes, Order::Once),
            ("a plain sum of an object", Traits { is_chain: true, is_object: true, ..FILE }, Route::Lanes, Order::Once),
            (
                "a plain sum around the cache",
                Traits { is_chain: true, mode: Mode::Direct, ..FILE },
                Route::Closed,
                Order::Pieces,
            ),
            ("a chain on such a disk", Traits { is_chain: true, is_in_order: true, ..SMALL }, Route::Here, Order::Once),
        ];
        for (what, traits, route, order) in rows {
            assert_eq!((traits.route(), traits.order()), (route, order), "{what}");
        }
    }
}
