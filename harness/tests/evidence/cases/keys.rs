//! Keys: whether they may still speak, when, and of what.

use watertight_reports::{transparency::note::NoteKey, verify::code::Code};

use super::{
    By::{Context, Signer},
    Case, case,
};
use crate::honest::ORIGIN;

pub fn cases() -> Vec<Case> {
    vec![
        case(Context, "revoked-key", Code::KeyRevoked, "The key was revoked before the run.", |scene| {
            scene.key(0, "revoked_at", "2024-01-01T00:00:00Z");
        }),
        case(
            Signer,
            "compromised-key-backdated",
            Code::KeyRevoked,
            "The key was stolen, and whoever has it dates the run back to before that.",
            |scene| {
                scene.key(0, "revoked_at", "2024-01-01T00:00:00Z");
                scene.key(0, "compromised", true);
                scene.demand("max_age_days", 36_500);
                scene.dishonest(|draft| draft.date("2023-01-01T00:00:00Z", "2023-01-01T00:01:00Z"));
                scene.unlogged();
            },
        ),
        case(Context, "key-outside-validity", Code::KeyExpired, "The key was trusted until long ago.", |scene| {
            scene.key(0, "not_after", "2024-01-01T00:00:00Z");
        }),
        case(Context, "key-not-yet-valid", Code::KeyExpired, "The key is trusted from some day to come.", |scene| {
            scene.key(0, "not_before", "2999-01-01T00:00:00Z");
            scene.key(0, "not_after", "2999-01-02T00:00:00Z");
        }),
        case(
            Context,
            "key-not-allowed-for-target",
            Code::KeyScopeTarget,
            "The key is trusted for another target.",
            |scene| scene.key(0, "targets", vec!["acme-sandbox"]),
        ),
        case(
            Context,
            "key-allowed-for-a-target-whose-name-begins-so",
            Code::KeyScopeTarget,
            "The key is trusted for a target of a longer name.",
            |scene| scene.key(0, "targets", vec!["reference-next"]),
        ),
        case(
            Context,
            "key-not-allowed-for-profile",
            Code::KeyScopeProfile,
            "The key is trusted for another profile.",
            |scene| scene.key(0, "profiles", vec!["extended"]),
        ),
        case(
            Signer,
            "key-of-a-log",
            Code::KeyRole,
            "The key that signed is also the one that vouches for the log of runs.",
            |scene| {
                let key = NoteKey::new(ORIGIN, scene.honest.keys.runner.public()).expect("a name").to_string();
                let log = [("origin".to_owned(), ORIGIN.into()), ("vkey".to_owned(), key.into())];
                scene.demand("log", vec![toml::Table::from_iter(log)]);
                scene.unlogged();
            },
        ),
    ]
}
