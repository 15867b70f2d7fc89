//! The compiled form of zones as the matcher reads it: docs/compiled-zone.md.
//!
//! Owns the shapes above a zone's names. What an answer contains has been decided before; nothing here changes once it is built but the
//! tallies.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::cookie::Cookies;
use crate::map::{Map, Named};
use crate::name::Name;
use crate::nodes::Nodes;
use crate::packed::Stored;

/// Counts, by type, the questions that one thread answered. Only that thread counts, so that it needs no locked instruction; others
/// remember what they have taken.
pub struct Tally {
    counted: Box<[AtomicU64]>,
    taken: Box<[AtomicU64]>,
}

impl Tally {
    pub fn new(places: usize) -> Self {
        let zeros = || (0..places).map(|_| AtomicU64::new(0)).collect();
        Tally { counted: zeros(), taken: zeros() }
    }

    pub fn add(&self, place: usize) {
        let count = self.counted[place].load(Ordering::Relaxed);
        self.counted[place].store(count.wrapping_add(1), Ordering::Relaxed);
    }

    /// Returns what was counted since the last call.
    pub fn take(&self) -> Vec<u64> {
        let each = |(counted, taken): (&AtomicU64, &AtomicU64)| {
            let now = counted.load(Ordering::Relaxed);
            now.wrapping_sub(taken.swap(now, Ordering::Relaxed))
        };
        self.counted.iter().zip(&self.taken).map(each).collect()
    }
}

/// One tally for each thread that answers.
pub type Tallies = Arc<[Tally]>;

/// One version of a zone.
#[derive(Clone)]
pub struct Zone {
    pub apex: Box<[u8]>,
    /// Which version it is, as its maker numbers them.
    pub version: u64,
    pub nodes: Nodes,
    pub soa: Arc<Stored>,
    /// Whether those who ask for signatures get more than the answers here hold.
    pub signed: bool,
    pub tallies: Tallies,
}

impl Named for Zone {
    fn name(&self) -> &[u8] {
        &self.apex
    }
}

/// All that is served at one moment.
#[derive(Clone)]
pub struct Root {
    pub zones: Map<Zone>,
    /// Whether a name outside of all zones is known to be nobody's here.
    pub complete: bool,
    /// How many labels the apexes have that there are or were, a bit for each number: other suffixes need no look-up.
    depths: u128,
    pub cookies: Cookies,
}

impl Root {
    pub fn new() -> Self {
        Root { zones: Map::with_room_for(0), complete: false, depths: 0, cookies: Cookies::default() }
    }

    pub fn put(&mut self, zone: Zone) {
        let mut apex = Name::new();
        if apex.read(&zone.apex).is_some() {
            self.depths |= 1 << apex.labels();
            self.zones.put(Arc::new(zone));
        }
    }

    /// The longest zone that a name lies in, and how many labels of the name stand before its apex.
    pub fn zone_of(&self, name: &Name) -> Option<(&Arc<Zone>, usize)> {
        let labels = name.labels();
        (0..=labels)
            .filter(|skipped| self.depths >> (labels - skipped) & 1 == 1)
            .find_map(|skipped| Some((self.zones.get(name, skipped)?, skipped)))
    }
}
