//! Server cookies that servers of any make understand when they share the secret (RFC 7873, RFC 9018), as `server/edns/cookie.py` has them.
//!
//! Owns how a cookie is made and whether one is ours. Never decides what becomes of a query without one.
#![forbid(unsafe_code)]

use std::net::IpAddr;

pub const SECRET: usize = 16;
pub const CLIENT: usize = 8;
/// Both parts, ours being of version 1.
pub const WHOLE: usize = 24;

const VERSION: u8 = 1;
const PAST_S: u32 = 3600;
const FUTURE_S: u32 = 300;
const RENEW_S: u32 = 1800;

/// Who asks, and when, in seconds.
#[derive(Clone, Copy)]
pub struct Asker {
    pub address: IpAddr,
    pub now_s: u32,
}

/// Makes cookies with the first secret and takes those of all.
#[derive(Clone, Default)]
pub struct Cookies {
    pub secrets: Vec<[u8; SECRET]>,
}

impl Cookies {
    /// What a reply holds for what the query held: the client's part and a server part, the one received when that is good and young.
    /// None for a wrong form, and where there are no secrets.
    pub fn answer(&self, cookie: &[u8], asker: Asker) -> Option<[u8; WHOLE]> {
        let secret = self.secrets.first()?;
        if cookie.len() != CLIENT && !(16..=40).contains(&cookie.len()) {
            return None;
        }
        if let Ok(whole) = <&[u8; WHOLE]>::try_from(cookie) {
            if asker.now_s.wrapping_sub(made_at(whole)) <= RENEW_S && is_made_with(secret, whole, asker) {
                return Some(*whole);
            }
        }
        let mut made = [0; WHOLE];
        made[..CLIENT].copy_from_slice(&cookie[..CLIENT]);
        made[CLIENT] = VERSION;
        made[12..16].copy_from_slice(&asker.now_s.to_be_bytes());
        let hash = hash(secret, &made, asker);
        made[16..].copy_from_slice(&hash);
        Some(made)
    }

    /// Says whether a query's cookie holds a server part that this address was given not long ago.
    pub fn is_ours(&self, cookie: &[u8], asker: Asker) -> bool {
        let Ok(whole) = <&[u8; WHOLE]>::try_from(cookie) else { return false };
        let age_s = asker.now_s.wrapping_sub(made_at(whole)).wrapping_add(FUTURE_S);
        whole[CLIENT] == VERSION
            && age_s <= PAST_S + FUTURE_S
            && self.secrets.iter().any(|secret| is_made_with(secret, whole, asker))
    }
}

fn made_at(cookie: &[u8; WHOLE]) -> u32 {
    u32::from_be_bytes([cookie[12], cookie[13], cookie[14], cookie[15]])
}

/// Compares without telling by its duration where the difference is.
fn is_made_with(secret: &[u8; SECRET], cookie: &[u8; WHOLE], asker: Asker) -> bool {
    let expected = hash(secret, cookie, asker);
    expected.iter().zip(&cookie[16..]).fold(0, |found, (one, other)| found | (one ^ other)) == 0
}

/// Hashes the first 16 octets of a cookie and the address.
fn hash(secret: &[u8; SECRET], cookie: &[u8; WHOLE], asker: Asker) -> [u8; 8] {
    let mut message = [0; 32];
    message[..16].copy_from_slice(&cookie[..16]);
    let length = match asker.address {
        IpAddr::V4(address) => {
            message[16..20].copy_from_slice(&address.octets());
            20
        }
        IpAddr::V6(address) => {
            message[16..].copy_from_slice(&address.octets());
            32
        }
    };
    siphash(secret, &message[..length]).to_le_bytes()
}

/// SipHash-2-4 (Aumasson and Bernstein, 2012).
fn siphash(key: &[u8; SECRET], message: &[u8]) -> u64 {
    let word = |octets: &[u8]| {
        let mut word = [0; 8];
        word[..octets.len()].copy_from_slice(octets);
        u64::from_le_bytes(word)
    };
    let (low, high) = (word(&key[..8]), word(&key[8..]));
    let mut state = [
        low ^ 0x736f_6d65_7073_6575,
        high ^ 0x646f_7261_6e64_6f6d,
        low ^ 0x6c79_6765_6e65_7261,
        high ^ 0x7465_6462_7974_6573,
    ];
    let chunks = message.chunks_exact(8);
    let last = word(chunks.remainder()) | (message.len() as u64) << 56;
    for each in chunks.map(word).chain([last]) {
        state[3] ^= each;
        round(&mut state);
        round(&mut state);
        state[0] ^= each;
    }
    state[2] ^= 0xFF;
    (0..4).for_each(|_| round(&mut state));
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

fn round(state: &mut [u64; 4]) {
    let [mut a, mut b, mut c, mut d] = *state;
    a = a.wrapping_add(b);
    b = b.rotate_left(13) ^ a;
    a = a.rotate_left(32);
    c = c.wrapping_add(d);
    d = d.rotate_left(16) ^ c;
    a = a.wrapping_add(d);
    d = d.rotate_left(21) ^ a;
    c = c.wrapping_add(b);
    b = b.rotate_left(17) ^ c;
    c = c.rotate_left(32);
    *state = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::{siphash, Asker, Cookies};

    #[test]
    fn the_hash_is_that_of_its_authors() {
        let key: [u8; 16] = std::array::from_fn(|place| place as u8);
        let message: Vec<u8> = (0..15).collect();
        assert_eq!(siphash(&key, &message), 0xa129_ca61_49be_45e5);
    }

    #[test]
    fn the_first_example_of_rfc_9018() {
        let secret = 0xe5e9_73e5_a6b2_a43f_48e7_dc84_9e37_bfcf_u128.to_be_bytes();
        let cookies = Cookies { secrets: vec![secret] };
        let asker = Asker { address: "198.51.100.100".parse().unwrap(), now_s: 1_559_731_985 };
        let client = 0x2464_c4ab_cf10_c957_u64.to_be_bytes();
        let made = cookies.answer(&client, asker).unwrap();
        assert_eq!(made[8..], 0x0100_0000_5cf7_9f11_1f81_30c3_eee2_9480_u128.to_be_bytes());
        assert!(cookies.is_ours(&made, asker));
        assert!(!cookies.is_ours(&made, Asker { now_s: asker.now_s + 4000, ..asker }));
        assert_eq!(cookies.answer(&made, Asker { now_s: asker.now_s + 60, ..asker }), Some(made));
    }
}
