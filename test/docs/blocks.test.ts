/** Each block of commands of the pages is run as it stands there: here, or by the test that is named. */
import { copyFileSync, readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { Stage } from '../cli/secrets-stage.ts'
import { readPages } from '../support/readme-tables.ts'
import { blocksOf, shell } from './runbook.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A block that is run here, beside a sandbox and a sidecar that run. */
interface Here {
  /** Of what is printed. */
  firstLine: RegExp
  typed?: string
  /** What is typed before it: an environment like that of the page's reader. */
  before?: string
  /** Lines of the block that go on until they are stopped. */
  without?: string[]
}
/** The test that runs a block, and its words that show so. */
type Elsewhere = [file: string, words: string]
/** Why no test runs a block. */
type Unrun = string

const FOREIGN = "src/keys/README.md § Somebody else's key at the service"
const BOTS = 'config/examples/bots/README.md § Small bots that keep running'
const OURS = 'it is for whoever changes Postern, and takes longer than a test'
const LIVE = 'it asks for a registry, an account or a database of one’s own'
const keyRunbook = (words: string): Elsewhere => ['test/docs/key-runbooks.system.test.ts', words]
const project = (words: string): Elsewhere => ['test/examples/projects.system.test.ts', words]
const runbook = (words: string): Elsewhere => ['test/docs/runbooks.system.test.ts', words]
const release = (words: string): Elsewhere => ['test/release/release.system.test.ts', words]
const PICTURE = Buffer.from('look at this\n')
const ANSWER = /^\{"ok":true,"result":/

/** By page, heading, and the number of the block below it. */
const BLOCKS: Record<string, Here | Elsewhere | Unrun> = {
  'README.md § Postern 1': {
    firstLine: /^WHAT ALICE SEES +│ WHAT THE BOT SEES +│ WHAT THE SERVICE SEES/,
  },
  'README.md § Postern 2': ['test/cli/demo.test.ts', '`demo` echoes typed messages'],
  'README.md § Your own bot 1': ['test/cli/dev.test.ts', 'my-bot.mjs'],
  'README.md § Your own bot 2': ['test/cli/dev.test.ts', 'alice wrote into dm (sealed)'],
  'README.md § Quick start 1': ['test/cli/scripts/init.txt', 'a sidecar runs with the files of'],
  'README.md § Quick start 2': release('try-package.mjs'),
  'config/README.md § Make a release 1': release('imageOf'),
  'config/README.md § The same bytes 1': release('sha256sum'),
  'config/README.md § Publish 1': LIVE,
  'config/examples/release/README.md § Release on a public host 1': release('try-package.mjs'),
  'config/examples/README.md § As a container 1': [
    'test/container/image.system.test.ts',
    'buildImage()',
  ],
  'config/examples/README.md § Pin the bases 1': LIVE,
  'config/examples/README.md § As a package 1': [
    'test/release/package.system.test.ts',
    '--omit=optional',
  ],
  'config/site/README.md § The pages as a site 1': ['test/docs/site.test.ts', 'makeSite(out)'],
  'config/examples/agent/README.md § An agent that drafts, and a person who approves 1': [
    'test/examples/agent.test.ts',
    "'--may', 'send', '--chats'",
  ],
  [`${BOTS} 1`]: ['test/examples/bots.system.test.ts', "join(FOLDER, 'README.md')"],
  [`${BOTS} 2`]: ['test/examples/bots.system.test.ts', "join(FOLDER, 'README.md')"],
  'config/examples/bots/alerts/README.md § Alerts in a chat 1': project('bots/alerts'),
  'config/examples/bots/alerts/README.md § Alerts in a chat 2': project('bots/alerts'),
  'config/examples/bots/archive/README.md § An archive of messages 1': project('bots/archive'),
  'config/examples/bots/archive/README.md § An archive of messages 2': project('bots/archive'),
  'config/examples/bots/mcp/README.md § A person as a tool of an agent 1': project('bots/mcp'),
  'config/examples/bots/mcp/README.md § Test it 1': project('bots/mcp'),
  'config/examples/bots/nats/README.md § Updates into NATS 1': project('bots/nats'),
  'config/examples/bots/nats/README.md § Updates into NATS 2': project('bots/nats'),
  'config/examples/go/README.md § Test a bot in Go 1': project("'go'"),
  'config/examples/pytest/README.md § Test a bot in Python with pytest 1': project('pytest'),
  'config/examples/vitest/README.md § Test a bot in Node with Vitest 1': project('vitest'),
  'src/agent/README.md § Set up 1': ['test/agent/sidecar.system.test.ts', 'POSTERN_KEY_AGENT'],
  'src/agent/README.md § Move a key into the agent 1': [
    'test/agent/sidecar.system.test.ts',
    'a key moves from the store into the agent',
  ],
  'src/cli/README.md § First start 1': {
    firstLine: /^pass {2}data folder: /,
    typed: 'TOKEN\n',
    before: 'unset POSTERN_BOT_TOKEN POSTERN_KEY_PASSPHRASE; export POSTERN_DATA_DIR=$PWD/first',
    without: ['npm run -s postern -- run'],
  },
  'src/cli/README.md § Your own bot 1': ['test/cli/dev.test.ts', 'my-bot.mjs'],
  'src/cli/README.md § Your own bot 2': [
    'test/cli/dev-log.test.ts',
    'echo_bot  reads it  ✓ verified',
  ],
  'src/cli/README.md § Speak for people 1': ['test/cli/sandbox-actions.test.ts', 'attach'],
  'src/clients/README.md § Clients 1': { firstLine: /^pstn_/ },
  'src/keys/README.md § Rotation 1': keyRunbook("'Rotation'"),
  'src/keys/README.md § Old keys 1': { firstLine: /^[0-9a-f]{40}$/ },
  [`${FOREIGN} 1`]: keyRunbook('blocks(FOREIGN)'),
  [`${FOREIGN} 2`]: keyRunbook('blocks(FOREIGN)'),
  [`${FOREIGN} 3`]: keyRunbook('blocks(FOREIGN)'),
  'src/keys/README.md § The owner removed the key 1': keyRunbook("'The owner removed the key'"),
  'src/keys/README.md § The owner removed the key 2': keyRunbook("'The owner removed the key'"),
  'src/keys/README.md § Lost key 1': keyRunbook("'Lost key'"),
  'src/attachments/README.md § Attachments 1': { firstLine: /^look at this$/ },
  'src/observe/traces/README.md § Traces 1': [
    'test/observe/traces/sidecar.test.ts',
    'OTEL_EXPORTER_OTLP_ENDPOINT: collector.url',
  ],
  'src/outbox/README.md § Sent later 1': { firstLine: ANSWER },
  'src/store/postgres/README.md § On PostgreSQL 1': LIVE,
  'src/store/postgres/README.md § Move a store 1': [
    'test/cli/bots-on-postgres.system.test.ts',
    'store move',
  ],
  'src/store/postgres/README.md § Fail over to a standby 1': [
    'test/store/postgres/failover.system.test.ts',
    'failOver()',
  ],
  'src/sandbox/README.md § The sandbox 1': ['test/cli/sandbox.test.ts', 'startSandbox'],
  'src/sandbox/README.md § The sandbox 2': { firstLine: ANSWER },
  'src/sandbox/README.md § Back to an earlier state 1': { firstLine: /^before$/ },
  'src/sandbox/events/README.md § Wait instead of polling 1': { firstLine: ANSWER },
  'src/sandbox/page/README.md § The page 1': ['test/cli/scripts/page.txt', '--open'],
  'src/sandbox/scenario/README.md § Scenarios 1': ['test/sandbox/scenario.test.ts', "'play'"],
  'src/store/README.md § A new passphrase 1': runbook("'A new passphrase'"),
  'src/store/README.md § Moving to another host 1': runbook("'Moving to another host'"),
  'src/store/README.md § Moving to another host 2': runbook("'Moving to another host'"),
  'src/store/README.md § Restored backup 1': runbook("'Restored backup'"),
  'src/store/README.md § Lost passphrase 1': runbook("'Lost passphrase'"),
  'src/store/README.md § Revoked token 1': runbook("'Revoked token'"),
  'src/operators/trust/README.md § Compare the safety number 1': {
    firstLine: /^(?:\d{5} ?){3}$/,
    before: 'postern trust show 41000001 > number.txt',
  },
  'src/updates/README.md § Updates by webhook 1': { firstLine: ANSWER },
}

const blocks = readPages().flatMap(blocksOf)
const isOurs = (name: string): boolean => name.startsWith('test/')
const caseOf = (name: string): Here | Elsewhere | Unrun =>
  BLOCKS[name] ?? (isOurs(name) ? OURS : `no test runs ${name}`)
const isHere = (one: Here | Elsewhere | Unrun): one is Here =>
  typeof one === 'object' && !Array.isArray(one)

test('every block of commands in the documentation is listed in BLOCKS', () => {
  const names = blocks.map(({ name }) => name).filter((name) => !isOurs(name))
  expect(Object.keys(BLOCKS).toSorted()).toEqual(names.toSorted())
})

test('every test that BLOCKS names contains the named words', () => {
  for (const [name, one] of Object.entries(BLOCKS)) {
    if (!Array.isArray(one)) continue
    const [file, words] = one
    expect(readFileSync(file, 'utf8').includes(words), `${name}: ${file}`).toBe(true)
  }
})

/** What the blocks name, by the addresses of this run; its waits are short. */
interface Scene {
  stage: Stage
  /** Of a bot at `chat.example.org`, which has no key yet. */
  newToken: string
  more: Record<string, string>
  replaced: [printed: string, ours: string][]
}

async function makeScene(): Promise<Scene> {
  const stage = await Stage.make()
  const sidecar = await stage.up()
  const [, door = ''] = await sidecar.waitForStderr(/"bot":"([^"]+)"/)
  const { sandbox } = stage
  const alice = await sandbox.phone(sandbox.home.alice.id)
  await alice.send(sandbox.home.privateChat, PICTURE)
  const headers = { authorization: `Bearer ${sandbox.token}` }
  const answer = await fetch(`${door}/bot/v1/updates?timeout=5`, { headers })
  const { result } = (await answer.json()) as {
    result: { message: { media: { id: string; url: string }[] } }[]
  }
  const [media] = result.at(-1)?.message.media ?? []
  if (media === undefined) throw new Error('no attachment came')
  const other = await Stage.make()
  await other.does('key generate')
  const phrase = { POSTERN_EXPORT_PASSPHRASE: 'the passphrase on the way' }
  await other.does('key export --output old.asc', phrase)
  copyFileSync(other.path('old.asc'), stage.path('old.asc'))
  return {
    stage,
    newToken: other.sandbox.token,
    more: {
      ...phrase,
      TOKEN: sandbox.token,
      CONTROL: sandbox.controlUrl,
      ID: media.id,
      URL: media.url,
    },
    replaced: [
      ['"wait": 5000', '"wait": 50'],
      ['http://127.0.0.1:8700', door],
      ['http://127.0.0.1:8801', sandbox.controlUrl],
      ['https://chat.example.org', other.sandbox.url],
    ],
  }
}

test('each block of commands ends with 0, and prints the documented first line', async () => {
  const { stage, newToken, more, replaced } = await makeScene()
  for (const { name, lines } of blocks) {
    const one = caseOf(name)
    if (!isHere(one)) continue
    const { firstLine, typed = '', before = '', without = [] } = one
    const left = lines.filter((line) => !without.includes(line))
    expect(left.length, name).toBe(lines.length - without.length)
    const run = left.map((line) =>
      replaced.reduce((text, [printed, ours]) => text.replaceAll(printed, ours), line),
    )
    const input = typed.replace('TOKEN', newToken)
    const { stdout, stderr } = await shell(stage, [before, ...run], { more, typed: input }).catch(
      (error: { stdout: string; stderr: string }) =>
        expect.fail(`${name}: ${error.stdout}${error.stderr}`),
    )
    expect(`${stdout}${stderr}`.split('\n')[0], name).toMatch(firstLine)
  }
})
