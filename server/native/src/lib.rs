//! The data plane of the name server as a Python extension module, `server._native`.
//!
//! Owns the border to Python. `matcher` answers, `table` is what it reads, `worker` is where it runs.

mod batch;
mod bulk;
mod cookie;
mod limiter;
mod line;
mod load;
mod map;
mod master;
mod matcher;
mod name;
mod nodes;
mod packed;
mod shared;
mod table;
mod worker;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::cookie::{Asker, Cookies, SECRET};
use crate::limiter::{Network, Verdict};
use crate::load::{hash_of, Edit, Reader};
use crate::master::Record;
use crate::matcher::{Matcher, Policy, Refusal, Slots, CAPACITY};
use crate::name::Name;
use crate::nodes::Nodes;
use crate::shared::{held, Shared, View};
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

/// The content of a zone that was read from its master file: plain names, whose answers are finished, and the sets of all others.
#[pyclass(frozen)]
struct Bulk(bulk::Bulk);

/// The sets of a name: type, TTL and data.
type Sets<'py> = Vec<(u16, u32, Bound<'py, PyTuple>)>;

/// One set: owner, type, TTL and data.
type SetOf<'py> = (Bound<'py, PyBytes>, u16, u32, Bound<'py, PyTuple>);

#[pymethods]
impl Bulk {
    /// Reads a master file whose every octet is understood; returns None for any other.
    ///
    /// `read_data` returns the record data for type, text and origin, None when they are to be read with the whole file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, origin: Option<Vec<u8>>, read_data: Py<PyAny>) -> Option<Self> {
        let mut ask = |rdtype: u16, text: &str, origin: &[u8]| {
            Python::attach(|py| {
                let data = read_data.call1(py, (rdtype, text, PyBytes::new(py, origin))).ok()?;
                data.extract::<Option<Vec<u8>>>(py).ok()?
            })
        };
        py.detach(|| bulk::read(&path, origin, &mut ask)).map(Bulk)
    }

    #[getter]
    fn apex<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.apex)
    }

    /// The number of plain names.
    fn __len__(&self) -> usize {
        self.0.nodes.len()
    }

    /// The number of their answers.
    #[getter]
    fn answers(&self) -> usize {
        self.0.answers
    }

    /// Says whether a name is a plain one.
    fn has(&self, name: &[u8]) -> bool {
        hash_of(name).is_ok_and(|hash| self.0.nodes.get(hash, name).is_some())
    }

    /// Returns the sets of a plain name: type, TTL and data; None for any other name.
    fn sets<'py>(&self, py: Python<'py>, name: &[u8]) -> PyResult<Option<Sets<'py>>> {
        let Ok(hash) = hash_of(name) else { return Ok(None) };
        let Some(entry) = self.0.nodes.get(hash, name) else { return Ok(None) };
        let sets = bulk::sets_of(&entry).into_iter();
        sets.map(|(rdtype, ttl_s, rdatas)| {
            Ok((rdtype, ttl_s, PyTuple::new(py, rdatas.iter().map(|rdata| PyBytes::new(py, rdata)))?))
        })
        .collect::<PyResult<_>>()
        .map(Some)
    }

    /// Returns the plain names of one segment, None past the last one.
    fn names<'py>(&self, py: Python<'py>, segment: usize) -> Option<Vec<Bound<'py, PyBytes>>> {
        let entries = self.0.nodes.segment(segment)?;
        Some(entries.map(|entry| PyBytes::new(py, entry.name)).collect())
    }

    /// Returns the sets of all names that are not plain.
    fn others<'py>(&self, py: Python<'py>) -> PyResult<Vec<SetOf<'py>>> {
        let set = |set: &bulk::Set| {
            let rdatas = PyTuple::new(py, set.rdatas.iter().map(|rdata| PyBytes::new(py, rdata)))?;
            Ok((PyBytes::new(py, &set.owner), set.rdtype, set.ttl_s, rdatas))
        };
        self.0.sets.iter().map(set).collect()
    }

    /// Returns how many names exist directly below each name that has some.
    fn children<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, u32)> {
        self.0.children.iter().map(|(name, count)| (PyBytes::new(py, name), *count)).collect()
    }
}

/// A zone of a snapshot while its sets come in.
#[pyclass(frozen)]
struct BulkDraft {
    origin: Vec<u8>,
    draft: Mutex<Option<(bulk::Draft, u32)>>,
}

#[pymethods]
impl BulkDraft {
    #[new]
    fn new(origin: Vec<u8>) -> Self {
        BulkDraft { origin, draft: Mutex::new(Some((bulk::Draft::new(), 0))) }
    }

