import assert from 'node:assert/strict'
import { FIXED_LIMITS, LIMITS } from '../../../src/api/limits.ts'
import { casesOf, inGroup } from '../case.ts'
import { no, ok } from '../expect.ts'
import { button, say } from '../steps.ts'
import type { Stage } from '../stage.ts'

const url = (chars: number): string => 'https://example.org/'.padEnd(chars, 'x')
const data = { callbackData: 'd' }

/** A keyboard of so many rows, each of so many buttons. */
function keyboard(rows: number, perRow: number): object {
  const row = Array.from({ length: perRow }, () => ({ text: 'x', ...data }))
  return { inlineKeyboard: Array.from({ length: rows }, () => row) }
}

/** A keyboard whose JSON has exactly so many bytes. */
function keyboardOf(bytes: number): object {
  const full = Array.from({ length: 8 }, () => ({ text: 'x', url: url(1000) }))
  const build = (last: number) => ({
    inlineKeyboard: [full.slice(1), [{ text: 'x', url: url(last) }]],
  })
  const last = bytes - JSON.stringify(build(20)).length + 20
  const built = build(last)
  assert.equal(JSON.stringify(built).length, bytes)
  return built
}

async function send(stage: Stage, markup: unknown) {
  return await stage.bot.post('/messages', {
    chatId: await stage.group(),
    text: stage.words(),
    markup,
  })
}

const BOUNDS = [
  'limit keyboardRows',
  'limit buttonsPerRow',
  'limit buttonsTotal',
  'limit buttonTextMax',
  'limit callbackDataBytes',
  'limit urlMax',
  'limit markupBytes',
] as const

export const MARKUP = casesOf('Inline keyboard (markup)', {
  'a message contains its keyboard in clear, unchanged': {
    proves: ['markup-shape', 'markup-readable'],
    needs: ['people', 'group'],
    run: inGroup(async (stage, chatId) => {
      const inlineKeyboard = [
        [{ text: 'One', callbackData: '1' }],
        [
          { text: 'Two', callbackData: 'é' },
          { text: 'Go', url: 'http://example.org/a?b=c' },
        ],
      ]
      const id = await say(stage, chatId, { markup: { inlineKeyboard } })
      const held = (await stage.held(chatId)).find((one) => one.id === id)
      assert.deepEqual(held?.markup, { inlineKeyboard })
    }),
  },
  'a keyboard at each of its limits is accepted': {
    proves: BOUNDS,
    needs: ['group', 'clock'],
    run: async (stage) => {
      const { keyboardRows, buttonsPerRow, buttonTextMax, callbackDataBytes, urlMax } = LIMITS
      const fits = [
        keyboard(keyboardRows, 5),
        keyboard(12, buttonsPerRow),
        button({ ...data, text: 'x'.repeat(buttonTextMax) }),
        button({ callbackData: 'x'.repeat(callbackDataBytes) }),
        button({ callbackData: 'é'.repeat(callbackDataBytes / 2) }),
        button({ url: url(urlMax) }),
        keyboardOf(FIXED_LIMITS.markupBytes),
      ]
      for (const markup of fits) ok(await send(stage, markup), 201)
    },
  },
  'a keyboard beyond any of its limits is refused as bad_markup': {
    proves: ['error bad_markup', ...BOUNDS],
    needs: ['group'],
    run: async (stage) => {
      const { keyboardRows, buttonsPerRow, buttonTextMax, callbackDataBytes, urlMax } = LIMITS
      const tooMuch = [
        keyboard(keyboardRows + 1, 1),
        keyboard(1, buttonsPerRow + 1),
        keyboard(17, 6),
        button({ ...data, text: 'x'.repeat(buttonTextMax + 1) }),
        button({ callbackData: 'x'.repeat(callbackDataBytes + 1) }),
        button({ callbackData: 'é'.repeat(callbackDataBytes / 2 + 1) }),
        button({ url: url(urlMax + 1) }),
        keyboardOf(FIXED_LIMITS.markupBytes + 1),
      ]
      for (const markup of tooMuch) no(await send(stage, markup), 'bad_markup')
    },
  },
  'a button has a text and either callbackData or a web url': {
    proves: ['markup-shape', 'error bad_markup'],
    needs: ['group'],
    run: async (stage) => {
      const wrong = [
        button({}),
        button({ ...data, url: url(30) }),
        button({ ...data, text: '' }),
        { inlineKeyboard: [[data]] },
        button({ url: 'ftp://example.org/' }),
        button({ url: 'example.org' }),
        button({ callbackData: 7 }),
        { inlineKeyboard: 'x' },
        button({ url: 'javascript:alert(1)' }),
        button({ url: 'https://a:b@example.org/' }),
        { inlineKeyboard: [{ text: 'x', ...data }] },
        {},
      ]
      for (const markup of wrong) no(await send(stage, markup), 'bad_markup')
    },
  },
})
