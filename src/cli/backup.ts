/** `postern backup`: copies of the whole store. */
import { rmSync } from 'node:fs'
import { loadStoreDir, loadStoreAccess } from '../config/store-access.ts'
import type { BackupReport } from '../context.ts'
import { locateCopy } from '../operators/backup-copy.ts'
import { refusedError } from '../errors.ts'
import { counted } from '../printable.ts'
import { withSidecar, OperatorCommand, printAnswer, type JsonFlag } from './operator-command.ts'
import { isStdoutTerminal, print, printFile, printNotice } from './terminal.ts'
import { refuseExisting, writeNewFile } from './files.ts'

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('create')
    .description('copy the whole store into one file, under the same protection')
    .argument('<file>', 'a new file that only you can read; - is stdout')
    .option('--force', 'replace the file if it exists')
    .example('postern backup create postern.backup')
    .runs(async (sources, path: string, { force = false }: { force?: boolean }) => {
      const isStdout = path === '-'
      if (!isStdout) refuseExisting(path, { force })
      else if (isStdoutTerminal()) {
        const hint = 'name a file, or send it on: `postern backup create - > postern.backup`'
        throw refusedError('a backup is not printed to a terminal', hint)
      }
      await withSidecar(sources, async (sidecar, found) => {
        const storeDir = loadStoreDir(found)
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
    }),
  new OperatorCommand('verify')
    .description('open a backup as the store is opened, and show what it holds')
    .argument('<file>', 'the backup')
    .option('--json', 'print it as JSON')
    .example('postern backup verify postern.backup')
    .runs(async (sources, file: string, flags: JsonFlag) => {
      const access = loadStoreAccess(sources)
      const { verifyBackup } = await import('../context.ts')
      printAnswer(await verifyBackup(file, access), flags, printBackup)
    }),
  new OperatorCommand('restore')
    .description('verify a backup and put it into a data directory that holds no store')
    .argument('<file>', 'the backup')
    .example('postern backup restore postern.backup')
    .runs(async (sources, file: string) => {
      const access = loadStoreAccess(sources)
      const { restoreBackup } = await import('../context.ts')
      printBackup(await restoreBackup(file, access))
      printNotice(`restored into ${access.dataDir}; \`postern backup accept\` lets it run`)
    }),
  new OperatorCommand('accept')
    .description('compare a restored store with what the service shows, and let it run')
    .option('--latest', 'nothing ran after the backup was taken, as in a move to another machine')
    .example('postern backup accept --latest')
    .does((sidecar, { latest: isLatest = false }: { latest?: boolean }) =>
      sidecar.backupAccept({ isLatest }),
    ),
]

const OPENS = {
  passphrase:
    'it opens with the passphrase of the store: keep a copy of that too, in another place',
  keychain:
    'it opens with the keychain of this user on this machine alone; for another machine, `postern key protect passphrase` comes first',
  exec: 'it opens with the command of key.protection, and the key that it used: keep that key',
  none: 'it is not protected: whoever reads it has the secret keys',
}

/** Prints what a backup holds, for people. */
function printBackup({ takenAt, bytes, version, method, keys, counts }: BackupReport): void {
  print(`taken       ${takenAt ?? 'by other means than postern backup create'}`)
  print(`size        ${bytes} bytes, schema ${version}`)
  print(`protection  ${method === null ? 'none, and no secrets' : OPENS[method]}`)
  const lines = keys.map(({ fingerprint, state }) => `${fingerprint}, ${state}`)
  print(`keys        ${lines.join(`\n${' '.repeat(12)}`) || 'none'}`)
  const { chats = 0, people = 0, seen = 0 } = counts
  print(
    `knows       ${counted(chats, 'chat')}, ${counted(people, 'person', 'people')}, ${counted(seen, 'trace')} of messages`,
  )
}
