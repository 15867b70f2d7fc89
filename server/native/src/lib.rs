//! The data plane of the name server as a Python extension module, `server._native`.
//!
//! Owns the border to Python. `matcher` answers, `table` is what it reads, `worker` is where it runs.

mod batch;
mod bulk;
mod content;
mod cookie;
mod dependents;
mod edge;
mod encode;
mod finish;
mod lent;
mod limiter;
mod line;
mod link;
mod load;
mod map;
mod master;
mod matcher;
mod name;
mod nodes;
mod packed;
mod packing;
mod plain;
mod record;
mod shared;
mod source;
mod table;
mod transfer;
mod words;
mod worker;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::cookie::{Asker, Cookies, SECRET};
use crate::edge::guarded;
use crate::limiter::{Network, Verdict};
use crate::load::{Edit, Reader};
use crate::matcher::{Matcher, Policy, Refusal, Slots, CAPACITY};
use crate::name::Name;
use crate::nodes::Nodes;
use crate::shared::{held, Shared, View};
use crate::source::Bulk;
use crate::table::{Root, Tallies, Tally, Zone};

/// Questions by type: outside of all zones, and by apex.
type Asked<'py> = (Vec<u64>, Vec<(Bound<'py, PyBytes>, Vec<u64>)>);

/// An answerer for calls from Python, which counts at place 0.
struct Caller {
    matcher: Matcher,
    view: View,
    buffer: Box<[u8]>,
}

/// The names of a zone, read from Python.
#[pyclass(frozen)]
struct Content(Nodes);

/// All zones, and the matcher over them.
#[pyclass(frozen)]
struct Tables {
    shared: Arc<Shared>,
    caller: Mutex<Caller>,
    computed: Py<PyAny>,
    threads: usize,
}

#[pymethods]
impl Tables {
    #[new]
    fn new(
        payload_bytes: usize,
        computed_types: Vec<u16>,
        counted_types: Vec<u16>,
        not_ours: (u16, Vec<u8>),
        not_ready: (u16, Vec<u8>),
        threads: usize,
        computed: Py<PyAny>,
    ) -> PyResult<Self> {
        guarded(|| {
            let threads = threads + 1;
            let refusal = |(flags, option): (u16, Vec<u8>)| Refusal { flags, option: option.into() };
            let policy = Policy {
                payload: payload_bytes,
                computed: computed_types.into(),
                elsewhere: tallies(threads, counted_types.len() + 1),
                slots: Slots::new(&counted_types),
                not_ours: refusal(not_ours),
                not_ready: refusal(not_ready),
            };
            let shared = Arc::new(Shared::new(policy, Root::new()));
            let caller = Caller {
                matcher: Matcher::new(0),
                view: View::new(Arc::clone(&shared)),
                buffer: vec![0; CAPACITY].into_boxed_slice(),
            };
            Ok(Tables { shared, caller: Mutex::new(caller), computed, threads })
        })
    }

