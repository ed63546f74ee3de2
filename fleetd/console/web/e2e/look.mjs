// Takes a screenshot of screens in both colour schemes at the width of a phone, a laptop and
// a wall screen:
//
//   TROUPE_URL=http://127.0.0.1:8080 npm run look -- FOLDER /robots /robots/r1
import { mkdirSync } from 'node:fs';

import { chromium } from '@playwright/test';

const [folder, ...paths] = process.argv.slice(2);
if (!folder || paths.length === 0) {
  console.error('usage: npm run look -- FOLDER PATH...');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const scheme of ['light', 'dark']) {
  for (const [width, height] of [
    [390, 844],
    [1280, 800],
    [1920, 1080],
  ]) {
    const context = await browser.newContext({
      viewport: { width, height },
      baseURL: process.env.TROUPE_URL ?? 'http://127.0.0.1:8080',
    });
    await context.addInitScript((s) => localStorage.setItem('troupe.colors', s), scheme);
    for (const path of paths) {
      const page = await context.newPage();
      await page.goto(path);
      // A busy machine shows the frame first, then marks of what is loading, then the screen.
      await page.locator('main').first().waitFor();
      await page.waitForFunction(
        () => !document.querySelector('main .mantine-Loader-root, main .mantine-Skeleton-root'),
      );
      await page.waitForTimeout(1500);
      const name = `${path.replaceAll(/[^a-z0-9]+/gi, '-').replaceAll(/^-|-$/g, '') || 'home'}-${width}-${scheme}.png`;
      await page.screenshot({ path: `${folder}/${name}` });
      console.log(`${folder}/${name}`);
      await page.close();
    }
    await context.close();
  }
}
await browser.close();
