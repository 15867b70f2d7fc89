//! What all threads of a server read: the current root, swapped as a whole.
//!
//! Owns publication. A reader keeps the root it read last and looks for a newer one once a batch, at the cost of one load; an old root
//! goes when its last reader has let go of it, and never on a reader's thread.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::matcher::Policy;
use crate::table::Root;

pub struct Shared {
    pub policy: Policy,
    current: Mutex<Arc<Root>>,
    generation: AtomicU64,
    retired: Mutex<Vec<Arc<Root>>>,
}

impl Shared {
    pub fn new(policy: Policy, root: Root) -> Self {
        Shared {
            policy,
            current: Mutex::new(Arc::new(root)),
            generation: AtomicU64::new(0),
            retired: Mutex::new(Vec::new()),
        }
    }

    pub fn root(&self) -> Arc<Root> {
        Arc::clone(&held(&self.current))
    }

    /// Has every reader see this root from its next batch on.
    pub fn publish(&self, root: Root) {
        let before = std::mem::replace(&mut *held(&self.current), Arc::new(root));
        self.generation.fetch_add(1, Ordering::Release);
        held(&self.retired).push(before);
        self.collect();
    }

    /// Frees the roots that nobody reads any more; returns how many are still being read.
    pub fn collect(&self) -> usize {
        let mut retired = held(&self.retired);
        retired.retain(|root| Arc::strong_count(root) > 1);
        retired.len()
    }
}

/// One reader's view.
pub struct View {
    shared: Arc<Shared>,
    root: Arc<Root>,
    generation: u64,
}

impl View {
    pub fn new(shared: Arc<Shared>) -> Self {
        let generation = shared.generation.load(Ordering::Acquire);
        let root = shared.root();
        View { shared, root, generation }
    }

    /// The newest root.
    pub fn root(&mut self) -> &Root {
        let generation = self.shared.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.generation = generation;
            self.root = self.shared.root();
        }
        &self.root
    }
}

/// A lock whose holder cannot panic halfway: what it guards is whole in any case.
pub fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
