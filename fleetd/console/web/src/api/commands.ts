// Made from the rows of operations: go test ./fleetd/cli -run CommandsOfTheConsole -update

/** The command of an operation: its words, then where its arguments and the values of its flags are in a request. */
export interface Command {
  words: string[];
  args: string[];
  flags: [flag: string, place: string][];
}

export const commands: Record<string, Command> = {
  'ack-alert': {
    words: ['alert', 'ack'],
    args: ['path.id', 'path.alert'],
    flags: [['note', 'body.note']],
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
