import { createInterface } from 'node:readline/promises'
import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import type { Demo } from './demo-setup.ts'
import type { ScriptLine, SceneResult } from './demo-view.ts'
import { addExample } from './flags.ts'
import { shutdownRequested, shutdownSignal } from './shutdown.ts'
import { printNotice } from './terminal.ts'

const SCRIPT: readonly ScriptLine[] = [
  { chat: 'private', text: 'The key is under the third stone.' },
  { chat: 'group', text: '@echo_bot who brings the lantern tonight?' },
]

/** `postern demo`: sandbox, sidecar and an echo bot; nothing to configure. */
export function demoCommand(): Command {
  const command = new Command('demo')
    .description('show a plain-text bot in encrypted chats: sandbox, sidecar and an echo bot')
    .option('--once', 'exit after the first messages, with 0 if all of it worked')
  return addExample(command, 'postern demo --once').action(run)
}

async function run({ once }: { once?: boolean }): Promise<void> {
  const stop = shutdownRequested()
  printNotice(
    'starting the service, two phones, the sidecar and a bot that only knows plain text …',
  )
  const { startDemo } = await import('./demo-setup.ts')
  const { playLine, printHeadings, problemsOf } = await import('./demo-view.ts')
  await using demo = await startDemo()
  printHeadings()
  for (const line of SCRIPT) {
    if (shutdownSignal.aborted) return
    const problems = problemsOf(await playLine(demo, line))
    const failure = demo.failure()
    assertNone(failure === null ? problems : [...problems, `the bot stopped: ${failure}`])
  }
  printNotice('the bot used plain HTTP to 127.0.0.1; none of its text reached the service readable')
  if (once === true) return
  printNotice('type a line to send it to the bot; begin it with "#" for the encrypted group,')
  printNotice('where the bot gets only /commands and what names @echo_bot. Ctrl-C ends the demo')
  await Promise.race([stop, converse(demo, playLine)])
  await stop
}

/** Sends what is typed, line by line, until the input ends or a stop was asked for. */
async function converse(
  demo: Demo,
  playLine: (demo: Demo, line: ScriptLine) => Promise<SceneResult>,
): Promise<void> {
  const input = createInterface({ input: process.stdin, signal: shutdownSignal })
  for await (const typed of input) {
    const toGroup = typed.startsWith('#')
    const text = (toGroup ? typed.slice(1) : typed).trim()
    if (text !== '') await playLine(demo, { chat: toGroup ? 'group' : 'private', text })
  }
}

function assertNone(problems: string[]): void {
  if (problems.length === 0) return
  throw new OperatorError(
    'failed',
    `the demo did not work: ${problems.join('; ')}`,
    'run it again; if it fails again, this is a fault of Postern',
  )
}
