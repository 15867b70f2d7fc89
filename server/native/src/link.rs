//! The names of a zone whose answers draw on other names: zone cuts on glue, aliases on what they lead to, wildcards' parents on them.
//!
//! Owns the plain ones of these. What they say is what `server/zone/lookup.py` says, and tests hold both to the same answers; a name about
//! which there is any doubt (an alias of an alias of a wildcard, glue that a wildcard covers) is left to Python.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use crate::content::{own_set, Set};
use crate::dependents::Consulted;
use crate::encode::{self, Encoder};
use crate::lent::{plain_octets, Lent, Owned, MOST_DRAWN};
use crate::master::{CNAME, NS};
use crate::name::{Name, NameMap, NameSet, Seeded};
use crate::nodes::Nodes;
use crate::packed::{
    begin_entry, end_entry, mark_apart, put_answer, put_as_below, put_computed, put_node, Entry, Parts, Stored, Trim,
    AUTHORITATIVE, NXDOMAIN,
};

const A: u16 = 1;
const AAAA: u16 = 28;
const DS: u16 = 43;
/// The type of answers that stand for no type.
const NO_TYPE: u16 = 0;
/// A longer chain of aliases is Python's.
const MOST_ALIASES: usize = 16;
/// Referrals up to here are the same for the cut and for names below it: all pointers reach.
const SURELY_IN_REACH: usize = 8 * 1024;
pub const STAR: &[u8] = b"\x01*";

/// What is known of a zone when all its records have been read, and the plain names finished.
pub struct Surroundings<'a> {
    pub apex: &'a [u8],
    /// The names that are finished: their answers are their own sets.
    pub nodes: &'a Nodes,
    /// The sets of those that are finished here, and of those that zone cuts hide.
    pub kept: &'a Nodes,
    /// What is left to Python, by owner.
    pub others: &'a HashMap<&'a [u8], Vec<&'a Set>, Seeded>,
    pub children: &'a NameMap<u32>,
    pub wildcard_parents: &'a NameSet,
    /// Those whose wildcard is an alias or a zone cut.
    pub odd_parents: &'a NameSet,
}

impl<'a> Surroundings<'a> {
    /// What an alias finds at a name of the zone; None where Python has to see.
    fn end_at(&self, target: &Name) -> Option<End<'a>> {
        let name = target.suffix(0);
        if self.others.contains_key(name) || self.is_hidden(name) {
            return None;
        }
        if let Some(entry) = self.finished(target) {
            return (entry.answer(NS).is_none()).then_some(End::Sets(entry));
        }
        if self.children.contains_key(name) {
            return Some(End::Empty);
        }
        (!self.wildcard_parents.contains(self.encloser(name)?)).then_some(End::Missing)
    }

    /// Adds the address sets of a name, whatever a zone cut hides; None where a wildcard may cover it.
    fn addresses(&self, target: &Name, found: &mut Vec<Lent<'a>>) -> Option<()> {
        let name = target.suffix(0);
        if let Some(entry) = self.finished(target) {
            let types = [A, AAAA].into_iter().filter(|rdtype| entry.answer(*rdtype).is_some());
            found.extend(types.map(|rdtype| Lent::Addresses(entry, rdtype)));
        } else if let Some(sets) = self.others.get(name) {
            let of = |rdtype| sets.iter().filter(move |set| set.rdtype == rdtype);
            found.extend(of(A).chain(of(AAAA)).map(|set| Lent::Left(set)));
        } else if !self.children.contains_key(name) && self.wildcard_parents.contains(self.encloser(name)?) {
            return None;
        }
        Some(())
    }

    /// The sets of a name that are kept here, or its finished answers.
    fn finished(&self, name: &Name) -> Option<Entry<'a>> {
        self.kept.find(name, 0).or_else(|| self.nodes.find(name, 0))
    }

    /// The longest existing name above one of the zone.
    fn encloser<'b>(&self, name: &'b [u8]) -> Option<&'b [u8]> {
        let mut above = parent(name)?;
        loop {
            let exists = above == self.apex || self.children.contains_key(above) || self.others.contains_key(above);
            if exists || self.kept.named(above).is_some() || self.nodes.named(above).is_some() {
                return Some(above);
            }
            above = parent(above)?;
        }
    }

    /// Whether a zone cut stands above a name.
    pub fn is_hidden(&self, name: &[u8]) -> bool {
        let is_cut = |above: &[u8]| {
            let sets = self.others.get(above);
            self.kept.named(above).is_some_and(|entry| entry.answer(NS).is_some())
                || sets.is_some_and(|sets| sets.iter().any(|set| set.rdtype == NS))
        };
        let mut above = parent(name);
        while let Some(name) = above.filter(|name| *name != self.apex) {
            if is_cut(name) {
                return true;
            }
            above = parent(name);
        }
        false
    }
}

