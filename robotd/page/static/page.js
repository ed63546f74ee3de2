'use strict';
// Brings in the parts of the page that changed, without reloading it. Each request also counts
// as an operator's heartbeat, so their pause is below a second.
const pause = 800;
const patience = 4000;
const stopPatience = 2000; // of Stop: people have to know soon that they must stop the robot another way

// A command must not end in silence, so the page is left for its answer only, while one is awaited.
let awaited = 0; // commands without an answer
let leaving = false;

function leave(ofCommand, go) {
  if (leaving || (awaited && !ofCommand)) return;
  leaving = true;
  go();
}

function bringIn(next, ofCommand) {
  const parts = [...document.querySelectorAll('[data-part]')];
  const names = (all) => all.map((p) => p.dataset.part).join();
  if (names(parts) !== names([...next.querySelectorAll('[data-part]')])) return leave(ofCommand, () => location.reload());
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

// showBanner says that the command of a button is being sent (sending) or had no answer (not-sent), or hides that.
function showBanner(id, is, button) {
  const banner = document.getElementById(id);
  banner.hidden = !is;
  if (is) banner.querySelector('strong').textContent = button;
}

// load brings in the page at a path. button is the text of the button whose command is sent to the
// path, if it is one.
async function load(path, options, button) {
  const ofCommand = button !== undefined;
  awaited += ofCommand;
  if (ofCommand) {
    showBanner('sending', true, button);
    showBanner('not-sent', false);
  }
  try {
    const most = path.endsWith('/do/stop') ? stopPatience : patience;
    const answer = await fetch(path, { ...options, signal: AbortSignal.timeout(most) });
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
    alive(true);
    const isPage = next.getElementById('stop') !== null;
    if (ofCommand && new URL(answer.url).pathname === '/sign-in') return leave(true, () => location.assign(answer.url));
    if (ofCommand) showBanner('not-sent', !isPage, button);
    if (isPage) bringIn(next, ofCommand);
    else if (!ofCommand) leave(false, () => location.reload()); // signed out
  } catch {
    alive(false);
    if (ofCommand) showBanner('not-sent', true, button);
  } finally {
    awaited -= ofCommand;
    if (awaited === 0) showBanner('sending', false);
  }
}

async function keepUp() {
  await load('/', {});
  setTimeout(keepUp, pause);
}

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.getAttribute('action').startsWith('/do/')) return;
  if (leaving) return; // the browser sends it, and shows the answer
  event.preventDefault();
  if (document.activeElement.matches('select, input')) document.activeElement.blur(); // what was chosen is sent
  load(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) }, event.submitter?.textContent ?? '');
});

document.addEventListener('input', (event) => {
  if (event.target.id === 'volume') event.target.nextElementSibling.textContent = `${event.target.value} %`;
});

addEventListener('pageshow', () => (leaving = false)); // also after Back

setTimeout(keepUp, pause);
