// The live page: it reads fleetd's event stream and posts stops and releases. Every new
// connection starts with a snapshot of all robots, so no state survives a lost one.
'use strict';

const byID = (id) => document.getElementById(id);
const rows = new Map(); // robot id -> its newest summary
const cards = new Map(); // robot id -> its card
let fleetd = null; // newest status of fleetd
let receivedAt = 0; // when fleetd last sent something, by this machine's clock
let source = null;

const MODE = { str: 'str (start-up)', mnl: 'mnl (manual)', ato: 'ato (automatic)' }; // safe is its own name
const MARK = { online: '●', degraded: '◐', lost: '✕', offline: '○', sleeping: '☾', unknown: '?' };
const LEVEL = { warn: 'warn', error: 'bad', safety: 'warn' }; // tones of events
const AUTO = { idle: 'performing', paused: 'paused', stopped: 'stopped', halt: 'off (not in ato)' };
const SILENCE = 8000; // ms without a message from fleetd until the connection counts as lost
const WHY = 'STOP pressed on the live page';
const HOLD = 1000; // ms to hold STOP all

const clock = (t) => new Date(t).toLocaleTimeString([], { hour12: false });

function ago(t) {
  const s = Math.max(0, Math.round((fleetdNow() - Date.parse(t)) / 1000));
  if (s < 60) return s + ' s ago';
  if (s < 3600) return Math.floor(s / 60) + ' min ago';
  return 'since ' + new Date(t).toLocaleString();
}

// fleetd's clock, extrapolated, so that ages do not depend on this machine's clock.
function fleetdNow() {
  return fleetd ? Date.parse(fleetd.ts) + (Date.now() - fleetd.at) : Date.now();
}

function say(node, text, tone) {
  if (node.textContent !== text) node.textContent = text;
  node.classList.toggle('ok', tone === 'ok');
  node.classList.toggle('warn', tone === 'warn');
  node.classList.toggle('bad', tone === 'bad');
}

function safetyTone(s) {
  if (s === 'ENABLED') return 'ok';
  return s === 'DISABLED' || s === 'RESET' ? '' : 'bad';
}

function storyText(r) {
  if (!r.story) return r.desired.story ? 'none yet' : 'none';
  return r.story.id + ' rev ' + r.story.rev + (r.act ? ', act ' + r.act : '');
}

// ofActivity reports whether the focused activity holds a pause.
const ofActivity = (p) => p.token.startsWith('activity:');

// performsActivity reports whether only the focused activity pauses the story.
const performsActivity = (r) => r.auto === 'paused' && !!r.life?.focused && r.pause_holders.every(ofActivity);

function lifeText(life) {
  let s = life.state;
  if (life.reason) s += ' (' + life.reason.replaceAll('_', ' ') + ')';
  if (life.focused) s += ': ' + life.focused;
  if (life.stack) s += ', then again ' + life.stack.join(', ');
  if (life.next) s += ', next ' + life.next;
  return s;
}

function convergenceText(r) {
  const w = r.desired;
  if (!w.story || w.converged) return '';
  let s = w.story.id + ' rev ' + w.story.rev + ': ' + (w.phase || 'not reported');
  if (w.progress != null) s += ' ' + w.progress + ' %';
  if (w.reason) s += ' (' + w.reason + ')';
  return s;
}

// Shows the kind of a pause; the whole token is only needed to release it.
function holderText(p) {
  let s = p.token.split(':')[0];
  if (p.by) s += ' ' + p.by;
  return s + (p.why ? ': ' + p.why : '');
}

// Who stopped. If an MQTT client sent the stop without fleetd, the name of the person is unverified,
// so the client is shown too.
function askerText(l) {
  if (l.client && l.by && l.by !== l.client) return l.by + ' at ' + l.client;
  return l.by || l.client || 'somebody';
}

