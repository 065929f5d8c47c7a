export function drawFilmStrip() {}
