import { expect, fresh, live, test } from './world';

test('an act that is begun in a story leads back to it, and both are published in one step', async ({
  page,
  request,
}) => {
  const [story, act] = [fresh('tour'), fresh('dino-hello')];
  await page.goto('/stories');
  await live(page);
  await page.getByRole('button', { name: 'New story' }).click();
  await page.getByLabel('Name that people see').fill(story);
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page).toHaveURL(new RegExp(`/stories/${story}$`));
  await page.getByRole('button', { name: 'New act…' }).click();
  await page.getByRole('dialog').getByLabel('Name that people see').fill(act);
  await page.getByRole('button', { name: 'Create' }).click();
  await expect(page).toHaveURL(new RegExp(`/acts/${act}\\?from=stories/${story}$`));

  // A story whose act is not finished is not published, and leads to the act.
  await page.getByRole('link', { name: `Back to story ${story}` }).click();
  await expect(page).toHaveURL(new RegExp(`/stories/${story}$`));
  await expect(page.locator('[data-item]')).toHaveText([act]);
  await expect(page.getByRole('region', { name: 'Problems' })).toContainText(`${act} is only a draft`);
  await page.getByRole('button', { name: 'Publish…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('region', { name: /only drafts/ })).toContainText(`${act}1 error`);
  await expect(dialog.getByRole('button', { name: 'Publish', exact: true })).toBeDisabled();
  await dialog.getByRole('link', { name: `Open ${act}` }).click();

  // What was changed a moment ago is saved on the way back.
  await page.getByRole('button', { name: /^Add wait / }).click();
  await page.getByRole('link', { name: `Back to story ${story}` }).click();
  await expect(page).toHaveURL(new RegExp(`/stories/${story}$`));
  await page.getByRole('button', { name: 'Publish…' }).click();
  await expect(dialog.getByRole('region', { name: /only drafts/ })).toHaveText(new RegExp(`:${act}$`));
  await dialog.getByRole('button', { name: 'Command line' }).click();
  await expect(page.getByTestId('command-line')).toHaveText(`fleetd story publish ${story} --with-act=${act}`);
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText(`${story} is published as revision 1`)).toBeVisible();
  await expect(page.getByText(`Published with it: ${act}`)).toBeVisible();
  expect((await (await request.get(`/api/v1/acts/${act}`)).json()).rev).toBe(1);
});

test('an act that was changed after it was published is published with a story only if it is ticked', async ({
  page,
  request,
}) => {
  const [story, act] = [fresh('evening'), fresh('nod')];
  const put = (path: string, over: number, data: string) =>
    request.put(`/api/v1/${path}`, {
      headers: { 'If-Match': `"${over}"`, 'Content-Type': 'application/yaml' },
      data,
    });
  const text = (end: number) => `act: ${act}\nactions:\n  - {type: wait, start_ms: 0, end_ms: ${end}}\n`;
  await put(`acts/${act}`, 0, text(500));
  await request.post(`/api/v1/acts/${act}/publish`, { data: {} });
  await put(`acts/${act}`, 1, text(900));
  await put(`stories/${story}`, 0, `story: ${story}\nname: {en: Evening}\nrepeat: once\nacts: [{act: ${act}}]\n`);
  await page.goto(`/stories/${story}`);
  await live(page);
  await page.getByRole('button', { name: 'Publish…' }).click();
  const dialog = page.getByRole('dialog');
  const changed = dialog.getByRole('checkbox', { name: `${act}, changed after revision 1` });
  await expect(changed).not.toBeChecked();
  await changed.check();
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  await expect(page.getByText(`Published with it: ${act}`)).toBeVisible();
  expect((await (await request.get(`/api/v1/acts/${act}`)).json()).rev).toBe(2);
});

test('an act that was just added is not among those that are ticked for deletion', async ({ page, request }) => {
  const story = fresh('ticks');
  await request.put(`/api/v1/stories/${story}`, {
    headers: { 'If-Match': '"0"', 'Content-Type': 'application/yaml' },
    data: `story: ${story}\nname: {en: Ticks}\nrepeat: once\nacts: [{act: welcome}, {act: take-a-bow}]\n`,
  });
  await page.goto(`/stories/${story}`);
  await live(page);
  await page.getByRole('searchbox', { name: 'Search' }).fill('hello-there');
  await page.getByRole('button', { name: 'Add Hello there hello-there' }).click();
  const boxes = page.getByRole('checkbox', { name: /together with others$/ });
  await expect(boxes).toHaveCount(3);
  for (const n of [0, 1, 2]) await expect(boxes.nth(n)).not.toBeChecked();
  await page.getByRole('checkbox', { name: 'Choose Take a bow together with others' }).check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.locator('[data-item]')).toHaveText(['Welcomewelcome', 'Hello therehello-there']);
});

test('an angle is shown, limited and typed in degrees, and a color has an example', async ({ page, request }) => {
  const act = fresh('look');
  await request.put(`/api/v1/acts/${act}`, {
    headers: { 'If-Match': '"0"', 'Content-Type': 'application/yaml' },
    data: `act: ${act}\nactions:\n  - {type: head, start_ms: 0, timeout_ms: 2000, yaw_rad: 0.7854}\n`,
  });
  await page.goto(`/acts/${act}`);
  await live(page);
  await page.locator('[data-item]').first().click();
  const turn = page.locator('[data-field="yaw_rad"] input');
  await expect(turn).toHaveValue('45°');
  await expect(
    page.getByRole('region', { name: 'Timeline' }).getByRole('button', { name: /^head 45° left/ }),
  ).toBeVisible();
  await turn.fill('200');
  await expect(page.getByRole('region', { name: 'Problems' })).toContainText('200° is not between -183.3° and 183.3°');
  await page.getByRole('button', { name: /^Add led / }).click();
  await expect(page.getByPlaceholder('#20c0ff')).toBeVisible();
});
