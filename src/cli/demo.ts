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
    .option('--once', 'end after the first messages; exit 0 when all of it worked')
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
  printNotice(
    'the bot spoke plain HTTP to 127.0.0.1; not one word of it reached the service readable',
  )
  if (once === true) return
  printNotice('write more: a line goes to the bot; after "#" it goes to the encrypted group, where')
  printNotice('the bot hears only what is a /command or names @echo_bot. Ctrl-C ends the demo')
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