    /// Returns the reply to a packet of a client, whose address is numeric; None for what is left to Python.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        packet: &[u8],
        client: &str,
        stream: bool,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        guarded(|| {
            let now_s = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.as_secs() as u32);
            let address = client.split('%').next().and_then(|host| host.parse().ok());
            let asker = address.map(|address| Asker { address, now_s });
            let mut caller = held(&self.caller);
            let Caller { matcher, view, buffer } = &mut *caller;
            let Some(room) = buffer.get_mut(..packet.len()) else { return Ok(None) };
            room.copy_from_slice(packet);
            let made = matcher.answer(view.root(), &self.shared.policy, buffer, packet.len(), asker, stream);
            Ok(made.map(|made| PyBytes::new(py, &buffer[..made.length])))
        })
        .or(Ok(None)) // a fault here must not cost the reply: Python answers too
    }

    /// Reads the content of a zone. Other Python threads get their turn meanwhile, and may call anything here.
    fn prepare(
        &self,
        py: Python<'_>,
        answers: Vec<Bound<'_, PyDict>>,
        nodes: Vec<Bound<'_, PyDict>>,
    ) -> PyResult<Content> {
        guarded(|| Ok(Content(Reader::new(self.computed.clone_ref(py)).nodes(&answers, &nodes)?)))
    }

    /// Returns the content of a zone: the plain names as they are, and the others.
    fn complete(&self, py: Python<'_>, plain: &Bulk, others: Vec<Edit<'_>>) -> PyResult<Content> {
        guarded(|| Ok(Content(Reader::new(self.computed.clone_ref(py)).edit(&plain.0.nodes, &others)?)))
    }

    /// Serves a version of a zone from here on.
    fn put(
        &self,
        py: Python<'_>,
        apex: &[u8],
        version: u64,
        content: &Content,
        soa: &Bound<'_, PyAny>,
        signed: bool,
    ) -> PyResult<()> {
        guarded(|| {
            let (nodes, soa) = (content.0.clone(), Arc::new(Reader::new(self.computed.clone_ref(py)).answer(soa)?));
            let tallies = self.zone(apex).map_or_else(
                || tallies(self.threads, self.shared.policy.slots.count()),
                |zone| Arc::clone(&zone.tallies),
            );
            let zone = Zone { apex: apex.into(), version, nodes, soa, signed, tallies };
            self.publish(py, |root| root.put(zone))
        })
    }

    /// Serves a version that differs from another one in some names; returns False, and does nothing, when that other one is not served.
    #[allow(clippy::too_many_arguments)]
    fn patch(
        &self,
        py: Python<'_>,
        apex: &[u8],
        since: u64,
        version: u64,
        edits: Vec<Edit<'_>>,
        soa: &Bound<'_, PyAny>,
        signed: bool,
    ) -> PyResult<bool> {
        guarded(|| {
            let Some(before) = self.zone(apex).filter(|zone| zone.version == since) else { return Ok(false) };
            let mut reader = Reader::new(self.computed.clone_ref(py));
            let (nodes, soa) = (reader.edit(&before.nodes, &edits)?, Arc::new(reader.answer(soa)?));
            let zone = Zone { nodes, soa, signed, version, ..(*before).clone() };
            self.publish(py, |root| root.put(zone)).map(|()| true)
        })
    }

    fn remove(&self, py: Python<'_>, apex: &[u8]) -> PyResult<()> {
        self.publish(py, |root| root.zones.remove(apex))
    }

    fn set_complete(&self, py: Python<'_>, complete: bool) -> PyResult<()> {
        self.publish(py, |root| root.complete = complete)
    }

    /// Makes cookies with the first of these secrets from here on, and takes those of all.
    fn set_cookie_secrets(&self, py: Python<'_>, secrets: Vec<[u8; SECRET]>) -> PyResult<()> {
        self.publish(py, |root| root.cookies = Cookies { secrets })
    }

    /// Returns what was asked since the last call by type: outside of all zones, and in each zone that was asked.
    fn take_asked<'py>(&self, py: Python<'py>) -> PyResult<Asked<'py>> {
        guarded(|| {
            let zones = self
                .shared
                .root()
                .zones
                .iter()
                .filter_map(|zone| {
                    let counts = sum(&zone.tallies);
                    counts.iter().any(|count| *count > 0).then(|| (PyBytes::new(py, &zone.apex), counts))
                })
                .collect();
            Ok((sum(&self.shared.policy.elsewhere), zones))
        })
    }

    /// Frees what nobody reads any more; returns how many old versions are still being read.
    fn collect(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(|| Ok(py.detach(|| self.shared.collect())))
    }

    /// Answers on a bound socket, from 1 on the `place` of its counts, until the worker is stopped.
    fn start_worker(&self, socket: i32, place: usize, told: bool, limiter: Option<&Limiter>) -> PyResult<Worker> {
        guarded(|| {
            let limiter = limiter.map(|limiter| Arc::clone(&limiter.inner));
            let place = place.clamp(1, self.threads - 1);
            let worker = worker::Worker::start(Arc::clone(&self.shared), limiter, socket, place, told)?;
            Ok(Worker { desk: Arc::clone(&worker.desk), inner: Mutex::new(worker) })
        })
    }
}

impl Tables {
    fn zone(&self, apex: &[u8]) -> Option<Arc<Zone>> {
        let mut name = Name::new();
        name.read(apex)?;
        self.shared.root().zones.get(&name, 0).cloned()
    }

    fn publish(&self, py: Python<'_>, change: impl FnOnce(&mut Root)) -> PyResult<()> {
        guarded(|| {
            let mut next = (*self.shared.root()).clone();
            change(&mut next);
            py.detach(move || self.shared.publish(next));
            Ok(())
        })
    }
}

/// How many replies of one kind go to one network.
#[pyclass(frozen)]
struct Limiter {
    inner: Arc<limiter::Limiter>,
}

