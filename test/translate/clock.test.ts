import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { useStage, type Person } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { until } from '../support/sidecar.ts'

const DAY_MS = 86_400_000
const MOVE_CLOCK = fileURLToPath(new URL('../faults/move-clock.ts', import.meta.url))
const clockFile = join(mkdtempSync(join(tmpdir(), 'postern-clock-')), 'clock')

/** Puts the sidecar's clock so many days ahead of everybody else's. */
const moveClock = (days: number): void => writeFileSync(clockFile, String(days * DAY_MS))
moveClock(0)

const stage = useStage({
  inside: false,
  env: { NODE_OPTIONS: `--import=${MOVE_CLOCK}`, FAULTS_CLOCK_FILE: clockFile },
})
afterEach(() => moveClock(0))

async function sealed(person: Person, chat: DoubleChat, text: string) {
  const armored = await person.phone.seal(text, [stage.botCertificate])
  return stage.double.world.message(chat, person, { armored })
}

test.each([
  [40, 'while it runs'],
  [-400, 'from its start'],
])(
  'a message is judged by the service’s time with a clock %i days off, %s',
  async (days, since) => {
    const person = await stage.friend()
    const chat = stage.privateChat(person)
    moveClock(days)
    if (since === 'from its start') await stage.restart()
    await stage.sidecar.whenReason('clock')
    const message = await sealed(person, chat, `fresh ${days}`)
    const [read] = await stage.deliver([message])
    expect(read.postern.verdict).toBe('verified')
    moveClock(0)
    await until(async () => !(await stage.sidecar.readiness()).reasons.includes('clock'), 'agree')
    const [copy] = await stage.deliver([{ ...message, messageId: message.messageId + 1000 }])
    expect(copy.postern.verdict).toBe('replayed')
  },
)

test('a send with a clock before the bot’s key is `postern_clock_wrong`, and succeeds once the clock is right', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  moveClock(-4000)
  await stage.restart()
  await stage.sidecar.whenReason('clock')
  const refused = await stage.send(chat, 'words')
  expect([refused.status, refused.json.error?.code]).toEqual([503, 'postern_clock_wrong'])
  moveClock(0)
  await until(
    async () => (await stage.send(chat, 'words')).status < 300,
    'a send by the right clock',
  )
})
