//! The status line with its date as an image, and for a shields.io endpoint.

use serde_json::json;

use super::{markup::Markup, run::Run, time};
use crate::{json, page::columns, results::Status};

const LABEL: &str = "watertight";
/// Pixels of a column at 11 pixels of Verdana, a little more than it needs on the average.
const COLUMN: usize = 7;
/// Pixels beside a text.
const PADDING: usize = 6;
const HEIGHT: usize = 20;

/// `conformant (core 1.0, …), 2026-01-02`: whoever sees it knows what was checked, and when.
fn message(run: Run<'_>) -> String {
    let day = time::day(&run.results.started_at).unwrap_or("date unknown");
    format!("{}, {day}", run.results.status_line())
}

/// An SVG image. Its texts are fitted to their boxes, whichever font is there.
pub(super) fn svg(run: Run<'_>) -> String {
    let message = message(run);
    let signed = run.context.signature.map_or(String::new(), |signature| {
        format!(", said to be signed: statement sha256:{}, key {}", signature.statement, signature.keys.join(", "))
    });
    let title = format!("{LABEL}: {}: {message}{signed}", run.results.target.name);
    let (left, right) = (width(LABEL), width(&message));
    let whole = (left + right).to_string();
    let height = HEIGHT.to_string();
    let mut image = Markup::new("");
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("width", whole.as_str()),
        ("height", &height),
        ("role", "img"),
        ("aria-label", &title),
    ];
    image.inside("svg", &attributes, |image| {
        image.element("title", &[], &title);
        box_of(image, (0, left), "#3b4148", LABEL);
        box_of(image, (left, right), colour(run.results.status), &message);
    });
    image.finish()
}

fn box_of(image: &mut Markup, (from, width): (usize, usize), fill: &str, text: &str) {
    let (x, room) = (from.to_string(), width.to_string());
    image.empty("rect", &[("x", &x), ("width", &room), ("height", &HEIGHT.to_string()), ("fill", fill)]);
    let start = (from + PADDING).to_string();
    let length = (width - 2 * PADDING).to_string();
    let attributes = [
        ("x", start.as_str()),
        ("y", "14"),
        ("fill", "#fff"),
        ("font-family", "Verdana,DejaVu Sans,sans-serif"),
        ("font-size", "11"),
        ("textLength", &length),
        ("lengthAdjust", "spacingAndGlyphs"),
    ];
    image.element("text", &attributes, text);
}

fn width(text: &str) -> usize {
    columns(text).max(1) * COLUMN + 2 * PADDING
}

/// Dark enough for white text (4.5 to 1).
fn colour(status: Status) -> &'static str {
    match status {
        Status::Conformant => "#1f7a4d",
        Status::Nonconformant => "#b3261e",
        Status::Incomplete => "#8a5a00",
    }
}

/// What <https://shields.io/badges/endpoint-badge> reads.
pub(super) fn endpoint(run: Run<'_>) -> String {
    json::render(&json!({
        "schemaVersion": 1,
        "label": LABEL,
        "message": message(run),
        "color": colour(run.results.status),
        // A query of the one who embeds it cannot change the colour of such a badge.
        "isError": run.results.status != Status::Conformant,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{render::tests::shown, testing};

    #[test]
    fn both_badges_say_the_whole_status_line_and_the_day() {
        for results in [testing::green(), testing::vsock_failed(), testing::dead()] {
            let (svg, json) = shown(&results, |run| (svg(run), endpoint(run)));
            let message = format!("{}, 2026-01-02", results.status_line());
            assert_eq!(svg.matches(&format!(">{message}</text>")).count(), 1, "{svg}");
            let json: Value = serde_json::from_str(&json).expect("JSON");
            assert_eq!((&json["message"], &json["schemaVersion"]), (&Value::from(message), &Value::from(1)));
            assert_eq!(json["isError"], results.status != Status::Conformant);
        }
    }

    #[test]
    fn colours_differ_by_status() {
        let all = [Status::Conformant, Status::Nonconformant, Status::Incomplete].map(colour);
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
    }

    #[test]
    fn an_image_is_shown_whole() {
        insta::assert_snapshot!(shown(&testing::green(), svg));
    }
}
