'use strict';
// Brings in the parts of the page that changed, without reloading it. Each request also counts
// as an operator's heartbeat, so their pause is below a second.
const pause = 800;
const patience = 4000;

function bringIn(text) {
  const next = new DOMParser().parseFromString(text, 'text/html');
  if (!next.getElementById('stop')) return location.reload(); // signed out
  const parts = [...document.querySelectorAll('[data-part]')];
  const names = (all) => all.map((p) => p.dataset.part).join();
  if (names(parts) !== names([...next.querySelectorAll('[data-part]')])) return location.reload();
  for (const part of parts) {
    const fresh = next.querySelector(`[data-part="${part.dataset.part}"]`);
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    if (focused && focused.matches('select, input[type="range"]')) continue; // somebody is choosing
    if (part.outerHTML === fresh.outerHTML) continue;
    part.replaceWith(document.adoptNode(fresh));
    if (focused && focused.id) document.getElementById(focused.id)?.focus();
  }
}

function alive(is) {
  document.getElementById('gone').hidden = is;
  document.body.classList.toggle('stale', !is);
}

async function load(path, options) {
  try {
    const answer = await fetch(path, { ...options, signal: AbortSignal.timeout(patience) });
    bringIn(await answer.text());
    alive(true);
  } catch {
    alive(false);
  }
}

async function keepUp() {
  await load('/');
  setTimeout(keepUp, pause);
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.getAttribute('action').startsWith('/do/')) return;
  event.preventDefault();
  if (document.activeElement.matches('select, input')) document.activeElement.blur(); // what was chosen is sent
  load(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
});

document.addEventListener('input', (event) => {
  if (event.target.id === 'volume') event.target.nextElementSibling.textContent = `${event.target.value} %`;
});

setTimeout(keepUp, pause);
