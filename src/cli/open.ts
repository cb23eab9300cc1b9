import type { Sources } from '../config/sources.ts'
import { MAX_ARMORED_BYTES } from '../operators/protocol.ts'
import { failedError } from '../errors.ts'
import { withSidecar } from './connect.ts'
import { OperatorCommand } from './operator-command.ts'
import { readInput } from './read-input.ts'
import { printText, printNotice } from './terminal.ts'

/** `postern open`: opens a sealed message with the keyring. */
export const openCommand = (): OperatorCommand =>
  new OperatorCommand('open')
    .description('open an armored message from stdin, and print its text and verdict')
    .example('postern open < message.asc')
    .runs(open)

async function open(sources: Sources): Promise<void> {
  const input = { maxBytes: MAX_ARMORED_BYTES, what: 'the message' }
  const armored = (await readInput(undefined, input)).toString('utf8')
  const report = await withSidecar(sources, (sidecar) => sidecar.open({ armored }))
  printNotice(`verdict: ${report.verdict}`)
  if (report.reason !== undefined) printNotice(`reason: ${report.reason}`)
  if (report.signer !== undefined) printNotice(`signer: ${report.signer}`)
  if (!report.opened || report.text === undefined) {
    const hint = 'it must be one armored message, sealed to a key that `postern key list` shows'
    throw failedError(`the message was not opened: ${report.verdict}`, hint)
  }
  printText(report.text)
}
