import { accessible, colors, expect, live, matrix, test, touchOnce } from './world';

test.describe('by touch, on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test('a person with a phone finds the robot that does not perform, sees why, and gets it performing again', async ({
    page,
    world,
  }) => {
    await world.cli('stop', 'r2', '--why', 'a child on the stage', '--by', 'nora');
    await page.goto('/robots');
    await live(page);
    await expect(page.getByTestId('latched')).toBeVisible();
    // Problems come first. Its card opens what is most important about it, which leads to its page.
    const card = page.getByRole('listitem').first();
    await expect(card).toHaveAttribute('data-robot', 'r2');
    await expect(card).toContainText('stopped: waiting for release');
    await touchOnce(card.getByRole('button'));
    await touchOnce(page.getByRole('dialog').locator('a[href="/robots/r2"]'));

    const way = page.getByTestId('way-out');
    await expect(way).toContainText('a child on the stage');
    await expect(way).toContainText(/Cause: nora stopped it at/);
    await expect(page.getByRole('button', { name: 'Release…' })).toHaveCount(1);
    await expect(page.getByText('stopped: waiting for release')).toHaveCount(2); // the badge, and for screen readers
    const safety = page.getByRole('region', { name: 'Safety' });
    await expect(safety.getByRole('row', { name: /^Cause/ })).toContainText(
      /nora stopped it at .*: a child on the stage/,
    );
    await touchOnce(way.getByRole('button', { name: 'Release…' }));
    await page.getByLabel('Why may it move again?').fill('the child is with its parents');
    await touchOnce(page.getByRole('button', { name: 'Release', exact: true }));

    await expect(way).toContainText('Next: Make sure that nobody is in its way, then let it move');
    await expect(safety.getByRole('row', { name: /^Cause/ })).toContainText('nora stopped it at');
    await touchOnce(way.getByRole('button', { name: 'Let it move' }));
    await expect(way).toContainText('It performs.');
    await expect(page.getByTestId('way-out').getByRole('button')).toHaveCount(0);
    expect(await world.cli('robot', 'get', 'r2')).toContain('ENABLED');
  });
});

test('by keyboard alone, a robot that was sent to manual and paused performs again', async ({ page, world }) => {
  await world.cli('auto', 'pause', 'r3', '--wait', '--by', 'otto', '--why', 'a speech');
  await world.cli('mode', 'set', 'mnl', 'r3', '--wait');
  await page.goto('/');
  await live(page);
  await page.keyboard.press('Control+k');
  await expect(page.getByPlaceholder('Robot, page or command')).toBeFocused();
  await page.keyboard.type('r3');
  await expect(page.getByRole('dialog').getByText('in manual mode')).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/robots\/r3$/);
  const way = page.getByTestId('way-out');
  await expect(way).toContainText('It is in');
  const press = async (name: string) => {
    const button = way.getByRole('button', { name });
    await expect(button).toBeEnabled(); // a later step is shown before it is possible
    for (let i = 0; i < 60 && !(await button.evaluate((b) => b === document.activeElement)); i++)
      await page.keyboard.press('Tab');
    await expect(button).toBeFocused();
    await page.keyboard.press('Enter');
  };
  await press('Back to automatic');
  await expect(way).toContainText('otto');
  await press('Continue');
  await expect(way).toContainText('It performs.');
});

test('by keyboard alone, the act of a paused story is skipped, and the event says who skipped it', async ({
  page,
  world,
}) => {
  await world.cli('auto', 'pause', 'r3', '--wait', '--why', 'a class of children');
  await page.goto('/robots/r3/story');
  await live(page);
  const skip = page.getByRole('button', { name: 'Skip act' });
  await expect(skip).not.toHaveAttribute('aria-disabled', 'true');
  await page.keyboard.press('n');
  await expect(skip).toBeFocused();
  await page.keyboard.press('Enter');
  await expect
    .poll(() => world.cli('event', 'list', '--robot', 'r3', '--type', 'act_skipped'))
    .toContain('act_skipped');
  expect(await world.cli('robot', 'get', 'r3')).toContain('paused');
  await world.cli('auto', 'continue', 'r3', '--wait');
});

