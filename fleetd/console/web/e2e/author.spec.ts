import type { Page } from '@playwright/test';

import { accessible, colors, expect, inShard, live, matrix, test } from './world';

/** A name that no other run has used. */
const fresh = (what: string) => `${what}-${Date.now().toString(36)}`;

async function saved(page: Page): Promise<void> {
  await expect(page.getByTestId('save-state')).toContainText('Draft saved');
}

test('an author writes an act and a story by click alone, and publishes both', async ({ page }) => {
  const act = fresh('wave');
  await page.goto('/acts');
  await live(page);
  await page.getByRole('button', { name: 'New act' }).click();
  await page.getByLabel('Name that people see').fill(act);
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page).toHaveURL(new RegExp(`/acts/${act}$`));
  await page.getByRole('button', { name: /^Add wait / }).click();
  await page.getByRole('button', { name: /^Add say / }).click();
  // A text that is not written yet is something to do, with a place; a click on it goes there.
  const problem = page.getByRole('region', { name: 'Problems' }).getByRole('button').first();
  const text = page.getByLabel('Text: English (en)', { exact: true });
  await expect(problem).toContainText('Write it in English: Text');
  await expect(problem.getByLabel('To do')).toBeVisible();
  await problem.click();
  await expect(text).toBeFocused();
  // It is an error for an author who wants to publish.
  await page.getByRole('button', { name: 'Publish…' }).click();
  await expect(problem.getByLabel('Error', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Publish…' })).toHaveAttribute('aria-disabled', 'true');
  await expect(text).toBeFocused();
  await text.fill('Hello and welcome');
  await expect(page.getByText('No problems')).toBeVisible();
  await expect(page.getByRole('button', { name: /^say .?Hello and welcome.?: 0:02 to/ })).toBeVisible();
  await page.getByRole('button', { name: 'Move say: Hello and welcome up' }).click();
  await expect(page.locator('.item').first()).toContainText('Hello and welcome');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('.item').first()).toContainText('wait');
  await saved(page);
  await page.getByRole('button', { name: 'Publish…' }).click();
  await page.getByLabel('What changed (note)').fill('first version');
  await expect(page.getByRole('dialog')).toContainText('+ actions:');
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText(`${act} is published as revision 1`)).toBeVisible();

  const story = fresh('day');
  await page.goto('/stories');
  await page.getByRole('button', { name: 'New story' }).click();
  await page.getByLabel('Name that people see').fill(story);
  await page.getByRole('button', { name: 'Create' }).click();
  // A new story has nothing wrong: it begins with what to do first.
  await expect(page.getByRole('button', { name: 'Not finished yet: Add a first act' })).toBeVisible();
  await expect(page.getByRole('main').getByLabel('Error', { exact: true })).toHaveCount(0);
  await page.getByRole('button', { name: 'Not finished yet: Add a first act' }).click();
  await expect(page.getByRole('searchbox', { name: 'Search' })).toBeFocused();
  await page.getByRole('searchbox', { name: 'Search' }).fill(act);
  await page.getByRole('button', { name: `Add ${act}` }).click();
  await page.getByRole('button', { name: `Add ${act}` }).click();
  await expect(page.locator('.item')).toHaveCount(2);
  await expect(page.getByText('No problems')).toBeVisible();
  await saved(page);
  await page.getByRole('button', { name: 'Publish…' }).click();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText(`${story} is published as revision 1`)).toBeVisible();
  await page.goto('/stories');
  const row = page.getByRole('row', { name: new RegExp(story) });
  await expect(row).toContainText('valid');
  await expect(row).toContainText('2 acts');
});

