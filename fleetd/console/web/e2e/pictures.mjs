// Takes the pictures of docs/console.md in both colour schemes, from a demo of its own:
//
//   make screenshots
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { chromium } from '@playwright/test';

const [program, folder, ...only] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node e2e/pictures.mjs DEMO FOLDER [NAME...]');
  process.exit(2);
}

/** What is on each picture: a screen, and what is done there first. The stop comes last: it changes what others show. */
const pictures = [
  { name: 'overview', path: '/' },
  { name: 'robot', path: '/robots/r1' },
  {
    name: 'act',
    path: '/acts/little-waltz',
    async before(page) {
      const timeline = page.getByRole('region', { name: 'Timeline' });
      await timeline.getByRole('button', { name: /^sound waltz/ }).click();
      await timeline.getByRole('slider').focus();
      for (let n = 0; n < 5; n++) await page.keyboard.press('Shift+ArrowRight');
      await page.evaluate(() => window.scrollTo(0, 0));
    },
  },
  { name: 'story', path: '/stories/museum-welcome' },
  { name: 'assign', path: '/assign?story=evening-show' },
  { name: 'manual', path: '/robots/r2/manual' },
  { name: 'wall', path: '/?wall' },
  {
    name: 'stopped',
    path: '/robots/r3',
    async before(page, scheme) {
      if (scheme === 'light') await page.locator('#software-stop').click();
      await page
        .getByRole('button', { name: /Release/ })
        .first()
        .waitFor();
    },
  },
];

const data = mkdtempSync(join(tmpdir(), 'troupe-pictures-'));
const demo = spawn(program, ['--mqtt', '127.0.0.1:0', '--http', '127.0.0.1:0', '--data', data], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: demo.stdout }).on('line', (line) => {
      const ready = /^ready .*http=(\S+)/.exec(line);
      if (ready) resolve(ready[1]);
    });
    demo.once('exit', (code) => reject(new Error(`the demo ended with ${code}`)));
  });
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  for (const { name, path, before } of pictures.filter((p) => only.length === 0 || only.includes(p.name)))
    for (const scheme of ['light', 'dark']) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, baseURL: url, locale: 'en' });
      await context.addInitScript((s) => {
        localStorage.setItem('troupe.colors', s);
        localStorage.setItem('troupe.greeted', 'true');
      }, scheme);
      const page = await context.newPage();
      await page.goto(path);
      await page.locator('main').first().waitFor();
      await page.waitForFunction(
        () => !document.querySelector('main .mantine-Loader-root, main .mantine-Skeleton-root'),
      );
      await before?.(page, scheme);
      await page.waitForTimeout(1500); // messages of what was done go, charts are drawn
      await page.screenshot({ path: join(folder, `${name}-${scheme}.png`) });
      console.log(join(folder, `${name}-${scheme}.png`));
      await context.close();
    }
  await browser.close();
} finally {
  demo.removeAllListeners('exit');
  const ended = new Promise((resolve) => demo.once('exit', resolve));
  demo.kill('SIGINT');
  await ended;
  rmSync(data, { recursive: true, force: true });
}
