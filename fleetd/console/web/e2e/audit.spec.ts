import { readFile } from 'node:fs/promises';

import { accessible, colors, expect, fresh, live, matrix, test } from './world';

/** Texts that would run a script if a page took them for HTML, an address or a template. */
const hostile = [
  '<img src=x onerror="window.xss=1">',
  '"><script>window.xss=1</script>',
  "javascript:window.xss=1//'",
  '{{constructor.constructor("window.xss=1")()}}',
];

test('no text of a person runs as a script on any page', async ({ page, request }) => {
  test.setTimeout(180_000); // it opens 32 pages
  const broken: string[] = [];
  page.on('dialog', (d) => broken.push(d.message()));
  page.on('pageerror', (e) => broken.push(e.message));
  for (const text of hostile) {
    const signed = { by: text.slice(0, 63), why: text };
    await request.put('/api/v1/robots/r1/labels', { data: { labels: { site: text.slice(0, 63) }, ...signed } });
    await request.post('/api/v1/commands', {
      data: { verb: 'auto/pause', selector: { ids: ['r1'] }, ...signed },
    });
    await request.put(`/api/v1/acts/hostile?by=${encodeURIComponent(signed.by)}`, {
      headers: { 'Content-Type': 'application/yaml', 'If-Match': '*' },
      data: `act: hostile\nname: {en: ${JSON.stringify(text)}}\nactions:\n- {type: say, start_ms: 0, text: {en: ${JSON.stringify(text)}}}\n`,
    });
    await request.post('/api/v1/stops/release', { data: { ids: [text], ...signed } });
    const held = await request.post('/api/v1/stops', { data: { selector: { ids: ['r1'] }, ...signed } });
    for (const path of ['/', '/robots', '/robots/r1', '/acts', '/acts/hostile', '/commands', '/events', '/audit']) {
      await page.goto(path);
      await live(page);
      await expect(page.locator('h1').first()).toBeVisible();
      await expect(page.locator('img[src="x"], a[href^="javascript:"]')).toHaveCount(0);
      expect(await page.evaluate(() => (window as unknown as { xss?: number }).xss)).toBeUndefined();
    }
    const latch = ((await held.json()) as { latch: string }).latch;
    await request.post('/api/v1/stops/release', { data: { ids: [latch], ...signed } });
  }
  // The text is there, as text.
  await page.goto(`/audit?who=${encodeURIComponent('<img')}`);
  await expect(page.getByText(hostile[0]!.slice(0, 63)).first()).toBeVisible();
  await page
    .getByRole('button', { name: /^Details of entry/ })
    .first()
    .click();
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(broken).toEqual([]);
});

test('the audit says who did what, and that its chain holds', async ({ page, request }) => {
  await request.put('/api/v1/robots/r2/labels', { data: { labels: { hall: 'b' }, by: 'anna', why: 'moved' } });
  await page.goto('/audit?target=robot%20r2&what=label');
  const row = page.getByRole('row', { name: /anna/ }).first();
  await expect(row).toContainText('done');
  await row.getByRole('button').click();
  await expect(page.getByRole('dialog')).toContainText('"hall": "b"');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Check the chain' }).click();
  await expect(page.getByText(/The chain holds: \d+ entries/)).toBeVisible();
  await page.goto('/commands');
  await expect(page.getByRole('columnheader', { name: 'Who' })).toBeVisible();
});

test('what is done in the console is in the audit: who, from where, why and how it ended; and in its file', async ({
  page,
  world,
}) => {
  await page.goto('/robots');
  await live(page);
  await page.getByLabel('Select r2').check();
  await page.getByTestId('bulk').getByRole('button', { name: 'Pause' }).click();
  await page.getByLabel('Reason').fill('a class of children');
  await page.getByRole('button', { name: 'Send to 1 robot' }).click();
  await expect(page.getByText('Pause: done')).toBeVisible();
  await page.goto('/audit?via=web&what=command');
  const row = page.getByRole('row', { name: /pause the story/ }).first();
  await expect(row).toContainText('robot r2');
  await row.getByRole('button').click();
  const entry = page.getByRole('dialog');
  for (const text of ['dev', 'console, 127.0.0.1', 'a class of children', 'How it ended', 'done'])
    await expect(entry).toContainText(text);
  await entry.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Export (CSV)' }).click();
  const file = await readFile((await (await download).path())!, 'utf8');
  expect(file).toContain('command auto/pause');
  expect(file).not.toContain(',label,');
  await world.cli('auto', 'continue', 'r2', '--wait');
});

test('an entry is said in words: to which mode, why, and how it ended', async ({ page, world }) => {
  const why = fresh('a guided tour');
  await world.cli('mode', 'set', 'mnl', 'r1', '--why', why, '--wait');
  const say = { verb: 'manual/say', args: { text: 'hello' }, selector: { ids: ['r1'] } };
  await page.request.post('/api/v1/commands', { data: say });
  await expect.poll(() => world.cli('audit', 'list', '--what', 'manual/say')).toContain('refused'); // nobody has control
  const user = fresh('wanda');
  await world.cli('user', 'add', user, '--role', 'viewer', '--no-password');
  await page.goto('/audit');
  const sent = page.getByRole('row', { name: new RegExp(why) }).first();
  await expect(sent).toContainText('switch the mode to manual');
  await expect(page.getByRole('row', { name: new RegExp(`${user} viewer`) })).toContainText('add a user');
  const refused = page.getByRole('row', { name: /say something.*refused/ }).first();
  await expect(refused).toContainText('the sender does not have control');
  await expect(page.getByRole('table')).not.toContainText(/SUCCEEDED|REJECTED/);
  // On a phone, too, and nothing of it is beside the page.
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(sent).toContainText('switch the mode to manual');
  const inside = (x: { x: number; width: number }) => x.x >= 0 && x.x + x.width <= 390;
  for (const cell of await sent.getByRole('cell').filter({ visible: true }).all())
    expect(inside((await cell.boundingBox())!)).toBe(true);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await expect(page.getByLabel('How it ended')).toBeHidden();
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('How it ended').selectOption('refused');
  await expect(sent).toBeHidden();
  await expect(refused).toBeVisible();
  await world.cli('mode', 'set', 'ato', 'r1', '--wait');
});

test('a command that waits for its robot is cancelled, with a reason', async ({ page, world }) => {
  await world.control('robot/cut?robot=r3');
  const presence = async () =>
    ((await (await page.request.get('/api/v1/robots/r3')).json()) as { presence: { status: string } }).presence.status;
  await expect.poll(presence).not.toBe('online');
  await page.request.post('/api/v1/commands', {
    data: { verb: 'mode/set', args: { mode: 'mnl' }, selector: { ids: ['r3'] } },
  });
  await page.goto('/commands?robot=r3');
  await live(page);
  const row = page.getByRole('row', { name: /switch the mode/ }).first();
  await expect(row).toContainText('waiting to be sent');
  await row.getByRole('button', { name: 'Cancel mode/set to r3' }).click();
  await page.getByRole('dialog').getByLabel('Why').fill('not today');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(row).toContainText('cancelled');
  await world.control('robot/join?robot=r3');
  expect(await world.cli('audit', 'list', '--what', 'cancel')).toContain('not today');
});

if (matrix)
  for (const scheme of ['light', 'dark'] as const) {
    test(`commands, events and audit are accessible in ${scheme}`, async ({ page }) => {
      await colors(page, scheme);
      for (const path of ['/commands', '/events', '/audit']) {
        await page.goto(path);
        await live(page);
        await page.waitForLoadState('networkidle').catch(() => {});
        await accessible(page);
      }
    });
  }
