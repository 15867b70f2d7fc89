//! What a zone holds that was read or gathered natively: names whose answers are finished, and the sets that they were finished from.
//!
//! Owns how sets are read back. Never decides what an answer contains.
#![forbid(unsafe_code)]

use std::collections::HashSet;

use crate::dependents::Dependents;
use crate::encode::read_data;
use crate::master::NS;
use crate::name::{Name, NameMap, Seeded};
use crate::nodes::Nodes;
use crate::packed::Entry;
use crate::transfer::Record;

/// Octets of a record in an answer beside its data, where the question name owns it.
pub const BESIDE_DATA: usize = 12;

/// A set that Python is to compile.
pub struct Set {
    pub owner: Box<[u8]>,
    pub rdtype: u16,
    pub ttl_s: u32,
    pub rdatas: Vec<Box<[u8]>>,
}

/// The sets of a name: type, TTL and data.
pub type OwnSets = Vec<(u16, u32, Vec<Vec<u8>>)>;

/// A zone as far as it is known natively.
pub struct Bulk {
    pub apex: Vec<u8>,
    /// The names that are finished.
    pub nodes: Nodes,
    /// How many answers they have.
    pub answers: usize,
    /// The sets of names whose answers are others, or that have none since a zone cut hides them.
    pub kept: Nodes,
    /// The sets of all names that Python is to compile.
    pub sets: Vec<Set>,
    /// Names without sets, that Python is to compile, too.
    pub bare: Vec<Box<[u8]>>,
    /// How many names exist directly below each name that has some, or that exists for them alone.
    pub children: NameMap<u32>,
    /// Which of the names that are finished hang on which others.
    pub dependents: Dependents,
    /// How many names have sets here, exist, and hide what lies below them.
    pub owners: usize,
    pub names: usize,
    pub barriers: usize,
}

/// Which names a listing is of.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Finished,
    Owners,
    Existing,
    Barriers,
}

impl Bulk {
    /// Counts what there is, once all of it is there; so many names have no sets and are hidden.
    pub fn count(&mut self, hidden: usize) {
        let others: HashSet<&[u8], Seeded> = self.sets.iter().map(|set| &*set.owner).collect();
        let with_children = others.iter().filter(|owner| self.children.contains_key(**owner)).count();
        self.names = self.nodes.len() + hidden + self.bare.len() + with_children;
        self.owners = self.kept.len();
        for entry in self.kept.entries() {
            self.names += usize::from(entry.is_hidden());
            self.barriers += usize::from(entry.answer(NS).is_some());
        }
        for entry in self.nodes.entries() {
            self.owners += usize::from(!entry.is_apart());
            self.answers += entry.answers().count();
        }
    }

    fn holds(&self, name: &[u8]) -> bool {
        self.nodes.named(name).is_some() || self.kept.named(name).is_some()
    }

    /// How many names exist directly below a name, None for one that does not exist.
    pub fn children_of(&self, name: &[u8]) -> Option<u32> {
        self.children.get(name).copied().or_else(|| self.holds(name).then_some(0))
    }

    pub fn is_barrier(&self, name: &[u8]) -> bool {
        self.kept.named(name).is_some_and(|entry| entry.answer(NS).is_some())
    }

    /// Returns the sets of a name, None for one that has none here.
    pub fn sets_of(&self, name: &[u8]) -> Option<OwnSets> {
        let entry = self.kept.named(name).or_else(|| self.nodes.named(name).filter(|entry| !entry.is_apart()))?;
        Some(entry.answers().map(|(rdtype, _)| own_set(&entry, rdtype)).collect())
    }