test('a mode command to a robot that is away expires visibly, and its new default story is applied when it is back', async ({
  page,
  world,
}) => {
  test.setTimeout(240_000);
  await page.goto('/robots/r1');
  await live(page);
  await expect(page.getByTestId('way-out')).toContainText('It performs.');
  await world.control('robot/cut?robot=r1');
  await expect(page.getByTestId('away')).toBeVisible();
  await expect(page.getByTestId('connectivity')).toContainText('last seen');

  // Other commands are not possible, and say why.
  await expect(page.getByRole('button', { name: 'Pause' })).toHaveAttribute('aria-disabled', 'true');
  await page.getByRole('button', { name: 'Switch to Manual' }).click();
  const answers = page.getByTestId('answers');
  await expect(answers).toContainText('accepted, not sent yet');

  await page.getByRole('tab', { name: 'Story' }).click();
  await page.getByLabel('Another story', { exact: true }).first().click();
  await page.getByRole('option', { name: /^Closing time/ }).click();
  await page.getByLabel('When it changes over').first().click();
  await page.getByRole('option', { name: 'at once' }).click();
  await page.getByRole('button', { name: 'Make it the default story' }).click();
  await expect(page.getByText('it gets the story when it is back')).toBeVisible();

  await page.getByRole('tab', { name: 'Now' }).click();
  await expect(answers).toContainText('expired, not delivered', { timeout: 60_000 });

  await world.control('robot/join?robot=r1');
  await expect(page.getByTestId('away')).toBeHidden({ timeout: 40_000 });
  const performance = page.getByRole('region', { name: 'Performance' });
  await expect(performance.getByRole('row', { name: /Story: It says/ })).toContainText('closing-time', {
    timeout: 40_000,
  });
  // The command was not carried out when it came back.
  await expect(page.getByTestId('mode')).toContainText('It says:Automatic');
});

test('a setting is changed after its difference was seen, and the robot reports it; a wrong one is refused', async ({
  page,
}) => {
  await page.goto('/robots/r2/setup');
  await live(page);
  const row = page.locator('[data-setting=low_battery]');
  await expect(row).toContainText("the robot's own file or default");
  await page.getByRole('textbox', { name: 'low_battery' }).fill('0.25');
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  await expect(page.getByTestId('difference')).toContainText('0.25');
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect(row).toContainText('applied');
  await expect(row).toContainText('0.25');

  await page.locator('[data-setting=languages] input:visible').fill('x'.repeat(65));
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Review 1 change' }).click();
  await expect(page.getByText('fleetd refuses this:')).toContainText('fleetd refuses this');
  await expect(page.getByRole('button', { name: 'Apply' })).toBeDisabled();
});

test('what a robot reports to another fleet under the same revision is not taken for an answer', async ({ page }) => {
  const report = { fleet_id: 'theirs', desired_rev: 7, phase: 'active', applied: { low_battery: 0.25 } };
  const overtaken = 'the robot obeys fleet theirs, not this one';
  const of = { fleet_id: 'ours', rev: 7, ts: '2026-01-02T03:04:05Z' };
  const desired = [
    { topic: 'desired_mode', desired: { ...of, mode: 'ato', apply: 'boot' }, reported: report, overtaken },
    { topic: 'desired_config', desired: { ...of, values: { low_battery: 0.25 } }, reported: report, overtaken },
  ];
  await page.route('**/api/v1/robots/r1/desired', (route) => route.fulfill({ json: { desired } }));
  await page.goto('/robots/r1/setup');
  await live(page);
  const mode = page.getByRole('region', { name: 'Mode after start-up' });
  await expect(mode).toContainText('obeys another fleet');
  await expect(mode).toContainText(overtaken);
  await expect(mode).not.toContainText('in use');
  await expect(page.locator('[data-setting=low_battery]')).toContainText('obeys another fleet');
});

