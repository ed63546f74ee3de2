import { create } from 'zustand';

import type { LatchedStop, Robot } from '../api/client';

/** A stop that somebody is about to release. */
export interface Asked {
  stop: LatchedStop | Robot['latches'][number];
  /** The robot of the page, whose stop it is. */
  robot?: string;
  /** fleetd has accepted the release, with this reason. */
  onReleased?: (why: string) => void;
}

/**
 * The release that is asked for. The frame of the screens shows its dialog: parts of a screen come and go with what
 * robots report, and would take the dialog with them while somebody writes.
 */
export const useAsked = create<{ asked?: Asked }>()(() => ({}));

export const askRelease = (asked: Asked | undefined): void => useAsked.setState({ asked });
