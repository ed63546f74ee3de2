import type { Page, Response } from '@playwright/test';

import { accessible, colors, expect, inShard, live, matrix, test } from './world';

/** Every screen, and every part of those that have parts. */
const screens = [
  '/',
  '/?wall',
  '/robots',
  '/robots/r1',
  '/robots/r1/story',
  '/robots/r1/events',
  '/robots/r1/telemetry',
  '/robots/r1/setup',
  '/robots/r1/raw',
  '/robots/r1/manual',
  '/stories',
  '/stories/museum-welcome',
  '/acts',
  '/acts/farewell',
  '/activities',
  '/activities/greet-visitor',
  '/places',
  '/assets',
  '/assign?story=quiet-hour',
  '/assign?story=quiet-hour&how=waves&selector=%7B%22all%22%3Atrue%7D',
  '/rollouts',
  '/policies',
  '/policies/new',
  '/schedules',
  '/schedules?tab=calendar',
  '/schedules/new',
  '/commands',
  '/events',
  '/audit',
  '/admin',
  '/account',
  '/command-line',
  '/sign-in',
  '/nowhere',
];

/** Those with most to press, where the order of Tab is followed. */
const richest = [
  '/robots',
  '/robots/r1',
  '/robots/r1/manual',
  '/stories/museum-welcome',
  '/assign?story=quiet-hour',
  '/admin',
];

/** Opens a screen, waits until it has loaded what it shows, and returns fleetd's answer. */
async function visit(page: Page, path: string): Promise<Response | null> {
  const answer = await page.goto(path);
  if (path !== '/sign-in' && path !== '/?wall') await live(page);
  await expect(page.locator('h1, h2').first()).toBeVisible();
  await expect(page.locator('[class*=Skeleton-root], [class*=Loader-root]')).toHaveCount(0);
  return answer;
}

/** Notes what a page asks of anybody but fleetd, and what its policy refuses. Nothing may be noted. */
async function watch(page: Page, baseURL: string): Promise<string[]> {
  const noted: string[] = [];
  page.on('request', (r) => {
    const to = new URL(r.url());
    if (to.origin !== baseURL && !['data:', 'blob:'].includes(to.protocol)) noted.push(r.url());
  });
  page.on('websocket', (s) => {
    if (new URL(s.url()).host !== new URL(baseURL).host) noted.push(s.url());
  });
  page.on('pageerror', (e) => noted.push(e.message));
  await page.exposeFunction('violated', (what: string) => noted.push(what));
  await page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (e) =>
      (window as unknown as { violated: (what: string) => void }).violated(
        `${location.pathname}: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`,
      ),
    ),
  );
  return noted;
}

/** Counts the bytes that a page loads, compressed. */
async function weigh(page: Page): Promise<() => number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  let bytes = 0;
  devtools.on('Network.loadingFinished', (e) => (bytes += e.encodedDataLength));
  return () => bytes;
}

/** Fails unless the policy of the page allows only what fleetd serves. */
function expectPolicy(policy: string): void {
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).not.toContain('unsafe');
}

/** Fails if a page took too much to load, or nothing that would be a page. */
function expectLight(bytes: number, path: string): void {
  expect(bytes, path).toBeGreaterThan(100_000);
  expect(bytes, path).toBeLessThan(1_000_000);
}

/** Fails if the page can be scrolled sideways. */
async function fits(page: Page, path: string): Promise<void> {
  const over = await page.evaluate(() => {
    const root = document.documentElement;
    const more = Math.max(root.scrollWidth, document.body.scrollWidth) - root.clientWidth;
    if (more <= 1) return '';
    const wide = [...document.querySelectorAll('main *, form *')].filter((e) => {
      const box = e.getBoundingClientRect();
      return box.right > root.clientWidth + 1 || box.left < -1;
    });
    return `${more} px: ${wide.at(-1)?.outerHTML.slice(0, 160)}`;
  });
  expect(over, path).toBe('');
}

const rightToLeft = (page: Page) => page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'));

