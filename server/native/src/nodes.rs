//! The names of one version of a zone: a persistent hash map whose segments are one piece of memory each.
//!
//! Owns how entries are laid out and found. A changed version shares all segments with the one before but those that changed. A look-up
//! reads the list of segments, a slot and the entry, and nothing else.
//!
//! A segment is the number of its slots (4 octets), the slots, and the entries. A slot is some of the hash (4) and where the entry
//! stands (4), which is 0 for a free one.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::name::Name;
use crate::packed::{u32_at, Entry};

/// Entries that a segment holds on average, at most: what a change has to copy.
const SEGMENT_ENTRIES: usize = 32;
const HEAD: usize = 4;
const SLOT: usize = 8;

#[derive(Clone)]
pub struct Nodes {
    segments: Vec<Arc<[u8]>>,
    entries: usize,
}

/// What becomes of a name: its entry, or nothing.
pub struct Change {
    pub hash: u64,
    pub name: Box<[u8]>,
    pub entry: Option<Vec<u8>>,
}

impl Change {
    /// Takes out the entry of a name in wire form.
    pub fn removal(octets: &[u8]) -> Option<Self> {
        let mut name = Name::new();
        name.read(octets)?;
        Some(Change { hash: name.hash(0), name: octets.into(), entry: None })
    }
}

impl Nodes {
    /// How many segments there are for so many entries.
    pub fn segments_for(entries: usize) -> usize {
        entries.div_ceil(SEGMENT_ENTRIES).next_power_of_two()
    }

    /// The segment of a hash, of so many.
    pub fn segment_of(hash: u64, segments: usize) -> usize {
        (hash >> 32) as usize & (segments - 1)
    }

    /// A map of ready segments, in which so many entries stand.
    pub fn of_segments(segments: Vec<Arc<[u8]>>, entries: usize) -> Self {
        Nodes { segments, entries }
    }

    pub fn empty(expected: usize) -> Self {
        let segments = Nodes::segments_for(expected);
        Nodes { segments: vec![segment(&[]); segments], entries: 0 }
    }

    pub fn len(&self) -> usize {
        self.entries
    }

    /// Finds the entry of a name.
    pub fn get(&self, hash: u64, name: &[u8]) -> Option<Entry<'_>> {
        let segment = &*self.segments[Nodes::segment_of(hash, self.segments.len())];
        let slots = u32_at(segment, 0) as usize;
        let mut slot = first_slot(hash, slots);
        loop {
            let at = HEAD + slot * SLOT;
            let start = u32_at(segment, at + 4) as usize;
            if start == 0 {
                return None;
            }
            if u32_at(segment, at) == hash as u32 {
                let entry = Entry::read(&segment[start..]);
                if entry.name == name {
                    return Some(entry);
                }
            }
            slot = if slot + 1 == slots { 0 } else { slot + 1 };
        }
    }

    /// Finds the entry of the name that `name` is without its first `skipped` labels.
    pub fn find(&self, name: &Name, skipped: usize) -> Option<Entry<'_>> {
        self.get(name.hash(skipped), name.suffix(skipped))
    }

    /// Makes changes in this version, which nobody else reads yet.
    pub fn change(&mut self, mut changes: Vec<Change>) {
        let count = self.segments.len();
        if self.entries + changes.len() > count * SEGMENT_ENTRIES * 2 {
            self.spread(changes.len());
        }
        let count = if count == self.segments.len() { count } else { self.segments.len() };
        changes.sort_by_key(|change| Nodes::segment_of(change.hash, count));
        for changes in
            changes.chunk_by(|one, other| Nodes::segment_of(one.hash, count) == Nodes::segment_of(other.hash, count))
        {
            let number = Nodes::segment_of(changes[0].hash, count);
            let before = Arc::clone(&self.segments[number]);
            let mut kept: Vec<_> = entries(&before).collect();
            self.entries -= kept.len();
            kept.retain(|(hash, octets)| {
                let name = Entry::read(octets).name;
                !changes.iter().any(|change| change.hash as u32 == *hash && *change.name == *name)
            });
            let new = changes.iter().filter_map(|change| Some((change.hash as u32, change.entry.as_deref()?)));
            kept.extend(new);
            self.entries += kept.len();
            self.segments[number] = segment(&kept);
        }
    }

    /// How many segments there are.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The entries of one segment.
    pub fn segment(&self, number: usize) -> Option<impl Iterator<Item = Entry<'_>>> {
        let segment = self.segments.get(number)?;
        Some(entries(segment).map(|(_, octets)| Entry::read(octets)))
    }

    /// The entries of one segment as they stand there, each with the lower half of its hash.
    pub fn octets(&self, number: usize) -> impl Iterator<Item = (u32, &[u8])> {
        entries(&self.segments[number])
    }

    /// A segment itself, as a further version has it where nothing changes.
    pub fn shared(&self, number: usize) -> Arc<[u8]> {
        Arc::clone(&self.segments[number])
    }

    /// Goes over to more segments.
    fn spread(&mut self, further: usize) {
        let count = Nodes::segments_for((self.entries + further) * 2);
        let mut parts: Vec<Vec<(u32, &[u8])>> = vec![Vec::new(); count];
        for before in &self.segments {
            for (hash, octets) in entries(before) {
                let mut name = Name::new();
                if name.read(Entry::read(octets).name).is_some() {
                    parts[Nodes::segment_of(name.hash(0), count)].push((hash, octets));
                }
            }
        }
        self.segments = parts.iter().map(|part| segment(part)).collect();
    }
}

