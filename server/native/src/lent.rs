//! Sets of a zone in the making, lent from where they stand.
//!
//! Owns how they are found there, and what they take in an answer. `link` decides which answers they go into.
#![forbid(unsafe_code)]

use crate::content::{for_each_rdata, own_set, Set, BESIDE_DATA};
use crate::packed::Entry;
use crate::record::names_after;

/// What the finished answers of a name may hold of other names' records, as in `server/zone/compile.py`.
pub const MOST_DRAWN: usize = 4096;

/// A set of a zone.
pub struct Owned<'a> {
    pub owner: &'a [u8],
    pub rdtype: u16,
    pub ttl_s: u32,
    pub rdatas: Vec<&'a [u8]>,
}

impl<'a> Owned<'a> {
    /// A set whose records stand uncompressed, as those of entries that are kept do, and all addresses.
    pub fn kept(entry: &Entry<'a>, rdtype: u16) -> Self {
        let mut set = Owned { owner: entry.name, rdtype, ttl_s: 0, rdatas: Vec::new() };
        if let Some(answer) = entry.answer(rdtype) {
            for_each_rdata(answer.body, |ttl_s, rdata| {
                set.ttl_s = ttl_s;
                set.rdatas.push(rdata);
            });
        }
        set
    }

    /// What it takes in an answer whose question name owns it.
    pub fn octets(&self) -> usize {
        octets_of(&self.rdatas)
    }
}

/// Where the addresses of a name stand.
#[derive(Clone, Copy)]
pub enum Lent<'a> {
    Addresses(Entry<'a>, u16),
    Left(&'a Set),
}

impl<'a> Lent<'a> {
    pub fn owner(&self) -> &'a [u8] {
        match self {
            Lent::Addresses(entry, _) => entry.name,
            Lent::Left(set) => &set.owner,
        }
    }

    /// What they take in an answer whose question name owns them.
    pub fn octets(&self) -> usize {
        match self {
            Lent::Addresses(entry, rdtype) => plain_octets(entry, *rdtype),
            Lent::Left(set) => octets_of(&set.rdatas),
        }
    }

    pub fn owned(&self) -> Owned<'a> {
        match *self {
            Lent::Addresses(entry, rdtype) => Owned::kept(&entry, rdtype),
            Lent::Left(Set { owner, rdtype, ttl_s, rdatas }) => {
                let rdatas = rdatas.iter().map(|rdata| &**rdata).collect();
                Owned { owner, rdtype: *rdtype, ttl_s: *ttl_s, rdatas }
            }
        }
    }
}

/// What a set of a name takes in an answer whose question name owns it, uncompressed; past MOST_DRAWN, it may take more.
pub fn plain_octets(entry: &Entry<'_>, rdtype: u16) -> usize {
    let octets = entry.answer(rdtype).map_or(0, |answer| answer.body.len());
    if names_after(rdtype).is_none() || octets > MOST_DRAWN {
        return octets;
    }
    octets_of(&own_set(entry, rdtype).2)
}

/// What records take behind a pointer to their owner.
fn octets_of(rdatas: &[impl AsRef<[u8]>]) -> usize {
    rdatas.iter().map(|rdata| BESIDE_DATA + rdata.as_ref().len()).sum()
}
