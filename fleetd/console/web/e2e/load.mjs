// Measures Overview and the list of robots against a large fleet, and Overview with 200 drawn robots, and prints the
// figures (make console-load). The same pages with a few robots are the floor of what they cost without them:
//
//   node e2e/load.mjs http://127.0.0.1:8080 10000 10 http://127.0.0.1:8081 10
import { chromium } from '@playwright/test';

const [url, robots, minutes, floorURL, floorRobots] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const round = (n) => Math.round(n * 10) / 10;
const p95 = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length * 0.95)] ?? 0;

/** The tasks of the page's main thread while do runs, in ms. */
async function tasks(what) {
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
  await what();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const pid = traceEvents.find((e) => e.name === 'TracingStartedInBrowser')?.args?.data?.frames?.at(0)?.processId;
  const threads = traceEvents.filter((e) => e.name === 'thread_name' && e.args.name === 'CrRendererMain');
  const main = threads.find((e) => e.pid === pid) ?? threads[0];
  return traceEvents
    .filter((e) => /RunTask$/.test(e.name) && e.tid === main.tid && e.pid === main.pid && e.dur)
    .map((e) => ({ wall: e.dur / 1000, cpu: (e.tdur ?? e.dur) / 1000 }));
}

// On a machine that is busy with other things, what a task waits is not the page's: cpu is what it computes.
const report = (what, all) => {
  for (const clock of ['wall', 'cpu']) {
    const list = all.map((t) => t[clock]).filter((ms) => ms >= 1);
    const over = list.filter((ms) => ms > 50).length;
    console.log(
      `${what}, ${clock}: ${list.length} tasks of at least 1 ms, p95 ${round(p95(list))} ms (at most 50), longest ${round(Math.max(0, ...list))} ms, ${over} over 50 ms`,
    );
  }
};

async function heap() {
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find((m) => m.name === 'JSHeapUsedSize').value / 1e6;
}

/** When a page is interactive: all robots are counted, and the first rows or sites are drawn. */
const ready = {
  '/robots': (want) =>
    document.querySelector('[data-testid="count"]')?.textContent === want && !!document.querySelector('[data-robot]'),
  '/': (want) => {
    const counted = [...document.querySelectorAll('[data-testid^="tone-"]')].map((e) => /\d+/.exec(e.textContent)?.[0]);
    return (
      counted.reduce((sum, n) => sum + Number(n), 0) === Number(want) &&
      !!document.querySelector('[data-testid="site"]')
    );
  },
};

/**
 * Opens a page in a browser that has nothing of it yet, and waits until it is interactive. cpu is what the thread of the
 * page computed until then, in ms.
 */
async function open(url, robots, path = '/robots') {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const computed = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    return metrics.find((m) => m.name === 'TaskDuration').value * 1000;
  };
  const before = await computed();
  await page.goto(path, { waitUntil: 'commit' });
  const wall = await page.evaluate(
    ([want, isReady]) =>
      new Promise((resolve) => {
        const done = new Function(`return ${isReady}`)();
        const look = () => (done(want) ? resolve(performance.now()) : requestAnimationFrame(look));
        look();
      }),
    [robots, String(ready[path])],
  );
  return { page, devtools, wall, cpu: (await computed()) - before };
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
for (const path of Object.keys(ready)) {
  const arms = [
    { url: floorURL, robots: floorRobots, all: [] },
    { url, robots, all: [] },
  ];
  for (let i = 0; i < 7; i++) {
    for (const arm of arms) {
      const { page, wall, cpu } = await open(arm.url, arm.robots, path);
      await page.context().close();
      if (i > 0) arm.all.push({ wall, cpu }); // the first of each warms the machine up
    }
  }
  for (const { robots, all } of arms) {
    for (const clock of ['wall', 'cpu']) {
      const list = all.map((t) => t[clock]);
      console.log(
        `${path} interactive with ${robots} robots, ${clock}: ${Math.round(median(list))} ms (at most 2000; ${all.length} times, longest ${Math.round(Math.max(...list))})`,
      );
    }
  }
}

const { page, devtools } = await open(url, robots);
const frame = page.getByTestId('robots');
const box = await frame.boundingBox();
report('at rest for 10 s', await tasks(() => page.waitForTimeout(10_000)));
await page.mouse.move(box.x + 300, box.y + 200);
report(
  'scrolling for 10 s',
  await tasks(async () => {
    for (let i = 0; i < 200; i++) {
      await page.mouse.wheel(0, i % 50 < 40 ? 600 : -1200);
      await page.waitForTimeout(50);
    }
  }),
);
await page.mouse.move(5, 5);

