import {
  IconBell,
  IconBellRinging,
  IconBolt,
  IconBook2,
  IconCalendarTime,
  IconChecklist,
  IconLayoutDashboard,
  IconMapPin,
  IconMasksTheater,
  IconMusic,
  IconRipple,
  IconRobot,
  IconSend,
  IconSettings,
  IconShare3,
  IconTags,
  IconUser,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { RouteObject } from 'react-router';

import type { Listed, Send } from '../shell/screens';
import { Shell } from '../shell/Shell';
import { Failed } from './Failed';
import { NotFound } from './NotFound';

interface Screen extends Listed {
  load: () => Promise<{ default: ComponentType }>;
}

/** Every screen, in the order of the navigation. */
const screens: readonly Screen[] = [
  {
    path: '/',
    nav: 'overview',
    group: 'run',
    icon: IconLayoutDashboard,
    shortcut: 'o',
    right: 'view',
    load: () => import('./overview/Overview'),
  },
  {
    path: '/robots',
    nav: 'robots',
    group: 'run',
    icon: IconRobot,
    shortcut: 'r',
    right: 'view',
    load: () => import('./robots/Robots'),
  },
  { path: '/robots/:id/manual', right: 'view', load: () => import('./manual/Manual') },
  { path: '/robots/:id/:tab?', right: 'view', load: () => import('./robot/Robot') },
  {
    path: '/assign',
    nav: 'assign',
    group: 'run',
    icon: IconShare3,
    shortcut: 'n',
    right: 'view',
    load: () => import('./assign/Assign'),
  },
  {
    path: '/rollouts',
    nav: 'rollouts',
    group: 'run',
    icon: IconRipple,
    shortcut: 'w',
    right: 'view',
    load: () => import('./rollouts/Rollouts'),
  },
  { path: '/rollouts/:id', right: 'view', load: () => import('./rollouts/Rollout') },
  {
    path: '/policies',
    nav: 'policies',
    group: 'run',
    icon: IconTags,
    shortcut: 'i',
    right: 'view',
    load: () => import('./policies/Policies'),
  },
  { path: '/policies/:id', right: 'view', load: () => import('./policies/PolicyPage') },
  {
    path: '/schedules',
    nav: 'schedules',
    group: 'run',
    icon: IconCalendarTime,
    shortcut: 'd',
    right: 'view',
    load: () => import('./schedules/Schedules'),
  },
  { path: '/schedules/:id', right: 'view', load: () => import('./schedules/SchedulePage') },
  {
    path: '/stories',
    nav: 'stories',
    group: 'write',
    icon: IconBook2,
    shortcut: 't',
    right: 'view',
    load: () => import('./library/Stories'),
  },
  { path: '/stories/:id', right: 'view', load: () => import('./editor/StoryEditor') },
  {
    path: '/acts',
    nav: 'acts',
    group: 'write',
    icon: IconMasksTheater,
    shortcut: 'a',
    right: 'view',
    load: () => import('./library/Acts'),
  },
  { path: '/acts/:id', right: 'view', load: () => import('./editor/ActEditor') },
  {
    path: '/activities',
    nav: 'activities',
    group: 'write',
    icon: IconBolt,
    shortcut: 'y',
    right: 'view',
    load: () => import('./library/Activities'),
  },
  { path: '/activities/:id', right: 'view', load: () => import('./editor/ActivityEditor') },
  {
    path: '/places',
    nav: 'places',
    group: 'write',
    icon: IconMapPin,
    shortcut: 'p',
    right: 'view',
    load: () => import('./places/Places'),
  },
  {
    path: '/assets',
    nav: 'assets',
    group: 'write',
    icon: IconMusic,
    shortcut: 'f',
    right: 'view',
    load: () => import('./assets/Assets'),
  },
  {
    path: '/commands',
    nav: 'commands',
    group: 'back',
    icon: IconSend,
    shortcut: 'c',
    right: 'view',
    load: () => import('./commands/Commands'),
  },
  {
    path: '/events',
    nav: 'events',
    group: 'back',
    icon: IconBell,
    shortcut: 'e',
    right: 'view',
    load: () => import('./events/Events'),
  },
  {
    path: '/audit',
    nav: 'audit',
    group: 'back',
    icon: IconChecklist,
    shortcut: 'l',
    right: 'audit',
    load: () => import('./audit/Audit'),
  },
  {
    path: '/notifications',
    nav: 'notifications',
    group: 'admin',
    icon: IconBellRinging,
    shortcut: 'b',
    right: 'administer',
    load: () => import('./notifications/Notifications'),
  },
  {
    path: '/admin',
    nav: 'admin',
    group: 'admin',
    icon: IconSettings,
    shortcut: 'u',
    right: 'administer',
    load: () => import('./admin/Admin'),
  },
  {
    path: '/account',
    menu: true,
    nav: 'account',
    icon: IconUser,
    right: 'own',
    load: () => import('./account/Account'),
  },
  { path: '/command-line', right: 'own', load: () => import('./account/AllowLogin') },
];

/** Screens without the frame, such as the sign-in. */
export const bare: readonly Omit<Screen, 'right'>[] = [{ path: '/sign-in', load: () => import('./signin/SignIn') }];

const routeOf = (s: Omit<Screen, 'right'>): RouteObject => ({
  path: s.path,
  // The frame stays, with its stop, whatever a screen does.
  errorElement: <Failed />,
  lazy: async () => ({ Component: (await s.load()).default }),
});

/** Sends a command to a robot; not for the first load. */
const send: Send = async (...command) => (await import('./robot/sending')).send(...command);

export const routes: RouteObject[] = [
  ...bare.map(routeOf),
  {
    element: <Shell screens={screens} send={send} />,
    children: [...screens.map(routeOf), { path: '*', element: <NotFound /> }],
  },
];
