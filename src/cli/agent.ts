/** `postern agent`: a process of its own that has the secret keys of sidecars. */
import type { AgentKeys } from '../agent/keys.ts'
import { refuseUnsafeProcess, type Sources } from '../config/sources.ts'
import { loadStoreAccess } from '../config/store-access.ts'
import { createLogger } from '../logger.ts'
import { numberReader } from './flags.ts'
import { readKeyFile } from './key-transfer.ts'
import { OperatorCommand } from './operator-command.ts'
import { confirmTyped } from './prompts.ts'
import { shutdownRequested } from './signals.ts'
import { printList } from './table.ts'
import { print, printNotice } from './terminal.ts'

const readCount = numberReader('a number', 1, 999_999_999)

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('run')
    .description('hold secret keys and use them for sidecars')
    .requiredOption('--socket <path>', 'socket to make, in a folder that nobody else can write')
    .option('--signatures <n>', 'signatures given a minute, at most', readCount, 6000)
    .option('--session-keys <n>', 'session keys given a minute, at most', readCount, 60_000)
    .example('postern agent run --socket /run/postern-agent/agent.sock')
    .runs(runAgent),
  new OperatorCommand('list')
    .description('list the keys of a stopped agent')
    .option('--certificates', 'print their certificates, armored')
    .example('postern agent list --data-dir /var/lib/postern-agent')
    .runs(async (sources, { certificates = false }: { certificates?: boolean }) => {
      await using keys = await openKeys(sources)
      const all = keys.list()
      if (certificates) return print(all.map(({ certificate }) => certificate).join('\n'))
      printList(all, null, {
        FINGERPRINT: ({ fingerprint }) => fingerprint,
        MADE: ({ createdAtMs }) => new Date(createdAtMs).toISOString(),
        SECRET: ({ unlocked }) => (unlocked === null ? 'destroyed' : 'here'),
      })
    }),
  new OperatorCommand('import')
    .description('import a secret key into a stopped agent')
    .argument('[file]', 'armored or binary; stdin by default')
    .notes('Its passphrase is given as to `postern key import`.')
    .example('postern agent import bot.asc --data-dir /var/lib/postern-agent')
    .runs(async (sources, path: string | undefined) => {
      const { file, passphrase } = await readKeyFile(path, sources)
      await using keys = await openKeys(sources)
      print((await keys.importKey(file, passphrase)).fingerprint)
    }),
  new OperatorCommand('destroy')
    .description('destroy a secret key of a stopped agent')
    .argument('<fingerprint>', 'which key, in full')
    .option('--yes', 'do not ask')
    .example('postern agent destroy 0123456789abcdef0123456789abcdef01234567')
    .runs(async (sources, fingerprint: string, { yes = false }: { yes?: boolean }) => {
      await using keys = await openKeys(sources)
      const question = 'type the fingerprint to destroy it: '
      const done = 'nothing was destroyed'
      await confirmTyped(yes, { question, answer: fingerprint, done })
      await keys.destroy(fingerprint)
      printNotice('destroyed; what is sealed to it opens nowhere any more')
    }),
]

async function openKeys(sources: Sources): Promise<AgentKeys> {
  const { openAgentKeys } = await import('../agent/keys.ts')
  return await openAgentKeys(placeOf(sources))
}

/** The place of the agent's keys, and what opens them. */
function placeOf(sources: Sources) {
  const { dataDir, key } = loadStoreAccess(sources)
  return { dataDir, ...key }
}

async function runAgent(
  sources: Sources,
  o: { socket: string; signatures: number; sessionKeys: number },
): Promise<void> {
  const stop = shutdownRequested()
  refuseUnsafeProcess(sources)
  const { startAgent } = await import('../agent/run.ts')
  const log = createLogger({ level: 'info', pretty: false })
  await using _agent = await startAgent({ ...placeOf(sources), ...o, perMinute: o, log })
  await stop
}