// From the key to the next picture, as the browser itself measures it.
await page.evaluate(() => {
  window.keys = [];
  new PerformanceObserver((list) => window.keys.push(...list.getEntries().map((e) => e.duration))).observe({
    type: 'event',
    durationThreshold: 16,
    buffered: false,
  });
});
await page.getByLabel('Name or label').focus();
let typed = 0;
const press = async (key) => {
  await page.keyboard.press(key);
  typed++;
  await page.waitForTimeout(150);
};
const whileTyping = await tasks(async () => {
  for (const text of ['museum-1', 'r12', 'floor', '77']) {
    for (const key of text) await press(key);
    for (let i = 0; i < text.length; i++) await press('Backspace');
  }
});
const keys = await page.evaluate(() => window.keys);
console.log(
  `filter key, ${typed} keys: p95 ${round(p95(keys))} ms, longest ${round(Math.max(0, ...keys))} ms from key to picture (at most 100)`,
);
report('while typing', whileTyping);

console.log(`heap now: ${round(await heap())} MB`);
for (let m = 1; m <= Number(minutes); m++) {
  await page.waitForTimeout(60_000);
  console.log(`heap after ${m} min: ${round(await heap())} MB (at most 200)`);
}

await page.context().close();

/** What all processes of the browser computed, in seconds. */
async function processes(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return Object.fromEntries(
    ['renderer', 'GPU'].map((type) => [
      type,
      processInfo.filter((p) => p.type === type).reduce((sum, p) => sum + p.cpuTime, 0),
    ]),
  );
}

/** Opens Overview with so many drawn robots: copies of the first one of a small fleet, which perform or are at rest. */
async function stage(robots, performs) {
  const context = await browser.newContext({
    baseURL: floorURL,
    viewport: { width: 1920, height: 1080 },
    locale: 'en-GB',
  });
  const page = await context.newPage();
  const bars = (type, text, every, ms) =>
    Array.from({ length: 120 }, (_, i) => ({
      type,
      text: text(i),
      start_ms: i * every,
      end_ms: i * every + ms,
      pointer: '',
      item: i,
      lane: 0,
    }));
  const lanes = [
    { of: 'face', name: 'face', bars: bars('face', (i) => ['smile', 'laugh', 'surprised'][i % 3], 1500, 0) },
    { of: 'head', name: 'head', bars: bars('head', (i) => `yaw ${i % 2 ? 30 : -30}°, pitch 0°`, 1700, 800) },
    { of: 'led', name: 'led', bars: bars('led', () => 'ear #00aaff breathe every 2400 ms', 3000, 0) },
    { of: 'say', name: 'say', bars: bars('say', () => '"Good evening"', 2500, 1500) },
  ];
  const acts = [{ step: 0, act: 'welcome', start_ms: 0, end_ms: 180_000 }];
  await page.route('**/api/v1/stories/*/timeline*', (route) =>
    route.fulfill({ json: { lanes, acts, conflicts: [], length_ms: 180_000 } }),
  );
  await page.addInitScript(
    ([count, performs]) => {
      const listen = EventSource.prototype.addEventListener;
      EventSource.prototype.addEventListener = function (name, take, ...more) {
        if (name !== 'robots' && name !== 'changes') return listen.call(this, name, take, ...more);
        if (name === 'changes') return;
        listen.call(this, name, (e) => {
          const [first] = JSON.parse(e.data).robots;
          const robots = Array.from({ length: count }, (_, i) => ({
            ...first,
            id: `d${i}`,
            doing: performs ? 'performing' : 'story_ended',
            alerts: [],
            auto: performs ? 'idle' : 'stopped',
            mode: 'ato',
            presence: { ...first.presence, status: 'online' },
            ...(performs
              ? {
                  story: { id: 'museum', rev: 1 },
                  act: 'welcome',
                  act_index: 0,
                  act_began: new Date(Date.now() - i * 137).toISOString(),
                }
              : {}),
          }));
          take(new MessageEvent('robots', { data: JSON.stringify({ robots }) }));
        });
      };
    },
    [robots, performs],
  );
  await page.goto('/');
  await page
    .getByTestId('card')
    .nth(robots - 1)
    .waitFor({ state: 'attached' });
  await page.waitForTimeout(3000);
  return page;
}

const forSeconds = 10;
for (const [count, performs] of [
  [Number(floorRobots), false],
  [Number(floorRobots), true],
  [200, false],
  [200, true],
]) {
  const page = await stage(count, performs);
  const session = await browser.newBrowserCDPSession();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const thread = async () =>
    (await devtools.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value;
  const [before, began] = [await processes(session), await thread()];
  await page.waitForTimeout(forSeconds * 1000);
  const [after, ended] = [await processes(session), await thread()];
  const share = (seconds) => round((seconds / forSeconds) * 100);
  const frames = await page.evaluate(
    (s) =>
      new Promise((resolve) => {
        let n = 0;
        const end = performance.now() + s * 1000;
        const next = (now) => (now < end ? (n++, requestAnimationFrame(next)) : resolve(n / s));
        requestAnimationFrame(next);
      }),
    forSeconds,
  );
  console.log(
    `${count} drawn robots, ${performs ? 'performing' : 'at rest'}: page ${share(after.renderer - before.renderer)} % of a core (at most 50), its thread ${share(ended - began)} %, drawing ${share(after.GPU - before.GPU)} %, ${round(frames)} frames a second (at least 30)`,
  );
  await page.context().close();
}

await browser.close();
