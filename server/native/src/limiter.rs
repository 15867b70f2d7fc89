//! How much of one kind of reply goes to one network over UDP, counted by all workers together.
//!
//! Owns the counts of the running second and who is over. Never writes a reply. Nothing here waits: two threads that count the same
//! network at the same moment may lose one count, which the sampling outweighs by far.
#![forbid(unsafe_code)]

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const PLACES: usize = 1 << 16;
const TRIES: usize = 4;
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
const COUNT_BITS: u32 = 24;
const SECOND_BITS: u32 = 12;
const MOST: u64 = (1 << COUNT_BITS) - 1;

/// What becomes of a reply past the limit.
pub enum Verdict {
    HoldBack,
    Drop,
}

/// A network: the octets of its address and how many bits of them count.
pub struct Network(pub Box<[u8]>, pub u32);

impl Network {
    fn holds(&self, address: &[u8]) -> bool {
        let (whole, rest) = ((self.1 / 8) as usize, self.1 % 8);
        self.0.len() == address.len()
            && self.0[..whole] == address[..whole]
            && (rest == 0 || (self.0[whole] ^ address[whole]) >> (8 - rest) == 0)
    }
}

pub struct Limiter {
    pub per_second: u64,
    pub slip: u32,
    /// One reply of so many is counted, for so many.
    pub stride: u64,
    pub ipv4_bytes: usize,
    pub ipv6_bytes: usize,
    pub exempt: Box<[Network]>,
    seed: u64,
    places: Box<[AtomicU64]>,
    /// The second that runs; the first is 1.
    second: AtomicU32,
    /// The second in which somebody was over last.
    over_in: AtomicU32,
    refused: AtomicU32,
    pub dropped: AtomicU64,
    pub held_back: AtomicU64,
}

impl Limiter {
    pub fn new(
        per_second: u64,
        slip: u32,
        stride: u64,
        prefix_bytes: (usize, usize),
        exempt: Box<[Network]>,
        seed: u64,
    ) -> Self {
        Limiter {
            per_second,
            slip,
            stride,
            ipv4_bytes: prefix_bytes.0,
            ipv6_bytes: prefix_bytes.1,
            exempt,
            seed,
            places: (0..PLACES).map(|_| AtomicU64::new(0)).collect(),
            second: AtomicU32::new(1),
            over_in: AtomicU32::new(0),
            refused: AtomicU32::new(0),
            dropped: AtomicU64::new(0),
            held_back: AtomicU64::new(0),
        }
    }

    /// Begins a new second.
    pub fn tick(&self) {
        self.second.fetch_add(1, Ordering::Relaxed);
    }

    /// Says whether no network's limit is reached in this second, as is nearly always so.
    pub fn nobody_is_over(&self) -> bool {
        self.over_in.load(Ordering::Relaxed) != self.second.load(Ordering::Relaxed)
    }

    /// Counts a reply that was picked to stand for others.
    pub fn count(&self, address: IpAddr, reply: &[u8]) {
        let second = self.second.load(Ordering::Relaxed);
        let Some(key) = self.key(address, reply) else { return };
        if let Some((place, counted)) = self.place(key, second) {
            let counted = (counted + self.stride).min(MOST);
            self.places[place].store(label(key, second) | counted, Ordering::Relaxed);
            if counted > self.per_second {
                self.over_in.store(second, Ordering::Relaxed);
            }
        }
    }

    /// Says whether replies of this kind to the address's network are past the limit.
    pub fn is_over(&self, address: IpAddr, reply: &[u8]) -> bool {
        if self.nobody_is_over() {
            return false;
        }
        let Some(key) = self.key(address, reply) else { return false };
        let label = label(key, self.second.load(Ordering::Relaxed));
        let mut held = self.probe(key).map(|place| self.places[place].load(Ordering::Relaxed));
        held.any(|held| held & !MOST == label && held & MOST > self.per_second)
    }

