import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startAlertReceiver } from '../support/alert-receiver.ts'
import { canary, Stage, type Person } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const alerts = await startAlertReceiver()
/** Canaries are of small letters, and faulty native code makes them capitals. */
const words = (): string => `small ${canary()}`

const alerted = (): Json[] => alerts.posted.filter(({ alert }) => alert === 'engine-differs')

describe.each(['sealed', 'opened'] as const)('native code whose %s messages are wrong', (work) => {
  const stage = new Stage()
  let person: Person
  let chat: DoubleChat
  beforeAll(async () => {
    await stage.begin({
      env: {
        TESTS_FAULTY: work,
        TESTS_ENGINE: 'native',
        POSTERN_OPENPGP_CHECK: 'all',
        POSTERN_ALERT_URL: alerts.url,
      },
    })
    person = await stage.person()
    chat = stage.privateChat(person)
    await stage.show(chat)
  })
  afterAll(() => stage.end())

  /** What the person reads of a message of the bot. */
  async function readAtPhone(text: string): Promise<string> {
    const since = stage.double.mark()
    expect((await stage.send(chat, text)).status).toBe(201)
    const { text: read, signer } = await person.phone.open(
      stage.bodies(since)[0]?.armored,
      stage.botCertificate,
    )
    expect(signer?.toUpperCase()).toBe(stage.double.world.bot.fingerprint)
    return read
  }

  /** What the bot reads of a message of the person. */
  async function readByBot(text: string): Promise<Json> {
    const armored = await person.phone.seal(text, [stage.botCertificate])
    const [message] = await stage.deliver([stage.double.world.message(chat, person, { armored })])
    return message
  }

  const metrics = async (): Promise<string> =>
    await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  const fatal = (): Json[] =>
    stage.sidecar
      .logs()
      .split('\n')
      .filter((line) => line.includes('"level":"fatal"') || line.includes('"level":60'))
      .map((line) => JSON.parse(line))

  test('a result of native code that differs is logged as fatal, counted, alerted and named in /readyz', async () => {
    const before = alerted().length
    const text = words()
    const read = work === 'sealed' ? await readAtPhone(text) : (await readByBot(text)).text
    expect(read).toBe(text.toUpperCase())
    await stage.sidecar.whenReason('engine-differs')
    await expect.poll(fatal).toMatchObject([{ work }])
    expect(JSON.stringify(fatal())).not.toContain(text)
    expect(await metrics()).toMatch(
      new RegExp(`^postern_engine_checks_total\\{work="${work}",result="differs"\\} 1$`, 'm'),
    )
    await expect.poll(() => alerted().length).toBe(before + 1)
    expect(alerted().at(-1)).toMatchObject({ holds: true })
  })

  test('a difference between native code and openpgp.js leaves the sidecar ready', async () => {
    const { status, reasons } = await stage.sidecar.readiness()
    expect({ status, reasons }).toEqual({ status: 200, reasons: ['engine-differs'] })
    expect(await metrics()).toMatch(/^postern_ready 1$/m)
    expect(stage.sidecar.logs()).not.toContain('not ready: a check found')
  })

  test('openpgp.js seals and opens all messages after a wrong result of native code', async () => {
    for (const text of [words(), words()]) {
      expect(await readAtPhone(text)).toBe(text)
      expect(await readByBot(text)).toMatchObject({ text, postern: { verdict: 'verified' } })
    }
    expect(fatal()).toHaveLength(1)
  })

  test('a restarted sidecar has no reason `engine-differs`', async () => {
    await stage.restart()
    await stage.sidecar.whenReady()
    expect((await stage.sidecar.readiness()).reasons).toEqual([])
  })
})
