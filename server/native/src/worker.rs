//! One thread that answers the datagrams of one socket.
//!
//! Owns the loop: take what has arrived, answer it from one root, send, and leave to Python what is not plain. Never takes the GIL.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use crate::batch::{self, Batch, Signal};
use crate::cookie::Asker;
use crate::limiter::{Limiter, Verdict};
use crate::matcher::{Made, Matcher, CAPACITY};
use crate::shared::{held, Shared, View};
use crate::table::Root;

pub const DURATION_BUCKETS: usize = 24;

/// Queries that wait for Python; those past it are shed, since an answer that comes late helps nobody.
const MOST_WAITING: usize = 1024;
/// From so many datagrams in a batch on, more are taken as likely to be there already.
const BUSY: usize = 8;
/// How long an idle worker may hold on to an old root.
const LOOK_UP_MS: i32 = 1000;
/// Socket errors that a stopping worker looks past.
const MOST_FAULTS: usize = 1000;
const AFTER_FAULT: Duration = Duration::from_millis(1);

/// A query that is left to Python, and what the kernel told about it.
pub struct Miss {
    pub packet: Box<[u8]>,
    pub peer: SocketAddr,
    pub told: Option<(i32, i32, Vec<u8>)>,
}

#[derive(Default)]
pub struct Counts {
    pub by_rcode: [AtomicU64; 16],
    pub durations: [AtomicU64; DURATION_BUCKETS + 1],
    pub busy_ns: AtomicU64,
    pub dropped: AtomicU64,
    pub errors: AtomicU64,
    pub shed: AtomicU64,
}

/// What a worker shares with whoever started it.
pub struct Desk {
    pub counts: Counts,
    /// Raised when queries wait for Python.
    pub ready: Signal,
    wake: Signal,
    is_stopping: AtomicBool,
    misses: Mutex<VecDeque<Miss>>,
}

impl Desk {
    /// Takes up to `most` of the queries that wait, and stays raised while there are more.
    pub fn take(&self, most: usize) -> Vec<Miss> {
        let mut misses = held(&self.misses);
        let count = misses.len().min(most);
        let taken = misses.drain(..count).collect();
        if misses.is_empty() {
            self.ready.clear();
        }
        taken
    }

    fn leave(&self, miss: Miss) {
        let mut misses = held(&self.misses);
        if misses.len() >= MOST_WAITING {
            self.counts.shed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        misses.push_back(miss);
        if misses.len() == 1 {
            self.ready.raise();
        }
    }
}

pub struct Worker {
    pub desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Answers at a bound socket, which must stay open until `stop` has returned; `place` is that of the thread's tallies.
    pub fn start(
        shared: Arc<Shared>,
        limiter: Option<Arc<Limiter>>,
        socket: RawFd,
        place: usize,
        told: bool,
    ) -> io::Result<Self> {
        let desk = Arc::new(Desk {
            counts: Counts::default(),
            ready: Signal::new()?,
            wake: Signal::new()?,
            is_stopping: AtomicBool::new(false),
            misses: Mutex::new(VecDeque::with_capacity(MOST_WAITING)),
        });
        let theirs = Arc::clone(&desk);
        let thread = thread::Builder::new().name(format!("dns-udp-{place}")).spawn(move || {
            Loop {
                desk: &theirs,
                view: View::new(Arc::clone(&shared)),
                shared: &shared,
                matcher: Matcher::new(place),
                sampler: Sampler {
                    limiter: limiter.as_deref(),
                    until_sample: 1,
                    random: place as u64 + 1,
                    epoch: Instant::now(),
                },
            }
            .run(socket, &mut Batch::new(CAPACITY, told));
        })?;
        Ok(Worker { desk, thread: Some(thread) })
    }

