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

test.each([40, -400])(
  'words are judged by the service’s time where our clock is %i days ahead, also from the start',
  async (days) => {
    const person = await stage.friend()
    const chat = stage.privateChat(person)
    for (const isRestarted of [false, true]) {
      moveClock(days)
      if (isRestarted) await stage.restart()
      await stage.sidecar.whenReason('clock')
      const message = await sealed(person, chat, `fresh ${days} ${isRestarted}`)
      const [read] = await stage.deliver([message])
      expect(read.postern.verdict).toBe('verified')
      moveClock(0)
      await until(async () => !(await stage.sidecar.readiness()).reasons.includes('clock'), 'agree')
      const [copy] = await stage.deliver([{ ...message, messageId: message.messageId + 1000 }])
      expect(copy.postern.verdict).toBe('replayed')
    }
  },
)

test('with a clock from before the bot’s key, a send says so and is whole again when it is set', async () => {
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