    /// Takes the sets of canonical lines; returns the lines that are not plain, for Python to read.
    fn add_lines<'py>(&self, lines: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let mut left = Vec::new();
        let mut set = line::Set::default();
        for line in lines.iter() {
            let line = line.downcast_into::<PyBytes>()?;
            match set.read(line.as_bytes(), &self.origin) {
                Some(()) => self.add(&set.owner, set.rdtype, set.ttl_s, set.rdatas.iter().map(Vec::as_slice)),
                None => left.push(line),
            }
        }
        Ok(left)
    }

    /// Takes one set.
    fn add_set(&self, owner: &[u8], rdtype: u16, ttl_s: u32, rdatas: Vec<Bound<'_, PyBytes>>) {
        self.add(owner, rdtype, ttl_s, rdatas.iter().map(|rdata| rdata.as_bytes()));
    }

    /// Returns what the zone holds; None for one that Python has to compile whole.
    fn finish(&self, py: Python<'_>) -> Option<Bulk> {
        let (draft, _) = held(&self.draft).take()?;
        let origin = self.origin.clone();
        py.detach(|| draft.finish(Some(origin))).map(Bulk)
    }
}

impl BulkDraft {
    fn add<'a>(&self, owner: &[u8], rdtype: u16, ttl_s: u32, rdatas: impl Iterator<Item = &'a [u8]>) {
        if let Some((draft, sources)) = &mut *held(&self.draft) {
            *sources += 1;
            rdatas.for_each(|rdata| draft.add(&Record { owner, rdtype, ttl_s, rdata, source: *sources }));
        }
    }
}

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
    ) -> Self {
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
        Tables { shared, caller: Mutex::new(caller), computed, threads }
    }

    /// Returns the reply to a packet of a client, whose address is numeric; None for what is left to Python.
    fn answer<'py>(&self, py: Python<'py>, packet: &[u8], client: &str, stream: bool) -> Option<Bound<'py, PyBytes>> {
        let now_s = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.as_secs() as u32);
        let address = client.split('%').next().and_then(|host| host.parse().ok());
        let asker = address.map(|address| Asker { address, now_s });
        let mut caller = held(&self.caller);
        let Caller { matcher, view, buffer } = &mut *caller;
        buffer.get_mut(..packet.len())?.copy_from_slice(packet);
        // The edge of a call: a fault here must not end the event loop, and Python answers too.
        let answer = || matcher.answer(view.root(), &self.shared.policy, buffer, packet.len(), asker, stream);
        let made = panic::catch_unwind(AssertUnwindSafe(answer)).ok()??;
        Some(PyBytes::new(py, &buffer[..made.length]))
    }

    /// Reads the content of a zone. Other Python threads get their turn meanwhile, and may call anything here.
    fn prepare(
        &self,
        py: Python<'_>,
        answers: Vec<Bound<'_, PyDict>>,
        nodes: Vec<Bound<'_, PyDict>>,
    ) -> PyResult<Content> {
        Ok(Content(Reader::new(self.computed.clone_ref(py)).nodes(&answers, &nodes)?))
    }

    /// Returns the content of a zone: the plain names as they are, and the others.
    fn complete(&self, py: Python<'_>, plain: &Bulk, others: Vec<Edit<'_>>) -> PyResult<Content> {
        Ok(Content(Reader::new(self.computed.clone_ref(py)).edit(&plain.0.nodes, &others)?))
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
        let (nodes, soa) = (content.0.clone(), Arc::new(Reader::new(self.computed.clone_ref(py)).answer(soa)?));
        let tallies = self
            .zone(apex)
            .map_or_else(|| tallies(self.threads, self.shared.policy.slots.count()), |zone| Arc::clone(&zone.tallies));
        let zone = Zone { apex: apex.into(), version, nodes, soa, signed, tallies };
        self.publish(py, |root| root.put(zone));
        Ok(())
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
        let Some(before) = self.zone(apex).filter(|zone| zone.version == since) else { return Ok(false) };
        let mut reader = Reader::new(self.computed.clone_ref(py));
        let (nodes, soa) = (reader.edit(&before.nodes, &edits)?, Arc::new(reader.answer(soa)?));
        let zone = Zone { nodes, soa, signed, version, ..(*before).clone() };
        drop(before);
        self.publish(py, |root| root.put(zone));
        Ok(true)
    }

    fn remove(&self, py: Python<'_>, apex: &[u8]) {
        self.publish(py, |root| root.zones.remove(apex));
    }

    fn set_complete(&self, py: Python<'_>, complete: bool) {
        self.publish(py, |root| root.complete = complete);
    }

    /// Makes cookies with the first of these secrets from here on, and takes those of all.
    fn set_cookie_secrets(&self, py: Python<'_>, secrets: Vec<[u8; SECRET]>) {
        self.publish(py, |root| root.cookies = Cookies { secrets });
    }

    /// Returns what was asked since the last call by type: outside of all zones, and in each zone that was asked.
    fn take_asked<'py>(&self, py: Python<'py>) -> Asked<'py> {
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
        (sum(&self.shared.policy.elsewhere), zones)
    }

    /// Frees what nobody reads any more; returns how many old versions are still being read.
    fn collect(&self, py: Python<'_>) -> usize {
        py.detach(|| self.shared.collect())
    }

    /// Answers on a bound socket, from 1 on the `place` of its counts, until the worker is stopped.
    fn start_worker(&self, socket: i32, place: usize, told: bool, limiter: Option<&Limiter>) -> PyResult<Worker> {
        let limiter = limiter.map(|limiter| Arc::clone(&limiter.inner));
        let place = place.clamp(1, self.threads - 1);
        let worker = worker::Worker::start(Arc::clone(&self.shared), limiter, socket, place, told)?;
        Ok(Worker { desk: Arc::clone(&worker.desk), inner: Mutex::new(worker) })
    }
}