// Who stopped a robot. The id is in the list of stops above, unless fleetd does not have it.
function latchText(l) {
  const listed = fleetd && fleetd.latched.some((h) => h.id === l.id);
  return askerText(l) + (l.why ? ': ' + l.why : '') + (listed ? '' : ' (' + l.id + ')');
}

// Who controls a robot, and the scope.
function controlText(c) {
  return (c.by ? c.by + ' at ' + c.holder : c.holder) + (c.scope === 'all' ? ', all of it' : '');
}

function modeText(r) {
  if (!r.mode) return 'not reported yet';
  let s = MODE[r.mode] || r.mode;
  if (r.intended && r.intended !== r.mode) s += ' → ' + (MODE[r.intended] || r.intended);
  if (r.mode_phase && r.mode_phase !== 'running') s += ', ' + r.mode_phase;
  if (!r.calibrated) s += ', not calibrated';
  return s;
}

function draw(r) {
  let card = cards.get(r.id);
  if (!card) {
    card = byID('card').content.firstElementChild.cloneNode(true);
    card.querySelector('h2').textContent = r.id;
    card.querySelector('.name').textContent = r.id;
    card.querySelector('button').addEventListener('click', () => stopOne(r.id));
    cards.set(r.id, card);
    const after = [...cards.keys()].sort(naturally)[[...cards.keys()].sort(naturally).indexOf(r.id) + 1];
    byID('robots').insertBefore(card, after ? cards.get(after) : null);
  }
  const at = (sel) => card.querySelector(sel);
  drawPresence(r, card);
  say(at('.mode'), modeText(r), r.mode === 'safe' ? 'bad' : '');
  let safety = r.safety || 'not reported yet';
  if (r.latched_by) safety += ' by ' + r.latched_by;
  else if (r.cause) safety += ' (' + r.cause + ')';
  if (r.estop_input) safety += ', stop input pressed';
  if (r.state_outdated) safety += ' - state out of date: the robot has published a newer one; all but mode and safety is from ' + clock(r.state_at);
  say(at('.safety'), safety, r.state_outdated ? 'bad' : r.safety ? safetyTone(r.safety) : '');
  let auto = AUTO[r.auto] || r.auto || 'not reported yet';
  if (r.auto_reason) auto += ' (' + (r.auto_reason === 'needs_start' ? 'needs auto/start' : r.auto_reason.replaceAll('_', ' ')) + ')';
  if (performsActivity(r)) say(at('.auto'), 'performing ' + r.life.focused, 'ok');
  else say(at('.auto'), auto, r.auto === 'idle' ? 'ok' : r.auto === 'paused' ? 'warn' : '');
  say(at('.story'), storyText(r));
  say(at('.life'), r.life ? lifeText(r.life) : '', r.life?.state === 'safeguard' ? 'warn' : r.life?.focused ? 'ok' : '');
  say(at('.control'), r.control ? controlText(r.control) : '', 'warn');
  say(at('.pauses'), r.pause_holders.filter((p) => !ofActivity(p)).map(holderText).join('; '), 'warn');
  say(at('.latches'), r.latches.map(latchText).join('; '), 'bad');
  say(at('.interrupts'), r.interrupts.map((i) => i.handler + ' for ' + i.interrupter).join(', '), 'warn');
  say(at('.desired'), convergenceText(r), r.desired.reason ? 'bad' : 'warn');
  say(at('.labels'), Object.entries(r.labels).map(([k, v]) => k + '=' + v).join(' '));
  say(at('.event'), r.last_event ? clock(r.last_event.ts) + ' ' + r.last_event.type.replaceAll('_', ' ') : 'none yet', r.last_event ? LEVEL[r.last_event.level] : '');
  for (const what of ['life', 'latches', 'pauses', 'control', 'interrupts', 'desired', 'labels']) {
    at('.if-' + what).hidden = at('.' + what).textContent === '';
  }
  const list = at('.alerts');
  const alerts = r.skew ? [...r.alerts, { level: 'warn', detail: r.skew }] : r.alerts;
  list.replaceChildren(...alerts.map((a) => {
    const li = document.createElement('li');
    li.className = a.level;
    const level = document.createElement('b');
    level.textContent = a.level;
    li.append(level, ' ' + a.detail + (a.hint ? ' - ' + a.hint : ''));
    return li;
  }));
}

