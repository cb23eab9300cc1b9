/** Questions to the person at the terminal, on stderr. */
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { ReadStream } from 'node:tty'
import { commandSecret, PASSPHRASES } from '../config/passphrases.ts'
import { SecretSource } from '../config/secrets.ts'
import type { Sources } from '../config/sources.ts'
import { OperatorError, refusedError, resultOr, usageError } from '../errors.ts'
import { isInteractive, printNotice, promptOutput } from './terminal.ts'

const TERMINAL = '/dev/tty'
/** Discards the echo of `readline`. */
const UNSEEN = new Writable({ write: (_chunk, _encoding, done) => done() })

const passphraseError = (problem: string, hint: string): OperatorError =>
  new OperatorError('passphrase', problem, hint)

/**
 * Gives a new passphrase: from the environment or its file, else from the terminal, where it is typed
 * twice, so that a slip does not lock anything for good.
 * @param o `which` variable; `question` for a person
 * @throws OperatorError `passphrase` when it is not given and nobody can be asked, or the two differ;
 *   `settings` when it holds what it must not
 */
export async function readPassphrase(
  sources: Sources,
  o: { which: keyof typeof PASSPHRASES; question: string },
): Promise<string> {
  const name = PASSPHRASES[o.which]
  const given = commandSecret(o.which, sources)
  if (given !== null) return given.reveal()
  const asked = await promptSecret(o.question)
  if (asked === null) {
    const hint = `give it as ${name}, or name its file in ${name}_FILE`
    throw passphraseError('a passphrase is needed, and there is no terminal to ask for it', hint)
  }
  if ((await promptSecret('once more: ')) !== asked) {
    throw passphraseError('the two passphrases differ', 'nothing was done; try again')
  }
  return SecretSource.fromValue(asked).reveal()
}

/**
 * Has the operator type what will be changed, so that a slip changes nothing.
 * @param isSure by --yes: nothing is asked
 * @param o `answer` that allows it, `done` the action omitted otherwise, such as `nothing was
 *   deleted`
 * @throws OperatorError `usage` without a terminal, `refused` for another answer
 */
export async function confirmTyped(
  isSure: boolean,
  o: { question: string; answer: string; done: string },
): Promise<void> {
  if (isSure) return
  if (!isInteractive())
    throw usageError('there is no terminal to ask at', `${o.done}; --yes does it without asking`)
  using lines = createInterface({ input: process.stdin, output: process.stderr })
  const typed = await lines.question(o.question)
  if (typed.trim().toLowerCase() === o.answer) return
  throw refusedError(o.done, `answer with ${o.answer}`)
}

/**
 * Asks on the terminal itself, independent of stdin and stdout; typed text is not shown.
 * @returns null when there is no terminal, or stderr, which shows the question, is none
 * @throws OperatorError `refused` when the person gives up (Ctrl-C, Ctrl-D)
 */
export async function promptSecret(question: string): Promise<string | null> {
  const terminal = process.stderr.isTTY ? openTerminal() : null
  if (terminal === null) return null
  const lines = createInterface({ input: terminal, output: UNSEEN, terminal: true, historySize: 0 })
  promptOutput.write(question)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  lines.once('line', resolve)
  // Ctrl-C and Ctrl-D end it.
  lines.once('close', () => {
    reject(refusedError('nothing was done', 'the question was cancelled; run the command again'))
  })
  try {
    return await promise
  } finally {
    lines.close()
    terminal.destroy()
    printNotice('')
  }
}

function openTerminal(): ReadStream | null {
  const descriptor = resultOr(() => openSync(TERMINAL, 'r+'), null)
  if (descriptor === null) return null
  try {
    return new ReadStream(descriptor)
  } catch {
    closeSync(descriptor)
    return null
  }
}
