//! Master files (RFC 1035 section 5) of the common form, read fast; the whole grammar is that of `zonemodel.zone_reader`.
//!
//! Owns what of a line is plain. A record whose data are not is handed on with its owner, TTL and type understood; anything else that is
//! not understood to the last octet ends the reading, and Python reads the file and says what it thinks of it.
#![forbid(unsafe_code)]

use std::net::Ipv6Addr;
use std::str::FromStr;

use crate::name::MOST_OCTETS;
use crate::words::{
    after_line_end, entry_end, ipv4, is_control, is_plain, is_quotable, is_whole, number, ttl, TTL_MAX_S,
};

const LONGEST_LABEL: usize = 63;
const LONGEST_STRING: usize = 255;

pub const NS: u16 = 2;
pub const CNAME: u16 = 5;
pub const SOA: u16 = 6;
pub const PTR: u16 = 12;
pub const MX: u16 = 15;
pub const SRV: u16 = 33;
const A: u16 = 1;
const TXT: u16 = 16;
const AAAA: u16 = 28;

/// The types that may stand in a file; others, and with them signed zones, are Python's.
const TYPES: [(&str, u16); 17] = [
    ("A", A),
    ("AAAA", AAAA),
    ("CNAME", CNAME),
    ("NS", NS),
    ("PTR", PTR),
    ("MX", MX),
    ("TXT", TXT),
    ("SRV", SRV),
    ("SOA", SOA),
    ("CAA", 257),
    ("HINFO", 13),
    ("DS", 43),
    ("SSHFP", 44),
    ("TLSA", 52),
    ("SVCB", 64),
    ("HTTPS", 65),
    ("LOC", 29),
];

/// Whether records of a type can be finished here; others, and with them signed zones, are Python's.
pub fn is_known(rdtype: u16) -> bool {
    TYPES.iter().any(|(_, known)| *known == rdtype)
}

/// One record: the owner in lower case, the data as written.
pub struct Record<'a> {
    pub owner: &'a [u8],
    pub rdtype: u16,
    pub ttl_s: u32,
    pub rdata: &'a [u8],
    /// Which of the sets it belongs to, where a source has sets and no two of one owner and type may meet.
    pub source: u32,
}

/// What reads the data of a record that are not plain: type, data as text, and the origin in wire form.
pub type ReadData<'a> = dyn FnMut(u16, &str, &[u8]) -> Option<Vec<u8>> + 'a;

/// The state of one pass over a file.
pub struct Reader<'a> {
    read_data: &'a mut ReadData<'a>,
    origin: Option<Vec<u8>>,
    owner: Vec<u8>,
    default_s: Option<u32>,
    last_s: Option<u32>,
    minimum_s: Option<u32>,
    rdata: Vec<u8>,
    tokens: Vec<Token>,
}

#[derive(Clone, Copy)]
struct Token {
    start: usize,
    end: usize,
    quoted: bool,
}

/// How a line was split.
enum Split {
    /// All of it, up to here.
    Plain(usize),
    /// Up to an octet that means more than itself.
    Odd,
}

impl<'a> Reader<'a> {
    /// `origin` completes relative names until another one is stated; without it the first SOA record's owner does.
    pub fn new(origin: Option<Vec<u8>>, read_data: &'a mut ReadData<'a>) -> Self {
        Reader {
            read_data,
            origin,
            owner: Vec::new(),
            default_s: None,
            last_s: None,
            minimum_s: None,
            rdata: Vec::new(),
            tokens: Vec::new(),
        }
    }

