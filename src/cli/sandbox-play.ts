/** `postern sandbox play`: plays a scenario with the bot that runs. */
import { OperatorError } from '../errors.ts'
import type { PosternCommand } from './help.ts'
import { refuseStart } from './page.ts'
import { readSeconds } from './sandbox-actions.ts'
import { controlCommand, withSandbox, type ControlFlags } from './sandbox-client.ts'
import { readSeedFile } from './seed-file.ts'
import { print, printNotice } from './terminal.ts'

export const sandboxPlayCommand = (): PosternCommand =>
  controlCommand('play')
    .description('play the steps of a seed file in a running sandbox, as a test of the bot')
    .argument('<file>', 'a scenario, as the page of a sandbox saves one')
    .option('--wait <seconds>', 'how long a step waits for the bot', readSeconds, 15)
    .example('postern sandbox play scenario.json')
    .action(play)

async function play(file: string, flags: ControlFlags & { wait: number }): Promise<void> {
  const seed = readSeedFile(file)
  const { playScenario, ScenarioError } = await import('../sandbox/scenario/play.ts')
  await withSandbox(flags, async (control) => {
    try {
      await playScenario(control, seed.content, { withinMs: flags.wait * 1000 })
    } catch (error) {
      if (!(error instanceof ScenarioError)) refuseStart(error, seed, '--control')
      // How it differs has people's words, which are for stdout alone.
      print(error.message)
      throw new OperatorError('scenario-differs', `step ${error.step} of ${file} differs`)
    }
  })
  printNotice('every step passed')
}
