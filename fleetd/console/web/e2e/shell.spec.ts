import type { Page } from '@playwright/test';

import { accessible, colors, expect, fresh, live, matrix, tabTo, test } from './world';

test('the bell counts alerts that nobody has acknowledged, and leads to them', async ({ page, world }) => {
  await page.goto('/');
  await live(page);
  await expect(page.getByRole('button', { name: 'No alerts' })).toBeVisible();
  await world.control('robot/sim?robot=r3&name=break', '{"unit":"speaker","what":"no sound"}');
  await page.getByRole('button', { name: '1 alert that nobody has acknowledged' }).click();
  await expect(page).toHaveURL(/\/events$/);
  await page.getByRole('button', { name: /^Acknowledge: .*, r3$/ }).click();
  await page.getByLabel('What is being done about it').fill('another one is ordered');
  await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
  await expect(page.getByRole('button', { name: '1 alert, acknowledged' })).toHaveText('');
  await world.control('robot/sim?robot=r3&name=repair', '{"unit":"speaker"}');
  await expect(page.getByRole('button', { name: 'No alerts' })).toBeVisible();
});

test('a site that is chosen narrows every list of robots and the stop, until another is', async ({ page, world }) => {
  await world.cli('auto', 'pause', 'r1', '--wait');
  await world.cli('auto', 'pause', 'r3', '--wait');
  await world.cli('auto', 'continue', 'r1', 'r3', '--wait');
  await page.goto('/robots');
  await live(page);
  await page.getByRole('banner').getByRole('combobox', { name: 'Site' }).click();
  await page.getByRole('option', { name: 'museum' }).click();
  const stop = page.getByRole('button', { name: 'Stop (software)' });
  await expect(stop).toContainText('museum, 2');
  await expect(page.getByTestId('count')).toHaveText(/^2 of /);
  await expect(page.locator('[data-robot="r3"]')).toHaveCount(0);
  for (const path of ['/commands', '/events']) {
    await page.goto(path);
    await expect(page.getByRole('main').getByRole('link', { name: 'r1', exact: true }).first()).toBeVisible();
    await expect(page.getByRole('main').getByRole('link', { name: 'r3', exact: true })).toHaveCount(0);
  }
  await page.goto('/assign');
  await page.getByRole('combobox', { name: 'Or a group of robots' }).click();
  await expect(page.getByRole('option', { name: /Museum/ })).toBeVisible();
  await expect(page.getByRole('option', { name: /^All robots/ })).toHaveCount(0);
  await page.goto('/');
  await live(page);
  await expect(stop).toContainText('museum, 2');
  await page.keyboard.press('Control+k');
  await expect(page.getByPlaceholder('Robot, page or command')).toBeFocused();
  await page.keyboard.type('site all');
  await expect(page.getByRole('dialog').getByText('Site: All sites', { exact: true })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(stop).toContainText('all, 3');
});

test('a screen begins at its top wherever the one before was left; the tabs of a robot keep their place', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1280, height: 500 });
  await page.goto('/');
  await live(page);
  const down = async () => {
    await page.mouse.move(700, 300);
    await page.mouse.wheel(0, 250);
    await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(100);
  };
  await down();
  await page.getByRole('link', { name: 'r1', exact: true }).first().click();
  await expect(page.getByRole('heading', { name: 'r1', level: 1 })).toBeInViewport();
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
  await down();
  const left = await page.evaluate(() => window.scrollY);
  await page.getByRole('tab', { name: 'Story' }).click();
  await expect(page.getByRole('heading', { name: 'The running story' })).toBeVisible();
  expect(await page.evaluate(() => window.scrollY)).toBe(left);
});