    /// Returns some of the names of a kind, None past the last ones.
    pub fn listed(&self, kind: Kind, number: usize) -> Option<Vec<&[u8]>> {
        let segments = self.nodes.segments();
        if number >= segments {
            let rest = (number == segments && kind == Kind::Existing).then(|| self.children.keys().map(|name| &**name));
            return Some(rest?.filter(|name| !self.holds(name)).collect());
        }
        let finished = self.nodes.segment(number).into_iter().flatten();
        let kept = self.kept.segment(number).into_iter().flatten();
        let names = match kind {
            Kind::Finished => finished.map(|entry| entry.name).collect(),
            Kind::Owners => finished.filter(|entry| !entry.is_apart()).chain(kept).map(|entry| entry.name).collect(),
            Kind::Barriers => kept.filter(|entry| entry.answer(NS).is_some()).map(|entry| entry.name).collect(),
            Kind::Existing => {
                let unfinished = kept.filter(Entry::is_hidden);
                finished.chain(unfinished).map(|entry| entry.name).collect()
            }
        };
        Some(names)
    }

    /// Gives all records of one segment, and returns the next segment, if there is one.
    pub fn for_each_record(&self, segment: usize, sink: &mut dyn FnMut(&Record<'_>)) -> Option<usize> {
        let plain = self.nodes.segment(segment)?.filter(|entry| !entry.is_apart());
        for entry in plain.chain(self.kept.segment(segment).into_iter().flatten()) {
            for (rdtype, answer) in entry.answers() {
                if may_be_compressed(rdtype) {
                    let (_, ttl_s, rdatas) = own_set(&entry, rdtype);
                    rdatas.iter().for_each(|rdata| sink(&Record { owner: entry.name, rdtype, ttl_s, rdata }));
                } else {
                    for_each_rdata(answer.body, |ttl_s, rdata| {
                        sink(&Record { owner: entry.name, rdtype, ttl_s, rdata });
                    });
                }
            }
        }
        Some(segment + 1)
    }
}

impl Default for Bulk {
    fn default() -> Self {
        Bulk {
            apex: Vec::new(),
            nodes: Nodes::empty(0),
            answers: 0,
            kept: Nodes::empty(0),
            sets: Vec::new(),
            bare: Vec::new(),
            children: NameMap::default(),
            dependents: Dependents::default(),
            owners: 0,
            names: 0,
            barriers: 0,
        }
    }
}

impl Nodes {
    /// The entry of a name in wire form and in lower case.
    pub fn named(&self, octets: &[u8]) -> Option<Entry<'_>> {
        let mut name = Name::new();
        name.read(octets)?;
        self.get(name.hash(0), octets)
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.segments()).filter_map(|number| self.segment(number)).flatten()
    }
}

fn may_be_compressed(rdtype: u16) -> bool {
    crate::record::names_after(rdtype).is_some()
}

/// Reads a set of a name back from its plain answer: type, TTL and data.
pub fn own_set(entry: &Entry<'_>, rdtype: u16) -> (u16, u32, Vec<Vec<u8>>) {
    let body = entry.answer(rdtype).map_or(&[][..], |answer| answer.body);
    let (mut at, mut set_ttl_s, mut rdatas) = (0, 0, Vec::new());
    while let Some((ttl_s, size)) = record_at(body, at) {
        at += BESIDE_DATA;
        set_ttl_s = ttl_s;
        rdatas.push(read_data(entry.name, body, at, size, rdtype));
        at += size;
    }
    (rdtype, set_ttl_s, rdatas)
}

/// Gives TTL and data of the records in the body of a plain answer, the data as they stand there.
pub fn for_each_rdata<'a>(body: &'a [u8], mut sink: impl FnMut(u32, &'a [u8])) {
    let mut at = 0;
    while let Some((ttl_s, size)) = record_at(body, at) {
        sink(ttl_s, &body[at + BESIDE_DATA..at + BESIDE_DATA + size]);
        at += BESIDE_DATA + size;
    }
}

/// TTL and length of the data of the record at a place.
fn record_at(body: &[u8], at: usize) -> Option<(u32, usize)> {
    let head: &[u8; BESIDE_DATA] = body.get(at..at + BESIDE_DATA)?.try_into().ok()?;
    let ttl_s = u32::from_be_bytes([head[6], head[7], head[8], head[9]]);
    Some((ttl_s, usize::from(u16::from_be_bytes([head[10], head[11]]))))
}