test('the whole editor works by keyboard alone', async ({ page }) => {
  const act = fresh('nod');
  const press = async (...keys: string[]) => {
    for (const k of keys) await page.keyboard.press(k);
  };
  await page.goto('/acts');
  await live(page);
  await page.getByRole('button', { name: 'New act' }).focus();
  await press('Enter');
  await expect(page.getByLabel('Name that people see')).toBeFocused();
  await page.keyboard.type(act);
  await press('Enter');
  await expect(page).toHaveURL(new RegExp(`/acts/${act}$`));
  await page.getByRole('button', { name: /^Add wait / }).focus();
  await press('Enter', 'Enter');
  await expect(page.locator('.item')).toHaveCount(2);
  const rows = page.locator('[data-item]');
  await rows.first().focus();
  await press('Enter');
  await expect(rows.first()).toHaveAttribute('aria-pressed', 'true');
  await press('Control+d');
  await expect(page.locator('.item')).toHaveCount(3);
  await press('Delete');
  await expect(page.locator('.item')).toHaveCount(2);
  // The keyboard drags, too: take the handle, move, drop.
  await page.getByRole('button', { name: /^Add face / }).focus();
  await press('Enter');
  await page.locator('[data-field="face"] input').fill('smile');
  await press('Escape');
  await page.getByRole('button', { name: 'Drag face: smile' }).focus();
  // What the list says to people who do not see it: over which item the dragged one is, once the list has measured itself.
  const said = page.locator('[id^=DndLiveRegion]');
  let before = '';
  for (const key of ['Space', 'ArrowUp', 'ArrowUp']) {
    await press(key);
    await expect(said).toContainText('moved over');
    await expect(said).not.toHaveText(before);
    before = await said.innerText();
  }
  await press('Space');
  await expect(page.locator('.item').first()).toContainText('smile');
  await page.locator('[data-item]').first().focus();
  await press('Alt+ArrowDown');
  await expect(page.locator('.item').nth(1)).toContainText('smile');
  await press('Control+z');
  await expect(page.locator('.item').first()).toContainText('smile');
  await press('Control+y');
  await expect(page.locator('.item').nth(1)).toContainText('smile');
  await saved(page);
  await page.getByRole('button', { name: 'Publish…' }).focus();
  await press('Enter');
  await expect(page.getByLabel('What changed (note)')).toBeFocused();
  await press('Enter');
  await expect(page.getByText(`${act} is published as revision 1`)).toBeVisible();
});

test('an author whose draft somebody else saved meanwhile sees both versions, and keeps both', async ({
  page,
  request,
}) => {
  const act = fresh('both');
  const put = (face: string, match: string) =>
    request.put(`/api/v1/acts/${act}`, {
      headers: { 'If-Match': match, 'Content-Type': 'application/yaml' },
      data: `act: ${act}\nactions:\n  - {type: face, start_ms: 0, end_ms: 1000, face: ${face}}\n`,
    });
  expect((await put('smile', '"0"')).status()).toBe(200);
  await page.goto(`/acts/${act}`);
  await live(page);
  await expect(page.locator('.item')).toHaveCount(1);
  expect((await put('calm', '"1"')).status()).toBe(200);
  await page.getByRole('button', { name: /^Add wait / }).click();
  const dialog = page.getByRole('dialog', { name: 'Somebody else changed this draft' });
  await expect(dialog).toContainText('- face: calm');
  await expect(dialog).toContainText('- type: wait');
  for (const way of ['Keep both', 'Keep mine', /^Keep the one of /])
    await expect(dialog.getByRole('region', { name: way })).toBeVisible();
  await expect(dialog.getByRole('region', { name: 'Keep mine' })).toContainText('whose changes are lost');
  await dialog.getByRole('button', { name: 'Save mine as a copy' }).click();
  await expect(page).toHaveURL(new RegExp(`/acts/${act}-mine$`));
  await expect(page.locator('.item')).toHaveCount(2);
  expect((await (await request.get(`/api/v1/acts/${act}`)).json()).draft).toContain('calm');
});

test('deleting an act says which stories it shortens, and recovering brings it back', async ({ page, request }) => {
  const act = fresh('gone');
  const story = fresh('short');
  const yaml = { 'Content-Type': 'application/yaml', 'If-Match': '"0"' };
  await request.put(`/api/v1/acts/${act}`, {
    headers: yaml,
    data: `act: ${act}\nactions:\n  - {type: wait, start_ms: 0, end_ms: 1000}\n`,
  });
  await request.post(`/api/v1/acts/${act}/publish`, { data: {} });
  await request.put(`/api/v1/stories/${story}`, {
    headers: yaml,
    data: `story: ${story}\nname: {en: Short}\nrepeat: loop\nacts:\n  - {act: ${act}}\n  - {act: welcome}\n`,
  });
  await request.post(`/api/v1/stories/${story}/publish`, { data: {} });
  await page.goto('/acts?q=gone');
  await live(page);
  await page.getByRole('button', { name: `More for ${act}` }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await expect(page.getByRole('dialog')).toContainText(`${story}: 2 acts become 1`);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText(`${act} is deleted`)).toBeVisible();
  await page.getByLabel('Show deleted acts').click();
  await expect(page.getByRole('status').filter({ hasText: 'of them deleted' })).toBeVisible();
  await page.getByRole('button', { name: `More for ${act}` }).click();
  await page.getByRole('menuitem', { name: 'Recover' }).click();
  await expect(page.getByText(`${act} is recovered`)).toBeVisible();
});

