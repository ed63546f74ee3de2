import type { components } from '../../api/schema';

type Unit = Pick<components['schemas']['SchemaUnit'], 'kind' | 'fixed_volume'>;

/** Whether the volume of one of a robot's speakers can be set; robots refuse the command otherwise. */
export const hasVolume = (units: readonly Unit[]) => units.some((u) => u.kind === 'speaker' && !u.fixed_volume);
