import type { BackupReport } from '../context.ts'
import { print } from './terminal.ts'

const PROTECTIONS = {
  passphrase: 'under a passphrase, which opens it',
  keychain: 'under the OS keychain, which opens it',
  none: 'none: whoever reads the file has the secret keys',
}

/** Says what a backup holds, to people. */
export function printBackup({ takenAt, bytes, version, method, keys, counts }: BackupReport): void {
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
