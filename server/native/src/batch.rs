//! Datagrams received and sent many at a time: the one module that makes system calls of its own.
//!
//! Owns the buffers and what the kernel is told about them. Never looks into a datagram.
//!
//! The pointers in a `Batch` lead to its own boxed arrays, which are never moved or made longer; every length that the kernel reports
//! is checked against the array it counts. That is all that the `unsafe` blocks rest on.
#![allow(unsafe_code)]
#![allow(dead_code)] // the load generator of bench/ includes this file, and each of the two uses another part

use std::io;
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// Datagrams taken at once.
pub const SIZE: usize = 64;

/// Octets for what the kernel tells about a datagram: the largest is one header and an IPv6 packet information.
const CONTROL_WORDS: usize = 8;
/// What stands between buffers, so that their beginnings do not compete for the same cache lines.
const GAP: usize = 192;

pub struct Batch {
    octets: Box<[u8]>,
    capacity: usize,
    peers: Box<[libc::sockaddr_storage]>,
    controls: Box<[[u64; CONTROL_WORDS]]>,
    pieces: Box<[libc::iovec]>,
    received: Box<[libc::mmsghdr]>,
    to_send: Box<[libc::mmsghdr]>,
    sending: usize,
    /// Headers that have to be made ready again before the kernel gets them.
    used: usize,
    told: bool,
}

impl Batch {
    /// `capacity` is that of each datagram; with `told`, the kernel tells which address each came to.
    pub fn new(capacity: usize, told: bool) -> Self {
        // SAFETY: all of these are plain C structures, for which zero octets are a value.
        let (peer, piece, header) = unsafe { (mem::zeroed(), mem::zeroed(), mem::zeroed()) };
        let mut batch = Batch {
            octets: vec![0; SIZE * (capacity + GAP)].into_boxed_slice(),
            capacity,
            peers: vec![peer; SIZE].into_boxed_slice(),
            controls: vec![[0; CONTROL_WORDS]; SIZE].into_boxed_slice(),
            pieces: vec![piece; SIZE].into_boxed_slice(),
            received: vec![header; SIZE].into_boxed_slice(),
            to_send: vec![header; SIZE].into_boxed_slice(),
            sending: 0,
            used: SIZE,
            told,
        };
        for place in 0..SIZE {
            batch.pieces[place].iov_base = batch.octets[place * (capacity + GAP)..].as_mut_ptr().cast();
            let header = &mut batch.received[place].msg_hdr;
            header.msg_name = ptr::from_mut(&mut batch.peers[place]).cast();
            header.msg_iov = ptr::from_mut(&mut batch.pieces[place]);
            header.msg_iovlen = 1;
        }
        batch
    }

    /// Takes what has arrived, up to SIZE datagrams, without waiting.
    pub fn receive(&mut self, socket: RawFd) -> io::Result<usize> {
        self.sending = 0;
        for place in 0..self.used {
            self.pieces[place].iov_len = self.capacity;
            let header = &mut self.received[place].msg_hdr;
            header.msg_namelen = mem::size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            if self.told {
                header.msg_control = self.controls[place].as_mut_ptr().cast();
                header.msg_controllen = mem::size_of::<[u64; CONTROL_WORDS]>();
            }
        }
        // SAFETY: every header points to arrays of this batch of the lengths that it states.
        let taken = unsafe {
            libc::recvmmsg(
                socket,
                self.received.as_mut_ptr(),
                SIZE as libc::c_uint,
                libc::MSG_DONTWAIT,
                ptr::null_mut(),
            )
        };
        self.used = usize::try_from(taken).unwrap_or(0).min(SIZE);
        if taken < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(self.used)
    }

    /// The buffer of a datagram that was received, and how much of it the datagram fills.
    pub fn datagram(&mut self, place: usize) -> (&mut [u8], usize) {
        let length = (self.received[place].msg_len as usize).min(self.capacity);
        let start = place * (self.capacity + GAP);
        (&mut self.octets[start..start + self.capacity], length)
    }

    /// Who sent a datagram; None for an address that is of no family known here.
    pub fn peer(&self, place: usize) -> Option<SocketAddr> {
        let peer = &self.peers[place];
        match libc::c_int::from(peer.ss_family) {
            libc::AF_INET => {
                // SAFETY: a storage is as large and as aligned as any address, and the family says which one it holds.
                let found = unsafe { &*ptr::from_ref(peer).cast::<libc::sockaddr_in>() };
                let address = Ipv4Addr::from(u32::from_be(found.sin_addr.s_addr));
                Some(SocketAddr::V4(SocketAddrV4::new(address, u16::from_be(found.sin_port))))
            }
            libc::AF_INET6 => {
                // SAFETY: as above.
                let found = unsafe { &*ptr::from_ref(peer).cast::<libc::sockaddr_in6>() };
                let address = Ipv6Addr::from(found.sin6_addr.s6_addr);
                let port = u16::from_be(found.sin6_port);
                Some(SocketAddr::V6(SocketAddrV6::new(address, port, found.sin6_flowinfo, found.sin6_scope_id)))
            }
            _ => None,
        }
    }

