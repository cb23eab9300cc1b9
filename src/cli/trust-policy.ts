import { Command } from 'commander'
import { OperatorError } from '../errors.ts'
import { parseId, takeSettings } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printNotice } from './terminal.ts'

const POLICIES = ['accept', 'first-use', 'pinned'] as const
type Policy = (typeof POLICIES)[number]

/** `postern trust policy`: what happens when a certificate changes, for the bot or in one chat. */
export function trustPolicyCommand(): Command {
  const command = new Command('policy')
    .description('set what happens when a certificate changes, over the setting trust.policy')
    .argument('<policy>', 'accept, first-use or pinned; setting goes back to trust.policy')
    .option('--chat <chatId>', 'in this chat only')
  return takeSettings(command, 'postern trust policy pinned --chat 4711').action(set)
}

async function set(policy: string, { chat }: { chat?: string }, command: Command): Promise<void> {
  const input = {
    chatId: chat === undefined ? null : parseId(chat, 'chat', '`postern chat list` shows them'),
    policy: readPolicy(policy),
  }
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustPolicy(input))).message)
}

function readPolicy(text: string): Policy | null {
  if (text === 'setting') return null
  const policy = POLICIES.find((known) => known === text)
  if (policy !== undefined) return policy
  throw new OperatorError(
    'usage',
    'there is no such policy',
    `one of ${POLICIES.join(', ')}, or setting`,
  )
}
