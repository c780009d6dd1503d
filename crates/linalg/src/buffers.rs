//! A pool of used vectors, so that their memory is not allocated at every step.

use std::sync::Mutex;

/// Vectors that are free.
#[derive(Default)]
pub struct Room(Mutex<Vec<Vec<f64>>>);

impl Room {
    /// The memory of a free vector whose capacity is between `size` and `most` times `size`, or of a new vector. Its content is
    /// arbitrary.
    pub fn vector(&self, size: usize, most: usize) -> Vec<f64> {
        let fits = |vector: &Vec<f64>| (size..=most * size).contains(&vector.capacity());
        let free = self.0.lock().ok().and_then(|mut free| free.iter().rposition(fits).map(|at| free.swap_remove(at)));
        free.unwrap_or_else(|| Vec::with_capacity(size))
    }

    /// So many zeros.
    pub fn zeros(&self, size: usize, most: usize) -> Vec<f64> {
        let mut vector = self.vector(size, most);
        vector.clear();
        vector.resize(size, 0.0);
        vector
    }

    /// Takes vectors back that are needed no more.
    pub fn take_back(&self, vectors: impl IntoIterator<Item = Vec<f64>>) {
        if let Ok(mut free) = self.0.lock() {
            free.extend(vectors);
        }
    }
}