test('the colours are those of the system, until a person chooses others', async ({ page }) => {
  const shown = (scheme: string) => expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', scheme);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('/');
  await shown('dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await shown('light');
  await page.getByRole('button', { name: 'User and settings' }).click();
  await page.getByText('Dark', { exact: true }).click();
  await shown('dark');
  await page.reload();
  await shown('dark');
});

test('the palette sends commands to a robot by its name, or to that of the page, by keyboard alone', async ({
  page,
  world,
}) => {
  await page.goto('/');
  await live(page);
  const order = async (text: string, command: string) => {
    await page.keyboard.press('Control+k');
    await expect(page.getByPlaceholder('Robot, page or command')).toBeFocused();
    await page.keyboard.type(text);
    await expect(page.getByRole('dialog').getByText(command, { exact: true })).toBeVisible();
    await page.keyboard.press('Enter');
    await expect(page.getByTestId('toasts')).toContainText(`${command}: done`);
  };
  await order('pause r2', 'Pause r2');
  expect(await world.cli('robot', 'get', 'r2')).toContain('paused');
  await page.goto('/robots/r2');
  await live(page);
  await order('contin', 'Continue r2');
  await expect(page.getByText('performing', { exact: true }).first()).toBeVisible();
  // Typed before the palette has the focus, s and the space would stop the robot of the page.
  await page.keyboard.press('Control+k');
  await page.keyboard.type('stop r3');
  await expect(page.getByPlaceholder('Robot, page or command')).toHaveValue('stop r3');
  await expect(page.getByRole('dialog').getByText('Stop r3 (software)', { exact: true })).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page.getByTestId('latched')).toContainText('r3');
  await expect(page.getByTestId('latched')).not.toContainText('r2');
  const id = (await world.cli('stop', 'list', '-o', 'name')).trim();
  await world.cli('stop', 'release', id, '--why', 'the spec is over');
  await expect(page.getByTestId('latched')).toBeHidden();
});

test('the palette finds a part of Administration by what people look for', async ({ page }) => {
  await page.goto('/');
  await live(page);
  await page.keyboard.press('Control+k');
  await expect(page.getByPlaceholder('Robot, page or command')).toBeFocused();
  await page.keyboard.type('backup');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/admin\?tab=health$/);
  await expect(page.getByText('Newest backup')).toBeVisible();
});

test('Enter in the palette does the first match of the text, also before the field has the focus', async ({
  page,
  world,
}) => {
  await page.goto('/robots/r2');
  await live(page);
  // All keys in one task, as on a machine that is too busy to draw between them.
  await page.evaluate(() => {
    const press = (key: string, ctrlKey = false) =>
      document.activeElement!.dispatchEvent(
        new KeyboardEvent('keydown', {
          key,
          code: `Key${key.toUpperCase()}`,
          ctrlKey,
          bubbles: true,
          cancelable: true,
        }),
      );
    press('k', true);
    for (const key of ['p', 'a', 'u', 's', 'Enter']) press(key);
  });
  await expect(page.getByTestId('toasts')).toContainText('Pause r2: done');
  await expect(page.getByPlaceholder('Robot, page or command')).toBeHidden();
  await world.cli('auto', 'continue', 'r2', '--wait');

  // The robot that is marked leaves the list: Enter takes the one that is left.
  const hall = fresh('hall');
  await world.cli('robot', 'label', 'r1', 'r3', `hall=${hall}`);
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Robot, page or command').fill(hall);
  const found = page.getByRole('dialog').locator('[data-action]');
  await expect(found).toHaveText([/^r1/, /^r3/]);
  await world.cli('robot', 'label', 'r1', 'hall-');
  await expect(found).toHaveText([/^r3/]);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/robots\/r3$/);
  await world.cli('robot', 'label', 'r3', 'hall-');
});

test('a stop from the page of a robot is latched, its card releases it, and no banner moves the page', async ({
  page,
}) => {
  await page.goto('/robots/r1');
  await live(page);
  await page.evaluate(() => {
    new MutationObserver(() => {
      if (document.querySelector('[data-testid=latched]')) document.body.dataset.banner = 'shown';
    }).observe(document.body, { childList: true, subtree: true });
  });
  await page.getByRole('button', { name: 'Stop (software)' }).click();
  const way = page.getByTestId('way-out');
  await way.getByRole('button', { name: 'Release…' }).click();
  await page.getByLabel('Why may it move again?').fill('the child has left the stage');
  await page.getByRole('button', { name: 'Release', exact: true }).click();
  await expect(way.getByRole('button', { name: 'Let it move' })).toBeVisible();
  await expect(page.locator('body')).not.toHaveAttribute('data-banner', 'shown');
});

test('the stop works while fleetd has not answered what the person may do', async ({ page, world }) => {
  await page.route('**/api/v1/me', () => new Promise(() => {}));
  await page.goto('/robots/r3');
  await page.getByRole('button', { name: 'Stop (software)' }).click();
  await expect.poll(() => world.cli('stop', 'list')).toContain('r3');
  for (const id of (await world.cli('stop', 'list', '-o', 'name')).split(/\s+/).filter(Boolean))
    await world.cli('stop', 'release', id, '--why', 'the spec is over');
});

