import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { createSidecar } from '../../src/context.ts'
import { createLogger } from '../../src/logger.ts'
import { armorMessage } from '../../src/pgp/armor.ts'
import { TAG, framePacket } from '../../src/pgp/packets.ts'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'

/** A sandbox with a sidecar before it, for calls either way. */
export interface BenchWorld extends AsyncDisposable {
  direct(method: 'GET', path: string): Promise<void>
  through(method: 'GET', path: string): Promise<void>
  /** Runs while a batch of hostile messages is being opened over and over. */
  duringFlood(run: () => Promise<void>): Promise<void>
}

const FLOOD_MESSAGES = 20

export async function startWorld(): Promise<BenchWorld> {
  const sandbox = await createSandbox({ rates: 'off' })
  const dataDir = mkdtempSync(join(tmpdir(), 'pb-'))
  const sidecar = await createSidecar({
    settings: settingsFrom({
      upstream: { url: sandbox.url },
      listen: { port: 0 },
      admin: { port: 0 },
      dataDir: join(dataDir, 'data'),
    }),
    secrets: {
      botToken: SecretSource.fromValue(sandbox.token, 'token'),
      clientToken: null,
      passphrase: SecretSource.fromValue('bench'),
    },
    log: createLogger({ level: 'silent', pretty: false }),
  })
  const { bot, admin } = await sidecar.listen()
  await untilReady(admin)
  const pools = { direct: new Pool(sandbox.url), through: new Pool(bot) }
  const call = async (pool: Pool, method: 'GET', path: string): Promise<void> => {
    const answer = await pool.request({
      method,
      path: `/bot/v1${path}`,
      headers: { authorization: `Bearer ${sandbox.token}` },
    })
    await answer.body.arrayBuffer()
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode}`)
  }
  return {
    direct: (method, path) => call(pools.direct, method, path),
    through: (method, path) => call(pools.through, method, path),
    duringFlood: async (run) => {
      let newest = 0
      for (const armored of floods()) newest = await inject(sandbox, armored)
      const stop = new AbortController()
      const flood = (async () => {
        while (!stop.signal.aborted) await call(pools.through, 'GET', '/updates')
      })()
      try {
        await run()
      } finally {
        stop.abort()
        await flood
        await call(pools.direct, 'GET', `/updates?offset=${newest + 1}`)
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([pools.direct.close(), pools.through.close()])
      await sidecar[Symbol.asyncDispose]()
      await sandbox[Symbol.asyncDispose]()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function untilReady(admin: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${admin}/readyz`)
    await answer.text()
    if (answer.ok) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Messages as full of recipient packets as fits: anonymous ones, and ones for somebody else. */
function floods(): string[] {
  const anonymous = recipientPacket(Buffer.alloc(8))
  const other = recipientPacket(Buffer.alloc(8, 7))
  const container = framePacket(TAG.seipd, Buffer.concat([Buffer.from([1]), Buffer.alloc(60, 1)]))
  const full = (packet: Buffer): string =>
    armorMessage(Buffer.concat([...Array.from({ length: 1000 }, () => packet), container]))
  return Array.from({ length: FLOOD_MESSAGES }, (_, index) => full(index % 2 ? anonymous : other))
}

/** A v3 packet for ECDH that names a key id; the rest has the right shape and no meaning. */
function recipientPacket(keyId: Buffer): Buffer {
  const point = Buffer.concat([Buffer.from([1, 7, 0x40]), Buffer.alloc(32, 9)])
  const wrapped = Buffer.concat([Buffer.from([48]), Buffer.alloc(48, 3)])
  const algorithm = Buffer.from([18])
  return framePacket(TAG.pkesk, Buffer.concat([Buffer.from([3]), keyId, algorithm, point, wrapped]))
}

async function inject(sandbox: Sandbox, armored: string): Promise<number> {
  const { alice, bot, privateChat } = sandbox.home
  const from = { id: alice.id, username: 'alice', firstName: 'Alice', lastName: null, isBot: false }
  const chat = { id: privateChat, kind: 'private' }
  const message = {
    id: 1,
    chat,
    from,
    date: Date.now(),
    replyTo: null,
    kind: 'user',
    armored,
    media: [],
  }
  const update = { kind: 'message', message }
  return (await sandbox.control.injectUpdate({ botId: bot.id, update })).updateId
}
