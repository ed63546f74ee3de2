import { useReducedMotion } from '@mantine/hooks';
import { type CSSProperties, memo, useEffect, useRef } from 'react';

import type { UnitKind } from '../contract';
import { eachBeat, lastBeat } from './beats';
import {
  type Drawn,
  featuresOf,
  type Features,
  linesOf,
  moves,
  movingAt,
  type Over,
  sentenceOf,
  useDrawnTexts,
} from './drawn';
import css from './DrawnRobot.module.css';

interface Props {
  of: Drawn;
  /** Stands at the beginning of the sentence for screen readers. */
  name?: string;
  /** Only the head, for a line of text: without bubble, floor and signs but the one over it. */
  bust?: boolean;
  /** px of its width; left out: as wide as its place. */
  width?: number;
  /** Beside words that say the same, the picture says nothing to a screen reader. */
  decorative?: boolean;
  /** Nobody sees it now: nothing of it moves. */
  still?: boolean;
}

/** Moves what moves by itself once a beat. Only the styles of the picture change: React draws nothing again. */
function useBeats(d: Drawn, still: boolean | undefined) {
  const svg = useRef<SVGSVGElement>(null);
  const rests = useReducedMotion(false, { getInitialValueInEffect: false }) || still;
  useEffect(() => {
    const picture = svg.current;
    if (rests || !picture || !moves(d)) return;
    const move = (ms: number) => {
      for (const [name, value] of Object.entries(movingAt(d, ms))) picture.style.setProperty(name, value);
    };
    move(lastBeat());
    const end = eachBeat(move);
    return () => {
      end();
      for (const name of Object.keys(movingAt(d, 0))) picture.style.removeProperty(name);
    };
  }, [d, rests]);
  return svg;
}

/** A robot as it is now, or as a timeline has it: seen from the front, so its left is on the right. */
export const DrawnRobot = memo(function DrawnRobot({ of: d, name, bust, width, decorative, still }: Props) {
  const t = useDrawnTexts();
  const svg = useBeats(d, still);
  const has = (kind: UnitKind) => d.has.includes(kind);
  const style = {
    width,
    '--robot': d.color && `var(--mantine-color-${d.color}-5)`,
    '--led': has('led') && d.led ? (d.led.color ?? '#ffffff') : undefined,
  } as CSSProperties;
  const sentence = sentenceOf(d, t, name);
  return (
    <svg
      ref={svg}
      viewBox={bust ? '42 44 76 62' : '12 0 136 164'}
      className={css.robot}
      style={style}
      data-over={d.over}
      data-testid="drawn-robot"
      {...(decorative ? { 'aria-hidden': true } : { role: 'img', 'aria-label': sentence })}
    >
      <g className={css.figure}>
        {!bust && <ellipse cx="80" cy="156" rx="40" ry="5" className={css.floor} />}
        {!bust && has('drive') && <Wheels />}
        {!bust && <Torso d={d} has={has} />}
        {(has('head') || has('face')) && <Head d={d} turns={has('head')} face={has('face')} led={has('led')} />}
        {!has('head') && !has('face') && bust && (
          <rect x="54" y="56" width="52" height="44" rx="10" className={css.shell} />
        )}
        {!bust && d.drive && has('drive') && <Ways {...d.drive} />}
        {!bust && d.sound && <Sound name={d.sound} />}
      </g>
      {!bust && d.says && <Bubble words={d.says} />}
      {!bust && d.driven && <Sign at={[30, 116]} kind="driven" />}
      {!bust && d.charging && <Sign at={[130, 138]} kind="charging" />}
      {!bust && d.muted && has('speaker') && <Sign at={[30, 138]} kind="muted" />}
      {d.over && <Sign at={bust ? [105, 94] : [126, 112]} kind={d.over} />}
    </svg>
  );
});

function Wheels() {
  return (
    <>
      <rect x="50" y="140" width="15" height="16" rx="6" className={css.wheel} />
      <rect x="95" y="140" width="15" height="16" rx="6" className={css.wheel} />
    </>
  );
}

