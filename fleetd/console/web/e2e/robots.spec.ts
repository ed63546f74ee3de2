import { readFileSync } from 'node:fs';

import { accessible, colors, expect, inShard, live, test } from './world';

const row = (id: string) => `[data-robot="${id}"]`;

test('the list is filtered, the filter is the address, and an empty list says why', async ({ page }) => {
  await page.goto('/robots');
  await live(page);
  await expect(page.getByTestId('count')).toHaveText('3');
  await page.keyboard.press('/');
  await page.keyboard.type('museum');
  await expect(page.getByTestId('count')).toHaveText('2 of 3');
  await expect(page).toHaveURL(/text=museum/);
  await expect(page.locator(row('r3'))).toHaveCount(0);
  await page.reload();
  await expect(page.getByTestId('count')).toHaveText('2 of 3');
  await page.getByLabel('Name or label').fill('nobody');
  await expect(page.getByText('No robot matches the filters')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect(page.getByTestId('count')).toHaveText('3');
  await page.goto('/robots?doing=performing&mode=ato&presence=online');
  await expect(page.locator(row('r1'))).toContainText('performing');
});

test('a selection of a filter is sent with a dry run and the number of robots', async ({ page, world }) => {
  await page.goto('/robots?label=site%3Dmuseum');
  await live(page);
  await page.getByRole('button', { name: 'Select all 2 matching' }).click();
  await page.getByTestId('bulk').getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByTestId('dry-run')).toContainText('reaches 2 robots');
  // Another robot comes to match meanwhile: nothing is sent until the person has looked again.
  await world.cli('robot', 'label', 'r3', 'site=museum');
  await page.getByRole('button', { name: 'Send to 2 robots' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'changed meanwhile' })).toBeVisible();
  await expect(page.getByRole('alert').filter({ hasText: 'changed meanwhile' })).toContainText(
    'It was 2 when you looked; now it is 3.',
  );
  await expect(page.getByTestId('dry-run')).toContainText('reaches 3 robots');
  await world.cli('robot', 'label', 'r3', 'site=stage');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByTestId('bulk').getByRole('button', { name: 'Pause' }).click();
  await page.getByLabel('Reason').fill('a speech');
  await page.getByRole('button', { name: 'Send to 2 robots' }).click();
  await expect(page.getByText('Pause: done by 2 robots')).toBeVisible();
  await expect(page.locator(row('r1'))).toContainText('paused');
  await expect(page.locator(row('r2'))).toContainText('paused');
  await page.getByTestId('bulk').getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Send to 2 robots' }).click();
  await expect(page.locator(row('r1'))).toContainText('performing');
});

test('labels of ticked robots are changed, and the list is a file', async ({ page }) => {
  await page.goto('/robots');
  await live(page);
  await page.getByLabel('Select r1').check();
  await page.getByLabel('Select r2').check();
  await page.getByTestId('bulk').getByRole('button', { name: 'Label' }).click();
  await page.getByLabel('Key').fill('floor');
  await page.getByLabel('Value').fill('2');
  await page.getByRole('button', { name: 'Look what it changes' }).click();
  await page.getByRole('button', { name: 'Send to 2 robots' }).click();
  await expect(page.locator(row('r1'))).toContainText('floor=2');
  const waiting = page.waitForEvent('download');
  await page.getByTestId('bulk').getByRole('link', { name: 'CSV' }).click();
  const text = readFileSync(await (await waiting).path(), 'utf8')
    .trim()
    .split('\n');
  expect(text).toHaveLength(3);
  expect(text[1]).toContain('r1,performing,online');
});

test('a lost robot comes first, unless the order is frozen', async ({ page, world }) => {
  await page.goto('/robots');
  await live(page);
  const first = page.locator('[role="row"][data-robot]').first();
  await expect(first).toHaveAttribute('data-robot', 'r1');
  await page.getByLabel('Select r1').check();
  await world.control('robot/cut?robot=r3');
  await expect(page.locator(row('r3'))).toContainText('not connected');
  await expect(page.getByTestId('would-move')).toContainText('1 row would move');
  await expect(first).toHaveAttribute('data-robot', 'r1');
  await page.getByTestId('would-move').click();
  await expect(first).toHaveAttribute('data-robot', 'r3');
  await world.control('robot/join?robot=r3');
  await expect(page.locator(row('r3'))).toContainText('online');
});

test('the list is used with keys alone', async ({ page }) => {
  // By name: the usual order, problems first, changes while the robots start.
  await page.goto('/robots?sort=name');
  await live(page);
  await expect(page.locator('[role="row"][data-robot]')).toHaveCount(3);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await expect(page.locator(row('r2'))).toHaveAttribute('data-active', 'true');
  await page.keyboard.press('k');
  await expect(page.locator(row('r1'))).toHaveAttribute('data-active', 'true');
  await page.keyboard.press('x');
  await expect(page.getByLabel('Select r1')).toBeChecked();
  await page.keyboard.press('.');
  await expect(page.getByTestId('bulk').getByRole('button', { name: 'Set mode' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('bulk')).toBeHidden();
  await page.getByTestId('robots').focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: 'Robot r1' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
});

test('a view is saved and opened again; columns are chosen', async ({ page }) => {
  await page.goto('/robots?presence=online&sort=-name');
  await live(page);
  await expect(page.locator('[role="row"][data-robot]').first()).toHaveAttribute('data-robot', 'r3');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByLabel('Name of the view').fill('here');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.goto('/robots');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'here' }).click();
  await expect(page).toHaveURL(/presence=online&sort=-name/);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Round trip' }).check();
  await expect(page.getByRole('columnheader', { name: 'Round trip' })).toBeVisible();
});

