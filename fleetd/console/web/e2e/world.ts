import { AxeBuilder } from '@axe-core/playwright';
import { type APIRequestContext, test as base, expect, type Locator, type Page } from '@playwright/test';

/** Changes the world that the specs run in; see webPage.control in deploy/e2e. */
export interface World {
  /** Does one thing, such as "fleetd/kill" or "robot/cut?robot=r1", and returns what it printed. */
  control(what: string, body?: string): Promise<string>;
  /** Runs fleetd's command line and returns its output. */
  cli(...args: string[]): Promise<string>;
}

async function post(what: string, body?: string): Promise<string> {
  const at = process.env.TROUPE_WORLD;
  if (!at) throw new Error('this spec changes the world: run it with make specs');
  const answer = await fetch(`${at}/${what}`, { method: 'POST', body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${what}: ${text}`);
  return text;
}

/** What the list of robots says of one. */
interface Robot {
  id: string;
  doing: string;
  safety?: string;
  mode?: string;
  pause_holders: { token: string }[];
  alerts: unknown[];
  control?: { by?: string };
  desired: { story?: { id: string }; converged?: boolean };
}

const sites: Record<string, string> = { r1: 'museum', r2: 'museum', r3: 'stage' };

/**
 * Puts the robots as they were when the world began, whatever an earlier file or a failed spec left behind: connected,
 * with their labels and their story, which they perform. Where people sign in, specs do that themselves.
 */
async function restore(fleetd: APIRequestContext): Promise<void> {
  await post('mend');
  const get = async (path: string) => await (await fleetd.get(`/api/v1/${path}`)).json();
  const send = (path: string, data: object) => fleetd.post(`/api/v1/${path}`, { data, headers: { Prefer: 'wait=10' } });
  if ((await fleetd.get('/api/v1/robots')).status() === 401) return;
  const ids = Object.keys(sites);
  for (const id of ids) await fleetd.put(`/api/v1/robots/${id}/labels`, { data: { labels: { site: sites[id] } } });
  await send('desired', { selector: { ids }, config: { unset: ['low_battery', 'languages'] } });
  await send('activities/assignments', { selector: { ids }, activities: [] });
  await expect(async () => {
    const { stops } = (await get('stops')) as { stops: { id: string }[] };
    if (stops.length > 0) await send('stops/release', { ids: stops.map((s) => s.id), why: 'the next specs begin' });
    const robots = ((await get('robots')) as { robots: Robot[] }).robots.filter((r) => ids.includes(r.id));
    const others: string[] = [];
    for (const r of robots) {
      const order = (verb: string, more: object = {}) => send('commands', { verb, selector: { ids: [r.id] }, ...more });
      const before = others.length;
      const needs = async (what: string, act: () => Promise<unknown>) => {
        others.push(`${r.id} ${what}`);
        await act();
      };
      if (r.alerts.length > 0)
        await needs('has alerts', () => post(`robot/sim?robot=${r.id}&name=repair`, '{"unit":"speaker"}'));
      if (r.desired.story?.id !== 'museum-welcome')
        await needs('has another story', () =>
          send('assignments', { story: 'museum-welcome', apply: 'now', selector: { ids: [r.id] } }),
        );
      if (r.control) await needs('is controlled', () => order('control/release', { by: r.control!.by }));
      if (r.safety !== 'ENABLED') {
        await needs('is disabled', () => order('safety/reset')); // refused unless something has stopped it
        await order('safety/enable');
      }
      if (r.mode !== 'ato') await needs('has another mode', () => order('mode/set', { args: { mode: 'ato' } }));
      for (const { token } of r.pause_holders)
        await needs('is paused', () => order('auto/continue', { args: { token } }));
      if (before === others.length && (r.doing !== 'performing' || !r.desired.converged))
        others.push(`${r.id} ${r.doing}`);
    }
    expect(others).toEqual([]);
    expect(robots).toHaveLength(ids.length);
  }).toPass({ timeout: 60_000 });
}

/** The file for which this process has restored the world. */
let restored = '';

export const test = base.extend<{ world: World; asAtFirst: void }>({
  world: async ({}, use) => {
    await use({ control: (what, body) => post(what, body), cli: (...args) => post('cli', JSON.stringify(args)) });
  },
  asAtFirst: [
    async ({ playwright, baseURL }, use, spec) => {
      if (process.env.TROUPE_WORLD && (spec.file !== restored || spec.retry > 0)) {
        const fleetd = await playwright.request.newContext({ baseURL, ignoreHTTPSErrors: true });
        await restore(fleetd);
        await fleetd.dispose();
        restored = spec.file;
      }
      await use();
    },
    { auto: true, timeout: 90_000 },
  ],
});

export { expect };

/**
 * Whether to play each screen in every width, language, direction and colour scheme, which takes long. Without it
 * everywhere.spec.ts reads each with axe in light colours when wide, and in dark ones when narrow.
 */
export const matrix = process.env.TROUPE_SPEC_MATRIX === '1';

/**
 * Those of a spec's variants that the shard of this run has: one of at most five, or all where no shard is chosen. Five
 * shards together have every variant (deploy/shard).
 */
export function inShard<T>(...variants: T[]): T[] {
  const shard = Number(process.env.TROUPE_SHARD ?? 'all');
  return Number.isNaN(shard) ? variants : [variants[shard % variants.length]!];
}

/** A name that no other run has used. */
export const fresh = (what: string) => `${what}-${Date.now().toString(36)}`;

/** Waits until the console shows the robots of the world. */
export async function live(page: Page): Promise<void> {
  await expect(page.getByTestId('connection')).toHaveText('Live');
}

/** Fails if axe finds something serious or critical on the page; also by rules that it leaves out by itself. */
export async function accessible(page: Page, ...more: string[]): Promise<void> {
  const rules = Object.fromEntries(more.map((rule) => [rule, { enabled: true }]));
  // In legacy mode axe ends in the page itself instead of one more page, which only frames of another origin need.
  expect(page.frames()).toHaveLength(1);
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ rules, resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  const bad = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical');
  expect(
    bad.map(
      (v) =>
        `${v.id}: ${v.help}: ${v.nodes
          .map((n) => n.html)
          .slice(0, 3)
          .join(' | ')}`,
    ),
  ).toEqual([]);
}

/** Chooses the colours of the page, before it is opened. */
export async function colors(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.addInitScript((s) => localStorage.setItem('troupe.colors', s), scheme);
}

/** Signs in on the page that asks for it. */
export async function signIn(page: Page, user: string, password: string): Promise<void> {
  await page.getByRole('textbox', { name: 'User' }).fill(user);
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Opens a page as the first administrator, with the password that fleetd printed. */
export async function signInAsAdmin(page: Page, world: World, path: string): Promise<void> {
  await page.goto(path);
  await signIn(page, 'admin', await world.control('password'));
}

/** Gives a user a password, which ends their sessions. */
export async function givePassword(world: World, user: string, password: string): Promise<void> {
  await world.control(`user/password?${new URLSearchParams({ user, password })}`);
}

/** The middle of an element, once it moves no more and nothing covers it. */
export async function middleOf(target: Locator): Promise<{ x: number; y: number }> {
  let at = { x: 0, y: 0 };
  await expect(async () => {
    await target.scrollIntoViewIfNeeded();
    const before = at;
    at = await target.evaluate((e) => {
      const box = e.getBoundingClientRect();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      if (!e.contains(document.elementFromPoint(x, y))) throw new Error('something covers it');
      return { x, y };
    });
    expect(at).toEqual(before);
  }).toPass({ intervals: [100], timeout: 20_000 });
  return at;
}

/**
 * Touches an element once. Playwright's own tap repeats a touch whose click comes late, even if the element has gone
 * because the first touch did its work; and its trial does not stop a late click.
 */
export async function touchOnce(target: Locator): Promise<void> {
  await expect(target).toBeEnabled();
  const { x, y } = await middleOf(target);
  await target.page().touchscreen.tap(x, y);
}

/** Presses Tab until an element has the focus, as a person without a mouse does. */
export async function tabTo(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  for (let n = 0; n < 80; n++) {
    if (await target.evaluate((e) => e === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} never reaches ${target}`);
}
