import type { APIRequestContext, Page } from '@playwright/test';

import { keyboard, withoutPointer } from './hands';
import { accessible, colors, expect, fresh, inShard, live, test } from './world';

const yaml = (over: number) => ({ 'If-Match': `"${over}"`, 'Content-Type': 'application/yaml' });

/** Saves the draft of an act with these actions, a line each. */
async function draftAct(request: APIRequestContext, act: string, ...actions: string[]): Promise<void> {
  const data = `act: ${act}\nactions:\n${actions.map((a) => `  - ${a}\n`).join('')}`;
  expect((await request.put(`/api/v1/acts/${act}`, { headers: yaml(0), data })).status()).toBe(200);
}

const timeline = (page: Page) => page.getByRole('region', { name: 'Timeline' });

test('ticked actions become a group that keeps their times, and the group is dissolved again', async ({
  page,
  request,
}) => {
  const act = fresh('together');
  await draftAct(
    request,
    act,
    '{type: wait, start_ms: 0, end_ms: 1000}',
    '{type: face, start_ms: 1000, end_ms: 3000, face: smile}',
    '{type: led, start_ms: 1500, end_ms: 3000, colour: "#20c0ff", pattern: solid}',
  );
  await page.goto(`/acts/${act}`);
  await live(page);
  const rows = page.locator('.item');
  const actions = page.getByRole('region', { name: 'Actions by time' });
  const group = actions.getByRole('button', { name: 'Group', exact: true });
  const ungroup = actions.getByRole('button', { name: 'Ungroup' });
  await expect(group).toBeDisabled();
  await page.getByRole('checkbox', { name: /^Choose face: smile/ }).check();
  await page.getByRole('checkbox', { name: /^Choose led/ }).check();
  await expect(ungroup).toBeDisabled();
  await group.click();

  // The group stands where its first action stood, and its actions count from its start.
  await expect(rows).toHaveText([/^wait.*0:00$/, /^group.*0:01/, /smile.*0:00$/, /led.*0:00\.5$/]);
  await expect(timeline(page).getByRole('button', { name: 'face smile: 0:01 to 0:03' })).toBeVisible();
  await expect(page.getByTestId('save-state')).toContainText('Draft saved');
  const stored = (await (await request.get(`/api/v1/acts/${act}`)).json()).draft as string;
  expect(stored).toMatch(/type: group/);
  await accessible(page);

  await ungroup.click();
  await expect(rows).toHaveText([/^wait.*0:00$/, /smile.*0:01$/, /led.*0:01\.5$/]);
  await expect(actions.getByText('2 chosen')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rows).toHaveCount(4);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(rows).toHaveCount(3);
});

test('actions that collide on one unit are marked on the timeline until one of them moves', async ({
  page,
  request,
}) => {
  const act = fresh('collide');
  await draftAct(
    request,
    act,
    '{type: face, start_ms: 0, end_ms: 3000, face: smile}',
    '{type: face, start_ms: 1000, end_ms: 2000, face: calm}',
  );
  await page.goto(`/acts/${act}`);
  await live(page);
  // It is drawn where it would be performed: after the one whose unit it needs.
  const second = timeline(page).getByRole('button', { name: /^face calm: 0:03 to 0:04/ });
  await expect(second).toContainText('⚠');
  await expect(second).toHaveAccessibleName(/, waits 0:02 for its unit, conflict$/);
  await expect(page.getByRole('region', { name: 'Problems' })).toContainText(
    'face would perform at the same time as “face: smile”, which lasts until 3 s',
  );
  await expect(page.locator('.item').nth(1).getByLabel('Error', { exact: true })).toBeVisible();

  // A click on the mark leads to the action, whose start is corrected there.
  await second.click();
  await expect(page.locator('[data-item]').nth(1)).toHaveAttribute('aria-pressed', 'true');
  await page.locator('[data-field="start_ms"] input').fill('3');
  await expect(timeline(page).getByRole('button', { name: 'face calm: 0:03 to 0:04', exact: true })).toBeVisible();
  await expect(timeline(page).getByText('⚠')).toHaveCount(0);
  await expect(page.locator('.item').nth(1).getByLabel('Error', { exact: true })).toHaveCount(0);
});

