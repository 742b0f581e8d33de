// A cover over each simulation of a page, until the reader clicks it: the wheel scrolls the page that it is in, and keys
// are the simulation's only while it has the focus. Without this script there is no cover, and all works at once.
const places = [...document.querySelectorAll('.live-page')].map((place) => ({
  frame: place.querySelector('iframe'), cover: place.querySelector('.live-cover'),
}));

function coverOthers() {
  for (const { frame, cover } of places) cover.hidden = document.activeElement === frame;
}

for (const { frame, cover } of places) {
  cover.hidden = false;
  cover.addEventListener('click', () => {
    frame.focus();
    coverOthers();
  });
}
// the focus comes back to this page, or goes to another simulation, which is told to nobody but by the blur
window.addEventListener('focus', () => setTimeout(coverOthers));
window.addEventListener('blur', () => setTimeout(coverOthers));
document.addEventListener('pointerdown', (event) => {
  if (!(event.target instanceof Element && event.target.closest('.live-cover'))) {
    if (document.activeElement instanceof HTMLIFrameElement) document.activeElement.blur();
    coverOthers();
  }
});
