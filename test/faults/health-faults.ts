/** What can keep a sidecar from its job, and how each is brought about on an idle one and mended. */
import { execFile } from '../support/programs.ts'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import type { ReasonCode } from '../../src/observe/health.ts'
import { changeSealed, changeStore } from '../rotation/support.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { runPostern } from '../support/sidecar.ts'
import type { HealthStage } from './health-stage.ts'

/** A reason, and what brings it about. */
export interface HealthFault {
  code: ReasonCode
  /** What goes wrong, for people. */
  cause: string
  /** Made ready before the clock runs. @returns false where this machine cannot do it */
  prepare?: (stage: HealthStage) => Promise<boolean>
  /** Lets it go wrong. @returns when it went wrong, by `Date.now()`, when that is not now */
  strike: (stage: HealthStage) => Promise<number | void>
  /** Mends it, as the hint of the reason says. */
  mend: (stage: HealthStage) => Promise<unknown>
}

const clear = (stage: HealthStage): Promise<unknown> => stage.sandbox.control.clearFaults({})
const EXPIRY_PASSPHRASE = 'for the way out and back'

export const HEALTH_FAULTS: readonly HealthFault[] = [
  {
    code: 'upstream',
    cause: 'the service cuts every call',
    strike: async ({ sandbox }) => void (await sandbox.control.fault({ name: 'cut' })),
    mend: clear,
  },
  {
    code: 'upstream',
    cause: 'the service takes calls and answers none',
    strike: async ({ sandbox }) => void (await sandbox.control.fault({ name: 'hang' })),
    mend: clear,
  },
  {
    code: 'upstream',
    cause: 'the service answers every call with 500',
    strike: async ({ sandbox }) =>
      void (await sandbox.control.fault({ name: 'error', status: 500, code: 'internal' })),
    mend: clear,
  },
  {
    code: 'paused',
    cause: 'the owner pauses the bot',
    strike: async ({ sandbox, bot }) => void (await sandbox.control.pause(bot)),
    mend: ({ sandbox, bot }) => sandbox.control.resume(bot),
  },
  {
    code: 'identity',
    cause: '`/me` describes another bot',
    strike: (stage) => stage.claim({ id: stage.bot.botId + 1 }),
    mend: clear,
  },
  {
    code: 'clock',
    cause: 'the service’s clock is ten minutes ahead',
    strike: (stage) => stage.claim({}, { date: new Date(Date.now() + 600_000).toUTCString() }),
    mend: clear,
  },
  {
    code: 'key-conflict',
    cause: 'the service shows a key that is not ours',
    strike: (stage) => stage.claim({ mode: 'protected', fingerprint: 'AB'.repeat(20) }),
    mend: clear,
  },
  {
    code: 'bot-unprotected',
    cause: 'the owner removes the key',
    strike: async ({ sandbox, bot }) => void (await sandbox.control.removeKey(bot)),
    mend: ({ sidecar }) => sidecar.postern('key', 'publish'),
  },
  {
    code: 'key-unpublished',
    cause: 'a new key is not taken',
    prepare: async (stage) => {
      await stage.beginAnew()
      return true
    },
    strike: async (stage) => {
      await stage.sandbox.control.fault({
        name: 'error',
        route: 'putKey',
        status: 500,
        code: 'internal',
      })
      // until it listens nobody can be told anything
      await stage.start()
    },
    mend: clear,
  },
  {
    code: 'token',
    cause: 'the owner issues another token, and puts it into the file later',
    strike: async (stage) => {
      stage.token = (await stage.sandbox.control.issueToken(stage.bot)).token
    },
    mend: async (stage) => writeFileSync(stage.tokenFile, stage.token),
  },
  {
    code: 'updates-expiring',
    cause: '/me says that 9,000 updates wait',
    strike: (stage) => stage.claim({ queued: 9000 }),
    mend: clear,
  },
  {
    code: 'webhook-at-service',
    cause: 'a webhook is set at the service',
    strike: async (stage) =>
      void (await stage.past('POST', '/webhook', { url: 'http://127.0.0.1:9/bot' })),
    mend: (stage) => stage.past('DELETE', '/webhook'),
  },
  {
    code: 'second-poller',
    cause: 'a bot that polls, and a script that polls too',
    prepare: async (stage) => {
      stage.poll()
      return true
    },
    strike: async (stage) => {
      stage.pollPast()
    },
    mend: async (stage) => stage.stopPollingPast(),
  },
  {
    code: 'webhook-failing',
    cause: 'the tenth delivery in a row fails, nine did before',
    prepare: async (stage) => {
      stage.stopPolling()
      await stage.call('POST', '/webhook', { url: 'http://127.0.0.1:9/bot' })
      await stage.stop()
      changeStore(stage.dataDir, 'UPDATE webhook SET failures = 9')
      await stage.start()
      await stage.sidecar.whenReady()
      return true
    },
    strike: (stage) => stage.write(),
    mend: async (stage) => {
      const receiver = createServer((_request, response) => void response.end())
      stage.use(receiver)
      await stage.call('POST', '/webhook', { url: `${await listening(receiver)}/bot` })
    },
  },
  {
    code: 'key-expired',
    cause: 'the bot’s key comes to its end',
    prepare: async (stage) => {
      await stage.call('DELETE', '/webhook')
      await letKeyExpire(stage, 40)
      return true
    },
    strike: async (stage) => {
      const atMs = stage.keyEndsMs
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - Date.now())))
      return atMs
    },
    mend: ({ sidecar }) => sidecar.postern('key', 'rotate'),
  },
  {
    code: 'store',
    cause: 'the disk is full',
    prepare: async (stage) => stage.isOnSmallDisk,
    strike: (stage) => fill(join(stage.folder, 'disk', 'filler')),
    mend: async (stage) => rmSync(join(stage.folder, 'disk', 'filler')),
  },
]

/** Takes all that is left of a disk. */
async function fill(file: string): Promise<void> {
  const append = (size: number): Promise<boolean> =>
    new Promise((resolve) => {
      const options = [`bs=${size}`, 'count=1', 'oflag=append', 'conv=notrunc']
      execFile('dd', ['if=/dev/zero', `of=${file}`, ...options], (error) => resolve(error === null))
    })
  for (let size = 1 << 20; size >= 1; size >>= 1) while (await append(size)) continue
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

/** Gives the active key an end in so many seconds: no command makes keys that end. */
async function letKeyExpire(stage: HealthStage, seconds: number): Promise<void> {
  const env = { ...stage.env, POSTERN_EXPORT_PASSPHRASE: EXPIRY_PASSPHRASE }
  const { stdout } = await runPostern(['key', 'export'], { env })
  await using gpg = await Gpg.start()
  await gpg.run(['--import'], stdout, EXPIRY_PASSPHRASE)
  const { fingerprint } = await stage.me()
  await gpg.run(
    ['--quick-set-expire', fingerprint, `seconds=${seconds}`],
    undefined,
    EXPIRY_PASSPHRASE,
  )
  const listed = await gpg.run(['--with-colons', '--list-keys', fingerprint])
  const ends = /^pub:(?:[^:]*:){5}(\d+)/m.exec(listed.stdout.toString())?.[1]
  stage.keyEndsMs = Number(ends) * 1000
  const certificate = (await gpg.run(['--armor', '--export', fingerprint])).stdout.toString()
  await stage.stop()
  await changeSealed(stage.dataDir, 'own_keys', { certificate })
  await stage.start()
  await stage.sidecar.whenReady()
}
