//! One name of a zone in as few octets as it needs: its node and its finished answers, one behind another.
//!
//! Owns how they are written and read. What they say has been decided before.
//!
//! An entry is its length (4 octets), the length of its name (1), its marks (1), the name; then, for a node of its own,
//! what is said to other types, what covers the names below, and the wildcard that does; then the answers by type. An answer is a
//! type (2), a form (1), the length of what follows (3), and that. Numbers are little-endian.
#![forbid(unsafe_code)]

pub const AUTHORITATIVE: u16 = 0x0400;
pub const NXDOMAIN: u16 = 3;
const ENTRY_HEAD: usize = 6;
const ANSWER_HEAD: usize = 6;
const FULL_HEAD: usize = 13;
const TRIM: usize = 10;

/// Records of one set that the question name owns, its count first.
const PLAIN: u8 = 0;
/// The two answers that most of a zone shares.
const NO_DATA: u8 = 1;
const NO_NAME: u8 = 2;
/// Left to Python.
const COMPUTED: u8 = 3;
/// Everything stated.
const FULL: u8 = 4;
/// As what covers the names below: the same referral.
const AS_BELOW: u8 = 5;

/// Marks of an entry: it has a node of its own; its name's sets are kept apart from its answers; a zone cut hides it.
const OWN_NODE: u8 = 1;
const APART: u8 = 2;
const HIDDEN: u8 = 4;

/// A shorter form of an answer: its first `size` octets.
#[derive(Clone, Copy)]
pub struct Trim {
    pub size: usize,
    pub counts: [u16; 3],
}

/// Everything of a reply between the question and OPT, as it stands in an entry.
#[derive(Clone, Copy, Default)]
pub struct Answer<'a> {
    /// The flags beside QR and RD, the RCODE included.
    pub flags: u16,
    /// Records in the answer, authority and additional section, OPT not counted.
    pub counts: [u16; 3],
    /// Whether the zone's negative SOA record follows the body; `counts` include it.
    pub soa: bool,
    /// Whether the answer depends on the question and has to be worked out elsewhere.
    pub computed: bool,
    pub body: &'a [u8],
    moving: &'a [u8],
    trims: &'a [u8],
}

impl<'a> Answer<'a> {
    /// Where in the body the offsets stand that move with the length of the question name.
    pub fn moving(&self) -> impl Iterator<Item = usize> + 'a {
        self.moving.chunks_exact(2).map(|place| usize::from(u16_at(place, 0)))
    }

    /// The shorter forms allowed where space is short, longest first.
    pub fn trims(&self) -> impl Iterator<Item = Trim> + 'a {
        self.trims.chunks_exact(TRIM).map(|trim| Trim {
            size: u32_at(trim, 0) as usize,
            counts: [u16_at(trim, 4), u16_at(trim, 6), u16_at(trim, 8)],
        })
    }

    /// Reads the answer at the start of `octets`; returns its type and what follows it.
    fn read(octets: &'a [u8]) -> (u16, Self, &'a [u8]) {
        let (content, rest) = octets[ANSWER_HEAD..].split_at(size_of_answer(octets));
        (u16_at(octets, 0), Answer::of(octets[2], content), rest)
    }

    fn of(form: u8, content: &'a [u8]) -> Self {
        let no_data = Answer { flags: AUTHORITATIVE, counts: [0, 1, 0], soa: true, ..Answer::default() };
        match form {
            PLAIN => Answer {
                flags: AUTHORITATIVE,
                counts: [u16_at(content, 0), 0, 0],
                body: &content[2..],
                ..Answer::default()
            },
            NO_DATA => no_data,
            NO_NAME => Answer { flags: AUTHORITATIVE | NXDOMAIN, ..no_data },
            COMPUTED | AS_BELOW => Answer { computed: true, ..Answer::default() },
            _ => {
                let (head, rest) = content.split_at(FULL_HEAD);
                let (trims, rest) = rest.split_at(usize::from(u16_at(head, 9)) * TRIM);
                let (moving, body) = rest.split_at(usize::from(u16_at(head, 11)) * 2);
                Answer {
                    flags: u16_at(head, 0),
                    counts: [u16_at(head, 2), u16_at(head, 4), u16_at(head, 6)],
                    soa: head[8] != 0,
                    computed: false,
                    body,
                    moving,
                    trims,
                }
            }
        }
    }
}

