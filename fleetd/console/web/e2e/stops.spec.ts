import { expect, live, test } from './world';

test('six windows that are open use up the connections of a browser, and a stop is sent all the same', async ({
  context,
  request,
}) => {
  const pages = [];
  for (let i = 0; i < 6; i++) {
    const page = await context.newPage(); // Playwright shows each, as six screens would
    pages.push(page);
    await page.goto('/robots/r3');
    await live(page);
  }
  const page = pages[5]!;
  // Nothing else leaves this browser any more.
  const kept = page.evaluate(() => fetch('/api/v1/version').then(() => 'sent'));
  expect(await Promise.race([kept, new Promise((after) => setTimeout(after, 1000, 'kept back'))])).toBe('kept back');
  await page.getByRole('button', { name: 'Stop (software)' }).click();
  await expect(page.getByTestId('toasts')).toContainText('r3 stands', { timeout: 5000 });
  const { safety } = await (await request.get('/api/v1/robots/r3')).json();
  expect(safety).toBe('DISABLED');
  const { stops } = await (await request.get('/api/v1/stops')).json();
  expect(stops).toHaveLength(1);
  for (const one of pages) await one.close();
});

test('a stop without an answer says so within two seconds, and what to do', async ({ page, request }) => {
  await page.clock.install(); // the seconds are those of the page: how fast the machine is decides nothing
  await page.goto('/robots/r2');
  await live(page);
  let hangs = true; // as a proxy does
  await page.route('**/api/v1/stops', (route) => (hangs ? undefined : route.continue()));
  await page.routeWebSocket('**/api/v1/stops/socket*', () => undefined);
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 2000));
  await page.getByRole('button', { name: 'Stop (software)' }).click();
  const toasts = page.getByTestId('toasts');
  await expect(toasts).toContainText('Sending the stop for r2…');
  await page.clock.runFor(1900);
  await expect(toasts).not.toContainText('NO ANSWER');
  await page.clock.runFor(100);
  await expect(toasts).toContainText('NO ANSWER');
  await expect(toasts).toContainText('Stop the robots at the robots');
  await page.clock.resume();
  hangs = false;
  await toasts.getByRole('button', { name: 'Send the stop again' }).click();
  await expect(toasts).toContainText('r2 stands');
  const { safety } = await (await request.get('/api/v1/robots/r2')).json();
  expect(safety).toBe('DISABLED');
});