test('bars are dragged, stretched, moved by keys, copied and removed, and the comments of the file stay', async ({
  page,
  request,
}) => {
  const act = fresh('score');
  await draftAct(
    request,
    act,
    '{type: led, start_ms: 0, end_ms: 1000, colour: "#20c0ff"} # the first light',
    '{type: face, start_ms: 2000, end_ms: 3000, face: smile} # a smile',
    '{type: wait, start_ms: 0, end_ms: 8000}',
  );
  const draft = async () => (await (await request.get(`/api/v1/acts/${act}`)).json()).draft as string;
  await page.goto(`/acts/${act}`);
  await live(page);
  const face = timeline(page).getByRole('button', { name: /^face smile/ });
  await expect(face).toHaveAccessibleName('face smile: 0:02 to 0:03');
  const drag = async (from: { x: number; y: number }, px: number) => {
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + px / 2, from.y);
    await page.mouse.move(from.x + px, from.y);
    await page.mouse.up();
  };
  // One second is as wide as the bar of the light; a few pixels less than two snap to its edge.
  const second = (await timeline(page).getByRole('button', { name: /^led/ }).boundingBox())!.width;
  const box = (await face.boundingBox())!;
  await drag({ x: box.x + box.width / 2, y: box.y + 8 }, -second + 4);
  await expect(face).toHaveAccessibleName('face smile: 0:01 to 0:02');
  await expect(face).toHaveAttribute('aria-pressed', 'true');
  const moved = (await face.boundingBox())!;
  await drag({ x: moved.x + moved.width - 3, y: moved.y + 8 }, second);
  await expect(face).toHaveAccessibleName('face smile: 0:01 to 0:03');

  // The same by keys, with what is said of it.
  const status = timeline(page).getByRole('status');
  await face.focus();
  await page.keyboard.press('ArrowRight');
  await expect(status).toHaveText('face smile: 0:01.1 to 0:03.1');
  await page.keyboard.press('Control+ArrowRight');
  await page.keyboard.press('Shift+ArrowLeft');
  await expect(face).toHaveAccessibleName('face smile: 0:02.1 to 0:04');
  await expect(face).toBeFocused();
  await page.keyboard.press('Escape');
  await face.press('Enter');
  await page.keyboard.press('Control+c');
  await page.keyboard.press('Control+v');
  await expect(status).toHaveText('1 pasted');
  await page.keyboard.press('ArrowUp');
  await expect(timeline(page).getByRole('button', { name: /^face smile: 0:02\.1/ })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(face).toHaveCount(2);
  await expect(page.getByTestId('save-state')).toContainText('Draft saved');
  expect(await draft()).toContain('  - {type: face, start_ms: 2100, end_ms: 4000, face: smile} # a smile\n');
  await page.keyboard.press('Delete');
  await expect(face).toHaveCount(1);
  await expect(page.getByTestId('save-state')).toContainText('Draft saved');
  expect(await draft()).toMatch(/# the first light\n[^#]*# a smile\n/);
  await accessible(page);
  await page.keyboard.press('Escape');
  await page.locator('h1').click();
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('end later or earlier');
});

for (const scheme of inShard('light' as const, 'dark' as const))
  test(`an act is edited on the timeline by keyboard alone, in ${scheme} colours`, async ({ page, request }) => {
    const neverPointed = await withoutPointer(page);
    await colors(page, scheme);
    const act = fresh('keys');
    await draftAct(request, act, '{type: face, start_ms: 1000, end_ms: 2000, face: smile}');
    await page.goto(`/acts/${act}`);
    await live(page);
    const face = timeline(page).getByRole('button', { name: /^face smile/ });
    await keyboard(page).press(face);
    await expect(face).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await expect(face).toHaveAccessibleName('face smile: 0:01.1 to 0:02.2');
    await accessible(page, 'target-size');
    await page.keyboard.press('Delete');
    await expect(face).toHaveCount(0);
    await page.keyboard.press('Control+z');
    await expect(face).toHaveAccessibleName('face smile: 0:01.1 to 0:02.2');
    await neverPointed();
  });

test.describe('with a finger', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });

  test('an act is edited on the timeline by touch alone: a bar that is chosen follows the finger, or its field', async ({
    page,
    request,
  }) => {
    const act = fresh('finger');
    await draftAct(
      request,
      act,
      '{type: face, start_ms: 1000, end_ms: 2000, face: smile}',
      '{type: wait, start_ms: 0, end_ms: 4000}',
    );
    await page.goto(`/acts/${act}`);
    await live(page);
    const face = timeline(page).getByRole('button', { name: /^face smile/ });
    await face.tap();
    await expect(face).toHaveAttribute('aria-pressed', 'true');
    await face.scrollIntoViewIfNeeded();
    const box = (await face.boundingBox())!;
    const [x, y] = [box.x + box.width / 2, box.y + 8];
    const devtools = await page.context().newCDPSession(page);
    const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number }[]) =>
      devtools.send('Input.dispatchTouchEvent', { type, touchPoints });
    await send('touchStart', [{ x, y }]);
    for (const share of [0.3, 0.6, 1]) await send('touchMove', [{ x: x + box.width * share, y }]);
    await send('touchEnd', []);
    await expect(face).toHaveAccessibleName('face smile: 0:02 to 0:03');
    const start = page.getByRole('textbox', { name: /^Start/ });
    await start.tap();
    await start.fill('0.5');
    await expect(face).toHaveAccessibleName('face smile: 0:00.5 to 0:01.5');
    await expect(page.getByTestId('save-state')).toContainText('Draft saved');
  });
});

