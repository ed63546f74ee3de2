import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'react-router';

import type { Robot } from '../api/client';
import { colorOf, drawnOf, nameLabel } from './drawnFrom';
import { DrawnRobot } from './DrawnRobot';
import { useRobot } from './robots';

/** The display name of a robot: its label name, or else its id. */
export const robotName = (r: Pick<Robot, 'id' | 'labels'>): string => r.labels[nameLabel] || r.id;

/** What a robot is called in a sentence or a title: its display name, and its id too, since names may be alike. */
export function fullName(r: Pick<Robot, 'id' | 'labels'>): string {
  const name = robotName(r);
  return name === r.id ? name : `${name} (${r.id})`;
}

interface Props {
  id: string;
  /** Leads to the page of the robot. */
  link?: boolean;
  /** Its head in its colour before the name. */
  picture?: boolean;
  size?: string;
  fw?: number;
}

/** A robot's display name with its id beside it; a robot without a name has only its id. */
export function RobotName({ id, link, picture, size = 'sm', fw = 500 }: Props) {
  const r = useRobot(id);
  const name = r ? robotName(r) : id;
  const words = (
    <>
      <bdi>{name}</bdi>
      {name !== id && (
        <Text span c="dimmed" fz="0.85em" fw={400} ms={6}>
          {id}
        </Text>
      )}
    </>
  );
  const text = link ? (
    <Anchor component={Link} to={`/robots/${encodeURIComponent(id)}`} c="inherit" fw={fw} size={size}>
      {words}
    </Anchor>
  ) : (
    <Text span fw={fw} size={size}>
      {words}
    </Text>
  );
  if (!picture) return text;
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex">
      <span style={{ flexShrink: 0 }}>
        {r ? <DrawnRobot of={drawnOf(r)} bust width={26} decorative /> : <Dot color={colorOf({ id, labels: {} })} />}
      </span>
      {text}
    </Group>
  );
}

/** The colour of a robot that is not known any more. */
function Dot({ color }: { color: string }) {
  return (
    <svg width="12" height="12" aria-hidden>
      <circle cx="6" cy="6" r="5" fill={`var(--mantine-color-${color}-5)`} />
    </svg>
  );
}