test('the timeline of the story has a cursor that moves, and events are shown as they happen', async ({
  page,
  world,
}) => {
  await page.goto('/robots/r3/story');
  await live(page);
  const cursor = page.getByTestId('story-cursor');
  const at = async () => Number(await cursor.getAttribute('data-ms'));
  await expect(cursor).toBeVisible();
  const before = await at();
  await expect.poll(at).not.toBe(before);
  await expect(page.getByText('performed now')).toHaveCount(1);
  const bar = page.getByRole('region', { name: 'Timeline of the story' }).locator('[data-bar]').first();
  expect(await bar.evaluate((e) => getComputedStyle(e).backgroundColor)).not.toBe('rgba(0, 0, 0, 0)');

  await page.getByRole('tab', { name: 'Events' }).click();
  await expect(page.getByTestId('events')).toBeVisible();
  await page.getByLabel('Filter').fill('from director');
  await expect(page.getByTestId('events')).toBeHidden();
  await page.getByLabel('Filter').fill('auto_changed');
  await world.cli('auto', 'pause', 'r3', '--wait', '--why', 'a speech');
  const paused = 'to: paused';
  await expect(page.getByTestId('events')).toContainText(paused);
  await world.cli('auto', 'continue', 'r3', '--wait');

  // The page of all events says the same, and has the document behind its words.
  await page.goto('/events?robot=r3&type=auto_changed');
  const row = page.getByTestId('events').getByRole('row').filter({ hasText: paused }).first();
  await expect(row).toContainText('somebody or something paused it');
  const document = row.getByText('"to": "paused"');
  await expect(document).toBeHidden();
  await row.getByText('as JSON').click();
  await expect(document).toBeVisible();
});

test('each part with buttons for the robot has their lines of the command line, away from the buttons', async ({
  page,
}) => {
  await page.route(/\/api\/v1\/robots\/r1(\?|$)/, async (route) => {
    const answer = await route.fetch();
    const robot = await answer.json();
    const param = { name: 'pace', type: 'number', min: 0, max: 2, value: 1, default: 1, purpose: 'how fast' };
    robot.modes.modes.find((m: { id: string }) => m.id === 'ato').params = [param];
    await route.fulfill({ response: answer, json: robot });
  });
  await page.goto('/robots/r1');
  await live(page);
  const lines = async (part: string) => {
    await page.getByRole('region', { name: part }).getByRole('button', { name: 'Command lines' }).click();
    const text = await page.getByTestId('command-line').innerText();
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('command-line')).toBeHidden();
    return text;
  };
  expect(await lines('Interrupts')).toContain('# trigger touch off\nfleetd interrupter stop r1 --interrupter=touch');
  const life = await lines('Autonomous life');
  expect(life).toContain('fleetd life set r1 --state=disabled');
  expect(life).toContain('fleetd life launchpad r1 --on=');
  expect(await lines('Performance')).toContain('# Pause\nfleetd auto pause r1');
  expect(await lines('Safety')).toContain('fleetd stop r1');
  await page.getByRole('tab', { name: 'Setup' }).click();
  expect(await lines('Parameters of modes')).toContain('fleetd mode param r1 --mode=ato --name=pace');
  // A button shows no line by itself, where it would cover another one.
  await page.getByRole('tab', { name: 'Now' }).click();
  await page.getByRole('button', { name: 'Pause' }).first().focus();
  await expect(page.getByRole('tooltip')).toHaveCount(0);
});

