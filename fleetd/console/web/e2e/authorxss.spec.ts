import type { APIRequestContext, Page } from '@playwright/test';

import { expect, live, test } from './world';

/** Texts that would run if a page took them for HTML; short enough for every name. */
const image = '<img src=x onerror=window.xss=1>';
const script = '"><script>window.xss=1</script>';
const link = "javascript:window.xss=1//'";
const texts = [image, script, link];

/** Fails if a text of the page became an element, an address or a script. */
function watch(page: Page): () => Promise<void> {
  const ran: string[] = [];
  page.on('dialog', (d) => {
    ran.push(d.message());
    void d.dismiss();
  });
  page.on('pageerror', (e) => ran.push(e.message));
  // The policy of the page would stop most scripts. None may even be tried.
  page.on('console', (m) => {
    if (m.text().includes('Content Security Policy')) ran.push(m.text());
  });
  return async () => {
    await expect(page.locator('img[src="x"], [onerror], a[href^="javascript:" i]')).toHaveCount(0);
    expect(await page.evaluate(() => (window as unknown as { xss?: number }).xss)).toBeUndefined();
    expect(await page.locator('script:not([src])').count()).toBe(0);
    expect(ran).toEqual([]);
  };
}

const yaml = { 'Content-Type': 'application/yaml', 'If-Match': '*' };
const q = (text: string) => JSON.stringify(text);

/** Saves and publishes an act, a story and an activity whose every text is hostile. */
async function write(request: APIRequestContext): Promise<void> {
  const by = encodeURIComponent(image);
  const put = async (path: string, data: string) => {
    const answer = await request.put(`/api/v1/${path}?by=${by}`, { headers: yaml, data });
    expect(answer.ok(), await answer.text()).toBe(true);
  };
  const publish = async (path: string) => {
    const answer = await request.post(`/api/v1/${path}/publish`, { data: { by: image, why: script } });
    expect(answer.ok(), await answer.text()).toBe(true);
  };
  await put(
    'acts/hostile-act',
    `act: hostile-act
name: {en: ${q(image)}, de: ${q(script)}}
labels: {x: ${q(script)}}
parameters: {guest: {type: string, default: ${q(image)}}}
actions:
  - {type: say, start_ms: 0, timeout_ms: 9000, text: {en: ${q(`${image} ${script}`)}, de: ${q(link)}}}
  - {type: screen, start_ms: 0, end_ms: 900, text: {en: ${q(image)}}}
`,
  );
  await publish('acts/hostile-act');
  // Names are a-z, 0-9 and hyphens: a draft may have others, and shows what is wrong with them.
  await put(
    'acts/hostile-draft',
    `act: hostile-draft
name: {en: ${q(image)}}
actions:
  - {type: say, start_ms: 0, timeout_ms: 9000, voice: ${q(link)}, text: {en: ${q(script)}}}
  - {type: face, start_ms: 0, face: ${q(image)}}
  - {type: sound, start_ms: 0, timeout_ms: 900, sound: ${q(script)}}
  - {type: motion, start_ms: 0, timeout_ms: 900, motion: ${q(script)}}
  - {type: led, start_ms: 0, end_ms: 900, colour: ${q(image)}}
  - {type: screen, start_ms: 0, end_ms: 900, image: ${q(link)}}
  - {type: screen, start_ms: 1000, end_ms: 1900, text: {en: ${q(image)}}, choices: [{id: ${q(script)}, text: {en: ${q(script)}}}]}
  - {type: act, start_ms: 2000, act: ${q(image)}, with: {x: ${q(script)}}}
`,
  );
  await put(
    'stories/hostile-story',
    `story: hostile-story\nname: {en: ${q(image)}}\nrepeat: loop\nlabels: {x: ${q(script)}}\nacts:\n  - {act: hostile-act, with: {guest: ${q(script)}}}\n`,
  );
  await publish('stories/hostile-story');
  await put(
    'activities/hostile-activity',
    `activity: hostile-activity\nname: {en: ${q(script)}}\nnature: solitary\nrepeat: once\nlaunch: {when: ${q(`battery_pct > 3 || "${image}" == "x"`)}}\nacts:\n  - {act: hostile-act}\n`,
  );
}