/** Fails if a text of the page is missing, or is not German. */
async function isGerman(page: Page, path: string): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  const text = await page.locator('body').innerText();
  expect(text, path).not.toMatch(/undefined|\[object |=> `|NaN/);
  // What people press, in English, would be a text that was not translated.
  const names = await page
    .locator('button, [role=tab], label, h1, h2, th')
    .evaluateAll((all) => all.map((e) => (e.getAttribute('aria-label') ?? e.textContent ?? '').trim()));
  const english = names.filter((n) =>
    /^(Save|Cancel|Close|Delete|Release|Let it move|Start|Search|Filters?|Clear.*|Robots?|State|Stories|Acts|Name|When|Who|Why|Add.*|New.*|Settings|Loading|Retry|Overview)$/.test(
      n,
    ),
  );
  // The same word in both languages.
  expect(
    english.filter((n) => !['Name', 'Start', 'Filter'].includes(n)),
    path,
  ).toEqual([]);
}

/** What has the focus, if something covers all of it; empty otherwise. */
const covered = (page: Page) =>
  page.evaluate(() => {
    const focused = document.activeElement;
    const box = focused?.getBoundingClientRect();
    if (!focused || !box || focused === document.body || box.width < 2 || box.height < 2) return '';
    const shares = [0.1, 0.5, 0.9];
    const seen = shares.some((x) =>
      shares.some((y) => {
        const hit = document.elementFromPoint(box.left + box.width * x, box.top + box.height * y);
        return hit && (focused.contains(hit) || hit.contains(focused));
      }),
    );
    return seen ? '' : focused.outerHTML.slice(0, 160);
  });

/** Presses Tab and Shift+Tab, and fails if something covers what has the focus then. */
async function tabThrough(page: Page, path: string): Promise<void> {
  for (const key of ['Tab', 'Shift+Tab'])
    for (let n = 0; n < 45; n++) {
      await page.keyboard.press(key);
      expect(await covered(page), `${path}, after ${key}`).toBe('');
    }
}

/** Fails if something moves by itself. */
async function expectStill(page: Page, path: string): Promise<void> {
  const moving = await page.evaluate(
    (unseen) =>
      document
        .getAnimations()
        .filter((a) => a.playState === 'running' && Number(a.effect?.getComputedTiming().duration) > 10)
        .map((a) => a.effect as KeyframeEffect)
        // What takes no press for a moment looks as before (shell/press.ts).
        .filter((e) => e.getKeyframes().some((k) => Object.keys(k).some((name) => !unseen.includes(name))))
        .map((e) => (e.target as Element).outerHTML.slice(0, 160)),
    ['pointerEvents', 'offset', 'computedOffset', 'easing', 'composite'],
  );
  expect(moving, path).toEqual([]);
}

/** How a screen is looked at: with a mouse in the office, and on a phone in the dark. */
const looks = {
  'wide, light, English, with reduced motion': {
    size: { width: 1280, height: 844 },
    keys: { width: 1280, height: 500 },
    scheme: 'light',
    language: 'en',
    motion: 'reduce',
  },
  'narrow, dark, German': {
    size: { width: 390, height: 844 },
    keys: { width: 390, height: 700 },
    scheme: 'dark',
    language: 'de',
    motion: 'no-preference',
  },
} as const;

// Each in a browser that has nothing of the page yet; half of the screens in either look, and the others in the next
// shard. TROUPE_SPEC_MATRIX=1 adds every combination, below.
const hows = Object.keys(looks) as (keyof typeof looks)[];
for (const [n, path] of screens.entries())
  for (const how of inShard(...(n % 2 ? hows.toReversed() : hows)))
    test(`${path}, ${how}`, async ({ page, baseURL }) => {
      const look = looks[how];
      await page.setViewportSize(look.size);
      await page.emulateMedia({ reducedMotion: look.motion });
      await colors(page, look.scheme);
      await page.addInitScript((l) => localStorage.setItem('troupe.language', l), look.language);
      const noted = await watch(page, baseURL!);
      const bytes = await weigh(page);
      const answer = await visit(page, path);
      expectPolicy((await answer!.headerValue('content-security-policy')) ?? '');
      expectLight(bytes(), path);
      await expect(page.getByTestId('dev').filter({ visible: true }), path).toBeVisible(); // nobody has to sign in here
      await fits(page, path);
      if (look.motion === 'reduce') await expectStill(page, path);
      if (look.language === 'de') await isGerman(page, path);
      expect(noted).toEqual([]);
      await accessible(page, 'target-size');
      if (richest.includes(path)) {
        await page.emulateMedia({ reducedMotion: 'no-preference' }); // else what gets the focus arrives 1 ms later
        await page.setViewportSize(look.keys);
        await tabThrough(page, path);
        await page.setViewportSize(look.size);
      }
      await rightToLeft(page);
      await fits(page, path);
    });

test('the policy is in force: an inline script and another origin are refused', async ({ page }) => {
  await page.goto('/');
  await live(page);
  const seen = await page.evaluate(async () => {
    const seen: string[] = [];
    const both = new Promise<void>((done) =>
      document.addEventListener('securitypolicyviolation', (e) => seen.push(e.effectiveDirective) === 2 && done()),
    );
    const script = document.createElement('script');
    script.textContent = 'window.ran = 1';
    document.body.append(script);
    await fetch('http://127.0.0.1:1/').catch(() => {});
    await both;
    return [...seen, (window as unknown as { ran?: number }).ran];
  });
  expect(seen).toEqual(['script-src-elem', 'connect-src', undefined]);
});

if (matrix) {
  test('no screen asks anybody but fleetd, or breaks the policy of the page', async ({ page, baseURL }) => {
    test.setTimeout(240_000);
    const noted = await watch(page, baseURL!);
    for (const path of screens) {
      const answer = await visit(page, path);
      expectPolicy((await answer!.headerValue('content-security-policy')) ?? '');
      await expect(page.getByTestId('dev').filter({ visible: true }), path).toBeVisible();
    }
    expect(noted).toEqual([]);
  });

  test('the first load of each screen is below 1 MB compressed', async ({ page, browser, baseURL }) => {
    test.setTimeout(240_000);
    await page.close();
    for (const path of screens) {
      const context = await browser.newContext({ baseURL });
      const fresh = await context.newPage();
      const bytes = await weigh(fresh);
      await visit(fresh, path);
      expectLight(bytes(), path);
      await context.close();
    }
  });

  for (const width of [390, 1280]) {
    test(`right to left, no screen is wider than a window of ${width} px`, async ({ page }) => {
      test.setTimeout(240_000);
      await page.setViewportSize({ width, height: 844 });
      for (const path of screens) {
        await visit(page, path);
        await rightToLeft(page);
        await fits(page, path);
      }
    });

    test(`in German, no screen is wider than a window of ${width} px or lacks a text`, async ({ page }) => {
      test.setTimeout(240_000);
      await page.setViewportSize({ width, height: 844 });
      await page.addInitScript(() => localStorage.setItem('troupe.language', 'de'));
      for (const path of screens) {
        await visit(page, path);
        await fits(page, path);
        await isGerman(page, path);
      }
    });
  }

  for (const scheme of ['light', 'dark'] as const)
    test(`in ${scheme} colours axe finds nothing serious on any screen, nor a target below 24 px`, async ({ page }) => {
      test.setTimeout(300_000);
      await colors(page, scheme);
      for (const path of screens) {
        await visit(page, path);
        await test.step(path, () => accessible(page, 'target-size'));
      }
    });

  for (const [width, height] of [
    [1280, 500],
    [390, 700],
  ] as const)
    test(`nothing covers what has the focus, in a window of ${width} x ${height} px`, async ({ page }) => {
      test.setTimeout(300_000);
      await page.setViewportSize({ width, height });
      for (const path of screens) {
        await visit(page, path);
        await tabThrough(page, path);
      }
    });

  test('with reduced motion, nothing on any screen moves by itself', async ({ page }) => {
    test.setTimeout(240_000);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    for (const path of screens) {
      await visit(page, path);
      await expectStill(page, path);
    }
  });
}
