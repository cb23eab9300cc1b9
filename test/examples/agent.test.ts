/** The example of an agent that drafts and a person who approves, in each of its languages. */
import { isInstalled, spawn } from '../support/programs.ts'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox, type Phone, type Sandbox } from '../../src/sandbox/index.ts'
import { startSidecar, type Sidecar } from '../support/sidecar.ts'
import { mortal } from '../support/mortal.ts'

const FOLDER = 'config/examples/agent'
const AGENTS: Record<string, string[]> = {
  'agent.py': ['python3'],
  'agent.mjs': [process.execPath],
}
const folder = mkdtempSync(join(tmpdir(), 'postern-agent-'))
const AGENT_TOKEN_FILE = join(folder, 'agent.token')

let sandbox: Sandbox
let sidecar: Sidecar
let alice: Phone
let offset = 0

/** Reads updates as the bot does; the words of people are heard by that. */
async function poll(): Promise<string[]> {
  const headers = { authorization: `Bearer ${sandbox.token}` }
  const path = `/updates?timeout=5&offset=${offset}`
  const { json } = await sidecar.call('GET', path, undefined, { headers })
  const updates = json.result as { updateId: number; message: { text: string } }[]
  offset = (updates.at(-1)?.updateId ?? offset - 1) + 1
  return updates.map(({ message }) => message.text)
}

beforeAll(async () => {
  sandbox = await createSandbox({ rates: 'off' })
  const { alice: person, privateChat, encryptedGroup } = sandbox.home
  const config = join(folder, 'postern.yaml')
  writeFileSync(config, JSON.stringify({ approve: [{ chats: [encryptedGroup], by: [person.id] }] }))
  const env = { POSTERN_BOT_TOKEN: sandbox.token, POSTERN_CONFIG: config }
  sidecar = await startSidecar({ upstream: sandbox.url, env })
  await sidecar.whenReady()
  alice = await sandbox.phone(person.id)
  await alice.write(privateChat, 'I approve')
  expect(await poll()).toEqual(['I approve'])
  const flags = ['--may', 'send', '--chats', String(encryptedGroup)]
  const { stdout } = await sidecar.postern('client', 'add', 'agent', ...flags)
  writeFileSync(AGENT_TOKEN_FILE, stdout, { mode: 0o600 })
}, 120_000)

afterAll(async () => {
  await sidecar[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('the test covers every agent of the example', () => {
  const files = readdirSync(FOLDER).filter((name) => name !== 'README.md')
  expect(files.toSorted()).toEqual(Object.keys(AGENTS).toSorted())
})

describe.for(Object.entries(AGENTS))('%s', ([file, [program = '', ...args]]) => {
  test.for([
    ['approves', (code: string) => `ok ${code}`, 'sent'],
    [
      'refuses',
      (code: string) => `no ${code} because it is rude`,
      'refused: postern_approval_refused',
    ],
  ] as const)(
    'the agent of the example drafts a message and the person %s it',
    async ([verb, answer, outcome], { skip }) => {
      skip(program === 'python3' && !isInstalled(program), 'not installed: python3')
      const { privateChat, encryptedGroup } = sandbox.home
      const words = `${file}: a draft that she ${verb}`
      const env = { PATH: process.env['PATH'], BASE_URL: sidecar.url, AGENT_TOKEN_FILE }
      const child = spawn(
        ...mortal(program, [...args, join(FOLDER, file), String(encryptedGroup), words]),
        { env, stdio: ['ignore', 'pipe', 'inherit'] },
      )
      let printed = ''
      child.stdout.on('data', (chunk: Buffer) => (printed += String(chunk)))
      const ended = once(child, 'close')
      const request = await alice.seen(({ text }) => text.endsWith(`\n${words}`), 30_000)
      expect(request).toMatchObject({ chatId: privateChat, verdict: 'verified' })
      expect(request.text).toContain('by: client agent')
      const shown = () =>
        alice.inbox.filter(({ text, fromId }) => text === words && fromId === sandbox.home.bot.id)
      expect(shown()).toEqual([])
      const reply = answer(/^ok (\S+)$/m.exec(request.text)?.[1] ?? '')
      await alice.write(privateChat, reply, { replyTo: request.messageId })
      expect(await poll()).not.toContain(reply)
      await ended
      expect(printed).toMatch(new RegExp(`^asked: \\S+\n${outcome}\n$`))
      await alice.settled()
      expect(shown()).toHaveLength(outcome === 'sent' ? 1 : 0)
      expect(sandbox.transcript.search(words)).toEqual([])
    },
  )
})
