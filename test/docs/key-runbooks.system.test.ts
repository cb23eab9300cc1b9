/** The runbooks for the bot's key: their commands are run as they stand there. */
import { copyFileSync, rmSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { Stage } from '../cli/secrets-stage.ts'
import { blocks, commands, shell } from './runbook.ts'

// Each is a good many processes, one after the other.
vi.setConfig({ testTimeout: 240_000 })

const OUT = { POSTERN_EXPORT_PASSPHRASE: 'the passphrase on the way' }
const FOREIGN = "Somebody else's key at the service"

type Running = Awaited<ReturnType<Stage['up']>>

/** Calls the sidecar's door as the bot does. */
async function call(stage: Stage, sidecar: Running, path: string, body?: object) {
  const [, door] = await sidecar.waitForStderr(/"bot":"([^"]+)"/)
  const answer = await fetch(`${door}/bot/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${stage.sandbox.token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const { error } = (await answer.json()) as { error?: { code: string } }
  return error?.code ?? answer.status
}

const send = (stage: Stage, sidecar: Running) =>
  call(stage, sidecar, '/messages', { chatId: stage.sandbox.home.privateChat, text: 'words' })

/** A stage, and another whose key the service shows. */
async function conflicting(): Promise<{ ours: Stage; theirs: Stage; sidecar: Running }> {
  const [ours, theirs] = [await Stage.plain(), await Stage.plain()]
  const env = theirs.env.bind(theirs)
  const { url, token } = ours.sandbox
  theirs.env = (more) => env({ POSTERN_UPSTREAM_URL: url, POSTERN_BOT_TOKEN: token, ...more })
  await ours.sandbox.phone(ours.sandbox.home.alice.id)
  const sidecar = await ours.up()
  await theirs.does('key generate')
  await theirs.does('key publish --replace')
  await call(ours, sidecar, '/me')
  await expect.poll(() => send(ours, sidecar)).toBe('postern_key_conflict')
  return { ours, theirs, sidecar }
}

test('the runbook “Rotation” publishes a new key, and the former key still opens', async () => {
  const stage = await Stage.plain()
  const sidecar = await stage.up()
  const before = await stage.shown()
  const { stdout } = await shell(stage, commands('Rotation'))
  expect(await stage.shown()).not.toBe(before)
  expect(stdout).toMatch(new RegExp(`^${await stage.shown()} +active`, 'm'))
  expect(stdout).toMatch(new RegExp(`^${before} +retired .* until `, 'm'))
  await stage.down(sidecar)
})

test('the runbook for a foreign key replaces it, or imports it', async () => {
  const { ours, theirs, sidecar } = await conflicting()
  const foreign = await ours.shown()
  expect(await ours.run('key publish')).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('postern_key_conflict'),
  })
  const [there = [], here = [], replace = []] = blocks(FOREIGN)
  await shell(ours, replace)
  expect(await ours.shown()).not.toBe(foreign)
  expect(await send(ours, sidecar)).toBe(201)

  await theirs.does('key publish --replace')
  await call(ours, sidecar, '/me')
  await expect.poll(() => send(ours, sidecar)).toBe('postern_key_conflict')
  await shell(theirs, there, { more: OUT })
  copyFileSync(theirs.path('key.asc'), ours.path('key.asc'))
  await shell(ours, here, { more: OUT })
  await expect.poll(() => send(ours, sidecar)).toBe(201)
  expect(await ours.shown()).toBe(foreign)
  await ours.down(sidecar)
})

test('the runbook for a key that the owner removed protects again, or makes chats readable', async () => {
  const stage = await Stage.plain()
  let sidecar = await stage.up()
  const { control, home } = stage.sandbox
  const removeKey = async (): Promise<void> => {
    await control.removeKey({ botId: home.bot.id })
    await call(stage, sidecar, '/me')
    await expect.poll(() => send(stage, sidecar)).toBe('postern_bot_unprotected')
  }
  await stage.sandbox.phone(home.alice.id)
  const [again = [], leave = []] = blocks('The owner removed the key')
  await removeKey()
  await shell(stage, again)
  expect(await send(stage, sidecar)).toBe(201)
  expect(await stage.shown()).not.toBeNull()

  await removeKey()
  await shell(stage, leave)
  expect(await send(stage, sidecar)).toBe(201)
  await stage.down(sidecar)
  sidecar = await stage.up()
  expect(await send(stage, sidecar)).toBe(201)
  expect(await stage.shown()).toBeNull()
  await shell(stage, again)
  expect(await stage.shown()).not.toBeNull()
  // private chats are protected again: without the key, nothing is sent
  await removeKey()
  await stage.down(sidecar)
})

test('the runbook “Lost key” replaces the key of a lost store', async () => {
  const stage = await Stage.plain()
  await stage.down(await stage.up())
  const lost = await stage.shown()
  rmSync(stage.dataDir, { recursive: true })
  const lines = commands('Lost key')
  expect(lines.at(-1)).toMatch(/^postern run\b/)
  await shell(stage, lines.slice(0, -1))
  await stage.down(await stage.up())
  expect(await stage.shown()).not.toBe(lost)
})
