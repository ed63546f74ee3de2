// Runs page.js with a document that has no parts, and prints what is wrong. A press of a button that
// had no effect must not end in silence.
import { readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';

const script = readFileSync(process.argv[2], 'utf8');
const robotPage = '<button id="stop">';
const signInPage = '<input id="password">';

// open returns a page whose requests answer() answers.
function open(answer) {
  const page = { went: [], listeners: {}, label: { textContent: '' }, keepUp: null };
  const banner = () => ({ hidden: true, querySelector: () => page.label });
  const elements = { gone: { hidden: true }, sending: banner(), 'not-sent': banner() };
  page.shown = (id) => !elements[id].hidden;
  runInContext(
    script,
    createContext({
      AbortSignal: { timeout: (ms) => (page.patience = ms) },
      FormData: class {},
      URL,
      URLSearchParams: class {},
      DOMParser: class {
        parseFromString = (text) => ({ getElementById: (id) => (text.includes(`id="${id}"`) ? {} : null), querySelectorAll: () => [] });
      },
      document: {
        activeElement: { matches: () => false },
        body: { classList: { toggle() {} } },
        addEventListener: (type, f) => (page.listeners[type] = f),
        getElementById: (id) => elements[id],
        querySelectorAll: () => [],
      },
      addEventListener: (type, f) => (page.listeners[type] = f),
      fetch: answer,
      location: { assign: (url) => page.went.push(url), reload: () => page.went.push('reload') },
      setTimeout: (f) => (page.keepUp = f),
    }),
  );
  page.press = () => {
    let prevented = false;
    const form = { action: 'http://r/do/stop', getAttribute: () => '/do/stop' };
    page.listeners.submit({ target: form, submitter: { textContent: 'Stop' }, preventDefault: () => (prevented = true) });
    return prevented;
  };
  return page;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const answer = (url, text) => ({ redirected: !url.includes('/do/'), url: `http://r${url}`, text: async () => text });
const signedOut = (path, options) => answer(options.method === 'POST' ? '/sign-in?not-sent=stop' : '/sign-in', signInPage);

function want(what, got, wanted) {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) console.log(`${what}: ${JSON.stringify(got)}, want ${JSON.stringify(wanted)}`);
}

let page = open(async (path, options) => signedOut(path, options));
page.press();
page.keepUp();
await settled();
await settled();
want('Stop of somebody who is signed out leads to', page.went, ['http://r/sign-in?not-sent=stop']);

page = open(async (path, options) => signedOut(path, options));
page.keepUp();
await settled();
want('a page of somebody who is signed out leads to', page.went, ['reload']);
want('Stop while the page is left is sent by the script', page.press(), false);
page.listeners.pageshow();
want('Stop on a page that is shown again is sent by the script', page.press(), true);

for (const [name, refused] of Object.entries({
  'a refusal without a page': async () => answer('/do/stop', 'cross-origin request detected'),
  'a page that cannot be drawn': async () => answer('/', 'this page cannot be drawn'),
  'no answer': async () => {
    throw new Error('timeout');
  },
})) {
  let next = refused;
  page = open((...request) => next(...request));
  page.press();
  await settled();
  want(`${name}: it leads to`, page.went, []);
  want(`${name}: it is shown`, [page.shown('sending'), page.shown('not-sent'), page.label.textContent], [false, true, 'Stop']);
  next = async () => answer('/', robotPage);
  page.keepUp();
  await settled();
  want(`${name}: it is shown after the page is there again`, page.shown('not-sent'), true);
  page.press();
  await settled();
  want(`${name}: it is shown after a press that was answered`, page.shown('not-sent'), false);
}

page = open(() => new Promise(() => {}));
page.press();
await settled();
want('a stop that hangs is shown as being sent', [page.shown('sending'), page.shown('not-sent'), page.label.textContent], [true, false, 'Stop']);
want('a stop is given up after, in ms', page.patience, 2000);
