import { createInterface } from 'node:readline/promises'
import { failedError } from '../errors.ts'
import type { Demo } from './demo-setup.ts'
import type { playLine, ScriptLine } from './demo-view.ts'
import { readPort, type Switches } from './flags.ts'
import { PosternCommand } from './help.ts'
import { printNotice } from './terminal.ts'
import { openInBrowser } from './page.ts'
import { shutdownRequested, shutdownSignal } from './signals.ts'

const SCRIPT: readonly ScriptLine[] = [
  { chat: 'private', text: 'The key is under the third stone.' },
  { chat: 'group', text: '@echo_bot who brings the lantern tonight?' },
]

/** `postern demo`: sandbox, sidecar and an echo bot; nothing to configure. */
export const demoCommand = (): PosternCommand =>
  new PosternCommand('demo')
    .option('--page-port <number>', 'port of the page; any free one by default', readPort)
    .option('--open', 'open the page in your browser')
    .option('--once', 'exit after the first messages, with 0 if all of it worked')
    .example('postern demo --once')
    .action(run)

type DemoFlags = Switches<'once' | 'open'> & { pagePort?: number }

async function run({ once, open, pagePort = 0 }: DemoFlags): Promise<void> {
  const stop = shutdownRequested()
  printNotice('starting a service, two phones, the sidecar and a bot that knows plain text only')
  const { startDemo } = await import('./demo-setup.ts')
  const view = await import('./demo-view.ts')
  await using demo = await startDemo(pagePort)
  view.printHeadings()
  for (const line of SCRIPT) {
    if (shutdownSignal.aborted) return
    const problems = view.problemsOf(await view.playLine(demo, line))
    const failure = demo.failure()
    if (failure !== null) problems.push(`the bot stopped: ${failure}`)
    if (problems.length > 0) {
      const hint = 'run it again; if it fails again, this is a fault of Postern'
      throw failedError(`the demo did not work: ${problems.join('; ')}`, hint)
    }
  }
  printNotice('the bot used plain HTTP to 127.0.0.1; the service saw none of its text readable')
  if (once === true) return
  if (open === true) openInBrowser(demo.pageUrl)
  printNotice(`the same in your browser: ${demo.pageUrl}`)
  printNotice('type a line to send it to the bot; begin it with "#" for the encrypted group,')
  printNotice('where the bot gets only /commands and what names @echo_bot; Ctrl-D ends the demo')
  await Promise.race([stop, converse(demo, view.playLine)])
  // Without a terminal the end of the input is nobody's wish.
  if (!process.stdin.isTTY) await stop
}

/** Sends each typed line, until the input ends or a stop was requested. */
async function converse(demo: Demo, play: typeof playLine): Promise<void> {
  const input = createInterface({ input: process.stdin, signal: shutdownSignal })
  // A terminal that was closed cannot be read.
  process.stdin.once('error', () => input.close())
  for await (const typed of input) {
    const toGroup = typed.startsWith('#')
    const text = (toGroup ? typed.slice(1) : typed).trim()
    if (text !== '') await play(demo, { chat: toGroup ? 'group' : 'private', text })
  }
}