/// The addresses of a child zone's name servers: of those inside of it (RFC 9471), and of others.
#[derive(Default)]
struct Glue<'a> {
    required: Vec<Lent<'a>>,
    optional: Vec<Lent<'a>>,
}

impl Glue<'_> {
    /// What they take that is not the cut's own.
    fn drawn(&self, cut: &[u8]) -> usize {
        let sets = self.required.iter().chain(&self.optional);
        sets.filter(|set| set.owner() != cut).map(Lent::octets).sum()
    }
}

/// How a chain of aliases ends.
enum End<'a> {
    Outside,
    Missing,
    Empty,
    Sets(Entry<'a>),
}

/// Finishes names, one after the other.
pub struct Linker<'a> {
    pub zone: Surroundings<'a>,
    encoder: Encoder,
    trims: Vec<Trim>,
    target: Name,
    apex_labels: usize,
    /// What the answers of the name at hand hang on.
    pub consulted: Consulted,
}

impl<'a> Linker<'a> {
    pub fn new(zone: Surroundings<'a>) -> Self {
        let mut target = Name::new();
        target.read(zone.apex);
        let apex_labels = target.labels();
        let (encoder, consulted) = (Encoder::default(), Consulted::default());
        Linker { zone, encoder, trims: Vec::new(), target, apex_labels, consulted }
    }

    /// Finishes a name by the entry that keeps its sets, but for the entry's end; returns None when Python has to.
    pub fn name(&mut self, kept: &Entry<'a>, octets: &mut Vec<u8>) -> Option<()> {
        self.consulted.clear();
        let start = begin_entry(octets, kept.name);
        if kept.answer(NS).is_some() {
            self.cut(kept, octets, start)?;
        } else if kept.answer(CNAME).is_some() {
            self.alias(kept, octets, start)?;
        } else {
            self.put_cover(kept.name, octets, start)?;
            for (rdtype, _) in kept.answers() {
                self.encoder.begin(kept.name, true);
                let count = self.add(&Owned::kept(kept, rdtype), true);
                self.put(octets, rdtype, AUTHORITATIVE, [count, 0, 0], false);
            }
        }
        mark_apart(octets, start);
        Some(())
    }

    /// Finishes a name that exists for those below it alone.
    pub fn bare(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut octets = Vec::new();
        let start = begin_entry(&mut octets, name);
        self.put_cover(name, &mut octets, start)?;
        mark_apart(&mut octets, start);
        end_entry(&mut octets, start);
        Some(octets)
    }

    /// Writes what covers missing names below, where a wildcard does (RFC 4592).
    fn put_cover(&self, name: &[u8], octets: &mut Vec<u8>, start: usize) -> Option<()> {
        if !self.zone.wildcard_parents.contains(name) {
            return Some(());
        }
        if self.zone.odd_parents.contains(name) {
            return None;
        }
        let mut read = Name::new();
        let source = [STAR, name].concat();
        read.read(&source)?;
        let no_data = |octets: &mut Vec<u8>| put_denial(octets, NO_TYPE);
        put_node(octets, start, no_data, no_data, &source, read.hash(0));
        Some(())
    }

