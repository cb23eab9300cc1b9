import { Command } from 'commander'
import { addExample, addSettingFlags, parseId } from './flags.ts'
import { withSidecar } from './connect.ts'
import { printNotice } from './terminal.ts'

const WHERE = '`postern trust list` shows the ids of the people whom we know'

/** `postern trust accept`: a person's certificate as the service lists it now is theirs. */
export function trustAcceptCommand(): Command {
  const command = new Command('accept')
    .description('take a person’s certificate as it is listed now, and let them begin anew')
    .argument('<userId>', 'which person')
    .option('--fingerprint <hex>', 'only if this one is listed')
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern trust accept 4711').action(accept)
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

/** `postern trust verify`: a fingerprint was compared with the person's own word. */
export function trustVerifyCommand(): Command {
  const command = new Command('verify')
    .description('seal to a person under this fingerprint alone, compared with the person’s word')
    .argument('<userId>', 'which person')
    .argument('<fingerprint...>', '40 hexadecimal characters, blanks between are fine')
  addSettingFlags(command, { isListed: false })
  const line = 'postern trust verify 4711 "D74D 1C29 0E2C A5A5 6C7C  8FF8 B2B1 44D6 4D3C 43B5"'
  return addExample(command, line).action(verify)
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

/** `postern trust block`: nothing is sealed to a person and nothing believed of them. */
export function trustBlockCommand(): Command {
  const command = new Command('block')
    .description('seal nothing to a person and believe no words of theirs, until accepted')
    .argument('<userId>', 'which person')
  addSettingFlags(command, { isListed: false })
  return addExample(command, 'postern trust block 4711').action(block)
}

async function block(person: string, _options: unknown, command: Command): Promise<void> {
  const userId = parseId(person, 'person', WHERE)
  printNotice((await withSidecar(command, (sidecar) => sidecar.trustBlock({ userId }))).message)
}
