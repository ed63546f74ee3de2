import { Box, Card, Center, Group, Kbd, Select, SimpleGrid, Slider, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconArrowBackUp, IconArrowDown, IconArrowForwardUp, IconArrowUp } from '@tabler/icons-react';
import nipplejs from 'nipplejs';
import { useCallback, useEffect, useRef, useState } from 'react';

import { unitOf } from '../../live/units';
import { degrees } from '../../text/time';
import { usePage } from '../robot/page';
import type { Velocity } from './deadman';
import { Held } from './Control';
import { type Drive, useDriving } from './drive';
import { useGamepad, useGamepads } from './inputs';
import { LatencyPill } from './LatencyPill';
import { Part } from './Part';
import { useManualTexts } from './text';

/** What a person drives with, and how fast the robot is. */
export function Driving({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const { detail, robot } = usePage();
  const unit = unitOf(detail?.caps?.units, 'drive');
  const may = robot.mode === 'mnl' && robot.safety === 'ENABLED';
  const place = useRef<HTMLDivElement>(null);
  // On a page longer than the screen, scroll to the stick when control is taken.
  useEffect(() => {
    if (drive && window.matchMedia('(max-width: 75em), (max-height: 32em)').matches)
      place.current?.scrollIntoView({ block: 'start' });
  }, [drive]);
  if (detail?.caps && !unit)
    return (
      <Part title={t.drive} aside={drive && <Held drive={drive} />}>
        {t.noDrive}
      </Part>
    );
  return (
    <Part title={t.drive} place={place} aside={drive && <Held drive={drive} />}>
      {drive && !may && (
        <Text size="sm" fw={500} role="status">
          {robot.mode !== 'mnl' ? t.needManual : robot.doing === 'waiting_for_release' ? t.stopLatched : t.needEnable}
        </Text>
      )}
      <Group justify="space-around" gap="xs">
        <Stack gap="xs" className="drive-figures">
          <Readout />
          {drive && <LatencyPill />}
        </Stack>
        <Stick drive={drive} />
        <Arrows drive={drive} />
      </Group>
      <Text size="sm" c="dimmed">
        {t.keysHint}
      </Text>
    </Part>
  );
}

/** How fast a person lets the robot be, and the gamepad. They are apart from the stick, which stays in view while they are scrolled. */
export function Speeds({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const { detail } = usePage();
  const unit = unitOf(detail?.caps?.units, 'drive');
  if (detail?.caps && !unit) return null;
  return (
    <Part title={t.speeds}>
      <Limits drive={drive} mps={unit?.max_speed_mps ?? 0.3} radps={unit?.max_turn_radps ?? 0.5} />
      <Pad drive={drive} />
    </Part>
  );
}

function Readout() {
  const t = useManualTexts();
  const figures = useDriving((s) => s.figures);
  const asked = useDriving((s) => s.asked);
  const number = (n?: number) => (n === undefined ? '–' : n.toFixed(2));
  const turning = (n?: number) => (n === undefined ? '–' : String(degrees(n)));
  return (
    <SimpleGrid cols={2}>
      <Card withBorder padding="xs">
        <Text size="xs" c="dimmed">
          {t.speedNow}
        </Text>
        <Text fw={500} size="xl" data-testid="speed" style={{ fontVariantNumeric: 'tabular-nums' }}>
          {number(figures?.vx)} m/s
        </Text>
        <Text size="xs" c="dimmed">
          {t.asked(number(asked.vx))}
        </Text>
      </Card>
      <Card withBorder padding="xs">
        <Text size="xs" c="dimmed">
          {t.turnNow}
        </Text>
        <Text fw={500} size="xl" style={{ fontVariantNumeric: 'tabular-nums' }}>
          {turning(figures?.wz)} °/s
        </Text>
        <Text size="xs" c="dimmed">
          {t.asked(turning(asked.wz))}
        </Text>
      </Card>
    </SimpleGrid>
  );
}

/** The analog stick. Letting go, or losing the pointer, stops the robot. It shows also what keys, buttons and a gamepad ask for. */
function Stick({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const zone = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!drive || !zone.current) return;
    const el = zone.current;
    const size = el.clientWidth * 0.8;
    const stick = nipplejs.create({
      zone: el,
      mode: 'static',
      position: { top: '50%', left: '50%' },
      size,
      color: { front: 'var(--mantine-color-indigo-6)', back: 'var(--mantine-color-indigo-2)' },
      restOpacity: 1,
    });
    stick.on('move', ({ data }) => {
      drive.present();
      drive.push('stick', { vx: data.vector.y, wz: -data.vector.x });
    });
    let dragged = false;
    stick.on('start', () => (dragged = true));
    stick.on('end', () => {
      dragged = false;
      drive.release('stick');
    });
    const unsubscribe = useDriving.subscribe(({ asked }) => {
      const knob = [...stick.all.values()][0]?.ui.front;
      if (!knob || dragged) return;
      const [right, up] = [-asked.wz / drive.speed.radps, asked.vx / drive.speed.mps];
      const reach = size / 2 / Math.max(1, Math.hypot(right, up)); // the knob stays on its circle
      knob.style.transform = `translate(${right * reach}px, ${-up * reach}px)`;
    });
    const lost = () => {
      drive.zero('pointer');
      drive.release('stick');
    };
    const noMenu = (e: Event) => e.preventDefault(); // after a long touch
    el.addEventListener('pointercancel', lost);
    el.addEventListener('contextmenu', noMenu);
    return () => {
      el.removeEventListener('pointercancel', lost);
      el.removeEventListener('contextmenu', noMenu);
      drive.release('stick');
      unsubscribe();
      stick.destroy();
    };
  }, [drive]);
  return (
    <Box
      ref={zone}
      pos="relative"
      className="stick"
      aria-label={t.stick}
      role="img"
      data-testid="stick"
      data-off={!drive || undefined}
    />
  );
}