    /// Finishes a zone cut: a referral (RFC 1034 section 4.3.2 step 3b), and the answer to DS, which is ours to give.
    fn cut(&mut self, kept: &Entry<'a>, octets: &mut Vec<u8>, start: usize) -> Option<()> {
        let owner = kept.name;
        let servers = Owned::kept(kept, NS);
        let mut found = Glue::default();
        for target in &servers.rdatas {
            if self.is_ours(target)? {
                let sets =
                    if is_within(self.target.suffix(0), owner) { &mut found.required } else { &mut found.optional };
                self.zone.addresses(&self.target, sets)?;
            }
        }
        if found.drawn(owner) > MOST_DRAWN {
            let computed = |octets: &mut Vec<u8>| put_computed(octets, NO_TYPE);
            put_node(octets, start, computed, computed, &[], 0);
        } else {
            let counts = self.referral(&servers, &found, false);
            if self.encoder.body.len() <= SURELY_IN_REACH {
                put_node(octets, start, put_as_below, |octets| self.put_referral(octets, counts), &[], 0);
            } else {
                let below = Stored::new(|octets| self.put_referral(octets, counts));
                let counts = self.referral(&servers, &found, true);
                put_node(octets, start, |octets| self.put_referral(octets, counts), |octets| below.put(octets), &[], 0);
            }
        }
        if kept.answer(DS).is_none() {
            put_denial(octets, DS);
            return Some(());
        }
        self.encoder.begin(owner, true);
        let count = self.add(&Owned::kept(kept, DS), true);
        self.put(octets, DS, AUTHORITATIVE, [count, 0, 0], false);
        Some(())
    }

    /// Reads the target of a record and says whether it lies in the zone; if so, the answers of the name at hand hang on it.
    fn is_ours(&mut self, target: &[u8]) -> Option<bool> {
        self.target.read(target)?;
        let Some(below) = self.target.labels().checked_sub(self.apex_labels) else { return Some(false) };
        let is_ours = self.target.suffix(below) == self.zone.apex;
        if is_ours {
            self.consulted.add(&self.target, below);
        }
        Some(is_ours)
    }

    /// Encodes a referral, required glue first, and returns its counts; optional glue may be left out where space is short.
    fn referral(&mut self, servers: &Owned<'_>, glue: &Glue<'_>, exact: bool) -> [u16; 3] {
        let cut = servers.owner;
        self.encoder.begin(cut, exact);
        self.trims.clear();
        let authorities = self.add(servers, exact);
        let mut additionals = 0;
        for set in &glue.required {
            additionals += self.add(&set.owned(), exact && set.owner() == cut);
        }
        for set in &glue.optional {
            if !self.encoder.may_fit() {
                break;
            }
            self.trims.push(Trim { size: self.encoder.body.len(), counts: [0, authorities, additionals] });
            additionals += self.add(&set.owned(), false);
        }
        self.trims.reverse();
        [0, authorities, additionals]
    }

    fn put_referral(&self, octets: &mut Vec<u8>, counts: [u16; 3]) {
        put_answer(octets, NO_TYPE, &self.encoder.parts(0, counts, false, &self.trims));
    }

    /// Follows an alias as far as the zone goes and finishes its answers, for each type that the end of the chain holds.
    fn alias(&mut self, kept: &Entry<'a>, octets: &mut Vec<u8>, start: usize) -> Option<()> {
        let (chain, end) = self.chain(kept)?;
        let drawn = chain[1..].iter().map(Owned::octets).sum();
        let (flags, denies) = match end {
            End::Outside => (AUTHORITATIVE, false),
            End::Missing => (AUTHORITATIVE | NXDOMAIN, true),
            End::Empty | End::Sets(_) => (AUTHORITATIVE, true),
        };
        let counts = [self.begin_chain(&chain), u16::from(denies), 0];
        let other = |octets: &mut Vec<u8>| match drawn {
            0..=MOST_DRAWN => put_answer(octets, NO_TYPE, &self.encoder.parts(flags, counts, denies, &[])),
            _ => put_computed(octets, NO_TYPE),
        };
        put_node(octets, start, other, |octets| put_no_name(octets, NO_TYPE), &[], 0);
        self.begin_chain(&chain[..1]);
        self.put(octets, CNAME, AUTHORITATIVE, [1, 0, 0], false);
        if let End::Sets(last) = end {
            self.put_ends(&chain, drawn, &last, octets);
        }
        Some(())
    }