test('a draft is drawn and played while something is missing in it', async ({ page, request }) => {
  const act = fresh('played');
  await draftAct(
    request,
    act,
    '{type: head, start_ms: 0, end_ms: 1500, yaw_rad: 0.5}',
    '{type: say, start_ms: 500, end_ms: 2500, text: {en: Come closer}}',
    '{type: wait, start_ms: 0, end_ms: 3000}',
  );
  await page.goto(`/acts/${act}`);
  await live(page);
  await page.getByRole('button', { name: /^Add face / }).click();
  const missing = timeline(page).getByRole('button', { name: /not finished/ });
  await expect(missing).toHaveAttribute('data-incomplete');
  const robot = page.getByRole('region', { name: 'Preview' }).getByRole('img');
  await expect(robot).toHaveAccessibleName('Robot');
  await timeline(page).getByRole('slider', { name: 'Cursor' }).focus();
  for (let n = 0; n < 3; n++) await page.keyboard.press('Shift+ArrowRight');
  await expect(page.getByTestId('clock')).toContainText('0:03 /');
  await page.keyboard.press('Home');
  await timeline(page).getByRole('button', { name: 'Play' }).click();
  await expect(robot).toHaveAccessibleName(/to its left, says “Come closer”/);
  await expect(robot).not.toHaveAccessibleName(/says/);
  await expect(timeline(page).getByRole('button', { name: 'Play' })).toBeVisible();
  await expect(page.getByTestId('clock')).toContainText('0:00 /');
});

test('the revisions say which robots have which, and an earlier one is restored as the draft', async ({
  page,
  request,
}) => {
  const story = fresh('seasons');
  const put = async (over: number, ...acts: string[]) => {
    const data = `story: ${story}\nname: {en: Seasons}\nrepeat: loop\nacts: [${acts.map((a) => `{act: ${a}}`).join(', ')}]\n`;
    expect((await request.put(`/api/v1/stories/${story}`, { headers: yaml(over), data })).status()).toBe(200);
    const done = await request.post(`/api/v1/stories/${story}/publish`, { data: { why: `${acts.length} acts` } });
    expect(done.status()).toBe(200);
  };
  const assign = (robot: string, rev: number) =>
    request.post('/api/v1/assignments', { data: { story, rev, apply: 'now', selector: { ids: [robot] } } });
  await put(0, 'welcome');
  expect((await assign('r1', 1)).ok()).toBe(true);
  await put(1, 'welcome', 'take-a-bow');
  expect((await assign('r2', 2)).ok()).toBe(true);

  await page.goto(`/stories/${story}`);
  await live(page);
  await expect(page.locator('[data-item]')).toHaveCount(2);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Revisions…' }).click();
  const drawer = page.getByRole('dialog');
  const [newest, first] = [2, 1].map((n) => drawer.getByRole('region', { name: `revision ${n}` }));
  await expect(newest!).toContainText('2 acts');
  await expect(newest!).toContainText('on 1 robot: r2');
  await expect(first!).toContainText('on 1 robot: r1');
  await first!.getByRole('button', { name: 'Compare with the draft' }).click();
  await expect(first!).toContainText('+ - act: take-a-bow');
  await accessible(page);
  await first!.getByRole('button', { name: 'Restore' }).click();

  // The draft is the old text; what is published and what robots have stays.
  await expect(page.getByText('Revision 1 is the draft now. Publish it to make it the newest.')).toBeVisible();
  await expect(drawer).toBeHidden();
  await expect(page.locator('[data-item]')).toHaveText(['Welcomewelcome']);
  await page.getByRole('button', { name: 'Publish…' }).click();
  await expect(drawer).toContainText('take-a-bow');
  await drawer.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText(`${story} is published as revision 3`)).toBeVisible();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Where it is used' }).click();
  await expect(drawer.getByRole('row', { name: /^r1/ })).toContainText('1 (older)');
  await expect(drawer.getByRole('row', { name: /^r2/ })).toContainText('2 (older)');
});

