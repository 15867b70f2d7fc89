//! `dns-load-generator PORT QUERIES SECONDS OUTSTANDING`: as many replies as a server on 127.0.0.1 gives.
//! `dns-load-generator PORT QUERIES SECONDS rate:N`: how long replies take when N queries come in a second.
//! `dns-load-generator echo PORT`: send back what comes, with the header of a reply: the limit of the machine.
//!
//! QUERIES is a file of queries, each behind its length in two octets. Figures go to standard output as one line of JSON.

#[path = "../../../server/native/src/batch.rs"]
mod batch;

use std::collections::HashMap;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use batch::{Batch, Signal, SIZE};

const CAPACITY: usize = 4096;
const SOCKETS: usize = 16;
const WARM_UP: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_millis(200);
const BUFFER_BYTES: i32 = 4 << 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match texts[..] {
        ["echo", port] => echo(number(port)),
        [port, queries, seconds, how] => {
            let load = Load::new(
                number(port),
                queries,
                Duration::from_secs_f64(seconds.parse().expect("SECONDS is a number")),
            );
            match how.strip_prefix("rate:") {
                Some(rate) => load.pace(rate.parse().expect("N is a number")),
                None => load.flood(how.parse().expect("OUTSTANDING is a number")),
            }
        }
        _ => {
            eprintln!(
                "usage: dns-load-generator PORT QUERIES SECONDS OUTSTANDING|rate:N, or dns-load-generator echo PORT"
            );
            std::process::exit(2);
        }
    }
}

fn number(text: &str) -> u16 {
    text.parse().expect("PORT is a number up to 65535")
}

/// Sends every packet back with QR set.
fn echo(port: u16) {
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("the port is free");
    batch::receive_buffer(socket.as_raw_fd(), BUFFER_BYTES);
    let signal = Signal::new().expect("a descriptor is free");
    let mut batch = Batch::new(CAPACITY, false);
    let mut taken = 0;
    loop {
        if taken < 8 {
            batch::wait(socket.as_raw_fd(), &signal, 1000);
        }
        taken = batch.receive(socket.as_raw_fd()).unwrap_or(0);
        for place in 0..taken {
            let (buffer, length) = batch.datagram(place);
            buffer[2] |= 0x80;
            batch.reply(place, length);
        }
        batch.send(socket.as_raw_fd());
    }
}

struct Load {
    sockets: Vec<UdpSocket>,
    queries: Vec<Vec<u8>>,
    time: Duration,
}

impl Load {
    fn new(port: u16, path: &str, time: Duration) -> Self {
        let file = std::fs::read(path).expect("QUERIES can be read");
        let mut queries = Vec::new();
        let mut rest = &file[..];
        while let [high, low, tail @ ..] = rest {
            let (query, tail) = tail.split_at(u16::from_be_bytes([*high, *low]) as usize);
            queries.push(query.to_vec());
            rest = tail;
        }
        let connect = |_| {
            let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
            socket.connect(("127.0.0.1", port)).expect("loopback can be reached");
            socket.set_nonblocking(true).expect("sockets can be made not to block");
            batch::receive_buffer(socket.as_raw_fd(), BUFFER_BYTES);
            socket
        };
        Load { sockets: (0..SOCKETS).map(connect).collect(), queries, time }
    }