test('the stop of all robots is held for a second: a click alone stops nobody', async ({ page }) => {
  await page.goto('/');
  await live(page);
  const button = page.getByRole('button', { name: 'Stop (software)' });
  const box = (await button.boundingBox())!;
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.up();
  await expect(page.getByText(/^Nothing was stopped: hold for a second to stop \d+ robots$/)).toBeVisible();
  await expect(page.getByTestId('latched')).toBeHidden();
  await button.focus();
  await page.keyboard.down('Enter');
  await expect(page.getByTestId('latched')).toContainText('all robots');
  await page.keyboard.up('Enter');
});

for (const width of [390, 1280]) {
  test(`the note after a stop button was let go too early covers nothing of the page at ${width} px`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height: 844 });
    await page.goto('/stories');
    await live(page);
    await page.getByRole('button', { name: 'Stop (software)' }).click();
    const note = page.getByText(/^Nothing was stopped/);
    await expect(note).toBeVisible();
    const box = (await note.boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.y + box.height).toBeLessThanOrEqual(64);
    expect(await note.evaluate((e) => e.scrollHeight <= e.clientHeight)).toBe(true);
    await page.getByRole('heading', { level: 1 }).click();
    await expect(note).toBeHidden();
  });
}

test.describe('the stop works above a dialog', () => {
  test.use({ hasTouch: true });
  const free = async (page: Page) => {
    const { stops } = (await (await page.request.get('/api/v1/stops')).json()) as { stops: { id: string }[] };
    const ids = stops.map((l) => l.id);
    if (ids.length > 0) await page.request.post('/api/v1/stops/release', { data: { ids, why: 'the spec is over' } });
  };
  for (const [way, width] of [
    ['mouse', 1280],
    ['mouse', 390],
    ['touch', 390],
    ['keys', 1280],
    ['Tab', 1280],
  ] as const) {
    test(`by ${way} at ${width} px`, async ({ page }) => {
      await page.setViewportSize({ width, height: 800 });
      await page.goto('/robots/r1');
      await live(page);
      await free(page);
      await expect(page.getByText('stopped: waiting for release')).toHaveCount(0);
      const stop = page.getByRole('button', { name: 'Stop (software)' });
      await page.keyboard.press('?');
      const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await expect(dialog).toBeVisible();
      if (way === 'mouse') await stop.click();
      else if (way === 'touch') await stop.tap();
      else {
        if (way === 'Tab') await tabTo(page, stop);
        else {
          await expect(dialog.getByRole('button', { name: 'Close' })).toBeFocused(); // as soon as the dialog is there
          await page.keyboard.press('Control+.');
        }
        await page.keyboard.press('Enter');
      }
      await expect(page.getByText(/^(Stop accepted for r1|r1 stands)$/)).toBeVisible();
      await expect(page.getByTestId('toasts')).toContainText(/r1 stands.*Stopped by you at \d/);
      await expect(dialog).toBeVisible();
      // From the stop the keyboard goes back into the dialog, and not to the page behind it.
      if (way === 'Tab') await tabTo(page, dialog.getByRole('button', { name: 'Close' }));
      await dialog.getByRole('button', { name: 'Close' }).click();
      await expect(dialog).toBeHidden();
      await free(page);
    });
  }
});

test('the page says when it has lost fleetd, and heals by itself', async ({ page, world }) => {
  await page.goto('/robots');
  await live(page);
  await world.control('fleetd/kill');
  await expect(page.getByTestId('connection')).toContainText('Reconnecting');
  await world.control('fleetd/start');
  await live(page);
  await expect(page.getByRole('link', { name: 'r1', exact: true })).toHaveCount(1);
});

test('the page says when fleetd has lost its broker', async ({ page, world }) => {
  await page.goto('/');
  await live(page);
  await world.control('broker/cut');
  await expect(page.getByTestId('broker-lost')).toBeVisible();
  await world.control('broker/join');
  await expect(page.getByTestId('broker-lost')).toBeHidden();
});

test('nothing inline and nothing of another origin is loaded', async ({ page, baseURL }) => {
  const foreign: string[] = [];
  const refused: string[] = [];
  page.on('request', (r) => {
    if (!r.url().startsWith(baseURL!) && !r.url().startsWith('data:')) foreign.push(r.url());
  });
  page.on('console', (m) => {
    if (m.text().includes('Content Security Policy')) refused.push(m.text());
  });
  await page.goto('/');
  await live(page);
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Robot, page or command').fill('r2');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/robots\/r2$/);
  expect(foreign).toEqual([]);
  expect(refused).toEqual([]);
});

