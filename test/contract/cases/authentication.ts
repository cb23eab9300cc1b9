import assert from 'node:assert/strict'
import { ENDPOINTS } from '../../../src/api/endpoints.ts'
import { casesOf } from '../case.ts'
import { no, ok } from '../expect.ts'

/** A token of the right shape that nobody has. */
const nobodys = (token: string): string => `${token.slice(0, -43)}${'A'.repeat(43)}`

export const AUTHENTICATION = casesOf('Authentication', {
  'every endpoint answers unauthorized without a token': {
    proves: ['auth-header', 'auth-refused', 'error unauthorized'],
    run: async ({ bot }) => {
      for (const { method, path } of ENDPOINTS) {
        const filled = path.replace(/:\w+/g, '1')
        no(await bot.call({ method, path: filled, token: null }), 'unauthorized')
      }
    },
  },
  'an invalid token of any shape answers unauthorized': {
    proves: ['auth-refused'],
    run: async ({ bot }) => {
      const { token } = bot
      const others = [nobodys(token), token.replace(/_\d+/, '_82999999')]
      for (const wrong of [...others, `${token}x`, token.slice(0, -1), 'x', '1.2', '']) {
        no(await bot.get('/me', { token: wrong }), 'unauthorized')
      }
    },
  },
  'a token in any other form than Bearer answers unauthorized': {
    proves: ['auth-header'],
    run: async ({ bot }) => {
      const { token } = bot
      for (const authorization of [token, `Basic ${token}`, `Bearer`, `Token ${token}`]) {
        no(await bot.get('/me', { token: null, headers: { authorization } }), 'unauthorized')
      }
      no(await bot.get(`/me?token=${token}`, { token: null }), 'unauthorized')
    },
  },
  'the token has the shape <prefix>_<bot_id>.<43 characters>': {
    proves: ['auth-shape'],
    run: ({ bot, me }) => {
      const [, id] = /^[^_]+_(\d+)\.\S{43}$/.exec(bot.token) ?? []
      assert.equal(id, String(me.id))
      return Promise.resolve()
    },
  },
  'a replaced token answers unauthorized, and the new token is accepted': {
    proves: ['auth-refused'],
    needs: ['owner'],
    run: async ({ bot, owner }) => {
      const issued = await owner.issueToken()
      no(await bot.get('/me'), 'unauthorized')
      await owner.handOverToken()
      assert.equal(bot.token, issued)
      ok(await bot.get('/me'))
    },
  },
})
