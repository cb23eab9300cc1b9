import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'

const stage = useStage()

async function explain(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await stage.sidecar.postern('explain', ...args)
  expect(code, stderr).toBe(0)
  return stdout
}

/** Delivers one Message. @returns its update's id */
async function deliver(message: unknown): Promise<number> {
  const [update] = await stage.deliverUpdates([{ kind: 'message', message }])
  return update.updateId
}

test('a withheld message is explained: verdict, reason, key, what to do, and never its words', async () => {
  const person = await stage.friend()
  const stranger = await stage.person()
  const chat = stage.privateChat(person)
  const words = canary()
  const armored = await stranger.phone.seal(words, [stage.botCertificate])
  const id = await deliver(stage.double.world.message(chat, person, { armored }))
  const output = await explain(String(id))
  expect(output).toMatch(/^verdict +bad-signature$/m)
  expect(output).toMatch(/^its text +was withheld from the bot$/m)
  expect(output).toMatch(
    new RegExp(`^opened with +${stage.double.world.published?.fingerprint}`, 'm'),
  )
  expect(output).toMatch(/^what to do +treat it as forged/m)
  expect(output).toContain(`in chat ${chat.id}, by ${person.id}`)
  stage.expectNowhere(words)
  const [json] = JSON.parse(await explain(String(id), '--json'))
  expect(json).toMatchObject({ chatId: chat.id, userId: person.id, delivered: false, signer: null })
})

test('a delivered message is explained by who signed it, also after a restart', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const armored = await person.phone.seal(canary(), [stage.botCertificate])
  const id = await deliver(stage.double.world.message(chat, person, { armored }))
  const before = await explain(String(id), '--json')
  expect(JSON.parse(before)).toMatchObject([
    { verdict: 'verified', delivered: true, signer: person.phone.fingerprint },
  ])
  await stage.restart()
  await stage.sidecar.whenReady()
  expect(await explain(String(id), '--json')).toBe(before)
})

test('a message of the bot’s is explained by how many it was sealed to and who was skipped', async () => {
  const person = await stage.friend()
  const broken = stage.double.world.addUser({ certificate: 'none', fingerprint: 'ab'.repeat(20) })
  const sent = await stage.send(stage.group([person, broken]), canary())
  expect(sent.status, sent.text).toBe(201)
  const output = await explain(String(sent.json.result.id), '--sent')
  expect(output).toMatch(/^sealed to +one person$/m)
  expect(output).toMatch(
    new RegExp(`^skipped +person ${broken.id}: unparseable, what is listed`, 'm'),
  )
  expect(output).toContain('the person must publish')
})

test('what was withheld is listed by chat and reason, without words, and what was delivered is not', async () => {
  const person = await stage.friend()
  const stranger = await stage.person()
  const chat = stage.privateChat(person)
  const words = canary()
  const send = async (by: typeof person) => {
    const armored = await by.phone.seal(words, [stage.botCertificate])
    return await deliver(stage.double.world.message(chat, person, { armored }))
  }
  await send(stranger)
  await send(person)
  const last = await send(stranger)
  const listed = JSON.parse(await explain('--withheld', '--json'))
  const here = listed.filter(({ chatId }: { chatId: number }) => chatId === chat.id)
  expect(here).toEqual([
    {
      chatId: chat.id,
      verdict: 'bad-signature',
      reason: null,
      count: 2,
      lastUpdateId: last,
      firstAt: expect.stringMatching(/^\d{4}-.*Z$/),
      lastAt: expect.stringMatching(/^\d{4}-.*Z$/),
    },
  ])
  expect(listed[0].chatId, 'the latest first').toBe(chat.id)
  expect(await explain('--withheld')).toMatch(
    new RegExp(`^${chat.id} +2 +bad-signature .* ${last}$`, 'm'),
  )
  stage.expectNowhere(words)
})

test.each([
  [['--withheld', '4711'], 2, /takes neither an id nor --sent/],
  [['--withheld', '--sent'], 2, /takes neither an id nor --sent/],
  [[], 2, /no update is named/],
  [['424242'], 1, /nothing is remembered of update 424242/],
  [['424242', '--sent'], 1, /nothing is remembered of message 424242/],
  [['twelve'], 2, /whole number/],
])('explain %j says that it knows nothing, and what to do', async (args, code, output) => {
  const ended = await stage.sidecar.postern('explain', ...args)
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr).toMatch(output)
  expect(ended.stderr).toMatch(/hint: /)
})