test('no text of an act, a story, an activity or a note runs as a script in any screen of authors', async ({
  page,
  request,
}) => {
  const harmless = watch(page);
  await write(request);
  await page.addInitScript(() => localStorage.setItem('troupe.editor.robot', 'r1'));
  for (const path of ['/acts', '/stories', '/activities']) {
    await page.goto(`${path}?q=hostile`);
    await live(page);
    await expect(page.getByRole('row', { name: /hostile-(act|story|activity),/ })).toContainText(
      path === '/activities' ? script : image,
    );
    await harmless();
  }
  for (const path of [
    '/acts/hostile-act',
    '/acts/hostile-draft',
    '/stories/hostile-story',
    '/activities/hostile-activity',
  ]) {
    const published = /act$|story$/.test(path);
    await page.goto(path);
    await live(page);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(path.startsWith('/activities') ? script : image);
    for (const row of await page.locator('[data-item]').all()) {
      await row.click();
      await harmless();
    }
    // What was published, by whom and why; where it is used; the differences; the file.
    for (const item of ['Revisions…', 'Where it is used', 'Edit as text…']) {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name: item }).click();
      const dialog = page.getByRole('dialog');
      await expect(dialog).toBeVisible();
      if (item === 'Revisions…' && published) {
        await dialog.getByRole('button', { name: 'Compare with the draft' }).first().click();
        await expect(dialog.getByText(`by ${image}: ${script}`).first()).toBeVisible();
      }
      if (item === 'Edit as text…') await expect(dialog.getByRole('textbox')).toHaveValue(/<img src=x/);
      await harmless();
      await dialog.getByRole('button', { name: 'Close' }).first().click();
      await expect(dialog).toBeHidden();
    }
    if (!published) continue;
    await page.getByRole('button', { name: 'Publish…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await harmless();
  }
});

test('no text of a story runs as a script where it is assigned and performed', async ({ page, request }) => {
  const harmless = watch(page);
  await write(request);
  const given = await request.post('/api/v1/assignments', {
    data: { story: 'hostile-story', selector: { ids: ['r3'] }, apply: 'now', why: script },
  });
  expect(given.ok(), await given.text()).toBe(true);
  for (const path of [
    '/robots/r3',
    '/robots/r3/story',
    '/robots/r3/events',
    '/robots/r3/raw',
    '/assign?story=hostile-story',
    '/robots',
    '/audit',
  ]) {
    await page.goto(path);
    await live(page);
    await expect(page.locator('h1').first()).toBeVisible();
    await page.waitForLoadState('networkidle').catch(() => {}); // the stream of changes stays open
    await harmless();
  }
});

test('no name or cell of a file that is imported runs', async ({ page }) => {
  const harmless = watch(page);
  await page.goto('/acts');
  await live(page);
  await page.getByRole('button', { name: 'Import…' }).click();
  const dialog = page.getByRole('dialog');
  const choose = (name: string, text: string) =>
    dialog.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
  for (const text of texts) {
    // A header, an id, a number, a field of no type, the name of the file.
    const cell = `"${text.replaceAll('"', '""')}"`;
    await choose(`${text.replaceAll('/', '')}.csv`, `act,${cell},type,start_ms\nx,1,wait,0\n`);
    await expect(dialog.getByRole('row', { name: text }).first()).toBeVisible();
    await harmless();
    await choose('list.csv', `act,type,start_ms,face\n${cell},${cell},${cell},${cell}\n`);
    await expect(dialog.getByText(/is not (a number|JSON)/).first()).toBeVisible();
    await harmless();
    await choose('act.yaml', `act: ${JSON.stringify(text)}\nactions: [{type: ${JSON.stringify(text)}, start_ms: 0}]\n`);
    await expect(dialog.getByText('Error').first()).toBeVisible();
    await harmless();
  }
});

test('nothing that is uploaded is served as a page', async ({ page, request, baseURL }) => {
  const harmless = watch(page);
  const put = (name: string, data: Buffer, type: string) =>
    request.put(`/api/v1/assets/${encodeURIComponent(name)}`, { data, headers: { 'Content-Type': type } });
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>window.xss=1</script></svg>');
  const html = Buffer.from('<!doctype html><script>window.xss=1</script>');
  for (const [body, type] of [
    [svg, 'image/svg+xml'],
    [html, 'text/html'],
    [svg, 'audio/wav'],
  ] as const)
    expect((await put('hostile', body, type)).status()).toBe(422);
  expect((await put('<img src=x>', svg, 'image/png')).status()).toBe(422);
  // A sound and a picture that are HTML, too: browsers that guess would run them.
  const wav = Buffer.concat([
    Buffer.from('RIFF....WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x01\0\0\0', 'latin1'),
    html,
  ]);
  const png = Buffer.concat([
    Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010800000000' + '3a7e9b55', 'hex'),
    svg,
  ]);
  for (const [name, body, media] of [
    ['half-html', wav, 'audio/wav'],
    ['half-svg', png, 'image/png'],
  ] as const) {
    const answer = await put(name, body, 'text/html');
    expect(answer.ok(), await answer.text()).toBe(true);
    const { asset } = (await answer.json()) as { asset: { sha256: string } };
    const file = await request.get(`/api/v1/assets/sha256/${asset.sha256}`);
    expect(file.headers()).toMatchObject({
      'content-type': media,
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    });
    // Opened by its address it is a download, and no page of this origin.
    const download = page.waitForEvent('download');
    await page.goto(`${baseURL}/api/v1/assets/sha256/${asset.sha256}`).catch(() => undefined);
    await download;
  }
  await page.goto('/assets');
  await live(page);
  await expect(page.getByRole('row', { name: /half-html/ })).toBeVisible();
  await expect(page.getByRole('row', { name: /half-svg/ })).toBeVisible();
  // The page says which files it refuses, in the words of the file's name.
  for (const text of texts) {
    const name = `${text.replaceAll('/', '')}.svg`;
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'image/svg+xml', buffer: svg });
    await expect(page.getByText(`${name}: rename the file`)).toBeVisible();
    await harmless();
  }
});

