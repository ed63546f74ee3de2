import type { ComponentType } from 'react';

import type { Right } from '../api/me';
import type { Verb } from '../contract';
import type { useShellTexts } from './text';

/** The parts of the navigation, in their order. */
export const groups = ['run', 'write', 'back', 'admin'] as const;
type Group = (typeof groups)[number];

/** A screen as the frame lists it: its path, its entry in the navigation, and the right without which it is not shown. */
export interface Listed {
  path: string;
  /** Key of its name in the texts of the navigation; screens without one have no entry there. */
  nav?: keyof ReturnType<typeof useShellTexts>['nav'];
  /** The part of the navigation that it is in: what runs, what people write, what was, and the settings of the fleet. */
  group?: Group;
  /** It is in the menu of the person instead of the navigation. */
  menu?: boolean;
  icon?: ComponentType<{ size?: number }>;
  /** Keys that open it after g, as in "g r". */
  shortcut?: string;
  right: Right;
}

export interface ScreensProps {
  screens: readonly Listed[];
}

/** Sends a command to a robot, and says by itself what becomes of it. */
export type Send = (robot: string, verb: Verb, args: Record<string, unknown>, label: string) => Promise<unknown>;