test('on a phone the robots are cards', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/robots');
  await live(page);
  await page.getByRole('listitem').filter({ hasText: 'r2' }).getByRole('button').click();
  await expect(page.getByRole('dialog', { name: 'Robot r2' })).toBeVisible();
  await accessible(page);
});

test('on a phone the sheet of a stopped robot has the way out, and a refusal is shown', async ({ page, world }) => {
  await world.cli('stop', 'r3', '--why', 'a child on the stage', '--by', 'nora');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/robots');
  await live(page);
  await page.getByRole('listitem').filter({ hasText: 'r3' }).getByRole('button').click();
  const sheet = page.getByRole('dialog', { name: 'Robot r3' });
  const way = sheet.getByTestId('way-out');
  await expect(way).toContainText('Next: Make sure that it is safe, then release the stop.');
  await expect(way).toContainText('nora stopped it');
  await expect(sheet.getByRole('button', { name: 'Let it move' }).last()).toHaveAttribute('aria-disabled', 'true');
  await way.getByRole('button', { name: 'Release…' }).click();
  await page.getByLabel('Why may it move again?').fill('the child is with its parents');
  await page.getByRole('button', { name: 'Release', exact: true }).click();
  await way.getByRole('button', { name: 'Let it move' }).click();
  await expect(way).toBeHidden();
});

test('what robots refuse is shown with the reason', async ({ page, world }) => {
  await world.cli('stop', 'r3', '--why', 'a child on the stage', '--by', 'nora');
  await page.goto('/robots');
  await live(page);
  await page.getByLabel('Select r3').check();
  await page.getByTestId('bulk').getByRole('button', { name: 'Let move' }).click();
  await page.getByRole('button', { name: 'Send to 1 robot' }).click();
  await expect(page.getByText('Let move: done by 0 of 1')).toBeVisible();
  await expect(page.getByTestId('toasts')).toContainText(/1 refused by the robot: .*\(r3\)/);
  await page.getByTestId('latched').getByRole('button', { name: 'Release…' }).click();
  await page.getByLabel('Why may the robots move again?').fill('the child is with its parents');
  await page.getByRole('button', { name: 'Release', exact: true }).click();
  await expect(page.getByTestId('latched')).toBeHidden();
  await world.cli('safety', 'enable', 'r3', '--wait');
});

test('a bulk action shows its command line, which selects the same robots', async ({ page, world }) => {
  await page.goto('/robots?label=site%3Dmuseum');
  await live(page);
  await page.getByRole('button', { name: 'Select all 2 matching' }).click();
  await page.getByTestId('bulk').getByRole('button', { name: 'Command line' }).click();
  await expect(page.getByTestId('command-line')).toHaveText(
    `fleetd stop -l site=museum '--why=Stop pressed for the selected robots in the console'`,
  );
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('command-line')).toBeHidden();
  await page.getByTestId('bulk').getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByTestId('dry-run')).toContainText('reaches 2 robots');
  await page.getByRole('dialog').getByRole('button', { name: 'Command line' }).click();
  const line = await page.getByTestId('command-line').innerText();
  expect(line).toBe('fleetd auto pause -l site=museum --expect=2');
  expect(await world.cli(...line.split(' ').slice(1), '--dry-run')).toContain('r2');
});

test('what robots and labels are called is text, and a lost stream is said', async ({ page }) => {
  const evil = `<img src=x onerror="document.title='owned'">`;
  const robot = (id: string, doing: string, status: string) => ({
    id,
    labels: { site: evil, hall: evil },
    adopted: true,
    presence: { status, why: evil },
    doing,
    mode: 'ato',
    safety: 'ENABLED',
    auto: 'idle',
    story: { id: evil, rev: 1 },
    act: evil,
    pause_holders: [],
    interrupts: [],
    desired: { converged: true },
    latches: [],
    alerts: [{ id: 'a1', type: evil, level: 'error', source: evil, detail: evil, first_ts: '2026-01-02T03:04:05Z' }],
  });
  await page.route('**/api/v1/stream', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `event: robots\ndata: ${JSON.stringify({ robots: [robot(evil, 'performing', 'online'), robot('r2', 'not_connected', 'lost')] })}\n\n`,
    }),
  );
  await page.goto('/robots');
  await expect(page.locator('[role="row"][data-robot]')).toHaveCount(2);
  await expect(page.getByText(evil).first()).toBeVisible();
  await expect(page.getByTestId('connection')).not.toHaveText('Live');
  await page.goto('/');
  await expect(page.getByRole('region', { name: 'What needs a look first' })).toContainText(evil);
  await page.goto('/?wall');
  await expect(page.getByTestId('tile').filter({ hasText: evil }).first()).toBeVisible();
  await expect(page).not.toHaveTitle('owned');
});

for (const scheme of inShard('light' as const, 'dark' as const)) {
  test(`the list is accessible in ${scheme} colours`, async ({ page }) => {
    await colors(page, scheme);
    await page.goto('/robots');
    await live(page);
    await page.getByLabel('Select r1').check();
    await accessible(page);
    await page.getByTestId('bulk').getByRole('button', { name: 'Let move' }).click();
    await expect(page.getByTestId('dry-run')).toBeVisible();
    await accessible(page);
  });
}