const latchedRows = new Map(); // id of a latched stop -> its row

const NAMED = 4; // up to this many robots of a stop are named, more are counted

function whomText(h) {
  if (h.all) return 'all robots';
  const names = [...rows.values()].filter((r) => r.latches.some((l) => l.id === h.id)).map((r) => r.id).sort(naturally);
  if (h.count <= NAMED && names.length === h.count) return names.join(', ');
  return h.count + (h.count === 1 ? ' robot' : ' robots');
}

// The latched stops: robots, person and reason, and a form to release each.
function drawLatched() {
  if (!fleetd) return;
  const now = new Set(fleetd.latched.map((h) => h.id));
  for (const [id, row] of latchedRows) {
    if (!now.has(id)) { row.remove(); latchedRows.delete(id); }
  }
  for (const h of fleetd.latched) {
    let row = latchedRows.get(h.id);
    if (!row) {
      row = byID('latched-stop').content.firstElementChild.cloneNode(true);
      row.querySelector('form').addEventListener('submit', (e) => { e.preventDefault(); release(h.id, row); });
      latchedRows.set(h.id, row);
      byID('latched-list').append(row);
    }
    say(row.querySelector('.whom'), whomText(h));
    say(row.querySelector('.what'), askerText(h) + (h.why ? ': ' + h.why : '') + (h.persisted ? '' : ' (not persisted yet)'));
    say(row.querySelector('.id'), 'since ' + clock(h.since) + ', ' + h.id);
  }
  const count = latchedRows.size + (latchedRows.size === 1 ? ' latched stop' : ' latched stops');
  if (fleetd.latched_complete) say(byID('latched-title'), count);
  else say(byID('latched-title'), latchedRows.size ? 'at least ' + count : 'stops may be latched');
  byID('latched-incomplete').hidden = fleetd.latched_complete;
  byID('latched').hidden = latchedRows.size === 0 && fleetd.latched_complete;
}

// Commands that a broker retained: whether each was removed.
function retainedText(k) {
  return k.topic + ', sent by ' + k.client + ': ' + (k.why ? 'not removed yet: ' + k.why : 'removed at ' + clock(k.at));
}

function drawRetained() {
  const retained = fleetd.retained_commands || [];
  byID('retained-list').replaceChildren(...retained.map((k) => {
    const item = document.createElement('li');
    item.textContent = retainedText(k);
    return item;
  }));
  byID('retained').hidden = retained.length === 0;
}

async function release(id, row) {
  const result = row.querySelector('.result');
  say(result, 'releasing');
  try {
    const answer = await fetch('api/v1/stops/release', {
      method: 'POST',
      signal: AbortSignal.timeout(SILENCE),
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ids: [id], by: 'live-page', why: row.querySelector('.reason').value }),
    });
    if (answer.ok) return; // fleetd's next status removes the row
    const refusal = await answer.json();
    throw new Error(refusal.detail || refusal.title || answer.statusText);
  } catch (err) {
    say(result, 'Not released: ' + errorText(err), 'bad');
  }
}

const silent = () => !receivedAt || Date.now() - receivedAt > SILENCE;