function Torso({ d, has }: { d: Drawn; has: (kind: UnitKind) => boolean }) {
  return (
    <>
      <path d="M58 108 h44 q8 0 9 8 l4 26 q1 6 -6 6 h-58 q-7 0 -6 -6 l4 -26 q1 -8 9 -8z" className={css.shell} />
      <path d="M49 132 h62 l1.6 10 q1 6 -6 6 h-53 q-7 0 -6 -6z" className={css.own} />
      {has('led') && (
        <>
          {d.led && <circle cx="80" cy="120" r="11" className={css.glow} data-pattern={d.led.pattern} />}
          <circle cx="80" cy="120" r="5.5" className={css.led} data-pattern={d.led?.pattern} />
        </>
      )}
      {has('speaker') && <path d="M92 116 v8 M96 116 v8 M100 116 v8" stroke="var(--edge)" strokeWidth="1.6" />}
      {has('screen') && <rect x="58" y="114" width="13" height="11" rx="2" className={css.dark} />}
    </>
  );
}

/** The most px by which what is on a head moves when it turns. */
const [aside, upDown] = [11, 7];

function Head({ d, turns, face, led }: { d: Drawn; turns: boolean; face: boolean; led: boolean }) {
  const { yawRad = 0, pitchRad = 0, rollRad = 0 } = turns ? (d.head ?? {}) : {};
  const [x, y] = [aside * Math.sin(yawRad), -upDown * Math.sin(pitchRad) * 1.4];
  const features = featuresOf(d.face);
  const pattern = d.led?.pattern;
  return (
    <>
      {turns && <rect x="73" y="98" width="14" height="13" className={css.wheel} />}
      <g className={css.head} style={{ transform: `rotate(${-rollRad}rad)`, transformOrigin: '80px 102px' }}>
        {led && (
          <>
            <rect x="46" y="69" width="8" height="18" rx="4" className={css.led} data-pattern={pattern} />
            <rect x="106" y="69" width="8" height="18" rx="4" className={css.led} data-pattern={pattern} />
          </>
        )}
        <rect x="51" y="52" width="58" height="50" rx="16" className={css.shell} />
        <g className={css.features} style={{ transform: `translate(${x / 2}px, ${y / 2}px)` }}>
          <rect x="58" y="60" width="44" height="34" rx="11" className={css.dark} />
        </g>
        <g className={css.features} style={{ transform: `translate(${x}px, ${y}px)` }}>
          {face ? (
            <Face f={features} talks={!!d.says} />
          ) : (
            <rect x="66" y="73" width="28" height="5" rx="2.5" className={css.eye} />
          )}
        </g>
      </g>
    </>
  );
}

function Face({ f, talks }: { f: Features; talks: boolean }) {
  return (
    <>
      <Eye x={70} kind={f.eyes} />
      <Eye x={90} kind={f.eyes === 'wink' ? 'arcs' : f.eyes} />
      {f.name ? (
        <text x="80" y="91" className={css['face-name']}>
          {f.name.slice(0, 10)}
        </text>
      ) : talks ? (
        <ellipse cx="80" cy="86" rx="5.5" ry="3.6" className={`${css.eye} ${css.talks}`} />
      ) : (
        <Mouth kind={f.mouth} />
      )}
    </>
  );
}

function Eye({ x, kind }: { x: number; kind: Features['eyes'] }) {
  switch (kind) {
    case 'wide':
      return <circle cx={x} cy="73" r="6" className={css.eye} />;
    case 'half':
      return <path d={`M${x - 4.5} 74 a4.5 4.5 0 0 0 9 0z`} className={css.eye} />;
    case 'arcs':
      return <path d={`M${x - 4.5} 75 q4.5 -6 9 0`} className={css.stroke} />;
    case 'up':
      return <circle cx={x + 1.5} cy="70" r="4" className={css.eye} />;
    case 'cross':
      return <path d={`M${x - 4} 69 l8 8 m0 -8 l-8 8`} className={css.stroke} />;
    default:
      return <circle cx={x} cy="73" r="4.5" className={css.eye} />;
  }
}