    /// Reads the entry at the start of `text`, which is ASCII, and returns how long it is; None for what is not understood.
    ///
    /// Without `is_all`, more text follows; an entry that does not end within `text` is then 0 octets long.
    pub fn entry(&mut self, text: &[u8], is_all: bool, sink: &mut dyn FnMut(Record<'_>)) -> Option<usize> {
        let length = match self.split(text) {
            Split::Plain(end) if end == text.len() && !is_all => return Some(0),
            Split::Plain(end) => end,
            Split::Odd => match entry_end(text)? {
                end if end == text.len() && !is_all => return Some(0),
                end => end,
            },
        };
        let Some(first) = self.tokens.first().copied() else {
            return self.tokens_end_plainly(text, length).then(|| after_line_end(text, length));
        };
        if first.quoted {
            return None;
        }
        if text[first.start] == b'$' {
            self.directive(text, first, length)?;
        } else {
            self.record(text, length, sink)?;
        }
        Some(after_line_end(text, length))
    }

    /// Says whether a line without tokens is an empty one, and not one that begins with something odd.
    fn tokens_end_plainly(&self, text: &[u8], end: usize) -> bool {
        let blank = text[..end].iter().position(|octet| !matches!(octet, b' ' | b'\t'));
        blank.is_none_or(|at| text[at] == b';')
    }

    /// Splits the first line into tokens.
    fn split(&mut self, text: &[u8]) -> Split {
        self.tokens.clear();
        let mut at = 0;
        loop {
            while matches!(text.get(at), Some(b' ' | b'\t')) {
                at += 1;
            }
            let start = at;
            while matches!(text.get(at), Some(octet) if is_plain(*octet)) {
                at += 1;
            }
            if at > start {
                self.tokens.push(Token { start, end: at, quoted: false });
            }
            match text.get(at) {
                None | Some(b'\n') => return Split::Plain(at),
                Some(b' ' | b'\t') => (),
                Some(b';') => {
                    let rest = text[at..].iter().position(|octet| *octet == b'\n' || is_control(*octet));
                    let end = rest.map_or(text.len(), |rest| at + rest);
                    return if text.get(end).is_none_or(|octet| *octet == b'\n') {
                        Split::Plain(end)
                    } else {
                        Split::Odd
                    };
                }
                Some(b'"') if at == start => {
                    let inside = text[at + 1..].iter().position(|octet| *octet == b'"' || !is_quotable(*octet));
                    let Some(end) = inside.map(|inside| at + 1 + inside).filter(|end| text[*end] == b'"') else {
                        return Split::Odd;
                    };
                    self.tokens.push(Token { start: at + 1, end, quoted: true });
                    at = end + 1;
                }
                Some(octet) => {
                    if at > start && !matches!(octet, b'(' | b')' | b'"') {
                        self.tokens.pop(); // it goes on
                    }
                    return Split::Odd;
                }
            }
        }
    }

    fn directive(&mut self, text: &[u8], first: Token, end: usize) -> Option<()> {
        let [_, value] = self.tokens[..] else { return None };
        if first.start != 0 || value.quoted || !is_whole(text, value.end, end) {
            return None;
        }
        let value = &text[value.start..value.end];
        match text[..first.end].to_ascii_uppercase().as_slice() {
            b"$ORIGIN" => {
                let mut name = Vec::new();
                self.put_name(value, &mut name)?;
                self.origin = Some(name);
            }
            b"$TTL" => self.default_s = Some(ttl(value)?),
            _ => return None,
        }
        Some(())
    }

    fn record(&mut self, text: &[u8], end: usize, sink: &mut dyn FnMut(Record<'_>)) -> Option<()> {
        let mut next = 0;
        if !is_owner_inherited(text) {
            let token = self.tokens[0];
            let mut owner = std::mem::take(&mut self.owner);
            owner.clear();
            self.put_name(&text[token.start..token.end], &mut owner)?;
            owner.make_ascii_lowercase();
            self.owner = owner;
            next = 1;
        }
        if self.owner.is_empty() {
            return None;
        }
        let (stated_s, rdtype) = self.ttl_class_type(text, &mut next)?;
        if rdtype == SOA && self.origin.is_none() {
            if is_owner_inherited(text) {
                return None;
            }
            let token = self.tokens[0]; // the owner as it is spelled
            let mut name = Vec::new();
            self.put_name(&text[token.start..token.end], &mut name)?;
            self.origin = Some(name);
        }
        self.rdata.clear();
        let data_at = self.tokens[next - 1].end;
        let is_whole = self.tokens.last().is_some_and(|last| is_whole(text, last.end + usize::from(last.quoted), end));
        if !is_whole || self.plain_data(text, rdtype, next).is_none() {
            let data = std::str::from_utf8(&text[data_at..end]).ok()?;
            self.rdata = (self.read_data)(rdtype, data, self.origin.as_deref().unwrap_or(&[0]))?;
        }
        if rdtype == SOA {
            let (_, minimum) = self.rdata.split_last_chunk::<4>()?;
            self.minimum_s = Some(u32::from_be_bytes(*minimum).min(TTL_MAX_S));
        }
        let ttl_s = stated_s.or(self.default_s).or(self.last_s).or(self.minimum_s)?;
        sink(Record { owner: &self.owner, rdtype, ttl_s, rdata: &self.rdata, source: 0 });
        Some(())
    }

    /// Reads `[TTL] [IN] type`, in either order of the first two.
    fn ttl_class_type(&mut self, text: &[u8], next: &mut usize) -> Option<(Option<u32>, u16)> {
        let (mut stated_s, mut has_class) = (None, false);
        loop {
            let token = self.tokens.get(*next).filter(|token| !token.quoted)?;
            let word = &text[token.start..token.end];
            *next += 1;
            if stated_s.is_none() && word[0].is_ascii_digit() {
                stated_s = Some(ttl(word)?);
                self.last_s = stated_s;
            } else if !has_class && word.eq_ignore_ascii_case(b"IN") {
                has_class = true;
            } else {
                let known = TYPES.iter().find(|(text, _)| word.eq_ignore_ascii_case(text.as_bytes()))?;
                return Some((stated_s, known.1));
            }
        }
    }

    /// Reads record data of plain tokens, from number `next` on, into `rdata`.
    fn plain_data(&mut self, text: &[u8], rdtype: u16, next: usize) -> Option<()> {
        let mut rdata = std::mem::take(&mut self.rdata);
        let done = self.put_data(text, rdtype, &self.tokens[next..], &mut rdata);
        self.rdata = rdata;
        done
    }

    fn put_data(&self, text: &[u8], rdtype: u16, tokens: &[Token], rdata: &mut Vec<u8>) -> Option<()> {
        let word = |token: &Token| &text[token.start..token.end];
        if rdtype != TXT && tokens.iter().any(|token| token.quoted) {
            return None;
        }
        match (rdtype, tokens) {
            (A, [one]) => rdata.extend_from_slice(&ipv4(word(one))?),
            (AAAA, [one]) => {
                let address = Ipv6Addr::from_str(std::str::from_utf8(word(one)).ok()?).ok()?;
                rdata.extend_from_slice(&address.octets());
            }
            (NS | CNAME | PTR, [one]) => self.put_name(word(one), rdata)?,
            (MX, [preference, name]) => {
                rdata.extend_from_slice(&number(word(preference))?.to_be_bytes());
                self.put_name(word(name), rdata)?;
            }
            (SRV, [numbers @ .., name]) if numbers.len() == 3 => {
                for each in numbers {
                    rdata.extend_from_slice(&number(word(each))?.to_be_bytes());
                }
                self.put_name(word(name), rdata)?;
            }
            (TXT, [_, ..]) => {
                for each in tokens {
                    let string = word(each);
                    if string.len() > LONGEST_STRING {
                        return None;
                    }
                    rdata.push(string.len() as u8);
                    rdata.extend_from_slice(string);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Writes a name in wire form, as it is spelled.
    fn put_name(&self, text: &[u8], octets: &mut Vec<u8>) -> Option<()> {
        let start = octets.len();
        match text {
            b"@" => octets.extend_from_slice(self.origin.as_ref()?),
            b"." => octets.push(0),
            _ => {
                let (labels, is_absolute) = match text.strip_suffix(b".") {
                    Some(labels) => (labels, true),
                    None => (text, false),
                };
                let mut length_at = octets.len();
                octets.push(0);
                for octet in labels {
                    if *octet == b'.' {
                        end_label(octets, length_at)?;
                        length_at = octets.len();
                        octets.push(0);
                    } else {
                        octets.push(*octet);
                    }
                }
                end_label(octets, length_at)?;
                if is_absolute {
                    octets.push(0);
                } else {
                    octets.extend_from_slice(self.origin.as_ref()?);
                }
            }
        }
        (octets.len() - start <= MOST_OCTETS).then_some(())
    }
}

/// Whether a line begins without an owner, so that it has the one of the line before.
fn is_owner_inherited(line: &[u8]) -> bool {
    matches!(line[0], b' ' | b'\t')
}

fn end_label(octets: &mut [u8], length_at: usize) -> Option<()> {
    let length = octets.len() - length_at - 1;
    octets[length_at] = length as u8;
    (1..=LONGEST_LABEL).contains(&length).then_some(())
}

#[cfg(test)]
mod tests {
    use super::Reader;

    fn read(text: &str) -> Option<Vec<String>> {
        let mut found = Vec::new();
        let mut read_data = |_: u16, data: &str, _: &[u8]| Some(format!("[{data}]....").into_bytes());
        let mut reader = Reader::new(None, &mut read_data);
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let length = reader.entry(rest, true, &mut |record| {
                let owner = String::from_utf8_lossy(record.owner).into_owned();
                found.push(format!("{owner:?} {} {} {:?}", record.rdtype, record.ttl_s, record.rdata));
            })?;
            rest = &rest[length..];
        }
        Some(found)
    }

    #[test]
    fn plain_records_inherit_owner_and_ttl() {
        let found =
            read("$ORIGIN A.\n$TTL 1h\nx IN A 1.2.3.4 ; one\n\n  300 A 5.6.7.8\n; none\n@ TXT \"a;b\" c\n").unwrap();
        assert_eq!(
            found,
            [
                "\"\\u{1}x\\u{1}a\\0\" 1 3600 [1, 2, 3, 4]",
                "\"\\u{1}x\\u{1}a\\0\" 1 300 [5, 6, 7, 8]",
                "\"\\u{1}a\\0\" 16 3600 [3, 97, 59, 98, 1, 99]"
            ]
        );
    }

    #[test]
    fn data_that_are_not_plain_are_handed_on_whole() {
        let found = read("a. 60 IN SOA a. b. (\n 1 2 ; (\n 3 4 5 )\nb. CAA 0 issue \"x\"\n").unwrap();
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("\"\\u{1}a\\0\" 6 60"));
    }

    #[test]
    fn what_is_not_understood_ends_the_reading() {
        for text in ["x A 1.2.3.4\n", "a. 60 CH A 1.2.3.4\n", "a. 60 FOO x\n", "$INCLUDE x\n", "a\\100. 60 A 1.2.3.4\n"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