    /// Says what becomes of one more reply that is past the limit, and counts it.
    pub fn verdict(&self) -> Verdict {
        let refused = self.refused.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if self.slip > 0 && refused % self.slip == 0 {
            self.held_back.fetch_add(1, Ordering::Relaxed);
            return Verdict::HoldBack;
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        Verdict::Drop
    }

    /// The place where a key is counted in this second, and its count; the least counted of a few makes room.
    fn place(&self, key: u64, second: u32) -> Option<(usize, u64)> {
        let mut least = None;
        for place in self.probe(key) {
            let held = self.places[place].load(Ordering::Relaxed);
            if held & !MOST == label(key, second) {
                return Some((place, held & MOST));
            }
            let is_old = held & !MOST & label(0, u32::MAX) != label(0, second);
            let worth = if is_old { 0 } else { held & MOST };
            if least.is_none_or(|(_, before)| worth < before) {
                least = Some((place, worth));
            }
        }
        least.map(|(place, _)| (place, 0))
    }

    fn probe(&self, key: u64) -> impl Iterator<Item = usize> {
        let first = key as usize;
        (0..TRIES).map(move |further| (first + further) & (PLACES - 1))
    }

    /// Network and kind of a reply in one number, None for a network that has no limit.
    fn key(&self, address: IpAddr, reply: &[u8]) -> Option<u64> {
        match address {
            IpAddr::V4(address) => self.hash(&address.octets(), self.ipv4_bytes, reply),
            IpAddr::V6(address) => self.hash(&address.octets(), self.ipv6_bytes, reply),
        }
    }

    fn hash(&self, address: &[u8], bytes: usize, reply: &[u8]) -> Option<u64> {
        if self.exempt.iter().any(|network| network.holds(address)) {
            return None;
        }
        let mut hash = self.seed ^ ((address.len() as u64) << 8) ^ kind(reply);
        for octet in &address[..bytes] {
            let product = u128::from(hash ^ u64::from(*octet)) * u128::from(SPREAD);
            hash = (product as u64) ^ ((product >> 64) as u64) ^ SPREAD;
        }
        Some(hash)
    }
}

/// What stands above the count in a place: some of the key, and the second.
fn label(key: u64, second: u32) -> u64 {
    let second = u64::from(second) & ((1 << SECOND_BITS) - 1);
    (key >> (COUNT_BITS + SECOND_BITS) << (COUNT_BITS + SECOND_BITS)) | (second << COUNT_BITS)
}

/// What a reply is, from its header: an answer, no data, a referral, a missing name or an error.
fn kind(reply: &[u8]) -> u64 {
    match reply[3] & 0xF {
        0 if reply[6] != 0 || reply[7] != 0 => 0,
        0 if reply[2] & 0x04 != 0 => 1,
        0 => 2,
        3 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::{Limiter, Network, Verdict};

    const ANSWER: [u8; 12] = [0, 0, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0];
    const NXDOMAIN: [u8; 12] = [0, 0, 0x84, 3, 0, 1, 0, 0, 0, 1, 0, 0];

    fn limiter(slip: u32) -> Limiter {
        let loopback = Network(Box::new([127, 0, 0, 0]), 8);
        Limiter::new(100, slip, 1, (3, 7), Box::new([loopback]), 7)
    }

    #[test]
    fn one_network_and_kind_is_over_for_the_second() {
        let limiter = limiter(2);
        let peer = "192.0.2.1".parse().unwrap();
        for _ in 0..101 {
            assert!(!limiter.is_over(peer, &ANSWER));
            limiter.count(peer, &ANSWER);
        }
        assert!(limiter.is_over("192.0.2.200".parse().unwrap(), &ANSWER));
        assert!(!limiter.is_over(peer, &NXDOMAIN));
        assert!(!limiter.is_over("192.0.3.1".parse().unwrap(), &ANSWER));
        assert!(matches!(limiter.verdict(), Verdict::Drop));
        assert!(matches!(limiter.verdict(), Verdict::HoldBack));
        limiter.tick();
        assert!(limiter.nobody_is_over());
        assert!(!limiter.is_over(peer, &ANSWER));
    }

    #[test]
    fn an_exempt_network_is_never_over() {
        let limiter = limiter(0);
        let peer = "127.0.0.1".parse().unwrap();
        for _ in 0..1000 {
            limiter.count(peer, &ANSWER);
        }
        assert!(!limiter.is_over(peer, &ANSWER));
    }
}