    /// Writes an alias's answers to the types that the last name of its chain holds, the short ones first, as long as there is room.
    fn put_ends(&mut self, chain: &[Owned<'_>], drawn_by_chain: usize, last: &Entry<'_>, octets: &mut Vec<u8>) {
        let size = |(rdtype, _)| (drawn_by_chain + plain_octets(last, rdtype), rdtype);
        let mut sizes: Vec<(usize, u16)> = last.answers().map(size).collect();
        sizes.sort_unstable();
        let mut drawn = 0;
        for (size, rdtype) in sizes {
            drawn += size;
            if drawn > MOST_DRAWN {
                put_computed(octets, rdtype);
                continue;
            }
            let (_, ttl_s, rdatas) = own_set(last, rdtype);
            let rdatas = rdatas.iter().map(Vec::as_slice).collect();
            let set = Owned { owner: last.name, rdtype, ttl_s, rdatas };
            let count = self.begin_chain(chain) + self.add(&set, false);
            self.put(octets, rdtype, AUTHORITATIVE, [count, 0, 0], false);
        }
    }

    /// Follows an alias; notes the names of the zone that it leads through. None where Python has to.
    fn chain(&mut self, kept: &Entry<'a>) -> Option<(Vec<Owned<'a>>, End<'a>)> {
        let mut chain = vec![Owned::kept(kept, CNAME)];
        loop {
            if !self.is_ours(chain.last()?.rdatas.first()?)? {
                return Some((chain, End::Outside));
            }
            if chain.len() == MOST_ALIASES || chain.iter().any(|alias| alias.owner == self.target.suffix(0)) {
                return None;
            }
            match self.zone.end_at(&self.target)? {
                End::Sets(entry) if entry.answer(CNAME).is_some() => chain.push(Owned::kept(&entry, CNAME)),
                end => return Some((chain, end)),
            }
        }
    }

    /// Begins an answer with aliases, the first of which the question name owns; returns their number.
    fn begin_chain(&mut self, chain: &[Owned<'_>]) -> u16 {
        self.encoder.begin(chain[0].owner, true);
        chain.iter().enumerate().map(|(number, alias)| self.add(alias, number == 0)).sum()
    }

    fn add(&mut self, set: &Owned<'_>, is_asked: bool) -> u16 {
        let Owned { owner, rdtype, ttl_s, ref rdatas } = *set;
        self.encoder.add(&encode::Set { owner, rdtype, ttl_s, rdatas }, is_asked)
    }

    fn put(&self, octets: &mut Vec<u8>, rdtype: u16, flags: u16, counts: [u16; 3], soa: bool) {
        put_answer(octets, rdtype, &self.encoder.parts(flags, counts, soa, &[]));
    }
}

fn put_denial(octets: &mut Vec<u8>, rdtype: u16) {
    let parts = Parts { flags: AUTHORITATIVE, counts: [0, 1, 0], soa: true, body: &[], moving: &[], trims: &[] };
    put_answer(octets, rdtype, &parts);
}

fn put_no_name(octets: &mut Vec<u8>, rdtype: u16) {
    let flags = AUTHORITATIVE | NXDOMAIN;
    put_answer(octets, rdtype, &Parts { flags, counts: [0, 1, 0], soa: true, body: &[], moving: &[], trims: &[] });
}

/// The name above, None above the root.
pub fn parent(name: &[u8]) -> Option<&[u8]> {
    match usize::from(*name.first()?) {
        0 => None,
        length => name.get(length + 1..),
    }
}

/// Whether a name is another one or lies below it.
fn is_within(name: &[u8], other: &[u8]) -> bool {
    let mut name = Some(name);
    while let Some(found) = name.filter(|name| name.len() >= other.len()) {
        if found == other {
            return true;
        }
        name = parent(found);
    }
    false
}