/// An answer of its own, for what stands in no entry.
pub struct Stored(Vec<u8>);

impl Stored {
    pub fn new(write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut octets = Vec::new();
        write(&mut octets);
        Stored(octets)
    }

    pub fn answer(&self) -> Answer<'_> {
        Answer::read(&self.0).1
    }

    pub fn put(&self, octets: &mut Vec<u8>) {
        octets.extend_from_slice(&self.0);
    }
}

/// What holds for missing names below an existing one.
pub struct Cover<'a> {
    /// The wildcard owner whose answers they get, empty without one, and its hash.
    pub source: &'a [u8],
    pub hash: u64,
    pub other: Answer<'a>,
}

/// An existing name.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    pub name: &'a [u8],
    marks: u8,
    content: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Reads the entry at the start of `octets`.
    pub fn read(octets: &'a [u8]) -> Self {
        let content = &octets[ENTRY_HEAD..u32_at(octets, 0) as usize];
        let (name, content) = content.split_at(usize::from(octets[4]));
        Entry { name, marks: octets[5], content }
    }

    /// Whether its answers are not, or not only, the sets of its name.
    pub fn is_apart(&self) -> bool {
        self.marks & APART != 0
    }

    /// Whether a zone cut hides it.
    pub fn is_hidden(&self) -> bool {
        self.marks & HIDDEN != 0
    }

    /// Whether it says to other types what it says to names below.
    pub fn says_as_below(&self) -> bool {
        self.has_node() && self.content[2] == AS_BELOW
    }

    fn has_node(&self) -> bool {
        self.marks & OWN_NODE != 0
    }

    /// The answer to a type, if the name has one.
    pub fn answer(&self, qtype: u16) -> Option<Answer<'a>> {
        let mut rest = self.content;
        if self.has_node() {
            rest = self.node().2;
        }
        while !rest.is_empty() {
            let size = size_of_answer(rest);
            if u16_at(rest, 0) == qtype {
                return Some(Answer::of(rest[2], &rest[ANSWER_HEAD..ANSWER_HEAD + size]));
            }
            rest = &rest[ANSWER_HEAD + size..];
        }
        None
    }

    /// All answers, with their types.
    pub fn answers(&self) -> impl Iterator<Item = (u16, Answer<'a>)> {
        let mut rest = if self.has_node() { self.node().2 } else { self.content };
        std::iter::from_fn(move || {
            (!rest.is_empty()).then(|| {
                let (qtype, answer, behind) = Answer::read(rest);
                rest = behind;
                (qtype, answer)
            })
        })
    }

    /// What is said to types that the name lacks.
    pub fn other(&self) -> Answer<'a> {
        if self.has_node() {
            self.node().0
        } else {
            Answer::of(NO_DATA, &[])
        }
    }

    /// What covers missing names below.
    pub fn below(&self) -> Cover<'a> {
        if self.has_node() {
            self.node().1
        } else {
            Cover { source: &[], hash: 0, other: Answer::of(NO_NAME, &[]) }
        }
    }

    fn node(&self) -> (Answer<'a>, Cover<'a>, &'a [u8]) {
        let (_, other, rest) = Answer::read(self.content);
        let (_, below, rest) = Answer::read(rest);
        let other = if self.content[2] == AS_BELOW { below } else { other };
        let hash = u64::from_le_bytes(rest[..8].try_into().expect("eight octets"));
        let (source, rest) = rest[9..].split_at(usize::from(rest[8]));
        (other, Cover { source, hash, other: below }, rest)
    }
}

/// Begins an entry; `end_entry` ends it. Without `put_node`, the node is that of nearly all names: no data for types that it lacks,
/// and nothing below.
pub fn begin_entry(octets: &mut Vec<u8>, name: &[u8]) -> usize {
    let start = octets.len();
    octets.extend_from_slice(&[0, 0, 0, 0, name.len() as u8, 0]);
    octets.extend_from_slice(name);
    start
}

pub fn end_entry(octets: &mut [u8], start: usize) {
    let size = (octets.len() - start) as u32;
    octets[start..start + 4].copy_from_slice(&size.to_le_bytes());
}