test('a list with a wrong row imports nothing and names the cell; the corrected one is imported', async ({ page }) => {
  const act = fresh('list');
  const list = (end: number) => `Akt;order;type;start_ms;end_ms\n${act};1;wait;0;500\n;2;wait;500;${end}\n`;
  const choose = (text: string) =>
    page
      .getByRole('dialog')
      .locator('input[type=file]')
      .setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.goto('/acts');
  await live(page);
  await page.getByRole('button', { name: 'Import…' }).click();
  await choose(list(100));
  // The header of the first column is no field: its author says what it is.
  await page.getByRole('combobox', { name: 'Field: Akt' }).click();
  await page.getByRole('option', { name: 'act', exact: true }).click();
  await expect(page.getByRole('row', { name: /row 3, end_ms/ })).toContainText('is not after start_ms');
  await expect(page.getByRole('button', { name: 'Import', exact: true })).toBeDisabled();
  await choose(list(900).replace('Akt', 'act'));
  await expect(page.getByRole('row', { name: new RegExp(`act ${act}`) })).toContainText('new');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(page.getByText('1 draft is saved')).toBeVisible();
  await page.getByLabel('Filter by name, id or language').fill(act);
  await expect(page.getByRole('row', { name: new RegExp(act) })).toContainText('never published');
});

test('a draft is tried on a robot in manual mode, and control is given back', async ({ page, request }) => {
  const order = (verb: string, args: object) =>
    request.post('/api/v1/commands', {
      headers: { Prefer: 'wait=20' },
      data: { verb, args, selector: { ids: ['r1'] } },
    });
  await order('mode/set', { mode: 'mnl' });
  await order('safety/reset', {}); // refused unless something has stopped it
  await order('safety/enable', {});
  const act = fresh('try');
  await request.put(`/api/v1/acts/${act}`, {
    headers: { 'If-Match': '"0"', 'Content-Type': 'application/yaml' },
    data: `act: ${act}\nactions:\n  - {type: face, start_ms: 0, end_ms: 5000, face: smile}\n`,
  });
  await page.goto(`/acts/${act}`);
  await live(page);
  await page.getByRole('button', { name: 'Try on a robot…' }).click();
  const dialog = page.getByRole('dialog');
  // It is the only robot that is ready, so it is chosen; the others are listed with the reason.
  await expect(dialog.getByRole('combobox', { name: 'Robot that performs it' })).toHaveValue('r1');
  await expect(dialog.getByTestId('what-it-does')).toBeVisible();
  await expect(page.getByRole('option')).toHaveCount(0); // the list would cover it
  await dialog.getByRole('combobox', { name: 'Robot that performs it' }).click();
  await page.getByRole('option', { name: 'r1 in manual mode, free to move' }).click();
  await expect(dialog.getByRole('combobox', { name: 'Robot that performs it' })).toHaveValue('r1'); // still chosen
  await dialog.getByRole('combobox', { name: 'Robot that performs it' }).click();
  await expect(page.getByRole('option', { name: /^r3 .*needs manual mode/ })).toBeVisible();
  await page.keyboard.press('Escape');
  const what = dialog.getByTestId('what-it-does');
  await expect(what).toContainText(`r1 moves. It performs “${act}” once, as the draft is now: it shows faces.`);
  await expect(what).toContainText('This page takes control of r1 (a lease)');
  await expect(what).toContainText('It gives control back');
  await dialog.getByRole('button', { name: 'Command line' }).click();
  await expect(page.getByTestId('command-line')).toHaveText(`fleetd act try ${act} --robot=r1 --lang=en`);
  await page.keyboard.press('Escape');
  // The page looks at the clock of the spec, and learns of the end once the spec has seen what it shows before: on a slow
  // machine that may take longer than the act.
  const began = await page.evaluate(() => Date.now());
  await page.clock.setFixedTime(began);
  let seen = false;
  await page.route('**/api/v1/batches/*', async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { commands?: { ended?: string }[] };
    if (!seen) for (const command of json.commands ?? []) delete command.ended;
    await route.fulfill({ response, json });
  });
  await dialog.getByRole('button', { name: 'Perform' }).click();
  await expect(dialog.getByText('The robot performs it. Closing')).toBeVisible();
  await page.mouse.click(5, 500); // beside the dialog, which stays
  await expect(dialog.getByTestId('try-progress')).toHaveText('0:00 of about 0:05 (estimated)');
  await page.clock.setFixedTime(began + 3000);
  await expect(dialog.getByTestId('try-progress')).toHaveText('0:03 of about 0:05 (estimated)');
  await expect(dialog.getByRole('progressbar', { name: 'How far it is' })).toBeVisible();
  seen = true;
  await expect(dialog.getByText('The robot says that it has performed it. Control is given back.')).toBeVisible();
  await expect
    .poll(async () => ((await (await request.get('/api/v1/robots/r1')).json()) as { control?: unknown }).control)
    .toBeUndefined();
});

