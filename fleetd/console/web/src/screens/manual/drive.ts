import { create } from 'zustand';

import { addressOf } from '../../base';
import { api } from '../../api/client';
import type { Verb } from '../../contract';
import { type Cause, DeadMan, type Source, type Velocity } from './deadman';
import { type At, extend, type Track } from './floor';
import { Latency, zeroAt } from './latency';

/** ms between frames. */
const every = 50;
/** ms after which frames have come to a halt: fleetd stops the robot then, too. */
const frameGap = 250;
/** ms of a lease, how often it is renewed, and after how long without a touch it is not. */
export const leaseFor = 30_000;
const renewEvery = 10_000;
export const presentFor = 90_000;
/** fleetd keeps the control of a lost connection for 2 s. */
const reconnectFor = 1800;
const reconnectPause = 350;

/** What the robot reports of itself ten times a second. */
export interface Figures {
  vx: number;
  wz: number;
  at?: At;
  theta?: number;
}

/** While the robot stands, its figures stay the same object, and nothing is drawn again. */
const same = (a: Figures, b: Figures) =>
  a.vx === b.vx && a.wz === b.wz && a.at?.x === b.at?.x && a.at?.y === b.at?.y && a.theta === b.theta;

/** Why driving was stopped: by the page, by fleetd, or because the session is over. */
export interface DriveStop {
  cause: Cause | (string & {});
  /** In fleetd's words; empty if it was the page. */
  detail: string;
  /** Control is lost. */
  over: boolean;
}

interface Driving extends Track {
  /** The lease of this page; empty = it has no control. */
  lease: string;
  connected: boolean;
  limits?: { mps: number; radps: number };
  figures?: Figures;
  /** The robot's clock of the newest figures, and when they came by performance.now(). */
  monoMS: number;
  monoAt: number;
  latency: number;
  /** What the page asks for, in m/s and rad/s. */
  asked: Velocity;
  stopped?: DriveStop;
  /** performance.now() of the newest touch, key or movement of a gamepad. */
  presentAt: number;
}

const nothing: Driving = {
  lease: '',
  connected: false,
  path: [],
  drove: 0,
  monoMS: 0,
  monoAt: 0,
  latency: 0,
  asked: { vx: 0, wz: 0 },
  presentAt: 0,
};

/** What the screen shows of driving. */
export const useDriving = create<Driving>()(() => nothing);

interface Message {
  type: 'limits' | 'echo' | 'robot' | 'stopped' | 'ended';
  mps?: number;
  radps?: number;
  seq?: number;
  t?: number;
  robot_ms?: number;
  mono_ms?: number;
  figures?: Record<string, number>;
  cause?: string;
  detail?: string;
}

/** One person's control of a robot from this page, from taking it to giving it back. */
export class Drive {
  private readonly dead = new DeadMan();
  private readonly latency = new Latency();
  private socket?: WebSocket;
  private seq = 0;
  private lostAt = 0;
  private timers: number[] = [];
  private ended = false;
  private tickedAt = performance.now();
  /** Called before each frame, to read what has no events. */
  readonly polls = new Set<(now: number) => void>();
  /** The greatest speeds that the person chose. */
  speed = { mps: 0.2, radps: 0.6 };

  constructor(
    readonly robot: string,
    readonly lease: string,
  ) {
    useDriving.setState({ ...nothing, lease, presentAt: performance.now() });
    this.connect();
    this.timers.push(window.setInterval(() => this.tick(), every));
    this.timers.push(window.setInterval(() => void this.renew(false), renewEvery));
  }

