//! The names of points, as many as find room.

use super::font;
use super::room::Room;
use super::scene::{Anchor, Area, Scene};

/// The size of the font.
const SIZE: f64 = 10.0;
/// The longest name, in units; a longer one is cut.
const LONGEST: f64 = 110.0;
/// How far a name stays away from its point.
const GAP: f64 = 2.5;

/// A point on paper with its name.
pub(crate) struct Named<'a> {
    /// Where it is.
    pub(crate) at: (f64, f64),
    /// How far its dot or image reaches to the side and up.
    pub(crate) reach: (f64, f64),
    /// What it is called.
    pub(crate) name: &'a str,
}

/// Draws each name beside its point, in this order, where it lies on no other name and on nothing else that takes room; returns
/// the number of names that were drawn.
pub(crate) fn draw<'a>(scene: &mut Scene, room: &mut Room, points: impl Iterator<Item = Named<'a>>) -> usize {
    let mut drawn = 0;
    for Named { at: (x, y), reach: (across, up), name } in points {
        let name = font::fitted(name, SIZE, LONGEST);
        let width = font::width(&name, SIZE);
        let (side, above) = (across + GAP, up + GAP);
        // To the right, to the left, above, below; then the corners.
        let corners = [
            (x + side, y - SIZE / 2.0),
            (x - side - width, y - SIZE / 2.0),
            (x - width / 2.0, y - above - SIZE),
            (x - width / 2.0, y + above),
            (x + 0.7 * side, y - 0.7 * above - SIZE),
            (x - 0.7 * side - width, y - 0.7 * above - SIZE),
            (x + 0.7 * side, y + 0.7 * above),
            (x - 0.7 * side - width, y + 0.7 * above),
        ];
        let places = corners.map(|(x, y)| Area { x, y, width, height: SIZE });
        if let Some(place) = places.into_iter().find(|&place| room.is_free(place)) {
            room.take(place);
            scene.text((place.x, place.y + 0.8 * SIZE), SIZE, Anchor::Start, scene.colors.ink, name);
            drawn += 1;
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theme;

    #[test]
    fn names_that_find_no_room_are_left_out() {
        let area = Area { x: 0.0, y: 0.0, width: 200.0, height: 100.0 };
        let mut scene = Scene::new((200.0, 100.0), Theme::Light);
        let named = |x: f64| Named { at: (x, 50.0), reach: (3.0, 3.0), name: "a point" };
        let mut room = Room::new(area);
        // Twenty at one point: eight positions around it, some of which touch others.
        let drawn = draw(&mut scene, &mut room, (0..20).map(|_| named(100.0)));
        assert!((4..=8).contains(&drawn), "{drawn}");
        assert_eq!(draw(&mut scene, &mut Room::new(area), [named(20.0), named(150.0)].into_iter()), 2);
        assert_eq!(draw(&mut scene, &mut Room::new(area), [named(-500.0)].into_iter()), 0);
    }
}