test('a condition says whether it is true on the chosen robot, and why not', async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem('troupe.editor.robot', 'r2'));
  await page.goto('/activities/greet-visitor');
  await live(page);
  await expect(page.getByText('Is it true on r2 now?')).toBeVisible();
  await expect(page.getByText('Not true now')).toBeVisible();
  await expect(page.getByText(/people .*is not true/)).toBeVisible();
});

test('the key that goes to the filter is shown only where there is a keyboard', async ({ page, browser }) => {
  const key = '.keyboard-only';
  for (const path of ['/stories', '/assets', '/robots']) {
    await page.goto(path);
    await expect(page.locator(key)).toBeVisible();
  }
  await page.keyboard.press('/');
  await expect(page.getByLabel('Name or label')).toBeFocused();
  const tablet = await (await browser.newContext({ hasTouch: true, isMobile: true })).newPage();
  for (const path of ['/stories', '/assets', '/robots']) {
    await tablet.goto(new URL(path, page.url()).href);
    await expect(tablet.locator('[data-filter]')).toBeVisible();
    await expect(tablet.locator(key)).toBeHidden();
  }
  await tablet.context().close();
});

test('a sound is uploaded, listed with its uses, and deleted', async ({ page }) => {
  const name = fresh('ding');
  const wav = Buffer.concat([
    Buffer.from('RIFF....WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x01\0\0\0', 'latin1'),
    Buffer.from(name),
  ]);
  await page.goto('/assets');
  await live(page);
  await page.locator('input[type=file]').setInputFiles({ name: `${name}.wav`, mimeType: 'audio/wav', buffer: wav });
  await expect(page.getByText(`${name} is uploaded`)).toBeVisible();
  await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText('nowhere');
  await page
    .locator('input[type=file]')
    .setInputFiles({ name: 'Bad!.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
  await expect(page.getByText('Bad!.txt: rename the file')).toBeVisible();
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText(`${name} is deleted`)).toBeVisible();
});

for (const scheme of inShard('light' as const, 'dark' as const)) {
  for (const path of matrix
    ? [
        '/stories',
        '/acts',
        '/activities',
        '/acts/welcome',
        '/stories/museum-welcome',
        '/activities/greet-visitor',
        '/assets',
        '/places',
      ]
    : []) {
    test(`${path} is accessible in ${scheme} colours`, async ({ page }) => {
      await colors(page, scheme);
      await page.goto(path);
      await live(page);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await accessible(page);
    });
  }

  test(`the dialogs of authors are accessible in ${scheme} colours`, async ({ page }) => {
    test.setTimeout(240_000); // seven dialogs, each read as a whole
    await colors(page, scheme);
    await page.goto('/acts');
    await live(page);
    await page.getByRole('button', { name: 'Import…' }).click();
    const list = 'act;order;type;start_ms;end_ms\ngood;1;wait;0;500\nbad;1;wait;900;200\n';
    await page
      .getByRole('dialog')
      .locator('input[type=file]')
      .setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(list) });
    await expect(page.getByLabel(/^Leave out what is wrong/)).toBeVisible();
    await accessible(page);
    await page.goto('/stories/museum-welcome');
    await live(page);
    for (const name of ['Try on a robot…', 'Publish…']) {
      await page.getByRole('button', { name }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
      await accessible(page);
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^(Close|Cancel)$/ })
        .first()
        .click();
      await expect(page.getByRole('dialog')).toBeHidden();
    }
    for (const name of ['Revisions…', 'Where it is used', 'Edit as text…', 'Duplicate…']) {
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
      await expect(page.locator('[role=menu]')).toHaveCount(0); // it fades while the dialog opens
      await accessible(page);
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^(Close|Cancel)$/ })
        .first()
        .click();
      await expect(page.getByRole('dialog')).toBeHidden();
    }
  });
}