/// Lays out a segment of entries, each with the lower half of its hash.
pub fn segment(entries: &[(u32, &[u8])]) -> Arc<[u8]> {
    segment_in(&mut Vec::new(), entries)
}

/// The same, for many segments one after the other: each is put together in `octets`.
pub fn segment_in(octets: &mut Vec<u8>, entries: &[(u32, &[u8])]) -> Arc<[u8]> {
    let slots = (entries.len() * 3 / 2 + 1).max(2);
    octets.clear();
    octets.resize(HEAD + slots * SLOT, 0);
    octets[..HEAD].copy_from_slice(&(slots as u32).to_le_bytes());
    for (hash, entry) in entries {
        let mut slot = first_slot(u64::from(*hash), slots);
        while u32_at(octets, HEAD + slot * SLOT + 4) != 0 {
            slot = if slot + 1 == slots { 0 } else { slot + 1 };
        }
        let (at, start) = (HEAD + slot * SLOT, octets.len() as u32);
        octets[at..at + 4].copy_from_slice(&hash.to_le_bytes());
        octets[at + 4..at + SLOT].copy_from_slice(&start.to_le_bytes());
        octets.extend_from_slice(entry);
    }
    octets.as_slice().into()
}

/// The entries of a segment, each with the lower half of its hash.
fn entries(segment: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let slots = u32_at(segment, 0) as usize;
    let places = (0..slots).map(|slot| HEAD + slot * SLOT);
    places.filter_map(|at| {
        let start = u32_at(segment, at + 4) as usize;
        let octets = segment.get(start..).filter(|_| start != 0)?;
        Some((u32_at(segment, at), &octets[..u32_at(octets, 0) as usize]))
    })
}

fn first_slot(hash: u64, slots: usize) -> usize {
    (((hash & 0xFFFF_FFFF) * slots as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::{Change, Nodes};
    use crate::name::Name;
    use crate::packed::{begin_entry, end_entry, put_plain};

    fn name(number: u32) -> Vec<u8> {
        let label = number.to_string();
        let mut octets = vec![label.len() as u8];
        octets.extend_from_slice(label.as_bytes());
        octets.extend_from_slice(b"\x04test\x00");
        octets
    }

    fn hash(octets: &[u8]) -> u64 {
        let mut read = Name::new();
        read.read(octets).unwrap();
        read.hash(0)
    }

    fn put(number: u32, content: u32) -> Change {
        let name = name(number);
        let mut entry = Vec::new();
        let start = begin_entry(&mut entry, &name);
        put_plain(&mut entry, 1, 1, &content.to_le_bytes());
        end_entry(&mut entry, start);
        Change { hash: hash(&name), name: name.into(), entry: Some(entry) }
    }

    fn find(nodes: &Nodes, number: u32) -> Option<u32> {
        let name = name(number);
        let body = nodes.get(hash(&name), &name)?.answer(1)?.body;
        Some(u32::from_le_bytes(body.try_into().unwrap()))
    }

    #[test]
    fn what_was_put_in_is_found_until_it_is_taken_out() {
        let mut nodes = Nodes::empty(10);
        for start in (0..5000).step_by(50) {
            nodes.change((start..start + 50).map(|number| put(number, number)).collect());
        }
        assert!((0..5000).all(|number| find(&nodes, number) == Some(number)));
        assert_eq!(find(&nodes, 5000), None);
        nodes.change((0..5000).step_by(2).map(|number| Change { entry: None, ..put(number, 0) }).collect());
        assert!((0..5000).all(|number| find(&nodes, number).is_some() == (number % 2 == 1)));
        assert_eq!(nodes.len(), 2500);
    }

    #[test]
    fn an_older_version_stays_as_it_was() {
        let mut nodes = Nodes::empty(100);
        nodes.change((0..100).map(|number| put(number, number)).collect());
        let before = nodes.clone();
        nodes.change(vec![put(7, 1000), Change { entry: None, ..put(8, 0) }]);
        assert_eq!((find(&before, 7), find(&before, 8)), (Some(7), Some(8)));
        assert_eq!((find(&nodes, 7), find(&nodes, 8)), (Some(1000), None));
    }
}
