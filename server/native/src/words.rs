//! The words of master files: which octets make them up, where entries end, and what numbers, times and addresses say.
//!
//! Owns single words. `master` knows what a record is.
#![forbid(unsafe_code)]

use std::net::Ipv4Addr;
use std::str::FromStr;

/// The longest TTL (RFC 2181 section 8).
pub const TTL_MAX_S: u32 = (1 << 31) - 1;

/// Whether an octet can stand in a token and means itself.
pub fn is_plain(octet: u8) -> bool {
    matches!(octet, b'!'..=b'~') && !matches!(octet, b'"' | b'(' | b')' | b';' | b'\\')
}

/// Whether an octet can stand between quotes and means itself.
pub fn is_quotable(octet: u8) -> bool {
    matches!(octet, b' '..=b'~') && octet != b'\\'
}

/// Whether an octet is a control that no text holds.
pub fn is_control(octet: u8) -> bool {
    octet < b' ' && octet != b'\t' || octet == 0x7F
}

/// Whether nothing but blanks and a comment stands between two places.
pub fn is_whole(text: &[u8], from: usize, end: usize) -> bool {
    let rest = &text[from.min(end)..end];
    rest.iter().find(|octet| !matches!(octet, b' ' | b'\t')).is_none_or(|octet| *octet == b';')
}

/// The place after the line end at `end`, if there is one.
pub fn after_line_end(text: &[u8], end: usize) -> usize {
    (end + 1).min(text.len())
}

/// Finds where an entry ends that holds parentheses, quotes or escapes; None where they do not end.
pub fn entry_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut at) = (0usize, false, 0);
    while let Some(octet) = text.get(at) {
        match octet {
            b'\\' => at += 1,
            b'"' => quoted = !quoted,
            b'\n' if quoted => return None,
            _ if quoted => (),
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1)?,
            b';' => {
                at += text[at..].iter().position(|octet| *octet == b'\n').unwrap_or(text.len() - at);
                continue;
            }
            b'\n' if depth == 0 => return Some(at),
            _ if is_control(*octet) && *octet != b'\n' => return None,
            _ => (),
        }
        at += 1;
    }
    Some(text.len())
}

/// Reads seconds, or numbers with units as in `1h30m`.
pub fn ttl(word: &[u8]) -> Option<u32> {
    let (mut total, mut number, mut has_digits, mut has_unit) = (0u64, 0u64, false, false);
    for octet in word {
        if octet.is_ascii_digit() {
            number = number.checked_mul(10)?.checked_add(u64::from(octet - b'0'))?;
            has_digits = true;
            continue;
        }
        let unit_s = match octet.to_ascii_lowercase() {
            b'w' => 604_800,
            b'd' => 86_400,
            b'h' => 3_600,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        if !has_digits {
            return None;
        }
        total = total.checked_add(number.checked_mul(unit_s)?)?;
        (number, has_digits, has_unit) = (0, false, true);
    }
    if has_digits == has_unit {
        return None; // digits without a unit behind others with one
    }
    u32::try_from(total + number).ok().filter(|seconds| *seconds <= TTL_MAX_S)
}

/// Reads a number of 16 bits.
pub fn number(word: &[u8]) -> Option<u16> {
    word.iter().all(u8::is_ascii_digit).then_some(())?;
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Reads an address of four numbers.
pub fn ipv4(word: &[u8]) -> Option<[u8; 4]> {
    Some(Ipv4Addr::from_str(std::str::from_utf8(word).ok()?).ok()?.octets())
}

#[cfg(test)]
mod tests {
    use super::ttl;

    #[test]
    fn ttls_have_units() {
        assert_eq!(
            [b"90".as_slice(), b"1h30m", b"1w", b"2147483647"].map(ttl),
            [Some(90), Some(5400), Some(604_800), Some(0x7FFF_FFFF)]
        );
        assert_eq!([b"2147483648".as_slice(), b"1h30", b"h", b"1x", b"1hh"].map(ttl), [None; 5]);
    }
}
