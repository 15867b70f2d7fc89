//! The question name of a packet, in lower case and split into labels, with a hash for it and each of its suffixes.
//!
//! Owns what a plain name is and how names are hashed. Never looks at what a name means.
#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

pub const MOST_OCTETS: usize = 255;
const MOST_LABELS: usize = 128;
const LONGEST_LABEL: u8 = 63;
/// Room for the longest name, and for eight octets to be read at any place of it.
const ROOM: usize = 264;
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// A name read from a packet or a table; used again for every packet, so that nothing is allocated.
pub struct Name {
    octets: [u8; ROOM],
    length: usize,
    starts: [u8; MOST_LABELS],
    hashes: [u64; MOST_LABELS],
    labels: usize,
}

impl Name {
    pub fn new() -> Self {
        Name { octets: [0; ROOM], length: 0, starts: [0; MOST_LABELS], hashes: [0; MOST_LABELS], labels: 0 }
    }

    /// Reads the uncompressed name at the start of `octets`; returns its length, or None when it is not plain and whole.
    pub fn read(&mut self, octets: &[u8]) -> Option<usize> {
        let mut end = 0;
        let mut labels = 0;
        loop {
            let length = *octets.get(end)?;
            if length > LONGEST_LABEL || labels == MOST_LABELS || end >= MOST_OCTETS {
                return None;
            }
            self.starts[labels] = end as u8;
            if length == 0 {
                break;
            }
            labels += 1;
            end += length as usize + 1;
        }
        let length = end + 1;
        self.octets[..length].copy_from_slice(&octets[..length]);
        self.octets[..length].make_ascii_lowercase();
        self.length = length;
        self.labels = labels;
        let mut hash = seed();
        self.hashes[labels] = hash;
        for label in (0..labels).rev() {
            let (start, next) = (self.starts[label] as usize, self.starts[label + 1] as usize);
            hash = self.extended(hash, start, next - start);
            self.hashes[label] = hash;
        }
        Some(length)
    }

    /// The number of labels, the root's not counted.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// The name without its first `skipped` labels.
    pub fn suffix(&self, skipped: usize) -> &[u8] {
        &self.octets[self.starts[skipped] as usize..self.length]
    }

    /// The hash of that suffix.
    pub fn hash(&self, skipped: usize) -> u64 {
        self.hashes[skipped]
    }

    /// Goes on with a hash over a label, eight octets at a time: what lies behind the label is masked out.
    fn extended(&self, mut hash: u64, start: usize, length: usize) -> u64 {
        let mut done = 0;
        while done < length {
            let at = start + done;
            let word = u64::from_le_bytes(self.octets[at..at + 8].try_into().expect("eight octets"));
            let size = (length - done).min(8);
            let product = u128::from(hash ^ (word << (64 - 8 * size))) * u128::from(SPREAD);
            hash = (product as u64) ^ ((product >> 64) as u64) ^ SPREAD.rotate_left(size as u32);
            done += size;
        }
        hash
    }
}

/// Makes hashers for maps by name, as hard to foresee as the hashes above.
#[derive(Clone, Copy, Default)]
pub struct Seeded;

impl BuildHasher for Seeded {
    type Hasher = Folding;

    fn build_hasher(&self) -> Folding {
        Folding(seed())
    }
}

/// Maps and sets by name.
pub type NameMap<Value> = HashMap<Box<[u8]>, Value, Seeded>;
pub type NameSet = HashSet<Box<[u8]>, Seeded>;

pub struct Folding(u64);

impl Hasher for Folding {
    fn write(&mut self, octets: &[u8]) {
        for chunk in octets.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(SPREAD);
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ SPREAD.rotate_left(8);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What hashes of this process begin with: others cannot know which names meet in a table.
fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().build_hasher().finish())
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn a_name_is_lowered_and_split() {
        let mut name = Name::new();
        assert_eq!(name.read(b"\x03WwW\x04test\x00rest"), Some(10));
        assert_eq!(name.labels(), 2);
        assert_eq!(name.suffix(0), b"\x03www\x04test\x00");
        assert_eq!(name.suffix(1), b"\x04test\x00");
        let mut other = Name::new();
        other.read(b"\x04TEST\x00");
        assert_eq!(name.hash(1), other.hash(0));
    }

    #[test]
    fn what_is_no_plain_name_is_none() {
        let mut name = Name::new();
        assert_eq!(name.read(b"\x03www"), None);
        assert_eq!(name.read(b"\xc0\x0c"), None);
        assert_eq!(name.read(&[1; 300]), None);
    }

    #[test]
    fn the_longest_name_is_read() {
        let mut longest: Vec<u8> = b"\x01a".repeat(127);
        longest.push(0);
        assert_eq!(Name::new().read(&longest), Some(255));
        longest.insert(0, 1);
        longest.insert(1, b'a');
        assert_eq!(Name::new().read(&longest), None);
    }
}
