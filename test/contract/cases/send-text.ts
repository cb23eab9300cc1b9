import assert from 'node:assert/strict'
import { casesOf, inGroup } from '../case.ts'
import { no, ok, okFields } from '../expect.ts'

const ARMORED_MAX = 131_072

export const SEND_TEXT = casesOf('POST /messages', {
  'text has 1 to 4096 UTF-16 code units': {
    proves: ['limit textMax'],
    needs: ['group', 'people'],
    run: inGroup(async (stage, chatId) => {
      for (const text of ['x', 'x'.repeat(4096), '😀'.repeat(2048)]) {
        const sent = await stage.bot.post('/messages', { chatId, text })
        const shown = await stage.alice.sees(chatId, Number(okFields(sent, 201)['id']))
        assert.equal(shown.text, text)
      }
      for (const text of ['', 'x'.repeat(4097), `${'😀'.repeat(2048)}x`]) {
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
  '`armored` is an OpenPGP message block of at most 131072 characters': {
    proves: ['send-armored', 'limit armoredMax'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const chatId = await stage.room({ readable: false })
      const sealed = await stage.sealed()
      const longest = sealed.padEnd(ARMORED_MAX, '\n')
      const bad = [`${longest}\n`, 'words', '', sealed.replace('MESSAGE', 'SIGNATURE')]
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
