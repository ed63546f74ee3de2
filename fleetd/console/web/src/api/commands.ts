// Made from the rows of operations: go test ./fleetd/cli -run CommandsOfTheConsole -update

/** The command of an operation: its words, then where its arguments and the values of its flags are in a request. */
export interface Command {
  words: string[];
  args: string[];
  flags: [flag: string, place: string][];
}

export const commands: Record<string, Command> = {
  'adopt-robot': {
    words: ['adopt'],
    args: ['path.id'],
    flags: [],
  },
  'make-enrolment-token': {
    words: ['robot', 'enrol'],
    args: ['path.id'],
    flags: [['serial', 'body.serial'], ['valid', 'body.valid_ms']],
  },
  'revoke-robot': {
    words: ['robot', 'revoke'],
    args: ['path.id'],
    flags: [],
  },
  'revoke-certificate': {
    words: ['ca', 'revoke'],
    args: ['path.serial'],
    flags: [],
  },
  'decommission': {
    words: ['robot', 'decommission'],
    args: ['path.id'],
    flags: [['yes', 'body.yes']],
  },
  'delete-act': {
    words: ['act', 'delete'],
    args: ['path.id'],
    flags: [['expect-stories', 'query.expected_stories'], ['expect-activities', 'query.expected_activities'], ['expect-robots', 'query.expected_robots'], ['yes-clear-default', 'query.clear']],
  },
  'recover-act': {
    words: ['act', 'recover'],
    args: ['path.id'],
    flags: [],
  },
  'restore-act': {
    words: ['act', 'restore'],
    args: ['path.id', 'path.rev'],
    flags: [],
  },
  'duplicate-act': {
    words: ['act', 'duplicate'],
    args: ['path.id', 'body.id'],
    flags: [],
  },
  'delete-story': {
    words: ['story', 'delete'],
    args: ['path.id'],
    flags: [['expect-stories', 'query.expected_stories'], ['expect-activities', 'query.expected_activities'], ['expect-robots', 'query.expected_robots'], ['yes-clear-default', 'query.clear']],
  },
  'recover-story': {
    words: ['story', 'recover'],
    args: ['path.id'],
    flags: [],
  },
  'restore-story': {
    words: ['story', 'restore'],
    args: ['path.id', 'path.rev'],
    flags: [],
  },
  'duplicate-story': {
    words: ['story', 'duplicate'],
    args: ['path.id', 'body.id'],
    flags: [],
  },
  'delete-activity': {
    words: ['activity', 'delete'],
    args: ['path.id'],
    flags: [['expect-stories', 'query.expected_stories'], ['expect-activities', 'query.expected_activities'], ['expect-robots', 'query.expected_robots'], ['yes-clear-default', 'query.clear']],
  },
  'recover-activity': {
    words: ['activity', 'recover'],
    args: ['path.id'],
    flags: [],
  },
  'restore-activity': {
    words: ['activity', 'restore'],
    args: ['path.id', 'path.rev'],
    flags: [],
  },
  'duplicate-activity': {
    words: ['activity', 'duplicate'],
    args: ['path.id', 'body.id'],
    flags: [],
  },
  'ask-record': {
    words: ['robot', 'record'],
    args: ['path.id'],
    flags: [['last', 'body.last_ms']],
  },
  'delete-asset': {
    words: ['asset', 'delete'],
    args: ['path.name'],
    flags: [],
  },
  'assign': {
    words: ['story', 'assign'],
    args: ['body.story'],
    flags: [['rev', 'body.rev'], ['apply', 'body.apply']],
  },
  'assign-activities': {
    words: ['activity', 'assign'],
    args: ['body.activities'],
    flags: [],
  },
  'revert-assignment': {
    words: ['story', 'revert'],
    args: [],
    flags: [['apply', 'body.apply']],
  },
  'cancel-command': {
    words: ['command', 'cancel'],
    args: ['path.id'],
    flags: [],
  },
  'stop': {
    words: ['stop'],
    args: [],
    flags: [['level', 'body.level']],
  },
  'release-stops': {
    words: ['stop', 'release'],
    args: ['body.ids'],
    flags: [],
  },
  'ack-alert': {
    words: ['alert', 'ack'],
    args: ['path.id', 'path.alert'],
    flags: [['note', 'body.note']],
  },
  'end-session': {
    words: ['session', 'end'],
    args: ['path.id'],
    flags: [],
  },
  'add-user': {
    words: ['user', 'add'],
    args: ['body.name'],
    flags: [['display', 'body.display'], ['role', 'body.roles'], ['site', 'body.sites']],
  },
  'change-user': {
    words: ['user', 'set'],
    args: ['path.name'],
    flags: [['display', 'body.display'], ['role', 'body.roles'], ['site', 'body.sites'], ['subject', 'body.subject']],
  },
  'make-access-token': {
    words: ['token', 'create'],
    args: ['body.name'],
    flags: [['user', 'body.user'], ['role', 'body.roles'], ['days', 'body.days']],
  },
  'revoke-access-token': {
    words: ['token', 'revoke'],
    args: ['path.id'],
    flags: [],
  },
};
