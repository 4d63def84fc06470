//! Frames: the length of a message in four bytes, little end first, and the message in MessagePack.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// The longest message, in bytes: a picture of a hundred megapixels fits.
const MAX: u32 = 1 << 30;

fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    rmp_serde::encode::write_named(&mut bytes, message).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len() - 4).ok().filter(|length| *length <= MAX);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    for (place, byte) in bytes.iter_mut().zip(length.to_le_bytes()) {
        *place = byte;
    }
    Ok(bytes)
}

fn checked(length: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length);
    match length <= MAX {
        true => Ok(length as usize),
        false => Err(io::Error::other("a message announces more than a message may have")),
    }
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    rmp_serde::from_slice(bytes).map_err(io::Error::other)
}

pub(super) async fn write(out: &mut (impl AsyncWrite + Unpin), message: &impl Serialize) -> io::Result<()> {
    out.write_all(&encode(message)?).await?;
    out.flush().await
}

pub(super) async fn read<T: DeserializeOwned>(from: &mut (impl AsyncRead + Unpin)) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length).await?;
    let mut bytes = Vec::new();
    let length = checked(length)?;
    // What is announced is allocated as it comes.
    from.take(length as u64).read_to_end(&mut bytes).await?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    decode(&bytes)
}

pub(super) fn write_blocking(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    out.write_all(&encode(message)?)?;
    out.flush()
}

pub(super) fn read_blocking<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut bytes = Vec::new();
    let length = checked(length)?;
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    decode(&bytes)
}