test('the dialog of the flight record says what it saves and how far it is', async ({ page, world }) => {
  let id = '20260102t030405-abcd';
  const record = (more: object) => ({
    id,
    robot: 'r2',
    last_ms: 600_000,
    asked_at: '2026-01-02T03:04:05Z',
    bytes: 0,
    ...more,
  });
  let now = record({ state: 'asked' });
  let refusal: object | undefined;
  await page.route('**/api/v1/robots/r2/records', (route) =>
    refusal
      ? route.fulfill({ status: 409, json: refusal })
      : route.fulfill({ status: 202, json: record({ state: 'asked' }) }),
  );
  await page.route('**/api/v1/robots/r2/records/*', (route) => route.fulfill({ json: now }));
  await page.route('**/records/*/file', (route) =>
    route.fulfill({ body: 'MCAP', headers: { 'Content-Disposition': 'attachment; filename="r2.mcap"' } }),
  );
  await page.goto('/robots/r2');
  await live(page);
  await page.getByRole('button', { name: 'Save its flight record…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Flight record of r2' });
  await expect(dialog).toContainText('10 minutes');
  await expect(dialog).toContainText(/about \d\d:\d\d:\d\d to \d\d:\d\d:\d\d/);
  await expect(dialog).toContainText('Foxglove (foxglove.dev) opens it');
  await accessible(page);
  await dialog.getByRole('button', { name: 'Save the flight record' }).click();
  await expect(dialog.getByRole('status')).toContainText('Waiting for r2: it collects the flight record');
  now = record({ state: 'sending', bytes: 2048, size: 8192 });
  await expect(dialog.getByRole('status')).toContainText('Arriving: fleetd has 2 of 8 KiB');
  const saved = page.waitForEvent('download');
  now = record({
    state: 'done',
    bytes: 8192,
    size: 8192,
    records: 312,
    from: '2026-01-02T02:54:05Z',
    to: '2026-01-02T03:04:05Z',
  });
  await expect(dialog.getByRole('status')).toContainText(
    'Ready: your browser saves it as r2-20260102t030405-abcd.mcap',
  );
  await saved;
  await accessible(page);
  // A robot that cannot, and a fleetd that refuses, say why and what to do.
  id = '20260102t030500-ef01';
  now = record({ state: 'failed', why: 'its recorder is off; start robotd with --recorder-mib' });
  await dialog.getByRole('button', { name: 'Save the flight record' }).click();
  await expect(dialog.getByRole('alert')).toContainText('its recorder is off');
  refusal = {
    type: '/problems/busy',
    detail: 'a record of robot r2 is on its way already, for anna',
    hint: 'wait for it',
  };
  await dialog.getByRole('button', { name: 'Save the flight record' }).click();
  await expect(dialog.getByRole('alert')).toContainText('on its way already, for anna');
  await expect(dialog.getByRole('alert')).toContainText('wait for it');
  // Away, the robot cannot send it.
  await world.control('robot/cut?robot=r2');
  await expect(dialog).toContainText('r2 is not connected');
  await expect(dialog.getByRole('button', { name: 'Save the flight record' })).toHaveAttribute('aria-disabled', 'true');
  await world.control('robot/join?robot=r2');
});

test('a stop that a robot never reported, because it is not connected, is released on its page', async ({
  page,
  world,
}) => {
  await world.control('robot/cut?robot=r2');
  await page.goto('/robots/r2');
  await live(page);
  await expect(page.getByTestId('away')).toBeVisible({ timeout: 40_000 });
  const body = { selector: { ids: ['r2'] }, why: 'a child on the stage', by: 'nora' };
  expect((await page.request.post('/api/v1/stops', { data: body })).ok()).toBe(true);
  const latched = page.getByTestId('latched');
  await expect(latched).toContainText('A stop keeps r2 stopped');
  await expect(latched).toContainText('nora');
  await latched.getByRole('button', { name: 'Release…' }).click();
  await page
    .getByLabel('Why may it move again?')
    .or(page.getByLabel('Why may the robots move again?'))
    .fill('it is gone');
  await page.getByRole('button', { name: 'Release', exact: true }).click();
  await expect(latched).toBeHidden();
  await world.control('robot/join?robot=r2');
  await expect(page.getByTestId('away')).toBeHidden({ timeout: 40_000 });
});

if (matrix)
  for (const scheme of ['light', 'dark'] as const) {
    test(`every part of the page is accessible in ${scheme} colours`, async ({ page }) => {
      await colors(page, scheme);
      for (const part of ['', '/story', '/events', '/telemetry', '/setup', '/raw']) {
        await page.goto(`/robots/r2${part}`);
        await live(page);
        await expect(page.getByRole('tabpanel')).not.toBeEmpty();
        await accessible(page);
      }
    });
  }
