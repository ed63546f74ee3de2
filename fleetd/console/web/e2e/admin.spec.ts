import type { Browser, Locator, Page } from '@playwright/test';

import {
  accessible,
  colors,
  expect,
  fresh,
  givePassword,
  inShard,
  live,
  signIn,
  signInAsAdmin,
  tabTo,
  test,
} from './world';

const words = 'a boat of blue paper';

/** Texts that would run a script if a page took them for HTML, an address or a template. */
const hostile = [
  '<img src=x onerror="window.xss=1">',
  "javascript:window.xss=1//'",
  '{{constructor.constructor("x")()}}',
];

/** Opens a page of its own, as another person at another browser. */
async function another(browser: Browser, user: string, path: string): Promise<Page> {
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
  await page.goto(path);
  await signIn(page, user, words);
  await live(page);
  return page;
}

test('an administrator adds an operator of one site by keyboard, who sees that site only', async ({
  page,
  browser,
  world,
}) => {
  const anna = fresh('anna');
  await signInAsAdmin(page, world, '/admin');
  await live(page);
  await tabTo(page, page.getByRole('button', { name: 'Add a user' }));
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('textbox', { name: 'User' })).toBeFocused();
  await page.keyboard.type(anna);
  await tabTo(page, dialog.getByRole('textbox', { name: 'Name to show' }));
  await page.keyboard.type('Anna');
  await tabTo(page, dialog.getByRole('checkbox', { name: 'viewer' }));
  await page.keyboard.press('Space'); // without it
  await tabTo(page, dialog.getByRole('checkbox', { name: 'operator' }));
  await page.keyboard.press('Space');
  const password = dialog.getByRole('textbox', { name: 'Password', exact: true });
  await tabTo(page, password);
  await page.keyboard.type(words);
  await tabTo(page, dialog.getByRole('combobox', { name: 'Sites' }));
  // The list of sites is open, and covers nothing: a click would reach the password and the button.
  await expect(dialog.getByRole('option', { name: 'museum', exact: true })).toBeVisible();
  await password.click({ trial: true });
  await dialog.getByRole('button', { name: 'Add', exact: true }).click({ trial: true });
  await page.keyboard.type('museum');
  await page.keyboard.press('Enter');
  await tabTo(page, password, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  const row = page.getByRole('row', { name: new RegExp(`^${anna}`) });
  await expect(row).toContainText('operator');
  await expect(row).not.toContainText('viewer');
  await expect(row).toContainText('museum');

  const hers = await another(browser, anna, '/robots');
  await expect(hers.getByRole('link', { name: 'r1', exact: true })).toBeVisible();
  await expect(hers.getByRole('link', { name: 'r3', exact: true })).toHaveCount(0);
  const navigation = hers.getByRole('navigation', { name: 'Main navigation' });
  await expect(navigation.getByRole('link', { name: 'Commands' })).toBeVisible();
  await expect(navigation.getByRole('link', { name: 'Administration' })).toHaveCount(0);
  await expect(navigation.getByRole('link', { name: 'Audit' })).toHaveCount(0);
  await hers.goto('/admin');
  await expect(hers.getByText('Only administrators see this')).toBeVisible();
  await hers.context().close();
});

test('somebody without the right to enable sees why', async ({ browser, world }) => {
  const ben = fresh('ben');
  await world.cli('user', 'add', ben, '--role', 'author', '--no-password');
  await givePassword(world, ben, words);
  const page = await another(browser, ben, '/robots/r1');
  const enable = page.getByRole('button', { name: 'Let it move', exact: true }).first();
  await expect(enable).toHaveAttribute('aria-disabled', 'true');
  await enable.hover();
  await expect(page.getByText('You do not have the right to').first()).toBeVisible();
  await expect(page.getByText('The roles operator and admin have it.').first()).toBeVisible();
  await enable.click({ force: true });
  await page.context().close();
  expect(await world.cli('audit', 'list', '--who', ben, '-o', 'json')).not.toContain('safety/enable');
});

