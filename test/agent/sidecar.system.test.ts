/** A sidecar and its agent, each a process of its own, before the sandbox. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openAgentKeys } from '../../src/agent/keys.ts'
import { postern } from '../cli/support.ts'
import { NotStartedError, startSidecarProcess } from '../support/sidecar-process.ts'
import { canReadMemory, findInMemory, secretForms, textForms } from './memory.ts'
import { envOf, freshFolder, sandboxOf, startAgentProcess, startSidecar, talk } from './support.ts'

test('no secret number is in the memory of the sidecar, and no text in the memory of its agent', async () => {
  const sandbox = await sandboxOf()
  const agent = await startAgentProcess()
  const sidecar = await startSidecar(sandbox, { POSTERN_KEY_AGENT: agent.address })
  const { hear, say } = await talk(sandbox, sidecar)
  const [said, answered] = ['words-of-alice-7f3a', 'words-of-the-bot-91c2']
  await hear(said)
  expect((await sidecar.command('key', 'rotate', '--watch')).code).toBe(0)
  await say(answered)
  if (!canReadMemory) return

  const words = new Map([...textForms('said', said), ...textForms('answered', answered)])
  const agentPid = agent.process.pid ?? 0
  expect(findInMemory(agentPid, words)).toEqual([])
  // the search finds what is there
  expect(findInMemory(sidecar.pid, words)).not.toEqual([])

  await agent.stop('SIGTERM')
  const keys = await openAgentKeys({ dataDir: agent.dataDir, passphrase: null, protection: 'none' })
  const secrets = new Map(
    keys
      .list()
      .flatMap(({ fingerprint, unlocked }) => [
        ...secretForms(fingerprint, unlocked?.bytes ?? Buffer.alloc(0)),
      ]),
  )
  expect(keys.list()).toHaveLength(2)
  expect(secrets.size).toBe(2 * 2 * 6)
  await keys[Symbol.asyncDispose]()
  expect(findInMemory(sidecar.pid, secrets)).toEqual([])
  const again = await startAgentProcess(join(agent.dataDir, '..'))
  const inAgent = findInMemory(again.process.pid ?? 0, secrets)
  expect(inAgent.some((name) => name.endsWith('number'))).toBe(true)
}, 120_000)

test('a sidecar whose agent is killed opens and sends nothing, and recovers with the agent', async () => {
  const sandbox = await sandboxOf()
  const agent = await startAgentProcess()
  const sidecar = await startSidecar(sandbox, { POSTERN_KEY_AGENT: agent.address })
  const { alice, privateChat } = sandbox.home
  const phone = await sandbox.phone(alice.id)
  await agent.stop('SIGKILL')
  await expect.poll(() => sidecar.readiness()).toEqual({ status: 503, reasons: ['key-agent'] })
  await phone.write(privateChat, 'meanwhile')
  const polled = await sidecar.call('GET', '/updates?timeout=0')
  expect([polled.status, polled.json.error?.code]).toEqual([503, 'postern_locked'])
  const sent = await sidecar.call('POST', '/messages', { chatId: privateChat, text: 'x' })
  expect([sent.status, sent.json.error]).toMatchObject([
    503,
    { code: 'postern_locked', retryAfter: 2 },
  ])

  await startAgentProcess(join(agent.dataDir, '..'))
  await expect.poll(() => sidecar.readiness()).toMatchObject({ status: 200 })
  const after = await sidecar.call('GET', '/updates?timeout=5')
  expect(after.json.result.at(-1).message).toMatchObject({
    text: 'meanwhile',
    postern: { verdict: 'verified' },
  })
}, 60_000)

test('a sidecar whose keys an agent holds does not start without the agent', async () => {
  const sandbox = await sandboxOf()
  const agent = await startAgentProcess()
  const more = { POSTERN_KEY_AGENT: agent.address }
  const sidecar = await startSidecar(sandbox, more)
  await sidecar.stop('SIGTERM')
  await agent.stop('SIGTERM')
  const env = envOf(sandbox, sidecar.folder, more)
  const started = startSidecarProcess({ cwd: sidecar.folder, env })
  const error = await started.catch((cause: unknown) => cause)
  expect(error).toBeInstanceOf(NotStartedError)
  const { exitCode, output } = error as NotStartedError
  expect(exitCode).toBe(1)
  expect(output).toMatch(/the key agent at .*a\.sock is not reached \(ENOENT\)/)
}, 60_000)

test('two sidecars have separate keys at one agent', async () => {
  const agent = await startAgentProcess()
  const more = { POSTERN_KEY_AGENT: agent.address }
  const [one, other] = [await sandboxOf(), await sandboxOf()]
  for (const sandbox of [one, other]) {
    await (await talk(sandbox, await startSidecar(sandbox, more))).hear('for this bot')
  }
  expect(agent.journal().filter(({ event }) => event === 'made')).toHaveLength(2)
}, 60_000)

test('a key moves from the store into the agent by export, import and its certificate', async () => {
  const sandbox = await sandboxOf()
  const folder = freshFolder()
  const before = await startSidecar(sandbox, {}, folder)
  const passphrase = { POSTERN_EXPORT_PASSPHRASE: 'p4ssphrase-of-the-export' }
  const env = { PATH: '/usr/bin:/bin', HOME: folder, ...envOf(sandbox, folder), ...passphrase }
  const exported = await postern(['key', 'export', '-o', 'bot.asc'], { cwd: folder, env })
  expect(exported.code).toBe(0)
  const { stdout: certificate } = await before.command('key', 'show')
  await before.stop('SIGTERM')

  const agentEnv = { ...env, POSTERN_DATA_DIR: join(folder, 'agent') }
  const imported = await postern(['agent', 'import', 'bot.asc'], { cwd: folder, env: agentEnv })
  expect(imported).toMatchObject({ code: 0 })
  const agent = await startAgentProcess(folder)
  const after = await startSidecar(sandbox, { POSTERN_KEY_AGENT: agent.address }, folder)
  const moreEnv = { ...env, POSTERN_KEY_AGENT: agent.address }
  const taken = await postern(['key', 'import'], { cwd: folder, env: moreEnv, input: certificate })
  expect(taken).toMatchObject({ code: 0, stdout: imported.stdout })

  await (await talk(sandbox, after)).hear('opened by the agent')
  const again = await postern(['key', 'export', '-o', 'again.asc'], { cwd: folder, env: moreEnv })
  expect(again.stderr).toMatch(/the agent of key\.agent has it/)
  const secret = await postern(['key', 'import', 'bot.asc'], { cwd: folder, env: moreEnv })
  expect(secret.stderr).toMatch(/with key\.agent no secret key is imported/)
}, 90_000)
