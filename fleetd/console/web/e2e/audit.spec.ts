import { accessible, colors, expect, live, test } from './world';

/** Texts that would run a script if a page took them for HTML, an address or a template. */
const hostile = [
  '<img src=x onerror="window.xss=1">',
  '"><script>window.xss=1</script>',
  "javascript:window.xss=1//'",
  '{{constructor.constructor("window.xss=1")()}}',
];

test('no text of a person runs on any page', async ({ page, request }) => {
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
