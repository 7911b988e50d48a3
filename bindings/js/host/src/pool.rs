//! Values that outlive a call, by number.

use alloc::vec::Vec;

/// Values by number. Free numbers are reused.
pub struct Pool<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Pool<T> {
    /// Creates an empty pool.
    #[allow(clippy::new_without_default)] // Pools are statics, for which `Default` is no constant.
    pub const fn new() -> Self {
        Pool { values: Vec::new(), free: Vec::new() }
    }

    /// Stores a value. Returns its number.
    pub fn keep(&mut self, value: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.values[number as usize] = Some(value);
                number
            }
            None => {
                self.values.push(Some(value));
                self.values.len() as u32 - 1
            }
        }
    }

    /// Returns the value with this number.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&mut self, number: u32) -> &mut T {
        self.values[number as usize].as_mut().expect("a stored value")
    }

    /// Removes a value, and frees its number.
    ///
    /// # Panics
    /// If there is none.
    pub fn take(&mut self, number: u32) -> T {
        let value = self.values[number as usize].take().expect("a stored value");
        self.free.push(number);
        value
    }

    /// Returns the number of values.
    pub fn count(&self) -> usize {
        self.values.len() - self.free.len()
    }
}
