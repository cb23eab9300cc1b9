/**
 * How a command ends, by what a script can do about it: 1 it failed, and trying again may help. The
 * others stay as they are until somebody acts: 2 the command line, a setting or another input is
 * wrong; 3 the store does not open; 4 an operator must decide first.
 */
export type ExitCode = 1 | 2 | 3 | 4

/**
 * Every code that a command can end with: its exit code, what happened, and what to do where the
 * error itself has no better hint. The table in src/cli/README.md is made from it.
 */
export const OPERATOR_REFUSALS = {
  usage: {
    exitCode: 2,
    what: 'the command line is wrong',
    hint: '`postern <command> --help` shows what the command takes',
  },
  settings: {
    exitCode: 2,
    what: 'a setting is missing or wrong',
    hint: '`postern config list` lists every setting, `postern config show` where each comes from',
  },
  environment: {
    exitCode: 2,
    what: 'Node is too old, or the process would not be safe to keep secrets in',
    hint: 'install, or leave out, what the message names',
  },
  listen: {
    exitCode: 1,
    what: 'a port or socket cannot be listened on',
    hint: 'choose another, or stop what listens there',
  },
  'not-running': {
    exitCode: 1,
    what: 'no sidecar runs on the data directory',
    hint: 'start it with `postern run`, or name its data directory with `--data-dir`',
  },
  'data-dir': {
    exitCode: 3,
    what: 'the data directory cannot be used',
    hint: 'it must be a folder of this user, on a local disk, closed to others',
  },
  'store-missing': {
    exitCode: 3,
    what: 'there is no store in the data directory, or in the database of `store.url`',
    hint: 'check `dataDir` and `store.url`; the first `postern run` makes the store',
  },
  'store-in-use': {
    exitCode: 1,
    what: 'another process holds the store',
    hint: 'stop that process, or give this one a `dataDir` of its own',
  },
  'store-locked': {
    exitCode: 3,
    what: 'nothing that opens the store was given',
    hint: 'give `key.passphrase`, or unlock the keychain',
  },
  'store-passphrase': {
    exitCode: 3,
    what: 'the passphrase does not open the store',
    hint: 'give the one that it was made with, or was last moved to',
  },
  'store-derivation': {
    exitCode: 3,
    what: 'this Node.js lacks Argon2id',
    hint: 'use a Node.js of nodejs.org',
  },
  'store-corrupt': {
    exitCode: 3,
    what: 'the store is damaged',
    hint: 'move the folder aside, keep it, and `postern backup restore` a backup',
  },
  'store-newer': {
    exitCode: 3,
    what: 'a later Postern wrote the store',
    hint: 'run the Postern that wrote it, or a later one',
  },
  'store-older': {
    exitCode: 3,
    what: 'a version before 0.1.0 wrote the store',
    hint: 'move the store aside; the next `postern run` makes a new one, with a new key',
  },
  'store-unwritable': {
    exitCode: 1,
    what: 'the data directory cannot be written',
    hint: 'free space on its disk, or mount it writable',
  },
  'store-unreachable': {
    exitCode: 1,
    what: 'the database of `store.url` is not reached',
    hint: 'start it, or correct `store.url`',
  },
  'store-no-database': {
    exitCode: 3,
    what: 'the server of `store.url` has no database by that name',
    hint: 'make it, owned by the user that `store.url` names',
  },
  'store-login': {
    exitCode: 3,
    what: 'the database of `store.url` does not let this user in, or asks for too much',
    hint: 'correct user and password in `store.url`; let it use SCRAM',
  },
  'store-tls': {
    exitCode: 3,
    what: 'the database of `store.url` does not prove by TLS who it is',
    hint: 'name the authority that signed its certificate in `store.caFile`',
  },
  'store-pooler': {
    exitCode: 3,
    what: 'a pooler stands before the database of `store.url`',
    hint: 'name the server itself in `store.url`',
  },
  'store-rights': {
    exitCode: 3,
    what: 'the database of `store.url` does not let this user make or use the store’s schema',
    hint: 'let the user own the schema',
  },
  'store-read-only': {
    exitCode: 1,
    what: 'the database of `store.url` is a standby, or set read-only',
    hint: 'name the primary in `store.url`, or promote this one',
  },
  'store-rolled-back': {
    exitCode: 4,
    what: 'the database of `store.url` is behind what this sidecar has seen of it',
    hint: 'point `store.url` to the primary; or remove `database.json` from `dataDir`',
  },
  'store-moved': {
    exitCode: 3,
    what: 'the store was moved elsewhere, or a move into it has not ended',
    hint: 'use it where it is now, or run the same `postern store move` again',
  },
  'store-other-bot': {
    exitCode: 3,
    what: 'the store is of another bot than the token',
    hint: 'give each bot its own `dataDir`, or `store.schema`',
  },
  'store-restored': {
    exitCode: 4,
    what: 'the store comes from a backup and is not accepted yet',
    hint: '`postern backup accept` compares it with the service and lets it run',
  },
  protection: {
    exitCode: 3,
    what: 'the store has another protection than the settings name, or none',
    hint: '`postern key protect` moves it',
  },
  keychain: {
    exitCode: 3,
    what: 'the keychain of the operating system cannot be used',
    hint: 'mend what the message names, or use `key.protection: passphrase`',
  },
  'key-command': {
    exitCode: 1,
    what: 'the command of `key.passphraseCommand` or `key.protection` failed',
    hint: 'run it by hand',
  },
  passphrase: {
    exitCode: 2,
    what: 'a passphrase that the command needs is missing or wrong',
    hint: 'type it at a terminal, or give it in the environment variable that the message names',
  },
  'number-differs': {
    exitCode: 1,
    what: 'the safety number is another than the person’s app shows; nothing was changed',
    hint: 'do what the hint says before you trust this person',
  },
  'scenario-differs': {
    exitCode: 1,
    what: 'the bot did not do what a step of the scenario expects',
    hint: 'read the chat and the bot’s log, or save the scenario again on the page',
  },
  refused: {
    exitCode: 1,
    what: 'Postern does not do this',
    hint: 'do what the message says first',
  },
  failed: {
    exitCode: 1,
    what: 'it was tried and did not work',
    hint: 'see the message and the log of the sidecar, and try again',
  },
} as const satisfies Record<string, { exitCode: ExitCode; what: string; hint: string }>

/** Exit codes of bots' refusals that commands meet too. All others end a command with 1. */
export const REFUSAL_EXIT_CODES: Readonly<Partial<Record<string, ExitCode>>> = {
  postern_key_conflict: 4,
}
