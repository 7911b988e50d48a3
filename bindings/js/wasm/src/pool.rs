//! What is kept between calls, by number.

use alloc::vec::Vec;

/// Values by number. Numbers are given anew once they are free.
pub struct Pool<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Pool<T> {
    /// No values.
    pub const fn new() -> Self {
        Pool { values: Vec::new(), free: Vec::new() }
    }

    /// Keeps a value: returns its number.
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

    /// The value with this number.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&mut self, number: u32) -> &mut T {
        self.values[number as usize].as_mut().expect("a value that is kept")
    }

    /// Takes the value out, and its number is free.
    ///
    /// # Panics
    /// If there is none.
    pub fn take(&mut self, number: u32) -> T {
        let value = self.values[number as usize].take().expect("a value that is kept");
        self.free.push(number);
        value
    }

    /// How many values there are.
    pub fn count(&self) -> usize {
        self.values.len() - self.free.len()
    }
}
