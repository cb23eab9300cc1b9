/** Asking the person at the terminal for what must not be seen there. */
import { closeSync, openSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import { commandPassphrase, PASSPHRASES } from '../config/passphrases.ts'
import { SecretSource } from '../config/secrets.ts'
import type { Sources } from '../config/sources.ts'
import { OperatorError } from '../errors.ts'
import { say, sayPart } from './terminal.ts'

const TERMINAL = '/dev/tty'
const MAX_CHARS = 4096

/**
 * Gives a passphrase that a command needs: from the environment or its file, else from the terminal.
 * @param o `which` variable; `question` for a person; `isNew`: typed twice, so that a slip does not
 *   lock anything for good
 * @throws OperatorError `passphrase` when it is not given and nobody can be asked, or the two differ;
 *   `settings` when it holds what it must not
 */
export async function passphraseFor(
  sources: Sources,
  o: { which: keyof typeof PASSPHRASES; question: string; isNew: boolean },
): Promise<string> {
  const name = PASSPHRASES[o.which]
  const given = commandPassphrase(name, sources)
  if (given !== null) return given.reveal()
  const asked = await askSecret(o.question)
  if (asked === null) {
    throw new OperatorError(
      'passphrase',
      'a passphrase is needed, and there is no terminal to ask for it',
      `give it as ${name}, or name its file in ${name}_FILE`,
    )
  }
  if (o.isNew && (await askSecret('once more: ')) !== asked) {
    throw new OperatorError(
      'passphrase',
      'the two passphrases differ',
      'nothing was done; try again',
    )
  }
  return SecretSource.fromValue(asked).reveal()
}

/**
 * Asks on the terminal itself, whatever stdin and stdout are; what is typed is not shown.
 * @returns null when there is no terminal, or stderr, where the question stands, is none
 * @throws OperatorError `refused` when the person gives up (Ctrl-C, Ctrl-D)
 */
export async function askSecret(question: string): Promise<string | null> {
  const terminal = process.stderr.isTTY ? openTerminal() : null
  if (terminal === null) return null
  terminal.setRawMode(true)
  sayPart(question)
  try {
    return await readLine(terminal)
  } finally {
    terminal.setRawMode(false)
    terminal.destroy()
    say('')
  }
}

function openTerminal(): ReadStream | null {
  let descriptor: number
  try {
    descriptor = openSync(TERMINAL, 'r+')
  } catch {
    return null
  }
  try {
    return new ReadStream(descriptor)
  } catch {
    closeSync(descriptor)
    return null
  }
}

function readLine(terminal: ReadStream): Promise<string> {
  const gaveUp = new OperatorError('refused', 'nothing was done', 'you gave up at the question')
  return new Promise((resolve, reject) => {
    let line = ''
    terminal.setEncoding('utf8')
    terminal.on('error', reject)
    terminal.on('end', () => reject(gaveUp))
    terminal.on('data', (typed: string) => {
      for (const key of typed) {
        if (key === '\r' || key === '\n') return resolve(line)
        if (key === '\u0003' || key === '\u0004') return reject(gaveUp)
        if (key === '\u007f' || key === '\b') line = Array.from(line).slice(0, -1).join('')
        else if (key === '\u0015') line = ''
        else if (line.length < MAX_CHARS) line += key
      }
    })
  })
}
