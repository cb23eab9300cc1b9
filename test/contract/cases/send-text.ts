import assert from 'node:assert/strict'
import { casesOf, inGroup } from '../case.ts'
import { no, ok, okFields } from '../expect.ts'

export const SEND_TEXT = casesOf('POST /messages', {
  'text has 1 UTF-16 code unit to 4096, or as the service reports': {
    proves: ['limit textMax'],
    needs: ['group', 'people'],
    run: inGroup(async (stage, chatId) => {
      const { textMax } = stage.limits
      const pairs = '😀'.repeat(textMax / 2).padEnd(textMax, 'x')
      for (const text of ['x', 'x'.repeat(textMax), pairs]) {
        const sent = await stage.bot.post('/messages', { chatId, text })
        const shown = await stage.alice.sees(chatId, Number(okFields(sent, 201)['id']))
        assert.equal(shown.text, text)
      }
      for (const text of ['', 'x'.repeat(textMax + 1), `${pairs}x`]) {
        no(await stage.bot.post('/messages', { chatId, text }), 'bad_request')
      }
    }),
  },
  'text with a control character other than newline and tab is a bad request': {
    proves: ['send-text'],
    needs: ['group', 'people'],
    run: inGroup(async (stage, chatId) => {
      const text = 'one\n\ttwo'
      const sent = await stage.bot.post('/messages', { chatId, text })
      const shown = await stage.alice.sees(chatId, Number(okFields(sent, 201)['id']))
      assert.equal(shown.text, text)
      for (const bad of ['\r', '\r\n', '\u0000', '\u0007', '\u000b', '\u001b', '\u001f']) {
        const answer = await stage.bot.post('/messages', { chatId, text: `one${bad}two` })
        no(answer, 'bad_request')
      }
    }),
  },
  'blank text is a bad request': {
    proves: ['send-text'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      for (const text of [' ', '\n\n', '\t \n', '\u00a0']) {
        no(await stage.bot.post('/messages', { chatId, text }), 'bad_request')
      }
    }),
  },
  '`armored` is an OpenPGP message block of at most 131072 characters, or as reported': {
    proves: ['send-armored', 'limit armoredMax'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const chatId = await stage.room({ readable: false })
      const sealed = await stage.sealed()
      const longest = sealed.padEnd(stage.limits.armoredMax)
      const bad = [`${longest} `, 'words', '', sealed.replace('MESSAGE', 'SIGNATURE')]
      if (stage.way === 'protected') {
        for (const armored of [longest, ...bad]) {
          no(await stage.bot.post('/messages', { chatId, armored }), 'wrong_body_kind')
        }
        return
      }
      ok(await stage.bot.post('/messages', { chatId, armored: longest }), 201)
      for (const armored of bad) {
        no(await stage.bot.post('/messages', { chatId, armored }), 'bad_request')
      }
    },
  },
})
