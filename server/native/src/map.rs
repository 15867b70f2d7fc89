//! A persistent hash map by name: a changed version shares all segments with the one before but those that changed.
//!
//! Owns how entries are laid out and found. Never knows what they are.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::name::Name;

/// Entries that a segment holds on average, at most: what a change has to copy.
const SEGMENT_ENTRIES: usize = 32;

/// What a map holds: something with a name of its own, in lower case.
pub trait Named {
    fn name(&self) -> &[u8];
}

struct Slot<T> {
    hash: u64,
    entry: Arc<T>,
}

/// A small table, open addressing, never more than half full.
struct Segment<T> {
    slots: Box<[Option<Slot<T>>]>,
    used: usize,
}

pub struct Map<T> {
    segments: Vec<Arc<Segment<T>>>,
    entries: usize,
}

impl<T> Clone for Map<T> {
    fn clone(&self) -> Self {
        Map { segments: self.segments.clone(), entries: self.entries }
    }
}

impl<T: Named> Segment<T> {
    fn with_room_for(entries: usize) -> Self {
        let size = (entries * 2).next_power_of_two().max(4);
        Segment { slots: (0..size).map(|_| None).collect(), used: 0 }
    }

    /// The place of an entry, or the free place where it would be.
    fn place(&self, hash: u64, name: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        while let Some(slot) = &self.slots[place] {
            if slot.hash == hash && slot.entry.name() == name {
                break;
            }
            place = (place + 1) & mask;
        }
        place
    }

    /// Puts an entry in and says whether it is a new one.
    fn put(&mut self, hash: u64, entry: Arc<T>) -> bool {
        let place = self.place(hash, entry.name());
        if self.slots[place].is_some() {
            self.slots[place] = Some(Slot { hash, entry });
            return false;
        }
        if (self.used + 1) * 2 > self.slots.len() {
            self.rebuild(self.used * 2);
            return self.put(hash, entry);
        }
        self.slots[place] = Some(Slot { hash, entry });
        self.used += 1;
        true
    }

    fn remove(&mut self, hash: u64, name: &[u8]) -> bool {
        let place = self.place(hash, name);
        if self.slots[place].take().is_none() {
            return false;
        }
        self.rebuild(self.used - 1);
        true
    }

    fn rebuild(&mut self, room: usize) {
        let mut next = Segment::with_room_for(room);
        for slot in self.slots.iter_mut().filter_map(Option::take) {
            let place = next.place(slot.hash, slot.entry.name());
            next.slots[place] = Some(slot);
            next.used += 1;
        }
        *self = next;
    }
}

impl<T: Named> Map<T> {
    /// An empty map with segments for so many entries.
    pub fn with_room_for(entries: usize) -> Self {
        let segments = entries.div_ceil(SEGMENT_ENTRIES).next_power_of_two();
        let each = entries.div_ceil(segments);
        Map { segments: (0..segments).map(|_| Arc::new(Segment::with_room_for(each))).collect(), entries: 0 }
    }

    fn segment(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.segments.len() - 1)
    }

    /// Finds what has the name that `name` is without its first `skipped` labels.
    pub fn get(&self, name: &Name, skipped: usize) -> Option<&Arc<T>> {
        let hash = name.hash(skipped);
        let segment = &self.segments[self.segment(hash)];
        let place = segment.place(hash, name.suffix(skipped));
        segment.slots[place].as_ref().map(|slot| &slot.entry)
    }

    /// Puts an entry in, in place of one of the same name.
    pub fn put(&mut self, entry: Arc<T>) {
        let Some(hash) = hash_of(entry.name()) else { return };
        if self.entries > self.segments.len() * SEGMENT_ENTRIES * 2 {
            self.spread();
        }
        let segment = self.segment(hash);
        self.entries += usize::from(unshared(&mut self.segments[segment]).put(hash, entry));
    }

    /// Takes an entry out, if there is one.
    pub fn remove(&mut self, name: &[u8]) {
        let Some(hash) = hash_of(name) else { return };
        let segment = self.segment(hash);
        self.entries -= usize::from(unshared(&mut self.segments[segment]).remove(hash, name));
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.segments.iter().flat_map(|segment| segment.slots.iter().flatten().map(|slot| &slot.entry))
    }

    /// Goes over to more segments.
    fn spread(&mut self) {
        let mut next = Map::with_room_for(self.entries * 2);
        for slot in self.segments.iter().flat_map(|segment| segment.slots.iter().flatten()) {
            let segment = next.segment(slot.hash);
            next.entries += usize::from(unshared(&mut next.segments[segment]).put(slot.hash, Arc::clone(&slot.entry)));
        }
        *self = next;
    }
}

/// The segment to change: itself where nobody else has it, else a copy.
fn unshared<T>(segment: &mut Arc<Segment<T>>) -> &mut Segment<T> {
    if Arc::get_mut(segment).is_none() {
        let copy = Segment {
            slots: segment
                .slots
                .iter()
                .map(|slot| slot.as_ref().map(|slot| Slot { hash: slot.hash, entry: Arc::clone(&slot.entry) }))
                .collect(),
            used: segment.used,
        };
        *segment = Arc::new(copy);
    }
    Arc::get_mut(segment).expect("nobody else has a segment that was made here")
}

fn hash_of(name: &[u8]) -> Option<u64> {
    let mut read = Name::new();
    read.read(name).map(|_| read.hash(0))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Map, Named};
    use crate::name::Name;

    struct Entry(Vec<u8>, u32);

    impl Named for Entry {
        fn name(&self) -> &[u8] {
            &self.0
        }
    }

    fn name(number: u32) -> Vec<u8> {
        let label = number.to_string();
        let mut octets = vec![label.len() as u8];
        octets.extend_from_slice(label.as_bytes());
        octets.extend_from_slice(b"\x04test\x00");
        octets
    }

    fn find(map: &Map<Entry>, number: u32) -> Option<u32> {
        let mut read = Name::new();
        read.read(&name(number)).unwrap();
        map.get(&read, 0).map(|entry| entry.1)
    }

    #[test]
    fn what_was_put_in_is_found_until_it_is_taken_out() {
        let mut map = Map::with_room_for(10);
        for number in 0..5000 {
            map.put(Arc::new(Entry(name(number), number)));
        }
        assert!((0..5000).all(|number| find(&map, number) == Some(number)));
        assert_eq!(find(&map, 5000), None);
        for number in (0..5000).step_by(2) {
            map.remove(&name(number));
        }
        assert!((0..5000).all(|number| find(&map, number).is_some() == (number % 2 == 1)));
        assert_eq!(map.iter().count(), 2500);
    }

    #[test]
    fn an_older_version_stays_as_it_was() {
        let mut map = Map::with_room_for(100);
        for number in 0..100 {
            map.put(Arc::new(Entry(name(number), number)));
        }
        let before = map.clone();
        map.put(Arc::new(Entry(name(7), 1000)));
        map.remove(&name(8));
        assert_eq!((find(&before, 7), find(&before, 8)), (Some(7), Some(8)));
        assert_eq!((find(&map, 7), find(&map, 8)), (Some(1000), None));
    }
}
