//! The names that nearly every workload uses.

pub(super) use std::sync::Arc;
pub(super) use std::time::Duration;

pub(super) use ondeck::platform::{AtomicInt, Native, Ordering, Platform, Timestamp};
pub(super) use ondeck_zoo::{Kind, RawLock, RawRwLock};

pub(super) use super::face::{Column, Group, Judged, Needs, Shown, Table, Threads};
pub(super) use super::guarded::Guarded;
pub(super) use super::kinds::{RwWorkload, Workload};
pub(super) use super::situation::{
    ALONE, Extent, LONG, MANY, MOST_THREADS, PROGRAM, Rounds, Shares, by, counts, counts_of_two,
    moments, product,
};
pub(super) use super::times::Times;
pub(super) use super::{
    AnyMutex, Apart, Asked, Called, EmptyLock, Notify, Round, Sampled, Schedule, Situation,
    WorkloadInfo, audit, on_native, param,
};
pub(super) use crate::clock::TickScale;
pub(super) use crate::machine::Machine;
pub(super) use crate::sample::*;
pub(super) use crate::team::{self, Member, Outcome, TeamError, TeamSetting, Until};
pub(super) use crate::usage::Usage;
pub(super) use crate::work::Work;
