// Made from the rows of operations: go test ./fleetd/cli -run CommandsOfTheConsole -update

/** The command of an operation: its words, then where its arguments and the values of its flags are in a request. */
export interface Command {
  words: string[];
  args: string[];
  flags: [flag: string, place: string][];
}

export const commands: Record<string, Command> = {
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
  'ask-record': {
    words: ['robot', 'record'],
    args: ['path.id'],
    flags: [['last', 'body.last_ms']],
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