#[pymethods]
impl Limiter {
    #[new]
    fn new(
        per_second: u64,
        slip: u32,
        stride: u64,
        ipv4_bytes: usize,
        ipv6_bytes: usize,
        exempt: Vec<(Vec<u8>, u32)>,
    ) -> PyResult<Self> {
        guarded(|| {
            let exempt = exempt.into_iter().map(|(address, bits)| Network(address.into(), bits)).collect();
            let seed = RandomState::new().build_hasher().finish();
            let inner = limiter::Limiter::new(per_second, slip, stride.max(1), (ipv4_bytes, ipv6_bytes), exempt, seed);
            Ok(Limiter { inner: Arc::new(inner) })
        })
    }

    /// Begins a new second.
    fn tick(&self) -> PyResult<()> {
        guarded(|| {
            self.inner.tick();
            Ok(())
        })
    }

    /// Counts a reply that stands for others.
    fn count(&self, address: IpAddr, reply: &[u8]) -> PyResult<()> {
        guarded(|| {
            self.inner.count(address, reply);
            Ok(())
        })
    }

    /// Says whether replies of this kind to the address's network are past the limit.
    fn is_over(&self, address: IpAddr, reply: &[u8]) -> PyResult<bool> {
        guarded(|| Ok(self.inner.is_over(address, reply)))
    }

    /// Says whether one more reply that is past the limit is replaced by a short one, else it is dropped.
    fn holds_back(&self) -> PyResult<bool> {
        guarded(|| Ok(matches!(self.inner.verdict(), Verdict::HoldBack)))
    }

    /// Is 0 while nobody is over.
    fn __len__(&self) -> PyResult<usize> {
        guarded(|| Ok(usize::from(!self.inner.nobody_is_over())))
    }

    /// Returns the replies dropped and shortened so far.
    fn counts(&self) -> PyResult<(u64, u64)> {
        guarded(|| Ok((self.inner.dropped.load(Ordering::Relaxed), self.inner.held_back.load(Ordering::Relaxed))))
    }
}

/// A query that Python is to answer: packet, host, port, flow information, scope, and what the kernel told about it.
type Miss<'py> = (Bound<'py, PyBytes>, String, u16, u32, u32, Option<(i32, i32, Bound<'py, PyBytes>)>);

/// Replies by RCODE, durations by bucket, nanoseconds, dropped, errors, shed.
type Counted = (Vec<u64>, Vec<u64>, u64, u64, u64, u64);

/// A thread that answers at a socket.
#[pyclass(frozen)]
struct Worker {
    desk: Arc<worker::Desk>,
    inner: Mutex<worker::Worker>,
}

#[pymethods]
impl Worker {
    /// A descriptor that can be read while queries wait for Python.
    fn fileno(&self) -> PyResult<i32> {
        guarded(|| Ok(self.desk.ready.number()))
    }

    /// Takes some of the queries that wait.
    fn take<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Vec<Miss<'py>>> {
        guarded(|| {
            let miss = |miss: worker::Miss| {
                let (flow, scope) = match miss.peer {
                    SocketAddr::V4(_) => (0, 0),
                    SocketAddr::V6(peer) => (peer.flowinfo(), peer.scope_id()),
                };
                let told = miss.told.map(|(level, kind, data)| (level, kind, PyBytes::new(py, &data)));
                (PyBytes::new(py, &miss.packet), miss.peer.ip().to_string(), miss.peer.port(), flow, scope, told)
            };
            Ok(self.desk.take(most).into_iter().map(miss).collect())
        })
    }

    /// Returns what was counted since the last call.
    fn take_counts(&self) -> PyResult<Counted> {
        guarded(|| {
            let counts = &self.desk.counts;
            Ok((
                counts.by_rcode.iter().map(take).collect(),
                counts.durations.iter().map(take).collect(),
                take(&counts.busy_ns),
                take(&counts.dropped),
                take(&counts.errors),
                take(&counts.shed),
            ))
        })
    }

    /// Has everything answered that has arrived, then ends the thread.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        guarded(|| {
            py.detach(|| held(&self.inner).stop());
            Ok(())
        })
    }
}

fn take(count: &AtomicU64) -> u64 {
    count.swap(0, Ordering::Relaxed)
}

fn tallies(threads: usize, places: usize) -> Tallies {
    (0..threads).map(|_| Tally::new(places)).collect()
}

fn sum(tallies: &Tallies) -> Vec<u64> {
    let mut sums = Vec::new();
    for counts in tallies.iter().map(Tally::take) {
        sums.resize(counts.len(), 0);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::packing::Packer;
    #[pymodule_export]
    use super::source::{Bulk, BulkDraft};
    #[pymodule_export]
    use super::{Content, Limiter, Tables, Worker};
}
