import type { Schemas } from '../api/client';
import { sourceText } from './source';

/** What the answer of a robot is about, beside its reason: who has control, and the units and stop inputs in its way. */
export function aboutAnswer(answer?: Pick<Schemas['SchemaAck'], 'lease' | 'refs'>): string {
  const holder = answer?.lease?.by || answer?.lease?.holder;
  const named = (answer?.refs ?? []).filter((r) => r.kind === 'unit' || r.kind === 'input');
  return [holder, ...named.map((r) => sourceText(`${r.kind} ${r.id}`))].filter(Boolean).join(', ');
}