test('an operator sees which roles may label and assign, and a releaser which may release', async ({
  browser,
  world,
}) => {
  const user: Record<string, string> = {};
  for (const role of ['operator', 'releaser']) {
    user[role] = fresh(`the-${role}`);
    await world.cli('user', 'add', user[role], '--role', role, '--no-password');
    await givePassword(world, user[role], words);
  }
  const says = async (button: Locator, text: string) => {
    await expect(button).toHaveAttribute('aria-disabled', 'true');
    await button.hover();
    await expect(button.page().getByText(text).first()).toBeVisible();
  };
  const operator = await another(browser, user.operator!, '/robots/r1');
  await says(operator.getByRole('button', { name: 'Labels…' }), 'The role admin has it.');
  await operator.goto('/robots/r1/story');
  await says(
    operator.getByRole('button', { name: 'Make it the default story' }),
    'The roles releaser and admin have it.',
  );
  await operator.context().close();

  await world.cli('stop', 'r1', '--why', 'a child on the stage');
  const releaser = await another(browser, user.releaser!, '/robots/r1');
  const release = 'The roles operator and admin have it.';
  await says(releaser.getByTestId('way-out').getByRole('button', { name: 'Release…' }), release);
  await releaser.goto('/robots');
  await says(releaser.getByTestId('latched').getByRole('button', { name: 'Release…' }), release);
  await releaser.context().close();
  const id = (await world.cli('stop', 'list', '-o', 'name')).trim();
  await world.cli('stop', 'release', id, '--why', 'the spec is over');
});

test('a user whom an administrator disables is out at once', async ({ page, browser, world }) => {
  const carla = fresh('carla');
  await world.cli('user', 'add', carla, '--role', 'viewer', '--no-password');
  await givePassword(world, carla, words);
  const hers = await another(browser, carla, '/robots');
  await signInAsAdmin(page, world, '/admin');
  await page.getByRole('button', { name: `Change ${carla}` }).click();
  await page.getByRole('switch', { name: /^Disable/ }).click({ force: true });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('row', { name: new RegExp(`^${carla}`) })).toContainText('disabled');
  await expect(hers.getByRole('heading', { name: 'Sign in' })).toBeVisible();
  await hers.context().close();
});

test('what fleetd refuses about a user is said in the dialog', async ({ page, world }) => {
  await signInAsAdmin(page, world, '/admin');
  await page.getByRole('button', { name: 'Change admin' }).click();
  await page.getByRole('switch', { name: /^Disable/ }).click({ force: true });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('row', { name: /^admin/ })).not.toContainText('disabled');
});

test('a token is shown once, works, and ends', async ({ page, playwright, baseURL, world }) => {
  await signInAsAdmin(page, world, '/admin?tab=tokens');
  await page.getByRole('textbox', { name: 'What it is for' }).fill('nightly report');
  await page.getByRole('button', { name: 'Make a token' }).click();
  const secret = await page.getByRole('status').locator('pre').innerText();
  const program = await playwright.request.newContext({
    baseURL,
    ignoreHTTPSErrors: true,
    extraHTTPHeaders: { Authorization: `Bearer ${secret}` },
  });
  expect((await program.get('/api/v1/robots')).status()).toBe(200);
  await page.reload();
  await expect(page.getByRole('row', { name: /nightly report/ })).toBeVisible();
  await expect(page.getByText(secret)).toHaveCount(0);
  await page.getByRole('button', { name: 'End the token nightly report' }).click();
  await expect(page.getByRole('row', { name: /nightly report/ })).toHaveCount(0);
  expect((await program.get('/api/v1/robots')).status()).toBe(401);
});