  private connect(): void {
    const url = new URL(addressOf(`/api/v1/robots/${encodeURIComponent(this.robot)}/teleop`), window.location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const s = new WebSocket(url);
    this.socket = s;
    s.onopen = () => {
      this.lostAt = 0;
      useDriving.setState({ connected: true });
    };
    s.onmessage = (e) => this.take(JSON.parse(e.data as string) as Message);
    s.onclose = () => {
      if (this.socket === s) this.lost();
    };
  }

  // A connection may break for a moment: fleetd has stopped the robot by then, and keeps the
  // control of this page for a while.
  private lost(): void {
    if (this.ended) return;
    this.zero('socket');
    useDriving.setState({ connected: false });
    this.lostAt ||= performance.now();
    if (performance.now() - this.lostAt > reconnectFor) {
      this.over({ cause: 'socket', detail: '', over: true });
      return;
    }
    window.setTimeout(() => {
      if (!this.ended) this.connect();
    }, reconnectPause);
  }

  private take(m: Message): void {
    const now = performance.now();
    switch (m.type) {
      case 'limits':
        useDriving.setState({ limits: { mps: m.mps ?? 0, radps: m.radps ?? 0 } });
        return;
      case 'echo':
        this.latency.echo(m.t ?? now, m.robot_ms ?? 0, now);
        return;
      case 'robot': {
        const f = m.figures ?? {};
        const at = f.x_m !== undefined && f.y_m !== undefined ? { x: f.x_m, y: f.y_m } : undefined;
        const reported = { vx: f.vx_mps ?? 0, wz: f.wz_radps ?? 0, at, theta: f.theta_rad };
        useDriving.setState(({ figures, path, drove }) => ({
          figures: figures && same(figures, reported) ? figures : reported,
          ...(at && extend({ path, drove }, at)),
          monoMS: m.mono_ms ?? 0,
          monoAt: now,
          latency: this.latency.total(now),
        }));
        return;
      }
      case 'stopped':
        this.dead.zero();
        useDriving.setState({ stopped: { cause: m.cause ?? 'fleetd', detail: m.detail ?? '', over: false } });
        return;
      case 'ended':
        this.over({ cause: m.cause ?? 'fleetd', detail: m.detail ?? '', over: true });
    }
  }

  /**
   * A source of driving is deflected. Without a connection that counts for nothing, also not as soon as there is one: no
   * robot starts because a connection came back.
   */
  push(source: Source, v: Velocity): void {
    this.dead.push(source, v);
    if (this.socket?.readyState !== WebSocket.OPEN) this.zero('unconnected');
    if (this.moving()) useDriving.setState({ stopped: undefined });
  }

  release(source: Source): void {
    this.dead.release(source);
  }

  holds(source: Source): boolean {
    return this.dead.holds(source);
  }

  /** Whether a source must be released before it counts again. */
  bars(source: Source): boolean {
    return this.dead.bars(source);
  }

  private moving(): boolean {
    const v = this.dead.velocity();
    return v.vx !== 0 || v.wz !== 0;
  }

  /** A person is there: they moved something, or the keyboard repeats a key that they hold. Mere polling shows nobody. */
  present(): void {
    useDriving.setState({ presentAt: performance.now() });
  }

  /** Stops the robot at once, if it was driven, and says why. */
  zero(cause: Cause): void {
    if (!this.dead.zero()) return;
    this.frame();
    useDriving.setState({ stopped: { cause, detail: '', over: false } });
  }

  // A hidden page sends nothing: fleetd gives its control back after a while.
  private tick(): void {
    const now = performance.now();
    const gap = now - this.tickedAt;
    this.tickedAt = now;
    if (document.hidden) return;
    // While the browser shows a dialog of its own, such as window.confirm or that of printing, no timer runs and it may
    // swallow a release.
    if (gap > frameGap) this.zero('no-frames');
    this.polls.forEach((poll) => poll(now));
    if (this.latency.total(now) > zeroAt) this.zero('latency');
    this.frame();
  }

  private frame(): void {
    const s = this.socket;
    if (s?.readyState !== WebSocket.OPEN) return;
    const t = performance.now();
    const share = this.dead.velocity();
    const asked = { vx: share.vx * this.speed.mps, wz: share.wz * this.speed.radps };
    const before = useDriving.getState().asked;
    if (before.vx !== asked.vx || before.wz !== asked.wz) useDriving.setState({ asked });
    this.latency.frame(t);
    this.seq++;
    s.send(
      JSON.stringify({
        lease: this.lease,
        seq: this.seq,
        t,
        ...asked,
        latency_ms: Math.round(this.latency.toFleetd(t)),
      }),
    );
  }

  /** Renews the lease, if a person is there or asks for it. */
  async renew(asked: boolean): Promise<void> {
    if (asked) this.present();
    const { presentAt } = useDriving.getState();
    if (this.ended || document.hidden || performance.now() - presentAt > presentFor) return;
    await command(this.robot, 'control/renew', { lease: this.lease, ttl_ms: leaseFor }).catch(() => undefined); // the session ends and says why
  }

  private over(stopped?: DriveStop): void {
    if (this.ended) return;
    this.ended = true;
    this.timers.forEach((t) => clearInterval(t));
    this.socket?.close();
    // What the robot reported grows old from here on, and the page of another robot would show it as its own.
    useDriving.setState({ ...nothing, stopped });
  }

  /** Stops the robot and gives control back. */
  async end(): Promise<void> {
    if (this.ended) return;
    this.dead.zero();
    this.frame();
    this.over();
    await command(this.robot, 'control/release', { lease: this.lease }, true).catch(() => undefined); // fleetd gives it back anyway
  }
}

/** Sends a command of this page and returns the robot's answer. keepalive: also if the page is left. */
export async function command(robot: string, verb: Verb, args: Record<string, unknown>, keepalive = false) {
  const batch = await api.POST('/api/v1/commands', {
    params: { header: { Prefer: 'wait=5' } },
    body: { verb, args, selector: { ids: [robot] } },
    keepalive,
  });
  return batch.data!.commands[0];
}
