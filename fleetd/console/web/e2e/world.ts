import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect, type Locator, type Page } from '@playwright/test';

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

export const test = base.extend<{ world: World }>({
  world: async ({}, use) => {
    await use({ control: (what, body) => post(what, body), cli: (...args) => post('cli', JSON.stringify(args)) });
  },
});

export { expect };

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
