/** `postern store move`: the whole store, from a data directory into PostgreSQL or back. */
import { resolve } from 'node:path'
import { loadStoreAccess } from '../config/store-access.ts'
import { commandSecret } from '../config/passphrases.ts'
import { SecretSource } from '../config/secrets.ts'
import type { Sources } from '../config/sources.ts'
import type { MoveReport } from '../context.ts'
import { usageError } from '../errors.ts'
import { counted } from '../printable.ts'
import { OperatorCommand, printAnswer, type JsonFlag } from './operator-command.ts'
import { print, printNotice } from './terminal.ts'

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('move')
    .description('move the whole store into a database that sidecars share, or back into a folder')
    .option('--to <place>', 'postgres://… or a data directory')
    .option('--json', 'print it as JSON')
    .notes(
      `The settings say where the store is now. Stop every sidecar of the bot first. A
URL that holds a password is better given in the environment, in place of --to:
  POSTERN_NEW_STORE_URL       the database that the store moves into
  POSTERN_NEW_STORE_URL_FILE  file that holds it
store.schema and store.caFile count for the new place too. Of several bots,
--bot names the one whose store moves, by itself into a schema after its name.
Whatever ends a move on its way: run it again, and it goes on where it stopped.`,
    )
    .example('postern store move --to postgres://postern@db.example.org/postern')
    .runs(move),
]

async function move(sources: Sources, flags: JsonFlag & { to?: string }): Promise<void> {
  const access = loadStoreAccess(sources)
  const target = readTarget(flags.to, sources)
  const { moveStore } = await import('../context.ts')
  const report = await moveStore(target, access)
  printAnswer(report, flags, printMove)
  if (sources.bot !== null) printNotice('move the stores of all other bots too before you go on')
  printNotice(
    typeof target === 'string'
      ? `take store.url out of the settings, and set dataDir to ${report.to}`
      : 'set store.url (POSTERN_STORE_URL_FILE) to the new place; what is left in dataDir does not ' +
          'open any more, and can be removed once you are content',
  )
}

function readTarget(to: string | undefined, sources: Sources): SecretSource | string {
  const given = commandSecret('storeUrl', sources)
  if ((to === undefined) === (given === null)) {
    throw usageError(
      to === undefined ? 'no new place was given' : 'the new place was given twice',
      'give --to, or POSTERN_NEW_STORE_URL or POSTERN_NEW_STORE_URL_FILE',
    )
  }
  if (given !== null) return given
  const place = to ?? ''
  if (!/^postgres(ql)?:/.test(place)) return resolve(sources.cwd, place)
  if (URL.canParse(place) && new URL(place).password !== '') {
    printNotice('the password was on the command line, where other users of this machine see it')
  }
  return SecretSource.fromValue(place, 'database')
}

function printMove({ from, to, rows, keys }: MoveReport): void {
  print(`from   ${from}`)
  print(`to     ${to}`)
  print(`keys   ${keys}, each opened in its new place`)
  if (rows === null) return print('rows   had arrived before; the move was ended')
  const { chats = 0, pins = 0, seen = 0 } = rows
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0)
  print(
    `rows   ${all}, counted and compared: ${counted(chats, 'chat')}, ${counted(pins, 'person', 'people')}, ${counted(seen, 'trace')} of messages`,
  )
}
