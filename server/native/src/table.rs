//! The compiled form of zones as the matcher reads it: docs/compiled-zone.md.
//!
//! Owns the shapes. What an answer contains has been decided before; nothing here changes once it is built but the tallies.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::map::{Map, Named};

/// A shorter form of an answer: its first `size` octets.
pub struct Trim {
    pub size: usize,
    pub counts: [u16; 3],
}

/// Everything of a reply between the question and OPT.
pub struct Answer {
    /// The flags beside QR and RD, the RCODE included.
    pub flags: u16,
    /// Records in the answer, authority and additional section, OPT not counted.
    pub counts: [u16; 3],
    /// Whether the zone's negative SOA record follows the body; `counts` include it.
    pub soa: bool,
    /// Whether the answer depends on the question and has to be worked out elsewhere.
    pub computed: bool,
    pub body: Box<[u8]>,
    /// Where in the body the offsets stand that move with the length of the question name.
    pub moving: Box<[u32]>,
    /// The shorter forms allowed where space is short, longest first.
    pub trims: Box<[Trim]>,
}

/// What holds for missing names below an existing one.
pub struct Cover {
    /// The wildcard owner whose answers they get, empty without one.
    pub source: Box<[u8]>,
    pub other: Arc<Answer>,
}

/// An existing name: its answers by type, what it says to other types, and what covers missing names below.
pub struct Node {
    pub name: Box<[u8]>,
    pub answers: Box<[(u16, Arc<Answer>)]>,
    pub other: Arc<Answer>,
    pub below: Cover,
}

impl Named for Node {
    fn name(&self) -> &[u8] {
        &self.name
    }
}

impl Node {
    pub fn answer(&self, qtype: u16) -> Option<&Arc<Answer>> {
        self.answers.iter().find(|(each, _)| *each == qtype).map(|(_, answer)| answer)
    }
}

/// Counts, by type, the questions that one thread answered; only read by others.
pub struct Tally(Box<[AtomicU64]>);

impl Tally {
    pub fn new(places: usize) -> Self {
        Tally((0..places).map(|_| AtomicU64::new(0)).collect())
    }

    pub fn add(&self, place: usize) {
        self.0[place].fetch_add(1, Ordering::Relaxed);
    }

    pub fn take(&self) -> Vec<u64> {
        self.0.iter().map(|each| each.swap(0, Ordering::Relaxed)).collect()
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
    pub nodes: Map<Node>,
    pub soa: Arc<Answer>,
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
}
