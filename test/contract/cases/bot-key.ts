import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { no, ok, okFields } from '../expect.ts'
import { send } from '../steps.ts'
import type { Stage } from '../stage.ts'

const FIRST = 'a1'.repeat(20)
const SECOND = 'B2'.repeat(20)
const BEGIN = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n'
const END = '\n-----END PGP PUBLIC KEY BLOCK-----\n'
const publicKey = `${BEGIN}xjMEZ${END}`

/** A key block of exactly so many characters. */
const blockOf = (chars: number): string =>
  `${BEGIN}${'x'.repeat(chars - BEGIN.length - END.length)}${END}`

const shown = async (stage: Stage) => {
  const { mode, fingerprint } = okFields(await stage.past.get('/me'))
  return { mode, fingerprint }
}

export const BOT_KEY = casesOf('PUT /key', {
  'a bot that publishes a key is protected, and its private chats are encrypted': {
    proves: [
      'endpoint putKey',
      'key-result',
      'key-as-given',
      'bot-protected',
      'key-private-encrypted',
      'bot mode: open -> protected (PUT /key)',
    ],
    needs: ['owner', 'people'],
    run: async (stage) => {
      const chatId = await stage.privateChat(await stage.person({ phone: false }))
      const before = await shown(stage)
      const answer = await stage.bot.put('/key', { publicKey, fingerprint: FIRST })
      if (stage.way === 'protected') {
        no(answer, 'postern_key_managed')
        assert.deepEqual(await shown(stage), before)
        return
      }
      assert.deepEqual(ok(answer), { fingerprint: FIRST, mode: 'protected' })
      assert.deepEqual(await shown(stage), { mode: 'protected', fingerprint: FIRST })
      assert.equal(okFields(await stage.bot.get(`/chats/${chatId}`))['mode'], 'protected')
      const text = await send(stage, chatId)
      assert.equal(no(text, 'wrong_body_kind')['expected'], 'armored')
    },
  },
  'another published key replaces the first, and phones receive the new fingerprint': {
    proves: ['key-phones-learn', 'bot mode: protected -> protected (PUT /key with another key)'],
    needs: ['owner', 'people'],
    run: async (stage) => {
      await stage.privateChat()
      if (stage.way === 'protected') {
        const [learnt] = (await stage.alice.learntKeys()).slice(-1)
        assert.equal(learnt, (await shown(stage)).fingerprint)
        no(await stage.bot.put('/key', { publicKey, fingerprint: FIRST }), 'postern_key_managed')
        return
      }
      ok(await stage.bot.put('/key', { publicKey, fingerprint: FIRST }))
      ok(await stage.bot.put('/key', { publicKey, fingerprint: SECOND }))
      assert.deepEqual(await shown(stage), { mode: 'protected', fingerprint: SECOND })
      assert.deepEqual((await stage.alice.learntKeys()).slice(-2), [FIRST, SECOND])
    },
  },
  'a person’s phone seals to the published key': {
    proves: ['bot-protected'],
    needs: ['owner', 'people'],
    run: async (stage) => {
      const person = await stage.person({ phone: true })
      const chatId = await stage.privateChat(person)
      if (stage.way !== 'protected') {
        ok(await stage.bot.put('/key', { publicKey, fingerprint: FIRST }))
      }
      await person.write(chatId, stage.words())
      const held = (await stage.held(chatId)).at(-1)
      assert.match(held?.armored ?? '', /^-----BEGIN PGP MESSAGE-----/)
      assert.equal(held?.text, null)
    },
  },
  'the owner removes a bot’s key, and the API has no operation for it': {
    proves: ['no-unpublishing', 'key-no-removal', 'bot mode: protected -> open (owner)'],
    needs: ['owner', 'people'],
    run: async (stage) => {
      const chatId = await stage.privateChat(await stage.person({ phone: true }))
      const text = stage.words()
      if (stage.way === 'protected') {
        await stage.owner.removeKey()
        assert.deepEqual(await shown(stage), { mode: 'open', fingerprint: null })
        // The sidecar leaves it to the operator, and sends nothing readable meanwhile.
        const answer = await stage.bot.post('/messages', { chatId, text })
        no(answer, 'postern_bot_unprotected')
        return
      }
      ok(await stage.bot.put('/key', { publicKey, fingerprint: FIRST }))
      const refused = stage.per<'not_found' | 'postern_route_refused'>({
        service: 'not_found',
        open: 'postern_route_refused',
      })
      no(await stage.bot.delete('/key'), refused)
      await stage.owner.removeKey()
      assert.deepEqual(await shown(stage), { mode: 'open', fingerprint: null })
      ok(await stage.bot.post('/messages', { chatId, text }), 201)
    },
  },
  'a malformed or too long public key, and a malformed fingerprint, are bad requests': {
    proves: ['key-body', 'limit publicKeyMax', 'error bad_request'],
    needs: ['owner'],
    run: async (stage) => {
      const { publicKeyMax } = stage.limits
      const good = { publicKey, fingerprint: FIRST }
      const wrong = [
        { publicKey },
        { fingerprint: FIRST },
        { ...good, publicKey: 'words' },
        { ...good, publicKey: publicKey.replaceAll('PUBLIC KEY BLOCK', 'MESSAGE') },
        { ...good, publicKey: blockOf(publicKeyMax + 1) },
        { ...good, publicKey: 7 },
        { ...good, publicKey: BEGIN },
        { ...good, publicKey: `words ${publicKey}` },
        ...['', 'a1', 'g'.repeat(40), 'a'.repeat(39), 'a'.repeat(41), 'a'.repeat(63), 7].map(
          (fingerprint) => ({ ...good, fingerprint }),
        ),
      ]
      for (const body of wrong) {
        const answer = await stage.bot.put('/key', body)
        no(answer, stage.way === 'protected' ? 'postern_key_managed' : 'bad_request')
      }
      if (stage.way === 'protected') return
      assert.deepEqual(await shown(stage), { mode: 'open', fingerprint: null })
      ok(await stage.bot.put('/key', { ...good, publicKey: blockOf(publicKeyMax) }))
      ok(await stage.bot.put('/key', { ...good, fingerprint: 'D'.repeat(64) }))
    },
  },
})
