import { Box, Group, NumberInput, Text, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';

import { usePoints } from '../../api/points';
import { imageOf, type SiteMap, useSiteMap } from '../../api/sites';
import { cornersOf } from '../../live/floorMap';
import { ActionButton } from '../robot/ActionButton';
import { usePage } from '../robot/page';
import { CommandButton } from './CommandButton';
import { type Drive, useDriving } from './drive';
import { type At, inView, moved, rounded, toFloor, toScreen, type View, viewOf } from './floor';
import { Part } from './Part';
import { useManualTexts } from './text';
import { useWhyNotManual } from './whyNot';

/** The floor with the robot, its path and its points. A tap chooses where to go, and the target can be dragged. */
export function Floor({ drive }: { drive?: Drive }) {
  const t = useManualTexts();
  const whyNot = useWhyNotManual(drive, 'manual/goto');
  const whyNotStandStill = useWhyNotManual(drive);
  const [target, setTarget] = useState<At>();
  const set = (to: Partial<At>) => setTarget((was) => ({ x: 0, y: 0, ...was, ...to }));
  return (
    <Part title={t.floor}>
      <FloorMap target={target} choose={setTarget} />
      <Group align="flex-end" gap="xs">
        <NumberInput
          label={t.metresX}
          value={target?.x ?? ''}
          onChange={(v) => typeof v === 'number' && set({ x: v })}
          step={0.1}
          decimalScale={2}
          w={100}
          size="md"
        />
        <NumberInput
          label={t.metresY}
          value={target?.y ?? ''}
          onChange={(v) => typeof v === 'number' && set({ y: v })}
          step={0.1}
          decimalScale={2}
          w={100}
          size="md"
        />
        <CommandButton
          whyNot={whyNot}
          lacks={target ? '' : t.needTarget}
          sends={[
            'manual/goto',
            { x_m: target?.x, y_m: target?.y, speed_mps: drive?.speed.mps },
            t.go(`${number(target?.x)}, ${number(target?.y)}`),
          ]}
        >
          {target ? t.goHere(number(target.x), number(target.y)) : t.goTarget}
        </CommandButton>
        <ActionButton whyNot={whyNotStandStill} h={48} sends={['manual/stop', {}, t.standStillDone]}>
          {t.standStill}
        </ActionButton>
      </Group>
    </Part>
  );
}

const number = (n: number | undefined) => (n ?? 0).toFixed(2);
/** px */
const height = 300;

/** What is drawn of the floor. It is apart from the fields beside it, because it changes ten times a second. */
function FloorMap({ target, choose }: { target?: At; choose: (at: At) => void }) {
  const t = useManualTexts();
  const { id, detail, robot } = usePage();
  const site = robot.labels.site ?? '';
  const map = useSiteMap(site, robot.body?.at ? (robot.body.at.map_sha256 ?? '') : undefined);
  const image = useImage(map ? imageOf(site, map) : undefined);
  const figures = useDriving((s) => s.figures);
  const path = useDriving((s) => s.path);
  const drove = useDriving((s) => s.drove);
  const points = usePoints(id, detail?.caps?.ts).data?.points ?? [];
  const { ref: box, width } = useElementSize();
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = useComputedColorScheme('light') === 'dark';

  const known = points.filter((p) => p.at).map((p) => ({ name: p.name, x: p.at!.x_m, y: p.at!.y_m }));
  const corners = useMemo(() => (map ? cornersOf(map) : []), [map]);
  const all = [...known, ...path, ...corners, ...(figures?.at ? [figures.at] : [])];
  const now = viewOf(all, Math.max(width, 100), height);
  // The floor stays where it is under a target that is dragged.
  const [grabbed, setGrabbed] = useState<View>();
  const view = grabbed ?? now;
  const drag = (e: PointerEvent<HTMLElement>) => {
    const box = canvas.current!.getBoundingClientRect();
    choose(rounded(toFloor(view, inView(view, { x: e.clientX - box.left, y: e.clientY - box.top }))));
  };
  // At the edge for a target out of sight: without its button the focus would be nowhere, and the next arrow drive the robot.
  const handle = target && inView(view, toScreen(view, target));
  useEffect(() => {
    if (canvas.current && width > 0)
      draw(canvas.current, view, {
        path,
        known,
        target,
        dark,
        at: figures?.at,
        theta: figures?.theta,
        map,
        image,
        square: t.square,
      });
  });
  return (
    <>
      <Box ref={box} pos="relative">
        <canvas
          ref={canvas}
          role="img"
          aria-label={figures?.at ? t.floorLabel(number(figures.at.x), number(figures.at.y)) : t.floorUnknown}
          style={{ width: '100%', height, display: 'block', touchAction: 'manipulation', cursor: 'crosshair' }}
          onClick={(e) => {
            choose(rounded(toFloor(view, { x: e.nativeEvent.offsetX, y: e.nativeEvent.offsetY })));
          }}
        />
        {handle && (
          <button
            type="button"
            className="floor-target"
            aria-label={t.moveTarget}
            style={{ left: handle.x, top: handle.y }}
            data-testid="floor-target"
            onPointerDown={(e) => {
              e.currentTarget.setPointerCapture(e.pointerId);
              setGrabbed(view);
            }}
            onPointerMove={(e) => grabbed && drag(e)}
            onLostPointerCapture={() => setGrabbed(undefined)}
            onKeyDown={(e) => {
              const by = steps[e.key];
              if (!by || !target) return;
              e.preventDefault(); // the page stays where it is; `taken` of inputs.ts keeps these keys from driving
              choose(moved(view, target, by));
            }}
          />
        )}
      </Box>
      {figures?.at && (
        <Text size="sm" c="dimmed" data-testid="floor-at">
          {t.isAt(number(figures.at.x), number(figures.at.y))}
          {drove > 0 && ` ${t.drove(number(drove))}`}
        </Text>
      )}
      {!figures?.at && (
        <Text size="sm" c="dimmed">
          {t.floorUnknown}
        </Text>
      )}
    </>
  );
}

/** What a key moves the target by, in metres. */
const steps: Record<string, At> = {
  ArrowLeft: { x: -0.1, y: 0 },
  ArrowRight: { x: 0.1, y: 0 },
  ArrowUp: { x: 0, y: 0.1 },
  ArrowDown: { x: 0, y: -0.1 },
};

/** An image as soon as it is read. */
function useImage(source: string | undefined): HTMLImageElement | undefined {
  const [image, setImage] = useState<HTMLImageElement>();
  useEffect(() => {
    if (!source) return;
    const reading = new Image();
    reading.onload = () => setImage(reading);
    reading.src = source;
    return () => {
      reading.onload = null;
      setImage(undefined);
    };
  }, [source]);
  return image;
}

interface Scene {
  map?: SiteMap;
  image?: HTMLImageElement;
  path: readonly At[];
  known: readonly (At & { name: string })[];
  target?: At;
  at?: At;
  theta?: number;
  dark: boolean;
  /** How large a square is, in words. */
  square: string;
}

function draw(canvas: HTMLCanvasElement, v: View, s: Scene): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = v.width * ratio;
  canvas.height = v.height * ratio;
  const c = canvas.getContext('2d');
  if (!c) return;
  c.scale(ratio, ratio);
  const [ink, faint, line] = s.dark ? ['#e9ecef', '#5c636a', '#91a7ff'] : ['#212529', '#dee2e6', '#364fc7'];
  if (s.map && s.image) {
    const at = toScreen(v, { x: s.map.x_m, y: s.map.y_m });
    const pixel = s.map.resolution_m * v.scale;
    c.save();
    c.translate(at.x, at.y);
    c.rotate(-(s.map.theta_rad ?? 0));
    c.globalAlpha = 0.75;
    if (s.dark) c.filter = 'invert(1) hue-rotate(180deg)';
    c.drawImage(s.image, 0, -s.map.height * pixel, s.map.width * pixel, s.map.height * pixel);
    c.restore();
  }
  c.strokeStyle = faint;
  c.lineWidth = 1;
  const from = toFloor(v, { x: 0, y: v.height });
  const to = toFloor(v, { x: v.width, y: 0 });
  for (let x = Math.ceil(from.x); x <= to.x; x++)
    stroke(c, v, [
      { x, y: from.y },
      { x, y: to.y },
    ]);
  for (let y = Math.ceil(from.y); y <= to.y; y++)
    stroke(c, v, [
      { x: from.x, y },
      { x: to.x, y },
    ]);
  c.strokeStyle = line;
  c.lineWidth = 2;
  stroke(c, v, s.path);
  c.fillStyle = ink;
  c.font = '13px system-ui, sans-serif';
  c.fillText(s.square, 6, v.height - 8);
  for (const p of s.known) {
    const at = toScreen(v, p);
    c.beginPath();
    c.arc(at.x, at.y, 4, 0, 2 * Math.PI);
    c.fill();
    c.fillText(p.name, at.x + 7, at.y + 4);
  }
  if (s.target) {
    const at = toScreen(v, s.target);
    c.strokeStyle = s.dark ? '#ffa8a8' : '#c92a2a';
    c.lineWidth = 2;
    c.beginPath();
    c.arc(at.x, at.y, 9, 0, 2 * Math.PI);
    c.moveTo(at.x - 14, at.y);
    c.lineTo(at.x + 14, at.y);
    c.moveTo(at.x, at.y - 14);
    c.lineTo(at.x, at.y + 14);
    c.stroke();
  }
  if (s.at) {
    const at = toScreen(v, s.at);
    c.save();
    c.translate(at.x, at.y);
    c.rotate(-(s.theta ?? 0));
    c.fillStyle = line;
    c.beginPath();
    c.moveTo(16, 0);
    c.lineTo(-10, 9);
    c.lineTo(-5, 0);
    c.lineTo(-10, -9);
    c.closePath();
    c.fill();
    c.restore();
  }
}

function stroke(c: CanvasRenderingContext2D, v: View, path: readonly At[]): void {
  c.beginPath();
  path.forEach((p, i) => {
    const at = toScreen(v, p);
    if (i === 0) c.moveTo(at.x, at.y);
    else c.lineTo(at.x, at.y);
  });
  c.stroke();
}