impl Tables {
    fn zone(&self, apex: &[u8]) -> Option<Arc<Zone>> {
        let mut name = Name::new();
        name.read(apex)?;
        self.shared.root().zones.get(&name, 0).cloned()
    }

    fn publish(&self, py: Python<'_>, change: impl FnOnce(&mut Root)) {
        let mut next = (*self.shared.root()).clone();
        change(&mut next);
        py.detach(move || self.shared.publish(next));
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
    ) -> Self {
        let exempt = exempt.into_iter().map(|(address, bits)| Network(address.into(), bits)).collect();
        let seed = RandomState::new().build_hasher().finish();
        let inner = limiter::Limiter::new(per_second, slip, stride.max(1), (ipv4_bytes, ipv6_bytes), exempt, seed);
        Limiter { inner: Arc::new(inner) }
    }

    /// Begins a new second.
    fn tick(&self) {
        self.inner.tick();
    }

    /// Counts a reply that stands for others.
    fn count(&self, address: IpAddr, reply: &[u8]) {
        self.inner.count(address, reply);
    }

    /// Says whether replies of this kind to the address's network are past the limit.
    fn is_over(&self, address: IpAddr, reply: &[u8]) -> bool {
        self.inner.is_over(address, reply)
    }

    /// Says whether one more reply that is past the limit is replaced by a short one, else it is dropped.
    fn holds_back(&self) -> bool {
        matches!(self.inner.verdict(), Verdict::HoldBack)
    }

    /// Is 0 while nobody is over.
    fn __len__(&self) -> usize {
        usize::from(!self.inner.nobody_is_over())
    }

    /// Returns the replies dropped and shortened so far.
    fn counts(&self) -> (u64, u64) {
        (self.inner.dropped.load(Ordering::Relaxed), self.inner.held_back.load(Ordering::Relaxed))
    }
}

/// A query that Python is to answer: packet, host, port, flow information, scope, and what the kernel told about it.
type Miss<'py> = (Bound<'py, PyBytes>, String, u16, u32, u32, Option<(i32, i32, Bound<'py, PyBytes>)>);

/// A thread that answers at a socket.
#[pyclass(frozen)]
struct Worker {
    desk: Arc<worker::Desk>,
    inner: Mutex<worker::Worker>,
}

#[pymethods]
impl Worker {
    /// A descriptor that can be read while queries wait for Python.
    fn fileno(&self) -> i32 {
        self.desk.ready.number()
    }

    /// Takes some of the queries that wait.
    fn take<'py>(&self, py: Python<'py>, most: usize) -> Vec<Miss<'py>> {
        let miss = |miss: worker::Miss| {
            let (flow, scope) = match miss.peer {
                SocketAddr::V4(_) => (0, 0),
                SocketAddr::V6(peer) => (peer.flowinfo(), peer.scope_id()),
            };
            let told = miss.told.map(|(level, kind, data)| (level, kind, PyBytes::new(py, &data)));
            (PyBytes::new(py, &miss.packet), miss.peer.ip().to_string(), miss.peer.port(), flow, scope, told)
        };
        self.desk.take(most).into_iter().map(miss).collect()
    }

    /// Returns what was counted since the last call: replies by RCODE, durations by bucket, nanoseconds, dropped, errors, shed.
    fn take_counts(&self) -> (Vec<u64>, Vec<u64>, u64, u64, u64, u64) {
        let counts = &self.desk.counts;
        (
            counts.by_rcode.iter().map(take).collect(),
            counts.durations.iter().map(take).collect(),
            take(&counts.busy_ns),
            take(&counts.dropped),
            take(&counts.errors),
            take(&counts.shed),
        )
    }

    /// Has everything answered that has arrived, then ends the thread.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| held(&self.inner).stop());
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
    use super::{Bulk, BulkDraft, Content, Limiter, Tables, Worker};
}
