import assert from 'node:assert/strict'
import { ENDPOINTS } from '../../../src/api/endpoints.ts'
import { casesOf, inPrivateChat } from '../case.ts'
import { at, no, ok, okFields } from '../expect.ts'
import { received, send } from '../steps.ts'

export const OWNER = casesOf('States and transitions', {
  'a paused bot answers bot_paused to all but four calls': {
    proves: [
      'pause-exceptions',
      'auth-paused',
      'error bot_paused',
      'me-while-paused',
      'webhook-while-paused',
      'bot status: active -> paused (owner)',
    ],
    needs: ['owner', 'rooms'],
    run: async (stage) => {
      await stage.owner.pause()
      for (const { name, method, path, ...more } of ENDPOINTS) {
        if (name === 'revokeToken') continue
        const call = { method, path: path.replace(':username', 'alice').replace(/:\w+/g, '1') }
        const answer = await stage.bot.call({ ...call, ...bodyFor(name) })
        const own = name === 'putKey' ? { protected: 'postern_key_managed' as const } : {}
        if ('whilePaused' in more) ok(answer)
        else
          no(
            answer,
            stage.per<'bot_paused' | 'postern_key_managed'>({ service: 'bot_paused', ...own }),
          )
      }
      assert.equal(okFields(await stage.bot.get('/me'))['status'], 'paused')
      no(await stage.bot.get('/me', { token: 'x_1.y' }), 'unauthorized')
    },
  },
  'a resumed bot works again, and receives the updates of its pause': {
    proves: ['bot status: paused -> active (owner)', 'bot-status'],
    needs: ['owner', 'people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      await stage.owner.pause()
      const text = stage.words()
      await stage.alice.write(chatId, text)
      await stage.owner.resume()
      assert.equal(okFields(await stage.bot.get('/me'))['status'], 'active')
      assert.equal(at((await received(stage))[0], 'message.text'), text)
      ok(await send(stage, chatId), 201)
    }),
  },
  'a revoked token is unauthorized for every later call, and the owner is notified': {
    proves: [
      'endpoint revokeToken',
      'revoke-burns',
      'revoke-told',
      'auth-refused',
      'token: valid -> revoked (POST /token/revoke)',
    ],
    needs: ['owner'],
    run: async (stage) => {
      const before = (await stage.owner.notices()).length
      assert.deepEqual(ok(await stage.bot.post('/token/revoke')), { revoked: true })
      no(await stage.bot.get('/me'), 'unauthorized')
      no(await stage.bot.post('/token/revoke'), 'unauthorized')
      no(await stage.bot.get('/updates'), 'unauthorized')
      assert.equal((await stage.owner.notices()).length, before + 1)
      await stage.owner.issueToken()
      await stage.owner.handOverToken()
      ok(await stage.bot.get('/me'))
    },
  },
  'a paused bot can still revoke its token': {
    proves: ['revoke-burns', 'pause-exceptions'],
    needs: ['owner'],
    run: async (stage) => {
      await stage.owner.pause()
      ok(await stage.bot.post('/token/revoke'))
      no(await stage.bot.get('/me'), 'unauthorized')
    },
  },
})

/** A body that an active bot's call would accept. */
function bodyFor(name: string): { body?: unknown } {
  const block = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nx\n-----END PGP PUBLIC KEY BLOCK-----'
  if (name === 'putKey') return { body: { publicKey: block, fingerprint: 'a'.repeat(40) } }
  if (name === 'putCommands') return { body: { commands: [] } }
  if (name === 'setWebhook') return { body: { url: 'https://hooks.example.org/' } }
  if (name === 'sendMessage' || name === 'editMessage') return { body: { chatId: 1, text: 'hi' } }
  if (name === 'deleteMessage') return { body: { chatId: 1 } }
  return {}
}
