//! Records as messages hold them: where their data have names that may be compressed, and what is written behind an owner.
//!
//! Owns that layout. How a name is compressed is its writer's affair.
#![forbid(unsafe_code)]

/// Where names stand in data that may be compressed (RFC 3597 section 4): octets before the first, and how many follow.
pub fn names_after(rdtype: u16) -> Option<(usize, usize)> {
    match rdtype {
        2..=5 | 7..=9 | 12 => Some((0, 1)),
        6 | 14 => Some((0, 2)),
        15 => Some((2, 1)),
        _ => None,
    }
}

/// Writes records into a message, whose names it compresses in its own way.
pub trait RecordWriter {
    /// The message as far as it is written.
    fn body(&mut self) -> &mut Vec<u8>;

    /// Writes an uncompressed name.
    fn put_name(&mut self, name: &[u8]);

    /// Writes what follows the owner of a record of class IN; `rdata` is uncompressed.
    fn put_behind_owner(&mut self, rdtype: u16, ttl_s: u32, rdata: &[u8]) {
        let body = self.body();
        body.extend_from_slice(&rdtype.to_be_bytes());
        body.extend_from_slice(&[0, 1]);
        body.extend_from_slice(&ttl_s.to_be_bytes());
        body.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
        match names_after(rdtype) {
            Some((before, names)) => self.put_data(rdata, before, names),
            None => body.extend_from_slice(rdata),
        }
    }

    /// Writes data that hold names, and sets their length right.
    fn put_data(&mut self, rdata: &[u8], before: usize, names: usize) {
        let data_at = self.body().len();
        let (first, mut rest) = rdata.split_at(before);
        self.body().extend_from_slice(first);
        for _ in 0..names {
            let (name, behind) = rest.split_at(name_length(rest));
            self.put_name(name);
            rest = behind;
        }
        let body = self.body();
        body.extend_from_slice(rest);
        let size = (body.len() - data_at) as u16;
        body[data_at - 2..data_at].copy_from_slice(&size.to_be_bytes());
    }
}

/// The length of the name at the start of `octets`, the root label included.
fn name_length(octets: &[u8]) -> usize {
    let mut end = 0;
    while octets[end] > 0 {
        end += usize::from(octets[end]) + 1;
    }
    end + 1
}