for (const size of [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
]) {
  test(`a message covers no control at ${size.width} px`, async ({ page }) => {
    await page.setViewportSize(size);
    await page.goto('/robots');
    await live(page);
    await page.getByLabel('Select r2').check();
    await page.getByTestId('bulk').getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Send to 1 robot' }).click();
    const message = page.getByTestId('toasts').getByRole('alert');
    await expect(message).toBeVisible();
    const menu = page.getByRole('button', { name: 'Menu' });
    if (await menu.isVisible()) await menu.click();
    const top = (await page.getByTestId('toasts').boundingBox())!.y;
    for (const part of [
      page.getByRole('navigation', { name: 'Main navigation' }),
      page.getByRole('button', { name: /Stop \(software\)/ }).first(),
    ]) {
      // The navigation takes a moment to shrink.
      await expect
        .poll(async () => {
          const box = (await part.boundingBox())!;
          return box.y + box.height;
        })
        .toBeLessThanOrEqual(top);
    }
    if (await menu.isVisible()) await menu.click();
    // The page ends above it, too, and so does the bar of the selection.
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    const bar = (await page.getByTestId('bulk').boundingBox())!;
    expect(bar.y + bar.height).toBeLessThanOrEqual(top);
    await expect(message).toBeVisible();
  });
}

test('text typed while no field has the focus presses no button', async ({ page, world }) => {
  await page.goto('/robots/r1');
  await live(page);
  await expect(page.getByRole('button', { name: 'Skip act' })).toBeVisible();
  await page.keyboard.type('say something now. ', { delay: 30 });
  await page.keyboard.type('s n s ', { delay: 30 });
  await page.keyboard.press('s');
  await expect(page.locator('#software-stop')).toBeFocused();
  await page.keyboard.press('Space');
  await expect(page.locator('#software-stop')).not.toBeFocused();
  expect(await world.cli('audit', 'list', '--target', 'r1', '-o', 'json')).not.toMatch(/auto\/skip|"stop"/);
  expect(await world.cli('stop', 'list')).not.toContain('r1');
});

test('a filter keeps every letter of somebody who types fast, and the address follows', async ({ page }) => {
  for (const [path, label] of [
    ['/audit', 'What'],
    ['/events', 'Robot'],
  ] as const) {
    await page.goto(path);
    await live(page);
    await page.getByLabel(label, { exact: true }).pressSequentially('release', { delay: 15 });
    await expect(page.getByLabel(label, { exact: true })).toHaveValue('release');
    await expect.poll(() => new URL(page.url()).search).toContain('=release');
    await page.goBack().catch(() => {});
  }
});

test('a filter keeps every letter on a machine that is so busy that addresses are shown late', async ({ page }) => {
  await page.goto('/audit');
  await live(page);
  // After each key the page is busy for a little longer than the address waits for the next key, which is there already.
  await page.evaluate(() =>
    window.addEventListener('keyup', () => {
      for (const until = performance.now() + 270; performance.now() < until;);
    }),
  );
  const field = page.getByLabel('What', { exact: true });
  await field.focus();
  const keys = await page.context().newCDPSession(page); // page.keyboard waits for the page after each key
  await Promise.all(
    [...'abcdefghijklmnop'].flatMap((key) => [
      keys.send('Input.dispatchKeyEvent', { type: 'keyDown', key, text: key }),
      keys.send('Input.dispatchKeyEvent', { type: 'keyUp', key }),
    ]),
  );
  await expect.poll(() => new URL(page.url()).search).toContain('=abcdefghijklmnop');
  await expect(field).toHaveValue('abcdefghijklmnop');
});

test('a screen that fails leaves the menu and the stop, and says how to go on', async ({ page }) => {
  await page.route('**/api/v1/robots/r1/points', (r) => r.fulfill({ json: { points: 7 } }));
  await page.goto('/places?robot=r1');
  await expect(page.getByRole('heading', { name: 'This page failed' })).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Main navigation' })).toBeVisible();
  await expect(page.locator('#software-stop')).toBeEnabled();
  await page.unroute('**/api/v1/robots/r1/points');
  await page.getByRole('button', { name: 'Load again' }).click();
  await expect(page.getByText('entrance').first()).toBeVisible();
});

if (matrix)
  for (const scheme of ['light', 'dark'] as const) {
    test(`the frame is accessible in ${scheme} colours`, async ({ page }) => {
      await colors(page, scheme);
      await page.goto('/');
      await live(page);
      await accessible(page);
    });
  }