    /// Has everything answered that has arrived, then ends the thread.
    pub fn stop(&mut self) {
        self.desk.is_stopping.store(true, Ordering::Release);
        self.desk.wake.raise();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Worker {
    /// The thread must not outlive its socket.
    fn drop(&mut self) {
        self.stop();
    }
}

struct Loop<'a> {
    desk: &'a Desk,
    view: View,
    shared: &'a Shared,
    matcher: Matcher,
    sampler: Sampler<'a>,
}

impl Loop<'_> {
    fn run(mut self, socket: RawFd, batch: &mut Batch) {
        let (mut taken, mut faults) = (0, 0);
        loop {
            let is_stopping = self.desk.is_stopping.load(Ordering::Acquire);
            if taken < BUSY && !is_stopping {
                batch::wait(socket, &self.desk.wake, LOOK_UP_MS);
            }
            taken = match batch.receive(socket) {
                Ok(taken) => {
                    faults = 0;
                    taken
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    self.desk.counts.errors.fetch_add(1, Ordering::Relaxed);
                    faults += 1; // an ICMP error of an earlier reply, for one, is reported here
                    if is_stopping && faults < MOST_FAULTS {
                        continue;
                    }
                    thread::sleep(AFTER_FAULT);
                    0
                }
            };
            if taken == 0 && is_stopping {
                return;
            }
            if taken == 0 {
                self.view.root(); // so that an idle thread lets go of old roots, too
            } else {
                // The socket edge: a fault in one batch must not end the others.
                let done = panic::catch_unwind(AssertUnwindSafe(|| self.answer(batch, taken, socket)));
                if done.is_err() {
                    self.desk.counts.errors.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    /// Answers one batch, all of it from one root.
    fn answer(&mut self, batch: &mut Batch, taken: usize, socket: RawFd) {
        let started = Instant::now();
        let now_s = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.as_secs() as u32);
        let (counts, policy, root) = (&self.desk.counts, &self.shared.policy, self.view.root());
        let mut by_rcode = [0u64; 16];
        for place in 0..taken {
            let asker = batch.peer(place).map(|peer| Asker { address: peer.ip(), now_s });
            let (buffer, length) = batch.datagram(place);
            let made = self.matcher.answer(root, policy, buffer, length, asker, false);
            let (Some(made), Some(asker)) = (made, asker) else {
                let packet = buffer[..length].into();
                if let Some(peer) = batch.peer(place) {
                    self.desk.leave(Miss { packet, peer, told: batch.told(place) });
                }
                continue;
            };
            let rcode = buffer[3] & 0xF;
            let length = match self.sampler.limited(buffer, &made, &self.matcher, root, asker) {
                None => made.length,
                Some(Verdict::HoldBack) => self.matcher.hold_back(buffer, &made, policy),
                Some(Verdict::Drop) => {
                    counts.dropped.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
            };
            batch.reply(place, length);
            by_rcode[rcode as usize] += 1;
        }
        for (counted, number) in counts.by_rcode.iter().zip(by_rcode).filter(|(_, number)| *number > 0) {
            counted.fetch_add(number, Ordering::Relaxed);
        }
        let took_ns = started.elapsed().as_nanos() as u64;
        let answered = by_rcode.iter().sum();
        if let Some(each_ns) = took_ns.checked_div(answered) {
            let micros = each_ns / 1000;
            let bucket = (u64::BITS - micros.leading_zeros()) as usize;
            counts.durations[bucket.min(DURATION_BUCKETS)].fetch_add(answered, Ordering::Relaxed);
            counts.busy_ns.fetch_add(took_ns, Ordering::Relaxed);
            let failed = batch.send(socket);
            if failed > 0 {
                counts.errors.fetch_add(failed as u64, Ordering::Relaxed);
            }
        }
    }
}

/// Picks the replies that are counted for the limiter.
struct Sampler<'a> {
    limiter: Option<&'a Limiter>,
    until_sample: u64,
    random: u64,
    epoch: Instant,
}

impl Sampler<'_> {
    /// Says what becomes of a reply that stands in its buffer, and counts one in so many.
    fn limited(&mut self, reply: &[u8], made: &Made, matcher: &Matcher, root: &Root, asker: Asker) -> Option<Verdict> {
        let limiter = self.limiter?;
        self.until_sample -= 1;
        let is_sample = self.until_sample == 0;
        if is_sample {
            // Which ones are picked is not foreseeable for senders: that would let them stay out of the count.
            self.random = self.random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(started_at(self.epoch));
            self.until_sample = 1 + (self.random >> 33) % (2 * limiter.stride - 1);
            limiter.count(asker.address, reply);
        } else if limiter.nobody_is_over() {
            return None;
        }
        let is_over = limiter.is_over(asker.address, reply) && !matcher.trusts(made, root, asker);
        is_over.then(|| limiter.verdict())
    }
}

fn started_at(epoch: Instant) -> u64 {
    epoch.elapsed().as_nanos() as u64 | 1
}
