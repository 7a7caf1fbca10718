//! TLS to a PostgreSQL server, by `rustls`: the certificate is always verified, and the password
//! is bound to it where the server can.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use iai_sync::RemoteError;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream as RustlsStream;

/// Connects with TLS.
#[derive(Clone)]
pub(super) struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    /// Trusts the certificates of a file, or those that the system trusts.
    pub(super) fn new(roots: Option<&Path>) -> Result<Self, RemoteError> {
        let mut store = RootCertStore::empty();
        let (n_added, _) = store.add_parsable_certificates(match roots {
            Some(path) => from_file(path)?,
            None => rustls_native_certs::load_native_certs().certs,
        });
        if n_added == 0 {
            let told = roots.map_or_else(
                || "the system trusts no certificates; name a file with `sslrootcert=`".to_owned(),
                |path| format!("{} holds no certificates", path.display()),
            );
            return Err(RemoteError::Refused(format!("PostgreSQL: {told}")));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| RemoteError::Refused(format!("TLS: {error}")))?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config) })
    }
}

fn from_file(path: &Path) -> Result<Vec<CertificateDer<'static>>, RemoteError> {
    let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    certificates.map_err(|error| {
        let told = format!("PostgreSQL: sslrootcert {}: {error}", path.display());
        RemoteError::Refused(told)
    })
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Protected<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Handshake { connector: TlsConnector::from(Arc::clone(&self.config)), name })
    }
}

/// What is needed to begin.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Protected<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Protected<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, stream).await.map(Protected) })
    }
}

/// A connection under TLS.
pub(super) struct Protected<S>(RustlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Protected<S> {
    fn channel_binding(&self) -> ChannelBinding {
        let (_, session) = self.0.get_ref();
        let certificate = session.peer_certificates().and_then(<[_]>::first);
        let binding = certificate.and_then(|certificate| end_point(certificate));
        binding.map_or_else(ChannelBinding::none, ChannelBinding::tls_server_end_point)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Protected<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Protected<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// `tls-server-end-point`, RFC 5929: the certificate under the hash of its own signature, SHA-256
/// in place of what is older. None for signatures without a hash.
fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    Some(match signature_hash(certificate)? {
        Hash::Sha256 => Sha256::digest(certificate).to_vec(),
        Hash::Sha384 => Sha384::digest(certificate).to_vec(),
        Hash::Sha512 => Sha512::digest(certificate).to_vec(),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

/// The object identifiers of signatures, as they are encoded.
const SIGNATURES: [(&[u8], Hash); 8] = [
    // RSA PKCS #1 with SHA-1, SHA-256, SHA-384, SHA-512.
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 5], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 12], Hash::Sha384),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 13], Hash::Sha512),
    // ECDSA with SHA-1, SHA-256, SHA-384, SHA-512.
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2], Hash::Sha256),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 3], Hash::Sha384),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 4], Hash::Sha512),
];

/// `SEQUENCE { toBeSigned SEQUENCE, algorithm SEQUENCE { OBJECT IDENTIFIER, … }, … }`
fn signature_hash(certificate: &[u8]) -> Option<Hash> {
    const SEQUENCE: u8 = 0x30;
    const OBJECT_IDENTIFIER: u8 = 0x06;
    let (content, _) = value(certificate, SEQUENCE)?;
    let (_, rest) = value(content, SEQUENCE)?;
    let (algorithm, _) = value(rest, SEQUENCE)?;
    let (identifier, _) = value(algorithm, OBJECT_IDENTIFIER)?;
    SIGNATURES.iter().find(|(known, _)| *known == identifier).map(|(_, hash)| *hash)
}

/// Returns the content of a value in DER that must have this tag, and what follows it.
fn value(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first().filter(|_| *found == tag)?;
    let (n_bytes, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let fold = |sum: usize, byte: &u8| sum.checked_mul(256)?.checked_add(usize::from(*byte));
        (length.iter().try_fold(0, fold)?, rest)
    };
    rest.split_at_checked(n_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_signature_is_found() {
        let length = |bytes: &[u8]| u8::try_from(bytes.len()).unwrap();
        let certificate = |identifier: &[u8]| {
            let algorithm = [&[0x06, length(identifier)][..], identifier, &[5, 0]].concat();
            let signed = [&[0x30, 0x81, 0x80][..], &[7; 0x80]].concat();
            let content =
                [&signed[..], &[0x30, length(&algorithm)], &algorithm, &[3, 1, 0]].concat();
            [&[0x30, 0x82, 0, length(&content)][..], &content].concat()
        };
        for (identifier, hash) in SIGNATURES {
            let certificate = certificate(identifier);
            assert_eq!(signature_hash(&certificate), Some(hash));
            let n_bytes = match hash {
                Hash::Sha256 => 32,
                Hash::Sha384 => 48,
                Hash::Sha512 => 64,
            };
            assert_eq!(end_point(&certificate).unwrap().len(), n_bytes);
            for at in 0..certificate.len() {
                assert_eq!(signature_hash(&certificate[..at]), None, "cut at {at}");
            }
        }
        // Ed25519 hashes nothing.
        assert_eq!(signature_hash(&certificate(&[0x2b, 0x65, 0x70])), None);
    }
}
