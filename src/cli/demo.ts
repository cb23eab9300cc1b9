import { createInterface } from 'node:readline/promises'
import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import type { Stage } from './demo-stage.ts'
import type { Line, Played } from './demo-scene.ts'
import { example } from './flags.ts'
import { stopped, stopSignal } from './stop.ts'
import { say } from './terminal.ts'

const SCRIPT: readonly Line[] = [
  { chat: 'private', text: 'The key is under the third stone.' },
  { chat: 'group', text: '@echo_bot who brings the lantern tonight?' },
]

/** `postern demo`: sandbox, sidecar and an echo bot; nothing to configure. */
export function demoCommand(): Command {
  const command = new Command('demo')
    .description('show a plain-text bot in encrypted chats: sandbox, sidecar and an echo bot')
    .option('--once', 'end after the first messages; exit 0 when all of it worked')
  return example(command, 'postern demo --once').action(run)
}

async function run({ once }: { once?: boolean }): Promise<void> {
  const stop = stopped()
  say('starting the service, two phones, the sidecar and a bot that only knows plain text …')
  const { setStage } = await import('./demo-stage.ts')
  const { play, putHeads, shortcomings } = await import('./demo-scene.ts')
  await using stage = await setStage()
  putHeads()
  for (const line of SCRIPT) {
    if (stopSignal.aborted) return
    const wrong = shortcomings(await play(stage, line))
    const failure = stage.failure()
    demandAll(failure === null ? wrong : [...wrong, `the bot stopped: ${failure}`])
  }
  say('the bot spoke plain HTTP to 127.0.0.1; not one word of it reached the service readable')
  if (once === true) return
  say('write more: a line goes to the bot; after "#" it goes to the encrypted group, where')
  say('the bot hears only what is a /command or names @echo_bot. Ctrl-C ends the demo')
  await Promise.race([stop, converse(stage, play)])
  await stop
}

/** Sends what is typed, line by line, until the input ends or a stop was asked for. */
async function converse(
  stage: Stage,
  play: (stage: Stage, line: Line) => Promise<Played>,
): Promise<void> {
  const input = createInterface({ input: process.stdin, signal: stopSignal })
  for await (const typed of input) {
    const toGroup = typed.startsWith('#')
    const text = (toGroup ? typed.slice(1) : typed).trim()
    if (text !== '') await play(stage, { chat: toGroup ? 'group' : 'private', text })
  }
}

function demandAll(wrong: string[]): void {
  if (wrong.length === 0) return
  throw new OperatorError(
    'failed',
    `the demo did not work: ${wrong.join('; ')}`,
    'run it again; if it fails again, this is a fault of Postern',
  )
}
