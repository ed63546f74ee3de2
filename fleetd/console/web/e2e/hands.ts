import { expect, type Locator, type Page } from '@playwright/test';

/** The letter after g that opens a page, by its name in the navigation. */
const letters = { Overview: 'o', Robots: 'r', Stories: 't', Commands: 'c', Events: 'e' } as const;

/** How a person does a thing on the page: with the keyboard alone, or by touch alone. */
export interface Hand {
  /** Goes to a button, a link or a field, and presses it. */
  press(what: Locator): Promise<void>;
  /** Keeps something pressed until that is true. */
  hold(what: Locator, until: () => Promise<unknown>): Promise<void>;
  /** Goes to a field and replaces what is in it. */
  write(field: Locator, text: string): Promise<void>;
  /** Chooses an option of a list. */
  choose(list: Locator, option: string): Promise<void>;
  /** Picks an entry of an open menu. */
  pick(item: Locator): Promise<void>;
  /** Moves a slider to the left. */
  slide(slider: Locator): Promise<void>;
  /** Opens a page of the navigation. */
  open(page: keyof typeof letters): Promise<void>;
  /** Puts the last row of the list one place up. */
  moveUp(row: Locator, button: Locator): Promise<void>;
  /** Drives forwards with the page of manual control until that is true. */
  forwards(until: () => Promise<unknown>): Promise<void>;
}

/** The option of an open list with this name; what it says beside the name may follow. */
const optionOf = (page: Page, name: string) =>
  page.getByRole('option', { name: new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}( |$)`) });

/** Holds a key, which the keyboard repeats, until that is true. It stays down. */
export async function holdKey(page: Page, key: string, until: () => Promise<unknown>): Promise<void> {
  let on = true;
  const repeats = (async () => {
    for (; on; await new Promise((done) => setTimeout(done, 100))) await page.keyboard.down(key);
  })();
  await until().finally(() => {
    on = false;
    return repeats;
  });
}

/** A person without a pointer. */
export function keyboard(page: Page): Hand {
  const focused = (what: Locator) => what.evaluate((e) => e === document.activeElement, undefined, { timeout: 5000 });
  /** Tabs until the element has the focus: nothing may be out of reach. */
  const reach = async (what: Locator) => {
    await expect(what).toBeVisible();
    for (let n = 0; n < 250; n++) {
      if (await focused(what)) return;
      await page.keyboard.press(n < 125 ? 'Tab' : 'Shift+Tab');
    }
    throw new Error(`the keyboard does not reach ${String(what)}`);
  };
  return {
    press: async (what) => {
      await reach(what);
      await page.keyboard.press('Enter');
    },
    hold: async (what, until) => {
      await reach(what);
      await page.keyboard.down('Enter');
      await until();
      await page.keyboard.up('Enter');
    },
    write: async (field, text) => {
      await reach(field);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(text);
    },
    choose: async (list, option) => {
      await reach(list);
      if (await list.isEditable()) {
        await page.keyboard.press('Control+a');
        await page.keyboard.type(option);
      } else await page.keyboard.press('ArrowDown');
      const wanted = optionOf(page, option);
      await expect(wanted).toBeVisible();
      for (let n = 0; n < 20 && !(await wanted.getAttribute('data-combobox-selected')); n++)
        await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
    },
    pick: async (item) => {
      await expect(item).toBeVisible();
      for (let n = 0; n < 20 && !(await focused(item)); n++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
    },
    slide: async (slider) => {
      await reach(slider);
      await page.keyboard.press('ArrowLeft');
    },
    open: async (name) => {
      await page.keyboard.press('g');
      await page.keyboard.press(letters[name]);
    },
    moveUp: async (row) => {
      await reach(row);
      await page.keyboard.press('Alt+ArrowUp');
    },
    forwards: async (until) => {
      await holdKey(page, 'w', until).finally(() => page.keyboard.up('w'));
    },
  };
}

/** A person with a finger, who presses and holds, and drags nothing but the stick. */
export function touch(page: Page): Hand {
  /** Puts a finger on something, moves it that many pixels up, and takes it away when that is true. */
  const finger = async (what: Locator, up: number, until: () => Promise<unknown>) => {
    const devtools = await page.context().newCDPSession(page);
    const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', x = 0, y = 0) =>
      devtools.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
    await expect(async () => {
      await what.tap({ trial: true }); // it is in view, and moves no more
      await what.evaluate((e) => {
        e.removeAttribute('data-touched');
        e.addEventListener('pointerdown', () => e.setAttribute('data-touched', ''), { once: true });
      });
      const box = (await what.boundingBox())!;
      const x = box.x + box.width / 2;
      const middle = box.y + box.height / 2;
      await send('touchStart', x, middle);
      // A list that moved in this moment was touched beside it: a person looks, and touches again.
      if (!(await what.evaluate((e) => e.hasAttribute('data-touched')))) {
        await send('touchEnd');
        throw new Error('it moved away from the finger');
      }
      for (let n = 1; n <= 4 && up > 0; n++) await send('touchMove', x, middle - (up * n) / 4);
    }).toPass({ timeout: 20_000 });
    await until().finally(() => send('touchEnd'));
    await devtools.detach();
  };
  return {
    press: (what) => what.tap(),
    hold: (what, until) => finger(what, 0, until),
    write: async (field, text) => {
      await field.tap();
      await field.fill(text); // what the keyboard on the screen types
    },
    choose: async (list, option) => {
      await list.tap();
      await optionOf(page, option).tap();
    },
    pick: (item) => item.tap(),
    slide: async (slider) => {
      const track = slider.locator('xpath=ancestor::*[contains(@class, "Slider-root")]');
      await track.scrollIntoViewIfNeeded();
      const box = (await track.boundingBox())!;
      await page.touchscreen.tap(box.x + box.width * 0.3, box.y + box.height / 2);
    },
    open: async (name) => {
      const menu = page.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) await menu.tap();
      await page.getByRole('link', { name, exact: true }).tap();
    },
    moveUp: (_, button) => button.tap(),
    forwards: (until) => finger(page.getByTestId('stick'), 70, until),
  };
}

/** Makes the page remember whether anything was ever pointed at: for a person with the keyboard that is a way around. */
export async function withoutPointer(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(() => {
    for (const kind of ['pointerdown', 'mousedown'])
      window.addEventListener(kind, () => sessionStorage.setItem('pointed', kind), true);
  });
  return async () => expect(await page.evaluate(() => sessionStorage.getItem('pointed'))).toBeNull();
}
