//! Which finished names hang on which other names: aliases on their targets, referrals on their glue.
//!
//! Owns the reverse index of a zone that was finished natively, which never changes. It may name more owners than needed, never fewer.
#![forbid(unsafe_code)]

use crate::name::Name;

/// What tells "on this very name" from "on this name or one below".
const EXACTLY: u32 = 0x5A5A_5A5A;

#[derive(Default)]
pub struct Dependents {
    /// Some of a name's hash in the upper half, which owner in the lower one; sorted.
    links: Vec<u64>,
    /// The owners, one behind another, each behind its length.
    owners: Vec<u8>,
    apex: Vec<u8>,
}

impl Dependents {
    pub fn new(apex: &[u8]) -> Self {
        Dependents { apex: apex.to_vec(), ..Dependents::default() }
    }

    /// Notes that the answers of `owner` hang on names of the zone.
    pub fn add(&mut self, owner: &[u8], consulted: &Consulted) {
        if consulted.0.is_empty() {
            return;
        }
        let place = self.owners.len() as u64;
        self.owners.push(owner.len() as u8);
        self.owners.extend_from_slice(owner);
        self.links.extend(consulted.0.iter().map(|link| link | place));
    }

    /// Has them be found, once all are there.
    pub fn sort(&mut self) {
        self.links.sort_unstable();
        self.links.dedup();
        self.links.shrink_to_fit();
        self.owners.shrink_to_fit();
    }

    /// The owners whose answers hang on a name itself, or, unless `exactly`, on any name below it, too.
    pub fn on(&self, octets: &[u8], exactly: bool) -> Vec<&[u8]> {
        let mut name = Name::new();
        if name.read(octets).is_none() {
            return Vec::new();
        }
        if !exactly && octets == self.apex {
            return self.all();
        }
        let first = link(name.hash(0), exactly);
        let start = self.links.partition_point(|each| *each < first);
        let found = self.links[start..].iter().take_while(|each| **each >> 32 == first >> 32);
        found.map(|each| self.owner(*each as u32 as usize)).collect()
    }

    fn all(&self) -> Vec<&[u8]> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < self.owners.len() {
            let owner = self.owner(at);
            found.push(owner);
            at += owner.len() + 1;
        }
        found
    }

    fn owner(&self, at: usize) -> &[u8] {
        &self.owners[at + 1..at + 1 + usize::from(self.owners[at])]
    }
}

/// Names of a zone that the answers of one owner hang on.
#[derive(Default)]
pub struct Consulted(Vec<u64>);

impl Consulted {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a name, whose first `below` labels stand before the apex.
    pub fn add(&mut self, name: &Name, below: usize) {
        self.0.push(link(name.hash(0), true));
        self.0.extend((0..below).map(|skipped| link(name.hash(skipped), false)));
    }
}

fn link(hash: u64, exactly: bool) -> u64 {
    let half = (hash >> 32) as u32 ^ if exactly { EXACTLY } else { 0 };
    u64::from(half) << 32
}

#[cfg(test)]
mod tests {
    use super::{Consulted, Dependents};
    use crate::name::Name;

    fn consulted(octets: &[u8]) -> Consulted {
        let (mut name, mut consulted) = (Name::new(), Consulted::default());
        name.read(octets);
        consulted.add(&name, name.labels() - 1);
        consulted
    }

    #[test]
    fn owners_are_found_by_names_and_by_names_above() {
        let mut dependents = Dependents::new(b"\x04test\0");
        dependents.add(b"\x01a\x04test\0", &consulted(b"\x01x\x01b\x04test\0"));
        dependents.add(b"\x01c\x04test\0", &consulted(b"\x01b\x04test\0"));
        dependents.sort();
        let a = b"\x01a\x04test\0".as_slice();
        let c = b"\x01c\x04test\0".as_slice();
        assert_eq!(dependents.on(b"\x01b\x04test\0", true), [c]);
        assert_eq!(dependents.on(b"\x01b\x04test\0", false), [a, c]);
        assert_eq!(dependents.on(b"\x04test\0", false), [a, c]);
        assert!(dependents.on(b"\x04test\0", true).is_empty());
        assert_eq!(dependents.on(b"\x01x\x01b\x04test\0", true), [a]);
    }
}
