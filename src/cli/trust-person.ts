import { Command } from 'commander'
import { parseId, takeSettings } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printNotice } from './terminal.ts'

const WHERE = '`postern trust list` shows the ids of the people whom we know'

/** `postern trust accept`: accepts the certificate that the service lists for a person now. */
export function trustAcceptCommand(): Command {
  const command = new Command('accept')
    .description('accept the certificate that is listed for a person now, and start over with them')
    .argument('<userId>', 'which person')
    .option('--fingerprint <hex>', 'only if this is the one that is listed')
  return takeSettings(command, 'postern trust accept 4711').action(accept)
}

async function accept(
  person: string,
  { fingerprint }: { fingerprint?: string },
  command: Command,
): Promise<void> {
  const userId = parseId(person, 'person', WHERE)
  const input = { userId, ...(fingerprint !== undefined && { fingerprint }) }
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustAccept(input))).message)
}

/** `postern trust verify`: the operator compared a fingerprint with the person. */
export function trustVerifyCommand(): Command {
  const command = new Command('verify')
    .description('trust only this fingerprint for a person, after you compared it with them')
    .argument('<userId>', 'which person')
    .argument('<fingerprint...>', '40 hexadecimal characters; spaces are ignored')
  const line = 'postern trust verify 4711 D74D1C290E2CA5A56C7C8FF8B2B144D64D3C43B5'
  return takeSettings(command, line).action(verify)
}

async function verify(
  person: string,
  parts: string[],
  _options: unknown,
  command: Command,
): Promise<void> {
  const userId = parseId(person, 'person', WHERE)
  const input = { userId, fingerprint: parts.join('') }
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustVerify(input))).message)
}

/** `postern trust block`: seals nothing to a person and trusts nothing from them. */
export function trustBlockCommand(): Command {
  const command = new Command('block')
    .description('seal nothing to a person and trust nothing from them, until they are accepted')
    .argument('<userId>', 'which person')
  return takeSettings(command, 'postern trust block 4711').action(block)
}

async function block(person: string, _options: unknown, command: Command): Promise<void> {
  const userId = parseId(person, 'person', WHERE)
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustBlock({ userId }))).message)
}
