import { columnVisibilityFeature, createColumnHelper, rowSortingFeature, tableFeatures } from '@tanstack/react-table';
import type { ComponentType } from 'react';

import type { Robot } from '../../api/client';
import { Alerts, Control, Doing, Interrupts, Mode, Name, Presence, RoundTrip, Site, Story } from './cells';
import type { SortColumn } from './order';

export const features = tableFeatures({ columnVisibilityFeature, rowSortingFeature });

type Cell = ComponentType<{ r: Robot }>;

export type ColumnID = Exclude<SortColumn, 'problems'>;

/** How a column draws a robot, and how wide it is: all of them fit into a window of 1280 px. */
export const looks: Record<ColumnID, { Cell: Cell; width: string }> = {
  name: { Cell: Name, width: 'minmax(96px, 1.2fr)' },
  doing: { Cell: Doing, width: 'minmax(172px, 2.4fr)' },
  presence: { Cell: Presence, width: 'minmax(100px, 1.3fr)' },
  mode: { Cell: Mode, width: 'minmax(96px, 1fr)' },
  story: { Cell: Story, width: 'minmax(140px, 1.9fr)' },
  interrupts: { Cell: Interrupts, width: 'minmax(92px, 0.9fr)' },
  alerts: { Cell: Alerts, width: 'minmax(56px, 1fr)' },
  site: { Cell: Site, width: 'minmax(104px, 1.2fr)' },
  control: { Cell: Control, width: 'minmax(76px, 0.8fr)' },
  roundTrip: { Cell: RoundTrip, width: 'minmax(64px, 0.6fr)' },
};

export const columnIDs = Object.keys(looks) as ColumnID[];

/** Columns that a person has to ask for. */
export const hiddenAtFirst: Partial<Record<ColumnID, boolean>> = { roundTrip: false };

const helper = createColumnHelper<typeof features, Robot>();
export const columns = helper.columns(
  columnIDs.map((id) => helper.display({ id, enableSorting: true, enableHiding: id !== 'name' })),
);
