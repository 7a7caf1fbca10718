//! What we do with memories: take them in, recall them, relate them, tell about them.
//!
//! No sockets, no environment, no clock of its own: the time, the paths and the keys come in as
//! values. Everything outside this crate goes through [`MemoryEngine`].

mod arrivals;
mod attributes;
mod bell;
mod brief;
mod engine;
mod episodes;
mod error;
mod events;
mod export;
mod forgetting;
mod formality;
#[cfg(test)]
mod fuzz;
mod index;
mod ingest;
mod keeping;
mod links;
mod meaning;
mod organise;
mod patterns;
mod picture;
mod profile;
mod projects;
mod questions;
mod recall;
mod relate;
mod remarks;
mod shelf;
mod standing;
mod sync;
mod taught;
mod topology;
#[cfg(test)]
mod trial;
mod trust;
mod uses;
mod verify;

pub use arrivals::{ArrivalsAnswer, ArrivalsAsk};
pub use brief::{Brief, BriefAsk};
pub use engine::{MemoryEngine, Overview};
pub use episodes::{Episode, EpisodesAnswer, EpisodesAsk};
pub use error::MemoryError;
pub use events::{EventsAnswer, EventsAsk};
pub use export::{ExportTold, ImportTold};
pub use forgetting::{
    ForgetAsk, ForgetLine, ForgetPreview, ForgetProgress, ForgetSession, ForgetWork, ReceiptView,
    Replacement, StoredText,
};
pub use formality::Camouflaging;
pub use iai_embed::{
    EmbedError, Embedder, FakeEmbedder, Model, ModelIdentity, convert as convert_model,
    speed as model_speed,
};
pub use iai_store::{
    Attached, BackupAsk, BackupChecked, BackupFacts, COMMITTED_FOLDER, CheckDepth, CheckReport,
    Created, Existing, ExportChoice, ForgetReason, GoneNames, KeyOrigin, KeySource, KeyStatus,
    MemoryId, NewMaster, NewMemory, Problem, Reach, Receipt, ReceiptState, RestoreAsk, Role,
    SCHEMA_VERSION, SetAside, StoreError, StorePaths, SyncErasure, SyncProject, Tier, VaultKind,
    VaultNumber, back_up, check_backup, check_log, create_key_file, damaged_logs, key_status,
    restore, rotate_data_key, spool_keys,
};
pub use ingest::{BadLine, CaptureAnswer, CaptureAsk, Ingested, MissingTurns, SpoolBatch};
pub use meaning::{MeaningStatus, ModelKept};
pub use organise::{
    Asking, ConsolidateAnswer, Digest, OrganiseStatus, Pace, Patience, QuietWindow, ReflectionAsk,
    ReflectionNext, ReflectionOccasion, ReflectionStatus,
};
pub use patterns::{PatternView, PatternsAnswer, PatternsAsk};
pub use picture::{
    Cluster, Conversation, ConversationAsk, ConversationPart, DayLine, Decided, DecidedAnswer,
    DisputedGlimpse, Glimpse, LinkedGlimpse, MembersAnswer, MembersAsk, ProjectLine, SessionCursor,
    SessionLine, SessionsAnswer, SessionsAsk, Surroundings, TopicMap,
};
pub use profile::{KNOBS, Knob};
pub use questions::{Question, QuestionsAnswer, QuestionsAsk};
pub use recall::{
    Certainty, CueMode, Excerpt, Hit, Neighbour, RecallAnswer, RecallAsk, StructuralAnswer,
    StructuralAsk, TemporalAnswer, TemporalAsk, TextAnswer, TextAsk, Timing, TimingUs,
    matched_words,
};
pub use relate::{ContradictAnswer, HandPlace, ReinforceAnswer};
pub use shelf::{BesideAnswer, MemoryView, ShelfFilter};
pub use standing::{Consent, PinAnswer};
pub use sync::{
    ExchangeError, ExchangeWork, Exchanged, MachineView, Published, SharePreview, ShareProject,
    SyncIdentity, SyncStatus, Taken, VaultInvite, VaultView,
};
pub use taught::{TaughtAnswer, TaughtView};
pub use topology::{TopicView, Topology};
pub use trust::distrust;
pub use verify::VectorsCompared;
