/** `postern backup`: copies of the whole store. */
import { rmSync } from 'node:fs'
import { Command } from 'commander'
import { loadStoreDir, loadStoreAccess } from '../config/store-access.ts'
import type { BackupReport } from '../context.ts'
import { locateCopy } from '../control/backup-copy.ts'
import { OperatorError } from '../errors.ts'
import { withSidecar } from './connect.ts'
import { sourcesOf, takeSettings } from './flags.ts'
import { isStdoutTerminal, print, printFile, printJson, printNotice } from './terminal.ts'
import { refuseExisting, writeNewFile } from './write-file.ts'

/** `postern backup create`: the whole store in one file, while the sidecar runs or not. */
export function backupCreateCommand(): Command {
  const command = new Command('create')
    .description('copy the whole store into one file, under the same protection')
    .argument('<file>', 'a new file that only you can read; - is stdout')
    .option('--force', 'replace the file if it exists')
  return takeSettings(command, 'postern backup create postern.backup').action(create)
}

async function create(
  path: string,
  { force = false }: { force?: boolean },
  command: Command,
): Promise<void> {
  const isStdout = path === '-'
  if (!isStdout) refuseExisting(path, { force })
  else if (isStdoutTerminal()) throw onTerminal()
  await withSidecar(command, async (sidecar, sources) => {
    const storeDir = loadStoreDir(sources)
    const { file: named, protection } = await sidecar.backupCreate()
    const file = locateCopy(storeDir, named)
    try {
      if (isStdout) await printFile(file)
      else print(writeNewFile(path, { from: file }, { force }))
      printNotice(
        protection === null ? 'the store has no protection, and no secrets' : OPENS[protection],
      )
    } finally {
      rmSync(file, { force: true })
    }
  })
}

const OPENS = {
  passphrase:
    'it opens with the passphrase of the store: keep a copy of that too, in another place',
  keychain:
    'it opens with the keychain of this user on this machine alone; for another machine, `postern key protect passphrase` comes first',
  none: 'it is not protected: whoever reads it has the secret keys',
}

function onTerminal(): OperatorError {
  return new OperatorError(
    'refused',
    'a backup is not printed to a terminal',
    'name a file, or send it on: `postern backup create - > postern.backup`',
  )
}

/** `postern backup verify`: opens a backup, and everything in it, and changes nothing. */
export function backupVerifyCommand(): Command {
  const command = new Command('verify')
    .description('open a backup as the store is opened, and show what it holds')
    .argument('<file>', 'the backup')
    .option('--json', 'print it as JSON')
  return takeSettings(command, 'postern backup verify postern.backup').action(verify)
}

async function verify(file: string, { json }: { json?: boolean }, command: Command): Promise<void> {
  const access = loadStoreAccess(sourcesOf(command))
  const { verifyBackup } = await import('../context.ts')
  const report = await verifyBackup(file, access)
  if (json === true) printJson(report)
  else printBackup(report)
}

/** `postern backup restore`: a backup becomes the store of an empty data directory. */
export function backupRestoreCommand(): Command {
  const command = new Command('restore')
    .description('verify a backup and put it into a data directory that holds no store')
    .argument('<file>', 'the backup')
  return takeSettings(command, 'postern backup restore postern.backup').action(restore)
}

async function restore(file: string, _options: unknown, command: Command): Promise<void> {
  const access = loadStoreAccess(sourcesOf(command))
  const { restoreBackup } = await import('../context.ts')
  printBackup(await restoreBackup(file, access))
  printNotice(`restored into ${access.dataDir}; \`postern backup accept\` lets it run`)
}

/** `postern backup accept`: lets a restored store run. */
export function backupAcceptCommand(): Command {
  const command = new Command('accept')
    .description('compare a restored store with what the service shows, and let it run')
    .option('--latest', 'nothing ran after the backup was taken, as in a move to another machine')
  return takeSettings(command, 'postern backup accept --latest').action(accept)
}

async function accept({ latest }: { latest?: boolean }, command: Command): Promise<void> {
  const isLatest = latest === true
  printNotice((await withSidecar(command, (sidecar) => sidecar.backupAccept({ isLatest }))).message)
}

const PROTECTIONS = {
  passphrase: 'under a passphrase, which opens it',
  keychain: 'under the OS keychain, which opens it',
  none: 'none: whoever reads the file has the secret keys',
}

/** Prints what a backup holds, for people. */
function printBackup({ takenAt, bytes, version, method, keys, counts }: BackupReport): void {
  print(`taken       ${takenAt ?? 'by other means than postern backup create'}`)
  print(`size        ${bytes} bytes, schema ${version}`)
  print(`protection  ${method === null ? 'none, and no secrets' : PROTECTIONS[method]}`)
  if (keys.length === 0) print('keys        none')
  for (const [index, { fingerprint, state }] of keys.entries()) {
    print(`${index === 0 ? 'keys  ' : '      '}      ${fingerprint}, ${state}`)
  }
  const { chats = 0, people = 0, seen = 0 } = counts
  print(`knows       ${chats} chats, ${people} people, ${seen} traces of messages`)
}
