// SPDX-License-Identifier: Apache-2.0
use std::io::{Read, Write};
use std::net::TcpStream;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let mut stream = TcpStream::connect((words[1].as_str(), 80))?;
    write!(stream, "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", words[2], words[1])?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    if !answer.starts_with("HTTP/1.1 200") {
        std::process::exit(1);
    }
    print!("{}", answer.split_once("\r\n\r\n").unwrap().1);
    Ok(())
}
