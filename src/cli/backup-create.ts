import { rmSync } from 'node:fs'
import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { addExample, addSettingFlags } from './flags.ts'
import { writeNewFile, refuseExisting } from './write-file.ts'
import { withSidecar } from './connect.ts'
import { isStdoutTerminal, print, printFile, printNotice } from './terminal.ts'

/** `postern backup create`: the whole store in one file, while the sidecar runs or not. */
export function backupCreateCommand(): Command {
  const command = new Command('create')
    .description('copy the whole store into one file, still under its protection')
    .argument('<file>', 'a new file, for its owner alone; - is stdout')
    .option('--force', 'replace the file when it is there')
  addSettingFlags(command, { shown: false })
  return addExample(command, 'postern backup create postern.backup').action(create)
}

async function create(
  path: string,
  { force = false }: { force?: boolean },
  command: Command,
): Promise<void> {
  const isStdout = path === '-'
  if (!isStdout) refuseExisting(path, { force })
  else if (isStdoutTerminal()) throw onTerminal()
  await withSidecar(command, async (sidecar) => {
    const { file, protection } = await sidecar.backupCreate()
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
  passphrase: 'it opens with the passphrase of the store: keep that too, and elsewhere',
  keychain:
    'it opens with the keychain of this user on this machine alone; for another machine, `postern key protect passphrase` comes first',
  none: 'it is not protected: whoever reads it has the secret keys',
}

function onTerminal(): OperatorError {
  return new OperatorError(
    'refused',
    'a backup is not printed to a terminal',
    'name a file, or send it on: postern backup create - > postern.backup',
  )
}