const arrows: { code: 'KeyW' | 'KeyA' | 'KeyS' | 'KeyD'; v: Velocity; icon: typeof IconArrowUp; column: number }[] = [
  { code: 'KeyW', v: { vx: 1, wz: 0 }, icon: IconArrowUp, column: 2 },
  { code: 'KeyA', v: { vx: 0, wz: 1 }, icon: IconArrowBackUp, column: 1 },
  { code: 'KeyS', v: { vx: -1, wz: 0 }, icon: IconArrowDown, column: 2 },
  { code: 'KeyD', v: { vx: 0, wz: -1 }, icon: IconArrowForwardUp, column: 3 },
];

/** Arrow buttons: they drive while they are held, by pointer, or by a key as useKeyboard says. */
function Arrows({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const asked = useDriving((s) => s.asked);
  const end = () => drive?.release('buttons');
  const lost = () => {
    drive?.zero('pointer');
    drive?.release('buttons');
  };
  // Left is left, whatever the direction of the text.
  return (
    <Box dir="ltr" className="arrows">
      {arrows.map(({ code, v, icon: Icon, column }) => {
        const on = v.vx !== 0 ? Math.sign(asked.vx) === v.vx : Math.sign(asked.wz) === v.wz;
        return (
          <UnstyledButton
            key={code}
            className="arrow"
            style={{ gridColumn: column, gridRow: code === 'KeyW' ? 1 : code === 'KeyS' ? 3 : 2 }}
            aria-label={t.arrows[code]}
            aria-disabled={!drive}
            data-on={(drive && on) || undefined}
            data-arrow={code}
            onPointerDown={(e) => {
              if (e.button !== 0) return; // the others open a menu, or go back
              e.currentTarget.setPointerCapture(e.pointerId);
              drive?.push('buttons', v);
            }}
            onPointerUp={end}
            onPointerCancel={lost}
            onLostPointerCapture={end}
            onContextMenu={(e) => e.preventDefault()}
          >
            <Center h="100%" style={{ flexDirection: 'column' }}>
              <Icon size={24} aria-hidden />
              <Kbd size="xs">{code.slice(3)}</Kbd>
            </Center>
          </UnstyledButton>
        );
      })}
    </Box>
  );
}

/**
 * The greatest speeds. They begin low, whatever the robot can do; the highest is the speed from which, as fleetd
 * computes, it can still stop in time.
 */
function Limits({ drive, mps, radps }: { drive?: Drive; mps: number; radps: number }) {
  const t = useManualTexts();
  const allowed = useDriving((s) => s.limits?.mps) ?? mps;
  const [chosen, setV] = useState(0.2);
  const [w, setW] = useState(Math.min(0.6, radps));
  const v = Math.min(chosen, allowed);
  useEffect(() => {
    if (drive) drive.speed = { mps: v, radps: w };
  }, [drive, v, w]);
  return (
    <Stack gap="xs">
      <Limit label={t.speedLimit} unit="m/s" most={allowed} value={v} onChange={setV} />
      {allowed < mps && (
        <Text size="sm" c="dimmed">
          {t.brakes(allowed, mps)}
        </Text>
      )}
      <Limit label={t.turnLimit} unit="°/s" most={radps} value={w} shown={degrees(w)} onChange={setW} />
    </Stack>
  );
}

function Limit(p: {
  label: string;
  unit: string;
  most: number;
  value: number;
  /** The value in the unit that is written, if that is another one. */
  shown?: number;
  onChange: (n: number) => void;
}) {
  return (
    <Box>
      <Text size="sm">
        {p.label}: <b>{p.shown ?? p.value.toFixed(2)}</b> {p.unit}
      </Text>
      <Slider
        min={0.05}
        max={p.most}
        step={0.05}
        value={p.value}
        onChange={p.onChange}
        label={null}
        thumbSize={28}
        size="lg"
        my="sm"
        thumbLabel={`${p.label}, ${p.unit}`}
      />
    </Box>
  );
}

function Pad({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const pads = useGamepads();
  const [chosen, setChosen] = useState<string | null>(null);
  const [axes, setAxes] = useState<number[]>([]);
  const [awaitsRest, setAwaitsRest] = useState(false);
  const index = chosen === null ? undefined : Number(chosen);
  const seen = useCallback((now: number[], awaits: boolean) => {
    setAxes((before) => (now.every((a, i) => Math.abs(a - (before[i] ?? 9)) < 0.02) ? before : now));
    setAwaitsRest(awaits);
  }, []);
  useGamepad(drive, index, seen);
  if (pads.length === 0 && chosen === null)
    return (
      <Text size="sm" c="dimmed">
        {t.gamepadNone}
      </Text>
    );
  return (
    <Group align="flex-end">
      <Select
        label={t.gamepad}
        placeholder={t.gamepadOff}
        clearable
        size="md"
        value={chosen}
        onChange={setChosen}
        data={pads.map((p) => ({ value: String(p.index), label: p.id }))}
      />
      {chosen !== null && (
        <Text size="sm" style={{ fontVariantNumeric: 'tabular-nums' }} aria-label={t.axes} data-testid="axes">
          {axes.slice(0, 4).map((a, i) => (
            <span key={i}>
              {i}: {a.toFixed(2)}{' '}
            </span>
          ))}
        </Text>
      )}
      {drive && chosen !== null && awaitsRest && (
        <Text size="sm" fw={500} role="status" data-testid="gamepad-rest">
          {t.gamepadRest}
        </Text>
      )}
    </Group>
  );
}
