import { readFile } from 'node:fs/promises';

import type { Page } from '@playwright/test';

import { expect, live, test } from './world';

const choose = (page: Page, name: string, text: string | Buffer) =>
  page
    .getByRole('dialog')
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

async function openImport(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await live(page);
  await page.getByRole('button', { name: 'Import…' }).click();
}

/** Downloads what a menu of the page offers. */
async function exported(page: Page, path: string, item: string): Promise<Buffer> {
  await page.goto(path);
  await live(page);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: item }).click();
  return readFile((await (await download).path())!);
}

test('what is exported as a list is imported without a change, and an export of that is the same', async ({ page }) => {
  for (const path of ['/acts', '/stories', '/activities']) {
    const list = await exported(page, path, 'Export all as CSV list');
    await openImport(page, path);
    await choose(page, 'list.csv', list);
    const dialog = page.getByRole('dialog');
    await expect(dialog.getByText('Everything is as it is already.')).toBeVisible();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await expect(page.getByText('0 drafts are saved')).toBeVisible();
    expect(await exported(page, path, 'Export all as CSV list')).toEqual(list);
  }
});

test('what is exported as an archive is imported without a change', async ({ page }) => {
  const archive = await exported(page, '/stories', 'Export all as ZIP');
  await openImport(page, '/stories');
  await choose(page, 'museum.zip', archive);
  await expect(page.getByText('Everything is as it is already.')).toBeVisible();
  await expect(page.getByText(/^Sounds and pictures: .*fountain/)).toBeVisible();
});

test('a list with bad rows names each cell and imports nothing, unless asked to leave them out', async ({
  page,
  request,
}) => {
  const [good, bad, of] = ['good', 'bad', 'of-bad'].map((n) => `${n}-${Date.now().toString(36)}`);
  const list = [
    'act;order;type;start_ms;end_ms;face',
    `${good};1;wait;0;500;`,
    `${bad};1;wait;0;later;`,
    `;1;face;500;100;smile`,
    `${of};1;wait;0;500;`,
    `;2;wait;900;200;`,
    '',
    `${of}-2;1;say;0;;`,
  ].join('\n');
  await openImport(page, '/acts');
  await choose(page, 'list.csv', list);
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('row', { name: /row 3, end_ms/ })).toContainText('"later" is not a number');
  await expect(dialog.getByRole('row', { name: /row 4, order/ })).toContainText('row 3 has this place, too');
  await expect(dialog.getByRole('row', { name: /row 6, end_ms/ })).toContainText('is not after start_ms');
  // A cell that is missing has its column, too, and an empty line is a row.
  await expect(dialog.getByRole('row', { name: /row 8, end_ms/ })).toContainText('neither when it ends');
  const go = dialog.getByRole('button', { name: 'Import', exact: true });
  await expect(go).toBeDisabled();
  for (const id of [good, bad, of]) expect((await request.get(`/api/v1/acts/${id}`)).status()).toBe(404);

  await dialog.getByLabel('Leave out what is wrong (3), and import the rest (1)').check();
  await expect(dialog.getByRole('row', { name: new RegExp(`act ${good}`) })).toContainText('new');
  await go.click();
  await expect(page.getByText('1 draft is saved')).toBeVisible();
  expect((await request.get(`/api/v1/acts/${good}`)).status()).toBe(200);
  for (const id of [bad, of]) expect((await request.get(`/api/v1/acts/${id}`)).status()).toBe(404);
});

test('a list whose header is no field can be mapped, and nothing of an unreadable file can be left out', async ({
  page,
}) => {
  await openImport(page, '/acts');
  await choose(page, 'list.csv', 'Akt;Art\nwave;wait\n');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('the header names no kind of list')).toBeVisible();
  await expect(dialog.getByRole('checkbox')).toHaveCount(0);
  for (const [header, field] of [
    ['Akt', 'act'],
    ['Art', 'type'],
  ]) {
    await dialog.getByRole('combobox', { name: `Field: ${header}` }).click();
    await page.getByRole('option', { name: field, exact: true }).click();
  }
  await expect(dialog.getByRole('row', { name: /act wave/ })).toBeVisible();
});