/// Writes a node, before all answers: what it says to other types, and to names below.
pub fn put_node(
    octets: &mut Vec<u8>,
    start: usize,
    other: impl FnOnce(&mut Vec<u8>),
    below: impl FnOnce(&mut Vec<u8>),
    source: &[u8],
    hash: u64,
) {
    let other_at = octets.len();
    other(octets);
    let below_at = octets.len();
    below(octets);
    if octets[other_at + 2] == NO_DATA && octets[below_at + 2] == NO_NAME && source.is_empty() {
        octets.truncate(other_at);
        return;
    }
    octets[start + 5] |= OWN_NODE;
    octets.extend_from_slice(&hash.to_le_bytes());
    octets.push(source.len() as u8);
    octets.extend_from_slice(source);
}

/// Writes an answer that consists of the records of one set, finished already.
pub fn put_plain(octets: &mut Vec<u8>, qtype: u16, count: u16, body: &[u8]) {
    begin_plain(octets, qtype, count, body.len());
    octets.extend_from_slice(body);
}

/// Begins such an answer, whose body is written next and takes `size` octets.
pub fn begin_plain(octets: &mut Vec<u8>, qtype: u16, count: u16, size: usize) {
    put_head(octets, qtype, PLAIN, 2 + size);
    octets.extend_from_slice(&count.to_le_bytes());
}

/// Marks an entry whose name's sets are kept apart from its answers.
pub fn mark_apart(octets: &mut [u8], start: usize) {
    octets[start + 5] |= APART;
}

/// Marks an entry that a zone cut hides.
pub fn mark_hidden(octets: &mut [u8], start: usize) {
    octets[start + 5] |= HIDDEN;
}

/// Writes what is said to other types as what covers the names below.
pub fn put_as_below(octets: &mut Vec<u8>) {
    put_head(octets, 0, AS_BELOW, 0);
}

pub fn put_computed(octets: &mut Vec<u8>, qtype: u16) {
    put_head(octets, qtype, COMPUTED, 0);
}

/// What `put_answer` writes.
pub struct Parts<'a> {
    pub flags: u16,
    pub counts: [u16; 3],
    pub soa: bool,
    pub body: &'a [u8],
    pub moving: &'a [u16],
    pub trims: &'a [Trim],
}

/// Writes any answer, in the shortest form that there is for it.
pub fn put_answer(octets: &mut Vec<u8>, qtype: u16, parts: &Parts<'_>) {
    let is_simple = parts.moving.is_empty() && parts.trims.is_empty();
    let is_denial = is_simple && parts.soa && parts.body.is_empty() && parts.counts == [0, 1, 0];
    match (is_denial, parts.flags) {
        (true, AUTHORITATIVE) => return put_head(octets, qtype, NO_DATA, 0),
        (true, flags) if flags == AUTHORITATIVE | NXDOMAIN => return put_head(octets, qtype, NO_NAME, 0),
        _ => (),
    }
    if is_simple && !parts.soa && parts.flags == AUTHORITATIVE && parts.counts[1..] == [0, 0] {
        return put_plain(octets, qtype, parts.counts[0], parts.body);
    }
    let size = FULL_HEAD + parts.trims.len() * TRIM + parts.moving.len() * 2 + parts.body.len();
    put_head(octets, qtype, FULL, size);
    let mut put = |number: u16| octets.extend_from_slice(&number.to_le_bytes());
    put(parts.flags);
    parts.counts.iter().for_each(|count| put(*count));
    octets.push(u8::from(parts.soa));
    octets.extend_from_slice(&(parts.trims.len() as u16).to_le_bytes());
    octets.extend_from_slice(&(parts.moving.len() as u16).to_le_bytes());
    for trim in parts.trims {
        octets.extend_from_slice(&(trim.size as u32).to_le_bytes());
        trim.counts.iter().for_each(|count| octets.extend_from_slice(&count.to_le_bytes()));
    }
    parts.moving.iter().for_each(|place| octets.extend_from_slice(&place.to_le_bytes()));
    octets.extend_from_slice(parts.body);
}

fn put_head(octets: &mut Vec<u8>, qtype: u16, form: u8, size: usize) {
    let size = (size as u32).to_le_bytes();
    octets.extend_from_slice(&qtype.to_le_bytes());
    octets.extend_from_slice(&[form, size[0], size[1], size[2]]);
}

fn size_of_answer(octets: &[u8]) -> usize {
    (u32_at(octets, 2) >> 8) as usize
}

fn u16_at(octets: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([octets[at], octets[at + 1]])
}

pub fn u32_at(octets: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(octets[at..at + 4].try_into().expect("four octets"))
}
