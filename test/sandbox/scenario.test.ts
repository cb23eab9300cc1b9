import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createControlClient, playScenario, type SeedInput } from '../../src/sandbox/index.ts'
import { runInProcess } from '../cli/support.ts'
import { ask, still } from './support.ts'
import { temporaryFolder } from './world-file.ts'

const VOTE = { inlineKeyboard: [[{ text: 'Yes', callbackData: 'yes' }]] }

/**
 * A sandbox, and its control with a bot behind it, which asks for a vote after each message and
 * answers presses: `at once`, or a moment later.
 */
async function stage(
  when: 'at once' | 'later' = 'at once',
  clock: 'still' | 'running' = 'running',
) {
  const sandbox = await still({ clock, rates: 'off' })
  const work: Promise<void>[] = []
  onTestFinished(async () => {
    await Promise.all(work)
    await sandbox[Symbol.asyncDispose]()
  })
  async function act(request: string, body: object): Promise<void> {
    const { error } = await ask(sandbox, request, { body })
    if (error?.retryAfter === undefined) return
    const again = pause(error.retryAfter * 1000).then(() => act(request, body))
    work.push(again)
  }
  async function bot(request: string, body: object): Promise<void> {
    if (when === 'at once') await act(request, body)
    else work.push(pause(50).then(() => act(request, body)))
  }
  const { control } = sandbox
  const played: typeof control = {
    ...control,
    write: async (input) => {
      const sent = await control.write(input)
      const { chatId, text } = input
      await bot('POST /messages', { chatId, text: `Vote: ${text}`, markup: VOTE })
      return sent
    },
    press: async (input) => {
      const pressed = await control.press(input)
      await bot(`POST /callbacks/${pressed.callbackId}/answer`, { text: input.data })
      return pressed
    },
  }
  return { sandbox, control: played, home: sandbox.home }
}

const inDm = { userId: 'alice', chatId: 'dm' }
const question = { ...inDm, fromId: 'echo_bot', text: 'Vote: tea?' }
const asked = { as: 'asked', write: { ...inDm, text: 'tea?' } }

/** A scenario in Alice's private chat. */
const scenario = (...steps: SeedInput['steps'] & object): SeedInput => ({
  people: { alice: {} },
  bots: { echo_bot: {} },
  chats: { dm: { kind: 'private', person: 'alice', bot: 'echo_bot' } },
  steps,
})

test('a scenario waits for messages, buttons and answers, twice in one world', async () => {
  const { control, home } = await stage('later')
  const file = scenario(
    asked,
    { as: 'question', expect: { ...question, verdict: 'readable', buttons: [['Yes']] } },
    { press: { ...inDm, data: 'yes', messageId: 'question', answer: 'yes' } },
    { write: { ...inDm, text: 'tea?', replyTo: 'question' } },
    { press: { ...inDm, data: 'yes' } },
    { advance: { ms: 1000 } },
  )
  await playScenario(control, file)
  await playScenario(control, file)
  const written = await control.messages({ chatId: home.privateChat })
  expect(written.filter(({ fromId }) => fromId === home.alice.id)).toHaveLength(4)
})

test('a scenario is played in the world that is made of its file, by the names in it', async () => {
  const { control } = await stage()
  const seed = scenario({ write: { userId: 'carol', chatId: 'club', text: 'who is in?' } })
  Object.assign(seed.people ?? {}, { carol: {} })
  const members = { carol: 'owner', alice: 'member', echo_bot: 'member' } as const
  Object.assign(seed.chats ?? {}, { club: { kind: 'group', mode: 'open', members } })
  await expect(playScenario(control, seed)).rejects.toThrow('@carol is not in this sandbox')
  const world = createControlClient((await control.addWorld({ seed })).controlUrl)
  await playScenario(world, seed)
  const club = (await world.chats()).find(({ name }) => name === 'club')
  const said = await world.messages({ chatId: club?.id ?? 0 })
  expect(said.map(({ text }) => text)).toContain('who is in?')
})

