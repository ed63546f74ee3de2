import {
  IconAlertTriangle,
  IconClock,
  IconHandStop,
  IconMoon,
  IconPlayerPlay,
  IconPlugConnectedX,
} from '@tabler/icons-react';
import { useSyncExternalStore } from 'react';
import { Link } from 'react-router';

import type { Robot } from '../../api/client';
import { useNamesIn } from '../../live/entries';
import { useAlertName } from '../../live/AlertText';
import { colorLabel, nameLabel } from '../../live/drawnFrom';
import { performing, type Tone } from '../../live/performing';
import { doesText, toneColor, useAbout, usePerformingTexts, useTermsText } from '../../live/PerformingBadge';
import { fullName, robotName } from '../../live/RobotName';
import { fleetdNow } from '../../live/stream';
import { whoText } from '../../text/triggers';
import { presenceText } from '../../text/presence';
import { alertSays, ownBeside, useAlertWords } from '../../text/alerts';
import { useModeWord } from '../../text/modes';
import { reasonText, useReasonTexts, whyText } from '../../text/reasons';
import { usePresenceWords, withTerm } from '../../text/terms';
import { ago } from '../../text/time';
import { useNameOf } from '../library/api';
import classes from './robots.module.css';
import { useActs } from './stories';
import { useRobotsTexts } from './text';

const icons: Record<Tone, typeof IconClock> = {
  good: IconPlayerPlay,
  waiting: IconClock,
  attention: IconAlertTriangle,
  stopped: IconHandStop,
  away: IconPlugConnectedX,
};

const pillStyle = Object.fromEntries(
  Object.entries(toneColor).map(([tone, color]) => [
    tone,
    {
      '--pill': `var(--mantine-color-${color}-light)`,
      '--pill-text': `var(--mantine-color-${color}-light-color)`,
    } as React.CSSProperties,
  ]),
) as Record<Tone, React.CSSProperties>;

/** What a robot does, in words and with a symbol. */
export function Doing({ r }: { r: Robot }) {
  const words = usePerformingTexts();
  const about = useAbout();
  const terms = useTermsText();
  const p = performing(r);
  const Icon = r.doing === 'asleep' ? IconMoon : icons[p.tone];
  return (
    <span className={classes.pill} style={pillStyle[p.tone]} title={[about(p.of), terms(p)].filter(Boolean).join('\n')}>
      <Icon size={13} aria-hidden style={{ flex: 'none' }} />
      <span>{doesText(words, r)}</span>
    </span>
  );
}

const clockListeners = new Set<() => void>();
let ticks = 0;
setInterval(() => {
  ticks++;
  clockListeners.forEach((tell) => tell());
}, 10_000);

function subscribeClock(tell: () => void): () => void {
  clockListeners.add(tell);
  return () => clockListeners.delete(tell);
}

/** How long ago something was; it counts on. */
export function Age({ at }: { at: string }) {
  useSyncExternalStore(subscribeClock, () => ticks);
  return <>{ago(fleetdNow() - Date.parse(at))}</>;
}

export function Presence({ r }: { r: Robot }) {
  const words: Record<string, string> = usePresenceWords();
  const p = r.presence;
  return (
    <span
      className={classes.whole}
      title={[withTerm(words, p.status), p.why && presenceText(p)].filter(Boolean).join(': ')}
    >
      {words[p.status] ?? p.status}
      {p.status !== 'online' && p.last_seen && (
        <span className={classes.dim}>
          {' '}
          <Age at={p.last_seen} />
        </span>
      )}
    </span>
  );
}

/** The mode that is reported, and the requested one beside it while they differ. */
export function Mode({ r }: { r: Robot }) {
  const t = useRobotsTexts();
  const name = useModeWord();
  if (!r.mode) return <>–</>;
  return (
    <span title={[r.mode, r.mode_phase].filter(Boolean).join(', ')}>
      {name(r.mode)}
      {r.intended && r.intended !== r.mode && <span className={classes.dim}> → {t.requested(name(r.intended))}</span>}
    </span>
  );
}

