/** `postern trust import`: verifies people by a signed list of fingerprints. */
import { usageError } from '../errors.ts'
import { withSidecar } from './connect.ts'
import { OperatorCommand, type JsonFlag } from './operator-command.ts'
import { confirmTyped } from './prompts.ts'
import { readInput } from './read-input.ts'
import { print, printJson, printNotice } from './terminal.ts'

interface ImportFlags extends JsonFlag {
  by?: string
  signature?: string
  unsigned?: boolean
  pattern?: string
  notation?: string
  unknown?: boolean
  yes?: boolean
}

const MAX_BYTES = 2 ** 20

export const importCommand = (): OperatorCommand =>
  new OperatorCommand('import')
    .description('verify people by a signed list of fingerprints')
    .argument('<file>', 'lines of userId,fingerprint, or a keyring; - is stdin')
    .option('--by <file>', 'the certificate of who signed it')
    .option('--signature <file>', 'a detached signature')
    .option('--unsigned', 'nobody signed it')
    .option('--pattern <text>', 'of user ids in a keyring, with {userId} in place of the id')
    .option('--notation <name>', 'the notation whose value is the id')
    .option('--unknown', 'verify people too of whom nothing is known yet')
    .option('--yes', 'do not ask')
    .option('--json', 'print the result as JSON')
    .example('postern trust import people.csv --signature people.csv.sig --by ca.asc')
    .runs(async (sources, path: string, o: ImportFlags) => {
      if ((o.by === undefined) !== (o.unsigned === true)) {
        const hint = 'who signed the list decides what it is worth'
        throw usageError('give either --by or --unsigned', hint)
      }
      const read = async (file: string | undefined, what: string) =>
        file === undefined ? null : await readInput(file, { maxBytes: MAX_BYTES, what })
      const list = {
        file: (await read(path, 'a list'))?.toString('base64') ?? '',
        signature: (await read(o.signature, 'a signature'))?.toString('base64') ?? null,
        by: (await read(o.by, 'a certificate'))?.toString() ?? null,
        pattern: o.pattern ?? null,
        notation: o.notation ?? null,
        hasUnknown: o.unknown === true,
      }
      await withSidecar(sources, async (sidecar) => {
        const { lines, signer } = await sidecar.trustImport({ ...list, apply: false })
        if (o.json !== true) for (const line of lines) print(line)
        printNotice(`signed by ${signer ?? 'nobody'}`)
        const texts = { done: 'nothing was changed', yes: '--yes asks none' }
        const question = 'verify them? (yes): '
        await confirmTyped(o.yes === true, { question, answer: 'yes', ...texts })
        const report = await sidecar.trustImport({ ...list, apply: true })
        if (o.json === true) printJson(report)
        printNotice(`${report.verified} people were verified`)
      })
    })
