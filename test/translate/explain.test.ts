import { expect, test } from 'vitest'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()

async function explain(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await stage.sidecar.postern('explain', ...args)
  expect(code, stderr).toBe(0)
  return stdout
}

/** Words in a person's chat, sealed by a phone that may be another one's. @returns their update's id */
async function deliver(chat: DoubleChat, words: string, by: Person): Promise<number> {
  const armored = await by.phone.seal(words, [stage.botCertificate])
  const message = stage.double.world.message(chat, chat.people[0] ?? null, { armored })
  const [update] = await stage.deliverUpdates([{ kind: 'message', message }])
  return update.updateId
}

test('`explain` of a withheld message shows verdict, key and hint, and not its text', async () => {
  const person = await stage.friend()
  const stranger = await stage.person()
  const chat = stage.privateChat(person)
  const words = canary()
  const id = await deliver(chat, words, stranger)
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

test('`explain` of a delivered message shows its signer, also after a restart', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  const id = await deliver(chat, canary(), person)
  const before = await explain(String(id), '--json')
  expect(JSON.parse(before)).toMatchObject([
    { verdict: 'verified', delivered: true, signer: person.phone.fingerprint },
  ])
  await stage.restart()
  await stage.sidecar.whenReady()
  expect(await explain(String(id), '--json')).toBe(before)
})

test('`explain --sent` shows the number of recipients and the skipped people of a send', async () => {
  const person = await stage.friend()
  const broken = stage.double.world.addUser({ certificate: 'none', fingerprint: 'ab'.repeat(20) })
  const sent = await stage.send(stage.group([person, broken]), canary())
  expect(sent.status, sent.text).toBe(201)
  const output = await explain(String(sent.json.result.id), '--sent')
  expect(output).toMatch(/^sealed to +1 person$/m)
  expect(output).toMatch(
    new RegExp(`^skipped +person ${broken.id}: unparseable, what is listed`, 'm'),
  )
  expect(output).toContain('the person must publish')
})

test('`explain --withheld` lists withheld messages by chat and verdict, without their texts', async () => {
  const person = await stage.friend()
  const stranger = await stage.person()
  const chat = stage.privateChat(person)
  const words = canary()
  await deliver(chat, words, stranger)
  await deliver(chat, words, person)
  const last = await deliver(chat, words, stranger)
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
  [['twelve'], 2, /an id from 0/],
])('`explain` with the arguments %j fails with a hint', async (args, code, output) => {
  const ended = await stage.sidecar.postern('explain', ...args)
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr).toMatch(output)
  expect(ended.stderr).toMatch(/hint: /)
})
