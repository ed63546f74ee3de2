import type { Page } from '@playwright/test';

import { expect, live } from './world';

/** A frame that the page sent, with the time of the page's clock. */
export interface Frame {
  at: number;
  lease: string;
  seq: number;
  vx: number;
  wz: number;
}

/** fleetd's end of the page's WebSockets, which lives in the page: nothing of it takes time by the page's clock. */
interface Fake {
  frames: Frame[];
  /** How many sockets the page opened, and how many of them are open. */
  opened: number;
  open: number;
  /** Whether frames are echoed, and whether new sockets open. */
  echoes: boolean;
  answers: boolean;
  /** The gamepad; null = there is none. */
  axes: number[] | null;
  say(message: object): void;
  drop(): void;
}
declare global {
  interface Window {
    fake: Fake;
  }
}

/**
 * What a page does that drives a robot, by the page's own clock, which stands still between the steps of a spec: how
 * fast the machine is decides nothing. fleetd's part in it is played here; fleetd's own is asserted in deploy/stage in
 * fake time, and the whole in manual-drive.spec.ts.
 */
export class Teleop {
  /** The commands of the group control that the page sent. */
  readonly commands: string[] = [];

  private constructor(readonly page: Page) {}

  static async of(page: Page): Promise<Teleop> {
    const t = new Teleop(page);
    await page.clock.install();
    await page.addInitScript(fakeSockets);
    await page.addInitScript(keepStream);
    await page.route('**/api/v1/commands', async (route) => {
      const { verb } = route.request().postDataJSON() as { verb: string };
      if (!verb.startsWith('control/')) return route.fallback();
      t.commands.push(verb);
      const lease = { id: `lease-${t.commands.length}`, holder: 'fleetd', by: 'dev' };
      await route.fulfill({ json: { commands: [{ robot: 'r1', answer: { status: 'SUCCEEDED', lease } }] } });
    });
    return t;
  }

  /** Opens the page of r1, takes control, and stops the page's clock. */
  async takeControl(how: 'click' | 'tap' = 'click'): Promise<void> {
    await this.page.goto('/robots/r1/manual');
    await live(this.page);
    await this.page.getByRole('button', { name: 'Take control' })[how]();
    await expect(this.page.getByTestId('lease')).toBeVisible();
    await this.page.clock.pauseAt(await this.page.evaluate(() => Date.now() + 2000));
    await this.pass(100);
  }

  /** Takes control once more. */
  async takeControlAgain(): Promise<void> {
    await expect(this.page.getByTestId('lease')).toBeHidden();
    await this.page.getByRole('button', { name: 'Take control' }).press('Enter');
    await expect(this.page.getByTestId('lease')).toBeVisible();
  }

  /** Lets ms pass by the page's clock and returns the frames that the page sent meanwhile. */
  async pass(ms: number): Promise<Frame[]> {
    const before = await this.page.evaluate(() => window.fake.frames.length);
    await this.page.clock.runFor(ms);
    return this.since(before);
  }

  /** Holds a key that is down for ms, as a keyboard does: it repeats it. */
  async repeat(key: string, ms: number): Promise<Frame[]> {
    const before = await this.page.evaluate(() => window.fake.frames.length);
    for (let passed = 0; passed < ms; passed += 250) {
      await this.page.keyboard.down(key);
      await this.page.clock.runFor(250);
    }
    return this.since(before);
  }

  since(mark: number): Promise<Frame[]> {
    return this.page.evaluate((n) => window.fake.frames.slice(n), mark);
  }

  /** Does something in the page and returns the frames that it sent in the same moment. */
  async during(act: () => Promise<unknown>): Promise<Frame[]> {
    const before = await this.page.evaluate(() => window.fake.frames.length);
    await act();
    return this.since(before);
  }

  say(message: object): Promise<void> {
    return this.page.evaluate((m) => window.fake.say(m), message);
  }
}

/** Replaces the page's WebSockets and gamepads. It runs in the page. */
function fakeSockets(): void {
  const sockets = new Set<FakeSocket>();
  class FakeSocket extends EventTarget {
    static readonly OPEN = 1;
    readyState = 0;
    onopen?: () => void;
    onmessage?: (e: { data: string }) => void;
    onclose?: () => void;
    constructor() {
      super();
      fake.opened++;
      queueMicrotask(() => {
        if (!fake.answers) return this.end();
        this.readyState = 1;
        sockets.add(this);
        fake.open = sockets.size;
        this.onopen?.();
        this.take({ type: 'limits', mps: 0.6, radps: 1.5 });
      });
    }
    take(message: object): void {
      this.onmessage?.({ data: JSON.stringify(message) });
    }
    send(data: string): void {
      const f = JSON.parse(data) as Frame & { t: number };
      fake.frames.push({ at: performance.now(), lease: f.lease, seq: f.seq, vx: f.vx, wz: f.wz });
      if (!fake.echoes) return;
      this.take({ type: 'echo', seq: f.seq, t: f.t, robot_ms: 5 });
      this.take({ type: 'robot', mono_ms: 1, figures: { vx_mps: f.vx, wz_radps: f.wz, x_m: 1, y_m: 2, theta_rad: 0 } });
    }
    close(): void {
      this.end();
    }
    end(): void {
      this.readyState = 3;
      sockets.delete(this);
      fake.open = sockets.size;
      this.onclose?.();
    }
  }
  const fake: Fake = {
    frames: [],
    opened: 0,
    open: 0,
    echoes: true,
    answers: true,
    axes: null,
    say: (message) => sockets.forEach((s) => s.take(message)),
    drop: () => sockets.forEach((s) => s.end()),
  };
  window.fake = fake;
  window.WebSocket = FakeSocket as unknown as typeof WebSocket;
  navigator.getGamepads = () =>
    fake.axes
      ? [{ index: 0, id: 'A gamepad', connected: true, axes: fake.axes, buttons: [] } as unknown as Gamepad]
      : [];
}

/**
 * Has fleetd's newest status arrive every 2 s of the page's clock, as fleetd sends it. The stream itself arrives by
 * another clock: a step that let more than 8 s pass at once would cut the page off from fleetd, or not, depending on
 * when a message came. It runs in the page.
 */
function keepStream(): void {
  window.EventSource = class extends EventSource {
    constructor(url: string | URL) {
      super(url);
      let status = '';
      this.addEventListener('fleetd', (e) => (status = (e as MessageEvent<string>).data));
      const again = setInterval(() => {
        if (this.readyState === EventSource.CLOSED) clearInterval(again);
        else if (status) this.dispatchEvent(new MessageEvent('fleetd', { data: status }));
      }, 2000);
    }
  };
}
