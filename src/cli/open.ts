import { Command } from 'commander'
import { MAX_ARMORED_BYTES } from '../control/protocol.ts'
import { OperatorError } from '../errors.ts'
import { example, takeSettings } from './flags.ts'
import { withSidecar } from './reach.ts'
import { putWords, say } from './terminal.ts'

/** `postern open`: opens a sealed message with the keyring. */
export function openCommand(): Command {
  const command = new Command('open').description(
    'open an armored message from stdin; its text goes to stdout, the verdict to stderr',
  )
  takeSettings(command, { shown: false })
  return example(command, 'postern open < message.asc').action(open)
}

async function open(_options: unknown, command: Command): Promise<void> {
  const armored = await readStdin()
  const report = await withSidecar(command, (sidecar) => sidecar.open(armored))
  say(`verdict: ${report.verdict}`)
  if (report.reason !== undefined) say(`reason: ${report.reason}`)
  if (report.signer !== undefined) say(`signer: ${report.signer}`)
  if (!report.opened || report.text === undefined) {
    throw new OperatorError(
      'failed',
      `the message was not opened: ${report.verdict}`,
      'it must be one armored message, sealed to a key that `postern key list` shows',
    )
  }
  putWords(report.text)
}

async function readStdin(): Promise<string> {
  if (process.stdin.isTTY) say('paste the armored message, then press Ctrl-D')
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_ARMORED_BYTES) {
      throw new OperatorError('refused', 'the message is larger than 1 MiB', 'give one message')
    }
  }
  return Buffer.concat(chunks).toString('utf8')
}