export function Story({ r }: { r: Robot }) {
  const t = useRobotsTexts();
  const acts = useActs(r.story);
  const name = useNameOf('story');
  const reasons: Record<string, string> = useReasonTexts();
  const { desired } = r;
  const waits = desired.story && !desired.converged;
  const whole = [
    [r.story?.id, r.act, r.act && t.act((r.act_index ?? 0) + 1, acts)].filter(Boolean).join(', '),
    waits &&
      [t.assigned(name(desired.story!.id)), reasonText(reasons, desired.reason, desired.detail)]
        .filter(Boolean)
        .join(', '),
  ]
    .filter(Boolean)
    .join('\n');
  if (!r.story && !desired.story) return <span className={classes.dim}>{t.noStory}</span>;
  return (
    <span dir="auto" className={classes.whole} title={whole}>
      {r.story ? name(r.story.id) : '–'}
      {r.story && r.act && (
        <>
          {' '}
          <span className={`${classes.dim} one-line`}>{t.act((r.act_index ?? 0) + 1, acts)}</span>
        </>
      )}
      {waits && (
        <span className={classes.dim}>
          {' '}
          → {t.assigned(name(desired.story!.id))}
          {desired.progress != null ? ` ${desired.progress} %` : ''}
          {desired.reason ? ` (${whyText(reasons, desired.reason)})` : ''}
        </span>
      )}
    </span>
  );
}

export function Interrupts({ r }: { r: Robot }) {
  if (r.interrupts.length === 0) return <>–</>;
  return (
    <span dir="auto" title={r.interrupts.map((i) => `${i.handler} (${whoText(i.interrupter)})`).join(', ')}>
      {r.interrupts[0]!.handler}
      {r.interrupts.length > 1 ? ` +${r.interrupts.length - 1}` : ''}
    </span>
  );
}

export function Alerts({ r }: { r: Robot }) {
  const name = useAlertName();
  const alerts = useAlertWords();
  const named = useNamesIn();
  if (r.alerts.length === 0) return <>–</>;
  return (
    <span
      dir="auto"
      className={classes.ifRoom}
      title={r.alerts
        .map((a) => ({ ...a, hint: undefined }))
        .map((a) => [`${name(a)}, ${alertSays(alerts, named(a))}`, ownBeside(alerts, a)].filter(Boolean).join('; '))
        .join('\n')}
    >
      <span>
        <IconAlertTriangle size={13} aria-hidden /> {r.alerts.length}
      </span>
      <span className={classes.dim}>{name(r.alerts[0]!)}</span>
    </span>
  );
}

export function Site({ r }: { r: Robot }) {
  const { site, [nameLabel]: _name, [colorLabel]: _color, ...others } = r.labels;
  const rest = Object.entries(others)
    .map(([k, v]) => `${k}=${v}`)
    .join(' ');
  return (
    <span dir="auto" title={[site, rest].filter(Boolean).join(' ')}>
      {site ?? '–'} <span className={classes.dim}>{rest}</span>
    </span>
  );
}

export function Control({ r }: { r: Robot }) {
  return <span dir="auto">{r.control ? r.control.by || r.control.holder : '–'}</span>;
}

export function RoundTrip({ r }: { r: Robot }) {
  const t = useRobotsTexts();
  return <>{r.presence.round_trip_ms ? t.ms(r.presence.round_trip_ms) : '–'}</>;
}

export function Name({ r }: { r: Robot }) {
  const name = robotName(r);
  return (
    <Link
      className={`${classes.name} ${classes.whole}`}
      to={`/robots/${encodeURIComponent(r.id)}`}
      title={name === r.id ? undefined : fullName(r)}
      onClick={(e) => e.stopPropagation()}
    >
      <bdi>{name}</bdi>
      {name !== r.id && <span className={classes.dim}> {r.id}</span>}
    </Link>
  );
}
