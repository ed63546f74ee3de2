import { type Page } from '@playwright/test';

import { accessible, colors, expect, live, test } from './world';

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
  '/places',
  '/assets',
  '/assign?story=quiet-hour',
  '/commands',
  '/events',
  '/audit',
  '/admin',
  '/account',
  '/command-line',
  '/sign-in',
  '/nowhere',
];

/** Opens a screen and waits until it has loaded what it shows. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path);
  if (path !== '/sign-in' && path !== '/?wall') await live(page);
  await expect(page.locator('h1, h2').first()).toBeVisible();
  await expect(page.locator('[class*=Skeleton-root], [class*=Loader-root]')).toHaveCount(0);
}

test('no screen asks anybody but fleetd, or breaks the policy of the page', async ({ page, baseURL }) => {
  test.setTimeout(240_000);
  const foreign: string[] = [];
  const broken: string[] = [];
  page.on('request', (r) => {
    const to = new URL(r.url());
    if (to.origin !== baseURL && !['data:', 'blob:'].includes(to.protocol)) foreign.push(r.url());
  });
  page.on('websocket', (s) => {
    if (new URL(s.url()).host !== new URL(baseURL!).host) foreign.push(s.url());
  });
  page.on('pageerror', (e) => broken.push(e.message));
  await page.exposeFunction('violated', (what: string) => broken.push(what));
  await page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (e) =>
      (window as unknown as { violated: (what: string) => void }).violated(
        `${location.pathname}: ${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`,
      ),
    ),
  );
  for (const path of screens) {
    const answer = await page.goto(path);
    const policy = (await answer!.headerValue('content-security-policy')) ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toContain('unsafe');
    await visit(page, path);
    await expect(page.getByTestId('dev'), path).toBeVisible(); // nobody has to sign in here
  }
  expect(foreign).toEqual([]);
  expect(broken).toEqual([]);
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

test('the first load of each screen is below 1 MB compressed', async ({ page, browser, baseURL }) => {
  test.setTimeout(240_000);
  await page.close();
  for (const path of screens) {
    const context = await browser.newContext({ baseURL });
    const fresh = await context.newPage();
    const devtools = await context.newCDPSession(fresh);
    await devtools.send('Network.enable');
    let bytes = 0;
    devtools.on('Network.loadingFinished', (e) => (bytes += e.encodedDataLength));
    await visit(fresh, path);
    expect(bytes, path).toBeGreaterThan(100_000);
    expect(bytes, path).toBeLessThan(1_000_000);
    await context.close();
  }
});

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

for (const width of [390, 1280]) {
  test(`right to left, no screen is wider than a window of ${width} px`, async ({ page }) => {
    test.setTimeout(240_000);
    await page.setViewportSize({ width, height: 844 });
    for (const path of screens) {
      await visit(page, path);
      await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'));
      await fits(page, path);
    }
  });

  test(`in German, no screen is wider than a window of ${width} px or lacks a text`, async ({ page }) => {
    test.setTimeout(240_000);
    await page.setViewportSize({ width, height: 844 });
    await page.addInitScript(() => localStorage.setItem('troupe.language', 'de'));
    for (const path of screens) {
      await visit(page, path);
      await expect(page.locator('html')).toHaveAttribute('lang', 'de');
      await fits(page, path);
      const text = await page.locator('body').innerText();
      expect(text, path).not.toMatch(/undefined|\[object |=> `|NaN/);
      // What people press, in English, would be a text that was not translated.
      const names = await page
        .locator('button, [role=tab], label, h1, h2, th')
        .evaluateAll((all) => all.map((e) => (e.getAttribute('aria-label') ?? e.textContent ?? '').trim()));
      const english = names.filter((n) =>
        /^(Save|Cancel|Close|Delete|Release|Enable|Start|Search|Filters?|Clear.*|Robots?|State|Stories|Acts|Name|When|Who|Why|Add.*|New.*|Settings|Loading|Retry|Overview)$/.test(
          n,
        ),
      );
      // The same word in both languages.
      expect(
        english.filter((n) => !['Name', 'Start', 'Filter'].includes(n)),
        path,
      ).toEqual([]);
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

for (const [width, height] of [
  [1280, 500],
  [390, 700],
] as const)
  test(`nothing covers what has the focus, in a window of ${width} x ${height} px`, async ({ page }) => {
    test.setTimeout(300_000);
    await page.setViewportSize({ width, height });
    for (const path of screens) {
      await visit(page, path);
      for (const key of ['Tab', 'Shift+Tab'])
        for (let n = 0; n < 45; n++) {
          await page.keyboard.press(key);
          expect(await covered(page), `${path}, after ${key}`).toBe('');
        }
    }
  });

test('with reduced motion, nothing on any screen moves by itself', async ({ page }) => {
  test.setTimeout(240_000);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const path of screens) {
    await visit(page, path);
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
});