test('robots get a site by keyboard, after a look at what that changes', async ({ page, world }) => {
  await signInAsAdmin(page, world, '/admin?tab=sites');
  await live(page);
  const sites = page.getByRole('table', { name: 'Sites and labels' });
  await expect(sites.getByRole('checkbox', { name: 'museum (2)' })).toBeVisible();
  await expect(page.getByText('Choose robots or whole sites below.')).toBeVisible();
  await tabTo(page, page.getByRole('combobox', { name: /^New site/ }));
  await page.keyboard.type('garden');
  await page.keyboard.press('Escape');
  await tabTo(page, sites.getByRole('checkbox', { name: 'Choose r3' }));
  await page.keyboard.press('Space');
  await expect(page.getByText('1 robot chosen')).toBeVisible();
  await tabTo(page, page.getByRole('button', { name: 'Set the site' }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByTestId('dry-run')).toContainText('1');
  await accessible(page);
  await tabTo(page, dialog.getByRole('button').last());
  await page.keyboard.press('Enter');
  await expect(sites.getByRole('checkbox', { name: 'garden (1)' })).toBeVisible();
  await expect(sites.getByRole('checkbox', { name: /^stage/ })).toHaveCount(0);
  await world.cli('robot', 'label', 'r3', 'site=stage');
});

test('a robot is enrolled with a line to paste, which a QR code holds too', async ({ page, world }) => {
  const id = fresh('r9');
  await signInAsAdmin(page, world, '/admin?tab=enrol');
  await live(page);
  await page.getByRole('textbox', { name: 'Name of the robot' }).fill(id);
  await page.getByRole('button', { name: 'Get the line for the robot' }).click();
  const line = page.getByRole('status').locator('pre').first();
  await expect(line).toContainText('robotd enrol --token');
  await expect(page.getByRole('img', { name: `QR code with the line for ${id}` })).toBeVisible();
  await expect(page.getByTestId('enrolled')).toHaveText(`Waiting for ${id}.`);
  await accessible(page);
  await world.control(`robot/enrol?robot=${id}&line=${encodeURIComponent(await line.innerText())}`);
  await expect(page.getByTestId('enrolled')).toHaveText(`${id} is part of the fleet.`);
});

test('health says how broker, database, instances and certificates are, and about which parts there are', async ({
  page,
  world,
}) => {
  await signInAsAdmin(page, world, '/admin?tab=health');
  await live(page);
  const health = page.getByRole('table', { name: 'Health' });
  await expect(health.getByRole('row', { name: /^Broker/ })).toContainText('works');
  await expect(health.getByRole('row', { name: /^Database/ })).toContainText('works (sqlite)');
  const own = page.getByRole('table', { name: 'Instances' }).getByRole('row', { name: /this one/ });
  await expect(own).toContainText('leads');
  await expect(own.getByText('works').filter({ visible: true })).toHaveCount(2); // its broker, its database
  await expect(own.getByText(/ago$/)).toBeVisible(); // its last heartbeat came back from the broker
  const certificates = page.getByRole('table', { name: 'Certificates' });
  for (const use of [/^root/, /^intermediate/, /^the address of fleetd/]) {
    await expect(certificates.getByRole('row', { name: use })).toContainText(/\d+ days/);
  }
  await page.getByRole('tab', { name: 'About' }).click();
  await page.getByRole('button', { name: 'Licence of react', exact: true }).click();
  await expect(page.getByRole('dialog')).toContainText('MIT');
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(page.getByRole('button', { name: 'Licence of github.com/danielgtaylor/huma/v2' })).toBeVisible();
});

test('no name of a user, token, label, site or browser runs as a script', async ({ page, world, request }) => {
  const broken: string[] = [];
  page.on('dialog', (d) => broken.push(d.message()));
  page.on('pageerror', (e) => broken.push(e.message));
  await signInAsAdmin(page, world, '/admin');
  await live(page);
  for (const [n, text] of hostile.entries()) {
    await page.request.post('/api/v1/users', {
      data: { name: `dan${n}`, display: text, roles: ['viewer'], sites: [text] },
    });
    await page.request.post('/api/v1/tokens', { data: { user: 'admin', name: text } });
    await page.request.put('/api/v1/robots/r2/labels', { data: { labels: { site: text, hall: text } } });
  }
  await page.request.put('/api/v1/robots/r2/labels', { data: { labels: { site: hostile[0], hall: hostile[1] } } });
  for (const tab of ['users', 'tokens', 'sites', 'enrol', 'health', 'about']) {
    await page.goto(`/admin?tab=${tab}`);
    await live(page);
    await page.waitForLoadState('networkidle').catch(() => {});
    await expect(page.locator('img[src="x"], a[href^="javascript:"]')).toHaveCount(0);
    expect(await page.evaluate(() => (window as unknown as { xss?: number }).xss)).toBeUndefined();
  }
  // What a browser calls itself is a text that anybody who signs in can choose.
  await givePassword(world, 'dan0', words);
  const signedIn = await request.post('/api/v1/session', {
    headers: { 'User-Agent': hostile.join(' ') },
    data: { user: 'dan0', password: words },
  });
  expect(signedIn.ok(), await signedIn.text()).toBe(true);
  await page.goto('/admin');
  await expect(page.getByText(hostile[0]!).first()).toBeVisible();
  await page.getByRole('button', { name: 'Change dan0' }).click();
  await expect(page.getByRole('dialog')).toContainText(hostile[0]!);
  await expect(page.locator('img[src="x"], a[href^="javascript:"]')).toHaveCount(0);
  expect(await page.evaluate(() => (window as unknown as { xss?: number }).xss)).toBeUndefined();
  expect(broken).toEqual([]);
  await page.request.put('/api/v1/robots/r2/labels', { data: { labels: { site: 'museum' } } });
});

for (const scheme of inShard('light' as const, 'dark' as const)) {
  test(`the administration is accessible in ${scheme}`, async ({ page, world }) => {
    await colors(page, scheme);
    await signInAsAdmin(page, world, '/admin');
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      await page.waitForLoadState('networkidle').catch(() => {});
      await accessible(page);
    }
    await page.getByRole('tab', { name: 'Users' }).click();
    await page.getByRole('button', { name: 'Add a user' }).click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await accessible(page);
  });
}