// While the connection to fleetd is lost, the presence of every robot is unknown.
function drawPresence(r, card) {
  const p = r.presence;
  const view = silent() ? 'unknown' : p.view;
  card.dataset.view = view;
  card.dataset.latched = r.latches.length > 0;
  card.querySelector('.mark').textContent = MARK[view] || '?';
  say(card.querySelector('.word'), view === p.view ? view : view + ', was ' + p.view);
  let s = p.view === 'online' && !p.disputed ? '' : p.why || '';
  if (p.last_seen && p.view !== 'online') s += (s ? '; ' : '') + 'last seen ' + ago(p.last_seen);
  const there = p.view === 'online' || p.view === 'degraded';
  if (!r.adopted) s += (s ? '; ' : '') + (there ? 'not adopted by this fleet' : 'not of this fleet; the broker has retained documents of it: fleetd robot orphans');
  say(card.querySelector('.why'), s);
}

const naturally = (a, b) => a.localeCompare(b, 'en', { numeric: true });

function drawSummary() {
  const count = {};
  let performing = 0;
  let held = 0;
  for (const r of rows.values()) {
    count[r.presence.view] = (count[r.presence.view] || 0) + 1;
    if ((r.auto === 'idle' || performsActivity(r)) && (r.presence.view === 'online' || r.presence.view === 'degraded')) performing++;
    if (r.latches.length > 0) held++;
  }
  const parts = Object.keys(MARK).filter((v) => count[v]).map((v) => count[v] + ' ' + v);
  say(byID('summary'), rows.size + (rows.size === 1 ? ' robot' : ' robots') + (parts.length ? ': ' + parts.join(', ') : '') + '; ' + performing + ' performing' + (held ? '; ' + held + ' stopped by a latched stop' : ''));
  byID('none').hidden = rows.size > 0;
}

function banner() {
  const b = byID('banner');
  let text = '';
  if (!receivedAt) text = 'Not connected to fleetd: the state of robots is unknown. STOP may not arrive: stop robots at the robot.';
  else if (silent()) text = 'Connection to fleetd lost. This page shows the state of ' + clock(receivedAt) + ', which may be wrong now. STOP may not arrive: stop robots at the robot.';
  else if (fleetd && !fleetd.broker.ok) text = 'fleetd is not connected to the broker' + (fleetd.broker.since ? ' since ' + clock(fleetd.broker.since) : '') + ': it cannot reach robots and does not know their state. Stop robots at the robot.';
  else if (fleetd && !fleetd.database.ok) text = 'The database does not answer: robots continue and stops work, everything else waits. ' + (fleetd.database.why || '');
  else if (fleetd && fleetd.disputed) text = fleetd.disputed + ': two fleetd instances with the same name disconnect each other again and again. Stop one of them, or start it with another --name.';
  b.hidden = text === '';
  say(b, text);
  document.body.classList.toggle('lost', silent() || (fleetd !== null && !fleetd.broker.ok));
}

// Which of several fleetd instances is the leader, which publishes desired documents and latched stops.
function leaderText() {
  const led = fleetd.leadership;
  if (led.leads) return 'leader';
  return led.leader ? 'leader ' + led.leader : 'no leader: ' + led.why;
}

function noteMessage() {
  receivedAt = Date.now();
  byID('as-of').textContent = clock(receivedAt);
}

// Removes the card of a robot that was removed from the fleet.
function forget(id) {
  rows.delete(id);
  const card = cards.get(id);
  if (card) card.remove();
  cards.delete(id);
}

function connect() {
  if (source) source.close();
  source = new EventSource('api/v1/stream');
  source.addEventListener('robots', (e) => {
    noteMessage();
    const all = JSON.parse(e.data).robots;
    rows.clear();
    for (const r of all) rows.set(r.id, r);
    for (const id of [...cards.keys()]) {
      if (!rows.has(id)) forget(id);
    }
    for (const r of all) draw(r);
    drawSummary(); drawLatched(); banner(); // drawLatched names robots from rows
  });
  source.addEventListener('changes', (e) => {
    noteMessage();
    for (const r of JSON.parse(e.data).robots) {
      if (r.gone) forget(r.id);
      else { rows.set(r.id, r); draw(r); }
    }
    drawSummary(); drawLatched(); banner(); // drawLatched names robots from rows
  });
  source.addEventListener('fleetd', (e) => {
    fleetd = JSON.parse(e.data);
    fleetd.at = Date.now();
    drawLatched();
    drawRetained();
    say(byID('fleetd'), 'fleetd ' + fleetd.name + ' ' + fleetd.version + ', ' + leaderText());
    noteMessage(); banner();
  });
}