test('no point of a robot runs where it is drawn', async ({ page, request }) => {
  const harmless = watch(page);
  for (const text of texts) {
    const points = await request.post('/api/v1/desired', {
      data: { selector: { ids: ['r1'] }, points: { points: { [text]: { x_m: 1, y_m: 1 } } } },
    });
    expect(points.status()).toBe(422); // the name of a point is a-z, 0-9 and hyphens
  }
  for (const [n, text] of texts.entries()) {
    const labels = await request.put('/api/v1/robots/r1/labels', {
      data: { labels: { site: text }, by: text, why: text },
    });
    expect(labels.ok(), await labels.text()).toBe(true);
    await page.goto('/places?robot=r1');
    await live(page);
    await page.getByRole('button', { name: 'New place…' }).click();
    await expect(page.getByRole('dialog')).toContainText(text);
    await page.getByRole('textbox', { name: 'Name' }).fill(text);
    await expect(page.getByText('Use a-z, 0-9 and hyphens')).toBeVisible();
    await harmless();
    if (n === texts.length - 1)
      await request.put('/api/v1/robots/r1/labels', { data: { labels: { site: 'museum' }, by: 'anna' } });
  }
});

test('no text of a robot runs as a script: of a unit of its adapter, a place, an event; nor the name of a saved view', async ({
  page,
}) => {
  const harmless = watch(page);
  const events = [image, script, link].map((text, n) => ({
    robot: 'r1',
    boot: 'b1',
    seq: n + 1,
    ts: '2026-01-02T03:04:05Z',
    received: '2026-01-02T03:04:05Z',
    level: 'warn',
    type: text,
    source: text,
    cause: text,
    req_id: text,
    data: { act: text, why: text, reason: text, detail: text },
  }));
  await page.route(/\/api\/v1\/(robots\/r1\/)?events(\?|$)/, (route) => route.fulfill({ json: { events } }));
  await page.route(/\/api\/v1\/robots\/r1(\?|$)/, async (route) => {
    const answer = await route.fetch();
    const robot = await answer.json();
    robot.state.units = [image, script, link].map((id) => ({ id, kind: 'led', state: 'error', detail: id }));
    robot.caps.units = [
      { id: image, kind: 'face', faces: [image, script, link] },
      { id: script, kind: 'speaker', sounds: [image, script, link] },
      { id: link, kind: 'screen', views: [image], images: [script] },
      ...robot.caps.units,
    ];
    Object.assign(robot.caps, { points: texts, handlers: texts, interrupters: texts, languages: texts, notes: texts });
    await route.fulfill({ response: answer, json: robot });
  });
  for (const part of ['', '/story', '/events', '/telemetry', '/setup', '/raw', '/manual']) {
    await page.goto(`/robots/r1${part}`);
    await live(page);
    await expect(page.locator('h1').first()).toBeVisible();
    await page.waitForLoadState('networkidle').catch(() => {}); // the stream of changes stays open
    if (part === '' || part === '/events') await expect(page.getByText(image).first()).toBeVisible();
    await harmless();
  }
  await page.goto('/events');
  await expect(page.getByText(image).first()).toBeVisible();
  await harmless();
  await page.goto('/robots?presence=online');
  await live(page);
  for (const text of texts) {
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view' }).click();
    await page.getByLabel('Name of the view').fill(text);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
  }
  await page.getByRole('button', { name: 'Views' }).click();
  await expect(page.getByRole('menuitem', { name: image })).toBeVisible();
  await harmless();
});