test('an author who looks at places and comes back finds the act and the points, and writes at once what was added', async ({
  page,
  request,
}) => {
  const act = fresh('spoken');
  await draftAct(request, act, '{type: wait, start_ms: 0, end_ms: 1000}');
  await page.goto('/places?robot=r1');
  await live(page);
  await expect(page.getByText('entrance').first()).toBeVisible();
  const nav = page.getByRole('navigation', { name: 'Main navigation' });
  await nav.getByRole('link', { name: 'Acts' }).click();
  await page.getByRole('link', { name: act }).click();
  await page
    .getByRole('region', { name: 'Add', exact: true })
    .getByRole('button', { name: /^Add say/ })
    .click();
  await page.keyboard.type('see you soon');
  await expect(page.locator('.item')).toHaveCount(2);
  await expect(page.locator('.item').filter({ hasText: 'see you soon' })).toHaveCount(1);
  await nav.getByRole('link', { name: 'Places' }).click();
  await expect(page.getByText('entrance').first()).toBeVisible();
});

test('what is added by keys is written at once, and a text that would be cut off is named', async ({
  page,
  request,
}) => {
  const act = fresh('bykeys');
  await draftAct(request, act, '{type: led, start_ms: 0, end_ms: 1000, colour: "#20c0ff"}');
  await page.goto(`/acts/${act}`);
  const add = page.getByRole('region', { name: 'Add', exact: true });
  await add.getByRole('searchbox').fill('say');
  await page.keyboard.press('Enter');
  await expect(page.locator('.item')).toHaveCount(2);
  await page.keyboard.type('one two three');
  await expect(page.locator('.item').filter({ hasText: 'one two three' })).toHaveCount(1);
  await page.keyboard.insertText(' and on'.repeat(40));
  await page.getByRole('button', { name: /^1 warning: .* is cut off after 8 s/ }).click();
  await expect(page.getByLabel('At most')).toBeFocused();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('40');
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: /^1 warning/ })).toHaveCount(0);
  // What is dragged from the list of what can be added stands where it is dropped.
  await add
    .getByRole('button', { name: /^Add wait/ })
    .dragTo(page.locator('.item').first(), { targetPosition: { x: 200, y: 4 } });
  await expect(page.locator('.item')).toHaveCount(3);
  await expect(page.locator('.item').first()).toContainText('wait');
});

test('a draft that fleetd does not take is not left without a question', async ({ page, request }) => {
  const act = fresh('unsaved');
  await draftAct(
    request,
    act,
    '{type: wait, start_ms: 0, end_ms: 1000}',
    '{type: face, start_ms: 1000, end_ms: 3000, face: smile}',
  );
  await page.goto(`/acts/${act}`);
  await live(page);
  const saves = new RegExp(`/api/v1/acts/${act}(\\?|$)`);
  await page.route(saves, (route) =>
    route.request().method() === 'PUT'
      ? route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          json: { type: '/problems/store', title: 'the database does not answer', status: 503 },
        })
      : route.continue(),
  );
  await page.getByRole('checkbox', { name: /^Choose face: smile/ }).check();
  await page.getByRole('checkbox', { name: /^Choose wait/ }).check();
  await page.getByRole('button', { name: 'Group', exact: true }).click();
  await expect(page.getByTestId('save-state')).toHaveText(/Not saved$/); // and not only not yet
  await page.getByRole('link', { name: 'Robots', exact: true }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Your changes are not saved' });
  await expect(dialog).toContainText('If you leave now, they are lost.');
  await accessible(page);
  await dialog.getByRole('button', { name: 'Stay here' }).click();
  await page.unroute(saves);
  await page.getByRole('button', { name: /again/i }).first().click();
  await expect(page.getByTestId('save-state')).toContainText('Draft saved');
  await page.getByRole('link', { name: 'Robots', exact: true }).first().click();
  await expect(page).toHaveURL(/\/robots$/);
});