    /// Keeps `outstanding` queries under way and counts replies.
    fn flood(&self, outstanding: usize) {
        let each = (outstanding / SOCKETS).max(1);
        let mut under_way = [0; SOCKETS];
        let mut last = [Instant::now(); SOCKETS];
        let mut sending = Batch::new(CAPACITY, false);
        let mut receiving = Batch::new(CAPACITY, false);
        let mut next = 0;
        let (mut before, mut received, mut lost, mut sent) = (0u64, 0u64, 0u64, 0u64);
        let mut by_rcode: HashMap<u8, u64> = HashMap::new();
        let begin = Instant::now();
        let mut counting = begin;
        let mut is_warm = false;
        loop {
            let now = Instant::now();
            if !is_warm && now - begin > WARM_UP {
                (is_warm, before, received, lost, sent, counting) = (true, received, 0, 0, 0, now);
                by_rcode.clear();
            }
            if now - begin > self.time + WARM_UP {
                break;
            }
            for (place, socket) in self.sockets.iter().enumerate() {
                let fd = socket.as_raw_fd();
                let count = receiving.receive(fd).unwrap_or(0);
                for reply in 0..count {
                    let (buffer, length) = receiving.datagram(reply);
                    if length > 3 && buffer[2] & 0x80 != 0 {
                        received += 1;
                        *by_rcode.entry(buffer[3] & 0xF).or_default() += 1;
                    }
                }
                under_way[place] -= count.min(under_way[place]);
                if count > 0 {
                    last[place] = now;
                } else if under_way[place] > 0 && now - last[place] > PATIENCE {
                    lost += under_way[place] as u64;
                    under_way[place] = 0;
                }
                let wanted = (each - under_way[place]).min(SIZE);
                if wanted == 0 || (wanted < each / 4 && count > 0) {
                    continue;
                }
                if under_way[place] == 0 {
                    last[place] = now;
                }
                sending.begin();
                for slot in 0..wanted {
                    let query = &self.queries[next % self.queries.len()];
                    sending.put(slot, query, next as u16);
                    next += 1;
                }
                sending.send(fd);
                under_way[place] += wanted;
                sent += wanted as u64;
            }
        }
        let seconds = counting.elapsed().as_secs_f64();
        let rcodes: Vec<String> = by_rcode.iter().map(|(rcode, count)| format!("\"{rcode}\": {count}")).collect();
        println!(
            "{{\"qps\": {:.0}, \"replies\": {}, \"lost\": {lost}, \"sent\": {sent}, \"rcodes\": {{{}}}}}",
            received as f64 / seconds,
            before + received,
            rcodes.join(", ")
        );
    }

    /// Sends at an even rate and measures each reply.
    fn pace(&self, rate: f64) {
        let socket = &self.sockets[0];
        let gap = Duration::from_secs_f64(1.0 / rate);
        let mut asked = vec![Instant::now(); 1 << 16];
        let mut took_ns: Vec<u64> = Vec::with_capacity((rate * self.time.as_secs_f64()) as usize + SIZE);
        let mut buffer = [0; CAPACITY];
        let begin = Instant::now();
        let mut due = begin;
        let mut next = 0usize;
        loop {
            let now = Instant::now();
            if now - begin > self.time + WARM_UP {
                break;
            }
            while let Ok(length) = socket.recv(&mut buffer) {
                let took = asked[u16::from_be_bytes([buffer[0], buffer[1]]) as usize].elapsed();
                if length > 3 && now - begin > WARM_UP {
                    took_ns.push(took.as_nanos() as u64);
                }
            }
            if now >= due {
                let mut query = self.queries[next % self.queries.len()].clone();
                query[..2].copy_from_slice(&(next as u16).to_be_bytes());
                asked[next & 0xFFFF] = Instant::now();
                let _ = socket.send(&query);
                next += 1;
                due += gap;
                if now - due.min(now) > gap * 8 {
                    due = now; // the generator itself was held up: no burst to make up for it
                }
            }
        }
        took_ns.sort_unstable();
        let at = |share: f64| {
            took_ns.get(((took_ns.len() as f64 * share) as usize).min(took_ns.len().max(1) - 1)).copied().unwrap_or(0)
        };
        println!(
            "{{\"received\": {}, \"sent\": {next}, \"mean_us\": {:.1}, \"p50_us\": {:.1}, \"p99_us\": {:.1}}}",
            took_ns.len(),
            took_ns.iter().sum::<u64>() as f64 / took_ns.len().max(1) as f64 / 1e3,
            at(0.5) as f64 / 1e3,
            at(0.99) as f64 / 1e3
        );
    }
}
