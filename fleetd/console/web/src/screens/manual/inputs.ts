import { useEffect, useState } from 'react';

import type { Drive } from './drive';
import { find, ofAxes } from './gamepad';
import { drives, Keys } from './keys';

/** Whether what has the focus needs this key itself: text all of them, and a slider or a list the arrows. */
const taken = (e: KeyboardEvent) =>
  e.target instanceof HTMLElement &&
  (e.target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) ||
    e.target.closest('[role=dialog]') !== null ||
    (e.code.startsWith('Arrow') && e.target.closest('[role=slider],[role=tab],[role=radio],[role=listbox]') !== null));

/** Drives with the keyboard, and stops whenever the page may no longer notice a release. */
export function useKeyboard(drive?: Drive): void {
  useEffect(() => {
    if (!drive) return;
    const keys = new Keys();
    const apply = () => drive.push('keys', keys.velocity());
    const down = (e: KeyboardEvent) => {
      drive.present();
      if (!drives(e.code) || taken(e) || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      keys.down(e.code, e.repeat);
      if (!e.repeat) apply();
    };
    const up = (e: KeyboardEvent) => {
      if (!drives(e.code)) return;
      keys.up(e.code);
      apply();
    };
    const stop = (cause: 'blur' | 'hidden') => () => {
      if (cause === 'hidden' && !document.hidden) return;
      keys.clear();
      drive.zero(cause);
      drive.release('keys'); // a new press counts, a key that is still held does not
    };
    const [blur, hidden] = [stop('blur'), stop('hidden')];
    const leave = () => void drive.end();
    const touch = () => drive.present();
    // In the capture phase, before all other handlers: the shortcuts of the console ignore keys that drive
    // (defaultPrevented), and no handler can swallow a keyup.
    window.addEventListener('keydown', down, true);
    window.addEventListener('keyup', up, true);
    window.addEventListener('blur', blur);
    window.addEventListener('pagehide', leave);
    window.addEventListener('pointerdown', touch);
    document.addEventListener('visibilitychange', hidden);
    return () => {
      window.removeEventListener('keydown', down, true);
      window.removeEventListener('keyup', up, true);
      window.removeEventListener('blur', blur);
      window.removeEventListener('pagehide', leave);
      window.removeEventListener('pointerdown', touch);
      document.removeEventListener('visibilitychange', hidden);
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

/** Drives with a gamepad, and stops when it is lost. A window without focus takes nothing from it. */
export function useGamepad(drive: Drive | undefined, index: number | undefined, seen: (axes: number[]) => void): void {
  useEffect(() => {
    if (!drive || index === undefined) return;
    let awaitsNeutral = false;
    drive.poll = () => {
      const pad = find(navigator.getGamepads(), index);
      if (!pad) {
        drive.zero('gamepad');
        return;
      }
      if (!document.hasFocus()) {
        drive.zero('blur');
        awaitsNeutral = true;
        return;
      }
      const v = ofAxes(pad.axes);
      const deflected = v.vx !== 0 || v.wz !== 0;
      awaitsNeutral &&= deflected;
      if (awaitsNeutral) return;
      if (deflected) drive.push('gamepad', v);
      else drive.release('gamepad');
      seen([...pad.axes]);
    };
    return () => {
      drive.poll = undefined;
      drive.zero('gamepad');
      drive.release('gamepad');
    };
  }, [drive, index, seen]);
}
