import { type Multilingual, textIn } from '../../text/multilingual';
import { actionStarts, type ActionType } from '../../contract';
import { shown, withUnit } from './fields/units';
import type { Fields } from './model';
import type { TurnTexts } from './turnText';
import { turned } from './turns';

/** What a new action of a type begins with; its author fills in the rest. */
export function newAction(type: string, language: string): Fields {
  const start: Fields = { ...structuredClone(actionStarts[type as ActionType]) };
  return { type, start_ms: 0, ...start, ...(start.text !== undefined && { text: { [language]: '' } }) };
}

/** The names of fields for people, and the directions of turns. */
export interface Words {
  field: (name: string) => string;
  turns: TurnTexts;
}

/** What one action or step says, shows or does, without its type. */
export function detailOf(f: Fields, language: string, { field, turns }: Words): string {
  const n = (name: string) => (typeof f[name] === 'number' ? `${field(name)} ${withUnit(name, f[name])}` : '');
  const angle = (name: string) => (typeof f[name] === 'number' ? shown(name, f[name]) : undefined);
  const parts = [
    textIn(f.text as Multilingual | undefined, language)?.text,
    f.act,
    f.sound,
    f.face,
    f.motion,
    f.view,
    f.image,
    f.point,
    f.colour,
    f.pattern,
    turned(turns, String(f.type), { yaw: angle('yaw_rad'), pitch: angle('pitch_rad'), roll: angle('roll_rad') }),
    n('height_m'),
    n('x_m'),
    n('y_m'),
    n('vx_mps'),
    n('vy_mps'),
    n('wz_radps'),
  ];
  return String(parts[0] ?? parts.filter(Boolean).join(', '));
}

/** One action or step in a line. */
export const summary = (f: Fields, language: string, words: Words): string =>
  [f.type, detailOf(f, language, words)].filter(Boolean).join(': ') || '–';