test.each([
  ['expect', { ...question, text: 'Vote: ?' }, 'text: expected "Vote: ?", got "Vote: tea?"'],
  ['expect', { ...question, verdict: 'verified' }, 'verdict: expected "verified", got "readable"'],
  ['expect', { ...question, buttons: [['No']] }, 'buttons: expected [["No"]], got [["Yes"]]'],
  ['expect', { ...question, fromId: 'alice' }, 'text: expected "Vote: tea?", got "tea?"'],
  ['press', { ...inDm, data: 'no' }, 'data: expected "no", got ["yes"]'],
  ['press', { ...inDm, data: 'yes', answer: 'no' }, 'answer: expected "no", got "yes"'],
  ['press', { ...inDm, data: 'yes', messageId: 'asked' }, 'data: expected "yes", got []'],
  ['write', { ...inDm, text: ' ' }, 'text: there is nothing to write'],
])('a scenario names its step that differs, %s %o, as %s', async (action, given, problem) => {
  const { control } = await stage()
  const file = scenario(asked, { [action]: given })
  await expect(playScenario(control, file, { withinMs: 0 })).rejects.toMatchObject({
    code: 'scenario_differs',
    step: 2,
    action,
    message: `step 2 (${action}): ${problem}`,
  })
})

test('a step of a scenario meets only a message that appeared in it, and each once', async () => {
  const { control } = await stage()
  await playScenario(control, scenario(asked, { expect: question }))
  for (const step of [{ expect: question }, { press: { ...inDm, data: 'yes' } }]) {
    const again = playScenario(control, scenario(step), { withinMs: 0 })
    await expect(again).rejects.toMatchObject({ step: 1 })
  }
  const twice = scenario(asked, { expect: question }, { expect: question })
  await expect(playScenario(control, twice, { withinMs: 0 })).rejects.toMatchObject({
    message: 'step 3 (expect): no message came, expected "Vote: tea?"',
  })
})

test.each(['still', 'running'] as const)(
  'a scenario waits as long as the service holds the bot back (429), on a %s clock',
  async (clock) => {
    const { sandbox, control } = await stage('at once', clock)
    const limit = { status: 429, code: 'flood_wait', retryAfter: 1 }
    sandbox.fault('error', { route: 'sendMessage', times: 1, ...limit })
    await playScenario(control, scenario(asked, { expect: question }), { withinMs: 500 })
  },
)

test('the faults that a scenario sets end with it, and no other', async () => {
  const { control, home } = await stage()
  await control.givePhone({ userId: home.alice.id })
  await control.fault({ name: 'delay', delayMs: 1 })
  const lie = { name: 'swap-key', userId: 'alice', certificateOf: 'alice' }
  await playScenario(control, scenario({ fault: lie }))
  expect((await control.faults()).map(({ name }) => name)).toEqual(['delay'])
})

test('a scenario with unknown names, labels and actions is refused', async () => {
  const { control } = await stage()
  const file = scenario(
    { write: { userId: 'alicia', chatId: 'dm', text: 'x', replyTo: 'later' } },
    { as: 'later', expect: { ...inDm, fromId: 'other_bot' } },
  )
  const problems = [
    'steps.0.write.userId: no person alicia',
    'steps.0.write.replyTo: no step later',
    'steps.1.expect.fromId: no account other_bot',
  ]
  await expect(playScenario(control, file)).rejects.toThrow(problems.join('\n'))
  const shapeless = scenario({}, { write: inDm, press: inDm } as never)
  await expect(playScenario(control, shapeless)).rejects.toMatchObject({ code: 'bad_seed' })
})

test('`sandbox play` ends with 0, 1 where a step differs, and 2 for another file', async () => {
  const { sandbox } = await stage()
  const file = join(temporaryFolder(), 'vote.json')
  const play = async (text: string, chatId = 'dm') => {
    writeFileSync(file, JSON.stringify(scenario({ write: { ...inDm, chatId, text } })))
    return await runInProcess(['sandbox', 'play', file, '--control', sandbox.controlUrl])
  }
  expect(await play('tea?')).toMatchObject({ code: 0, stderr: 'every step passed\n' })
  expect(await play(' ')).toMatchObject({
    code: 1,
    stdout: 'step 1 (write): text: there is nothing to write\n',
    stderr: expect.stringMatching(/step 1 of .*vote\.json differs[^]*code: scenario-differs/),
  })
  expect(await play('tea?', 'dn')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('vote.json:1:'),
  })
})