    /// What the kernel told about a datagram: level, kind and content; None where it told nothing.
    pub fn told(&self, place: usize) -> Option<(i32, i32, Vec<u8>)> {
        let header = &self.received[place].msg_hdr;
        let octets: Vec<u8> = self.controls[place].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let head = mem::size_of::<libc::cmsghdr>();
        if !self.told || header.msg_controllen < head {
            return None;
        }
        let size = usize::from_ne_bytes(octets[..8].try_into().ok()?);
        let level = i32::from_ne_bytes(octets[8..12].try_into().ok()?);
        let kind = i32::from_ne_bytes(octets[12..16].try_into().ok()?);
        Some((level, kind, octets.get(head..size)?.to_vec()))
    }

    /// Has the first `length` octets of a buffer sent back to where its datagram came from, from the address that it came to.
    pub fn reply(&mut self, place: usize, length: usize) {
        self.pieces[place].iov_len = length.min(self.capacity);
        self.leave_the_way_to_routing(place);
        self.to_send[self.sending] = self.received[place];
        self.to_send[self.sending].msg_hdr.msg_flags = 0;
        self.sending += 1;
    }

    /// Takes the interface, by which a datagram came, out of what is told about it (ip(7), ipv6(7)).
    fn leave_the_way_to_routing(&mut self, place: usize) {
        let words = &mut self.controls[place];
        if !self.told || self.received[place].msg_hdr.msg_controllen == 0 {
            return;
        }
        let (level, kind) = (words[1] as u32 as i32, (words[1] >> 32) as i32);
        if cfg!(target_endian = "big") {
            self.received[place].msg_hdr.msg_controllen = 0;
        } else if (level, kind) == (libc::IPPROTO_IP, libc::IP_PKTINFO) {
            words[2] &= !0xFFFF_FFFF; // the interface is first, the source of the reply second
            words[3] = 0;
        } else if (level, kind) == (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) {
            words[4] = 0; // the interface follows the address
        }
    }

    /// Begins a batch of datagrams to send on a connected socket.
    pub fn begin(&mut self) {
        self.sending = 0;
    }

    /// Has a query sent with an ID of its own; those of one batch come in order, from place 0.
    pub fn put(&mut self, place: usize, query: &[u8], id: u16) {
        let (buffer, _) = self.datagram(place);
        buffer[..query.len()].copy_from_slice(query);
        buffer[..2].copy_from_slice(&id.to_be_bytes());
        self.pieces[place].iov_len = query.len();
        let header = &mut self.to_send[place].msg_hdr;
        header.msg_iov = ptr::from_mut(&mut self.pieces[place]);
        header.msg_iovlen = 1;
        self.sending = place + 1;
    }

    /// Sends the replies; returns how many could not be sent, for which clients ask again.
    pub fn send(&mut self, socket: RawFd) -> usize {
        let (mut sent, mut failed) = (0, 0);
        while sent < self.sending {
            let rest = &mut self.to_send[sent..self.sending];
            // SAFETY: as in `receive`; the headers are copies of those that the kernel filled in.
            let count =
                unsafe { libc::sendmmsg(socket, rest.as_mut_ptr(), rest.len() as libc::c_uint, libc::MSG_DONTWAIT) };
            match usize::try_from(count) {
                Ok(count) if count > 0 => sent += count,
                _ => {
                    sent += 1;
                    failed += 1;
                }
            }
        }
        failed
    }
}

/// Asks for room for so many octets of datagrams that wait; the system may grant less.
pub fn receive_buffer(socket: RawFd, octets: i32) {
    let size = mem::size_of::<i32>() as libc::socklen_t;
    // SAFETY: the option is as long as stated.
    unsafe {
        libc::setsockopt(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, ptr::from_ref(&octets).cast(), size);
    }
}

/// Waits until there is something to read at the socket or a signal; says whether there may be.
pub fn wait(socket: RawFd, signal: &Signal, timeout_ms: i32) {
    let each = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut fds = [each(socket), each(signal.0.as_raw_fd())];
    // SAFETY: the array is as long as stated. A failure means no more than looking again.
    unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout_ms) };
}

/// A number in the kernel that wakes up whoever waits for it (eventfd(2)).
pub struct Signal(OwnedFd);

impl Signal {
    pub fn new() -> io::Result<Self> {
        // SAFETY: no memory is passed; the descriptor is new and nobody else's.
        unsafe {
            let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Signal(OwnedFd::from_raw_fd(fd)))
        }
    }

    pub fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    pub fn raise(&self) {
        let one = 1u64;
        // SAFETY: eight octets are read from a local variable. It fails only when the number is as high as it can be.
        unsafe { libc::write(self.0.as_raw_fd(), ptr::from_ref(&one).cast(), mem::size_of::<u64>()) };
    }

    pub fn clear(&self) {
        let mut count = 0u64;
        // SAFETY: eight octets are written to a local variable. It fails only when nothing was raised.
        unsafe { libc::read(self.0.as_raw_fd(), ptr::from_mut(&mut count).cast(), mem::size_of::<u64>()) };
    }
}
