import { useEffect, useState } from 'react';

import type { Cause } from './deadman';
import type { Drive } from './drive';
import { find, PadWatch } from './gamepad';
import { drives, Keys } from './keys';

/** Whether what has the focus needs this key itself: text all of them, and a slider or a list the arrows. */
const taken = (e: KeyboardEvent) =>
  e.target instanceof HTMLElement &&
  (e.target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) ||
    e.target.closest('[role=dialog]') !== null ||
    (e.code.startsWith('Arrow') &&
      e.target.closest('[role=slider],[role=tab],[role=radio],[role=listbox],.floor-target') !== null));

/**
 * The key of driving that a key stands for: itself, or on an arrow button the arrow. Keys that press a button drive by the
 * same rules as others: they, too, may never be reported released.
 */
function drivesAs(e: KeyboardEvent): string | undefined {
  if (drives(e.code)) return taken(e) ? undefined : e.code;
  const arrow = e.target instanceof Element ? e.target.closest<HTMLElement>('[data-arrow]') : null;
  return e.key === ' ' || e.key === 'Enter' ? arrow?.dataset.arrow : undefined;
}

/** Keys that change what others mean: the system and the browser take keys that are pressed with them, and their release. */
const modifies = (e: KeyboardEvent) =>
  /^(Meta|OS|Control|Alt|AltGraph)$/.test(e.key) ||
  e.metaKey ||
  e.ctrlKey ||
  e.altKey ||
  e.getModifierState?.('AltGraph'); // what fills in a form for a person sends events without it

/** Drives with the keyboard, and stops whatever drives when the page may no longer notice a release. */
export function useKeyboard(drive?: Drive): void {
  useEffect(() => {
    if (!drive) return;
    const keys = new Keys();
    const apply = () => drive.push('keys', keys.velocity());
    const stop = (cause: Cause) => {
      keys.clear();
      drive.zero(cause);
      drive.release('keys'); // a new press counts, a key that is still held does not
    };
    const down = (e: KeyboardEvent) => {
      drive.present();
      if (modifies(e)) return stop('modifier');
      if (e.isComposing || e.key === 'Process') return stop('composing');
      const as = drivesAs(e);
      if (!as) return;
      e.preventDefault();
      keys.down(e.code, e.repeat, performance.now(), as);
      if (!e.repeat) apply();
    };
    const release = (code: string) => {
      if (!keys.has(code)) return;
      keys.up(code, performance.now());
      apply();
    };
    const up = (e: KeyboardEvent) => {
      drive.present();
      release(e.code);
    };
    const blur = (e: Event) => e.target === window && stop('blur'); // elements have such events, too
    const hidden = () => document.hidden && stop('hidden');
    const drag = () => stop('drag');
    const composing = () => stop('composing');
    const inside = (e: Event, selector: string) => e.target instanceof Element && e.target.closest(selector) !== null;
    const menu = (e: Event) => {
      if (!inside(e, '[data-arrow],.stick')) stop('menu'); // there a long touch opens none
    };
    const focused = (e: Event) => {
      if (inside(e, '[role=dialog],[role=alertdialog],dialog')) stop('dialog');
    };
    const unfocused = (e: Event) => {
      if (inside(e, '[data-arrow]')) ['Space', 'Enter', 'NumpadEnter'].forEach(release);
    };
    let byMouse = false;
    const touch = (e: PointerEvent) => {
      byMouse = e.pointerType === 'mouse';
      drive.present();
    };
    // A mouse that moves without a button was released where the page did not see it.
    const moved = (e: PointerEvent) => {
      if (!byMouse || e.pointerType !== 'mouse' || e.buttons !== 0) return;
      if (drive.holds('stick') || drive.holds('buttons')) stop('pointer');
    };
    const leave = () => void drive.end();
    const poll = (now: number) => {
      if (keys.unconfirmed(now)) stop('repeat');
      if (document.querySelector('[aria-modal=true]')) stop('dialog');
    };
    // In the capture phase, before all other handlers: the shortcuts of the console ignore keys that drive
    // (defaultPrevented), and no handler can swallow a keyup.
    const handlers: [EventTarget, string, (e: never) => unknown][] = [
      [window, 'keydown', down],
      [window, 'keyup', up],
      [window, 'blur', blur],
      [window, 'pagehide', leave],
      [window, 'pointerdown', touch],
      [window, 'pointermove', moved],
      [window, 'contextmenu', menu],
      [window, 'dragstart', drag],
      [window, 'compositionstart', composing],
      [document, 'focusin', focused],
      [document, 'focusout', unfocused],
      [document, 'visibilitychange', hidden],
    ];
    for (const [on, type, handler] of handlers) on.addEventListener(type, handler as EventListener, true);
    drive.polls.add(poll);
    return () => {
      for (const [on, type, handler] of handlers) on.removeEventListener(type, handler as EventListener, true);
      drive.polls.delete(poll);
    };
  }, [drive]);
}

/** The gamepads that are connected; browsers show one after a button of it was pressed. */
export function useGamepads(): { index: number; id: string }[] {
  const list = () =>
    navigator
      .getGamepads()
      .filter((p) => p?.connected)
      .map((p) => ({ index: p!.index, id: p!.id }));
  const [pads, set] = useState(list);
  useEffect(() => {
    const read = () => set(list());
    window.addEventListener('gamepadconnected', read);
    window.addEventListener('gamepaddisconnected', read);
    return () => {
      window.removeEventListener('gamepadconnected', read);
      window.removeEventListener('gamepaddisconnected', read);
    };
  }, []);
  return pads;
}

/**
 * Drives with a gamepad, and stops when it is lost. A window without focus takes nothing from it. seen receives its axes and
 * whether its stick must go to its middle before it drives.
 */
export function useGamepad(
  drive: Drive | undefined,
  index: number | undefined,
  seen: (axes: number[], awaitsRest: boolean) => void,
): void {
  useEffect(() => {
    if (!drive || index === undefined) return;
    const watch = new PadWatch();
    const poll = (now: number) => {
      const pad = find(navigator.getGamepads(), index);
      if (!pad || !document.hasFocus()) {
        drive.zero(pad ? 'blur' : 'gamepad');
        watch.awaitRest();
        return;
      }
      const r = watch.read(pad.axes, pad.buttons, now);
      if (r.moved) drive.present();
      if (r.frozen) drive.zero('unmoved');
      if (r.velocity.vx !== 0 || r.velocity.wz !== 0) drive.push('gamepad', r.velocity);
      else drive.release('gamepad');
      seen([...pad.axes], watch.awaitsRest || drive.bars('gamepad'));
    };
    // Two polls can be far apart, and what happened between them is not to be seen in the second.
    const unseen = (e: Event) => {
      const other = (e as Partial<GamepadEvent>).gamepad;
      if (!other || other.index === index) watch.awaitRest();
    };
    const events = ['gamepadconnected', 'gamepaddisconnected', 'blur'];
    for (const type of events) window.addEventListener(type, unseen);
    document.addEventListener('visibilitychange', unseen);
    drive.polls.add(poll);
    return () => {
      for (const type of events) window.removeEventListener(type, unseen);
      document.removeEventListener('visibilitychange', unseen);
      drive.polls.delete(poll);
      drive.zero('gamepad');
      drive.release('gamepad');
    };
  }, [drive, index, seen]);
}