// Replaces the browser's messages about network errors.
function errorText(err) {
  if (err.name === 'TimeoutError') return 'fleetd does not answer';
  return err instanceof TypeError ? 'fleetd cannot be reached' : err.message;
}

// Why a robot has not confirmed the stop: its presence, or the state of the command.
function notStopped(c) {
  const p = rows.has(c.robot) ? rows.get(c.robot).presence : null;
  if (!p || p.view === 'online' || p.view === 'degraded') return c.robot + ' ' + c.state.toLowerCase();
  return c.robot + ' ' + p.view + (p.last_seen ? ', last seen ' + ago(p.last_seen) : '');
}

async function stop(selector, result) {
  say(result, 'stopping');
  try {
    const answer = await fetch('api/v1/stops', {
      method: 'POST',
      signal: AbortSignal.timeout(SILENCE),
      headers: { 'Content-Type': 'application/json', Prefer: 'wait=4' },
      body: JSON.stringify({ selector, by: 'live-page', why: WHY }),
    });
    const batch = await answer.json();
    if (!answer.ok) throw new Error(batch.detail || batch.title || answer.statusText);
    const done = (batch.counts && batch.counts.SUCCEEDED) || 0;
    if (batch.total === 0) say(result, clock(Date.now()) + ' stop sent; fleetd knows no robot that could confirm it', 'bad');
    else if (done === batch.total) say(result, clock(Date.now()) + ' stopped and latched: ' + done + ' of ' + batch.total + ' robots confirmed');
    else {
      const others = batch.commands.filter((c) => c.state !== 'SUCCEEDED').map((c) => notStopped(c));
      say(result, clock(Date.now()) + ' stop sent, ' + done + ' of ' + batch.total + ' robots confirmed; check: ' + others.slice(0, 8).join(', '), 'bad');
    }
  } catch (err) {
    say(result, clock(Date.now()) + ' STOP FAILED: ' + errorText(err) + '. Stop at the robot.', 'bad');
  }
}

function stopOne(id) {
  stop({ ids: [id] }, cards.get(id).querySelector('.result'));
}

function holdToStopAll() {
  const b = byID('stop-all');
  const result = byID('stop-all-result');
  let timer = 0;
  const begin = () => {
    if (timer) return;
    b.classList.add('held');
    timer = setTimeout(() => {
      end();
      result.hidden = false;
      stop({ all: true }, result);
    }, HOLD);
  };
  const end = () => {
    clearTimeout(timer);
    timer = 0;
    b.classList.remove('held');
  };
  const early = () => {
    if (timer) { result.hidden = false; say(result, 'Hold STOP all for one second.', 'warn'); }
    end();
  };
  b.addEventListener('pointerdown', (e) => { if (e.button === 0) begin(); });
  for (const what of ['pointerup', 'pointerleave', 'pointercancel', 'blur']) b.addEventListener(what, early);
  b.addEventListener('keydown', (e) => { if (e.key === ' ' || e.key === 'Enter') { e.preventDefault(); if (!e.repeat) begin(); } });
  b.addEventListener('keyup', (e) => { if (e.key === ' ' || e.key === 'Enter') early(); });
  b.addEventListener('contextmenu', (e) => e.preventDefault());
}

holdToStopAll();
connect();
setInterval(() => {
  banner();
  for (const [id, card] of cards) drawPresence(rows.get(id), card);
  // A browser stops retrying after some errors, and does not notice a half-open connection.
  if (source.readyState === EventSource.CLOSED || (receivedAt && Date.now() - receivedAt > 3 * SILENCE)) connect();
}, 1000);