const mouths: Record<Exclude<Features['mouth'], 'laugh' | 'round'>, string> = {
  line: 'M74 86 h12',
  smile: 'M73 84 q7 7 14 0',
  sad: 'M73 88 q7 -7 14 0',
  aside: 'M77 87 q5 -4 10 -1',
};

function Mouth({ kind }: { kind: Features['mouth'] }) {
  if (kind === 'laugh') return <path d="M72 82 h16 q-1 9 -8 9 q-7 0 -8 -9z" className={css.eye} />;
  if (kind === 'round') return <circle cx="80" cy="87" r="3.6" className={css.eye} />;
  return <path d={mouths[kind]} className={css.stroke} />;
}

/** px of a line in a bubble. */
const line = 12;

function Bubble({ words }: { words: string }) {
  const lines = linesOf(words);
  const widest = Math.max(...lines.map((l) => l.length));
  const width = Math.min(140, widest * 6 + 18);
  const height = lines.length * line + 8;
  const bottom = 46;
  const [x, y] = [80 - width / 2, bottom - height];
  return (
    <g>
      <path
        d={`M${x + 8} ${y} h${width - 16} q8 0 8 8 v${height - 16} q0 8 -8 8 h${-(width / 2 - 14)} l-6 6 l-4 -6 h${-(width / 2 - 12)} q-8 0 -8 -8 v${-(height - 16)} q0 -8 8 -8z`}
        className={css.bubble}
      />
      {lines.map((text, k) => (
        <text key={k} x="80" y={y + 13 + k * line} className={css.words}>
          {text}
        </text>
      ))}
    </g>
  );
}

function Sound({ name }: { name: string }) {
  return (
    <>
      <path d="M122 74 q5 6 0 12 M128 69 q9 11 0 22 M134 64 q13 16 0 32" className={css.wave} />
      <text x="134" y="57" className={css.note}>
        {name.length > 11 ? `${name.slice(0, 10)}…` : name}
      </text>
    </>
  );
}

/** Arrows of the way that it drives: down is forward, towards who looks at it. */
function Ways({ forward, left }: { forward: number; left: number }) {
  return (
    <>
      {forward > 0 && <path d="M72 158 l8 5 l8 -5" className={css.way} />}
      {forward < 0 && <path d="M72 162 l8 -5 l8 5" className={css.way} />}
      {left > 0 && <path d="M118 146 q10 4 2 11 m6 -3 l-7 4 l-1 -7" className={css.way} />}
      {left < 0 && <path d="M42 146 q-10 4 -2 11 m-6 -3 l7 4 l1 -7" className={css.way} />}
    </>
  );
}

const signs: Record<Over | 'driven' | 'charging' | 'muted', string> = {
  stopped: 'M-3.5 -3.5 h7 v7 h-7z',
  attention: 'M0 -5 v6 M0 4.4 v.2',
  paused: 'M-2.6 -4 v8 M2.6 -4 v8',
  asleep: 'M-3.5 -4 h7 l-7 8 h7',
  away: 'M-4 -4 l8 8 M4 -4 l-8 8',
  driven: 'M-5 2 q0 -5 5 -5 t5 5 q-1.4 2 -3 -.6 h-4 q-1.600 2.600 -3 .6z',
  charging: 'M1 -6 l-4 6.500 h6 l-4 6',
  muted: 'M-5 -2 h2.500 l4 -3 v10 l-4 -3 h-2.500z M3.500 -2 l4 4 m0 -4 l-4 4',
};

function Sign({ at: [x, y], kind }: { at: [number, number]; kind: keyof typeof signs }) {
  return (
    <g transform={`translate(${x} ${y})`} data-sign={kind}>
      {kind === 'stopped' ? (
        <path d="M-5 -12 h10 l7 7 v10 l-7 7 h-10 l-7 -7 v-10z" className={`${css.badge} ${css.stopped}`} />
      ) : (
        <circle r="11" className={`${css.badge} ${css[kind]}`} />
      )}
      <path d={signs[kind]} className={css.sign} />
    </g>
  );
}
