import { create } from 'zustand';

import { addressOf } from '../base';
import { api, type Robot, type Status } from '../api/client';
import { problemOf } from '../api/problem';
import { robots } from './robots';

/** ms without a message from fleetd until the connection counts as lost; fleetd sends its status every 2 s. */
const silence = 8000;
/** ms until a lost connection is opened again. */
const pause = 1500;
/** ms for which a tab that is shown again may be without robots until the connection counts as lost. */
export const shownAgain = 2000;

/** What is shown is current only while it is live. 'lost' is also said above every screen. */
export type Connection = 'connecting' | 'live' | 'lost';

interface Live {
  connection: Connection;
  /** When the connection was lost or closed, by this machine's clock; 0 while it is live, and before the first. */
  lostAt: number;
  /** The newest status of fleetd, and when it arrived by this machine's clock. */
  fleetd?: Status;
  fleetdAt: number;
  /** fleetd asks for a sign-in. */
  signInRequired: boolean;
}

/** What the console knows of fleetd and of its own connection to it. */
export const useLive = create<Live>()(() => ({
  connection: 'connecting',
  lostAt: 0,
  fleetdAt: 0,
  signInRequired: false,
}));

/** fleetd's clock, extrapolated, so that ages do not depend on this machine's clock. */
export function fleetdNow(): number {
  const { fleetd, fleetdAt } = useLive.getState();
  return fleetd ? Date.parse(fleetd.ts) + (Date.now() - fleetdAt) : Date.now();
}

/** The stream is wanted: somebody is signed in. */
let wanted = false;
let source: EventSource | undefined;
let watchdog: number | undefined;
let retry: number | undefined;
let slow: number | undefined;

function lost(): void {
  source?.close();
  source = undefined;
  clearTimeout(watchdog);
  const { connection, lostAt } = useLive.getState();
  if (connection === 'live' || lostAt === 0) useLive.setState({ lostAt: Date.now() });
  if (connection === 'live') useLive.setState({ connection: 'lost' });
  clearTimeout(retry);
  retry = window.setTimeout(() => void reopen(), pause);
}

// An EventSource does not say why it failed, so fleetd is asked whether it wants a sign-in.
async function reopen(): Promise<void> {
  try {
    await api.GET('/api/v1/version');
  } catch (thrown) {
    if (problemOf(thrown).signInRequired) {
      useLive.setState({ signInRequired: true });
      return;
    }
    useLive.setState({ connection: 'lost' });
  }
  if (wanted && !source && !document.hidden) open();
}

function received(): void {
  clearTimeout(watchdog);
  watchdog = window.setTimeout(lost, silence);
}

function open(): void {
  const s = new EventSource(addressOf('/api/v1/stream'));
  source = s;
  received();
  const on = <T>(name: string, take: (body: T) => void) =>
    s.addEventListener(name, (e) => {
      received();
      take(JSON.parse((e as MessageEvent<string>).data) as T);
    });
  on<Status>('fleetd', (fleetd) => useLive.setState({ fleetd, fleetdAt: Date.now() }));
  // fleetd sends a large fleet in parts; they replace what was there together.
  const all: Robot[] = [];
  on<{ robots: Robot[]; more?: boolean }>('robots', (body) => {
    for (const r of body.robots) all.push(r);
    if (body.more) return;
    robots.reset(all.splice(0));
    useLive.setState({ connection: 'live', lostAt: 0 });
  });
  on<{ robots: Robot[] }>('changes', (body) => robots.apply(body.robots));
  s.onerror = lost;
}

function close(): void {
  clearTimeout(retry);
  clearTimeout(watchdog);
  clearTimeout(slow);
  source?.close();
  source = undefined;
}

// A hidden tab has no stream: without HTTP/2 a browser has six connections to fleetd for all of its tabs together, and
// a stream keeps one. With six, no request leaves any tab. What it shows is old from then on, until robots arrive again.
function follow(): void {
  if (!wanted) return;
  if (document.hidden) {
    close();
    if (useLive.getState().connection === 'live') useLive.setState({ connection: 'connecting', lostAt: Date.now() });
  } else if (!source) {
    clearTimeout(retry);
    clearTimeout(slow);
    slow = window.setTimeout(() => {
      const { connection, lostAt } = useLive.getState();
      if (connection === 'connecting' && lostAt > 0) useLive.setState({ connection: 'lost' });
    }, shownAgain);
    open();
  }
}

/** Opens the one stream of this tab. Every connection begins with all robots, so nothing survives a lost one. */
export function startStream(): void {
  useLive.setState({ signInRequired: false });
  document.addEventListener('visibilitychange', follow); // once, however often it is added
  wanted = true;
  follow();
}

/** Closes the stream, such as at sign-out. */
export function stopStream(): void {
  wanted = false;
  close();
  robots.reset([]);
  useLive.setState({ connection: 'connecting', lostAt: 0, fleetd: undefined });
}
