import assert from 'node:assert/strict'
import { casesOf, inGroup } from '../case.ts'
import { no, ok } from '../expect.ts'
import type { ServiceLimits } from '../limits.ts'
import { button, say } from '../steps.ts'
import type { Stage } from '../stage.ts'

const url = (chars: number): string => 'https://example.org/'.padEnd(chars, 'x')
const data = { callbackData: 'd' }

const some = (count: number) => Array.from({ length: count }, () => ({ text: 'x', ...data }))

/** A keyboard of these buttons. */
function inRows(buttons: object[], perRow: number): object {
  const rows = Array.from({ length: Math.ceil(buttons.length / perRow) }, (_, row) =>
    buttons.slice(row * perRow, (row + 1) * perRow),
  )
  return { inlineKeyboard: rows }
}

/** A keyboard whose JSON has exactly so many bytes, of as few buttons as can have them. */
function keyboardOf(bytes: number, { urlMax, buttonsPerRow }: ServiceLimits): object {
  for (let count = 1; ; count++) {
    const lengths = Array.from({ length: count }, () => 20)
    const build = () =>
      inRows(
        lengths.map((chars) => ({ text: 'x', url: url(chars) })),
        buttonsPerRow,
      )
    let missing = bytes - JSON.stringify(build()).length
    assert.ok(missing >= 0, 'such a keyboard can be built')
    for (const index of lengths.keys()) {
      const more = Math.min(missing, urlMax - 20)
      lengths[index] = 20 + more
      missing -= more
    }
    if (missing === 0) return build()
  }
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
      const { limits } = stage
      const { keyboardRows, buttonsPerRow, buttonsTotal, callbackDataBytes } = limits
      const most = Math.min(buttonsTotal, keyboardRows * buttonsPerRow)
      const fits = [
        inRows(some(most), Math.ceil(most / keyboardRows)),
        inRows(some(Math.min(buttonsTotal, buttonsPerRow)), buttonsPerRow),
        button({ ...data, text: 'x'.repeat(limits.buttonTextMax) }),
        button({ callbackData: 'x'.repeat(callbackDataBytes) }),
        button({ callbackData: 'é'.repeat(callbackDataBytes / 2) }),
        button({ url: url(limits.urlMax) }),
        keyboardOf(limits.markupBytes, limits),
      ]
      for (const markup of fits) ok(await send(stage, markup), 201)
    },
  },
  'a keyboard beyond any of its limits is refused as bad_markup': {
    proves: ['error bad_markup', ...BOUNDS],
    needs: ['group'],
    run: async (stage) => {
      const { limits } = stage
      const { keyboardRows, buttonsPerRow, buttonsTotal, callbackDataBytes } = limits
      const tooMuch = [
        inRows(some(keyboardRows + 1), 1),
        inRows(some(buttonsPerRow + 1), buttonsPerRow + 1),
        inRows(some(buttonsTotal + 1), Math.ceil((buttonsTotal + 1) / keyboardRows)),
        button({ ...data, text: 'x'.repeat(limits.buttonTextMax + 1) }),
        button({ callbackData: 'x'.repeat(callbackDataBytes + 1) }),
        button({ callbackData: 'é'.repeat(callbackDataBytes / 2 + 1) }),
        button({ url: url(limits.urlMax + 1) }),
        keyboardOf(limits.markupBytes + 1, limits),
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
